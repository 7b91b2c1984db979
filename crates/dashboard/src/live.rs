//! What the page is sent while sessions are written: calls, their results, and the rows of the page Now; and that something was pruned.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;
use tamis_logs::event::{EventBody, EventStream, LogEvent, Millis};
use tamis_logs::readers::Relation;
use tamis_redact::Redacted;
use tamis_trace::{Session, Trace, TraceError};

use crate::now::{NowSession, folder_name};
use crate::now_tail::describe;
use crate::{Dashboard, PageError, PageErrorKind};

/// Older calls are not live: a log was copied here, or is read for the first time.
const LIVE_MS: Millis = 10 * 60 * 1000;
/// Results are awaited this long.
const OPEN_MS: Millis = 2 * 60 * 60 * 1000;
/// Clients write some events later than others that have the same time.
const LATE_MS: Millis = 60 * 1000;
/// Calls that are made up for after a connection was lost, and sessions that are read for them.
const MOST_MISSED: usize = 2000;
const MOST_SESSIONS: usize = 500;
/// Calls and results that a page gets at first.
const MOST_AT_FIRST: usize = 200;
/// Calls and rows of one look; more are not sent.
const MOST_CALLS: usize = 5000;
const MOST_ROWS: usize = 200;
/// Events that are read at once when going back in a log.
const STEP_BACK: u64 = 256;
/// Calls whose results are awaited.
const MOST_OPEN: usize = 4096;
/// After an error.
const PAUSE: Duration = Duration::from_secs(2);
/// Between two looks at the ledger.
const LEDGER_EVERY: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A call of a tool, or its result, in any session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveCall {
    pub session: String,
    pub client: &'static str,
    pub client_name: &'static str,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub project: Option<Redacted>,
    pub is_subagent: bool,
    /// The number of this event in its session.
    pub event: u64,
    pub at: Option<Millis>,
    /// Of a result, the number of its call's event, where that is known.
    pub of: Option<u64>,
    pub is_result: bool,
    pub failed: bool,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub tool: Option<Redacted>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub argument: Option<Redacted>,
}

/// What the page is sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LiveMessage {
    /// The first message.
    Hello {
        server: &'static str,
        at: Millis,
        /// The number of the last event of agents; none where agents are not served.
        events_last: Option<i64>,
    },
    Call(LiveCall),
    /// The row of a session that changed.
    Session(Box<NowSession>),
    /// Something was pruned or recovered, by whichever process.
    Prune,
    /// Something was not sent: what the page shows must be loaded again.
    Gap,
}

/// Receives what is followed.
pub struct LiveSink<'s> {
    /// From now on everything is sent.
    pub ready: &'s dyn Fn(),
    pub send: &'s dyn Fn(LiveMessage),
    pub is_ended: &'s dyn Fn() -> bool,
}

/// Calls since a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissedCalls {
    /// In order of their time.
    pub calls: Vec<LiveCall>,
    /// Whether there were more.
    pub is_cut: bool,
}

/// Calls without a result, by session and id, the oldest first.
#[derive(Default)]
struct OpenCalls {
    calls: HashMap<(String, String), (u64, Redacted, Option<Redacted>)>,
    order: VecDeque<(String, String)>,
}

impl OpenCalls {
    /// The message for an event that is a call or a result.
    fn message(&mut self, session: &Session, event_number: u64, event: &LogEvent<'_>) -> Option<LiveCall> {
        let key = |id: &str| (session.id.clone(), id.to_owned());
        let (of, is_result, failed, tool, argument) = match &event.body {
            EventBody::ToolCall(call) => {
                let (tool, argument, _) = describe(call);
                if let Some(id) = &call.id {
                    self.put(key(id), (event_number, tool.clone(), argument.clone()));
                }
                (None, false, false, Some(tool), argument)
            }
            EventBody::ToolResult(result) => {
                let call = result.id.as_ref().and_then(|id| self.calls.remove(&key(id)));
                let (of, tool, argument) = match call {
                    Some((of, tool, argument)) => (Some(of), Some(tool), argument),
                    None => (None, None, None),
                };
                (of, true, result.failed, tool, argument)
            }
            _ => return None,
        };
        let path = session.root();
        Some(LiveCall {
            session: session.id.clone(),
            client: session.provider.id(),
            client_name: session.provider.display_name(),
            project: path.and_then(|path| folder_name(std::path::Path::new(path.as_str()))),
            is_subagent: session.relation == Some(Relation::Subagent) || event.stream != EventStream::Main,
            event: event_number,
            at: event.at,
            of,
            is_result,
            failed,
            tool,
            argument,
        })
    }

    fn put(&mut self, key: (String, String), call: (u64, Redacted, Option<Redacted>)) {
        if self.calls.insert(key.clone(), call).is_none() {
            self.order.push_back(key);
        }
        while self.calls.len() > MOST_OPEN {
            let Some(oldest) = self.order.pop_front() else { break };
            self.calls.remove(&oldest);
        }
        // Calls that have their result are only removed from the table, so that a result need not search the order.
        if self.order.len() > 2 * MOST_OPEN {
            self.order.retain(|key| self.calls.contains_key(key));
        }
    }
}

impl Dashboard {
    pub fn hello(&self, events_last: Option<i64>) -> LiveMessage {
        LiveMessage::Hello {
            server: self.settings.version,
            at: Timestamp::now().as_millisecond(),
            events_last,
        }
    }

    /// Follows all sessions until the sink has ended. Blocks.
    pub fn follow_sessions(&self, sink: &LiveSink<'_>) {
        if self.services.sessions().is_none() {
            (sink.ready)();
        }
        while !(sink.is_ended)() {
            match self.follow_once(sink) {
                Ok(()) => return,
                // There are none to follow, only agents.
                Err(PageError { kind: PageErrorKind::Unavailable, .. }) => wait(sink, PAUSE),
                Err(error) => {
                    tracing::warn!(%error, "cannot follow sessions");
                    (sink.send)(LiveMessage::Gap);
                    wait(sink, PAUSE);
                }
            }
        }
    }

    /// Follows the ledger of prunes until the sink has ended. Blocks.
    pub fn follow_prunes(&self, sink: &LiveSink<'_>) {
        let position = || {
            let read = self.services.sieve.ledger_position();
            read.inspect_err(|error| tracing::debug!(%error, "cannot read the ledger")).ok()
        };
        (sink.ready)();
        let mut last = None;
        while !(sink.is_ended)() {
            let next = position();
            if next.is_some() && next != last {
                last = next;
                (sink.send)(LiveMessage::Prune);
            }
            wait(sink, LEDGER_EVERY);
        }
    }

    fn follow_once(&self, sink: &LiveSink<'_>) -> Result<(), PageError> {
        let trace = self.trace()?;
        let mut watch = trace.watch()?;
        (sink.ready)();
        let mut open = open_calls(trace)?;
        let look = std::cell::RefCell::new((BTreeSet::new(), 0_usize));
        let mut visit = |session: &Session, number: u64, event: &LogEvent<'_>| {
            let (changed, calls) = &mut *look.borrow_mut();
            if !changed.contains(&session.id) {
                changed.insert(session.id.clone());
            }
            let call = open.message(session, number, event).filter(|call| is_live(call.at));
            if let Some(call) = call {
                *calls += 1;
                match (*calls).cmp(&MOST_CALLS) {
                    std::cmp::Ordering::Less => (sink.send)(LiveMessage::Call(call)),
                    std::cmp::Ordering::Equal => (sink.send)(LiveMessage::Gap),
                    std::cmp::Ordering::Greater => {}
                }
            }
            if (sink.is_ended)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // Looks are at least 250 ms apart, and so are the rows of a session.
        let mut looked = || {
            let (changed, _) = look.take();
            self.send_rows(trace, changed, sink);
        };
        Ok(watch.follow_log(sink.is_ended, &mut visit, &mut looked)?)
    }

    fn send_rows(&self, trace: &Trace, changed: BTreeSet<String>, sink: &LiveSink<'_>) {
        if changed.len() > MOST_ROWS {
            (sink.send)(LiveMessage::Gap);
            return;
        }
        let mut sent = BTreeSet::new();
        for id in changed {
            match self.now_row(trace, &id) {
                Ok(Some(row)) if sent.insert(row.id.clone()) => {
                    (sink.send)(LiveMessage::Session(Box::new(row)));
                }
                Ok(_) => {}
                // It is gone again.
                Err(error) => tracing::debug!(%error, "cannot read a session"),
            }
        }
    }

    /// The calls and results since this time, and a minute before it, since clients write some late; without a time, the latest ones,
    /// of which none counts as missing.
    pub fn missed_calls(&self, since: Option<Millis>) -> Result<MissedCalls, PageError> {
        if self.services.sessions().is_none() {
            return Ok(MissedCalls::default());
        }
        let (trace, is_first) = (self.trace()?, since.is_none());
        let since =
            since.unwrap_or_else(|| Timestamp::now().as_millisecond() - LIVE_MS).saturating_sub(LATE_MS);
        let sessions = trace.active_sessions(since, true, MOST_SESSIONS + 1)?;
        let mut missed = MissedCalls { calls: Vec::new(), is_cut: sessions.len() > MOST_SESSIONS };
        let mut open = OpenCalls::default();
        for session in sessions.iter().take(MOST_SESSIONS) {
            missed.calls.extend(calls_since(trace, session, since, &mut open)?);
            // More are not sent, and the page loads all that it shows again.
            if !is_first && missed.calls.len() > MOST_MISSED {
                break;
            }
        }
        missed.calls.sort_by_key(|call| call.at);
        let most = if is_first { MOST_AT_FIRST } else { MOST_MISSED };
        let surplus = missed.calls.len().saturating_sub(most);
        missed.is_cut = !is_first && (missed.is_cut || surplus > 0);
        missed.calls.drain(..surplus);
        Ok(missed)
    }
}

fn wait(sink: &LiveSink<'_>, pause: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < pause && !(sink.is_ended)() {
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn is_live(at: Option<Millis>) -> bool {
    at.is_none_or(|at| at > Timestamp::now().as_millisecond() - LIVE_MS)
}

/// The calls that have no result yet, so that a result that comes now finds its call.
fn open_calls(trace: &Trace) -> Result<OpenCalls, PageError> {
    let since = Timestamp::now().as_millisecond() - OPEN_MS;
    let mut open = OpenCalls::default();
    for session in trace.active_sessions(since, true, MOST_SESSIONS)? {
        calls_since(trace, &session, since, &mut open)?;
    }
    Ok(open)
}

/// The calls of a session since then, none where its log is being replaced; those without a result are open. The log is read backwards,
/// in larger and larger parts.
fn calls_since(
    trace: &Trace,
    session: &Session,
    since: Millis,
    open: &mut OpenCalls,
) -> Result<Vec<LiveCall>, TraceError> {
    let mut many = STEP_BACK;
    loop {
        let first = session.summary.events.saturating_sub(many);
        let (mut is_enough, mut calls) = (first == 0, Vec::new());
        let read = trace.events(session, first, &mut |number, event| {
            is_enough |= event.at.is_some_and(|at| at < since);
            let call = open.message(session, number, event);
            calls.extend(call.filter(|call| call.at.is_some_and(|at| at >= since)));
            ControlFlow::Continue(())
        });
        match read {
            Err(TraceError::Log { .. } | TraceError::Changed { .. } | TraceError::NoSuchSession { .. }) => {
                return Ok(Vec::new());
            }
            read => read?,
        };
        if is_enough || calls.len() > MOST_MISSED {
            return Ok(calls);
        }
        many *= 4;
    }
}
