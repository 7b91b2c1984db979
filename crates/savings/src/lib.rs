//! What pruning would have saved in past sessions, and what it would have cost.
//!
//! [`estimate`] replays sessions. Every tool result of some size goes through the same engine and markers as in the product's
//! tools, with the goal that the agent would have given and with what the session was already shown. The rest of the session
//! then shows what the agent needed of what was cut: a cut line that it edited, quoted or read again afterwards is a cost, and
//! is listed.
//!
//! It is an estimate: an agent that had seen less might have acted differently, and a line can be needed without a trace in
//! the log. This crate never writes anything, neither originals nor the ledger.

mod client_output;
mod cut_lines;
mod lines;
mod reads;
mod recorder;
mod replay;
mod report;
mod result_kind;

use std::ops::ControlFlow;

use tamis_clients::Client;
use tamis_logs::tool_kinds::CallDetails;
use tamis_sieve::Sieve;
use tamis_trace::{Session, SessionFilter, Trace, TraceError};

use recorder::Recorder;
use replay::Replay;

pub use lines::{bare_line, is_distinctive};
pub use reads::{FileEdits, ReadTarget};
pub use report::{NeededLine, ReplayedResult, SavingsPart, SavingsReport, SavingsSums, SkippedResults};

/// How to read the report; part of it.
const RULES: &[&str] = &[
    "Results of reading, searching, fetching and running are put through the sieve with the defaults of tamis's tools, each \
     for the agent's latest message before the call, the call itself, and the person's latest message. Of a result, only what the client would have \
     sent to the model counts. Line numbers that a client puts before a file's lines are left out on both sides, and markers \
     count as tokens.",
    "Runs of six lines or more that the session was already shown word for word are cut too: since its last compaction, \
     within the latest tool results that the client keeps (by their number and tokens, or `shown_window`) or that later \
     requests had cached, and not themselves cut then. What the agent wrote in its calls counts as shown too. They are \
     the part `already_shown`; every other cut belongs to the part of its result's kind. The parts add up to the totals.",
    "A cut line counts as edited when a later edit or patch of the same file replaces it or leans on it, as quoted when it \
     stands whole in the agent's later words, commands, patterns or files, and as read again when a later read of the same \
     file, or the same command, returns it, unless the agent changed the file, or before the command any file, in between. \
     Only distinctive lines count as quoted or read again: 12 characters or more, 8 of them letters or digits, no import, \
     rule or the like. A line that the agent knows from a kept line, from the person, or from its own writing does not \
     count. Lines that were cut because they were already shown, and are read once more, are counted apart as \
     shown_lines_read_again: the agent had them from where they were shown first.",
    "net_tokens is tokens_cut, already_shown included, less one recovery call for each result with a needed line: 150 tokens \
     and the cut blocks that hold the needed lines.",
    "tokens_not_resent is another saving, not in the others: what later requests of the same context would not have carried \
     again, mostly at the price of cached input.",
];

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
    /// Tokens of tool results within which lines count as already shown, 0 for none; without it, the tokens and the number of
    /// results that the client keeps.
    pub shown_window: Option<usize>,
    /// Which results are pruned; without it, those of reading, searching, fetching and running.
    pub reaches: Option<fn(&ReplayedCall<'_>) -> bool>,
}

/// A call whose result may be pruned.
#[derive(Clone, Copy, Debug)]
pub struct ReplayedCall<'a> {
    pub client: Client,
    pub tool: &'a str,
    pub details: &'a CallDetails,
    pub has_failed: bool,
    /// Bytes of the result that the client sent.
    pub bytes: usize,
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
            shown_window: None,
            reaches: None,
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

/// Plays pruning over past sessions. Writes nothing anywhere.
pub fn estimate(
    trace: &Trace,
    sieve: &Sieve,
    options: &SavingsOptions,
    watch: &mut dyn FnMut(SavingsProgress) -> ControlFlow<()>,
) -> Result<SavingsReport, TraceError> {
    let (sessions, more_sessions) = sessions_to_replay(trace, options)?;
    let mut recorder = Recorder::new(options.clone());
    recorder.savings.more_sessions = more_sessions;
    recorder.savings.rules = RULES;
    let mut progress = SavingsProgress { of_sessions: sessions.len() as u64, ..Default::default() };
    for session in &sessions {
        recorder.session = trace.short_id(&session.id)?;
        recorder.provider = Some(session.provider);
        let mut replay = Replay::new(session.provider, options.shown_window);
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
