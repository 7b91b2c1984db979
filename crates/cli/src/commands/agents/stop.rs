use clap::Args;
use tamis_agents::{Instance, InstanceId};
use tamis_redact::Redacted;

use super::data_folder::AgentsFolder;
use super::render;
use crate::error::CliResult;
use crate::print;

/// End agents, but keep their worktrees and branches
#[derive(Args)]
pub(crate) struct Stop {
    /// Ids of the instances, as in `tamis agents list`
    #[arg(required = true, value_name = "ID")]
    ids: Vec<InstanceId>,
    /// Print a JSON array of the ended instances
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Stop) -> CliResult {
    let folder = AgentsFolder::of_process()?;
    let (ended, failed) = folder.each(&arguments.ids, async |agents, id| agents.stop(id).await);
    if arguments.json {
        print::json(&Redacted::new(ended))?;
    } else {
        ended.iter().try_for_each(print_ended)?;
    }
    failed
}

fn print_ended(instance: &Instance) -> CliResult {
    print::line(format_args!("{} is {}{}", instance.id, instance.status, render::left_of(instance)))
}
