//! Pull requests: a coding or planning agent's own, and the one with which a reviewer approves of the work.
//!
//! Every step can be taken again without harm: notes that are out of the tree stay out, a push that was done has nothing to
//! do, and a pull request that is there is found by its branch. So whatever fails, calling again is the remedy, and nothing
//! that was done has to be taken back.

mod destination;
mod follow;
pub(crate) mod input;
mod left;
#[cfg(test)]
pub(crate) mod tests;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tamis_store::rusqlite::Connection;

use crate::error::Result;
use crate::faults::{Point, reach};
use crate::git::{BranchName, Commit, Repository};
use crate::github::{NewPullRequest, PullRequest};
use crate::operations::{Caller, finish, tell_success};
use crate::pull_body::{ReviewSummary, pull_request_body};
use crate::records::{Instance, Moment, Operation, OperationState, Outcome, Phase};
use crate::{
    AgentType, AgentsError, Call, Code, Coordinator, CreatePullRequest, InstanceId, PullRequestCreated,
    Status, db, tools,
};
use destination::Destination;
pub(crate) use follow::Following;

/// How long GitHub may take for an answer after a crash, when others wait.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the operation needs to be finished by somebody else.
#[derive(Debug, Serialize, Deserialize)]
struct Plan {
    /// Whose branch it is.
    subject: InstanceId,
    base: BranchName,
    /// Whether GitHub may have been asked to open it.
    opening: bool,
}

/// What was done when all went well.
struct Done {
    opened: Option<PullRequest>,
    /// The branch as it was pushed.
    tip: Commit,
    steps: Vec<String>,
}

impl Coordinator {
    /// The contract's `create_pull_request`.
    pub fn create_pull_request(
        &self,
        call: &Call<'_>,
        input: &CreatePullRequest,
    ) -> Result<PullRequestCreated> {
        self.answer(tools::CREATE_PULL_REQUEST, call, |caller| {
            caller.must_be(AgentType::ALL)?;
            input::check(input)?;
            self.pull(caller, input, call.deadline)
        })
    }

    fn pull(
        &self,
        caller: &Caller<'_>,
        input: &CreatePullRequest,
        deadline: Instant,
    ) -> Result<PullRequestCreated> {
        let subject = self.subject_of(&caller.instance)?;
        admit(&caller.instance, &subject)?;
        let repository = self.repository(&subject.repository)?;
        let destination = self.destination(&repository, &subject, input.base_branch.as_deref(), deadline)?;
        let notes = self.notes_of(&subject.id)?;
        check_work(&repository, &caller.instance, &subject, &destination, &notes)?;
        caller.in_time()?;
        let mut plan = Plan { subject: subject.id.clone(), base: destination.base.clone(), opening: false };
        let operation =
            self.archive.database.write_or(|connection| caller.begin(connection, &plan_json(&plan)?))?;
        reach(Point::PullReserved);
        let done =
            self.open(caller, input, &subject, &repository, &destination, &notes, operation, &mut plan);
        let answer = done.and_then(|done| {
            let answer = answer(&subject, &destination, &done)?;
            self.record_pull(&caller.instance.id, &subject, &answer, operation, Some((caller, &done.tip)))?;
            Ok(answer)
        });
        let answer = answer.inspect_err(|error| self.undo_pull(operation, caller, error))?;
        reach(Point::PullRecorded);
        if caller.instance.agent_type == AgentType::Review {
            self.tell_approved(&subject.id, &answer);
            self.let_go(&caller.instance.id);
        }
        Ok(answer)
    }

    /// Takes the notes out, pushes, and opens the pull request where there is GitHub.
    #[allow(clippy::too_many_arguments, reason = "each is another thing, and they are together only here")]
    fn open(
        &self,
        caller: &Caller<'_>,
        input: &CreatePullRequest,
        subject: &Instance,
        repository: &Repository,
        destination: &Destination,
        notes: &[String],
        operation: i64,
        plan: &mut Plan,
    ) -> Result<Done> {
        let branch: BranchName = subject.branch.parse()?;
        let mut steps = Vec::new();
        let worktree = repository.worktree(&subject.worktree)?;
        if worktree.remove_notes(&branch, notes, Moment::now().0 / 1000)?.is_some() {
            steps.push("the review notes are out of the tree".to_owned());
        }
        reach(Point::PullNotesRemoved);
        caller.in_time()?;
        let tip = repository.branch_tip(&branch)?;
        let tip =
            tip.ok_or_else(|| AgentsError::new(Code::GitError, format!("the branch {branch} is gone")))?;
        if let Some(remote) = &destination.remote {
            repository.push(remote, &branch, destination.credential.as_ref())?;
            steps.push(format!("{branch} is pushed to {}", remote.name));
        }
        reach(Point::PullPushed);
        let Some(github) = &destination.github else { return Ok(Done { opened: None, tip, steps }) };
        caller.in_time()?;
        plan.opening = true;
        self.archive.database.write_or(|connection| {
            Ok::<_, AgentsError>(db::replan(connection, operation, &plan_json(plan)?)?)
        })?;
        let new = NewPullRequest {
            title: input.title.trim().to_owned(),
            head: branch.to_string(),
            base: destination.base.to_string(),
            body: pull_request_body(&input.description, &self.history_of(subject, caller)?),
        };
        let opened = github.ensure_pull_request(&new).map_err(|error| destination.explain(error))?;
        reach(Point::PullOpened);
        Ok(Done { opened: Some(opened.pull_request), tip, steps })
    }

    /// The instance whose branch it is: a reviewer's pull request is for the work that it reviews.
    fn subject_of(&self, caller: &Instance) -> Result<Instance> {
        if caller.agent_type != AgentType::Review {
            return Ok(caller.clone());
        }
        let review = self.archive.database.read(|connection| db::review_by(connection, &caller.id))?;
        let review = review.ok_or_else(|| {
            let message = format!("{} reviews nobody's work", caller.id);
            AgentsError::new(Code::InvalidState, message).about(&caller.id)
        })?;
        self.archive.instance(&review.parent_instance)
    }

    /// The files that reviews have brought to a branch.
    fn notes_of(&self, coding: &InstanceId) -> Result<Vec<String>> {
        let feedback = self.archive.feedback(Some(coding))?;
        let mut paths: Vec<String> = feedback
            .into_iter()
            .filter(|feedback| feedback.delivered_at.is_some())
            .map(|feedback| feedback.path)
            .collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// How the reviews went; a reviewer that calls this approves by it.
    fn history_of(&self, subject: &Instance, caller: &Caller<'_>) -> Result<Vec<ReviewSummary>> {
        let mut reviews = self.archive.database.read(|connection| db::reviews_of(connection, &subject.id))?;
        for review in &mut reviews {
            if review.child_instance == caller.instance.id {
                (review.outcome, review.ended_at) = (Some(Outcome::Approved), Some(Moment::now()));
            }
        }
        Ok(ReviewSummary::of(&reviews, &self.archive.feedback(Some(&subject.id))?))
    }

    /// Writes down what came of it. A review ends with it, approved.
    fn record_pull(
        &self,
        calling: &InstanceId,
        subject: &Instance,
        answer: &PullRequestCreated,
        operation: i64,
        caller: Option<(&Caller<'_>, &Commit)>,
    ) -> Result<()> {
        const TOOL: Option<&str> = Some(tools::CREATE_PULL_REQUEST);
        self.archive.database.write_or(|connection| {
            let before = status_of(connection, &subject.id)?;
            match (answer.pr_number, &answer.pr_url) {
                (Some(number), Some(url)) => {
                    db::set_pull_request(connection, &subject.id, number, url)?;
                    if before != Status::PrCreated {
                        db::set_status(connection, &subject.id, Status::PrCreated, None, TOOL)?;
                    }
                }
                // Without a pull request the work goes back to whom it belongs.
                _ if before == Status::WaitingReview => {
                    db::set_status(connection, &subject.id, Status::Started, Some("approved"), TOOL)?;
                }
                _ => {}
            }
            if *calling != subject.id {
                db::end_review(connection, calling, Outcome::Approved)?;
                db::set_status(connection, calling, Status::Terminated, Some("approved the work"), TOOL)?;
                db::set_phase(connection, calling, Phase::Ending)?;
            }
            match caller {
                Some((caller, tip)) => caller.finish(connection, operation, answer, Some(tip.as_str())),
                None => {
                    finish(connection, operation, answer)?;
                    tell_success(connection, tools::CREATE_PULL_REQUEST, calling, None, None)
                }
            }
        })
    }

    fn undo_pull(&self, operation: i64, caller: &Caller<'_>, error: &AgentsError) {
        let undone = self.archive.database.write_or(|connection| {
            db::end_operation(connection, operation, OperationState::Undone, None)?;
            caller.tell_failure(connection, error)
        });
        if let Err(error) = undone {
            tracing::warn!("a failed pull request of {} is noted later: {error}", caller.instance.id);
        }
    }

    /// After a crash: a pull request that was opened is recorded. All else the next call does again.
    pub(crate) fn repair_pull(&self, operation: &Operation) -> Result<String> {
        let plan: Plan = serde_json::from_value(operation.plan.clone()).map_err(|error| {
            AgentsError::new(
                Code::InternalError,
                format!("the plan of a pull request cannot be read: {error}"),
            )
        })?;
        let subject = self.archive.instance(&plan.subject)?;
        let opened = if plan.opening { self.look_for_pull(&subject) } else { Ok(None) };
        let may_be = subject.status == Status::PrCreated || subject.status.may_become(Status::PrCreated);
        if let (Ok(Some(pull_request)), true) = (&opened, may_be) {
            let answer = PullRequestCreated {
                pr_number: Some(number_of(pull_request)?),
                pr_url: Some(pull_request.url.clone()),
                branch_name: subject.branch.clone(),
                done: Vec::new(),
                left_to_do: Vec::new(),
            };
            self.record_pull(&operation.instance, &subject, &answer, operation.id, None)?;
            return Ok(format!("pull request {} was opened, and is recorded", pull_request.number));
        }
        self.archive
            .database
            .write(|connection| db::end_operation(connection, operation.id, OperationState::Undone, None))?;
        Ok(match opened {
            Err(error) => format!(
                "whether a pull request was opened cannot be known now, and the next call finds it: {error}"
            ),
            Ok(_) => "no pull request was opened; the next call does the rest".to_owned(),
        })
    }

    fn look_for_pull(&self, subject: &Instance) -> Result<Option<PullRequest>> {
        let repository = self.repository(&subject.repository)?;
        match self.github_of(&repository, Instant::now() + PATIENCE)?.1 {
            Some(github) => github.open_pull_request(&subject.branch),
            None => Ok(None),
        }
    }

    /// Tells an agent that waits for a review how it went.
    fn tell_approved(&self, coding: &InstanceId, answer: &PullRequestCreated) {
        let text = match answer.pr_number {
            Some(number) => {
                format!("The reviewer approved this work: pull request {number} is open. The review is over.")
            }
            None => "The reviewer approved this work. The review is over.".to_owned(),
        };
        if let Err(error) = self.tmux.tell(coding, &text) {
            tracing::warn!("{coding} could not be told of its pull request: {error}");
        }
    }
}

/// Whether the statuses allow it.
fn admit(caller: &Instance, subject: &Instance) -> Result<()> {
    let refuse = |instance: &Instance, why: &str| {
        let message = format!("{} is {}, and {why}", instance.id, instance.status);
        AgentsError::new(Code::InvalidState, message).about(&caller.id)
    };
    if caller.id != subject.id {
        if caller.status != Status::Started {
            return Err(refuse(caller, "its review is over"));
        }
        if subject.status != Status::WaitingReview {
            return Err(refuse(subject, "waits for no review any more"));
        }
        return Ok(());
    }
    match subject.status {
        Status::Started | Status::PrCreated | Status::PrClosed => Ok(()),
        Status::WaitingReview => Err(refuse(subject, "its reviewer decides what is to come").suggest(
            "wait: feedback will be merged into the worktree, or the reviewer creates the pull request",
        )),
        _ => Err(refuse(subject, "cannot have a pull request any more")),
    }
}

/// Whether there is something to pull, and all of it is committed.
fn check_work(
    repository: &Repository,
    caller: &Instance,
    subject: &Instance,
    destination: &Destination,
    notes: &[String],
) -> Result<()> {
    let branch: BranchName = subject.branch.parse()?;
    let state = repository.state_of(&subject.worktree)?;
    if let Some(hindrance) = state.hindrance(&branch) {
        return Err(hindrance.about(&subject.id));
    }
    // What a coding agent has lying about while it waits is not the reviewer's to judge.
    let uncommitted = state.modified.iter().find(|path| !notes.contains(path));
    if let (Some(path), true) = (uncommitted, caller.id == subject.id) {
        let message =
            format!("{path} has changes that are not committed, and would not be in the pull request");
        return Err(AgentsError::new(Code::UncommittedChanges, message)
            .about(&subject.id)
            .suggest("commit them, or put them back with `git restore`, and call again"));
    }
    let changed = match &state.head {
        Some(tip) => repository.has_changes(&destination.base_commit, tip, notes)?,
        None => false,
    };
    if !changed {
        let message = format!("{branch} changes nothing that {} does not have", destination.base);
        return Err(AgentsError::new(Code::NoChanges, message)
            .about(&subject.id)
            .suggest("commit the work, and call again"));
    }
    Ok(())
}

fn answer(subject: &Instance, destination: &Destination, done: &Done) -> Result<PullRequestCreated> {
    let mut answer = PullRequestCreated {
        pr_number: None,
        pr_url: None,
        branch_name: subject.branch.clone(),
        done: Vec::new(),
        left_to_do: Vec::new(),
    };
    match &done.opened {
        Some(pull_request) => {
            answer.pr_number = Some(number_of(pull_request)?);
            answer.pr_url = Some(pull_request.url.clone());
        }
        None => {
            answer.done = done.steps.clone();
            answer.left_to_do = left::to_do(&subject.branch, destination);
        }
    }
    Ok(answer)
}

fn number_of(pull_request: &PullRequest) -> Result<i64> {
    i64::try_from(pull_request.number).map_err(|_| {
        AgentsError::new(Code::GithubUnavailable, "GitHub gave the pull request a number that is none")
    })
}

fn status_of(connection: &Connection, id: &InstanceId) -> Result<Status> {
    Ok(db::instance(connection, id)?.map_or(Status::Terminated, |instance| instance.status))
}

fn plan_json(plan: &Plan) -> Result<serde_json::Value> {
    serde_json::to_value(plan)
        .map_err(|error| AgentsError::new(Code::InternalError, format!("a plan cannot be kept: {error}")))
}
