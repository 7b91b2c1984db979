//! Whether a coding agent may have another review.

use std::fmt::Write as _;

use tamis_store::rusqlite::Connection;

use crate::cleanup::ending::{abandon_if_hopeless, chances};
use crate::error::Result;
use crate::instances::user_config::{self, MAX_ITERATIONS};
use crate::journal::operations::Caller;
use crate::{AgentsError, Code, InstanceId, Status, db};

/// What the contract suggests at the limit.
const AT_THE_LIMIT: [&str; 3] = [
    "Create pull request with current work",
    "Abandon this approach and try different solution",
    "Manually review and fix issues before requesting review",
];

/// What becomes of a request.
pub(super) enum Admission {
    Granted {
        iteration: u32,
    },
    /// Counted, and so to be committed.
    Refused(AgentsError),
}

/// Whether the coding agent may have another review, by its status and its history.
pub(super) fn admission(connection: &Connection, caller: &Caller<'_>) -> Result<Admission> {
    let id = &caller.instance.id;
    let status = db::instance(connection, id)?.map_or(Status::Terminated, |instance| instance.status);
    if status != Status::Started {
        let error =
            AgentsError::new(Code::InvalidState, format!("{id} is {status} and cannot request a review"))
                .about(id);
        return Err(match (status, db::running_review(connection, id)?) {
            (Status::WaitingReview, Some(review)) => error.suggest(format!(
                "wait: {} is reviewing, and its feedback will be merged into the worktree",
                review.child_instance
            )),
            _ => error,
        });
    }
    let current = db::current_iteration(connection, id)?;
    let most = user_config::number(connection, MAX_ITERATIONS)?;
    if u64::from(current) < most {
        return Ok(Admission::Granted { iteration: current + 1 });
    }
    db::count_rejection(connection, id)?;
    let chances = chances(connection, id)?;
    let mut message = format!("Maximum review iterations ({most}) reached for agent {id}");
    let is_abandoned = chances.left == 0;
    if is_abandoned {
        let _ = write!(message, ", which is {} now: {}", Status::Abandoned, chances.reason());
    }
    let mut error = AgentsError::new(Code::ReviewLimitExceeded, message)
        .about(id)
        .detail("current_iteration", current)
        .detail("max_iterations", most);
    if is_abandoned {
        // Not a pull request, which is refused from now on.
        error = error
            .detail("status", Status::Abandoned.as_str())
            .suggest("end your turn: this session ends in a moment")
            .suggest(format!("the commits stay on {}, for a person to go on from", id.branch()));
    } else {
        error.suggestions = AT_THE_LIMIT.map(str::to_owned).to_vec();
        error = error.detail("warning", warning(id, chances.left));
    }
    caller.refuse(connection, &error)?;
    abandon_if_hopeless(connection, id)?;
    Ok(Admission::Refused(error))
}

/// How many more refusals there may be.
fn warning(id: &InstanceId, left: u64) -> String {
    let when = match left {
        1 => format!("the next request for review that is refused abandons {id}"),
        left => format!("after {left} more requests for review that are refused, {id} is abandoned"),
    };
    format!("{when}, and then it can create no pull request")
}
