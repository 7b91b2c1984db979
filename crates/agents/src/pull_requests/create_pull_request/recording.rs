//! Writing down what came of a pull request, at once or after a crash.

use std::time::{Duration, Instant};

use tamis_store::rusqlite::Connection;

use super::{Plan, number_of};
use crate::error::Result;
use crate::instances::records::{Instance, Operation, Phase, ReviewOutcome};
use crate::journal::operations::{Caller, finish, undo};
use crate::{AgentsError, Code, Coordinator, InstanceId, PullRequestCreated, Status, db, tools};
use tamis_git::{BranchName, Commit};
use tamis_github::PullRequest;

/// How long GitHub may take for an answer after a crash, and then the coding agent's session for a message, when others wait.
const PATIENCE: Duration = Duration::from_secs(5);

impl Coordinator {
    /// Writes down what came of it. A review ends with it, approved.
    pub(super) fn record_pull(
        &self,
        calling: &InstanceId,
        subject: &Instance,
        answer: &PullRequestCreated,
        operation: i64,
        caller: Option<(&Caller<'_>, &Commit)>,
    ) -> Result<()> {
        const TOOL: Option<&str> = Some(tools::CREATE_PULL_REQUEST);
        self.write(|connection| {
            let before = status_of(connection, &subject.id)?;
            match (answer.pr_number, &answer.pr_url) {
                (Some(number), Some(url)) => {
                    db::set_pull_request(connection, &subject.id, number, url)?;
                    if before != Status::PrCreated {
                        let reason = format!("pull request {number}: {url}");
                        db::set_status(connection, &subject.id, Status::PrCreated, Some(&reason), TOOL)?;
                    }
                }
                // Without a pull request the work goes back to whom it belongs.
                _ if before == Status::WaitingReview => {
                    let reason = format!("approved by {calling}, {}", without_pull_request(answer));
                    db::set_status(connection, &subject.id, Status::Started, Some(&reason), TOOL)?;
                }
                _ => db::set_reason(connection, &subject.id, &without_pull_request(answer))?,
            }
            if *calling != subject.id {
                db::end_review(connection, calling, ReviewOutcome::Approved)?;
                // After a crash it may be over for another reason already.
                if status_of(connection, calling)?.may_become(Status::Terminated) {
                    db::set_status(connection, calling, Status::Terminated, Some("approved the work"), TOOL)?;
                    db::set_phase(connection, calling, Phase::Ending)?;
                }
            }
            let tip = caller.map(|(_, tip)| tip.as_str());
            finish(connection, operation, answer, tip, caller.map(|(caller, _)| caller))
        })
    }

    /// After a crash: a pull request that was opened is recorded. All else the next call does again. If GitHub cannot be asked
    /// now, or has not opened it yet, the plan says so, and the reconciler asks later.
    pub(crate) fn repair_pull(&self, operation: &Operation) -> Result<String> {
        let plan = Plan::of(operation)?;
        let subject = self.archive.instance(&plan.subject)?;
        let opened = if plan.opening { self.look_for_pull(&subject, plan.base.as_ref()) } else { Ok(None) };
        if let (Ok(Some(pull_request)), true) = (&opened, may_have_pull(&subject)) {
            return self.record_found(operation, &subject, pull_request);
        }
        self.write(|connection| undo(connection, operation.id, None))?;
        Ok(match opened {
            Err(error) => {
                format!(
                    "cannot find out yet whether a pull request was opened; it is looked for later: {error}"
                )
            }
            Ok(None) if plan.opening => {
                "no pull request is open yet; it is looked for later, and the next call does the rest"
                    .to_owned()
            }
            Ok(_) => "no pull request was opened; the next call does the rest".to_owned(),
        })
    }

    /// Records a pull request that was opened by a call whose outcome was not known. A coding agent that waits for its reviewer
    /// is notified.
    pub(super) fn record_found(
        &self,
        operation: &Operation,
        subject: &Instance,
        pull_request: &PullRequest,
    ) -> Result<String> {
        let answer = PullRequestCreated {
            pr_number: Some(number_of(pull_request.number)?),
            pr_url: Some(pull_request.url.clone()),
            branch_name: subject.branch.to_string(),
            done: Vec::new(),
            left_to_do: Vec::new(),
        };
        self.record_pull(&operation.instance, subject, &answer, operation.id, None)?;
        if operation.instance != subject.id {
            self.notify_approved(&subject.id, &answer, Instant::now() + PATIENCE);
        }
        Ok(format!("pull request {} was opened and is recorded", pull_request.number))
    }

    pub(super) fn look_for_pull(
        &self,
        subject: &Instance,
        base: Option<&BranchName>,
    ) -> Result<Option<PullRequest>> {
        let repository = self.repository(&subject.repository)?;
        let base = base.or(subject.base_branch.as_ref()).map_or("main", BranchName::as_str);
        match self.github_of(&repository, Instant::now() + PATIENCE)?.1 {
            Some(github) => Ok(github.open_pull_request(&subject.branch, base)?),
            None => Ok(None),
        }
    }
}

impl Plan {
    pub(super) fn of(operation: &Operation) -> Result<Plan> {
        serde_json::from_value(operation.plan.clone()).map_err(|error| {
            AgentsError::new(
                Code::InternalError,
                format!("the plan of a pull request cannot be read: {error}"),
            )
        })
    }
}

/// Whether its status allows a pull request.
pub(super) fn may_have_pull(subject: &Instance) -> bool {
    subject.status == Status::PrCreated || subject.status.may_become(Status::PrCreated)
}

/// How the work stands where there is no GitHub.
fn without_pull_request(answer: &PullRequestCreated) -> String {
    format!("without a pull request, as there is no GitHub; left to do: {}", answer.left_to_do.join(", "))
}

fn status_of(connection: &Connection, id: &InstanceId) -> Result<Status> {
    Ok(db::instance(connection, id)?.map_or(Status::Terminated, |instance| instance.status))
}
