//! What the pages of sessions keep between requests: the order of lists, costs, outlines and analyses. All of it is bounded, and
//! made again when the sessions that it is about have changed.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tamis_trace::{SessionAnalysis, SessionListQuery, SessionOrder, Trace, TraceError};

use crate::PageError;
use crate::session_cost::SessionCost;
use crate::session_outline::OutlineBuilder;
use crate::sessions::PageSessionFilters;

/// How old the order of a list may be. Parts of it that are read one after the other should come from one order.
const ORDER_AGE: Duration = Duration::from_secs(3);
const MOST_ORDERS: usize = 8;
const MOST_COSTS: usize = 50_000;
const MOST_OUTLINES: usize = 4;
const MOST_ANALYSES: usize = 16;
/// How far the index may be behind the logs, unless reading them takes long.
const BETWEEN_REFRESHES: Duration = Duration::from_secs(2);
/// Reading the logs takes at most one part in this many of the time.
const SHARE: u32 = 10;
/// How long the first request waits for the logs to be read.
const FIRST_WAIT: Duration = Duration::from_millis(1500);

struct KeptOrder {
    query: SessionListQuery,
    until: Instant,
    order: Arc<SessionOrder>,
}

/// Its id, and how many events it had.
type AnalysedSession = (String, u64);

#[derive(Default)]
pub(crate) struct SessionCache {
    orders: Mutex<Vec<KeptOrder>>,
    filters: Mutex<Option<(Instant, PageSessionFilters)>>,
    costs: Mutex<HashMap<String, (u64, SessionCost)>>,
    outlines: Mutex<Vec<(String, Arc<Mutex<OutlineBuilder>>)>>,
    analyses: Mutex<Vec<(AnalysedSession, Arc<SessionAnalysis>)>>,
    refresh: Arc<Mutex<RefreshState>>,
}

#[derive(Default)]
struct RefreshState {
    is_running: bool,
    /// The reading that goes on began with an index without any session.
    is_first_reading: bool,
    /// When the logs were read last, and how long that took.
    last: Option<(Instant, Duration)>,
}

/// Ends the reading of the logs, also when it panics.
struct Reading(Arc<Mutex<RefreshState>>, Instant);

impl Drop for Reading {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_running = false;
        state.is_first_reading = false;
        state.last = Some((Instant::now(), self.1.elapsed()));
    }
}

impl SessionCache {
    /// Has the logs read beside the request, if that was not done for a while. Whether the first reading goes on.
    pub(crate) fn refresh(&self, trace: &Arc<Trace>) -> bool {
        let mut state = self.refresh.lock();
        let is_due = state.last.is_none_or(|(at, took)| at.elapsed() >= BETWEEN_REFRESHES.max(took * SHARE));
        let is_new = !state.is_running && is_due;
        if !is_new {
            return state.is_first_reading;
        }
        state.is_running = true;
        state.is_first_reading = state.last.is_none() && !trace.has_sessions().unwrap_or(false);
        let is_first_reading = state.is_first_reading;
        drop(state);
        let (done, wait) = mpsc::channel();
        let (trace, running) = (Arc::clone(trace), Reading(Arc::clone(&self.refresh), Instant::now()));
        let thread = std::thread::Builder::new().name("read-logs".into()).spawn(move || {
            if let Err(error) = trace.refresh(&mut |_| ControlFlow::Continue(())) {
                tracing::warn!(%error, "cannot read the logs of past sessions");
            }
            drop(running);
            let _ = done.send(());
        });
        if let Err(error) = thread {
            tracing::warn!(%error, "cannot start a thread");
        }
        // An index that has sessions answers at once, though it may be behind.
        is_first_reading && wait.recv_timeout(FIRST_WAIT).is_err()
    }

    fn is_first_reading(&self) -> bool {
        self.refresh.lock().is_first_reading
    }

    /// The order of a list, made at most every few seconds.
    pub(crate) fn order(
        &self,
        trace: &Trace,
        query: &SessionListQuery,
    ) -> Result<Arc<SessionOrder>, TraceError> {
        let now = Instant::now();
        let mut orders = self.orders.lock();
        orders.retain(|kept| kept.until > now);
        if let Some(kept) = orders.iter().find(|kept| kept.query == *query) {
            return Ok(Arc::clone(&kept.order));
        }
        drop(orders);
        let is_partial = self.is_first_reading();
        let order = Arc::new(trace.session_order(query)?);
        // Until all logs are read for the first time, lists grow.
        if !order.is_empty() && !is_partial {
            let until = Instant::now() + ORDER_AGE.max(now.elapsed() * SHARE);
            let kept = KeptOrder { query: query.clone(), until, order: Arc::clone(&order) };
            keep(&mut self.orders.lock(), MOST_ORDERS, kept);
        }
        Ok(order)
    }

    /// What lists can be filtered by, read at most every few seconds.
    pub(crate) fn filters(
        &self,
        read: impl FnOnce() -> Result<PageSessionFilters, PageError>,
    ) -> Result<PageSessionFilters, PageError> {
        if let Some((_, filters)) = self.filters.lock().as_ref().filter(|(until, _)| *until > Instant::now())
        {
            return Ok(filters.clone());
        }
        let (begun, is_partial) = (Instant::now(), self.is_first_reading());
        let filters = read()?;
        if !filters.clients.is_empty() && !is_partial {
            let until = Instant::now() + ORDER_AGE.max(begun.elapsed() * SHARE);
            *self.filters.lock() = Some((until, filters.clone()));
        }
        Ok(filters)
    }

    /// The cost of a session that used these tokens, computed once.
    pub(crate) fn cost(
        &self,
        id: &str,
        tokens: u64,
        compute: impl FnOnce() -> Result<SessionCost, TraceError>,
    ) -> Result<SessionCost, TraceError> {
        if let Some((of, cost)) = self.costs.lock().get(id)
            && *of == tokens
        {
            return Ok(cost.clone());
        }
        let cost = compute()?;
        let mut costs = self.costs.lock();
        if costs.len() >= MOST_COSTS {
            costs.clear();
        }
        costs.insert(id.to_owned(), (tokens, cost.clone()));
        Ok(cost)
    }

    /// The outline of a session, to be continued.
    pub(crate) fn outline(&self, id: &str) -> Arc<Mutex<OutlineBuilder>> {
        let mut outlines = self.outlines.lock();
        if let Some(at) = outlines.iter().position(|(known, _)| known == id) {
            let known = outlines.remove(at);
            let outline = Arc::clone(&known.1);
            outlines.push(known);
            return outline;
        }
        let outline = Arc::new(Mutex::new(OutlineBuilder::default()));
        keep(&mut outlines, MOST_OUTLINES, (id.to_owned(), Arc::clone(&outline)));
        outline
    }

    /// The analysis of a session with this number of events.
    pub(crate) fn analysis(
        &self,
        id: &str,
        events: u64,
        analyze: impl FnOnce() -> Result<SessionAnalysis, TraceError>,
    ) -> Result<Arc<SessionAnalysis>, TraceError> {
        let key = (id.to_owned(), events);
        if let Some((_, analysis)) = self.analyses.lock().iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(analysis));
        }
        let analysis = Arc::new(analyze()?);
        keep(&mut self.analyses.lock(), MOST_ANALYSES, (key, Arc::clone(&analysis)));
        Ok(analysis)
    }
}

/// Adds the newest, and removes the oldest beyond `most`.
fn keep<T>(kept: &mut Vec<T>, most: usize, new: T) {
    if kept.len() >= most {
        kept.remove(0);
    }
    kept.push(new);
}
