//! The message that a waiting coding agent is sent in its terminal when feedback has arrived.

use std::time::Instant;

use super::Context;
use crate::error::Result;
use crate::instances::records::Feedback;
use crate::{Coordinator, FeedbackType, Status, db};

impl Coordinator {
    /// Notifies the coding agent, as long as the caller waits. If that fails, the reconciler finds out why, and notifies it
    /// if it lives.
    pub(super) fn notify_of_feedback(&self, context: &Context, deadline: Option<Instant>) {
        let attempt = || {
            let row = self.read(|connection| db::feedback(connection, &context.feedback.id))?;
            let coding = self.archive.instance(&context.coding.id)?;
            match row {
                Some(feedback) if coding.status == Status::Started => {
                    self.send_notification(&feedback, deadline)
                }
                _ => Ok(()),
            }
        };
        let Err(error) = attempt() else { return };
        tracing::info!("{} is not notified of its feedback yet: {error}", context.coding.id);
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return;
        }
        if let Err(error) = self.end_if_dead(&context.coding.id) {
            tracing::warn!("cannot check whether the agent of {} is alive: {error}", context.coding.id);
        }
    }

    /// Types the message into the agent's session. It quotes nothing of the feedback itself.
    pub(crate) fn send_notification(&self, feedback: &Feedback, deadline: Option<Instant>) -> Result<()> {
        let then = match feedback.feedback_type {
            FeedbackType::Clarification => {
                "answer its question in the completion_message of another request_review, with or without new commits"
            }
            FeedbackType::NeedsWork | FeedbackType::Suggestions => {
                "do what it asks for, commit, and then call request_review again"
            }
        };
        let message = format!(
            "Review {} is done: {} has written {}. Read that file, {then}, or call create_pull_request if the work is done.",
            feedback.review_iteration, feedback.review_instance, feedback.path
        );
        let tmux = deadline.map_or_else(|| self.tmux.clone(), |deadline| self.tmux.until(deadline));
        tmux.send_message(&feedback.coding_instance, &message)?;
        self.write(|connection| Ok(db::mark_notified(connection, &feedback.id)?))
    }
}
