//! `request_review`: a coding agent requests a review.
//!
//! Whether it may is decided in the transaction that inserts the reviewer, so concurrent requests cannot exceed the limit.

mod admission;
mod work;

use serde_json::json;

use crate::error::Result;
use crate::faults::{Point, reach};
use crate::instances::records::{AgentChoice, Instance, Operation, Phase, Review, ReviewOutcome};
use crate::instances::user_config::{self, REVIEW_AGENT};
use crate::journal::operations::{Caller, finish, undo};
use crate::launch::preparation::Equipment;
use crate::launch::start::created;
use crate::{
    AgentCall, AgentType, AgentsError, Code, Coordinator, FeedbackType, Identity, InstanceId, RequestReview,
    ReviewRequested, Status, db, tools,
};

use admission::{Admission, admission};
use work::{Work, unchanged, work};

/// Texts of agents that go into a prompt.
const LONGEST_TEXT: usize = 100_000;

impl Coordinator {
    /// The contract's `request_review`.
    pub fn request_review(&self, call: &AgentCall<'_>, input: &RequestReview) -> Result<ReviewRequested> {
        self.answer(tools::REQUEST_REVIEW, call, input, |caller| {
            caller.must_be(&[AgentType::Coding])?;
            check(input)?;
            self.review(caller, input)
        })
    }

    fn review(&self, caller: &Caller<'_>, input: &RequestReview) -> Result<ReviewRequested> {
        let coding = &caller.instance;
        // At the limit it does not matter what there is to review.
        let iteration = self.admit(caller)?;
        let repository = self.repository_until(&coding.repository, caller.deadline)?;
        let notes = self.notes_for(&coding.id)?;
        let work = work(&repository, coding, &notes)?;
        let choice = self.reviewer_choice(coding)?;
        self.check_program(&choice).map_err(|error| of_reviewer(error, &choice))?;
        self.check_free(&repository, &coding.id.of_review(iteration))?;
        caller.in_time()?;
        let (reviewer, identity, review, operation) = self.reserve_review(caller, input, work, choice)?;
        reach(Point::ReviewReserved);
        let steps = || {
            let equipment = Equipment {
                instance: &reviewer,
                identity: &identity,
                prompt: &self.reviewing_prompt(&repository, coding, &review, input)?,
                points: [
                    Point::ReviewWorktreeAdded,
                    Point::ReviewIdentityWritten,
                    Point::ReviewSessionCreated,
                ],
            };
            self.equip(&repository, &equipment, caller.deadline, caller.tool)?;
            self.record_review(&reviewer, &review, operation, Some(caller))
        };
        let answer = steps().inspect_err(|error| {
            if let Err(error) = self.undo_review(&reviewer.id, operation, Some((caller, error))) {
                tracing::warn!(
                    "{} was started only in part, and will be removed later: {error}",
                    reviewer.id
                );
            }
        })?;
        reach(Point::ReviewRecorded);
        Ok(answer)
    }

    /// Whether there may be another review, and which one it is. A refusal at the limit counts, and may be one too many.
    fn admit(&self, caller: &Caller<'_>) -> Result<u32> {
        match self.write(|connection| admission(connection, caller))? {
            Admission::Granted { iteration } => Ok(iteration),
            Admission::Refused(error) => {
                self.let_go(&caller.instance.id);
                Err(error)
            }
        }
    }

    /// The agent that reviews: the one that the user set, or another like the one that codes.
    fn reviewer_choice(&self, coding: &Instance) -> Result<AgentChoice> {
        self.write(|connection| {
            let agent = user_config::get(connection, REVIEW_AGENT)?;
            if agent.is_empty() || agent == coding.choice.agent {
                return Ok(coding.choice.clone());
            }
            let args = user_config::agent_args(connection, &agent)?;
            Ok(AgentChoice { agent, args })
        })
    }

    /// Puts down the reviewer to be, if there may still be one.
    fn reserve_review(
        &self,
        caller: &Caller<'_>,
        input: &RequestReview,
        work: Work,
        choice: AgentChoice,
    ) -> Result<(Instance, Identity, Review, i64)> {
        let reserved = self.write(|connection| {
            let iteration = match admission(connection, caller)? {
                Admission::Granted { iteration } => iteration,
                Admission::Refused(error) => return Ok(Err(error)),
            };
            let coding = &caller.instance;
            // A reviewer that ended without feedback does not count.
            let mut reviews = db::reviews_of(connection, &coding.id)?;
            reviews.retain(|review| review.outcome == Some(ReviewOutcome::Feedback));
            if let Some(last) = reviews.last().filter(|last| last.work_identity == work.identity) {
                let asked = db::feedback_for(connection, Some(&last.child_instance))?;
                let asked =
                    asked.iter().any(|feedback| feedback.feedback_type == FeedbackType::Clarification);
                // The answer to a question need not be in the tree.
                if !(asked && has_answer(input)) {
                    return Err(unchanged(&coding.id, asked));
                }
            }
            let id = coding.id.of_review(iteration);
            let (repository, worktree) = (coding.repository.clone(), self.places.worktree(&id));
            let (review, commit) = (AgentType::Review, work.commit.clone());
            let reviewer = Instance {
                task: coding.task.clone(),
                issue: coding.issue,
                issue_title: coding.issue_title.clone(),
                base_branch: Some(coding.branch.clone()),
                ..Instance::preparing(id, review, choice, repository, worktree, commit)
            };
            let identity = Identity::random(&reviewer.id)?;
            let review = Review {
                parent_instance: coding.id.clone(),
                child_instance: reviewer.id.clone(),
                review_iteration: iteration,
                reviewed_commit: work.commit.clone(),
                work_identity: work.identity.clone(),
                outcome: None,
                created_at: reviewer.created_at,
                ended_at: None,
            };
            db::insert_instance(connection, &reviewer, &identity.hash())?;
            db::insert_review(connection, &review)?;
            let operation = caller.begin(connection, &json!({"review": reviewer.id}))?;
            Ok(Ok((reviewer, identity, review, operation)))
        })?;
        reserved.inspect_err(|_| self.let_go(&caller.instance.id))
    }

    /// The reviewer is there, and the coding agent waits for it.
    fn record_review(
        &self,
        reviewer: &Instance,
        review: &Review,
        operation: i64,
        caller: Option<&Caller<'_>>,
    ) -> Result<ReviewRequested> {
        let coding = &review.parent_instance;
        let answer = ReviewRequested {
            review_instance_id: reviewer.id.clone(),
            session_name: reviewer.session.clone(),
            worktree_path: reviewer.worktree.clone(),
            branch_name: coding.branch().to_string(),
        };
        self.write(|connection| {
            db::set_phase(connection, &reviewer.id, Phase::Ready)?;
            db::insert_event(connection, &created(reviewer, tools::REQUEST_REVIEW))?;
            db::set_status(connection, coding, Status::WaitingReview, None, Some(tools::REQUEST_REVIEW))?;
            let commit = Some(review.reviewed_commit.as_str());
            finish(connection, operation, &answer, commit, caller)
        })?;
        Ok(answer)
    }

    /// Removes whatever was made of a reviewer whose start failed, and records the failure.
    fn undo_review(
        &self,
        reviewer: &InstanceId,
        operation: i64,
        failure: Option<(&Caller<'_>, &AgentsError)>,
    ) -> Result<()> {
        if let Some(instance) = self.read(|connection| db::instance(connection, reviewer))? {
            self.dismantle(&instance)?;
        }
        self.write(|connection| {
            db::delete_instance(connection, reviewer)?;
            undo(connection, operation, failure)
        })
    }

    /// After a crash: a reviewer that runs and has all it needs is recorded, and anything less is taken back.
    pub(crate) fn repair_review(&self, operation: &Operation) -> Result<String> {
        let planned = operation.plan.get("review").and_then(|id| id.as_str()).and_then(|id| id.parse().ok());
        let Some(reviewer) = planned else {
            return Err(AgentsError::new(Code::InternalError, "a request for review has no reviewer"));
        };
        let (found, review) = self.read(|connection| {
            Ok((db::instance(connection, &reviewer)?, db::review_by(connection, &reviewer)?))
        })?;
        let coding = self.archive.instance(&operation.instance)?;
        if let (Some(instance), Some(review)) = (found, review)
            && coding.status == Status::Started
        {
            if self.is_equipped(&instance)? {
                self.record_review(&instance, &review, operation.id, None)?;
                return Ok(format!("{reviewer} is running and is recorded"));
            }
            if self.cannot_be_held(&instance)? {
                self.record_review(&instance, &review, operation.id, None)?;
                return Ok(format!("{reviewer} has left something in its worktree and is recorded"));
            }
        }
        self.undo_review(&reviewer, operation.id, None)?;
        Ok(format!("the rest of {reviewer} is removed"))
    }
}

/// An agent that reviews is chosen by a setting, and not where it is called.
fn of_reviewer(error: AgentsError, choice: &AgentChoice) -> AgentsError {
    if error.code != Code::AgentNotFound || choice.agent == AgentChoice::COMMAND {
        return error;
    }
    let mut suggestions = error.suggestions;
    suggestions.truncate(1);
    let error = AgentsError { suggestions, ..AgentsError::new(error.code, error.message) };
    error.suggest(format!("or have another agent review: `tamis agents config {REVIEW_AGENT} AGENT`"))
}

/// Whether the coding agent answers the reviewer's question.
fn has_answer(input: &RequestReview) -> bool {
    input.completion_message.as_ref().is_some_and(|text| !text.trim().is_empty())
}

fn check(input: &RequestReview) -> Result<()> {
    let texts =
        [("reviewer_prompt", &input.reviewer_prompt), ("completion_message", &input.completion_message)];
    for (name, text) in texts {
        if text.as_ref().is_some_and(|text| text.chars().count() > LONGEST_TEXT) {
            let message = format!("{name} has more than {LONGEST_TEXT} characters");
            return Err(AgentsError::new(Code::ValidationError, message));
        }
    }
    Ok(())
}
