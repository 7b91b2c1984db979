//! Recording feedback that has arrived, or was undone.

use super::Context;
use crate::cleanup::ending::abandon_if_hopeless;
use crate::error::Result;
use crate::instances::records::{Phase, ReviewOutcome};
use crate::journal::operations::{Caller, finish, undo};
use crate::{AgentsError, Coordinator, FeedbackSent, Status, db, tools};
use tamis_git::{Commit, ReviewNote};

/// The reviewer is ended once it has the answer.
const SCHEDULED: &str = "scheduled";

impl Coordinator {
    /// Records that the feedback has arrived: the reviewer ends, and the coding agent goes on.
    pub(super) fn record_feedback(
        &self,
        context: &Context,
        note: &ReviewNote,
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
        self.write(|connection| {
            db::deliver_feedback(
                connection,
                &feedback.id,
                delivered.as_str(),
                &note.path,
                note.blob.as_str(),
            )?;
            db::end_review(connection, &reviewer.id, ReviewOutcome::Feedback)?;
            db::set_status(
                connection,
                &reviewer.id,
                Status::Terminated,
                Some("its feedback was delivered"),
                tool,
            )?;
            db::set_phase(connection, &reviewer.id, Phase::Ending)?;
            // After too many failed reviews it gets the feedback, but is abandoned.
            if !abandon_if_hopeless(connection, &coding.id)? {
                db::set_status(connection, &coding.id, Status::Started, None, tool)?;
            }
            finish(connection, *operation, &answer, Some(delivered.as_str()), caller)
        })?;
        Ok(answer)
    }

    /// Undoes feedback that has not arrived: it may be sent again.
    pub(super) fn undo_feedback(
        &self,
        feedback: &str,
        operation: i64,
        failure: Option<(&Caller<'_>, &AgentsError)>,
    ) -> Result<()> {
        self.write(|connection| {
            db::delete_undelivered(connection, feedback)?;
            undo(connection, operation, failure)
        })
    }
}
