//! A session's summary: its turns, its counts, what it is about. It is built event by event, and a saved summary is continued
//! when the log has grown.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tamis_logs::event::{
    Content, EventBody, EventKind, EventStream, LogEvent, Millis, bounded, seconds_between,
};
use tamis_logs::readers::{ParsedLog, Relation, SessionFact, Unrecognised};
use tamis_logs::usage::Tokens;
use tamis_redact::{Redacted, excerpt};

use crate::accounting::UsageAccount;
use crate::step_boundaries::{StepBoundaries, is_act};

/// Letters of a text that is only shown in a list.
pub(crate) const PREVIEW_CHARS: usize = 200;

/// Calls whose results have not come yet, of which this many are remembered.
const MOST_OPEN_CALLS: usize = 256;

/// Names in a table of counts; more are counted under one name.
const MOST_NAMES: usize = 200;
const OTHERS: &str = "(others)";
/// Tools that a turn names, and letters of each name.
const MOST_TOOLS: usize = 20;
const TOOL_CHARS: usize = 60;

/// A turn: a person's message and everything until the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub number: u64,
    pub first_event: u64,
    pub events: u64,
    pub at: Option<Millis>,
    pub ended: Option<Millis>,
    /// The beginning of the person's message; empty when the session begins without one.
    pub preview: Redacted,
    pub steps: u64,
    pub tool_calls: u64,
    pub failed_tools: u64,
    /// The names of the tools that the agent itself called, up to [`MOST_TOOLS`] of them.
    pub tools: BTreeSet<Redacted>,
    pub tokens: Tokens,
    /// The most that the model read for one request.
    pub largest_context: u64,
}

/// How a tool was used in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolStats {
    pub calls: u64,
    pub failed: u64,
    /// Bytes of all its results.
    pub result_bytes: u64,
}

/// All that is known of a session without reading its log again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    pub native_id: Option<String>,
    pub root: Option<String>,
    pub root_hash: Option<String>,
    pub title: Option<Redacted>,
    pub version: Option<String>,
    pub agent_name: Option<String>,
    pub parent: Option<(String, Relation)>,
    pub started: Option<Millis>,
    pub ended: Option<Millis>,
    pub snippet: Option<Redacted>,
    pub events: u64,
    /// By [`EventKind`], in its order.
    pub counts: [u64; 9],
    pub sidechain_events: u64,
    pub tools: BTreeMap<String, ToolStats>,
    /// Records that no reader recognised, and how often.
    #[serde(rename = "drift")]
    pub unrecognised: BTreeMap<String, u64>,
    pub turns: u64,
    pub failed_tools: u64,
    turn: Option<Turn>,
    boundaries: StepBoundaries,
    open_calls: Vec<(String, String)>,
    #[serde(skip)]
    pub account: UsageAccount,
    /// Turns that ended since they were last taken.
    #[serde(skip)]
    finished: Vec<Turn>,
}

impl SessionSummary {
    pub(crate) fn fact(&mut self, fact: &SessionFact<'_>) {
        fn first(place: &mut Option<String>, value: &str) {
            if place.is_none() && !value.is_empty() {
                *place = Some(kept(value));
            }
        }
        match fact {
            SessionFact::Id(id) => first(&mut self.native_id, id),
            SessionFact::Root(root) => first(&mut self.root, root),
            SessionFact::RootHash(hash) => first(&mut self.root_hash, hash),
            SessionFact::Version(version) => first(&mut self.version, version),
            SessionFact::AgentName(name) => first(&mut self.agent_name, name),
            SessionFact::Title(title) => self.title = Some(preview(title, PREVIEW_CHARS)),
            SessionFact::Started(at) => self.started = self.started.or(Some(*at)),
            SessionFact::Parent { id, relation } => {
                self.parent.get_or_insert_with(|| (kept(id), *relation));
            }
        }
    }

    /// Takes what a record or a document states about its session, and what of it was not recognised.
    pub(crate) fn record(&mut self, parsed: &ParsedLog<'_>) {
        parsed.facts.iter().for_each(|fact| self.fact(fact));
        parsed.unrecognised.iter().for_each(|unrecognised| self.unrecognised(unrecognised));
    }

    fn unrecognised(&mut self, unrecognised: &Unrecognised<'_>) {
        let (what, name) = match unrecognised {
            Unrecognised::Record(name) => ("record", name),
            Unrecognised::Part(name) => ("part", name),
            Unrecognised::Unreadable(why) => ("unreadable", why),
        };
        *named(&mut self.unrecognised, &format!("{what}: {}", short_name(name, 80))) += 1;
    }

    pub(crate) fn event(&mut self, event: &LogEvent<'_>) {
        let kind = event.kind();
        let index = self.events;
        self.events += 1;
        self.counts[kind as usize] += 1;
        if event.stream == EventStream::Sidechain {
            self.sidechain_events += 1;
        }
        if let Some(at) = event.at {
            self.started = self.started.or(Some(at));
            // A clock that jumps back does not end a session before it began.
            self.ended = self.ended.max(Some(at));
        }
        if event.stream != EventStream::Sidechain && kind.begins_turn() {
            self.begin_turn(index, event);
        }
        self.within_turn(index, event);
    }

    fn begin_turn(&mut self, index: u64, event: &LogEvent<'_>) {
        let preview = preview(&event.body.prompt(), PREVIEW_CHARS);
        if self.snippet.is_none() && !preview.is_empty() {
            self.snippet = Some(preview.clone());
        }
        self.open_turn(index, event.at, preview);
    }

    fn open_turn(&mut self, index: u64, at: Option<Millis>, preview: Redacted) {
        self.finished.extend(self.turn.take());
        self.turn =
            Some(Turn { number: self.turns, first_event: index, at, ended: at, preview, ..Turn::default() });
        self.turns += 1;
        self.boundaries = StepBoundaries::default();
    }

    fn within_turn(&mut self, index: u64, event: &LogEvent<'_>) {
        let sidechain = event.stream == EventStream::Sidechain;
        if self.turn.is_none() && is_act(event.kind()) {
            self.open_turn(index, event.at, Redacted::default());
        }
        let reported = match &event.body {
            EventBody::TokenUsage(report) => {
                self.account.set_turn(self.turn.as_ref().map(|turn| turn.number));
                Some((self.account.take(report, event.at), report.tokens.read()))
            }
            _ => None,
        };
        let failed = match &event.body {
            EventBody::ToolCall(call) => {
                named(&mut self.tools, &call.name).calls += 1;
                if let Some(id) = &call.id {
                    if self.open_calls.len() == MOST_OPEN_CALLS {
                        self.open_calls.remove(0);
                    }
                    self.open_calls.push((bounded(id).to_owned(), bounded(&call.name).to_owned()));
                }
                false
            }
            EventBody::ToolResult(result) => {
                let failed = result.tool_failed();
                self.result_of(result.id.as_deref(), &result.content, failed);
                self.failed_tools += u64::from(failed);
                failed
            }
            _ => false,
        };
        let Some(turn) = &mut self.turn else { return };
        turn.events = index + 1 - turn.first_event;
        turn.ended = turn.ended.max(event.at);
        if let Some((entry, read)) = reported {
            turn.tokens = turn.tokens.plus(entry.added).minus(entry.taken);
            if !sidechain {
                turn.largest_context = turn.largest_context.max(read);
            }
        }
        turn.failed_tools += u64::from(failed);
        if let (EventBody::ToolCall(call), false) = (&event.body, sidechain)
            && turn.tools.len() < MOST_TOOLS
        {
            turn.tools.insert(preview(&call.name, TOOL_CHARS));
        }
        turn.tool_calls += u64::from(event.kind() == EventKind::ToolCall);
        // A turn's first event, the person's words, is in no step.
        let begins_turn = event.kind().begins_turn() && !sidechain;
        turn.steps += u64::from(!begins_turn && self.boundaries.begins_step(event));
    }

    fn result_of(&mut self, id: Option<&str>, content: &Content<'_>, failed: bool) {
        let open = id.and_then(|id| self.open_calls.iter().position(|(open, _)| open == bounded(id)));
        if let Some(index) = open {
            let (_, name) = self.open_calls.remove(index);
            let used = named(&mut self.tools, &name);
            used.failed += u64::from(failed);
            used.result_bytes += content.size() as u64;
        }
    }

    /// The turns that ended since the last call, and the open one.
    pub(crate) fn take_turns(&mut self) -> Vec<Turn> {
        let mut turns = std::mem::take(&mut self.finished);
        turns.extend(self.turn.clone());
        turns
    }

    pub fn count(&self, kind: EventKind) -> u64 {
        self.counts[kind as usize]
    }

    /// Seconds from the first to the last event.
    pub fn duration_seconds(&self) -> u64 {
        seconds_between(self.started, self.ended)
    }
}

/// A name as it is kept, which may be shown: without what a terminal would obey.
fn kept(name: &str) -> String {
    bounded(name).replace(char::is_control, "\u{fffd}")
}

/// The place of a name in a table that does not grow without end.
fn named<'a, T: Default>(table: &'a mut BTreeMap<String, T>, name: &str) -> &'a mut T {
    let name = if table.len() < MOST_NAMES || table.contains_key(name) { name } else { OTHERS };
    table.entry(short_name(name, 120)).or_default()
}

/// What a list shows of a text: its start, on one line.
pub fn preview(text: &str, max_chars: usize) -> Redacted {
    excerpt(text.trim_start(), max_chars).on_one_line()
}

/// The start of a name, as the key of a table.
fn short_name(name: &str, max_chars: usize) -> String {
    let mut short: String = name
        .trim_start()
        .chars()
        .take(max_chars + 1)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if short.chars().count() > max_chars {
        short.pop();
        short.pop();
        short.push('…');
    }
    short.truncate(short.trim_end().len());
    short
}
