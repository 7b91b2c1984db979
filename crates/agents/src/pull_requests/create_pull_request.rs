//! Pull requests: a coding or planning agent's own, and the one with which a reviewer approves of the work.
//!
//! Every step can be taken again without harm: notes that are out of the tree stay out, a push that was done has nothing to
//! do, and a pull request that is there is found by its branch. So whatever fails, calling again is the remedy, and nothing
//! that was done has to be taken back.

mod checks;
mod destination;
mod follow;
pub(crate) mod input;
mod left;
mod recording;
mod search;
#[cfg(test)]
pub(crate) mod stage;
#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::{Deserialize, Serialize};
use tamis_redact::Redacted;

use crate::error::Result;
use crate::faults::{Point, reach};
use crate::instances::records::{Instance, Moment, ReviewOutcome};
use crate::journal::operations::Caller;
use crate::pull_requests::body::{ReviewSummary, pull_request_body};
use crate::{
    AgentCall, AgentType, AgentsError, Code, Coordinator, CreatePullRequest, InstanceId, PullRequestCreated,
    db, tools,
};
use checks::{admit, check_work};
use destination::Destination;
pub(crate) use follow::{CLOSED_FOLLOWED, Following};
use tamis_git::{BranchName, Commit, Repository};
use tamis_github::{GithubError, NewPullRequest, PullRequest, WriteOutcome};

/// What the journal holds of it, so that another coordinator can finish it.
#[derive(Debug, Serialize, Deserialize)]
struct Plan {
    /// Whose branch it is.
    subject: InstanceId,
    /// Into which branch. Plans of earlier versions do not name it.
    #[serde(default)]
    base: Option<BranchName>,
    /// Whether GitHub may have been requested to open it. Stays in the plan of a call that failed where that is not clear, and
    /// it is looked for then.
    opening: bool,
}

/// What is to be pulled, and to where.
struct Work<'a> {
    caller: &'a Caller<'a>,
    input: &'a CreatePullRequest,
    /// Whose branch it is.
    subject: Instance,
    repository: Repository,
    destination: Destination,
    /// The branch as it was when the call was admitted.
    tip: Option<Commit>,
    /// The files that reviews have brought to it.
    notes: Vec<String>,
}

impl Work<'_> {
    fn plan(&self, opening: bool) -> Plan {
        Plan { subject: self.subject.id.clone(), base: Some(self.destination.base.clone()), opening }
    }
}

/// What was done when all went well.
struct Done {
    opened: Option<PullRequest>,
    /// Whether it was open before.
    existed: bool,
    /// The branch as it was pushed.
    tip: Commit,
    steps: Vec<String>,
}

impl Coordinator {
    /// The contract's `create_pull_request`.
    pub fn create_pull_request(
        &self,
        call: &AgentCall<'_>,
        input: &CreatePullRequest,
    ) -> Result<PullRequestCreated> {
        self.answer(tools::CREATE_PULL_REQUEST, call, input, |caller| {
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
        let repository = self.repository_until(&subject.repository, deadline)?;
        let destination = self.destination(&repository, &subject, input.base_branch.as_deref(), deadline)?;
        let notes = self.notes_of(&subject.id)?;
        let tip = repository.branch_tip(&subject.branch)?;
        let work = Work { caller, input, subject, repository, destination, tip, notes };
        check_work(&work)?;
        if let Some(tip) = &work.tip {
            self.check_reviewed(&work, tip)?;
        }
        caller.in_time()?;
        let may_be_open = self.may_be_open(&work)?;
        let plan = work.plan(may_be_open);
        let operation = self.write(|connection| caller.begin(connection, &plan))?;
        reach(Point::PullReserved);
        let answer = self.open(&work, operation, may_be_open).and_then(|done| {
            let answer = answer(&work, &done)?;
            let by = Some((caller, &done.tip));
            self.record_pull(&caller.instance.id, &work.subject, &answer, operation, by)?;
            Ok(answer)
        });
        let answer = answer.inspect_err(|error| self.give_up(operation, caller, error))?;
        reach(Point::PullRecorded);
        if caller.instance.agent_type == AgentType::Review {
            self.notify_approved(&work.subject.id, &answer, deadline);
            self.let_go(&caller.instance.id);
        }
        Ok(answer)
    }

    /// Takes the notes out, pushes, and opens the pull request where there is GitHub. `may_be_open`: an earlier call may have
    /// opened it.
    fn open(&self, work: &Work<'_>, operation: i64, may_be_open: bool) -> Result<Done> {
        let Work { caller, input, subject, repository, destination, notes, .. } = work;
        let branch = &subject.branch;
        let mut steps = Vec::new();
        let worktree = repository.worktree(&subject.worktree)?;
        if worktree.remove_notes(branch, notes, Moment::now().0 / 1000)?.is_some() {
            steps.push("the review notes were removed from the tree".to_owned());
        }
        reach(Point::PullNotesRemoved);
        caller.in_time()?;
        let tip = repository.branch_tip(branch)?;
        let tip = tip.ok_or_else(|| AgentsError::new(Code::GitError, format!("branch {branch} is gone")))?;
        // The coding agent may have committed since, and what was reviewed then is what is pushed.
        let is_admitted = match &work.tip {
            Some(admitted) => !repository.has_changes(admitted, &tip, notes)?,
            None => false,
        };
        if !is_admitted {
            self.check_reviewed(work, &tip)?;
        }
        if let Some(remote) = &destination.remote {
            repository.push_commit(remote, branch, &tip, destination.credential.as_ref())?;
            steps.push(format!("{branch} was pushed to {}", remote.name));
        }
        reach(Point::PullPushed);
        let Some(github) = &destination.github else {
            return Ok(Done { opened: None, existed: false, tip, steps });
        };
        caller.in_time()?;
        self.replan(operation, &work.plan(true))?;
        let new = NewPullRequest {
            title: Redacted::from(input.title.trim()).into_inner(),
            head: branch.to_string(),
            base: destination.base.to_string(),
            body: pull_request_body(&input.description, &self.history_of(subject, caller)?),
        };
        let opened = match github.ensure_pull_request(&new) {
            Ok(opened) => opened,
            Err(failure) => {
                if failure.outcome == WriteOutcome::NotDone {
                    // Nothing was opened by this call, so there is nothing of it to look for.
                    self.replan(operation, &work.plan(may_be_open))?;
                }
                return Err(destination.explain(GithubError::from(failure).into()));
            }
        };
        reach(Point::PullOpened);
        if opened.existed {
            let number = opened.pull_request.number;
            steps.push(format!(
                "pull request {number} into {} was already open: it has the new commits, and keeps its title and description",
                destination.base
            ));
        }
        Ok(Done { opened: Some(opened.pull_request), existed: opened.existed, tip, steps })
    }

    /// The instance whose branch it is: a reviewer's pull request is for the work that it reviews.
    fn subject_of(&self, caller: &Instance) -> Result<Instance> {
        if caller.agent_type != AgentType::Review {
            return Ok(caller.clone());
        }
        let review = self.read(|connection| db::review_by(connection, &caller.id))?;
        let review = review.ok_or_else(|| {
            let message = format!("{} has no work to review", caller.id);
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
        let mut reviews = self.read(|connection| db::reviews_of(connection, &subject.id))?;
        for review in &mut reviews {
            if review.child_instance == caller.instance.id {
                (review.outcome, review.ended_at) = (Some(ReviewOutcome::Approved), Some(Moment::now()));
            }
        }
        Ok(ReviewSummary::of(&reviews, &self.archive.feedback(Some(&subject.id))?))
    }

    /// Notifies a coding agent that waits for a review of its pull request.
    fn notify_approved(&self, coding: &InstanceId, answer: &PullRequestCreated, deadline: Instant) {
        let text = match answer.pr_number {
            Some(number) => {
                format!("The reviewer approved this work: pull request {number} is open. The review is over.")
            }
            None => "The reviewer approved this work. The review is over.".to_owned(),
        };
        if let Err(error) = self.tmux.until(deadline).send_message(coding, &text) {
            tracing::warn!("cannot notify {coding} of its pull request: {error}");
        }
    }
}

fn answer(work: &Work<'_>, done: &Done) -> Result<PullRequestCreated> {
    let mut answer = PullRequestCreated {
        pr_number: None,
        pr_url: None,
        branch_name: work.subject.branch.to_string(),
        done: Vec::new(),
        left_to_do: Vec::new(),
    };
    match &done.opened {
        Some(pull_request) => {
            answer.pr_number = Some(number_of(pull_request.number)?);
            answer.pr_url = Some(pull_request.url.clone());
            if done.existed {
                answer.done = done.steps.clone();
                answer.left_to_do = left::of_existing(pull_request.number);
            }
        }
        None => {
            answer.done = done.steps.clone();
            answer.left_to_do = left::to_do(&work.subject.branch, &work.destination);
        }
    }
    Ok(answer)
}

/// A number as the tables hold it.
pub(crate) fn number_of(number: u64) -> Result<i64> {
    number.try_into().map_err(|_| {
        AgentsError::new(Code::GithubUnavailable, format!("GitHub returned an invalid number: {number}"))
    })
}
