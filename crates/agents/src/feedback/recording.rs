//! Feedback that has arrived, or was taken back: the rows, and the word to the coding agent.

use super::Context;
use crate::ending::abandon_if_hopeless;
use crate::error::Result;
use crate::operations::{Caller, finish, tell_success};
use crate::records::{Feedback, OperationState, Outcome, Phase};
use crate::{AgentsError, Coordinator, FeedbackSent, Status, db, tools};
use tamis_git::{Commit, Note};

/// The reviewer is ended once it has the answer.
const SCHEDULED: &str = "scheduled";

impl Coordinator {
    /// The feedback is there, the reviewer is over, and the coding agent goes on.
    pub(super) fn record_feedback(
        &self,
        context: &Context,
        note: &Note,
        delivered: &Commit,
        caller: Option<&Caller<'_>>,
    ) -> Result<FeedbackSent> {
        let Context { reviewer, coding, feedback, operation, .. } = context;
        let answer = FeedbackSent {
            feedback_id: feedback.id.clone(),
            git_commit_hash: delivered.to_string(),
            target_instance_id: coding.id.clone(),
            cleanup_status: SCHEDULED.to_owned(),
        };
        let tool = Some(tools::SEND_FEEDBACK);
        self.archive.database.write_or(|connection| {
            db::deliver_feedback(
                connection,
                &feedback.id,
                delivered.as_str(),
                &note.path,
                note.blob.as_str(),
            )?;
            db::end_review(connection, &reviewer.id, Outcome::Feedback)?;
            db::set_status(
                connection,
                &reviewer.id,
                Status::Terminated,
                Some("its feedback is delivered"),
                tool,
            )?;
            db::set_phase(connection, &reviewer.id, Phase::Ending)?;
            // One that has had its chances gets the feedback, but no more time.
            if !abandon_if_hopeless(connection, &coding.id)? {
                db::set_status(connection, &coding.id, Status::Started, None, tool)?;
            }
            let commit = Some(delivered.as_str());
            match caller {
                Some(caller) => caller.finish(connection, *operation, &answer, commit),
                None => {
                    finish(connection, *operation, &answer)?;
                    tell_success(connection, tools::SEND_FEEDBACK, &reviewer.id, commit, None)
                }
            }
        })?;
        Ok(answer)
    }

    /// Takes back feedback that has not arrived: it may be said again.
    pub(super) fn undo_feedback(
        &self,
        feedback: &str,
        operation: i64,
        failure: Option<(&Caller<'_>, &AgentsError)>,
    ) -> Result<()> {
        self.archive.database.write_or(|connection| {
            db::delete_undelivered(connection, feedback)?;
            db::end_operation(connection, operation, OperationState::Undone, None)?;
            failure.map_or(Ok(()), |(caller, error)| caller.tell_failure(connection, error))
        })
    }

    /// Tells the coding agent. If that fails, the reconciler finds out why, and tells it if it lives.
    pub(super) fn tell_soon(&self, context: &Context) {
        let attempt = || {
            let row =
                self.archive.database.read(|connection| db::feedback(connection, &context.feedback.id))?;
            let coding = self.archive.instance(&context.coding.id)?;
            match row {
                Some(feedback) if coding.status == Status::Started => self.tell_of_feedback(&feedback),
                _ => Ok(()),
            }
        };
        let Err(error) = attempt() else { return };
        tracing::info!("{} is not told of its feedback yet: {error}", context.coding.id);
        if let Err(error) = self.end_if_dead(&context.coding.id) {
            tracing::warn!("{} cannot be looked after: {error}", context.coding.id);
        }
    }

    /// Tells the coding agent of feedback, in words of ours alone.
    pub(crate) fn tell_of_feedback(&self, feedback: &Feedback) -> Result<()> {
        let words = format!(
            "Review {} is done: {} has written {}. Read that file, do what it asks for, commit, and then call \
             request_review again, or create_pull_request if the work is done.",
            feedback.review_iteration, feedback.review_instance, feedback.path
        );
        self.tmux.tell(&feedback.coding_instance, &words)?;
        Ok(self.archive.database.write(|connection| db::mark_told(connection, &feedback.id))?)
    }
}
