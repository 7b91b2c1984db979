//! Search in the events of all sessions.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tamis_logs::event::{EventKind, Millis};
use tamis_redact::Redacted;
use tamis_trace::{
    CompiledQuery, MatchPosition, SearchMatch, SearchRequest, SessionFilter, TraceError, TraceSearchMode,
    preview,
};

use crate::session_events::PageEventKind;
use crate::sessions::client_with_id;
use crate::{Dashboard, PageError, PageErrorKind};

/// How long a search may take; then it ends with what was found.
const TIME_LIMIT: Duration = Duration::from_secs(5);
const MATCHES: usize = 50;
const MOST_MATCHES: usize = 200;
const EXCERPT_CHARS: usize = 280;
const MOST_MARKS: usize = 20;
const TOOL_CHARS: usize = 120;

/// A search.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageSearchQuery {
    pub q: String,
    /// `text`, `words` or `regex`.
    pub mode: Option<String>,
    /// Names of kinds of events with commas between them; all when absent.
    pub kinds: Option<String>,
    /// 1: only results of tools that failed.
    pub failed: u8,
    pub client: Option<String>,
    pub project: Option<String>,
    /// Only in this session and its subagents'.
    pub session: Option<String>,
    pub since: Option<Millis>,
    pub until: Option<Millis>,
    /// Where the last answer ended.
    pub after: Option<String>,
    pub limit: Option<usize>,
}

/// What a search found, the latest sessions first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSearchResults {
    pub matches: Vec<PageSearchMatch>,
    /// The sessions of the matches.
    pub sessions: Vec<PageSearchSession>,
    /// Continues after the last match; none when there is no more.
    pub next: Option<String>,
    /// Whether the search ended at its time limit, with what was found until then.
    pub ended_early: bool,
    pub millis: u64,
}

/// An event that matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSearchMatch {
    pub session: String,
    pub event: u64,
    pub at: Option<Millis>,
    pub kind: PageEventKind,
    pub stream: &'static str,
    pub failed: bool,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub tool: Option<Redacted>,
    #[cfg_attr(test, ts(as = "String"))]
    pub excerpt: Redacted,
    /// Where the query is in the excerpt: starts and ends, in UTF-16 units.
    pub marks: Vec<[u64; 2]>,
}

/// A session with a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSearchSession {
    pub id: String,
    pub client_name: &'static str,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub root: Option<Redacted>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub title: Option<Redacted>,
    pub started: Option<Millis>,
    pub ended: Option<Millis>,
    pub relation: Option<&'static str>,
}

impl PageSearchQuery {
    fn request(&self) -> Result<SearchRequest, PageError> {
        let invalid = |message: String| PageError::new(PageErrorKind::Invalid, message);
        let mode = match self.mode.as_deref() {
            None | Some("text") => TraceSearchMode::Substring,
            Some("words") => TraceSearchMode::Words,
            Some("regex") => TraceSearchMode::Regex,
            Some(other) => return Err(invalid(format!("unknown mode `{other}`"))),
        };
        let mut kinds = Vec::new();
        for name in self.kinds.iter().flat_map(|names| names.split(',')).filter(|name| !name.is_empty()) {
            kinds.push(match name {
                "user" => EventKind::User,
                "command" => EventKind::SlashCommand,
                "message" => EventKind::Message,
                "reasoning" => EventKind::Reasoning,
                "call" => EventKind::ToolCall,
                "result" => EventKind::ToolResult,
                "usage" => EventKind::TokenUsage,
                "notification" | "compaction" => EventKind::Notification,
                "summary" => EventKind::Summary,
                other => return Err(invalid(format!("unknown kind `{other}`"))),
            });
        }
        let after = self.after.as_deref().map(|after| {
            position(after).ok_or_else(|| invalid("the search cannot be continued from there".to_owned()))
        });
        Ok(SearchRequest {
            query: self.q.clone(),
            mode,
            kinds,
            session: self.session.clone(),
            sessions: SessionFilter {
                provider: client_with_id(self.client.as_deref())?,
                project: self.project.clone(),
                since: self.since,
                until: self.until,
                ..SessionFilter::default()
            },
            only_failed: self.failed != 0,
            after: after.transpose()?,
            most: self.limit.unwrap_or(MATCHES).min(MOST_MATCHES),
        })
    }
}

/// Reads what [`cursor`] writes.
fn position(after: &str) -> Option<MatchPosition> {
    let (started, rest) = after.split_once('.')?;
    let (event, session) = rest.split_once('.')?;
    Some(MatchPosition {
        started: started.parse().ok()?,
        session: session.to_owned(),
        event: event.parse().ok()?,
    })
}

fn cursor(place: &MatchPosition) -> String {
    format!("{}.{}.{}", place.started, place.event, place.session)
}

impl Dashboard {
    /// Searches until the time limit, or until `is_cancelled` returns true.
    pub fn search_sessions(
        &self,
        query: &PageSearchQuery,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<PageSearchResults, PageError> {
        let trace = self.trace()?;
        self.session_cache.refresh(trace);
        let request = query.request()?;
        let finder = CompiledQuery::of(&request).map_err(refused)?;
        let begun = std::time::Instant::now();
        let found = match trace.search(&request, TIME_LIMIT, is_cancelled) {
            Ok(found) => found,
            Err(TraceError::TooSlow { .. }) => {
                let millis = begun.elapsed().as_millis() as u64;
                return Ok(PageSearchResults { ended_early: true, millis, ..PageSearchResults::default() });
            }
            Err(error) => return Err(refused(error)),
        };
        let mut sessions: Vec<PageSearchSession> = Vec::new();
        let mut known: HashMap<&str, ()> = HashMap::new();
        for one in &found.matches {
            if known.insert(&one.place.session, ()).is_some() {
                continue;
            }
            let Ok(session) = trace.session(&one.place.session) else { continue };
            sessions.push(PageSearchSession {
                root: session.root(),
                client_name: session.provider.display_name(),
                title: session.summary.title.clone().or(session.summary.snippet.clone()),
                started: session.summary.started,
                ended: session.summary.ended,
                relation: session.relation.map(|relation| relation.name()),
                id: session.id,
            });
        }
        Ok(PageSearchResults {
            next: found.matches.last().filter(|_| found.more).map(|last| cursor(&last.place)),
            matches: found.matches.iter().map(|one| shown(one, &finder)).collect(),
            sessions,
            ended_early: found.out_of_time,
            millis: begun.elapsed().as_millis() as u64,
        })
    }
}

fn refused(error: TraceError) -> PageError {
    match error {
        // Of a regular expression that cannot be parsed, the last line says why; the others draw where.
        TraceError::InvalidQuery(_) => {
            let message = error.to_string();
            let why = message.lines().last().and_then(|line| line.strip_prefix("error: "));
            let message = match (why, message.split_once(':')) {
                (Some(why), Some((what, _))) => format!("{what}: {why}"),
                _ => message,
            };
            PageError::new(PageErrorKind::Invalid, message)
        }
        error => error.into(),
    }
}

fn shown(found: &SearchMatch, finder: &CompiledQuery) -> PageSearchMatch {
    let payload = found.payload();
    let tool = payload["name"].as_str().map(|name| preview(name, TOOL_CHARS));
    let excerpt = found.excerpt(finder, EXCERPT_CHARS);
    // A report of tokens has no text but the name of its model; a call may match by its tool's name alone.
    let model = || payload["model"].as_str().map(|model| preview(model, TOOL_CHARS));
    let excerpt = excerpt.or_else(model).or_else(|| tool.clone()).unwrap_or_default().on_one_line();
    let units = |at: usize| excerpt[..at].encode_utf16().count() as u64;
    let marks = finder.find_all(&excerpt, MOST_MARKS);
    PageSearchMatch {
        session: found.place.session.clone(),
        event: found.place.event,
        at: found.at,
        kind: match found.kind {
            EventKind::User => PageEventKind::User,
            EventKind::SlashCommand => PageEventKind::Command,
            EventKind::Message => PageEventKind::Message,
            EventKind::Reasoning => PageEventKind::Reasoning,
            EventKind::ToolCall => PageEventKind::Call,
            EventKind::ToolResult => PageEventKind::Result,
            EventKind::TokenUsage => PageEventKind::Usage,
            EventKind::Notification => PageEventKind::Notification,
            EventKind::Summary => PageEventKind::Summary,
        },
        stream: found.stream.name(),
        failed: found.is_error(),
        tool,
        marks: marks.into_iter().map(|range| [units(range.start), units(range.end)]).collect(),
        excerpt,
    }
}
