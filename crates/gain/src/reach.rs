//! What each mechanism of tamis could touch of past sessions, before anything is installed, and what it would net.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use tamis_clients::Client;
use tamis_logs::event::Millis;
use tamis_logs::tool_kinds::ToolKind;
use tamis_logs::usage::Tokens;
use tamis_savings::{ReplayedCall, SavingsOptions, SavingsSums};
use tamis_sieve::Sieve;
use tamis_trace::{Session, SessionFilter, Trace, TraceError};

/// Results that a gateway prunes have at least this many characters.
const GATEWAY_CHARS: usize = 4_000;
/// A mechanism that saves less than this share of what the model reads is not worth its setup.
const WORTH_SHARE: f64 = 0.01;
/// Fewer results prove nothing.
const FEWEST_RESULTS: u64 = 20;

/// How to read the report; part of it.
const RULES: &[&str] = &[
    "The latest sessions of each client are replayed, as many as the limits of number and time allow. Each result that a mechanism \
     reaches goes through the sieve, as in `tamis trace savings`; every other result stays whole.",
    "hooks: results of the client's own shell, read and search tools of 1,000 characters or more, but no part of a file, no failed \
     command in Claude Code, and nothing that the client cuts itself. tools: the same calls made with tamis's read, bash and grep \
     instead, if the agent chooses them for every call. gateway: results of 4,000 characters or more of other MCP servers, which \
     logs of OpenCode do not tell apart.",
    "net_tokens counts requests: what was cut, in the first request and in each later one until the context was compacted, less \
     one recovery for each result with a line that was needed afterwards. A recovery costs its call, the cut blocks with the needed \
     lines, both also in later requests, and one more request of average size. Of tools, the definitions of tamis's tools are \
     subtracted in every request.",
    "A mechanism is worth it if net_tokens are 1 % or more of all that the model read in these sessions; a client is, if its hooks or \
     a gateway are. With fewer than 20 results that these reach, there is too little to tell.",
];

/// Limits of the replay.
#[derive(Clone, Copy, Debug)]
pub struct ReachOptions {
    /// Only sessions that were active since then.
    pub since: Option<Millis>,
    /// Maximum number of sessions of each client, the latest first.
    pub sessions: usize,
    /// No further session of a client is begun after this time.
    pub time: Duration,
    /// Tokens of the definitions of tamis's tools, which every request carries where they are installed.
    pub tool_definitions: u64,
}

/// What could be touched, client by client.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReachReport {
    pub clients: Vec<ClientReach>,
    pub rules: &'static [&'static str],
}

/// What could be touched of the sessions of one client.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClientReach {
    pub client: &'static str,
    /// Sessions that were replayed, with their subagents.
    pub sessions: u64,
    /// Whether there are more that were not.
    pub more_sessions: bool,
    pub is_out_of_time: bool,
    pub requests: u64,
    /// What the model read in all requests.
    pub tokens_read: u64,
    /// Tokens of all tool results, once each.
    pub result_tokens: u64,
    pub mechanisms: BTreeMap<&'static str, MechanismReach>,
    /// Tokens of results that neither hooks nor a gateway could touch.
    pub untouched_tokens: u64,
    pub verdict: ReachVerdict,
}

/// What one mechanism could touch and net.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MechanismReach {
    pub results: u64,
    /// Tokens of these results, once each.
    pub tokens: u64,
    /// Of all tokens of results, 0 to 1.
    pub share: f64,
    /// Once each.
    pub tokens_cut: u64,
    pub lines_cut: u64,
    /// Of the cut lines, those that were edited, quoted or read again afterwards.
    pub lines_needed: u64,
    pub results_with_needed_line: u64,
    /// Over all requests. Negative where it would cost more than it saves.
    pub net_tokens: i64,
    /// Of what the model read, -1 to 1.
    pub net_share: f64,
    pub is_worth_it: bool,
}

/// Whether tamis is worth it for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReachVerdict {
    WorthIt,
    NotWorthIt,
    TooLittleToTell,
}

/// What tamis could touch of past sessions. The trace must be up to date. `progress` gets a client and the number of its sessions so
/// far. Writes nothing.
pub fn reach(
    trace: &Trace,
    sieve: &Sieve,
    options: ReachOptions,
    progress: &mut dyn FnMut(Client, u64),
) -> Result<ReachReport, TraceError> {
    let mut report = ReachReport { clients: Vec::new(), rules: RULES };
    for client in Client::ALL {
        report.clients.extend(client_reach(trace, sieve, *client, options, progress)?);
    }
    Ok(report)
}

fn client_reach(
    trace: &Trace,
    sieve: &Sieve,
    client: Client,
    options: ReachOptions,
    progress: &mut dyn FnMut(Client, u64),
) -> Result<Option<ClientReach>, TraceError> {
    let started = Instant::now();
    let filter = SessionFilter { provider: Some(client), since: options.since, ..SessionFilter::default() };
    let sessions = trace.sessions(&filter, None, options.sessions.saturating_add(1))?;
    if sessions.is_empty() {
        return Ok(None);
    }
    let mut found = FoundSums::default();
    let mut replayed = 0;
    let mut is_out_of_time = false;
    for session in sessions.iter().take(options.sessions) {
        is_out_of_time = replayed > 0 && started.elapsed() >= options.time;
        if is_out_of_time {
            break;
        }
        found.add_session(trace, sieve, session)?;
        replayed += 1;
        progress(client, replayed);
    }
    let more_sessions = sessions.len() as u64 > replayed;
    found.tool_definitions = options.tool_definitions * found.requests;
    Ok(Some(found.close(client, replayed, more_sessions, is_out_of_time)))
}

/// The sums of the sessions of one client.
#[derive(Default)]
struct FoundSums {
    requests: u64,
    tokens: Tokens,
    result_tokens: u64,
    hooks: SavingsSums,
    tools: SavingsSums,
    gateway: SavingsSums,
    /// What definitions of tools would have cost, over all requests.
    tool_definitions: u64,
}

impl FoundSums {
    fn add_session(&mut self, trace: &Trace, sieve: &Sieve, session: &Session) -> Result<(), TraceError> {
        let mut family = trace.subagents(session)?;
        family.push(session.clone());
        for session in &family {
            let account = trace.account(session)?;
            self.requests += account.requests().len() as u64;
            self.tokens = self.tokens.plus(account.total());
        }
        let replay = |reaches: fn(&ReplayedCall<'_>) -> bool| {
            let options = SavingsOptions {
                session: Some(session.clone()),
                examples: 0,
                reaches: Some(reaches),
                ..SavingsOptions::default()
            };
            let mut go_on = |_| std::ops::ControlFlow::Continue(());
            tamis_savings::estimate(trace, sieve, &options, &mut go_on)
        };
        let report = replay(|call| is_hooked(call) || is_behind_gateway(call))?;
        self.result_tokens += report.result_tokens;
        for (tool, sums) in &report.by_tool {
            let of = if is_foreign(tool) { &mut self.gateway } else { &mut self.hooks };
            add(of, sums);
        }
        let report = replay(is_replaceable)?;
        add(&mut self.tools, &report.totals);
        Ok(())
    }

    fn close(&self, client: Client, sessions: u64, more_sessions: bool, is_out_of_time: bool) -> ClientReach {
        let mechanisms = BTreeMap::from(
            [
                ("hooks", &self.hooks, 0),
                ("tools", &self.tools, self.tool_definitions),
                ("gateway", &self.gateway, 0),
            ]
            .map(|(name, sums, definitions)| (name, self.mechanism(sums, definitions))),
        );
        let touched = self.hooks.tokens_before + self.gateway.tokens_before;
        let verdict = if self.hooks.results + self.gateway.results < FEWEST_RESULTS {
            ReachVerdict::TooLittleToTell
        } else if ["hooks", "gateway"].iter().any(|name| mechanisms[name].is_worth_it) {
            ReachVerdict::WorthIt
        } else {
            ReachVerdict::NotWorthIt
        };
        ClientReach {
            client: client.name(),
            sessions,
            more_sessions,
            is_out_of_time,
            requests: self.requests,
            tokens_read: self.tokens.read(),
            result_tokens: self.result_tokens,
            mechanisms,
            untouched_tokens: self.result_tokens.saturating_sub(touched),
            verdict,
        }
    }

    fn mechanism(&self, sums: &SavingsSums, definitions: u64) -> MechanismReach {
        let read = self.tokens.read();
        let average_request = read.checked_div(self.requests).unwrap_or(0);
        let net_tokens = net_tokens(sums, average_request) - i64::try_from(definitions).unwrap_or(i64::MAX);
        let net_share = net_tokens as f64 / read.max(1) as f64;
        MechanismReach {
            results: sums.results,
            tokens: sums.tokens_before,
            share: sums.tokens_before as f64 / self.result_tokens.max(1) as f64,
            tokens_cut: sums.tokens_cut,
            lines_cut: sums.lines_cut,
            lines_needed: sums.lines_needed(),
            results_with_needed_line: sums.results_with_needed_line,
            net_tokens,
            net_share,
            is_worth_it: net_share >= WORTH_SHARE,
        }
    }
}

/// What would not have been sent, over all requests.
fn net_tokens(sums: &SavingsSums, average_request: u64) -> i64 {
    let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    let saved = sums.tokens_cut + sums.tokens_not_resent;
    // What is recovered is carried as often as what was cut.
    let carried = saved as f64 / sums.tokens_cut.max(1) as f64;
    let recovered = (sums.recovery_tokens as f64 * carried) as u64;
    signed(saved) - signed(recovered) - signed(sums.results_with_needed_line * average_request)
}

fn add(to: &mut SavingsSums, more: &SavingsSums) {
    to.results += more.results;
    to.tokens_before += more.tokens_before;
    to.tokens_cut += more.tokens_cut;
    to.lines_cut += more.lines_cut;
    to.lines_edited += more.lines_edited;
    to.lines_quoted += more.lines_quoted;
    to.lines_read_again += more.lines_read_again;
    to.results_with_needed_line += more.results_with_needed_line;
    to.recovery_tokens += more.recovery_tokens;
    to.tokens_not_resent += more.tokens_not_resent;
}

/// Whether the client's hooks would prune this result.
fn is_hooked(call: &ReplayedCall<'_>) -> bool {
    let starts_later = call.details.range.is_some_and(|(first, _)| first > 1);
    let hooks = call.client.hooks();
    let is_part = starts_later && call.details.tool_kind == ToolKind::Read;
    let can_reach_failures = call.client != Client::ClaudeCode && call.details.tool_kind == ToolKind::Run;
    hooks.is_logged_name(call.tool) && !is_part && (!call.has_failed || can_reach_failures)
}

/// Whether this result is of another MCP server, and large enough for a gateway.
fn is_behind_gateway(call: &ReplayedCall<'_>) -> bool {
    is_foreign(call.tool) && call.bytes >= GATEWAY_CHARS && !call.has_failed
}

/// Whether a tool is of an MCP server that is not tamis, as clients name such tools.
fn is_foreign(tool: &str) -> bool {
    tool.starts_with("mcp_") && !tool.trim_start_matches("mcp_").trim_start_matches('_').starts_with("tamis")
}

/// Whether tamis has a tool for this call of the client's own.
fn is_replaceable(call: &ReplayedCall<'_>) -> bool {
    let is_of_kind = matches!(call.details.tool_kind, ToolKind::Run | ToolKind::Read | ToolKind::Search);
    is_of_kind
        && !call.tool.starts_with("mcp_")
        && (!call.has_failed || call.details.tool_kind == ToolKind::Run)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tamis_logs::tool_kinds::CallDetails;

    use super::*;

    #[test]
    fn each_result_is_reached_by_the_mechanisms_that_are_for_it() {
        let claude = Client::ClaudeCode;
        // Client, tool, arguments, whether it failed, bytes; hooks, gateway, tools.
        for (client, tool, arguments, has_failed, bytes, expected) in [
            (claude, "Bash", json!({"command": "ls"}), false, 2_000, (true, false, true)),
            (claude, "Bash", json!({"command": "ls"}), true, 2_000, (false, false, true)),
            (claude, "Read", json!({"file_path": "/a"}), false, 2_000, (true, false, true)),
            (claude, "Read", json!({"file_path": "/a", "offset": 9}), false, 2_000, (false, false, true)),
            (claude, "Glob", json!({"pattern": "*"}), false, 2_000, (false, false, true)),
            (claude, "WebFetch", json!({"url": "x"}), false, 9_000, (false, false, false)),
            (claude, "mcp__jira__search", json!({}), false, 9_000, (false, true, false)),
            (claude, "mcp__jira__search", json!({}), false, 3_999, (false, false, false)),
            (claude, "mcp__tamis__read", json!({"file_path": "/a"}), false, 9_000, (false, false, false)),
            (Client::Codex, "exec_command", json!({"cmd": "ls"}), true, 2_000, (true, false, true)),
            (Client::Codex, "apply_patch", json!("x"), false, 9_000, (false, false, false)),
            (Client::Gemini, "read_file", json!({"file_path": "/a"}), true, 2_000, (false, false, false)),
            (Client::Gemini, "mcp_jira_search", json!({}), false, 9_000, (false, true, false)),
            (Client::OpenCode, "grep", json!({"pattern": "x"}), false, 2_000, (true, false, true)),
        ] {
            let details = CallDetails::of(tool, &arguments);
            let call = ReplayedCall { client, tool, details: &details, has_failed, bytes };
            let found = (is_hooked(&call), is_behind_gateway(&call), is_replaceable(&call));
            assert_eq!(found, expected, "{tool} {arguments} {has_failed} {bytes}");
        }
    }

    #[test]
    fn the_net_is_over_all_requests_and_may_be_negative() {
        // Cut 1,000 in the first request and 4,000 in later ones, so each token was carried five times.
        let sums = SavingsSums {
            results: 30,
            tokens_before: 3_000,
            tokens_cut: 1_000,
            tokens_not_resent: 4_000,
            recovery_tokens: 200,
            results_with_needed_line: 1,
            ..SavingsSums::default()
        };
        let found = |input: u64| FoundSums {
            requests: 10,
            tokens: Tokens { input, ..Tokens::default() },
            result_tokens: 10_000,
            hooks: sums,
            tools: sums,
            tool_definitions: 10 * 300,
            ..FoundSums::default()
        };
        // 5,000 less 200 × 5 and one more request of 2,000.
        let reach = found(20_000).close(Client::Codex, 3, false, false);
        let hooks = reach.mechanisms["hooks"];
        assert_eq!((hooks.net_tokens, hooks.net_share, hooks.share), (2_000, 0.1, 0.3));
        assert_eq!((reach.untouched_tokens, reach.verdict), (7_000, ReachVerdict::WorthIt));
        // Definitions of 300 tokens in ten requests.
        assert_eq!(reach.mechanisms["tools"].net_tokens, -1_000);
        // The same with a request of 20,000 is a loss.
        let reach = found(200_000).close(Client::Codex, 3, true, true);
        assert_eq!(
            (reach.mechanisms["hooks"].net_tokens, reach.verdict),
            (-16_000, ReachVerdict::NotWorthIt)
        );
        // A result of hooks is one of tools too, and counts once.
        for (hooks, gateway, tools, verdict) in [
            (10, 9, 30, ReachVerdict::TooLittleToTell),
            (0, 0, 30, ReachVerdict::TooLittleToTell),
            (10, 10, 0, ReachVerdict::WorthIt),
        ] {
            let of = |results| SavingsSums { results, ..sums };
            let found =
                FoundSums { hooks: of(hooks), gateway: of(gateway), tools: of(tools), ..found(20_000) };
            assert_eq!(
                found.close(Client::Codex, 1, false, false).verdict,
                verdict,
                "{hooks} {gateway} {tools}"
            );
        }
    }
}
