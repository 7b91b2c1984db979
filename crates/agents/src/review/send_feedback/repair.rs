//! Finishing what a crash interrupted, or taking it back.

use std::time::{Duration, UNIX_EPOCH};

use super::{Committed, Context, Plan};
use crate::error::Result;
use crate::instances::records::Operation;
use crate::{AgentsError, Code, Coordinator, db};
use tamis_git::{Commit, ReviewNote};

impl Coordinator {
    /// After a crash: notes that are on the coding branch, or can be brought there, are recorded; otherwise the feedback is undone.
    pub(crate) fn repair_feedback(&self, operation: &Operation) -> Result<String> {
        let unreadable = |error| {
            AgentsError::new(Code::InternalError, format!("the plan of feedback cannot be read: {error}"))
        };
        let plan: Plan = serde_json::from_value(operation.plan.clone()).map_err(unreadable)?;
        let brought = match self.context_of(operation, &plan)? {
            Some(context) => self.bring_again(&context, plan.notes).map(|brought| (context, brought)),
            None => Err(AgentsError::new(Code::InternalError, "the feedback is no longer in the database")),
        };
        match brought {
            Ok((context, (note, delivered))) => {
                let coding = &context.coding.id;
                self.record_feedback(&context, &note, &delivered, None)?;
                self.notify_of_feedback(&context, None);
                Ok(format!("the feedback has arrived at {coding}"))
            }
            // Another git is at work there; the next attempt may succeed.
            Err(error) if matches!(error.code, Code::GitLocked | Code::Timeout) => Err(error),
            Err(error) => {
                self.undo_feedback(&plan.feedback, operation.id, None)?;
                Ok(format!("the feedback was undone: {error}"))
            }
        }
    }

    fn bring_again(&self, context: &Context, notes: Option<Committed>) -> Result<(ReviewNote, Commit)> {
        let repository = self.repository(&context.coding.repository)?;
        let (branch, reviewed) = (&context.coding.branch, &context.review.reviewed_commit);
        let since =
            UNIX_EPOCH + Duration::from_millis(u64::try_from(context.feedback.created_at.0).unwrap_or(0));
        repository.clear_left_locks(&context.coding.worktree, branch, since)?;
        // Read from the branch itself: the worktree may be in the middle of something by now.
        if let (Some(Committed { commit, note }), Some(tip)) = (notes, repository.branch_tip(branch)?)
            && let Some(by) = repository.delivered_by(&tip, &commit, reviewed)?
        {
            return Ok((note, by));
        }
        let (committed, by) = self.bring(context, None)?;
        Ok((committed.note, by))
    }

    fn context_of(&self, operation: &Operation, plan: &Plan) -> Result<Option<Context>> {
        let rows = self.read(|connection| {
            let Some(review) = db::review_by(connection, &operation.instance)? else { return Ok(None) };
            let reviewer = db::instance(connection, &review.child_instance)?;
            let coding = db::instance(connection, &review.parent_instance)?;
            let feedback = db::feedback(connection, &plan.feedback)?;
            Ok(Some((review, reviewer, coding, feedback)))
        })?;
        let Some((review, Some(reviewer), Some(coding), Some(feedback))) = rows else { return Ok(None) };
        Ok(Some(Context { reviewer, coding, review, feedback, operation: operation.id }))
    }
}
