use clap::Args;
use tamis_agents::{Instance, InstanceId};
use tamis_redact::Redacted;

use super::house::House;
use super::told;
use crate::error::CliResult;
use crate::print;

/// End agents; their worktrees and branches stay
#[derive(Args)]
pub(crate) struct Stop {
    /// Which instances, as `tamis agents list` has them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<InstanceId>,
    /// Print a JSON array of those that were ended, for programs
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Stop) -> CliResult {
    let house = House::of_process()?;
    let (ended, failed) = house.each(&arguments.ids, async |agents, id| agents.stop(id).await);
    if arguments.json {
        print::json(&Redacted::new(ended))?;
    } else {
        ended.iter().try_for_each(tell)?;
    }
    failed
}

fn tell(instance: &Instance) -> CliResult {
    print::line(format_args!("{} is {}{}", instance.id, instance.status, told::left_of(instance)))
}
