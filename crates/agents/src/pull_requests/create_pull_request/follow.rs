//! Follows pull requests: whether they were merged or closed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::instances::records::{Instance, Moment, Phase};
use crate::{AgentsError, Code, Coordinator, InstanceId, Repair, Status, db};
use tamis_github::PullState;

/// How often the state of one is read, and how long to wait after GitHub did not answer.
const PAUSE: Duration = Duration::from_secs(300);

/// For how many milliseconds a closed one is followed, in case it is opened again: a week.
pub(crate) const CLOSED_FOLLOWED: i64 = 7 * 24 * 60 * 60 * 1000;

/// Time limit: no caller waits for it, but the other families do.
const PATIENCE: Duration = Duration::from_secs(5);

/// When the states were read, and when pull requests of which nothing is known were looked for.
#[derive(Debug, Default)]
pub(crate) struct Following {
    pub(super) read_at: HashMap<InstanceId, Instant>,
    searched_at: HashMap<InstanceId, Instant>,
    failed: Option<Instant>,
}

impl Following {
    /// Whether to read the state of this one now, which then counts as done.
    fn turn(&mut self, id: &InstanceId) -> bool {
        turn(&mut self.read_at, self.failed, id)
    }

    /// Whether to look for one of this family now, which then counts as done. It may have another one that is followed.
    pub(super) fn turn_to_search(&mut self, family: &InstanceId) -> bool {
        turn(&mut self.searched_at, self.failed, family)
    }
}

fn turn(done_at: &mut HashMap<InstanceId, Instant>, failed: Option<Instant>, id: &InstanceId) -> bool {
    let long_ago = |at: &Instant| at.elapsed() >= PAUSE;
    let turn = failed.as_ref().is_none_or(long_ago) && done_at.get(id).is_none_or(long_ago);
    if turn {
        done_at.insert(id.clone(), Instant::now());
    }
    turn
}

/// Only an unavailable GitHub concerns the other repositories.
pub(super) fn note_failure(following: &mut Following, error: &AgentsError) {
    if error.code == Code::GithubUnavailable {
        following.failed = Some(Instant::now());
    }
}

/// Whether the state of its pull request may still change: one that was closed by mistake is opened again.
fn is_followed(head: &Instance) -> bool {
    match head.status {
        Status::PrCreated => true,
        Status::PrClosed => {
            head.ended_at.is_some_and(|at| Moment::now().0.saturating_sub(at.0) < CLOSED_FOLLOWED)
        }
        _ => false,
    }
}

impl Coordinator {
    /// Reads now and then whether the pull request of a family's head was merged or closed. The caller holds the family's lock.
    pub(crate) fn follow_pull_request(&self, family: &InstanceId, findings: &mut Vec<Repair>) -> Result<()> {
        let head = self.archive.instance(family)?;
        let (true, Some(number)) = (is_followed(&head), head.pr_number) else { return Ok(()) };
        if !self.following.lock().turn(family) {
            return Ok(());
        }
        let state = self.pull_state(&head, number).unwrap_or_else(|error| {
            tracing::debug!("cannot read the state of pull request {number} of {family} yet: {error}");
            note_failure(&mut self.following.lock(), &error);
            None
        });
        let (status, found) = match state {
            None => return Ok(()),
            Some(PullState::Open) => (Status::PrCreated, format!("pull request {number} was reopened")),
            Some(PullState::Merged) => (Status::PrMerged, format!("pull request {number} was merged")),
            Some(PullState::Closed) => (Status::PrClosed, format!("pull request {number} was closed")),
        };
        if status == head.status {
            return Ok(());
        }
        self.write(|connection| {
            db::set_status(connection, family, status, Some(&found), None)?;
            // Its agent may have ended long before.
            if head.phase == Phase::Ready && status != Status::PrCreated {
                db::set_phase(connection, family, Phase::Ending)?;
            }
            Ok::<_, AgentsError>(())
        })?;
        self.clean_up_family(family)?;
        let done = format!("it is {status} now");
        findings.push(Repair { instance: Some(family.clone()), found, done });
        Ok(())
    }

    /// None where its repository has no GitHub any more.
    fn pull_state(&self, head: &Instance, number: i64) -> Result<Option<PullState>> {
        let repository = self.repository(&head.repository)?;
        let (_, github) = self.github_of(&repository, Instant::now() + PATIENCE)?;
        match (github, u64::try_from(number)) {
            (Some(github), Ok(number)) => Ok(Some(github.pull_request(number)?.state)),
            _ => Ok(None),
        }
    }
}
