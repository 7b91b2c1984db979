//! What the tests of pull requests and issues play on: a real repository with a remote, a GitHub, and a coordinator.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamis_store::DataDir;
use tamis_store::rusqlite::Connection;
use tamis_testkit::{FakeGithub, FakeRepository, GithubFault, await_some, git};
use tempfile::TempDir;

use crate::error::Result;
use crate::instances::records::{
    AgentChoice, AgentEvent, EventKind, Feedback, Instance, Moment, Phase, Review, ReviewOutcome,
};
use crate::{
    AgentCall, AgentType, Code, Coordinator, CoordinatorSettings, CreatePullRequest, FeedbackType, Identity,
    InstanceId, PullRequestCreated, Status, db,
};
use tamis_git::BranchName;

/// For whatever must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A repository with a remote, a GitHub, a coordinator, and no agents but their rows and worktrees.
pub(crate) struct Stage {
    pub(crate) github: FakeGithub,
    pub(crate) coordinator: Arc<Coordinator>,
    folder: TempDir,
}

/// Where the repository's remote is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Github,
    Plain,
    Nowhere,
}

/// What GitHub may do in the place of an answer, and the code that the caller gets.
pub(crate) const FAULTS: [(GithubFault, Code); 7] = [
    (GithubFault::Status(401), Code::GithubUnauthorized),
    (GithubFault::Status(403), Code::GithubForbidden),
    (GithubFault::Status(422), Code::GithubRejected),
    (GithubFault::Status(500), Code::GithubUnavailable),
    (GithubFault::HalfBody, Code::GithubUnavailable),
    (GithubFault::NotJson, Code::GithubUnavailable),
    (GithubFault::HangUp, Code::GithubUnavailable),
];

impl Stage {
    pub(crate) fn new(place: Place) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let (bare, work) = (folder.path().join("origin.git"), folder.path().join("tool"));
        git(folder.path(), &["init", "-q", "--bare", "-b", "main", "origin.git"]);
        git(folder.path(), &["init", "-q", "-b", "main", "tool"]);
        fs::write(work.join("a.txt"), "one\n").unwrap();
        git(&work, &["add", "-A"]);
        git(&work, &["commit", "-q", "-m", "First"]);
        match place {
            Place::Nowhere => {}
            Place::Plain => {
                git(&work, &["remote", "add", "origin", bare.to_str().unwrap()]);
            }
            Place::Github => {
                git(&work, &["remote", "add", "origin", "git@github.com:octo-org/tool.git"]);
                git(&work, &["config", "remote.origin.pushurl", bare.to_str().unwrap()]);
            }
        }
        if place != Place::Nowhere {
            git(&work, &["push", "-q", "origin", "main"]);
        }
        let github = FakeGithub::start(FakeRepository { git: Some(bare), ..FakeRepository::default() });
        let coordinator = coordinator(folder.path(), &github.url());
        Stage { github, coordinator, folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn bare(&self) -> PathBuf {
        self.folder().join("origin.git")
    }

    /// The coordinator is gone, and another one is there.
    pub(crate) fn coordinate_anew(self) -> Stage {
        let Stage { github, coordinator, folder } = self;
        drop(coordinator);
        let coordinator = self::coordinator(folder.path(), &github.url());
        Stage { github, coordinator, folder }
    }

    /// An instance as it is when its agent is at work, and the token that it shows.
    pub(crate) fn instance(&self, id: &InstanceId, agent_type: AgentType, base: &str) -> (Instance, String) {
        let repository = self.coordinator.repository(&self.folder().join("tool")).unwrap();
        let base_branch: BranchName = base.parse().unwrap();
        let base_commit = repository.branch_tip(&base_branch).unwrap().unwrap();
        let worktree = self.coordinator.places.worktree(id);
        repository.add_worktree(&worktree, &id.branch(), &base_commit).unwrap();
        let choice = AgentChoice { agent: AgentChoice::COMMAND.to_owned(), args: vec!["true".to_owned()] };
        let folder = repository.folder().to_owned();
        let instance = Instance {
            phase: Phase::Ready,
            task: "Do it".to_owned(),
            base_branch: Some(base_branch),
            ..Instance::preparing(id.clone(), agent_type, choice, folder, worktree, base_commit)
        };
        let identity = Identity::random(id).unwrap();
        self.write(|connection| db::insert_instance(connection, &instance, &identity.hash()));
        (instance, identity.reveal().to_owned())
    }

    /// A coding agent that has committed something.
    pub(crate) fn coding(&self) -> (Instance, String) {
        let (instance, token) = self.instance(&coding_id(), AgentType::Coding, "main");
        self.commit(&instance, "b.txt", "two\n");
        (instance, token)
    }

    /// A review of the coding agent's work, which waits for it.
    pub(crate) fn review(&self, coding: &Instance) -> (Instance, String) {
        let id = coding.id.of_review(1);
        let (reviewer, token) = self.instance(&id, AgentType::Review, &coding.branch);
        let review = Review {
            parent_instance: coding.id.clone(),
            child_instance: id,
            review_iteration: 1,
            reviewed_commit: self.tip(&coding.branch).parse().unwrap(),
            work_identity: "x".to_owned(),
            outcome: None,
            created_at: Moment::now(),
            ended_at: None,
        };
        self.write(|connection| db::insert_review(connection, &review));
        let waits = |connection: &Connection| {
            db::set_status(connection, &coding.id, Status::WaitingReview, None, None).map(drop)
        };
        self.coordinator.write(waits).unwrap();
        (reviewer, token)
    }

    /// Feedback of an earlier review, as it is in the coding agent's tree.
    pub(crate) fn notes(&self, coding: &Instance, text: &str) {
        let (reviewer, _) = self.review(coding);
        self.commit(coding, "REVIEW_FEEDBACK.md", text);
        let feedback = Feedback {
            id: "f-1".to_owned(),
            review_instance: reviewer.id.clone(),
            coding_instance: coding.id.clone(),
            review_iteration: 1,
            feedback: text.to_owned(),
            feedback_type: FeedbackType::NeedsWork,
            priority: None,
            actionable_items: Vec::new(),
            digest: "d".to_owned(),
            path: "REVIEW_FEEDBACK.md".to_owned(),
            blob: None,
            git_commit_hash: None,
            created_at: Moment::now(),
            delivered_at: None,
            told_at: None,
        };
        let tip = self.tip(&coding.branch);
        let delivered = |connection: &Connection| {
            db::insert_feedback(connection, &feedback)?;
            db::deliver_feedback(connection, &feedback.id, &tip, &feedback.path, "x")?;
            db::end_review(connection, &reviewer.id, ReviewOutcome::Feedback)?;
            db::set_status(connection, &reviewer.id, Status::Terminated, None, None)?;
            db::set_phase(connection, &reviewer.id, Phase::Gone)?;
            db::set_status(connection, &coding.id, Status::Started, None, None).map(drop)
        };
        self.coordinator.write(delivered).unwrap();
    }

    pub(crate) fn write(&self, write: impl FnOnce(&Connection) -> tamis_store::rusqlite::Result<()>) {
        self.coordinator.write(|connection| Ok(write(connection)?)).unwrap();
    }

    pub(crate) fn commit(&self, instance: &Instance, file: &str, content: &str) {
        fs::write(instance.worktree.join(file), content).unwrap();
        git(&instance.worktree, &["add", "-A"]);
        git(&instance.worktree, &["commit", "-q", "-m", &format!("Change {file}")]);
    }

    pub(crate) fn tip(&self, branch: &str) -> String {
        git(&self.folder().join("tool"), &["rev-parse", &format!("refs/heads/{branch}")])
    }

    /// Where the remote has a branch.
    pub(crate) fn remote_tip(&self, branch: &str) -> Option<String> {
        let tips = git(&self.bare(), &["for-each-ref", "--format=%(refname) %(objectname)"]);
        let wanted = format!("refs/heads/{branch} ");
        tips.lines().find_map(|line| line.strip_prefix(&wanted)).map(str::to_owned)
    }

    pub(crate) fn status(&self, instance: &Instance) -> Status {
        self.coordinator.archive.instance(&instance.id).unwrap().status
    }

    pub(crate) fn create(&self, token: &str, input: &CreatePullRequest) -> Result<PullRequestCreated> {
        self.coordinator.create_pull_request(&call(token), input)
    }

    /// No operation is under way, and every status is that of its last event.
    pub(crate) fn assert_consistent(&self) {
        let events = self.coordinator.archive.events(0, None, 1000).unwrap();
        for instance in self.coordinator.archive.instances().unwrap() {
            let under_way = |connection: &Connection| db::operations_of_family(connection, &instance.id);
            assert_eq!(self.coordinator.read(under_way).unwrap(), [], "under way");
            let last = events.iter().rfind(|event| {
                event.instance_id.as_ref() == Some(&instance.id) && event.status_after.is_some()
            });
            let last = last.and_then(|event| event.status_after).unwrap_or(Status::Started);
            assert_eq!(instance.status, last, "{}", instance.id);
        }
    }

    /// The event of the last tool call.
    pub(crate) fn last_event(&self) -> AgentEvent {
        let events = self.coordinator.archive.events(0, None, 1000).unwrap();
        events.into_iter().rfind(|event| event.kind == EventKind::ToolCalled).unwrap()
    }

    pub(crate) fn last_call(&self) -> (bool, Option<String>) {
        let last = self.last_event();
        (last.success.unwrap(), last.error_code)
    }
}

fn coordinator(folder: &Path, github_url: &str) -> Arc<Coordinator> {
    let data_dir = DataDir::at(folder.join("data"));
    data_dir.create().unwrap();
    let settings = CoordinatorSettings {
        database: data_dir.state_db(),
        data_dir,
        program: "/nowhere/tamis".into(),
        github_token: Some(FakeRepository::default().token),
        github_url: Some(github_url.to_owned()),
        tool_timeout: PATIENCE,
    };
    // A child that another test is about to start has the lock until it is the program that it will be.
    await_some(|| Coordinator::claim(settings.clone()).unwrap())
}

pub(crate) fn call(token: &str) -> AgentCall<'_> {
    AgentCall { token, idempotency_key: None, deadline: Instant::now() + PATIENCE }
}

fn coding_id() -> InstanceId {
    InstanceId::of_worker(AgentType::Coding, "7", 1)
}
