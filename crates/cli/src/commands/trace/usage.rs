use clap::Args;
use serde_json::{Value, json};
use tamis_logs::usage::{ExclusionReason, Tokens};
use tamis_trace::accounting::ReportVerdict;
use tamis_trace::{ExplainedReport, Session, Trace, UsageGrouping};

use super::options::{Source, Which};
use super::render;
use crate::error::{CliError, CliResult};
use crate::table::{self, Align, Table};
use crate::{escape, print};

/// Show token usage
///
/// Counts each request once, at its largest report, including those of subagents. --explain shows which reports in a session's
/// logs count, and why.
#[derive(Args)]
pub(crate) struct Usage {
    /// Grouping; days are in UTC
    #[arg(long, default_value = "day", value_parser = GROUPINGS.map(|(name, ..)| name))]
    by: String,
    /// Explain the usage of one session, report by report
    #[arg(long, value_name = "SESSION")]
    explain: Option<String>,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    which: Which,
}

/// The groupings by their names, with the heads of their columns.
const GROUPINGS: [(&str, UsageGrouping, &str); 5] = [
    ("day", UsageGrouping::Day, "DAY (UTC)"),
    ("model", UsageGrouping::Model, "MODEL"),
    ("provider", UsageGrouping::Provider, "PROVIDER"),
    ("project", UsageGrouping::Project, "PROJECT"),
    ("session", UsageGrouping::Session, "SESSION"),
];

pub(crate) fn run(arguments: &Usage) -> CliResult {
    let trace = arguments.source.open()?;
    match &arguments.explain {
        Some(session) => explain(&trace, session, arguments.source.json),
        None => sums(&trace, arguments),
    }
}

fn sums(trace: &Trace, arguments: &Usage) -> CliResult {
    if arguments.which.limits_tokens() {
        return Err(CliError::usage(
            "--min-tokens and --max-tokens select sessions, but usage is a sum over sessions",
        )
        .hint("`tamis trace sessions --min-tokens N` lists them with what they used"));
    }
    let chosen = GROUPINGS.into_iter().find(|(name, ..)| *name == arguments.by);
    let (by, grouping, head) = chosen.unwrap_or(GROUPINGS[0]);
    let rows = trace.usage(&arguments.which.filter(trace)?, grouping)?;
    let total = rows.values().fold(Tokens::default(), |sum, row| sum.plus(row.tokens));
    let requests: u64 = rows.values().map(|row| row.requests).sum();
    if arguments.source.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, row)| {
                json!({"name": name, "requests": row.requests, "tokens": render::tokens_json(row.tokens)})
            })
            .collect();
        return print::json(&json!({
            "by": by,
            "rows": rows,
            "total": {"requests": requests, "tokens": render::tokens_json(total)},
        }));
    }
    if rows.is_empty() {
        return render::nothing(trace, "no usage");
    }
    let mut table = Table::new(&[
        ("REQUESTS", Align::Right),
        ("INPUT", Align::Right),
        ("CACHE READ", Align::Right),
        ("CACHE WRITE", Align::Right),
        ("OUTPUT", Align::Right),
        ("(REASONING)", Align::Right),
        ("TOTAL", Align::Right),
        (head, Align::Left),
    ])
    .dispensable(&["(REASONING)", "REQUESTS"])
    // Projects and models differ in their ends.
    .cut_in_front();
    let mut row = |requests: u64, tokens: Tokens, name: String| {
        let Tokens { input, cache_read, cache_creation, output, reasoning } = tokens;
        let numbers = [requests, input, cache_read, cache_creation, output, reasoning, tokens.total()];
        table.row(numbers.map(print::grouped).into_iter().chain([name]));
    };
    for (name, used) in &rows {
        let name = match (grouping, name.as_str()) {
            (_, "") => "(not in the logs)".to_owned(),
            (UsageGrouping::Session, id) => trace.short_id(id)?,
            (UsageGrouping::Project, root) => render::under_home(root),
            (_, name) => name.to_owned(),
        };
        row(used.requests, used.tokens, escape::line(&name));
    }
    if rows.len() != 1 {
        row(requests, total, "all".to_owned());
    }
    print::text(&table.render(table::screen()))
}

/// Every report of a session's own log and of its subagents', and whether it counted.
fn explain(trace: &Trace, prefix: &str, as_json: bool) -> CliResult {
    let session = trace.session(prefix)?;
    let mut logs = vec![session.clone()];
    logs.extend(trace.subagents(&session)?);
    let listed = trace.tokens_with_subagents(&session)?;
    let mut parts = Vec::new();
    let mut counted = Tokens::default();
    for log in &logs {
        let reports = trace.explain_usage(log)?;
        counted = reports.iter().fold(counted, |sum, report| sum.plus(report.counted));
        parts.push((log, reports));
    }
    if as_json {
        let logs: Vec<Value> = parts.iter().map(|(log, reports)| log_json(log, reports)).collect();
        print::json(&json!({
            "session_id": session.id,
            "logs": logs,
            "counted": render::tokens_json(counted),
            "listed_total": listed,
            "agrees": counted.total() == listed,
        }))?;
    } else {
        for (log, reports) in &parts {
            let name = if log.id == session.id { "session" } else { "subagent" };
            print::line(format_args!("{name} {}", escape::line(&log.id)))?;
            print::text(&reports_table(reports).render(table::screen()))?;
            let reported =
                reports.iter().fold(0, |sum: u64, report| sum.saturating_add(report.reported.total()));
            let own = reports.iter().fold(Tokens::default(), |sum, report| sum.plus(report.counted));
            print::line(format_args!(
                "{} of {} tokens, of which {} count\n",
                print::count(reports.len() as u64, "report"),
                print::grouped(reported),
                print::grouped(own.total()),
            ))?;
        }
        print::columns(&[
            ["input".to_owned(), print::grouped(counted.input)],
            ["cache read".to_owned(), print::grouped(counted.cache_read)],
            ["cache write".to_owned(), print::grouped(counted.cache_creation)],
            ["output".to_owned(), print::grouped(counted.output)],
            ["incl. reasoning".to_owned(), print::grouped(counted.reasoning)],
            [
                "total".to_owned(),
                format!("{}, as listed: {}", print::grouped(counted.total()), print::grouped(listed)),
            ],
        ])?;
    }
    if counted.total() == listed {
        return Ok(());
    }
    Err(CliError::failed(anyhow::anyhow!(
        "the reports add up to {} tokens, but the index lists {}",
        print::grouped(counted.total()),
        print::grouped(listed)
    ))
    .hint("the session may have continued in the meantime; `tamis trace index --verify` compares the index with the logs"))
}

fn reports_table(reports: &[ExplainedReport]) -> Table {
    let mut table = Table::new(&[
        ("EVENT", Align::Right),
        ("TIME", Align::Left),
        ("STREAM", Align::Left),
        ("INPUT", Align::Right),
        ("CACHED", Align::Right),
        ("OUTPUT", Align::Right),
        ("COUNTED", Align::Right),
        ("WHY", Align::Left),
    ])
    .dispensable(&["STREAM", "TIME"])
    .wanting(56);
    for report in reports {
        let reported = report.reported;
        table.row([
            report.event.to_string(),
            render::second(report.at),
            report.stream.name().to_owned(),
            print::grouped(reported.input),
            print::grouped(reported.cache_read.saturating_add(reported.cache_creation)),
            print::grouped(reported.output),
            print::grouped(report.counted.total()),
            reason(report.verdict).to_owned(),
        ]);
    }
    table
}

fn log_json(log: &Session, reports: &[ExplainedReport]) -> Value {
    let reports: Vec<_> = reports
        .iter()
        .map(|report| {
            json!({
                "event_index": report.event,
                "timestamp": render::utc(report.at),
                "stream": report.stream.name(),
                "model": report.model,
                "reported": render::tokens_json(report.reported),
                "counted": render::tokens_json(report.counted),
                "reason": reason(report.verdict),
            })
        })
        .collect();
    json!({"session_id": log.id, "relation": log.relation, "reports": reports})
}

fn reason(verdict: ReportVerdict) -> &'static str {
    match verdict {
        ReportVerdict::First => "the first report of its request",
        ReportVerdict::Replaced => "a later report of the same request; only what it adds counts",
        ReportVerdict::Same => "repeats a request that is already counted",
        ReportVerdict::CountedElsewhere => "an earlier session's log has the same request",
        ReportVerdict::Excluded(ExclusionReason::Repeated) => "repeats the total before it",
        ReportVerdict::Excluded(ExclusionReason::Inherited) => {
            "belongs to the session that this one was forked from"
        }
        ReportVerdict::Excluded(ExclusionReason::Empty) => "reports no tokens",
    }
}
