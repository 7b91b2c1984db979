//! Looks for pull requests that may have been opened by calls that failed: GitHub's answer was lost, or came too late.

use super::recording::may_have_pull;
use super::{Plan, follow};
use crate::error::Result;
use crate::instances::records::{Moment, Operation, OperationState};
use crate::{Coordinator, InstanceId, Repair, db, tools};

/// For how many milliseconds GitHub may still be about to open it: an hour.
const LATEST: i64 = 60 * 60 * 1000;

impl Coordinator {
    /// Looks for the pull request of a family's last call, if that call could not find out whether it was opened. The caller
    /// holds the family's lock.
    pub(crate) fn search_for_pull(&self, family: &InstanceId, findings: &mut Vec<Repair>) -> Result<()> {
        let Some((operation, plan)) = self.unclear_pull(family)? else { return Ok(()) };
        let subject = self.archive.instance(&plan.subject)?;
        if !may_have_pull(&subject) || !self.following.lock().turn(family) {
            return Ok(());
        }
        match self.look_for_pull(&subject, plan.base.as_ref()) {
            Ok(Some(pull_request)) => {
                let done = self.record_found(&operation, &subject, &pull_request)?;
                let found = format!(
                    "{} of {} failed after it was sent to GitHub",
                    operation.tool, operation.instance
                );
                findings.push(self.record_repair(Some(family), found, done)?);
            }
            Ok(None) if Moment::now().0.saturating_sub(operation.begun_at.0) > LATEST => {
                self.replan(operation.id, &Plan { opening: false, ..plan })?;
            }
            Ok(None) => {}
            Err(error) => {
                tracing::debug!("cannot find out yet whether {family} has a pull request: {error}");
                follow::note_failure(&mut self.following.lock(), &error);
            }
        }
        Ok(())
    }

    /// The last call of the family, if it is over and its pull request may be open all the same.
    fn unclear_pull(&self, family: &InstanceId) -> Result<Option<(Operation, Plan)>> {
        let mut calls = Vec::new();
        for member in self.members(family)? {
            calls.extend(
                self.read(|connection| {
                    db::operations_by(connection, &member.id, tools::CREATE_PULL_REQUEST)
                })?,
            );
        }
        let Some(last) = calls.into_iter().max_by_key(|call| call.id) else { return Ok(None) };
        if last.state != OperationState::Undone {
            return Ok(None);
        }
        // A refusal has no plan.
        let Ok(plan) = Plan::of(&last) else { return Ok(None) };
        Ok(plan.opening.then_some((last, plan)))
    }
}
