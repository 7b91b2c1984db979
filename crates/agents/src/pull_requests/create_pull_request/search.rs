//! Looks for pull requests that may have been opened by calls that failed: GitHub's answer was lost, or came too late.

use std::collections::HashSet;

use super::recording::may_have_pull;
use super::{Plan, Work, follow};
use crate::error::Result;
use crate::instances::records::{Moment, Operation, OperationState};
use crate::{Coordinator, InstanceId, Repair, db, tools};

/// For how many milliseconds GitHub may still be about to open it: an hour.
const LATEST: i64 = 60 * 60 * 1000;

impl Coordinator {
    /// Looks for the pull requests of a family's calls that could not find out whether they were opened. The caller holds the
    /// family's lock.
    pub(crate) fn search_for_pull(&self, family: &InstanceId, findings: &mut Vec<Repair>) -> Result<()> {
        let mut unclear = self.unclear_pulls(family)?;
        let review = self.read(|connection| db::running_review(connection, family))?;
        // A review that runs ends with its reviewer's own pull request only.
        unclear.retain(|(operation, _)| {
            review.as_ref().is_none_or(|review| review.child_instance == operation.instance)
        });
        if unclear.is_empty()
            || !may_have_pull(&self.archive.instance(family)?)
            || !self.following.lock().turn_to_search(family)
        {
            return Ok(());
        }
        for (operation, plan) in unclear {
            let subject = self.archive.instance(&plan.subject)?;
            match self.look_for_pull(&subject, plan.base.as_ref()) {
                Ok(Some(pull_request)) => {
                    let done = self.record_found(&operation, &subject, &pull_request)?;
                    let found = format!(
                        "{} of {} failed after it was sent to GitHub",
                        operation.tool, operation.instance
                    );
                    findings.push(self.record_repair(Some(family), found, done)?);
                    return Ok(());
                }
                Ok(None) if Moment::now().0.saturating_sub(operation.begun_at.0) > LATEST => {
                    self.replan(operation.id, &Plan { opening: false, ..plan })?;
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!("cannot find out yet whether {family} has a pull request: {error}");
                    follow::note_failure(&mut self.following.lock(), &error);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Whether an earlier call of the caller may have opened this very pull request. A new call takes that over: it may fail
    /// before it asks GitHub, and its row may replace that of the call that it repeats.
    pub(super) fn may_be_open(&self, work: &Work<'_>) -> Result<bool> {
        let base = Some(&work.destination.base);
        let unclear = self.unclear_pulls(&work.subject.id)?;
        Ok(unclear.iter().any(|(operation, plan)| {
            operation.instance == work.caller.instance.id
                && (plan.base.is_none() || plan.base.as_ref() == base)
        }))
    }

    /// The calls of a family that are over and whose pull requests may be open all the same, newest first. For each instance and
    /// base the last call decides, and what came before a pull request that was recorded is settled.
    fn unclear_pulls(&self, family: &InstanceId) -> Result<Vec<(Operation, Plan)>> {
        let mut calls = Vec::new();
        for member in self.members(family)? {
            calls.extend(
                self.read(|connection| {
                    db::operations_by(connection, &member.id, tools::CREATE_PULL_REQUEST)
                })?,
            );
        }
        calls.sort_by_key(|call| std::cmp::Reverse(call.id));
        let (mut unclear, mut seen) = (Vec::new(), HashSet::new());
        for call in calls.into_iter().take_while(|call| call.state != OperationState::Done) {
            // A refusal has no plan, and one that is under way will say what came of it.
            let (OperationState::Undone, Ok(plan)) = (call.state, Plan::of(&call)) else { continue };
            if seen.insert((call.instance.clone(), plan.base.clone())) && plan.opening {
                unclear.push((call, plan));
            }
        }
        Ok(unclear)
    }
}
