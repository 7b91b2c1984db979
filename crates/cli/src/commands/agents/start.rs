use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;
use tamis_agents::{AGENTS, AgentChoice, AgentType, Instance, StartRequest};

use super::{background, house::House, told};
use crate::error::{CliError, CliResult};
use crate::{print, shown};

/// Start an agent in a worktree of its own
///
/// It works at an issue, a task, or both: the issue is what it is about, and the task what you add to it. Your checkout is not
/// touched. `tamis serve` is started in the background when nobody coordinates.
#[derive(Args)]
pub(crate) struct Start {
    /// What it is there for: to write code, or to plan
    #[arg(long = "type", value_name = "TYPE", default_value = "coding", value_parser = ["coding", "planning"])]
    agent_type: String,
    /// The issue that it works at
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
    let (coordinator, started_here) = background::coordinator(&house.config)?;
    if started_here {
        let (url, pid) = (&coordinator.url, coordinator.pid);
        print::note(format_args!("`tamis serve` now runs in the background at {url}, as process {pid}"));
    }
    let instance = house.ask(async |agents| agents.start(request).await)?;
    if as_json {
        return shown::json(&shown::value(json!(instance)));
    }
    tell(&instance)
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
        (false, _) => Some(AgentChoice { agent: AgentChoice::COMMAND.to_owned(), args: arguments.command }),
        (true, Some(agent)) => Some(AgentChoice { agent, args: Vec::new() }),
        (true, None) => None,
    };
    let agent_type = arguments.agent_type.parse::<AgentType>().map_err(CliError::internal)?;
    Ok(StartRequest { agent_type, issue: arguments.issue, task, choice, folder, base: arguments.base })
}

fn tell(instance: &Instance) -> CliResult {
    let id = &instance.id;
    print::columns(&[
        ["started".to_owned(), format!("{id}, {}", told::agent_with_arguments(instance))],
        ["branch".to_owned(), shown::line(&instance.branch)],
        ["worktree".to_owned(), shown::line(&instance.worktree.to_string_lossy())],
        ["session".to_owned(), instance.session.clone()],
    ])?;
    print::note(format_args!(
        "`tamis agents attach {id}` shows it at work; `tamis agents logs {id}` tells what it did"
    ));
    Ok(())
}
