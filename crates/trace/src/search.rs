//! Searching the events of all sessions: the latest sessions first, and in a session from its beginning.
//!
//! Bloom filters select the blocks that may match. Those are read from the logs and matched event by event: a filter alone never
//! gives a match, and the texts are only in the logs. Events are compared as they are shown, without their secrets. Filters and
//! raw bytes only select events with what a match must have, so that they tell nothing more.

mod query;

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value;
use tamis_codebase::{cores, in_parallel};
use tamis_logs::discovery::LogFormat;
use tamis_logs::event::{EventKind, EventStream, LogEvent, Millis, strings_of};
use tamis_redact::{Redacted, excerpt_around};

use crate::block_events;
use crate::bloom::BloomFilter;
use crate::db::{self, BlockRow, Blocks, FilterLocation};
use crate::error::TraceError;
use crate::event_details::redact_payload;
use crate::indexed_log::IndexedLog;
use crate::search_text;
use crate::segment::{self, Columns};
use crate::session::SessionFilter;
use crate::trace::Trace;
pub use query::CompiledQuery;

/// Sessions whose filters are checked between two checks of the clock.
const SESSIONS_AT_ONCE: usize = 256;
/// Pieces for each thread that are read before what was found is counted.
const MOST_AHEAD: usize = 32;

/// How a query is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TraceSearchMode {
    /// It occurs just so.
    #[default]
    Substring,
    /// Its words occur as words, in any order.
    Words,
    /// It is a regular expression.
    Regex,
}

/// A search. All of it is without regard to case.
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    pub query: String,
    pub mode: TraceSearchMode,
    /// Only events of these kinds; all when empty.
    pub kinds: Vec<EventKind>,
    /// Only in this session and its subagents', as far as the filter selects them.
    pub session: Option<String>,
    pub sessions: SessionFilter,
    /// Only results of tools that failed; a call that the person declined has not.
    pub only_failed: bool,
    /// Go on after this one.
    pub after: Option<MatchPosition>,
    pub most: usize,
}

/// Where a match is, in the order in which matches are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchPosition {
    pub started: Millis,
    pub session: String,
    pub event: u64,
}

/// An event that matches. Its payload may be long, so it is redacted only as far as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchMatch {
    pub place: MatchPosition,
    pub at: Option<Millis>,
    pub kind: EventKind,
    pub stream: EventStream,
    payload: Value,
}

/// Characters of an excerpt that are before the match.
const BEFORE_MATCH: usize = 75;

impl SearchMatch {
    /// What the event holds.
    pub fn payload(&self) -> Redacted<Value> {
        redact_payload(self.payload.clone())
    }

    /// Whether it is the result of a tool that failed.
    pub fn is_error(&self) -> bool {
        self.payload["is_error"] == true
    }

    /// The text that matches, in at most `max_chars` characters around the first match. `None` when no text of a call's
    /// arguments matches once they are redacted.
    pub fn excerpt(&self, finder: &CompiledQuery, max_chars: usize) -> Option<Redacted> {
        let around = |text: &str, at: usize| excerpt_around(text, at, BEFORE_MATCH, max_chars).0;
        if self.kind == EventKind::ToolCall {
            // The names of arguments announce secrets, so all arguments are redacted together.
            let mut texts = Vec::new();
            strings_of(&self.payload()["arguments"], &mut texts);
            return texts
                .into_iter()
                .map(Redacted::from)
                .find_map(|text| Some(around(&text, finder.find(&text)?)));
        }
        let text = self.payload["text"].as_str().or(self.payload["content"].as_str())?;
        let text = Redacted::from(text);
        Some(around(&text, finder.find(&text).unwrap_or(0)))
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    pub matches: Vec<SearchMatch>,
    /// Whether there may be more after the last.
    pub more: bool,
    /// Whether it was ended by its time limit; what was found until then is given.
    pub out_of_time: bool,
    /// Blocks of logs that were read, of all.
    pub blocks_read: u64,
}

/// A session as far as a search needs it.
struct Searched {
    started: Millis,
    id: String,
    log: IndexedLog,
}

/// What one thread reads.
struct Piece<'a> {
    session: &'a Searched,
    blocks: Vec<BlockRow>,
}

/// The matches in a piece; `None` when no thread got to it.
type Looked = Option<Result<Vec<SearchMatch>, TraceError>>;

/// A search in progress.
struct Run<'a> {
    trace: &'a Trace,
    search: &'a SearchRequest,
    query: CompiledQuery,
    blocks: Arc<Blocks>,
    /// Of each segment, the columns that may match.
    columns: HashMap<i64, Columns>,
    deadline: Instant,
    broken_off: &'a (dyn Fn() -> bool + Sync),
    found: SearchResults,
}

impl Trace {
    /// Searches until the time limit, or until `broken_off` returns true.
    pub fn search(
        &self,
        search: &SearchRequest,
        limit: Duration,
        broken_off: &(dyn Fn() -> bool + Sync),
    ) -> Result<SearchResults, TraceError> {
        let deadline = Instant::now() + limit;
        let query = CompiledQuery::of(search)?;
        let columns = self.database()?.read(|connection| db::columns(connection, &query.pieces))?;
        let blocks = self.blocks()?;
        let found = SearchResults::default();
        let run = Run { trace: self, search, query, blocks, columns, deadline, broken_off, found };
        let found = run.finished()?;
        if found.out_of_time && found.matches.is_empty() {
            return Err(TraceError::TooSlow { seconds: limit.as_secs() });
        }
        Ok(found)
    }
}

impl Run<'_> {
    fn finished(mut self) -> Result<SearchResults, TraceError> {
        let family = self.search.session.as_deref().map(|prefix| self.family(prefix)).transpose()?;
        self.look_into_sessions(family.as_deref())?;
        self.found.more = self.found.out_of_time || self.found.matches.len() > self.search.most;
        self.found.matches.truncate(self.search.most);
        Ok(self.found)
    }

    /// The logs of a session and its subagents.
    fn family(&self, prefix: &str) -> Result<Vec<i64>, TraceError> {
        let session = self.trace.session(prefix)?;
        let subagents = self.trace.subagents(&session)?;
        Ok(std::iter::once(&session).chain(&subagents).map(|session| session.log).collect())
    }

    /// Searches the sessions that the filter selects, of these logs if any are named.
    fn look_into_sessions(&mut self, logs: Option<&[i64]>) -> Result<(), TraceError> {
        let filter = SessionFilter { with_subagents: true, ..self.search.sessions.clone() };
        // The session that the last page ended in goes on, and then those after it.
        let mut after = self.search.after.as_ref().map(|place| (place.started, place.session.clone()));
        if let Some((_, session)) = &after
            && let Ok(session) = self.trace.session(session)
            && let Some(log) =
                self.trace.database()?.read(|connection| db::log_of(connection, session.log))?
        {
            self.look_into(&[Searched { started: session.place().0, id: session.id.clone(), log }])?;
        }
        while !self.is_over() {
            let place = after.as_ref().map(|(started, id)| (*started, id.as_str()));
            let rows = self.trace.database()?.read(|connection| {
                db::sessions_with_logs(connection, &filter, logs, place, SESSIONS_AT_ONCE)
            })?;
            let sessions: Vec<Searched> =
                rows.into_iter().map(|(started, id, log)| Searched { started, id, log }).collect();
            let Some(last) = sessions.last() else { break };
            after = Some((last.started, last.id.clone()));
            self.look_into(&sessions)?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.found.matches.len() > self.search.most || self.found.out_of_time
    }

    fn look_into(&mut self, sessions: &[Searched]) -> Result<(), TraceError> {
        let threads = cores();
        let mut pieces: VecDeque<Piece<'_>> = VecDeque::new();
        // Little at first, since the first sessions often have enough.
        let mut ahead = 2;
        for session in sessions {
            let Some(from) = first_event_in(self.search, session) else { continue };
            let blocks = self.blocks.get(&session.log.id).map_or(&[][..], Vec::as_slice);
            let candidates = blocks.iter().filter(|(block, filter)| {
                block.first_event + block.events > from
                    && block.kinds & self.query.kinds != 0
                    && self.may_have(filter)
            });
            let mut candidates = candidates.map(|(block, _)| block).peekable();
            match session.log.format {
                LogFormat::Lines(_) if !tamis_logs::reading::is_compressed(&session.log.source.path) => {
                    pieces.extend(candidates.map(|block| Piece { session, blocks: vec![block.clone()] }));
                }
                // These are read from their beginning each time, so all at once.
                _ if candidates.peek().is_some() => {
                    pieces.push_back(Piece { session, blocks: candidates.cloned().collect() });
                }
                _ => {}
            }
            while pieces.len() >= threads * ahead {
                let batch: Vec<Piece<'_>> = pieces.drain(..threads * ahead).collect();
                self.look_at(&batch)?;
                if self.is_over() {
                    return Ok(());
                }
                ahead = (ahead * 2).min(MOST_AHEAD);
            }
        }
        let batch: Vec<Piece<'_>> = pieces.into_iter().collect();
        self.look_at(&batch)
    }

    fn may_have(&self, filter: &FilterLocation) -> bool {
        match filter {
            FilterLocation::Own(filter) => BloomFilter::may_have(filter, &self.query.pieces),
            FilterLocation::Segment { id, column } => {
                self.columns.get(id).is_none_or(|columns| segment::has(columns, *column))
            }
        }
    }

    /// Looks at pieces side by side, and keeps their matches in order.
    fn look_at(&mut self, batch: &[Piece<'_>]) -> Result<(), TraceError> {
        let results: Vec<Mutex<Looked>> = batch.iter().map(|_| Mutex::new(None)).collect();
        in_parallel(batch, cores(), |pieces| {
            let mut buffer = Vec::new();
            for (number, piece) in pieces {
                if Instant::now() >= self.deadline || (self.broken_off)() {
                    break;
                }
                let matches = matches_in(self.search, &self.query, piece, &mut buffer);
                *results[number].lock() = Some(matches);
            }
        });
        if (self.broken_off)() {
            return Err(TraceError::Cancelled);
        }
        for result in results {
            match result.into_inner() {
                Some(matches) => self.found.matches.extend(matches?),
                // A match after an event that was not searched is not the next one.
                None => {
                    self.found.out_of_time = true;
                    break;
                }
            }
        }
        self.found.blocks_read += batch.iter().map(|piece| piece.blocks.len() as u64).sum::<u64>();
        Ok(())
    }
}

/// Where in a session the search goes on; `None` when it is past it.
fn first_event_in(search: &SearchRequest, session: &Searched) -> Option<u64> {
    let Some(place) = &search.after else { return Some(0) };
    if place.session == session.id {
        return Some(place.event + 1);
    }
    let (started, id) = (session.started, &session.id);
    let later = started < place.started || started == place.started && *id > place.session;
    later.then_some(0)
}

fn matches_in(
    search: &SearchRequest,
    query: &CompiledQuery,
    piece: &Piece<'_>,
    buffer: &mut Vec<u8>,
) -> Result<Vec<SearchMatch>, TraceError> {
    let Searched { started, id, log } = piece.session;
    let from = first_event_in(search, piece.session).unwrap_or(u64::MAX);
    let mut matches = Vec::new();
    let mut texts = Vec::new();
    let mut visit = |number: u64, event: &LogEvent<'_>, line: Option<&str>| {
        let worth = || {
            line.is_none_or(|line| query.worth_line(line.as_bytes()))
                || event.kind() == EventKind::TokenUsage
                || search_text::is_composed(event, line)
        };
        if number < from || query.kinds & event.kind().bit() == 0 || !worth() {
            return ControlFlow::Continue(());
        }
        if query.matches(event, &mut texts) {
            matches.push(SearchMatch {
                place: MatchPosition { started: *started, session: id.clone(), event: number },
                at: event.at,
                kind: event.kind(),
                stream: event.stream,
                payload: event.payload(),
            });
        }
        if matches.len() > search.most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match block_events::read_blocks_worth(
        log,
        &piece.blocks,
        &|bytes| query.worth_block(bytes, log.format),
        buffer,
        &mut visit,
    ) {
        Ok(_) => Ok(matches),
        // A log that went away since it was indexed has no matches any more.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(TraceError::Log { path: log.source.path.clone(), source }),
    }
}
