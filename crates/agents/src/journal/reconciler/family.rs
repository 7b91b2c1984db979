//! Looking after one family: a coding or planning agent, and the reviewers of its work.

use super::{Sight, is_watched};
use crate::cleanup::ending::end_rows;
use crate::error::Result;
use crate::instances::records::{Instance, Moment, Phase, ReviewOutcome};
use crate::instances::user_config::{self, TIMEOUT_HOURS};
use crate::{AgentsError, Coordinator, InstanceId, Repair, Status, db};

const HOUR: i64 = 60 * 60 * 1000;

/// What is wrong with an instance that should be at work.
enum Ailment {
    /// Its agent ended, or its session is gone.
    Dead {
        exit_code: Option<i32>,
        reason: String,
    },
    WorktreeGone,
    BranchGone,
}

impl Coordinator {
    /// Looks after a family that is held.
    pub(super) fn look_after(
        &self,
        family: &InstanceId,
        sight: &Sight,
        findings: &mut Vec<Repair>,
    ) -> Result<()> {
        findings.extend(self.repair_family(family)?);
        // What cannot be done keeps nothing else from being done: a reviewer that cannot be cleaned up, for example.
        let mut trouble = self.treat_members(family, sight, findings);
        trouble = trouble.and(self.end_late_review(family, findings));
        trouble = trouble.and(self.free_if_not_reviewed(family, findings));
        trouble = trouble.and(self.finish_endings(family, findings));
        trouble = trouble.and(self.notify_of_unseen_feedback(family, findings));
        trouble = trouble.and(self.search_for_pull(family, findings));
        trouble.and(self.follow_pull_request(family, findings))
    }

    fn treat_members(&self, family: &InstanceId, sight: &Sight, findings: &mut Vec<Repair>) -> Result<()> {
        let mut trouble = Ok(());
        for member in self.members(family)?.iter().filter(|member| is_watched(member)) {
            // It may have ended with one that was looked at before it.
            let member = self.archive.instance(&member.id)?;
            if is_watched(&member) && !looks_well(&member, sight) {
                let ailment = self.examine(&member);
                let treated = ailment.and_then(|it| it.map(|it| self.treat(&member, it)).transpose());
                trouble = trouble.and(treated.map(|finding| findings.extend(finding)));
            }
        }
        trouble
    }

    fn finish_endings(&self, family: &InstanceId, findings: &mut Vec<Repair>) -> Result<()> {
        let mut trouble = Ok(());
        for member in self.members(family)? {
            if member.phase == Phase::Ending && !self.is_leaving(&member.id) {
                let finished = self.finish_ending(&member).and_then(|disposal| {
                    let done =
                        if disposal.kept.is_empty() { "it is cleaned up" } else { "its session is ended" };
                    let found = format!("{} has ended and was not cleaned up", member.id);
                    self.record_repair(Some(&member.id), found, done.to_owned())
                });
                trouble = trouble.and(finished.map(|finding| findings.push(finding)));
            }
        }
        trouble
    }

    /// The head of a family and its reviewers.
    pub(crate) fn members(&self, family: &InstanceId) -> Result<Vec<Instance>> {
        self.read(|connection| db::members(connection, family))
    }

    /// Ends an instance whose agent is gone. Its family is held.
    pub(crate) fn end_if_dead(&self, id: &InstanceId) -> Result<()> {
        let instance = self.archive.instance(id)?;
        if is_watched(&instance)
            && let Some(ailment) = self.examine(&instance)?
        {
            self.treat(&instance, ailment)?;
        }
        Ok(())
    }

    fn examine(&self, instance: &Instance) -> Result<Option<Ailment>> {
        let dead = |exit_code, reason: &str| Ok(Some(Ailment::Dead { exit_code, reason: reason.to_owned() }));
        let there = instance.worktree.join(".git").exists();
        match self.tmux.settled_session(&instance.id)? {
            _ if !there => return Ok(Some(Ailment::WorktreeGone)),
            None => return dead(None, "its session is gone"),
            Some(session) if !session.alive => {
                return match session.exit_code {
                    Some(code) => dead(Some(code), &format!("its agent exited with code {code}")),
                    None => dead(None, "its agent is gone"),
                };
            }
            Some(_) => {}
        }
        let repository = self.repository(&instance.repository)?;
        if repository.branch_tip(&instance.branch)?.is_none() {
            return Ok(Some(Ailment::BranchGone));
        }
        Ok(None)
    }

    fn treat(&self, instance: &Instance, ailment: Ailment) -> Result<Repair> {
        let id = &instance.id;
        let (exit_code, reason) = match ailment {
            Ailment::Dead { exit_code, reason } => (exit_code, reason),
            Ailment::WorktreeGone => (None, "its worktree is gone".to_owned()),
            Ailment::BranchGone => {
                if let Some(finding) = self.restore_branch(instance)? {
                    return Ok(finding);
                }
                (None, format!("its branch {} is gone", instance.branch))
            }
        };
        self.write(|connection| {
            db::set_exit_code(connection, id, exit_code)?;
            if instance.status == Status::PrCreated {
                // Its work goes on elsewhere; its agent is no longer needed for it.
                return Ok(db::set_phase(connection, id, Phase::Ending)?);
            }
            end_rows(connection, instance, Status::Terminated, ReviewOutcome::Ended, &reason, None)
        })?;
        self.notify_freed(instance);
        self.clean_up_soon(id);
        let found = format!("{id} was {}, but {reason}", instance.status);
        self.record_repair(Some(id), found, format!("it is {} now", self.archive.instance(id)?.status))
    }

    /// Creates a branch again that was deleted or renamed, where its worktree still has its commit.
    fn restore_branch(&self, instance: &Instance) -> Result<Option<Repair>> {
        let repository = self.repository(&instance.repository)?;
        let branch = &instance.branch;
        let Some(head) = repository.state_of(&instance.worktree)?.head else { return Ok(None) };
        repository.restore_branch(branch, &head)?;
        let found = format!("branch {branch} is gone");
        let done = format!("it is recreated at {}, the commit of its worktree", head.short());
        self.record_repair(Some(&instance.id), found, done).map(Some)
    }

    /// Ends a review that has taken too long.
    fn end_late_review(&self, family: &InstanceId, findings: &mut Vec<Repair>) -> Result<()> {
        let Some(review) = self.read(|connection| db::running_review(connection, family))? else {
            return Ok(());
        };
        let hours = self.write(|connection| user_config::number(connection, TIMEOUT_HOURS))?;
        let age = Moment::now().0.saturating_sub(review.created_at.0);
        if age < 0 {
            // By a clock that was ahead it would never be late.
            return self.write(|connection| Ok(db::restart_review(connection, &review.child_instance)?));
        }
        if u64::try_from(age / HOUR).unwrap_or(0) < hours {
            return Ok(());
        }
        let reviewer = self.archive.instance(&review.child_instance)?;
        let reason = format!("the review took more than {hours} hours");
        self.write(|connection| {
            end_rows(connection, &reviewer, Status::Terminated, ReviewOutcome::TimedOut, &reason, None)
        })?;
        self.notify_freed(&reviewer);
        self.clean_up_soon(family);
        let done = format!("{} is ended, and {family} goes on", reviewer.id);
        findings.push(self.record_repair(Some(&reviewer.id), reason, done)?);
        Ok(())
    }

    /// A coding agent must not wait without a reviewer.
    fn free_if_not_reviewed(&self, family: &InstanceId, findings: &mut Vec<Repair>) -> Result<()> {
        let freed = self.write(|connection| {
            let waits = db::instance(connection, family)?
                .is_some_and(|head| head.status == Status::WaitingReview && head.phase == Phase::Ready);
            if !waits || db::running_review(connection, family)?.is_some() {
                return Ok::<_, AgentsError>(false);
            }
            db::set_status(connection, family, Status::Started, Some("it has no reviewer"), None)?;
            Ok(true)
        })?;
        if freed {
            let found = format!("{family} was waiting for a review without a reviewer");
            findings.push(self.record_repair(Some(family), found, "it is STARTED again".to_owned())?);
        }
        Ok(())
    }

    fn notify_of_unseen_feedback(&self, family: &InstanceId, findings: &mut Vec<Repair>) -> Result<()> {
        let untold = self.read(db::unnotified_feedback)?;
        for feedback in untold.iter().filter(|feedback| feedback.coding_instance == *family) {
            self.send_notification(feedback, None)?;
            let found = format!("{family} was not notified of feedback");
            findings.push(self.record_repair(
                Some(family),
                found,
                format!("it is notified of {}", feedback.path),
            )?);
        }
        Ok(())
    }

    /// Notifies a coding agent whose reviewer is gone that it need not wait. A lost message does no harm: it is sent
    /// nothing.
    pub(crate) fn notify_freed(&self, reviewer: &Instance) {
        let notify = || {
            let review = self.read(|connection| db::review_by(connection, &reviewer.id))?;
            let Some(coding) = review.map(|review| review.parent_instance) else { return Ok(()) };
            if self.archive.instance(&coding)?.status != Status::Started {
                return Ok(());
            }
            let words = format!(
                "{} has ended without feedback. Call request_review again, or create_pull_request if the work is done.",
                reviewer.id
            );
            self.tmux.send_message(&coding, &words)
        };
        if let Err(error) = notify() {
            tracing::warn!("cannot notify the coding agent that {} is gone: {error}", reviewer.id);
        }
    }
}

/// Whether there is no need to look closer.
fn looks_well(instance: &Instance, sight: &Sight) -> bool {
    let alive = sight.sessions.get(&instance.id).is_some_and(|session| session.alive);
    let has_branch = match sight.branches.get(&instance.repository) {
        Some(Some(names)) => names.contains(instance.id.as_str()),
        // A repository that cannot be read is reported where it is needed.
        _ => true,
    };
    alive && has_branch && instance.worktree.join(".git").exists()
}
