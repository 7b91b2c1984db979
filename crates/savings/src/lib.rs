//! What pruning would have saved in past sessions, and what it would have cost.
//!
//! [`estimate`] replays sessions. Every tool result of some size goes through the same engine and markers as in the product's
//! tools, with the goal that the agent would have given. The rest of the session then shows what the agent needed of what was
//! cut: a cut line that it edited or quoted afterwards is a cost, and is listed.
//!
//! It is an estimate: an agent that had seen less might have acted differently, and a line can be needed without being edited
//! or quoted. This crate never writes anything, neither originals nor the ledger.

mod cut_lines;
mod lines;
mod replay;

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use serde::Serialize;
use tamis_clients::Client;
use tamis_redact::Redacted;
use tamis_sieve::Sieve;
use tamis_trace::{Session, SessionFilter, Trace, TraceError, preview};

use cut_lines::{Cutout, Need};
use replay::{Pending, Replay};

/// How to read the report; part of it.
const RULES: &[&str] = &[
    "Results of reading, searching, fetching and running are put through the sieve with the defaults of tamis's tools, each \
     for the person's last words and the agent's last words before the call. Line numbers that a client puts before a file's \
     lines are left out on both sides, and markers count as tokens.",
    "A cut line counts as edited when a later edit or patch of the same file replaces it or leans on it, and as quoted when \
     it stands whole in the agent's later words, commands, patterns or files. Only distinctive lines count as quoted: 12 \
     characters or more, 8 of them letters or digits, no import, rule or the like, and not known to the agent from a kept line, \
     from the person, or from its own writing.",
    "net_tokens takes off, for each result with a needed line, one recovery call: 150 tokens and the cut blocks that hold \
     the needed lines.",
    "tokens_not_resent is another saving, not in the others: what later requests of the same context would not have carried \
     again, mostly at the price of cached input.",
];

/// Tokens of a call that recovers lines, without the lines.
const RECOVERY_CALL: u64 = 150;
/// Needed lines that are shown of one result.
const LINES_SHOWN: usize = 3;
const LINE_CHARS: usize = 160;

/// Options of a replay.
#[derive(Clone, Debug)]
pub struct SavingsOptions {
    /// Which sessions; subagents' are always among them.
    pub filter: SessionFilter,
    /// Only this one, with its subagents.
    pub session: Option<Session>,
    /// Maximum number of sessions, the latest first.
    pub limit: usize,
    pub threshold: f32,
    /// Smaller results are not worth a question.
    pub least_bytes: usize,
    pub most_bytes: usize,
    /// Results that are shown one by one.
    pub examples: usize,
}

impl Default for SavingsOptions {
    fn default() -> SavingsOptions {
        SavingsOptions {
            filter: SessionFilter::default(),
            session: None,
            limit: 100,
            threshold: tamis_prune::DEFAULT_THRESHOLD,
            least_bytes: 1_000,
            most_bytes: 400_000,
            examples: 10,
        }
    }
}

/// How far a replay is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavingsProgress {
    pub sessions: u64,
    pub of_sessions: u64,
    pub results: u64,
}

/// What a replay found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SavingsReport {
    pub sessions: u64,
    /// Sessions whose logs could not be read.
    pub sessions_unread: u64,
    /// Whether there are more sessions than were requested.
    pub more_sessions: bool,
    pub totals: SavingsSums,
    pub by_tool: BTreeMap<String, SavingsSums>,
    pub by_provider: BTreeMap<&'static str, SavingsSums>,
    pub skipped: SkippedResults,
    /// Results with the most cut lines that were needed afterwards.
    pub worst: Vec<ReplayedResult>,
    /// Results with the most tokens cut.
    pub largest: Vec<ReplayedResult>,
    pub rules: &'static [&'static str],
}

/// Sums over results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SavingsSums {
    /// Results that were put through the sieve.
    pub results: u64,
    /// Of those, how many were cut.
    pub results_cut: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub tokens_cut: u64,
    pub lines: u64,
    pub lines_cut: u64,
    pub results_with_edited_line: u64,
    pub results_with_quoted_line: u64,
    pub lines_edited: u64,
    pub lines_quoted: u64,
    /// What recovering the needed lines would have cost.
    pub recovery_tokens: u64,
    /// `tokens_cut` less `recovery_tokens`.
    pub net_tokens: i64,
    pub tokens_not_resent: u64,
    /// Of the cut lines, the share that was edited or quoted afterwards, 0 to 1.
    pub needed_share: f64,
}

/// Results that were not put through the sieve, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkippedResults {
    pub too_small: u64,
    pub too_large: u64,
    pub already_pruned: u64,
    /// The same result of the same call in another log.
    pub copies: u64,
    pub without_goal: u64,
    /// Of tools that tamis would not stand before, or failed.
    pub other: u64,
}

/// One result, played again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReplayedResult {
    pub session_id: String,
    pub event_index: u64,
    pub tool: String,
    pub path: Option<String>,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub lines: u64,
    pub cut_lines: u64,
    pub lines_edited: u64,
    pub lines_quoted: u64,
    pub recovery_tokens: u64,
    /// Some of the needed lines.
    pub needed: Vec<NeededLine>,
}

/// A line that would have been cut, and was needed afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NeededLine {
    /// 1-based, in the result.
    pub line: u64,
    pub text: Redacted,
    /// `edited` or `quoted`.
    pub how: &'static str,
    /// The event that needed it.
    pub by_event: u64,
}

impl SavingsSums {
    fn seen(&mut self, result: &ReplayedResult) {
        self.results += 1;
        self.results_cut += u64::from(result.cut_lines > 0);
        self.tokens_before += result.tokens_before;
        self.tokens_after += result.tokens_after;
        self.tokens_cut += result.tokens_before.saturating_sub(result.tokens_after);
        self.lines += result.lines;
        self.lines_cut += result.cut_lines;
        self.close();
    }

    fn settled(&mut self, result: &ReplayedResult) {
        self.results_with_edited_line += u64::from(result.lines_edited > 0);
        self.results_with_quoted_line += u64::from(result.lines_quoted > 0);
        self.lines_edited += result.lines_edited;
        self.lines_quoted += result.lines_quoted;
        self.recovery_tokens += result.recovery_tokens;
        self.close();
    }

    fn close(&mut self) {
        let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        self.net_tokens = signed(self.tokens_cut) - signed(self.recovery_tokens);
        self.needed_share = (self.lines_edited + self.lines_quoted) as f64 / self.lines_cut.max(1) as f64;
    }
}

/// Plays pruning over past sessions. Writes nothing anywhere.
pub fn estimate(
    trace: &Trace,
    sieve: &Sieve,
    options: &SavingsOptions,
    watch: &mut dyn FnMut(SavingsProgress) -> ControlFlow<()>,
) -> Result<SavingsReport, TraceError> {
    let (sessions, more_sessions) = sessions_to_replay(trace, options)?;
    let mut recorder = Recorder { options: options.clone(), ..Recorder::default() };
    recorder.savings.more_sessions = more_sessions;
    recorder.savings.rules = RULES;
    let mut progress = SavingsProgress { of_sessions: sessions.len() as u64, ..Default::default() };
    for session in &sessions {
        recorder.session = trace.short_id(&session.id)?;
        recorder.provider = Some(session.provider);
        let mut replay = Replay::default();
        let mut flow = ControlFlow::Continue(());
        let read = trace.events(session, 0, &mut |number, event| {
            replay.take(number, event, sieve, &mut recorder);
            let results = recorder.savings.totals.results;
            if results != progress.results {
                progress.results = results;
                flow = watch(progress);
            }
            flow
        });
        replay.finish(&mut recorder);
        match read {
            Ok(()) => recorder.savings.sessions += 1,
            Err(TraceError::Log { .. } | TraceError::Changed { .. }) => recorder.savings.sessions_unread += 1,
            Err(error) => return Err(error),
        }
        progress.sessions += 1;
        if flow.is_break() || watch(progress).is_break() {
            return Err(TraceError::Cancelled);
        }
    }
    Ok(recorder.savings)
}

fn sessions_to_replay(trace: &Trace, options: &SavingsOptions) -> Result<(Vec<Session>, bool), TraceError> {
    if let Some(session) = &options.session {
        let subagents = trace.subagents(session)?;
        return Ok(([session.clone()].into_iter().chain(subagents).collect(), false));
    }
    let filter = SessionFilter { with_subagents: true, ..options.filter.clone() };
    let mut sessions = trace.sessions(&filter, None, options.limit.saturating_add(1))?;
    let more = sessions.len() > options.limit;
    sessions.truncate(options.limit);
    Ok((sessions, more))
}

/// Collects what a replay gives.
#[derive(Default)]
struct Recorder {
    options: SavingsOptions,
    savings: SavingsReport,
    session: String,
    provider: Option<Client>,
    met: HashSet<u64>,
}

impl Recorder {
    fn each_sums(&mut self, tool: &str, enter: impl Fn(&mut SavingsSums)) {
        enter(&mut self.savings.totals);
        enter(self.savings.by_tool.entry(tool.to_owned()).or_default());
        if let Some(provider) = self.provider {
            enter(self.savings.by_provider.entry(provider.id()).or_default());
        }
    }

    /// Whether this result of this call was met before, in a log that was copied.
    fn is_copy(&mut self, key: u64) -> bool {
        !self.met.insert(key)
    }

    /// Takes a result that was put through the sieve, cut or not.
    fn seen(&mut self, result: &ReplayedResult) {
        self.each_sums(&result.tool, |sums| sums.seen(result));
    }

    /// Takes a result once later needs of its cut lines are known.
    fn settled(&mut self, cutout: Cutout) {
        let Pending { mut result, blocks } = cutout.of;
        result.session_id = self.session.clone();
        let needed: Vec<_> = cutout.lines.iter().filter_map(|line| Some((line, line.need?))).collect();
        for (line, (need, event)) in &needed {
            let how = match need {
                Need::Edited => {
                    result.lines_edited += 1;
                    "edited"
                }
                Need::Quoted => {
                    result.lines_quoted += 1;
                    "quoted"
                }
            };
            if result.needed.len() < LINES_SHOWN {
                let text = preview(&line.text, LINE_CHARS);
                result.needed.push(NeededLine { line: line.number as u64, text, how, by_event: *event });
            }
        }
        if !needed.is_empty() {
            let holds = |first: usize, last: usize| {
                needed.iter().any(|(line, _)| (first..=last).contains(&line.number))
            };
            let lines: u64 = blocks
                .iter()
                .filter(|(first, last, _)| holds(*first, *last))
                .map(|(.., tokens)| tokens)
                .sum();
            result.recovery_tokens = RECOVERY_CALL + lines;
        }
        let tool = result.tool.clone();
        self.each_sums(&tool, |sums| sums.settled(&result));
        let most = self.options.examples;
        let cut = |result: &ReplayedResult| result.tokens_before.saturating_sub(result.tokens_after);
        keep_largest(&mut self.savings.largest, &result, most, cut);
        if !result.needed.is_empty() {
            let needed = |result: &ReplayedResult| (result.lines_edited, result.lines_quoted);
            keep_largest(&mut self.savings.worst, &result, most, needed);
        }
    }

    /// Takes tokens that would not have been sent again.
    fn not_resent(&mut self, tool: &str, tokens: u64) {
        self.each_sums(tool, |sums| sums.tokens_not_resent += tokens);
    }
}

/// Keeps a list of the largest, the largest first.
fn keep_largest<K: Ord>(
    list: &mut Vec<ReplayedResult>,
    new: &ReplayedResult,
    most: usize,
    key: impl Fn(&ReplayedResult) -> K,
) {
    let place = list.partition_point(|known| key(known) >= key(new));
    if place < most {
        list.insert(place, new.clone());
        list.truncate(most);
    }
}
