//! `send_feedback`: a review agent gives its feedback.
//!
//! It arrives by git: a commit with a file of notes, brought to the coding agent's branch where it is checked out. Up to
//! that moment everything can be undone; after it everything is finished, if need be by the next coordinator.

mod document;
mod input;
mod notification;
mod recording;
mod repair;

use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tamis_redact::Redact;

use crate::error::Result;
use crate::faults::{Point, reach};
use crate::instances::identity::random_hex;
use crate::instances::records::{Feedback, Instance, Moment, Phase, Review};
use crate::journal::operations::{Caller, in_time};
use crate::{
    AgentCall, AgentType, AgentsError, Code, Coordinator, FeedbackSent, InstanceId, SendFeedback, Status, db,
    tools,
};
use tamis_git::{Commit, Delivery, Notes, Repository, ReviewNote};

/// How often a path for the notes may be taken at the last moment.
const MOST_NAMES_TRIED: u32 = 8;

/// What the journal holds of it, so that another coordinator can finish it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Plan {
    feedback: String,
    /// Set once the notes are committed. They may be on the coding branch from then on.
    notes: Option<Committed>,
}

/// Notes that are committed beside the coding branch.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Committed {
    commit: Commit,
    note: ReviewNote,
}

/// A review of which feedback is given.
struct Context {
    reviewer: Instance,
    coding: Instance,
    review: Review,
    feedback: Feedback,
    operation: i64,
}

/// Feedback becomes a file of the coding branch, whose history is pushed, and a line of the pull request.
fn redacted(input: &SendFeedback) -> SendFeedback {
    let mut redacted = input.clone();
    redacted.feedback.redact();
    redacted.priority.redact();
    redacted.actionable_items.redact();
    redacted
}

impl Coordinator {
    /// The contract's `send_feedback`.
    pub fn send_feedback(&self, call: &AgentCall<'_>, input: &SendFeedback) -> Result<FeedbackSent> {
        self.answer(tools::SEND_FEEDBACK, call, input, |caller| {
            caller.must_be(&[AgentType::Review])?;
            input::check(input)?;
            self.deliver(caller, &redacted(input))
        })
    }

    fn deliver(&self, caller: &Caller<'_>, input: &SendFeedback) -> Result<FeedbackSent> {
        let context = self.reserve_feedback(caller, input)?;
        reach(Point::FeedbackReserved);
        let mut brought = self.bring(&context, Some(caller.deadline));
        if brought.is_err()
            && let Ok(Some(arrived)) = self.arrived(&context)
        {
            // git moved the branch, and was stopped before it could report that.
            brought = Ok(arrived);
        }
        let (committed, delivered) = brought.inspect_err(|error| {
            let undone = self.undo_feedback(&context.feedback.id, context.operation, Some((caller, error)));
            if let Err(error) = undone {
                tracing::warn!("feedback {} will be undone later: {error}", context.feedback.id);
            }
        })?;
        reach(Point::FeedbackMerged);
        // From here on it is finished, by the next one that holds the family if it fails here.
        let recorded = self.record_feedback(&context, &committed.note, &delivered, Some(caller));
        let answer = recorded.map_err(|error| {
            error.suggest("the feedback is already on the coding branch; try again in a minute for the rest")
        })?;
        reach(Point::FeedbackRecorded);
        self.let_go(&context.reviewer.id);
        self.notify_of_feedback(&context, Some(caller.deadline));
        reach(Point::FeedbackNotified);
        Ok(answer)
    }

    /// Inserts the feedback, if it is allowed now and not a duplicate.
    fn reserve_feedback(&self, caller: &Caller<'_>, input: &SendFeedback) -> Result<Context> {
        self.write(|connection| {
            let reviewer = caller.instance.clone();
            let Some(review) = db::review_by(connection, &reviewer.id)? else {
                let message = format!("{} has no work to review", reviewer.id);
                return Err(AgentsError::new(Code::PermissionDenied, message).about(&reviewer.id));
            };
            let coding = db::instance(connection, &review.parent_instance)?.ok_or_else(|| {
                AgentsError::new(
                    Code::InstanceNotFound,
                    format!("there is no instance {}", review.parent_instance),
                )
            })?;
            for (instance, wanted) in [(&reviewer, Status::Started), (&coding, Status::WaitingReview)] {
                if instance.status != wanted || !matches!(instance.phase, Phase::Ready) {
                    let message = format!(
                        "{} is {}; it takes feedback only when it is {wanted}",
                        instance.id, instance.status
                    );
                    return Err(AgentsError::new(Code::InvalidState, message).about(&instance.id));
                }
            }
            let digest = digest(input, &review);
            if let Some(same) = db::same_feedback(connection, &coding.id, &digest)? {
                return Err(duplicate(&coding.id, &same));
            }
            let now = Moment::now();
            let feedback = Feedback {
                id: new_id()?,
                review_instance: reviewer.id.clone(),
                coding_instance: coding.id.clone(),
                review_iteration: review.review_iteration,
                feedback: input.feedback.clone(),
                feedback_type: input.feedback_type,
                priority: input.priority.clone(),
                actionable_items: input.actionable_items.clone(),
                digest,
                path: String::new(),
                blob: None,
                git_commit_hash: None,
                created_at: now,
                delivered_at: None,
                told_at: None,
            };
            db::insert_feedback(connection, &feedback)?;
            let plan = Plan { feedback: feedback.id.clone(), notes: None };
            let operation = caller.begin(connection, &plan)?;
            Ok(Context { reviewer, coding, review, feedback, operation })
        })
    }

    /// Brings the notes to the coding branch. However often it is called, they come once.
    fn bring(&self, context: &Context, deadline: Option<Instant>) -> Result<(Committed, Commit)> {
        let Context { reviewer, coding, review, feedback, operation } = context;
        let in_time = || deadline.map_or(Ok(()), |deadline| in_time(deadline, tools::SEND_FEEDBACK));
        let repository = match deadline {
            Some(deadline) => self.repository_until(&coding.repository, deadline)?,
            None => self.repository(&coding.repository)?,
        };
        let worktree = repository.worktree(&coding.worktree)?;
        let reviewed = &review.reviewed_commit;
        let content = document::render(feedback);
        let message = format!("Review {} of {}\n\nBy {}\n", review.review_iteration, coding.id, reviewer.id);
        let at = feedback.created_at.0 / 1000;
        let earlier = self.notes_for(&coding.id)?;
        for _ in 0..MOST_NAMES_TRIED {
            in_time()?;
            let path = worktree.choose_notes_path(reviewed, &earlier, &content)?;
            let notes = Notes { path: &path, content: &content, message: &message, at, reviewed };
            let (commit, note) = repository.commit_notes(&notes)?;
            let committed = Committed { commit, note };
            let plan = Plan { feedback: feedback.id.clone(), notes: Some(committed.clone()) };
            self.replan(*operation, &plan)?;
            reach(Point::FeedbackCommitted);
            in_time()?;
            let delivery = worktree.merge_notes(&coding.branch, &notes, &committed.commit, &earlier)?;
            if let Delivery::Delivered(by) = delivery {
                self.note_on_review_branch(&repository, context, &committed.commit);
                return Ok((committed, by));
            }
        }
        Err(AgentsError::new(
            Code::WorktreeBusy,
            format!("the worktree of {} keeps putting something else in place of the notes", coding.id),
        )
        .suggest("try again when its agent pauses"))
    }

    /// Notes that are on the coding branch, whatever became of the call that was to bring them.
    fn arrived(&self, context: &Context) -> Result<Option<(Committed, Commit)>> {
        let operation = self.read(|connection| db::operation(connection, context.operation))?;
        let plan = serde_json::from_value::<Plan>(operation.plan).ok();
        let Some(committed) = plan.and_then(|plan| plan.notes) else { return Ok(None) };
        let repository = self.repository(&context.coding.repository)?;
        let Some(tip) = repository.branch_tip(&context.coding.branch)? else { return Ok(None) };
        let by = repository.delivered_by(&tip, &committed.commit, &context.review.reviewed_commit)?;
        Ok(by.map(|by| (committed, by)))
    }

    /// The notes are put on the review branch too, unless its agent has moved it.
    fn note_on_review_branch(&self, repository: &Repository, context: &Context, notes: &Commit) {
        let Context { reviewer, review, .. } = context;
        let advanced = repository.advance_review_branch(
            &reviewer.worktree,
            &reviewer.branch,
            &review.reviewed_commit,
            notes,
        );
        if let Err(error) = advanced {
            tracing::debug!("the notes are not on {}: {error}", reviewer.branch);
        }
    }

    /// The notes that a coding agent got.
    pub(crate) fn notes_for(&self, coding: &InstanceId) -> Result<Vec<ReviewNote>> {
        let given = self.archive.feedback(Some(coding))?;
        let notes = given.into_iter().filter_map(|feedback| {
            Some(ReviewNote { path: feedback.path, blob: feedback.blob?.parse().ok()? })
        });
        Ok(notes.collect())
    }
}

/// A hash of all that was said, whatever the space between the words, and of the work that it was said of. The same words about
/// work that has changed since say that it has not changed enough, which is other feedback.
fn digest(input: &SendFeedback, review: &Review) -> String {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let SendFeedback { feedback, feedback_type, priority, actionable_items } = input;
    let items: Vec<String> = actionable_items.iter().map(|item| words(item)).collect();
    let priority = priority.as_deref().map(words);
    let said = json!([words(feedback), feedback_type, priority, items, review.work_identity]);
    blake3::hash(said.to_string().as_bytes()).to_hex().to_string()
}

fn new_id() -> Result<String> {
    Ok(format!("fb_{}", random_hex::<12>()?))
}

fn duplicate(coding: &InstanceId, same: &Feedback) -> AgentsError {
    let message = format!(
        "{coding} already received the same feedback on the same work in review {}",
        same.review_iteration
    );
    AgentsError::new(Code::DuplicateFeedback, message)
        .about(&same.review_instance)
        .suggest("describe what is still missing, and where")
        .suggest("or create a pull request with create_pull_request if the work is good enough")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_of_feedback_is_committed() {
        let token = format!("ghp_{}", "a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f");
        let input = SendFeedback {
            feedback: format!("{token} is in the log"),
            feedback_type: crate::FeedbackType::NeedsWork,
            priority: Some(token.clone()),
            actionable_items: vec![format!("revoke {token}")],
        };
        let SendFeedback { feedback, priority, actionable_items, .. } = redacted(&input);
        let shown = "[redacted:github-token]";
        assert_eq!(feedback, format!("{shown} is in the log"));
        assert_eq!((priority.as_deref(), actionable_items), (Some(shown), vec![format!("revoke {shown}")]));
    }
}
