use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis_agents::{AGENTS, AgentChoice, AgentType, Instance, InstanceId, StartRequest, has_begun};
use tamis_redact::Redacted;

use super::{data_folder::AgentsFolder, render};
use crate::error::{CliError, CliResult};
use crate::{background_server, escape, print};

/// Time limit for an agent to begin.
const BEGINNING: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Maximum number of lines shown of an agent that has ended.
const LAST_LINES: usize = 10;

/// Start an agent in a new worktree
///
/// The agent works on an issue, a task, or both; a task adds to the issue. Your checkout is not touched. Starts `tamis serve` in
/// the background if none is running.
#[derive(Args)]
pub(crate) struct Start {
    /// Type of the agent
    #[arg(long = "type", value_name = "TYPE", default_value = "coding", value_parser = ["coding", "planning"])]
    agent_type: String,
    /// Number of the issue to work on, read from GitHub
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    issue: Option<i64>,
    /// Task to work on
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    task: Option<String>,
    /// Agent to run [default: agent.default of `tamis agents config`]
    #[arg(long, value_parser = PossibleValuesParser::new(AGENTS))]
    agent: Option<String>,
    /// Branch, tag or commit to start from [default: the checked-out commit]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// Folder of the repository [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    repository: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Command to run instead of an agent, after --
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "agent")]
    command: Vec<String>,
}

pub(crate) fn run(arguments: Start) -> CliResult {
    let folder = AgentsFolder::of_process()?;
    let as_json = arguments.json;
    let request = request(arguments)?;
    let instance = started(&folder, &request)?;
    print_notes(&folder, &instance)?;
    let ended = early_end(&folder, &instance.id)?;
    let instance = if ended.is_some() { folder.existing(&instance.id)? } else { instance };
    if as_json {
        print::json(&Redacted::new(instance.clone()))?;
    } else {
        print_started(&instance, ended.is_some())?;
    }
    ended.map_or(Ok(()), |ended| ended.report(&instance.id))
}

/// Starts it with the coordinator. If that one is just ending, with the next.
fn started(folder: &AgentsFolder, request: &StartRequest) -> Result<Instance, CliError> {
    let attempt = || {
        let (coordinator, started_here) = background_server::coordinator(&folder.config)?;
        if started_here {
            let (url, pid) = (&coordinator.url, coordinator.pid);
            print::note(format_args!(
                "started `tamis serve` in the background at {url}, as process {pid}; `tamis serve --stop` stops it"
            ));
        }
        folder.with_service(async |agents| Ok(agents.start(request.clone()).await))
    };
    match attempt()? {
        Err(error) if tamis_coordinator::was_not_done(&error) => Ok(attempt()??),
        outcome => Ok(outcome?),
    }
}

/// The request, checked as far as possible without a coordinator.
fn request(arguments: Start) -> Result<StartRequest, CliError> {
    let task = arguments.task.map(|task| task.trim().to_owned()).filter(|task| !task.is_empty());
    if task.is_none() && arguments.issue.is_none() {
        return Err(CliError::usage("the agent has nothing to do")
            .hint("give it a task with `--task \"…\"`, an issue with `--issue N`, or both"));
    }
    let folder = arguments.repository.unwrap_or_else(|| PathBuf::from("."));
    let folder = folder.canonicalize().map_err(|error| {
        let message = format!("cannot find folder `{}`", folder.display());
        CliError { error: anyhow::Error::new(error).context(message), ..CliError::usage("") }
    })?;
    // Checked here, so that no server is started for nothing; git decides.
    if !folder.ancestors().any(|folder| folder.join(".git").exists() || folder.join("HEAD").is_file()) {
        return Err(CliError::usage(format_args!("`{}` is not in a git repository", folder.display()))
            .hint("create one with `git init`; an agent needs a commit to start from"));
    }
    if !has_commit(&folder) {
        return Err(CliError::failed(anyhow::anyhow!(
            "the repository `{}` has no commit yet",
            folder.display()
        ))
        .hint("create the first commit: git add --all && git commit -m \"First commit\""));
    }
    let choice = match (arguments.command.is_empty(), arguments.agent) {
        (false, _) => {
            let args = from_here(arguments.command);
            Some(AgentChoice { agent: AgentChoice::COMMAND.to_owned(), args })
        }
        (true, Some(agent)) => Some(AgentChoice { agent, args: Vec::new() }),
        (true, None) => None,
    };
    let agent_type = arguments.agent_type.parse::<AgentType>().map_err(CliError::internal)?;
    Ok(StartRequest { agent_type, issue: arguments.issue, task, choice, folder, base: arguments.base })
}

/// Whether an agent has something to start from. Where the files do not say, the coordinator asks git: this process runs no git in
/// a repository that may name programs in its configuration.
fn has_commit(folder: &Path) -> bool {
    let Some(git) = folder.ancestors().find_map(git_folder) else { return true };
    let is_detached = fs::read_to_string(git.join("HEAD")).is_ok_and(|head| !head.starts_with("ref:"));
    // The folder of a worktree names that of its repository.
    let common = fs::read_to_string(git.join("commondir")).ok().map(|common| git.join(common.trim_end()));
    let common = common.unwrap_or(git);
    is_detached
        || common.join("packed-refs").exists()
        || common.join("reftable").exists()
        || has_file(&common.join("refs"))
}

/// The folder of git's own files, if this one is a repository's.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let named = folder.join(".git");
    if named.is_dir() {
        return Some(named);
    }
    match fs::read_to_string(&named) {
        Ok(text) => Some(folder.join(text.strip_prefix("gitdir:")?.trim())),
        // A bare repository.
        Err(_) => folder.join("HEAD").is_file().then(|| folder.to_owned()),
    }
}

/// Whether a folder has a file at any depth. What cannot be read may have one.
fn has_file(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return true };
    entries.flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => has_file(&entry.path()),
        _ => true,
    })
}

/// A command whose program is named by a path from here, which it does not run in.
fn from_here(mut command: Vec<String>) -> Vec<String> {
    if let Some(program) = command.first_mut().filter(|program| program.contains('/'))
        && let Some(path) =
            std::path::absolute(&*program).ok().and_then(|path| path.to_str().map(str::to_owned))
    {
        *program = path;
    }
    command
}

/// Notes of the start, from the events.
fn print_notes(folder: &AgentsFolder, instance: &Instance) -> CliResult {
    let events = folder.archive()?.events(0, Some(&instance.id), u32::MAX)?;
    let notes = events.iter().filter_map(|event| event.detail["note"].as_str());
    notes.for_each(|note| print::note(escape::line(note)));
    Ok(())
}

/// An agent that ended as soon as it was started.
struct Ended {
    exit_code: Option<i32>,
    last_lines: String,
}

/// Checks once, when the agent has begun: most that cannot work end at once, while the user still looks.
fn early_end(folder: &AgentsFolder, id: &InstanceId) -> Result<Option<Ended>, CliError> {
    let tmux = folder.tmux()?;
    let deadline = Instant::now() + BEGINNING;
    while !has_begun(&folder.data_dir, id) && Instant::now() < deadline {
        std::thread::sleep(LOOK_AGAIN);
    }
    // It is started, even if tmux cannot be queried.
    let session = tmux.settled_session(id).ok().flatten();
    if session.as_ref().is_some_and(|session| session.alive) {
        return Ok(None);
    }
    let mut last_lines = String::new();
    if session.is_some() {
        // The coordinator may have removed the session by now.
        last_lines = tmux.capture(id, LAST_LINES).unwrap_or_default();
        // At once, so that the next command shows the same.
        folder.with_service(async |agents| agents.reconcile().await)?;
    }
    let instance = folder.existing(id)?;
    Ok((!instance.status.is_live()).then_some(Ended { exit_code: instance.exit_code, last_lines }))
}

impl Ended {
    /// A command that does its work and ends has not failed.
    fn report(self, id: &InstanceId) -> CliResult {
        let how = self.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
        if self.exit_code == Some(0) {
            print::note(format_args!("it has already ended{how}; `tamis agents logs {id}` shows its output"));
            return Ok(());
        }
        let lines = self.last_lines.lines().filter(|line| !line.trim().is_empty());
        let last: String = lines.map(|line| format!("\n  {}", escape::line(line))).collect();
        let error = anyhow::anyhow!("the agent of {id} ended immediately after it started{how}{last}");
        Err(CliError::failed(error).hint(format!("`tamis agents logs {id}` shows its output")))
    }
}

fn print_started(instance: &Instance, is_over: bool) -> CliResult {
    let id = &instance.id;
    print::columns(&[
        ["started".to_owned(), format!("{id}, {}", render::agent_with_arguments(instance))],
        ["branch".to_owned(), escape::line(&instance.branch)],
        ["worktree".to_owned(), escape::line(&instance.worktree.to_string_lossy())],
        ["session".to_owned(), instance.session.clone()],
    ])?;
    if !is_over {
        print::note(format_args!(
            "watch it with `tamis agents attach {id}`; `tamis agents logs {id}` shows its output"
        ));
    }
    Ok(())
}
