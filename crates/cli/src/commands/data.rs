use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use serde_json::json;
use tamis_config::{Config, Surroundings};
use tamis_sieve::{Holdings, Purge, Savings};

use crate::error::{CliError, CliResult};
use crate::{print, setup};

/// Show or erase what tamis keeps
#[derive(Args)]
pub(crate) struct Data {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Subcommand)]
enum DataCommand {
    Show(Show),
    #[command(name = "purge")]
    Purge(Erase),
}

/// Say what is kept, where, and what pruning saved so far
#[derive(Args)]
struct Show {
    #[arg(long)]
    json: bool,
}

/// Erase originals, the record of calls, or both
#[derive(Args)]
struct Erase {
    /// Only the originals that cuts are recovered from
    #[arg(long)]
    recovery: bool,
    /// Only the record of calls
    #[arg(long)]
    ledger: bool,
    /// Only what is older: 12h, 7d
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<Duration>,
    /// Do it, rather than say what would be done
    #[arg(long)]
    yes: bool,
}

/// An age as a person writes it.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    const UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 60 * 60), ('d', 24 * 60 * 60)];
    UNITS
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?.parse::<u64>().ok()?, seconds)))
        .and_then(|(number, seconds)| number.checked_mul(seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| "an age is written as 90s, 30m, 12h or 7d".to_owned())
}

pub(crate) fn run(arguments: Data) -> CliResult {
    let config = setup::load(&Surroundings::of_process())?;
    match arguments.command {
        DataCommand::Show(show) => self::show(&config, &show),
        DataCommand::Purge(erase) => self::erase(&config, &erase),
    }
}

fn show(config: &Config, arguments: &Show) -> CliResult {
    let services = setup::services(config)?;
    let holdings = services.sieve.holdings();
    // What cannot be counted is among the problems.
    let savings = services.sieve.savings().unwrap_or_default();
    let folder = config.data_dir();
    if arguments.json {
        let next =
            holdings.recovery_next_expiry.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        return print::json(&json!({
            "folder": folder,
            "recovery": {
                "originals": holdings.recovery_files,
                "bytes": holdings.recovery_bytes,
                "next_expiry_unix_s": next.map(|time| time.as_secs()),
            },
            "ledger": {"rows": holdings.ledger_rows, "bytes": holdings.database_bytes},
            "savings": {
                "calls": savings.calls,
                "fallbacks": savings.fallbacks,
                "tokens_before": savings.tokens_before,
                "tokens_after": savings.tokens_after,
                "recoveries": savings.recoveries,
                "recovered_tokens": savings.recovered_tokens,
            },
            "problems": holdings.problems,
        }));
    }
    print::columns(&[
        ["folder".to_owned(), folder.display().to_string()],
        ["originals".to_owned(), originals(&holdings)],
        [
            "record".to_owned(),
            format!(
                "{} rows, {}",
                print::grouped(holdings.ledger_rows),
                print::size(holdings.database_bytes)
            ),
        ],
        ["saved".to_owned(), saved(&savings)],
    ])?;
    for problem in &holdings.problems {
        print::note(format_args!("warning: {problem}"));
    }
    Ok(())
}

fn originals(holdings: &Holdings) -> String {
    let mut text = format!(
        "{} files, {}",
        print::grouped(holdings.recovery_files),
        print::size(holdings.recovery_bytes)
    );
    if let Some(expiry) = holdings.recovery_next_expiry {
        let left = expiry.duration_since(SystemTime::now()).unwrap_or_default();
        text.push_str(&format!(", the next goes in {} h", left.as_secs() / 3600));
    }
    text
}

/// What was cut, less what had to be fetched back: a cut that was recovered saved nothing.
fn saved(savings: &Savings) -> String {
    let cut = savings.tokens_before.saturating_sub(savings.tokens_after);
    format!(
        "about {} of {} tokens in {} calls, of which {} tokens were asked back",
        print::grouped(cut),
        print::grouped(savings.tokens_before),
        print::grouped(savings.calls),
        print::grouped(savings.recovered_tokens),
    )
}

fn erase(config: &Config, arguments: &Erase) -> CliResult {
    let services = setup::services(config)?;
    let both = arguments.recovery == arguments.ledger;
    let purge = Purge {
        recovery: both || arguments.recovery,
        ledger: both || arguments.ledger,
        older_than: arguments.older_than,
    };
    if !arguments.yes {
        let holdings = services.sieve.holdings();
        let mut what = Vec::new();
        if purge.recovery {
            what.push(format!("the originals ({})", originals(&holdings)));
        }
        if purge.ledger {
            what.push(format!("the record of calls ({} rows)", print::grouped(holdings.ledger_rows)));
        }
        let older = if purge.older_than.is_some() { ", as far as they are older" } else { "" };
        return Err(CliError::usage(format_args!("this would erase {}{older}", what.join(" and ")))
            .hint("add --yes to do it; cuts whose originals are gone cannot be recovered"));
    }
    let report = services.sieve.purge(purge);
    print::note(format_args!(
        "erased {} originals ({}) and {} rows",
        print::grouped(report.originals),
        print::size(report.bytes),
        print::grouped(report.ledger_rows),
    ));
    for problem in &report.problems {
        print::note(format_args!("warning: {problem}"));
    }
    if report.problems.is_empty() {
        Ok(())
    } else {
        Err(CliError::failed(anyhow::anyhow!("not everything could be erased")))
    }
}
