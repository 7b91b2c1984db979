//! Starting coding and planning agents: a worktree, a branch, an identity, a session and a row.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::error::Result;
use crate::faults::{Point, reach};
use crate::instances::id::slug;
use crate::instances::records::{
    AgentChoice, EventKind, Instance, NewEvent, Operation, OperationState, Phase,
};
use crate::instances::user_config::{self, DEFAULT_AGENT};
use crate::journal::audit::{Failed, audited};
use crate::journal::family_locks::Hold;
use crate::journal::operations::undo;
use crate::journal::reconciler::names_in;
use crate::launch::preparation::Equipment;
use crate::{AgentType, AgentsError, Code, Coordinator, Identity, InstanceId, StartRequest, db, tools};
use tamis_git::{BranchName, Commit, Head, Repository};
use tamis_github::IssueText;

/// A task longer than this belongs into a file.
const LONGEST_TASK: usize = 100_000;

/// Time limit of reading an issue, since the user waits.
const ISSUE_PATIENCE: Duration = Duration::from_secs(5);

/// Where a new branch begins.
struct Base {
    branch: Option<BranchName>,
    commit: Commit,
}

impl Coordinator {
    /// Starts an agent in a worktree of its own.
    pub fn start(&self, request: &StartRequest, deadline: Instant) -> Result<Instance> {
        let begun = Instant::now();
        let started = self.try_start(request, deadline);
        if let Err(error) = &started {
            self.log_failure(tools::START, Failed::default(), &audited(request), error, begun);
        }
        started
    }

    fn try_start(&self, request: &StartRequest, deadline: Instant) -> Result<Instance> {
        check(request)?;
        let choice = self.choice(request.choice.as_ref())?;
        self.check_program(&choice)?;
        let repository = self.repository_until(&request.folder, deadline)?;
        let base = base(&repository, &request.folder, request.base.as_deref())?;
        let issue = request.issue.map(|number| self.read_issue(&repository, number, deadline));
        let taken = self.taken_names(&repository)?;
        let (instance, identity, operation, _hold) =
            self.reserve(request, choice, &repository, base, issue.as_ref(), &taken)?;
        let id = &instance.id;
        reach(Point::StartReserved);
        let steps = || {
            let equipment = Equipment {
                instance: &instance,
                identity: &identity,
                prompt: &self.starting_prompt(&repository, &instance)?,
                points: [Point::StartWorktreeAdded, Point::StartIdentityWritten, Point::StartSessionCreated],
            };
            self.equip(&repository, &equipment, deadline, tools::START)?;
            let note = issue.as_ref().and_then(|issue| issue.as_ref().err());
            self.record_start(&instance, operation, note.map(String::as_str))
        };
        let recorded = steps().inspect_err(|_| {
            if let Err(error) = self.undo_start(id, operation) {
                tracing::warn!("{id} was started only in part, and will be removed later: {error}");
            }
        });
        recorded?;
        reach(Point::StartRecorded);
        self.archive.instance(id)
    }

    /// The agent to run, with the arguments that the user's settings have for it.
    fn choice(&self, requested: Option<&AgentChoice>) -> Result<AgentChoice> {
        self.write(|connection| {
            let agent = match requested {
                Some(choice) if choice.agent == AgentChoice::COMMAND => return Ok(choice.clone()),
                Some(choice) => choice.agent.clone(),
                None => user_config::get(connection, DEFAULT_AGENT)?,
            };
            let mut args = user_config::agent_args(connection, &agent)?;
            args.extend(requested.iter().flat_map(|choice| choice.args.iter().cloned()));
            Ok(AgentChoice { agent, args })
        })
    }

    /// Names that cannot be given, though no row has them: a branch, a worktree, a session or a file of that name is there.
    fn taken_names(&self, repository: &Repository) -> Result<HashSet<String>> {
        let mut taken: HashSet<String> = names_in(&self.places.worktrees())?.into_iter().collect();
        taken.extend(repository.our_branches()?);
        let registered = repository.worktrees()?;
        let names = registered.iter().filter(|worktree| !worktree.main).filter_map(|it| it.path.file_name());
        taken.extend(names.map(|name| name.to_string_lossy().into_owned()));
        taken.extend(self.tmux.sessions()?.into_iter().map(|session| session.id.to_string()));
        taken.extend(self.ids_of_files()?.into_iter().map(|id| id.to_string()));
        Ok(taken)
    }

    /// Finds a free name, and puts it down with what is to be made.
    fn reserve(
        &self,
        request: &StartRequest,
        choice: AgentChoice,
        repository: &Repository,
        base: Base,
        issue: Option<&Result<IssueText, String>>,
        taken: &HashSet<String>,
    ) -> Result<(Instance, Identity, i64, Hold<'_>)> {
        let task = request.task.as_deref().map(str::trim).unwrap_or_default();
        let issue = issue.and_then(|issue| issue.as_ref().ok());
        let label = request.issue.map_or_else(|| slug(task), |issue| issue.to_string());
        self.write(|connection| {
            let mut number = 1;
            // Locked before the reconciler can see it, and take it for something that a crash has left.
            let (id, hold) = loop {
                let id = InstanceId::of_worker(request.agent_type, &label, number);
                let free = !db::is_taken(connection, &id)? && !taken.contains(id.as_str());
                match self.holds.try_take(&id).filter(|_| free) {
                    Some(hold) => break (id, hold),
                    None => number += 1,
                }
            };
            let (repository, worktree) = (repository.folder().to_owned(), self.places.worktree(&id));
            let agent_type = request.agent_type;
            let instance = Instance {
                task: task.to_owned(),
                issue: request.issue,
                issue_title: issue.map(|issue| issue.title.clone()),
                base_branch: base.branch,
                ..Instance::preparing(id, agent_type, choice, repository, worktree, base.commit)
            };
            let identity = Identity::random(&instance.id)?;
            db::insert_instance(connection, &instance, &identity.hash())?;
            if let Some(issue) = issue {
                db::set_issue_text(connection, &instance.id, &issue.text)?;
            }
            let operation = db::begin_operation(connection, None, tools::START, &instance.id, &json!({}))?;
            Ok((instance, identity, operation, hold))
        })
    }

    /// The text of an issue, or why it could not be read. An agent is started all the same: it may be able to
    /// read it.
    fn read_issue(
        &self,
        repository: &Repository,
        number: i64,
        deadline: Instant,
    ) -> Result<IssueText, String> {
        let read = || {
            let deadline = deadline.min(Instant::now() + ISSUE_PATIENCE);
            let (_, Some(github)) = self.github_of(repository, deadline)? else {
                let message = "the repository has no remote on GitHub";
                return Err(AgentsError::new(Code::InvalidState, message));
            };
            Ok(github.issue(number.try_into().unwrap_or_default())?)
        };
        read().map_err(|error| format!("cannot read issue #{number}: {}", error.message))
    }

    fn record_start(&self, instance: &Instance, operation: i64, note: Option<&str>) -> Result<()> {
        self.write(|connection| {
            db::set_phase(connection, &instance.id, Phase::Ready)?;
            let mut event = created(instance, tools::START);
            if let Some(note) = note {
                event.detail["note"] = json!(note);
            }
            db::insert_event(connection, &event)?;
            let result = json!({"instance": instance.id});
            Ok(db::end_operation(connection, operation, OperationState::Done, Some(&result))?)
        })
    }

    /// Takes back whatever was made of an instance that did not come to be.
    fn undo_start(&self, id: &InstanceId, operation: i64) -> Result<()> {
        if let Some(instance) = self.read(|connection| db::instance(connection, id))? {
            self.dismantle(&instance)?;
        }
        self.write(|connection| {
            db::delete_instance(connection, id)?;
            undo(connection, operation, None)
        })
    }

    /// After a crash: an agent that runs and has all it needs is recorded, and so is one that has worked meanwhile, even if
    /// it is dead by now. Anything less is taken back.
    pub(crate) fn repair_start(&self, operation: &Operation) -> Result<String> {
        let id = &operation.instance;
        let found = self.read(|connection| db::instance(connection, id))?;
        if let Some(instance) = found {
            if self.is_equipped(&instance)? {
                self.record_start(&instance, operation.id, None)?;
                return Ok(format!("{id} is running and is recorded"));
            }
            if self.has_worked(&instance)? {
                self.record_start(&instance, operation.id, None)?;
                return Ok(format!("{id} has worked in {} and is recorded", instance.worktree.display()));
            }
        }
        self.undo_start(id, operation.id)?;
        Ok(format!("the rest of {id} is removed"))
    }
}

/// The event of an instance that is there now.
pub(crate) fn created<'a>(instance: &'a Instance, tool: &'a str) -> NewEvent<'a> {
    NewEvent {
        tool: Some(tool),
        git_commit: Some(&instance.base_commit),
        detail: json!({
            "type": instance.agent_type,
            "status": instance.status,
            "branch": instance.branch,
            "agent": instance.choice.agent,
        }),
        ..NewEvent::of(EventKind::Created, &instance.id)
    }
}

fn check(request: &StartRequest) -> Result<()> {
    let refused =
        |message: &str, hint: &str| Err(AgentsError::new(Code::ValidationError, message).suggest(hint));
    let task = request.task.as_deref().map(str::trim).unwrap_or_default();
    if request.agent_type == AgentType::Review {
        return refused(
            "review agents are started by the agents whose work they review",
            "have a coding agent call request_review",
        );
    }
    if task.is_empty() && request.issue.is_none() {
        return refused(
            "there is nothing to do",
            "give it an issue or a task: `--issue 123` or `--task \"…\"`",
        );
    }
    if request.issue.is_some_and(|issue| issue < 1) {
        return refused("issues are numbered from 1", "name an existing issue: `--issue 123`");
    }
    if task.chars().count() > LONGEST_TASK {
        return refused(
            "the task is longer than 100000 characters",
            "put it into a file, and name the file instead",
        );
    }
    if !request.folder.is_dir() {
        let message = format!("folder `{}` does not exist", request.folder.display());
        return refused(&message, "name a folder in a git repository");
    }
    request.choice.as_ref().map_or(Ok(()), check_arguments)
}

/// Linux takes no longer word, with the NUL after it.
const LONGEST_WORD: usize = (128 << 10) - 1;

/// Refuses arguments with which no program can be started: its session would end before the user sees why.
fn check_arguments(choice: &AgentChoice) -> Result<()> {
    let complaint = choice.args.iter().find_map(|argument| {
        let start: String = argument.chars().take(40).collect();
        if argument.contains('\0') {
            return Some(format!("the argument {start:?} has a NUL in it"));
        }
        (argument.len() >= LONGEST_WORD)
            .then(|| format!("the argument {start:?}… has {} bytes", argument.len()))
    });
    complaint.map_or(Ok(()), |complaint| {
        Err(AgentsError::new(Code::ValidationError, format!("{complaint}, which no program accepts"))
            .suggest("put it into a file, and name the file instead"))
    })
}

/// Where the branch begins: the given reference, or what is checked out in the folder, unless that is an agent's branch.
fn base(repository: &Repository, folder: &Path, requested: Option<&str>) -> Result<Base> {
    let Some(requested) = requested else {
        return match repository.head_in(folder)? {
            Some(Head { branch, commit }) if !branch.as_ref().is_some_and(BranchName::is_ours) => {
                Ok(Base { branch, commit })
            }
            _ => {
                let (branch, commit) = repository.default_base()?;
                Ok(Base { branch: Some(branch), commit })
            }
        };
    };
    let branch = requested.parse::<BranchName>().ok();
    if let Some(branch) = branch
        && let Some(commit) = repository.branch_tip(&branch)?
    {
        return Ok(Base { branch: Some(branch), commit });
    }
    // `HEAD` is the same as naming nothing, unless an agent's branch is checked out there: that one was asked for.
    let head = repository.head_in(folder)?;
    if let Some(Head { branch, commit }) = head.filter(|_| ["HEAD", "@"].contains(&requested)) {
        return Ok(Base { branch: branch.filter(|branch| !branch.is_ours()), commit });
    }
    let commit = repository.resolve_in(folder, requested)?.ok_or_else(|| {
        AgentsError::new(
            Code::ValidationError,
            format!("there is no branch or commit `{}`", requested.escape_debug()),
        )
        .suggest("`git branch --all` lists the branches")
    })?;
    Ok(Base { branch: None, commit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_no_program_takes_are_refused() {
        let check = |argument: &str| {
            let args = vec!["sleep".to_owned(), argument.to_owned()];
            check_arguments(&AgentChoice { agent: AgentChoice::COMMAND.to_owned(), args })
        };
        // The system itself judges what it takes.
        let takes = |argument: &str| std::process::Command::new("true").arg(argument).status().is_ok();
        for (argument, fits) in [
            (String::new(), true),
            ("$(id) 'é'\n".to_owned(), true),
            ("x".repeat(LONGEST_WORD - 1), true),
            ("x".repeat(LONGEST_WORD + 1), false),
            ("a\0b".to_owned(), false),
        ] {
            assert_eq!(check(&argument).is_ok(), fits, "{} bytes", argument.len());
            // Other systems take longer ones.
            assert!(takes(&argument) || !fits, "{} bytes", argument.len());
        }
    }
}
