//! Searching the events of all sessions: the latest sessions first, and in a session from its beginning.
//!
//! Filters say which blocks may have what is asked for; those are read from the logs and looked at event by event. Nothing
//! is found by a filter alone, and the texts are nowhere but in the logs.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};
use serde_json::Value;

use crate::db::{self, BlockRow, LogRow};
use crate::error::TraceError;
use crate::event::{Event, EventKind, Millis, Stream};
use crate::filter::{Filter, Pieces};
use crate::reading;
use crate::source::Format;
use crate::trace::{Session, SessionFilter, Trace};

/// Letters of the text around a match.
const EXCERPT: usize = 300;
/// Longer questions are refused.
const LONGEST_QUERY: usize = 4096;
/// Sessions whose filters are looked at between two looks at the clock.
const SESSIONS_AT_ONCE: usize = 64;
/// Answers that are remembered.
const REMEMBERED: usize = 64;

/// How a query is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
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
pub struct Search {
    pub query: String,
    pub mode: Mode,
    /// Only events of these kinds; all when empty.
    pub kinds: Vec<EventKind>,
    /// Only in this session and its subagents'.
    pub session: Option<String>,
    pub sessions: SessionFilter,
    /// Only events that failed: results of tools that did.
    pub only_failed: bool,
    /// Go on after this one.
    pub after: Option<Place>,
    pub most: usize,
}

/// Where a match is, in the order in which matches are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub started: Millis,
    pub session: String,
    pub event: u64,
}

/// An event that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    pub place: Place,
    pub at: Option<Millis>,
    pub kind: EventKind,
    pub stream: Stream,
    pub payload: Value,
    /// What stands around the first match.
    pub excerpt: String,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub matches: Vec<Match>,
    /// Whether there may be more after the last.
    pub more: bool,
    /// Whether it was ended by its time limit; what was found until then is given.
    pub out_of_time: bool,
    /// Blocks of logs that were read, of all.
    pub blocks_read: u64,
}

/// Finds a search's words in a text. What is shown of an event is cut out after its secrets are, so whoever shows it has
/// to look again.
pub struct Finder(Vec<Regex>);

impl Finder {
    pub fn of(search: &Search) -> Result<Finder, TraceError> {
        Ok(Finder(Question::of(search)?.patterns))
    }

    /// Where the first match of the first word is.
    pub fn find(&self, text: &str) -> Option<std::ops::Range<usize>> {
        self.0.iter().find_map(|pattern| pattern.find(text)).map(|found| found.range())
    }
}

/// What events are compared with.
struct Question {
    /// All must match, each in one text of the event.
    patterns: Vec<Regex>,
    pieces: Pieces,
    /// Finds the longest piece in raw bytes.
    raw: Option<regex::bytes::Regex>,
    kinds: u16,
    only_failed: bool,
}

impl Question {
    fn of(search: &Search) -> Result<Question, TraceError> {
        let query = search.query.as_str();
        if query.len() > LONGEST_QUERY {
            return Err(TraceError::Invalid(format!(
                "query has {} bytes, and {LONGEST_QUERY} is the most",
                query.len()
            )));
        }
        if query.trim().is_empty() {
            return Err(TraceError::Invalid("query is empty".to_owned()));
        }
        let mut pieces = Pieces::default();
        let mut patterns = Vec::new();
        match search.mode {
            Mode::Substring => {
                pieces.require(query);
                patterns.push(compiled(&literal(query))?);
            }
            Mode::Words => {
                for word in query.split_whitespace() {
                    pieces.require(word);
                    let edge = |letter: Option<char>| {
                        if letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
                            r"\b"
                        } else {
                            ""
                        }
                    };
                    let (before, after) = (edge(word.chars().next()), edge(word.chars().next_back()));
                    patterns.push(compiled(&format!("{before}{}{after}", literal(word)))?);
                }
            }
            Mode::Regex => {
                patterns.push(compiled(&format!("(?i){query}"))?);
                if let Ok(parsed) = regex_syntax::parse(query) {
                    required(&parsed, &mut pieces);
                }
            }
        }
        let raw = pieces
            .longest
            .as_ref()
            .and_then(|piece| regex::bytes::Regex::new(&format!("(?i-u){}", regex::escape(piece))).ok());
        let kinds = search.kinds.iter().fold(0, |mask, kind| mask | kind.bit());
        Ok(Question {
            patterns,
            pieces,
            raw,
            kinds: if kinds == 0 { u16::MAX } else { kinds },
            only_failed: search.only_failed,
        })
    }

    /// Where the event matches: the text around it.
    fn excerpt(&self, event: &Event<'_>, texts: &mut Vec<String>) -> Option<String> {
        if self.kinds & event.kind().bit() == 0 {
            return None;
        }
        if self.only_failed && !matches!(&event.body, crate::event::Body::ToolResult(result) if result.failed)
        {
            return None;
        }
        texts.clear();
        reading::words_of_event(event, texts);
        let mut first = None;
        for pattern in &self.patterns {
            let (index, found) = texts
                .iter()
                .enumerate()
                .find_map(|(index, text)| Some((index, pattern.find(text)?.range())))?;
            first.get_or_insert((index, found));
        }
        let (index, found) = first?;
        Some(around(&texts[index], found.start, found.end))
    }
}

fn compiled(pattern: &str) -> Result<Regex, TraceError> {
    RegexBuilder::new(pattern)
        .size_limit(4 << 20)
        .dfa_size_limit(16 << 20)
        .build()
        .map_err(|error| TraceError::Invalid(format!("query is no regular expression: {error}")))
}

/// A pattern for just this text in any case. An ASCII letter stands for its two cases alone, as in the filters.
fn literal(text: &str) -> String {
    let mut pattern = String::new();
    for letter in text.chars() {
        let flags = if letter.is_ascii() { "(?i-u:" } else { "(?i:" };
        if letter.is_alphabetic() {
            pattern.push_str(&format!("{flags}{letter})"));
        } else {
            pattern.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
        }
    }
    pattern
}

/// The texts that whatever matches must have.
fn required(pattern: &Hir, pieces: &mut Pieces) {
    match pattern.kind() {
        HirKind::Literal(literal) => {
            if let Ok(text) = std::str::from_utf8(&literal.0) {
                pieces.require(text);
            }
        }
        HirKind::Concat(parts) => parts.iter().for_each(|part| required(part, pieces)),
        HirKind::Capture(capture) => required(&capture.sub, pieces),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub, pieces),
        _ => {}
    }
}

/// The text around a match, some of it before and most after.
fn around(text: &str, start: usize, end: usize) -> String {
    let before =
        text[..start].char_indices().rev().take(EXCERPT / 4).last().map_or(start, |(index, _)| index);
    let shown: String = text[before..].chars().take(EXCERPT).collect();
    let mut excerpt = String::new();
    if before > 0 {
        excerpt.push('…');
    }
    let cut = before + shown.len() < text.len();
    excerpt.push_str(&shown);
    if cut || end > before + shown.len() {
        excerpt.push('…');
    }
    excerpt
}

/// What one thread reads.
struct Piece<'a> {
    session: &'a Session,
    log: &'a LogRow,
    blocks: Vec<BlockRow>,
}

impl Trace {
    /// Searches. `broken_off` is asked now and then.
    pub fn search(
        &self,
        search: &Search,
        limit: Duration,
        broken_off: &(dyn Fn() -> bool + Sync),
    ) -> Result<Found, TraceError> {
        let key = format!("{search:?}");
        let generation = self.generation();
        if let Some(found) = self.cache.get(generation, &key) {
            return Ok(found);
        }
        let found = self.search_now(search, limit, broken_off)?;
        if !found.out_of_time {
            self.cache.put(generation, key, &found);
        }
        Ok(found)
    }

    fn search_now(
        &self,
        search: &Search,
        limit: Duration,
        broken_off: &(dyn Fn() -> bool + Sync),
    ) -> Result<Found, TraceError> {
        let question = Question::of(search)?;
        let begun = Instant::now();
        let mut found = Found::default();
        let family = search.session.as_ref().map(|prefix| self.session_with_subagents(prefix)).transpose()?;
        let filter = SessionFilter { with_subagents: true, ..search.sessions.clone() };
        let mut after = search.after.as_ref().map(|place| (place.started, place.session.clone()));
        // The session that the last page ended in goes on.
        let mut first_page = match (&family, &search.after) {
            (None, Some(place)) => self.session(&place.session).ok().into_iter().collect(),
            _ => Vec::new(),
        };
        loop {
            let sessions = match &family {
                Some(family) => family.clone(),
                None if !first_page.is_empty() => std::mem::take(&mut first_page),
                None => {
                    let after = after.as_ref().map(|(started, id)| (*started, id.as_str()));
                    self.sessions(&filter, after, SESSIONS_AT_ONCE)?
                }
            };
            let Some(last) = sessions.last() else { break };
            after = Some((last.place().0, last.id.clone()));
            self.search_in(search, &question, &sessions, &mut found, begun, limit, broken_off)?;
            if found.matches.len() > search.most || found.out_of_time || family.is_some() {
                break;
            }
        }
        found.more = found.out_of_time || found.matches.len() > search.most;
        found.matches.truncate(search.most);
        if found.out_of_time && found.matches.is_empty() {
            return Err(TraceError::TooSlow { seconds: limit.as_secs() });
        }
        Ok(found)
    }

    fn session_with_subagents(&self, prefix: &str) -> Result<Vec<Session>, TraceError> {
        let session = self.session(prefix)?;
        let mut family = self.subagents(&session)?;
        family.push(session);
        family.sort_by(|one, other| other.place().0.cmp(&one.place().0).then_with(|| one.id.cmp(&other.id)));
        Ok(family)
    }

    #[expect(clippy::too_many_arguments, reason = "one step of the loop above, cut out to be read")]
    fn search_in(
        &self,
        search: &Search,
        question: &Question,
        sessions: &[Session],
        found: &mut Found,
        begun: Instant,
        limit: Duration,
        broken_off: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), TraceError> {
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let logs: Vec<Option<LogRow>> = self.database()?.read(|connection| {
            sessions.iter().map(|session| db::log_of(connection, session.log)).collect()
        })?;
        let mut pieces: VecDeque<Piece<'_>> = VecDeque::new();
        let mut ahead = 2;
        for (session, log) in sessions.iter().zip(&logs) {
            let Some(log) = log else { continue };
            let from = first_event_in(search, session);
            let Some(from) = from else { continue };
            let blocks = self.database()?.read(|connection| {
                db::blocks(connection, session.log, from, |kinds, filter| {
                    kinds & question.kinds != 0 && Filter::may_have(filter, &question.pieces)
                })
            })?;
            match log.format {
                Format::Lines(_) if !reading::is_compressed(&log.unit.path) => {
                    pieces.extend(blocks.into_iter().map(|block| Piece {
                        session,
                        log,
                        blocks: vec![block],
                    }));
                }
                // These are read from their beginning each time, so all at once.
                _ if !blocks.is_empty() => pieces.push_back(Piece { session, log, blocks }),
                _ => {}
            }
            while pieces.len() >= threads * ahead {
                let batch: Vec<Piece<'_>> = pieces.drain(..threads * ahead).collect();
                self.look_at(search, question, &batch, found)?;
                ahead = (ahead * 2).min(16);
                if broken_off() {
                    return Err(TraceError::Cancelled);
                }
                found.out_of_time = begun.elapsed() >= limit;
                if found.matches.len() > search.most || found.out_of_time {
                    return Ok(());
                }
            }
        }
        let batch: Vec<Piece<'_>> = pieces.into_iter().collect();
        self.look_at(search, question, &batch, found)
    }

    /// Looks at pieces side by side, and keeps their matches in order.
    fn look_at(
        &self,
        search: &Search,
        question: &Question,
        batch: &[Piece<'_>],
        found: &mut Found,
    ) -> Result<(), TraceError> {
        let wanted = search.most + 1;
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let results: Vec<Mutex<Option<Result<Vec<Match>, TraceError>>>> =
            batch.iter().map(|_| Mutex::new(None)).collect();
        let next = std::sync::atomic::AtomicUsize::new(0);
        let work = || loop {
            let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(piece) = batch.get(number) else { break };
            let matches = matches_in(search, question, piece, wanted);
            *results[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(matches);
        };
        if batch.len() < 2 {
            work();
        } else {
            std::thread::scope(|scope| {
                for _ in 1..threads.min(batch.len()) {
                    scope.spawn(work);
                }
                work();
            });
        }
        for result in results {
            if let Some(matches) = result.into_inner().unwrap_or_else(PoisonError::into_inner) {
                found.matches.extend(matches?);
            }
        }
        found.blocks_read += batch.iter().map(|piece| piece.blocks.len() as u64).sum::<u64>();
        Ok(())
    }
}

/// Where in a session the search goes on; `None` when it is past it.
fn first_event_in(search: &Search, session: &Session) -> Option<u64> {
    let Some(place) = &search.after else { return Some(0) };
    if place.session == session.id {
        return Some(place.event + 1);
    }
    let (started, id) = session.place();
    let later = started < place.started || started == place.started && id > place.session.as_str();
    later.then_some(0)
}

fn matches_in(
    search: &Search,
    question: &Question,
    piece: &Piece<'_>,
    wanted: usize,
) -> Result<Vec<Match>, TraceError> {
    let from = first_event_in(search, piece.session).unwrap_or(u64::MAX);
    let mut matches = Vec::new();
    let mut texts = Vec::new();
    let mut visit = |number: u64, event: &Event<'_>, line: Option<&str>| {
        let worth =
            || question.raw.as_ref().zip(line).is_none_or(|(raw, line)| raw.is_match(line.as_bytes()));
        if number < from || question.kinds & event.kind().bit() == 0 || !worth() {
            return ControlFlow::Continue(());
        }
        if let Some(excerpt) = question.excerpt(event, &mut texts) {
            let (started, session) = piece.session.place();
            matches.push(Match {
                place: Place { started, session: session.to_owned(), event: number },
                at: event.at,
                kind: event.kind(),
                stream: event.stream,
                payload: event.payload(),
                excerpt,
            });
        }
        if matches.len() >= wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let worth = |bytes: &[u8]| question.raw.as_ref().is_none_or(|raw| raw.is_match(bytes));
    match reading::read_blocks_worth(piece.log, &piece.blocks, &worth, &mut visit) {
        Ok(_) => Ok(matches),
        // A log that went away since it was indexed has no matches any more.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(TraceError::Log { path: piece.log.unit.path.clone(), source }),
    }
}

/// Answers of the last searches, as long as nothing is new.
#[derive(Default)]
pub(crate) struct Cache(Mutex<VecDeque<(u64, String, Found)>>);

impl Cache {
    fn get(&self, generation: u64, key: &str) -> Option<Found> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers
            .iter()
            .find(|(of, known, _)| *of == generation && known == key)
            .map(|(_, _, found)| found.clone())
    }

    fn put(&self, generation: u64, key: String, found: &Found) {
        let size: usize = found.matches.iter().map(|one| one.payload.to_string().len()).sum();
        if size > 1 << 20 {
            return;
        }
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|(of, _, _)| *of == generation);
        if answers.len() == REMEMBERED {
            answers.pop_front();
        }
        answers.push_back((generation, key, found.clone()));
    }
}
