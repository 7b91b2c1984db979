use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};
use tamis_config::ConfigEnvironment;
use tamis_gain::{ModelPrices, RequestCost};
use tamis_logs::usage::{ExclusionReason, Tokens};
use tamis_trace::accounting::ReportVerdict;
use tamis_trace::{ExplainedReport, Session, Trace, UsageGrouping};

use super::options::{Source, WhichSessions};
use super::prices::ShownCost;
use super::render;
use crate::commands::gain::prices;
use crate::error::{CliError, CliResult};
use crate::table::{self, Align, Table};
use crate::{escape, print, startup};

/// Show token usage
///
/// Counts each request once, at its largest report, including those of subagents. --explain shows which reports in a session's
/// logs count, and why. USD is the cost at list prices, which may differ from what you pay; a model without a price
/// has no cost.
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
    which: WhichSessions,
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
    let config = startup::load(&ConfigEnvironment::of_process())?;
    let prices = prices(&config)?;
    let trace = arguments.source.open()?;
    match &arguments.explain {
        Some(session) => explain(&trace, session, arguments.source.json),
        None => sums(&trace, arguments, &prices),
    }
}

/// What a group of requests used, and what it cost.
#[derive(Default)]
struct Group {
    requests: u64,
    tokens: Tokens,
    cost: RequestCost,
}

fn sums(trace: &Trace, arguments: &Usage, prices: &ModelPrices) -> CliResult {
    let chosen = GROUPINGS.into_iter().find(|(name, ..)| *name == arguments.by);
    let (by, grouping, head) = chosen.unwrap_or(GROUPINGS[0]);
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let mut all = Group::default();
    trace.visit_usage(&arguments.which.filter(trace)?, grouping, |name, request, model| {
        for group in [groups.entry(name).or_default(), &mut all] {
            group.requests += 1;
            group.tokens = group.tokens.plus(request.tokens);
            prices.charge(&mut group.cost, model, request.at, request.tokens);
        }
    })?;
    if arguments.source.json {
        let group_json = |group: &Group| {
            json!({
                "requests": group.requests,
                "tokens": render::tokens_json(group.tokens),
                "cost": group.cost.json(),
            })
        };
        let row = |(name, group): (&String, &Group)| {
            let mut row = group_json(group);
            row["name"] = json!(name);
            row
        };
        let rows: Vec<_> = groups.iter().map(row).collect();
        return print::json(&json!({"by": by, "rows": rows, "total": group_json(&all)}));
    }
    if groups.is_empty() {
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
        ("USD", Align::Right),
        (head, Align::Left),
    ])
    .dispensable(&["(REASONING)", "REQUESTS"])
    // Projects and models differ in their ends.
    .cut_in_front();
    let mut row = |group: &Group, name: String| {
        let Tokens { input, cache_read, cache_creation, output, reasoning } = group.tokens;
        let total = group.tokens.total();
        let numbers = [group.requests, input, cache_read, cache_creation, output, reasoning, total];
        table.row(numbers.map(print::grouped).into_iter().chain([group.cost.cell(), name]));
    };
    for (name, group) in &groups {
        let name = match (grouping, name.as_str()) {
            (_, "") => "(not in the logs)".to_owned(),
            (UsageGrouping::Session, id) => trace.short_id(id)?,
            (UsageGrouping::Project, root) => render::under_home(root),
            (_, name) => name.to_owned(),
        };
        row(group, escape::line(&name));
    }
    if groups.len() != 1 {
        row(&all, "all".to_owned());
    }
    print::text(&table.render(table::screen()))?;
    // With the figures, wherever they go: a price without its date says nothing.
    let notes: String = all.cost.notes().iter().map(|note| format!("{note}\n")).collect();
    print::text(&format!("\n{notes}"))
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
