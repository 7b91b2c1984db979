use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::PossibleValuesParser;
use tamis_agents::{AGENTS, AgentChoice, AgentType, Instance, InstanceId, StartRequest, has_begun};
use tamis_redact::Redacted;

use super::{background, house::House, told};
use crate::error::{CliError, CliResult};
use crate::{escape, print};

/// How long an agent may take to begin.
const BEGINNING: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// What is told of the screen of one that has ended.
const LAST_LINES: usize = 10;

/// Start an agent in a worktree of its own
///
/// It works at an issue, a task, or both: the issue is what it is about, and the task what you add to it. Your checkout is not
/// touched. `tamis serve` is started in the background when nobody coordinates.
#[derive(Args)]
pub(crate) struct Start {
    /// What it is there for: to write code, or to plan
    #[arg(long = "type", value_name = "TYPE", default_value = "coding", value_parser = ["coding", "planning"])]
    agent_type: String,
    /// The issue that it works at, which is read from GitHub
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    issue: Option<i64>,
    /// What it should do
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    task: Option<String>,
    /// Which agent [default: agent.default of `tamis agents config`]
    #[arg(long, value_parser = PossibleValuesParser::new(AGENTS))]
    agent: Option<String>,
    /// The branch, tag or commit to begin from [default: what is checked out here]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// A folder of the repository [default: here]
    #[arg(long, value_name = "FOLDER")]
    repository: Option<PathBuf>,
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
    /// A command to run in place of an agent, after --
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "agent")]
    command: Vec<String>,
}

pub(crate) fn run(arguments: Start) -> CliResult {
    let house = House::of_process()?;
    let as_json = arguments.json;
    let request = request(arguments)?;
    let instance = started(&house, &request)?;
    tell_notes(&house, &instance)?;
    let ended = early_end(&house, &instance.id)?;
    let instance = if ended.is_some() { house.existing(&instance.id)? } else { instance };
    if as_json {
        print::json(&Redacted::new(instance.clone()))?;
    } else {
        tell(&instance, ended.is_some())?;
    }
    ended.map_or(Ok(()), |ended| ended.told(&instance.id))
}

/// Has it started by whoever coordinates. One who is just ending may have been asked: then it is asked of the next.
fn started(house: &House, request: &StartRequest) -> Result<Instance, CliError> {
    let ask = || {
        let (coordinator, started_here) = background::coordinator(&house.config)?;
        if started_here {
            let (url, pid) = (&coordinator.url, coordinator.pid);
            print::note(format_args!("`tamis serve` now runs in the background at {url}, as process {pid}"));
        }
        house.ask(async |agents| Ok(agents.start(request.clone()).await))
    };
    match ask()? {
        Err(error) if tamis_coordinator::was_not_done(&error) => Ok(ask()??),
        outcome => Ok(outcome?),
    }
}

/// What is asked for, as far as that can be checked here.
fn request(arguments: Start) -> Result<StartRequest, CliError> {
    let task = arguments.task.map(|task| task.trim().to_owned()).filter(|task| !task.is_empty());
    if task.is_none() && arguments.issue.is_none() {
        return Err(CliError::usage("the agent has nothing to do")
            .hint("`--task \"…\"` says what, `--issue N` names an issue, and both together are fine too"));
    }
    let folder = arguments.repository.unwrap_or_else(|| PathBuf::from("."));
    let folder = folder.canonicalize().map_err(|error| {
        let message = format!("there is no folder {}", folder.display());
        CliError { error: anyhow::Error::new(error).context(message), ..CliError::usage("") }
    })?;
    // Looked for here, so that a server need not be started to learn of it; git decides.
    if !folder.ancestors().any(|folder| folder.join(".git").exists() || folder.join("HEAD").is_file()) {
        return Err(CliError::usage(format_args!("{} is in no git repository", folder.display()))
            .hint("`git init` makes one; an agent needs a commit to begin from"));
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

/// What whoever started it should know besides, as the events have it.
fn tell_notes(house: &House, instance: &Instance) -> CliResult {
    let events = house.archive()?.events(0, Some(&instance.id), u32::MAX)?;
    let notes = events.iter().filter_map(|event| event.detail["note"].as_str());
    notes.for_each(|note| print::note(escape::line(note)));
    Ok(())
}

/// An agent that ended as soon as it was started.
struct Ended {
    exit_code: Option<i32>,
    last_lines: String,
}

/// Looks once, when the agent has begun: most that cannot work end at once, and whoever started them is still there to be told.
/// Nobody waits for one that lives.
fn early_end(house: &House, id: &InstanceId) -> Result<Option<Ended>, CliError> {
    let tmux = house.tmux()?;
    let deadline = Instant::now() + BEGINNING;
    while !has_begun(&house.data_dir, id) && Instant::now() < deadline {
        std::thread::sleep(LOOK_AGAIN);
    }
    // It is started, whatever keeps this process from looking.
    let session = tmux.settled_session(id).ok().flatten();
    if session.as_ref().is_some_and(|session| session.alive) {
        return Ok(None);
    }
    let mut last_lines = String::new();
    if session.is_some() {
        // Whoever coordinates may have cleared it away by now.
        last_lines = tmux.capture(id, LAST_LINES).unwrap_or_default();
        // Seen to at once, so that whatever is asked next tells the same.
        house.ask(async |agents| agents.reconcile().await)?;
    }
    let instance = house.existing(id)?;
    Ok((!instance.status.is_live()).then_some(Ended { exit_code: instance.exit_code, last_lines }))
}

impl Ended {
    /// A command that does its work and ends has not failed.
    fn told(self, id: &InstanceId) -> CliResult {
        let how = self.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
        if self.exit_code == Some(0) {
            print::note(format_args!(
                "it has ended already{how}; `tamis agents logs {id}` tells what it did"
            ));
            return Ok(());
        }
        let lines = self.last_lines.lines().filter(|line| !line.trim().is_empty());
        let last: String = lines.map(|line| format!("\n  {}", escape::line(line))).collect();
        let error = anyhow::anyhow!("the agent of {id} ended as soon as it was started{how}{last}");
        Err(CliError::failed(error).hint(format!("`tamis agents logs {id}` shows all that it said")))
    }
}

fn tell(instance: &Instance, is_over: bool) -> CliResult {
    let id = &instance.id;
    print::columns(&[
        ["started".to_owned(), format!("{id}, {}", told::agent_with_arguments(instance))],
        ["branch".to_owned(), escape::line(&instance.branch)],
        ["worktree".to_owned(), escape::line(&instance.worktree.to_string_lossy())],
        ["session".to_owned(), instance.session.clone()],
    ])?;
    if !is_over {
        print::note(format_args!(
            "`tamis agents attach {id}` shows it at work; `tamis agents logs {id}` tells what it did"
        ));
    }
    Ok(())
}
