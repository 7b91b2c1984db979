//! What was spent today, and what pruning saved and cost. Both read much, so they are computed beside the requests.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use tamis_gain::{GainGrouping, GainOptions, GainReport, ModelPrices, RequestCost};
use tamis_logs::event::Millis;
use tamis_redact::Redacted;
use tamis_tools::Services;
use tamis_trace::{SessionFilter, UsageGrouping};

use crate::background::{Background, LastValue};
use crate::{Dashboard, DashboardSettings};

const TOTAL_DAYS: u32 = 30;
const DAY_MS: Millis = 24 * 60 * 60 * 1000;
const FRESH: Duration = Duration::from_secs(60);

/// The figures at the top of the page Now.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowFigures {
    /// When they were computed; none before the first time.
    pub at: Option<Millis>,
    /// When the reader's day began.
    pub since: Millis,
    /// Whether newer ones are on their way.
    pub is_computing: bool,
    pub spent: Option<NowSpent>,
    pub saved_today: Option<NowSaved>,
    pub saved_total: Option<NowSaved>,
    /// How far back the total goes.
    pub total_days: u32,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub problem: Option<Redacted>,
}

/// What all sessions used today.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowSpent {
    pub tokens: u64,
    pub requests: u64,
    /// As far as the models have prices; none if none has.
    pub usd: Option<f64>,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub unpriced: Vec<Redacted>,
}

/// What pruning saved, less what it cost. Negative where it cost more.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowSaved {
    pub net_tokens: i64,
    pub net_usd: Option<f64>,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub unpriced: Vec<Redacted>,
    pub results_cut: u64,
    pub recoveries: u64,
    pub rereads: u64,
    /// Prunes that are in no log, so that it is not known how many requests carried them: in no other figure.
    pub unlinked_prunes: u64,
    /// What these cut, once each.
    pub unlinked_tokens: u64,
}

#[derive(Clone)]
pub(crate) struct ComputedFigures {
    spent: Option<NowSpent>,
    saved_today: Option<NowSaved>,
    saved_total: Option<NowSaved>,
    problem: Option<Redacted>,
}

pub(crate) type FiguresMemory = Background<Millis, ComputedFigures>;

impl Dashboard {
    /// The last figures; newer ones are begun if these are old. None before all logs are read: a part of them would pass for the whole.
    pub(crate) fn figures(&self, since: Millis, is_indexing: bool) -> NowFigures {
        let (services, settings) = (Arc::clone(&self.services), Arc::clone(&self.settings));
        let LastValue { value, is_computing } = match is_indexing {
            true => LastValue { value: None, is_computing: true },
            false => self.figures_memory.get(since, FRESH, move || compute(&services, &settings, since)),
        };
        let (at, computed) = value.unzip();
        let none = ComputedFigures { spent: None, saved_today: None, saved_total: None, problem: None };
        let ComputedFigures { spent, saved_today, saved_total, problem } = computed.unwrap_or(none);
        NowFigures {
            at,
            since,
            is_computing,
            spent,
            saved_today,
            saved_total,
            total_days: TOTAL_DAYS,
            problem,
        }
    }
}

fn compute(services: &Services, settings: &DashboardSettings, since: Millis) -> ComputedFigures {
    let mut problems = BTreeSet::new();
    let mut noted = |error: String| {
        problems.insert(error);
    };
    let now = Timestamp::now().as_millisecond();
    let spent = spent(services, &settings.prices, since).map_err(&mut noted).ok();
    let total = now - Millis::from(TOTAL_DAYS) * DAY_MS;
    let [saved_today, saved_total] =
        [since, total].map(|since| saved(services, &settings.prices, since, now).map_err(&mut noted).ok());
    let problem = problems.pop_first().map(Redacted::from);
    ComputedFigures { spent, saved_today, saved_total, problem }
}

fn spent(services: &Services, prices: &ModelPrices, since: Millis) -> Result<NowSpent, String> {
    let Some(sessions) = services.sessions() else { return Ok(NowSpent::default()) };
    let filter = SessionFilter { since: Some(since), ..SessionFilter::default() };
    let (mut spent, mut cost) = (NowSpent::default(), RequestCost::default());
    let visited = sessions.trace.visit_usage(&filter, UsageGrouping::Model, |_, request, model| {
        spent.tokens = spent.tokens.saturating_add(request.tokens.total());
        spent.requests += 1;
        prices.charge(&mut cost, model, request.at, request.tokens);
    });
    visited.map_err(|error| error.to_string())?;
    spent.usd = Some(cost.usd).filter(|_| cost.is_priced);
    spent.unpriced = cost.unpriced.into_keys().map(Redacted::from).collect();
    Ok(spent)
}

fn saved(services: &Services, prices: &ModelPrices, since: Millis, now: Millis) -> Result<NowSaved, String> {
    let Some(sessions) = services.sessions() else { return Ok(NowSaved::default()) };
    let options = GainOptions { since, now, grouping: GainGrouping::Agent, skipped_tools: Vec::new() };
    let report = tamis_gain::measure(&sessions.trace, &services.sieve, prices, &options);
    let GainReport { total, unlinked, .. } = report.map_err(|error| error.to_string())?;
    Ok(NowSaved {
        net_tokens: total.net_tokens,
        net_usd: total.net_usd,
        unpriced: total.unpriced_tokens.into_keys().map(Redacted::from).collect(),
        results_cut: total.results_cut,
        recoveries: total.recoveries,
        rereads: total.rereads,
        unlinked_prunes: unlinked.prunes,
        unlinked_tokens: unlinked.size_saved,
    })
}
