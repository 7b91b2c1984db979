//! Writing down that instances are over. One seldom ends alone, so this is done in one place.

use tamis_store::rusqlite::Connection;

use crate::error::Result;
use crate::instances::records::{Instance, Phase, Review, ReviewOutcome};
use crate::instances::user_config::{self, AUTO_ABANDON_AFTER};
use crate::{AgentsError, InstanceId, Status, db};

/// Writes down that an instance is over, with what goes with it: a coding agent's reviewer is over too, and a reviewer's
/// coding agent goes on, unless it has had its chances.
pub(crate) fn end_rows(
    connection: &Connection,
    instance: &Instance,
    status: Status,
    outcome: ReviewOutcome,
    reason: &str,
    tool: Option<&str>,
) -> Result<()> {
    let end_reviewer = |review: &Review, status: Status, outcome: ReviewOutcome, reason: &str| {
        db::end_review(connection, &review.child_instance, outcome)?;
        db::set_status(connection, &review.child_instance, status, Some(reason), tool)?;
        db::set_phase(connection, &review.child_instance, Phase::Ending).map_err(AgentsError::from)
    };
    let own = db::review_by(connection, &instance.id)?;
    let Some(review) = own else {
        db::set_status(connection, &instance.id, status, Some(reason), tool)?;
        db::set_phase(connection, &instance.id, Phase::Ending)?;
        return match db::running_review(connection, &instance.id)? {
            Some(review) => {
                let reason = format!("{} is over", instance.id);
                end_reviewer(&review, Status::Terminated, ReviewOutcome::Ended, &reason)
            }
            None => Ok(()),
        };
    };
    end_reviewer(&review, status, outcome, reason)?;
    let coding = &review.parent_instance;
    let waits =
        db::instance(connection, coding)?.is_some_and(|coding| coding.status == Status::WaitingReview);
    if waits && !abandon_if_hopeless(connection, coding)? {
        let reason = format!("{} has ended without feedback", instance.id);
        db::set_status(connection, coding, Status::Started, Some(&reason), tool)?;
    }
    Ok(())
}

/// How a coding agent stands whose reviews have failed.
pub(crate) struct Chances {
    pub(crate) failed: u64,
    /// How many more may fail; with the last of them, or with none, it is abandoned.
    pub(crate) left: u64,
}

pub(crate) fn chances(connection: &Connection, coding: &InstanceId) -> Result<Chances> {
    let failed = db::failed_reviews(connection, coding)?;
    let left = user_config::number(connection, AUTO_ABANDON_AFTER)?.saturating_sub(failed);
    Ok(Chances { failed, left })
}

impl Chances {
    pub(crate) fn reason(&self) -> String {
        format!("{} reviews failed or were refused at the limit", self.failed)
    }
}

/// Gives a coding agent up whose reviews have failed too often. Belongs into the transaction that counts another. Answers
/// whether it did.
pub(crate) fn abandon_if_hopeless(connection: &Connection, coding: &InstanceId) -> Result<bool> {
    let chances = chances(connection, coding)?;
    if chances.left > 0 {
        return Ok(false);
    }
    db::set_status(connection, coding, Status::Abandoned, Some(&chances.reason()), None)?;
    db::set_phase(connection, coding, Phase::Ending)?;
    Ok(true)
}
