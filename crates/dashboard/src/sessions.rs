//! The list of sessions, with its filters.

use serde::{Deserialize, Serialize};
use tamis_clients::Client;
use tamis_logs::event::{EventKind, Millis};
use tamis_redact::Redacted;
use tamis_trace::{Session, SessionFilter, SessionListQuery, SessionSort, Trace};

use crate::{Dashboard, PageError, PageErrorKind};

/// Rows of one answer.
const MOST_ROWS: usize = 500;
const USUAL_ROWS: usize = 100;
/// Letters of a filter.
const LONGEST_FILTER: usize = 500;
/// Projects in the menu, the latest first.
const MOST_PROJECTS: usize = 500;

/// Which part of which list of sessions is requested.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageSessionsQuery {
    pub offset: usize,
    pub limit: Option<usize>,
    pub client: Option<String>,
    /// The beginning of a project's hash.
    pub project: Option<String>,
    pub since: Option<Millis>,
    pub until: Option<Millis>,
    /// 1: only sessions with a failed tool call.
    pub failed: u8,
    /// Words of the title, the first prompt, the folder or the id.
    pub q: String,
    /// `started`, `ended`, `tokens`, `turns` or `failed`.
    pub sort: Option<String>,
}

/// A part of a list of sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSessionList {
    /// Sessions in the whole list.
    pub total: u64,
    pub rows: Vec<PageSessionRow>,
    /// The logs are being read for the first time: more will come.
    pub is_indexing: bool,
}

/// A session in a list. Tokens and money include its subagents'.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSessionRow {
    pub id: String,
    /// The client's id: `claude_code`.
    pub client: &'static str,
    pub client_name: &'static str,
    /// The hash of the project; none when the log does not say where it was.
    pub project: Option<String>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub root: Option<Redacted>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub title: Option<Redacted>,
    /// The beginning of the first prompt.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub prompt: Option<Redacted>,
    pub started: Option<Millis>,
    pub ended: Option<Millis>,
    pub turns: u64,
    pub events: u64,
    pub tool_calls: u64,
    pub failed: u64,
    pub tokens: u64,
    /// None when the price is not known.
    pub usd: Option<f64>,
    /// Tokens whose price is not known.
    pub unpriced: u64,
    pub subagents: u64,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub model: Option<Redacted>,
}

/// What a list of sessions can be filtered by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSessionFilters {
    pub clients: Vec<PageSessionClient>,
    /// The latest first.
    pub projects: Vec<PageSessionProject>,
    /// Where logs are searched.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub places: Vec<Redacted>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSessionClient {
    pub id: &'static str,
    pub name: &'static str,
    pub sessions: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSessionProject {
    pub hash: String,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub root: Option<Redacted>,
    pub sessions: u64,
}

impl PageSessionsQuery {
    fn list(&self) -> Result<SessionListQuery, PageError> {
        if self.q.len() > LONGEST_FILTER {
            return Err(PageError::new(PageErrorKind::Invalid, "the filter is too long"));
        }
        let sort = match self.sort.as_deref() {
            None | Some("started") => SessionSort::Started,
            Some("ended") => SessionSort::Ended,
            Some("tokens") => SessionSort::Tokens,
            Some("turns") => SessionSort::Turns,
            Some("failed") => SessionSort::Failed,
            Some(other) => {
                let message = format!("cannot sort by `{other}`");
                return Err(PageError::new(PageErrorKind::Invalid, message)
                    .hint("sort by started, ended, tokens, turns or failed"));
            }
        };
        let filter = SessionFilter {
            provider: client_with_id(self.client.as_deref())?,
            project: self.project.clone(),
            since: self.since,
            until: self.until,
            ..SessionFilter::default()
        };
        Ok(SessionListQuery { filter, words: self.q.clone(), only_failed: self.failed != 0, sort })
    }
}

/// The client with this id.
pub(crate) fn client_with_id(id: Option<&str>) -> Result<Option<Client>, PageError> {
    let unknown = |id: &str| PageError::new(PageErrorKind::Invalid, format!("unknown client `{id}`"));
    id.map(|id| Client::with_id(id).ok_or_else(|| unknown(id))).transpose()
}

impl Dashboard {
    pub fn sessions(&self, query: &PageSessionsQuery) -> Result<PageSessionList, PageError> {
        let trace = self.trace()?;
        let is_indexing = self.session_cache.refresh(trace);
        let order = self.session_cache.order(trace, &query.list()?)?;
        let limit = query.limit.unwrap_or(USUAL_ROWS).min(MOST_ROWS);
        let listed = trace.sessions_in_order(&order, query.offset, limit)?;
        let rows = listed.iter().map(|(listed, subagents)| self.session_row(&listed.session, subagents));
        Ok(PageSessionList {
            total: order.len() as u64,
            rows: rows.collect::<Result<_, PageError>>()?,
            is_indexing,
        })
    }

    pub(crate) fn session_row(
        &self,
        session: &Session,
        subagents: &[Session],
    ) -> Result<PageSessionRow, PageError> {
        let summary = &session.summary;
        let cost = self.cost_with(session, subagents)?;
        Ok(PageSessionRow {
            id: session.id.clone(),
            client: session.provider.id(),
            client_name: session.provider.display_name(),
            project: session.has_project().then(|| session.project.clone()),
            root: session.root(),
            title: summary.title.clone(),
            prompt: summary.snippet.clone(),
            started: summary.started,
            ended: summary.ended,
            turns: summary.turns,
            events: summary.events,
            tool_calls: summary.count(EventKind::ToolCall),
            failed: summary.failed_tools,
            tokens: subagents.iter().fold(session.own_tokens, |sum, one| sum.saturating_add(one.own_tokens)),
            usd: cost.usd(),
            unpriced: cost.unpriced(),
            subagents: subagents.len() as u64,
            model: self.cost_of(session)?.main_model().or_else(|| cost.main_model()),
        })
    }

    pub fn session_filters(&self) -> Result<PageSessionFilters, PageError> {
        let trace = self.trace()?;
        self.session_cache.refresh(trace);
        self.session_cache.filters(|| Dashboard::read_session_filters(trace))
    }

    fn read_session_filters(trace: &Trace) -> Result<PageSessionFilters, PageError> {
        let clients = trace.sessions_by_client()?;
        let client = |(client, sessions): (Client, u64)| PageSessionClient {
            id: client.id(),
            name: client.display_name(),
            sessions,
        };
        let projects =
            trace.projects()?.into_iter().filter(|project| project.used_sessions > 0).take(MOST_PROJECTS);
        let places = trace.locations().all().map(|place| place.display().to_string().into());
        Ok(PageSessionFilters {
            clients: clients.into_iter().map(client).collect(),
            projects: projects
                .map(|project| PageSessionProject {
                    hash: project.hash,
                    root: project.root,
                    sessions: project.used_sessions,
                })
                .collect(),
            places: places.collect(),
        })
    }
}
