use std::time::Duration;

use clap::Args;
use tamis_clients::Client;
use tamis_config::{Config, ConfigEnvironment};
use tamis_gain::{ClientReach, ReachOptions, ReachReport, ReachVerdict};
use tamis_logs::event::Millis;
use tamis_server::listed_bytes;
use tamis_sieve::{Sieve, SieveSettings};
use tamis_tools::{Credentials, Registry};
use tamis_trace::Trace;

use super::gain::signed;
use super::trace::options::{self, Source};
use crate::error::CliResult;
use crate::print;
use crate::progress::ProgressLine;
use crate::table::{self, Align, Table};

/// The names of the mechanisms, and what they are.
const MECHANISMS: &[(&str, &str)] = &[
    ("hooks", "hooks for its own tools"),
    ("tools", "tamis's tools instead"),
    ("gateway", "a gateway for MCP servers"),
];

/// Estimate what tamis could save you, before you install anything
///
/// Replays your latest sessions, client by client: which share of the tool results hooks, tamis's own tools or a gateway could touch,
/// what pruning them would net over all requests, and how many of the cut lines the agent needed afterwards. If it is not worth it,
/// it says so: less than 1 % of what the model read. Writes nothing but the index of sessions.
#[derive(Args)]
pub(crate) struct ReachCommand {
    /// Only sessions active since this time: 2026-01-31, yesterday, 2w, 7d, 12h
    #[arg(long, value_name = "TIME", value_parser = options::since)]
    since: Option<Millis>,
    /// Maximum number of sessions of each client, latest first
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = options::limit)]
    limit: usize,
    /// Seconds for each client, after which no further session is replayed
    #[arg(long, value_name = "N", default_value_t = 30)]
    seconds: u64,
    #[command(flatten)]
    source: Source,
}

pub(crate) fn run(arguments: &ReachCommand) -> CliResult {
    let trace = arguments.source.open()?;
    let config = Config::load(&ConfigEnvironment::of_process())?;
    let sieve = Sieve::new(SieveSettings::without_store(config.sieve.max_input_chars.value));
    let options = ReachOptions {
        since: arguments.since,
        sessions: arguments.limit,
        time: Duration::from_secs(arguments.seconds),
        tool_definitions: default_tool_tokens(),
    };
    let mut waiting = ProgressLine::new();
    let report = tamis_gain::reach(&trace, &sieve, options, &mut |client: Client, sessions| {
        waiting
            .show(|| format!("replaying {}: {}", client.display_name(), print::count(sessions, "session")));
    })?;
    drop(waiting);
    if arguments.source.json {
        return print::json(&report);
    }
    print::text(&to_text(&report))
}

/// The same for the dashboard, in a few seconds.
pub(crate) fn for_page(trace: &Trace, max_chars: usize) -> Result<ReachReport, String> {
    let options = ReachOptions {
        since: None,
        sessions: 20,
        time: Duration::from_secs(5),
        tool_definitions: default_tool_tokens(),
    };
    let sieve = Sieve::new(SieveSettings::without_store(max_chars));
    tamis_gain::reach(trace, &sieve, options, &mut |_, _| {}).map_err(|error| error.to_string())
}

/// Tokens of the definitions of the tools that `tamis mcp` serves by default.
fn default_tool_tokens() -> u64 {
    let registry = Registry::all();
    let tools = registry.list(Credentials::ALL).filter(|tool| tool.is_default());
    tools.map(|tool| listed_bytes(tool) as u64).sum::<u64>() / 4
}

fn to_text(report: &ReachReport) -> String {
    if report.clients.is_empty() {
        return "no sessions of Claude Code, Codex, Gemini CLI or OpenCode were found\n".to_owned();
    }
    let clients = report.clients.iter().map(client_text).collect::<Vec<_>>();
    clients.join("\n")
}

fn client_text(reach: &ClientReach) -> String {
    let name = Client::named(reach.client).map_or(reach.client, Client::display_name);
    let rest = match (reach.is_out_of_time, reach.more_sessions) {
        (true, _) => ", the latest: the time was up; --seconds allows more",
        (false, true) => ", the latest; --limit allows more",
        (false, false) => "",
    };
    let mut text = format!(
        "{name}: {}{rest}\n{} with {} tokens in all, of which tool results {} once each\n\n",
        print::count(reach.sessions, "session"),
        print::count(reach.requests, "request"),
        print::grouped(reach.tokens_read),
        print::grouped(reach.result_tokens),
    );
    let mut table = Table::new(&[
        ("RESULTS", Align::Right),
        ("TOKENS", Align::Right),
        ("SHARE", Align::Right),
        ("CUT", Align::Right),
        ("NEEDED LINES", Align::Right),
        ("NET", Align::Right),
        ("OF ALL", Align::Right),
        ("MECHANISM", Align::Left),
    ]);
    for (name, what) in MECHANISMS {
        let Some(found) = reach.mechanisms.get(name) else { continue };
        table.row([
            print::grouped(found.results),
            print::grouped(found.tokens),
            percent(found.share),
            print::grouped(found.tokens_cut),
            format!("{} of {}", print::grouped(found.lines_needed), print::grouped(found.lines_cut)),
            signed(found.net_tokens),
            percent(found.net_share),
            (*what).to_owned(),
        ]);
    }
    let untouched = reach.untouched_tokens as f64 / reach.result_tokens.max(1) as f64;
    let nothing = ["".to_owned(), print::grouped(reach.untouched_tokens), percent(untouched)];
    table.row(
        nothing
            .into_iter()
            .chain(["", "", "", ""].map(str::to_owned))
            .chain(["neither hooks nor a gateway".to_owned()]),
    );
    text.push_str(&table.render(table::screen()));
    text.push_str(&format!("\n{}\n", verdict(reach)));
    text
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// In a sentence, with the rule.
fn verdict(reach: &ClientReach) -> String {
    let is_worth_it = |name: &str| reach.mechanisms.get(name).is_some_and(|found| found.is_worth_it);
    match reach.verdict {
        ReachVerdict::TooLittleToTell => "too little to tell: fewer than 20 results of some size".to_owned(),
        ReachVerdict::NotWorthIt => {
            "not worth it for you: neither hooks nor a gateway would save 1 % of what the model read"
                .to_owned()
        }
        ReachVerdict::WorthIt => {
            let hooks = is_worth_it("hooks").then(|| format!("`tamis setup {} --only hooks`", reach.client));
            let gateway = is_worth_it("gateway").then(|| "`tamis gateway`".to_owned());
            let commands: Vec<String> = hooks.into_iter().chain(gateway).collect();
            format!("worth it: {} would save 1 % or more of what the model read", commands.join(" and "))
        }
    }
}
