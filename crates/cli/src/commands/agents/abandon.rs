use clap::Args;
use tamis_agents::InstanceId;
use tamis_redact::Redacted;

use super::data_folder::AgentsFolder;
use super::render;
use crate::error::CliResult;
use crate::print;

/// End agents, and remove their worktrees and branches if no work would be lost
#[derive(Args)]
pub(crate) struct Abandon {
    /// Ids of the instances, as in `tamis agents list`
    #[arg(required = true, value_name = "ID")]
    ids: Vec<InstanceId>,
    /// Reason to record
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    /// Print a JSON array of the abandoned instances
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Abandon) -> CliResult {
    let folder = AgentsFolder::of_process()?;
    let reason = arguments.reason.as_deref();
    let (given_up, failed) = folder.each(&arguments.ids, async |agents, id| agents.abandon(id, reason).await);
    if arguments.json {
        print::json(&Redacted::new(given_up))?;
    } else {
        given_up.iter().try_for_each(|instance| {
            print::line(format_args!("{} is {}{}", instance.id, instance.status, render::left_of(instance)))
        })?;
    }
    failed
}
