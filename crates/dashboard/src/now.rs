//! The page Now: every session that runs or ran lately, who needs a person, and what it cost.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tamis_coordinator::InstanceQuery;
use tamis_gain::{ModelPrices, RequestCost};
use tamis_logs::event::Millis;
use tamis_redact::{Redacted, excerpt};
use tamis_trace::{Session, Trace, TraceError};

use crate::context_windows::NowContext;
use crate::now_figures::NowFigures;
use crate::now_tail::{NowDoing, NowPhase, Tail};
use crate::status::machine;
use crate::{Dashboard, PageError};

const HOUR_MS: Millis = 60 * 60 * 1000;
const DEFAULT_HOURS: u32 = 24;
const MOST_HOURS: u32 = 24 * 31;
const MOST_SESSIONS: usize = 200;
const MOST_AGENTS: usize = 50;
const TASK_CHARS: usize = 160;
/// Logs of which something is remembered.
const MOST_KNOWN: usize = 4000;

/// What of the page is wanted.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NowQuery {
    /// Sessions that were active in this many hours; 24 by default.
    pub hours: Option<u32>,
    /// When the reader's day began.
    pub since: Option<Millis>,
}

/// All that the page Now shows at first.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageNow {
    /// The server's time.
    pub at: Millis,
    #[cfg_attr(test, ts(as = "String"))]
    pub machine: Redacted,
    pub hours: u32,
    /// The last active first, subagents with their parents.
    pub sessions: Vec<NowSession>,
    /// Whether there are more than are listed.
    pub has_more: bool,
    /// Whether there is any session, however old.
    pub has_history: bool,
    /// Whether logs are still being read for the first time.
    pub is_indexing: bool,
    pub agents: Vec<NowAgent>,
    pub figures: NowFigures,
}

/// A session that runs or ran lately.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowSession {
    pub id: String,
    pub short_id: String,
    pub client: &'static str,
    pub client_name: &'static str,
    /// The name of its folder.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub project: Option<Redacted>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub path: Option<Redacted>,
    /// What it is about: its title, or the first prompt.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub title: Option<Redacted>,
    pub doing: NowDoing,
    pub phases: Vec<NowPhase>,
    pub context: Option<NowContext>,
    /// Of the latest request.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub model: Option<Redacted>,
    /// Its own and its subagents', each request once.
    pub tokens: u64,
    /// What these cost, as far as the models have prices; none if none has.
    pub usd: Option<f64>,
    /// Models without a price.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub unpriced: Vec<Redacted>,
    pub subagents: u64,
    /// Its own and its subagents'.
    pub calls: u64,
    pub failed_calls: u64,
    pub started: Option<Millis>,
    pub last_activity: Millis,
}

/// An agent that is at work or under review.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowAgent {
    #[cfg_attr(test, ts(as = "String"))]
    pub id: Redacted,
    #[serde(rename = "type")]
    pub agent_type: &'static str,
    pub status: &'static str,
    #[cfg_attr(test, ts(as = "String"))]
    pub task: Redacted,
    /// The name of its repository's folder.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub repository: Option<Redacted>,
    /// How often its work was reviewed.
    pub reviews: u64,
    pub pull_request: Option<i64>,
    pub since: Millis,
}

/// What was read of logs, as long as they stay as they are.
#[derive(Default)]
pub(crate) struct NowMemory(Mutex<KnownLogs>);

type KnownLogs = HashMap<String, Arc<KnownLog>>;

#[derive(Clone)]
struct KnownLog {
    stamp: (u64, u64, Option<Millis>),
    cost: RequestCost,
    tail: Option<Tail>,
}

fn stamp(session: &Session) -> (u64, u64, Option<Millis>) {
    (session.summary.events, session.own_tokens, session.summary.ended)
}

impl Dashboard {
    pub fn now(&self, query: NowQuery) -> Result<PageNow, PageError> {
        let trace = self.trace()?;
        let at = Timestamp::now().as_millisecond();
        let hours = query.hours.unwrap_or(DEFAULT_HOURS).clamp(1, MOST_HOURS);
        let is_indexing = self.session_cache.refresh(trace);
        let mut sessions =
            trace.active_sessions(at - Millis::from(hours) * HOUR_MS, false, MOST_SESSIONS + 1)?;
        let has_more = sessions.len() > MOST_SESSIONS;
        sessions.truncate(MOST_SESSIONS);
        let mut rows = self.now_rows(trace, sessions)?;
        rows.sort_by_key(|row| std::cmp::Reverse(row.last_activity));
        Ok(PageNow {
            at,
            machine: machine(),
            hours,
            has_history: !rows.is_empty() || trace.has_sessions()?,
            sessions: rows,
            has_more,
            is_indexing,
            agents: self.now_agents()?,
            figures: self
                .figures(query.since.unwrap_or((at - 24 * HOUR_MS) / HOUR_MS * HOUR_MS), is_indexing),
        })
    }

    /// The row of a session, or of the one that it is a subagent of.
    pub(crate) fn now_row(&self, trace: &Trace, id: &str) -> Result<Option<NowSession>, PageError> {
        let root = trace.root_session(trace.session(id)?)?;
        Ok(self.now_rows(trace, vec![root])?.pop())
    }

    fn now_rows(&self, trace: &Trace, sessions: Vec<Session>) -> Result<Vec<NowSession>, PageError> {
        let mut families = Vec::with_capacity(sessions.len());
        for session in sessions {
            let subagents = trace.subagents(&session)?;
            families.push((session, subagents));
        }
        let known = self.learn(trace, &families)?;
        let row = |(session, subagents): (Session, Vec<Session>)| {
            // It was opened, and nothing happened yet.
            if session.is_empty() && subagents.is_empty() {
                return None;
            }
            let main = known.get(&session.id)?;
            let short_id = trace.short_id(&session.id);
            Some(short_id.map(|short_id| row(&known, main, &session, &subagents, short_id)))
        };
        Ok(families.into_iter().filter_map(row).collect::<Result<_, TraceError>>()?)
    }

    /// What all of these sessions cost, and what those at the top do. What is not known yet is read.
    fn learn(&self, trace: &Trace, families: &[(Session, Vec<Session>)]) -> Result<KnownLogs, PageError> {
        let all = families.iter().flat_map(|(session, subagents)| std::iter::once(session).chain(subagents));
        let mains: BTreeSet<&str> = families.iter().map(|(session, _)| session.id.as_str()).collect();
        let (mut known, mut changed) = (KnownLogs::new(), Vec::new());
        let memory = self.now_memory.0.lock();
        for session in all {
            match memory.get(&session.id).filter(|log| log.stamp == stamp(session)) {
                Some(log) => drop(known.insert(session.id.clone(), Arc::clone(log))),
                None => changed.push(session),
            }
        }
        drop(memory);

        for session in changed {
            let cost = cost(trace, &self.settings.prices, session)?;
            let tail = match mains.contains(session.id.as_str()) {
                true => Some(match Tail::read(trace, session) {
                    // It is being replaced, or is gone; the next look knows more.
                    Err(
                        TraceError::Log { .. }
                        | TraceError::Changed { .. }
                        | TraceError::NoSuchSession { .. },
                    ) => Tail::default(),
                    tail => tail?,
                }),
                false => None,
            };
            known.insert(session.id.clone(), Arc::new(KnownLog { stamp: stamp(session), cost, tail }));
        }
        let mut memory = self.now_memory.0.lock();
        memory.extend(known.iter().map(|(id, log)| (id.clone(), Arc::clone(log))));
        if memory.len() > MOST_KNOWN {
            memory.retain(|id, _| known.contains_key(id));
        }
        Ok(known)
    }

    fn now_agents(&self) -> Result<Vec<NowAgent>, PageError> {
        let Some(agents) = self.services.agents() else { return Ok(Vec::new()) };
        let mut live: Vec<_> = agents.instances(&InstanceQuery::default(), None)?;
        live.retain(|instance| instance.status.is_live());
        live.reverse();
        live.truncate(MOST_AGENTS);
        let mut rows = Vec::with_capacity(live.len());
        for instance in live {
            let reviews =
                agents.details(&instance.id, None).map_or(0, |details| details.reviews.len() as u64);
            rows.push(NowAgent {
                id: instance.id.to_string().into(),
                agent_type: instance.agent_type.as_str(),
                status: instance.status.as_str(),
                task: excerpt(&instance.task, TASK_CHARS).on_one_line(),
                repository: folder_name(&instance.repository),
                reviews,
                pull_request: instance.pr_number,
                since: instance.updated_at.0,
            });
        }
        Ok(rows)
    }
}

fn row(
    known: &KnownLogs,
    main: &KnownLog,
    session: &Session,
    subagents: &[Session],
    short_id: String,
) -> NowSession {
    let mut cost = main.cost.clone();
    let (mut tokens, summary) = (session.own_tokens, &session.summary);
    let (mut failed_calls, mut calls) = (summary.failed_tools, tool_calls(session));
    for subagent in subagents {
        tokens = tokens.saturating_add(subagent.own_tokens);
        failed_calls += subagent.summary.failed_tools;
        calls += tool_calls(subagent);
        if let Some(log) = known.get(&subagent.id) {
            add(&mut cost, &log.cost);
        }
    }
    let tail = main.tail.clone().unwrap_or_default();
    let ended = summary.ended.or(summary.started).unwrap_or(0);
    let by_subagents = subagents.iter().filter_map(|subagent| subagent.summary.ended).max();
    let path = session.root();
    NowSession {
        id: session.id.clone(),
        short_id,
        client: session.provider.id(),
        client_name: session.provider.display_name(),
        project: path.as_deref().and_then(|path| folder_name(Path::new(path))),
        path,
        title: summary.title.clone().or_else(|| summary.snippet.clone()),
        phases: tail.phases(ended, by_subagents),
        context: tail.request.as_ref().map(|(model, tokens)| NowContext::new(model, *tokens)),
        model: tail
            .request
            .as_ref()
            .map(|(model, _)| Redacted::from(model.as_str()))
            .filter(|model| !model.is_empty()),
        doing: tail.doing,
        tokens,
        usd: Some(cost.usd).filter(|_| cost.is_priced),
        unpriced: cost.unpriced.into_keys().map(Redacted::from).collect(),
        subagents: subagents.len() as u64,
        calls,
        failed_calls,
        started: summary.started,
        last_activity: ended.max(by_subagents.unwrap_or(ended)),
    }
}

fn tool_calls(session: &Session) -> u64 {
    session.summary.count(tamis_logs::event::EventKind::ToolCall)
}

/// What a session cost by itself.
fn cost(trace: &Trace, prices: &ModelPrices, session: &Session) -> Result<RequestCost, TraceError> {
    let mut cost = RequestCost::default();
    trace.visit_requests(session, |request, model| {
        if request.tokens.total() > 0 {
            prices.charge(&mut cost, model, request.at, request.tokens);
        }
    })?;
    Ok(cost)
}

fn add(sum: &mut RequestCost, cost: &RequestCost) {
    sum.usd += cost.usd;
    sum.is_priced |= cost.is_priced;
    sum.dates.extend(cost.dates.iter().cloned());
    for (model, tokens) in &cost.unpriced {
        *sum.unpriced.entry(model.clone()).or_default() += tokens;
    }
}

pub(crate) fn folder_name(path: &Path) -> Option<Redacted> {
    path.file_name().map(|name| Redacted::from(name.to_string_lossy().into_owned()))
}
