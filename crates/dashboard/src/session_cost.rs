//! What sessions cost at list prices.

use serde::Serialize;
use tamis_gain::RequestCost;
use tamis_logs::usage::Tokens;
use tamis_redact::Redacted;
use tamis_trace::Session;

use crate::{Dashboard, PageError};

/// The parts of a sum of tokens. They do not overlap, but for `reasoning`, which is part of `output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSessionTokens {
    pub input: u64,
    pub cache_read: u64,
    pub cache_creation: u64,
    pub output: u64,
    pub reasoning: u64,
    pub total: u64,
}

impl From<Tokens> for PageSessionTokens {
    fn from(tokens: Tokens) -> PageSessionTokens {
        PageSessionTokens {
            input: tokens.input,
            cache_read: tokens.cache_read,
            cache_creation: tokens.cache_creation,
            output: tokens.output,
            reasoning: tokens.reasoning,
            total: tokens.total(),
        }
    }
}

/// What a session used of one model, its subagents included.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSessionModel {
    /// Empty when the log does not say.
    #[cfg_attr(test, ts(as = "String"))]
    pub model: Redacted,
    pub requests: u64,
    pub tokens: PageSessionTokens,
    /// None when the price is not known.
    pub usd: Option<f64>,
}

/// What the requests of one log used, by model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SessionCost {
    pub(crate) models: Vec<ModelCost>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ModelCost {
    model: String,
    requests: u64,
    tokens: Tokens,
    cost: RequestCost,
}

impl SessionCost {
    pub(crate) fn add(&mut self, other: &SessionCost) {
        for one in &other.models {
            let known = self.of(&one.model);
            known.requests += one.requests;
            known.tokens = known.tokens.plus(one.tokens);
            known.cost.usd += one.cost.usd;
            known.cost.is_priced |= one.cost.is_priced;
            known.cost.dates.extend(one.cost.dates.iter().cloned());
            for (model, tokens) in &one.cost.unpriced {
                *known.cost.unpriced.entry(model.clone()).or_default() += tokens;
            }
        }
    }

    fn of(&mut self, model: &str) -> &mut ModelCost {
        let at = self.models.iter().position(|known| known.model == model).unwrap_or_else(|| {
            self.models.push(ModelCost { model: model.to_owned(), ..ModelCost::default() });
            self.models.len() - 1
        });
        &mut self.models[at]
    }

    /// None when no request has a price.
    pub(crate) fn usd(&self) -> Option<f64> {
        let priced = self.models.iter().filter(|one| one.cost.is_priced);
        priced.map(|one| one.cost.usd).reduce(|sum, usd| sum + usd)
    }

    /// Tokens whose price is not known.
    pub(crate) fn unpriced(&self) -> u64 {
        self.models.iter().flat_map(|one| one.cost.unpriced.values()).sum()
    }

    pub(crate) fn requests(&self) -> u64 {
        self.models.iter().map(|one| one.requests).sum()
    }

    pub(crate) fn tokens(&self) -> Tokens {
        self.models.iter().fold(Tokens::default(), |sum, one| sum.plus(one.tokens))
    }

    /// The dates of the prices.
    pub(crate) fn price_dates(&self) -> Vec<String> {
        let mut dates: Vec<String> =
            self.models.iter().flat_map(|one| one.cost.dates.iter().cloned()).collect();
        dates.sort();
        dates.dedup();
        dates
    }

    /// The model with the most tokens.
    pub(crate) fn main_model(&self) -> Option<Redacted> {
        let named = self.models.iter().filter(|one| !one.model.is_empty());
        named.max_by_key(|one| one.tokens.total()).map(|one| one.model.as_str().into())
    }

    /// The most expensive first, then those with the most tokens.
    pub(crate) fn by_model(&self) -> Vec<PageSessionModel> {
        let mut models: Vec<&ModelCost> = self.models.iter().collect();
        models.sort_by(|one, other| {
            other.cost.usd.total_cmp(&one.cost.usd).then(other.tokens.total().cmp(&one.tokens.total()))
        });
        let shown = |one: &ModelCost| PageSessionModel {
            model: one.model.as_str().into(),
            requests: one.requests,
            tokens: one.tokens.into(),
            usd: one.cost.is_priced.then_some(one.cost.usd),
        };
        models.into_iter().map(shown).collect()
    }
}

impl Dashboard {
    /// What one session's own log counts.
    pub(crate) fn cost_of(&self, session: &Session) -> Result<SessionCost, PageError> {
        let trace = self.trace()?;
        let cost = self.session_cache.cost(&session.id, session.own_tokens, || {
            let mut cost = SessionCost::default();
            trace.visit_requests(session, |request, model| {
                let known = cost.of(model);
                known.requests += 1;
                known.tokens = known.tokens.plus(request.tokens);
                self.settings.prices.charge(&mut known.cost, model, request.at, request.tokens);
            })?;
            Ok(cost)
        });
        Ok(cost?)
    }

    /// The same with its subagents: they are billed.
    pub(crate) fn cost_with(
        &self,
        session: &Session,
        subagents: &[Session],
    ) -> Result<SessionCost, PageError> {
        let mut cost = self.cost_of(session)?;
        for subagent in subagents {
            cost.add(&self.cost_of(subagent)?);
        }
        Ok(cost)
    }
}
