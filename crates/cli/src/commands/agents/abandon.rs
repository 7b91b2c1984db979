use clap::Args;
use tamis_agents::InstanceId;
use tamis_redact::Redacted;

use super::house::House;
use super::told;
use crate::error::CliResult;
use crate::print;

/// Give agents up: end them, and remove what can go without a loss
#[derive(Args)]
pub(crate) struct Abandon {
    /// Which instances, as `tamis agents list` has them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<InstanceId>,
    /// Why, for whoever asks later
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    /// Print a JSON array of those that were given up, for programs
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Abandon) -> CliResult {
    let house = House::of_process()?;
    let reason = arguments.reason.as_deref();
    let (given_up, failed) = house.each(&arguments.ids, async |agents, id| agents.abandon(id, reason).await);
    if arguments.json {
        print::json(&Redacted::new(given_up))?;
    } else {
        given_up.iter().try_for_each(|instance| {
            print::line(format_args!("{} is {}{}", instance.id, instance.status, told::left_of(instance)))
        })?;
    }
    failed
}
