use clap::Args;
use tamis_agents::{Instance, Moment, Phase};
use tamis_redact::Redacted;

use super::{house::House, told};
use crate::error::CliResult;
use crate::table::{self, Align, Table};
use crate::{escape, print};

/// What is over and gone for longer is shown only when it is asked for.
const RECENT_MS: i64 = 24 * 60 * 60 * 1000;

/// List the instances, oldest first
///
/// Those that run, those of which something is left (a worktree, that is), and those that were over in the last day.
#[derive(Args)]
pub(crate) struct List {
    /// Every instance that ever was
    #[arg(long)]
    all: bool,
    /// Print a JSON array, for programs
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &List) -> CliResult {
    // The database and nothing else: whoever watches a fleet asks often.
    let mut instances = match House::of_process()?.archive_if_there()? {
        Some(archive) => archive.instances()?,
        None => Vec::new(),
    };
    let there = instances.len();
    let now = Moment::now();
    if !arguments.all {
        instances.retain(|instance| is_of_interest(instance, now));
    }
    if arguments.json {
        return print::json(&Redacted::new(instances));
    }
    if instances.is_empty() {
        print::note(
            "there are no instances; `tamis agents start --task \"…\"` starts one in this repository",
        );
    } else {
        print::bytes(table_of(&instances, now).render(table::screen()).as_bytes())?;
    }
    if instances.len() < there {
        print::note(format_args!("{} more are over and gone; --all lists them", there - instances.len()));
    }
    Ok(())
}

fn is_of_interest(instance: &Instance, now: Moment) -> bool {
    instance.status.is_live() || instance.phase != Phase::Gone || now.0 - instance.updated_at.0 < RECENT_MS
}

fn table_of(instances: &[Instance], now: Moment) -> Table {
    let mut table = Table::new(&[
        ("ID", Align::Left),
        ("TYPE", Align::Left),
        ("STATUS", Align::Left),
        ("AGENT", Align::Left),
        ("AGE", Align::Right),
        ("PR", Align::Right),
        ("ABOUT", Align::Left),
    ])
    .dispensable(&["TYPE", "PR", "AGENT", "AGE"])
    .wanting(30);
    for instance in instances {
        table.row([
            instance.id.to_string(),
            instance.agent_type.to_string(),
            instance.status.to_string(),
            escape::line(&told::agent(instance)),
            told::age(instance.created_at, now),
            instance.pr_number.map_or_else(|| "-".to_owned(), |number| format!("#{number}")),
            told::about(instance),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use tamis_agents::Status;

    use super::*;

    #[test]
    fn what_is_gone_for_long_is_of_no_interest() {
        let now = Moment(10 * RECENT_MS);
        let interest = |status, phase, updated_at| {
            let mut instance = told::tests::instance();
            (instance.status, instance.phase, instance.updated_at) = (status, phase, Moment(updated_at));
            is_of_interest(&instance, now)
        };
        assert!(interest(Status::Started, Phase::Ready, 0));
        assert!(interest(Status::Terminated, Phase::Kept, 0));
        assert!(interest(Status::Terminated, Phase::Gone, now.0 - 1));
        assert!(!interest(Status::Terminated, Phase::Gone, 0));
    }

    #[test]
    fn a_row_says_what_one_asks_first() {
        let mut instance = told::tests::instance();
        let now = Moment(instance.created_at.0 + 3 * 60 * 60 * 1000);
        let line = |instance: &Instance| {
            table_of(std::slice::from_ref(instance), now).render(None).lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(line(&instance), "work-12-a1  coding  STARTED  claude   3h   -  mend \\x1b[31mthe parser");
        instance.status = Status::Abandoned;
        instance.reason = Some("5 failed\nreviews".to_owned());
        instance.pr_number = Some(7);
        assert_eq!(line(&instance), "work-12-a1  coding  ABANDONED  claude   3h  #7  5 failed reviews");
    }
}
