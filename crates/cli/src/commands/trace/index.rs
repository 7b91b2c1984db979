use clap::Args;
use serde_json::{Value, json};
use tamis_clients::Client;
use tamis_trace::{
    ClientTotals, IndexRefresh, IndexStatus, IndexVerification, IndexedLog, Trace, UnrecognisedRecords,
};

use super::indexing;
use super::options::Source;
use super::render;
use crate::error::{CliError, CliResult};
use crate::table::{self, Align, Table};
use crate::{escape, print};

/// Update the index and show what it contains, including unrecognised records
///
/// The index can be deleted at any time: it contains positions in the logs and is rebuilt from them.
#[derive(Args)]
pub(crate) struct Index {
    /// Delete the index first and read every log again
    #[arg(long)]
    rebuild: bool,
    /// Read every log again into a second index and compare the two
    #[arg(long, conflicts_with = "rebuild")]
    verify: bool,
    /// List every log, not only the first few
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    source: Source,
}

/// Logs that are listed for each problem, unless all are requested.
const FEW: usize = 3;

pub(crate) fn run(arguments: &Index) -> CliResult {
    let trace = arguments.source.unread()?;
    let refreshed = if arguments.rebuild {
        indexing::with_bar("indexing", |watch| trace.rebuild(watch))?
    } else {
        indexing::with_bar("indexing", |watch| trace.refresh(watch))?
    };
    let verified = match arguments.verify {
        true => Some(indexing::with_bar("comparing", |watch| trace.verify(watch))?),
        false => None,
    };
    let report = trace.report()?;
    if arguments.source.json {
        print::json(&to_json(&trace, &refreshed, &report, verified.as_ref()))?;
    } else {
        let few = if arguments.all { usize::MAX } else { FEW };
        print::text(&to_text(&trace, &refreshed, &report, verified.as_ref(), few))?;
    }
    match verified {
        Some(verified) if !verified.differences.is_empty() => Err(CliError::failed(anyhow::anyhow!(
            "the index and the logs differ in {}",
            print::count(verified.differences.len() as u64, "place")
        ))
        .hint("`tamis trace index --rebuild` rebuilds it; please report what differed")),
        _ => Ok(()),
    }
}

fn index_size(trace: &Trace) -> u64 {
    let path = trace.index_path();
    let size = |suffix: &str| {
        let mut name = path.clone().into_os_string();
        name.push(suffix);
        std::fs::metadata(name).map_or(0, |metadata| metadata.len())
    };
    ["", "-wal", "-shm"].into_iter().map(size).sum()
}

fn provider_name(provider: Option<Client>) -> &'static str {
    provider.map_or("(unknown)", Client::id)
}

fn to_text(
    trace: &Trace,
    refreshed: &IndexRefresh,
    report: &IndexStatus,
    verified: Option<&IndexVerification>,
    few: usize,
) -> String {
    let mut text = format!(
        "index {} ({})\nread now {} of {}, {}\n\n",
        trace.index_path().display(),
        print::size(index_size(trace)),
        print::grouped(refreshed.read),
        print::count(refreshed.logs, "log"),
        print::size(refreshed.bytes),
    );
    let mut table = Table::new(&[
        ("PROVIDER", Align::Left),
        ("LOGS", Align::Right),
        ("BYTES", Align::Right),
        ("SESSIONS", Align::Right),
        ("EVENTS", Align::Right),
    ]);
    // Unknown formats come last.
    let (unknown, known): (Vec<_>, Vec<_>) =
        report.clients.iter().partition(|(provider, _)| provider.is_none());
    for (provider, holding) in known.into_iter().chain(unknown) {
        let numbers = [holding.logs, holding.bytes, holding.sessions, holding.events];
        table.row([provider_name(*provider).to_owned()].into_iter().chain(numbers.map(print::grouped)));
    }
    if table.is_empty() {
        text.push_str("no logs found; looked in\n");
        for place in render::locations(trace) {
            text.push_str(&format!("  {place}\n"));
        }
    } else {
        text.push_str(&table.render(table::screen()));
    }
    if report.unrecognised.is_empty() {
        if !table.is_empty() {
            text.push_str("\nall records were recognised\n");
        }
    } else {
        text.push_str("\nunrecognised\n");
        for entry in &report.unrecognised {
            text.push_str(&unrecognised(entry, few));
        }
    }
    let problem = |log: &IndexedLog| log.problem().unwrap_or_default().into_inner();
    section(&mut text, "unknown format", &report.unknown, few, |log| print::size(log.source.stamp.size));
    section(&mut text, "not read to the end", &report.problems, few, problem);
    section(&mut text, "incomplete last line", &report.torn, few, |log| print::size(log.pending));
    for problem in &refreshed.problems {
        text.push_str(&format!("\ncannot read {}\n", escape::line(problem)));
    }
    if let Some(verified) = verified {
        text.push_str(&comparison(verified));
    }
    text
}

fn unrecognised(entry: &UnrecognisedRecords, few: usize) -> String {
    let mut text = format!(
        "  {} {} in {} of {}\n",
        print::count(entry.count, "time"),
        escape::line(&entry.what),
        print::count(entry.logs.len() as u64, "log"),
        entry.provider.id(),
    );
    for log in entry.logs.iter().take(few) {
        text.push_str(&format!("    {}\n", escape::line(log)));
    }
    more(&mut text, entry.logs.len(), few);
    text
}

fn section(
    text: &mut String,
    name: &str,
    logs: &[IndexedLog],
    few: usize,
    detail: impl Fn(&IndexedLog) -> String,
) {
    if logs.is_empty() {
        return;
    }
    text.push_str(&format!("\n{name}: {}\n", print::count(logs.len() as u64, "log")));
    for log in logs.iter().take(few) {
        text.push_str(&format!("    {} ({})\n", escape::line(&log.name()), escape::line(&detail(log))));
    }
    more(text, logs.len(), few);
}

fn more(text: &mut String, logs: usize, few: usize) {
    if logs > few {
        text.push_str(&format!("    and {} more; --all lists them\n", print::grouped((logs - few) as u64)));
    }
}

fn comparison(verified: &IndexVerification) -> String {
    let mut text = format!(
        "\ncompared {} and {} with the logs: ",
        print::count(verified.logs, "log"),
        print::count(verified.sessions, "session")
    );
    match verified.differences.len() {
        0 => text.push_str("no difference\n"),
        _ => text.push_str("they differ\n"),
    }
    for difference in &verified.differences {
        text.push_str(&format!("    {}: {}\n", escape::line(&difference.log), difference.what));
    }
    if verified.changed > 0 {
        text.push_str(&format!(
            "    not compared because they changed in the meantime: {}\n",
            print::count(verified.changed, "log")
        ));
    }
    text
}

fn to_json(
    trace: &Trace,
    refreshed: &IndexRefresh,
    report: &IndexStatus,
    verified: Option<&IndexVerification>,
) -> Value {
    let logs = |logs: &[IndexedLog]| -> Value {
        logs.iter()
            .map(|log| {
                json!({
                    "log": log.name(),
                    "bytes": log.source.stamp.size,
                    "read_to": log.read_to,
                    "pending_bytes": log.pending,
                    "problem": log.problem(),
                })
            })
            .collect()
    };
    let client = |(provider, holding): (&Option<Client>, &ClientTotals)| {
        let mut value = json!(holding);
        value["provider"] = json!(provider.map(Client::id));
        value
    };
    let clients: Vec<Value> = report.clients.iter().map(client).collect();
    let unrecognised: Vec<Value> = report
        .unrecognised
        .iter()
        .map(|entry| {
            json!({
                "provider": entry.provider.id(),
                "what": escape::line(&entry.what),
                "count": entry.count,
                "logs": entry.logs,
            })
        })
        .collect();
    let mut value = json!({
        "index": {"path": trace.index_path(), "bytes": index_size(trace)},
        "read_now": {"logs": refreshed.read, "bytes": refreshed.bytes, "removed": refreshed.removed},
        "logs": refreshed.logs,
        "providers": clients,
        "not_understood": unrecognised,
        "unknown_format": logs(&report.unknown),
        "problems": logs(&report.problems),
        "torn": logs(&report.torn),
        "not_looked_at": refreshed.problems,
    });
    if let Some(verified) = verified {
        value["verified"] = json!(verified);
    }
    value
}
