//! Issues, from what a planning agent planned.
//!
//! GitHub creates an issue for each request, and has no idempotency key. So each issue carries a mark, a hash of the caller
//! and of its text, and the journal has for each mark whether it was requested and the outcome. An issue that may have been
//! created is looked for before it is requested again; so a call that failed, or
//! whose coordinator died, can be made again and makes only what is missing.

#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::{Deserialize, Serialize};
use tamis_redact::Redacted;

use crate::error::Result;
use crate::instances::records::{Instance, Operation};
use crate::journal::operations::{Caller, finish, undo};
use crate::pull_requests::create_pull_request::input::{check_text, check_title, invalid};
use crate::pull_requests::create_pull_request::number_of;
use crate::{
    AgentCall, AgentType, AgentsError, Code, Coordinator, CreateIssues, IssueCreated, IssueDraft,
    IssuesCreated, db, tools,
};
use tamis_github::{Github, WriteOutcome};
use tamis_text::plain::{is_odd, plain_text};

const MOST_ISSUES: usize = 50;
const MOST_LABELS: usize = 20;
/// What GitHub takes.
const LONGEST_LABEL: usize = 50;

/// What is to be made, and how far that is.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Plan {
    issues: Vec<Planned>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Planned {
    mark: String,
    fate: Fate,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fate {
    ToDo,
    /// GitHub may have made it.
    Asked,
    Created(IssueCreated),
}

impl Coordinator {
    /// The contract's `create_issues`.
    pub fn create_issues(&self, call: &AgentCall<'_>, input: &CreateIssues) -> Result<IssuesCreated> {
        self.answer(tools::CREATE_ISSUES, call, input, |caller| {
            caller.must_be(&[AgentType::Planning])?;
            check(&input.issues)?;
            self.issues(caller, &input.issues, call.deadline)
        })
    }

    fn issues(&self, caller: &Caller<'_>, wanted: &[IssueDraft], deadline: Instant) -> Result<IssuesCreated> {
        let instance = &caller.instance;
        if !instance.status.is_live() {
            let message = format!("{} is {} and can no longer create issues", instance.id, instance.status);
            return Err(AgentsError::new(Code::InvalidState, message));
        }
        let repository = self.repository_until(&instance.repository, deadline)?;
        let github = self.github_of(&repository, deadline)?.1.ok_or_else(no_github)?;
        caller.in_time()?;
        let (mut plan, operation) = self.write(|connection| {
            let earlier = db::operations_by(connection, &instance.id, tools::CREATE_ISSUES)?;
            let plan = Plan::of(instance, wanted, &earlier);
            let operation = caller.begin(connection, &plan)?;
            Ok::<_, AgentsError>((plan, operation))
        })?;
        let made = self.make_issues(caller, &github, wanted, &mut plan, operation);
        let created = plan.created();
        let finished = made.and_then(|()| {
            let answer = IssuesCreated { issues: created.clone() };
            self.write(|connection| finish(connection, operation, &answer, None, Some(caller)))?;
            Ok(answer)
        });
        finished.map_err(|error| {
            let error = if created.is_empty() {
                error
            } else {
                let list = serde_json::to_value(&created).unwrap_or_default();
                error
                    .suggest("try again with the same issues; those in `issues` exist and will not be created twice")
                    .detail("issues", list)
            };
            self.give_up(operation, caller, &error);
            error
        })
    }

    /// Makes one after the other, and writes down each before the next.
    fn make_issues(
        &self,
        caller: &Caller<'_>,
        github: &Github,
        wanted: &[IssueDraft],
        plan: &mut Plan,
        operation: i64,
    ) -> Result<()> {
        for (number, issue) in wanted.iter().enumerate() {
            let Planned { mark, fate } = plan.issues[number].clone();
            let mut next = |fate: Fate| {
                plan.issues[number].fate = fate;
                self.replan(operation, plan)
            };
            let created = |made: tamis_github::Issue| created(made, issue);
            match fate {
                Fate::Created(_) => continue,
                Fate::ToDo => {}
                Fate::Asked => {
                    if let Some(found) = github.recent_issue(&mark)? {
                        next(Fate::Created(created(found)?))?;
                        continue;
                    }
                }
            }
            caller.in_time()?;
            next(Fate::Asked)?;
            let failure = match github.create_issue(&with_mark(issue, &mark)) {
                Ok(made) => {
                    next(Fate::Created(created(made)?))?;
                    continue;
                }
                Err(failure) => failure,
            };
            match failure.outcome {
                WriteOutcome::NotDone | WriteOutcome::Exists => {
                    next(Fate::ToDo)?;
                    return Err((*failure.error).into());
                }
                // It may yet appear, so it is looked for again before it is requested again.
                WriteOutcome::Unclear => match github.recent_issue(&mark) {
                    Ok(Some(found)) => next(Fate::Created(created(found)?))?,
                    _ => return Err((*failure.error).into()),
                },
            }
        }
        Ok(())
    }

    /// After a crash: what was made stays written down, for the next call to go on from.
    pub(crate) fn repair_issues(&self, operation: &Operation) -> Result<String> {
        self.write(|connection| undo(connection, operation.id, None))?;
        Ok("what was created is recorded; the next call creates the rest".to_owned())
    }
}

impl Plan {
    /// What is to be done, given what earlier calls of the instance came to.
    fn of(instance: &Instance, wanted: &[IssueDraft], earlier: &[Operation]) -> Plan {
        let plans = earlier.iter().filter_map(|operation| {
            serde_json::from_value::<Plan>(operation.plan.clone()).ok().map(|plan| plan.issues)
        });
        let known: Vec<Planned> = plans.flatten().collect();
        let planned = |issue: &IssueDraft| {
            let mark = mark_of(instance, issue);
            let fates = || known.iter().filter(|planned| planned.mark == mark).map(|planned| &planned.fate);
            let fate = fates()
                .find(|fate| matches!(fate, Fate::Created(_)))
                .or_else(|| fates().find(|fate| **fate == Fate::Asked));
            Planned { fate: fate.cloned().unwrap_or(Fate::ToDo), mark }
        };
        Plan { issues: wanted.iter().map(planned).collect() }
    }

    fn created(&self) -> Vec<IssueCreated> {
        let created = |planned: &Planned| match &planned.fate {
            Fate::Created(issue) => Some(issue.clone()),
            Fate::ToDo | Fate::Asked => None,
        };
        self.issues.iter().filter_map(created).collect()
    }
}

/// The same for the same issue of the same instance, and for no other anywhere.
fn mark_of(instance: &Instance, issue: &IssueDraft) -> String {
    let mut hash = blake3::Hasher::new();
    let labels = issue.labels.join("\n");
    let place = instance.worktree.to_string_lossy();
    let parts = [
        instance.id.as_str(),
        &place,
        &instance.created_at.0.to_string(),
        &issue.title,
        &issue.body,
        &labels,
    ];
    for part in parts {
        hash.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    format!("tamis:{}", &hash.finalize().to_hex()[..32])
}

/// The issue as GitHub gets it, redacted. The mark is not shown there.
fn with_mark(issue: &IssueDraft, mark: &str) -> tamis_github::NewIssue {
    tamis_github::NewIssue {
        title: Redacted::from(issue.title.trim()).into_inner(),
        body: format!("{}\n\n<!-- {mark} -->", Redacted::from(plain_text(&issue.body).trim_end())),
        labels: issue.labels.iter().map(|label| Redacted::from(label.trim()).into_inner()).collect(),
    }
}

fn created(made: tamis_github::Issue, issue: &IssueDraft) -> Result<IssueCreated> {
    let number = number_of(made.number)?;
    Ok(IssueCreated { number, url: made.url, title: Redacted::from(issue.title.trim()).into_inner() })
}

fn check(issues: &[IssueDraft]) -> Result<()> {
    if !(1..=MOST_ISSUES).contains(&issues.len()) {
        return Err(invalid(format!("issues has {} entries; it must have 1 to {MOST_ISSUES}", issues.len())));
    }
    for (number, issue) in issues.iter().enumerate() {
        check_title(&format!("issues[{number}].title"), &issue.title)?;
        check_text(&format!("issues[{number}].body"), &issue.body)?;
        if issue.labels.len() > MOST_LABELS {
            return Err(invalid(format!("issues[{number}].labels has more than {MOST_LABELS} entries")));
        }
        for label in issue.labels.iter().map(|label| label.trim()) {
            if !(1..=LONGEST_LABEL).contains(&label.chars().count()) || label.contains(is_odd) {
                let rule = format!("1 to {LONGEST_LABEL} characters on one line");
                return Err(invalid(format!("a label in issues[{number}].labels must have {rule}")));
            }
        }
        if let Some(same) = issues[..number].iter().position(|other| other == issue) {
            return Err(invalid(format!("issues[{number}] is the same as issues[{same}]")));
        }
    }
    Ok(())
}

fn no_github() -> AgentsError {
    AgentsError::new(Code::InvalidState, "the repository has no remote on GitHub, so it cannot have issues")
        .suggest("write them to a file in the worktree, commit it, and call create_pull_request")
        .suggest("or add a remote on GitHub and try again: git remote add origin URL")
}
