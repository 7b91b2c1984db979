//! A repository, a data folder and a coordinator of its own for each test, with real git and real tmux. The agents are
//! commands; what they would call is called here, with their tokens.

#![allow(dead_code, reason = "not every file of tests uses all of it")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamis_agents::{
    AgentCall, AgentChoice, AgentEvent, AgentType, AgentsError, Coordinator, CoordinatorSettings,
    FeedbackSent, FeedbackType, Identity, Instance, InstanceId, Phase, RequestReview, ReviewRequested,
    SendFeedback, StartRequest, Tmux,
};
use tamis_store::{DataDir, rusqlite};
pub(crate) use tamis_testkit::await_some;
use tamis_testkit::{FakeGithub, FakeRepository};
use tempfile::TempDir;

/// How long anything that must come may take; nothing passes because it is over.
const PATIENCE: Duration = Duration::from_secs(300);

/// The variables that make a test binary act as a session.
const SESSION_WORDS: [&str; 2] = ["TAMIS_TEST_SESSION_1", "TAMIS_TEST_SESSION_2"];

pub(crate) struct Field {
    folder: TempDir,
    coordinator: Option<Arc<Coordinator>>,
}

impl Field {
    pub(crate) fn new() -> Field {
        let folder = tempfile::tempdir().unwrap();
        let mut field = Field { folder, coordinator: None };
        fs::create_dir(field.repository()).unwrap();
        field.git(&field.repository(), &["init", "--quiet", "--initial-branch=main"]);
        fs::write(field.repository().join("README.md"), "# Work\n").unwrap();
        field.commit(&field.repository(), "First");
        fs::create_dir(field.data()).unwrap();
        field.write_program();
        field.coordinator = Coordinator::claim(field.settings()).unwrap();
        assert!(field.coordinator.is_some());
        field
    }

    /// What stands for this program in sessions: this test binary, which variables make a session.
    fn write_program(&self) {
        let [first, second] = SESSION_WORDS;
        let binary = std::env::current_exe().unwrap();
        let script = format!(
            "#!/bin/sh\n{first}=\"$2\" {second}=\"$3\" exec '{}' --ignored --exact as_a_session --nocapture --quiet\n",
            binary.display()
        );
        fs::write(self.program(), script).unwrap();
        fs::set_permissions(self.program(), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn settings(&self) -> CoordinatorSettings {
        let data_dir = DataDir::at(self.data());
        CoordinatorSettings {
            database: data_dir.state_db(),
            data_dir,
            program: self.program(),
            github_token: None,
            github_url: None,
            tool_timeout: PATIENCE,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.path("repository")
    }

    fn program(&self) -> PathBuf {
        self.path("tamis")
    }

    pub(crate) fn coordinator(&self) -> &Coordinator {
        self.coordinator.as_ref().unwrap()
    }

    /// As if the coordinator had been killed, and another had begun in its place.
    pub(crate) fn next_coordinator(&mut self) -> &Coordinator {
        self.coordinator = None;
        // A thread that was just cleaning up may be the last to let go.
        let claimed = await_some(|| Coordinator::claim(self.settings()).unwrap());
        self.coordinator.insert(claimed)
    }

    /// From now on with this GitHub, where the repository is.
    pub(crate) fn meet(&mut self, github: &FakeGithub) {
        self.git(&self.repository(), &["remote", "add", "origin", "git@github.com:octo-org/tool.git"]);
        self.coordinator = None;
        let settings = CoordinatorSettings {
            github_token: Some(FakeRepository::default().token),
            github_url: Some(github.url()),
            ..self.settings()
        };
        self.coordinator = Some(await_some(|| Coordinator::claim(settings.clone()).unwrap()));
    }

    /// The prompt of an agent.
    pub(crate) fn prompt(&self, id: &InstanceId) -> String {
        fs::read_to_string(self.data().join(format!("agents/prompts/{id}.md"))).unwrap()
    }

    pub(crate) fn tmux(&self) -> Tmux {
        Tmux::for_data_folder(&self.data()).unwrap()
    }

    pub(crate) fn kill_tmux(&self) {
        let _ = Command::new("tmux").args(["-L", self.tmux().server(), "kill-server"]).output();
    }

    /// The rows themselves, for what only time would change.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.data().join("state.db")).unwrap()
    }

    #[track_caller]
    pub(crate) fn git(&self, folder: &Path, args: &[&str]) -> String {
        tamis_testkit::git(folder, args)
    }

    #[track_caller]
    pub(crate) fn commit(&self, folder: &Path, message: &str) -> String {
        self.git(folder, &["add", "--all"]);
        self.git(folder, &["commit", "--quiet", "-m", message]);
        self.git(folder, &["rev-parse", "HEAD"])
    }

    pub(crate) fn request(&self, task: &str, command: &[&str]) -> StartRequest {
        StartRequest {
            agent_type: AgentType::Coding,
            issue: None,
            task: Some(task.to_owned()),
            choice: Some(AgentChoice {
                agent: AgentChoice::COMMAND.to_owned(),
                args: command.iter().map(|word| (*word).to_owned()).collect(),
            }),
            folder: self.repository(),
            base: None,
        }
    }

    /// Starts a coding agent for issue 123 that only shows the messages it receives.
    #[track_caller]
    pub(crate) fn start(&self) -> Instance {
        let request = StartRequest { issue: Some(123), task: None, ..self.request("", &["cat"]) };
        self.coordinator().start(&request, soon()).unwrap()
    }

    /// What a coding agent does: changes a file and commits it.
    #[track_caller]
    pub(crate) fn work(&self, instance: &Instance, text: &str) -> String {
        fs::write(instance.worktree.join("work.txt"), text).unwrap();
        self.commit(&instance.worktree, text)
    }

    pub(crate) fn token(&self, id: &InstanceId) -> String {
        Identity::load(&self.data().join("agents/identities").join(id.as_str())).unwrap().reveal().to_owned()
    }

    pub(crate) fn request_review(&self, id: &InstanceId) -> Result<ReviewRequested, AgentsError> {
        let token = self.token(id);
        self.coordinator().request_review(&call(&token, None), &RequestReview::default())
    }

    /// Works and asks for a review.
    #[track_caller]
    pub(crate) fn review(&self, coding: &Instance, text: &str) -> Instance {
        self.work(coding, text);
        let review = self.request_review(&coding.id).unwrap();
        self.instance(&review.review_instance_id)
    }

    pub(crate) fn send_feedback(
        &self,
        reviewer: &InstanceId,
        text: &str,
    ) -> Result<FeedbackSent, AgentsError> {
        let token = self.token(reviewer);
        self.coordinator().send_feedback(&call(&token, None), &feedback(text))
    }

    #[track_caller]
    pub(crate) fn instance(&self, id: &InstanceId) -> Instance {
        self.coordinator().archive().instance(id).unwrap()
    }

    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        self.coordinator().archive().events(0, None, 10_000).unwrap()
    }

    /// The events after the first `after`, one line each.
    pub(crate) fn event_lines(&self, after: usize) -> Vec<String> {
        self.events().iter().skip(after).map(in_short).collect()
    }

    #[track_caller]
    pub(crate) fn await_phase(&self, id: &InstanceId, phase: Phase) -> Instance {
        await_some(|| Some(self.instance(id)).filter(|instance| instance.phase == phase))
    }

    /// That rows, sessions, worktrees, branches and files agree, and nothing is under way.
    #[track_caller]
    pub(crate) fn assert_consistent(&self) {
        let instances = self.coordinator().archive().instances().unwrap();
        let ids = |wanted: &dyn Fn(&Instance) -> bool| -> Vec<String> {
            let mut ids: Vec<String> =
                instances.iter().filter(|it| wanted(it)).map(|it| it.id.to_string()).collect();
            ids.sort();
            ids
        };
        let alive = ids(&|instance| instance.phase == Phase::Ready && instance.status.is_live());
        let mut sessions: Vec<String> =
            self.tmux().sessions().unwrap().into_iter().map(|session| session.id.to_string()).collect();
        sessions.sort();
        assert_eq!(sessions, alive, "sessions");
        assert_eq!(names_in(&self.data().join("agents/identities")), alive, "identities");
        // A session takes its file away as soon as it runs.
        await_some(|| names_in(&self.data().join("agents/launch")).is_empty().then_some(()));
        let there = ids(&|instance| matches!(instance.phase, Phase::Ready | Phase::Kept));
        assert_eq!(names_in(&self.data().join("agents/worktrees")), there, "worktrees");
        let database = self.database();
        let open = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(open("SELECT COUNT(*) FROM operations WHERE state = 'begun'"), 0);
        assert_eq!(open("SELECT COUNT(*) FROM instances WHERE phase IN ('preparing', 'ending')"), 0);
        assert_eq!(open("SELECT COUNT(*) FROM feedback WHERE delivered_at IS NULL"), 0);
        assert_eq!(open("SELECT COUNT(*) FROM pragma_foreign_key_check"), 0);
        // A coding agent waits exactly while a review runs.
        assert_eq!(
            open(
                "SELECT COUNT(*) FROM instances WHERE type = 'coding' AND (status = 'WAITING_REVIEW') <> EXISTS
                     (SELECT 1 FROM instance_relationships WHERE parent_instance = instances.id AND outcome IS NULL)"
            ),
            0
        );
        let worktrees = self.git(&self.repository(), &["worktree", "list", "--porcelain"]);
        let registered = worktrees.lines().filter(|line| line.starts_with("worktree ")).count();
        assert_eq!(registered, there.len() + 1, "{worktrees}");
        self.git(&self.repository(), &["fsck", "--no-dangling", "--no-progress"]);
    }
}

impl Drop for Field {
    fn drop(&mut self) {
        let socket = Command::new("tmux")
            .args(["-L", self.tmux().server(), "display-message", "-p", "#{socket_path}"])
            .output();
        self.kill_tmux();
        // tmux leaves it behind.
        if let Ok(socket) = socket {
            let _ = fs::remove_file(String::from_utf8_lossy(&socket.stdout).trim());
        }
    }
}

/// What runs in the sessions of these tests. Called without the variables it is no test.
pub(crate) fn be_a_session() {
    let [first, second] = SESSION_WORDS.map(|name| std::env::var_os(name).unwrap_or_default());
    if first == tamis_agents::LOG_FLAG {
        tamis_agents::keep_log(Path::new(&second), std::io::stdin()).unwrap();
    } else if !first.is_empty() {
        let Err(error) = tamis_agents::run_session(Path::new(&first));
        panic!("{error}");
    }
}

pub(crate) fn soon() -> Instant {
    Instant::now() + PATIENCE
}

pub(crate) fn call<'a>(token: &'a str, key: Option<&'a str>) -> AgentCall<'a> {
    AgentCall { token, idempotency_key: key, deadline: soon() }
}

pub(crate) fn feedback(text: &str) -> SendFeedback {
    SendFeedback {
        feedback: text.to_owned(),
        feedback_type: FeedbackType::NeedsWork,
        priority: None,
        actionable_items: Vec::new(),
    }
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// `work-123-a1 status_changed request_review STARTED>WAITING_REVIEW`.
pub(crate) fn in_short(event: &AgentEvent) -> String {
    let mut words = vec![
        event.instance_id.as_ref().map_or("-", InstanceId::as_str).to_owned(),
        event.kind.as_str().to_owned(),
    ];
    words.extend(event.tool_name.clone());
    words.extend(
        event.status_before.zip(event.status_after).map(|(before, after)| format!("{before}>{after}")),
    );
    words.extend(event.success.map(|success| if success { "ok" } else { "failed" }.to_owned()));
    words.extend(event.error_code.clone());
    words.join(" ")
}
