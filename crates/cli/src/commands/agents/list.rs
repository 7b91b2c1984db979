use clap::Args;
use tamis_agents::{Instance, Moment, Phase};
use tamis_redact::Redacted;

use super::{data_folder::AgentsFolder, render};
use crate::error::CliResult;
use crate::table::{self, Align, Table};
use crate::{escape, print};

/// Instances that ended longer ago are listed with --all only.
const RECENT_MS: i64 = 24 * 60 * 60 * 1000;

/// List instances, oldest first
///
/// Lists instances that are running, still have a worktree, or ended within the last day.
#[derive(Args)]
pub(crate) struct List {
    /// List all instances
    #[arg(long)]
    all: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &List) -> CliResult {
    // Reads the database only: users run this often.
    let mut instances = match AgentsFolder::of_process()?.archive_if_there()? {
        Some(archive) => archive.instances()?,
        None => Vec::new(),
    };
    let there = instances.len();
    let now = Moment::now();
    if !arguments.all {
        instances.retain(|instance| is_listed(instance, now));
    }
    if arguments.json {
        return print::json(&Redacted::new(instances));
    }
    if instances.is_empty() {
        let here = std::env::current_dir()?;
        let is_repository = here.ancestors().any(|folder| folder.join(".git").exists());
        let place = if is_repository { "this repository" } else { "a git repository" };
        print::note(format_args!(
            "no instances; start one in {place} with `tamis agents start --task \"…\"`"
        ));
    } else {
        print::text(&table_of(&instances, now).render(table::screen()))?;
    }
    if instances.len() < there {
        print::note(format_args!("{} more ended earlier; list them with --all", there - instances.len()));
    }
    Ok(())
}

fn is_listed(instance: &Instance, now: Moment) -> bool {
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
            escape::line(&render::agent(instance)),
            render::age(instance.created_at, now),
            instance.pr_number.map_or_else(|| "-".to_owned(), |number| format!("#{number}")),
            render::about(instance),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use tamis_agents::Status;

    use super::*;

    #[test]
    fn instances_that_ended_long_ago_are_not_listed() {
        let now = Moment(10 * RECENT_MS);
        let interest = |status, phase, updated_at| {
            let mut instance = render::tests::instance();
            (instance.status, instance.phase, instance.updated_at) = (status, phase, Moment(updated_at));
            is_listed(&instance, now)
        };
        assert!(interest(Status::Started, Phase::Ready, 0));
        assert!(interest(Status::Terminated, Phase::Kept, 0));
        assert!(interest(Status::Terminated, Phase::Gone, now.0 - 1));
        assert!(!interest(Status::Terminated, Phase::Gone, 0));
    }

    #[test]
    fn a_row_has_id_type_status_agent_age_and_task() {
        let mut instance = render::tests::instance();
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
