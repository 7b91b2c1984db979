//! Tokens, and which reports of them count.
//!
//! Logs report more than was used: the same request several times over, running totals, the totals that a fork inherited. A
//! reader says of each report what it [claims](Claim); what counts is decided in one place, the [`UsageAccount`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Tokens of one request, or a sum of them. The parts do not overlap, but for `reasoning`, which is part of `output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Read by the model and neither from the cache nor written to it.
    pub input: u64,
    pub cache_read: u64,
    pub cache_creation: u64,
    /// Written by the model, its reasoning included.
    pub output: u64,
    /// Of the output, where the log says so.
    pub reasoning: u64,
}

impl Tokens {
    pub fn total(&self) -> u64 {
        self.read().saturating_add(self.output)
    }

    /// All that the model read for a request: how full its context was.
    pub fn read(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_creation)
    }

    pub fn is_zero(&self) -> bool {
        *self == Tokens::default()
    }

    pub fn plus(self, other: Tokens) -> Tokens {
        self.zip(other, u64::saturating_add)
    }

    pub fn minus(self, other: Tokens) -> Tokens {
        self.zip(other, u64::saturating_sub)
    }

    /// The larger of each part.
    pub fn max(self, other: Tokens) -> Tokens {
        self.zip(other, u64::max)
    }

    fn zip(self, other: Tokens, of: impl Fn(u64, u64) -> u64) -> Tokens {
        Tokens {
            input: of(self.input, other.input),
            cache_read: of(self.cache_read, other.cache_read),
            cache_creation: of(self.cache_creation, other.cache_creation),
            output: of(self.output, other.output),
            reasoning: of(self.reasoning, other.reasoning),
        }
    }
}

/// One report of tokens in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageReport<'a> {
    /// As reported. For a running total, what was added since the last.
    pub tokens: Tokens,
    pub model: Option<Cow<'a, str>>,
    pub claim: Claim,
    /// None if the report sums up several requests, or does not tell.
    pub prompt: Option<PromptTokens>,
}

/// Tokens of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptTokens {
    pub all: u64,
    /// Those that were in the provider's cache, from the first one on.
    pub cached: u64,
}

/// What a report claims to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A request's tokens, reported once.
    Once,
    /// A request's tokens, which may be reported again, in this log or in a copy of it; the largest report counts.
    /// The number is a hash of what names the request.
    Request(u64),
    /// Does not count.
    Excluded(ExclusionReason),
}

/// Why a report does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionReason {
    /// The same total as before.
    Repeated,
    /// Used by the session that this one was forked from.
    Inherited,
    /// Nothing was used, or the client made the message up.
    Empty,
}

impl UsageReport<'_> {
    pub(crate) fn payload(&self) -> Value {
        let mut payload = json!(self.tokens);
        payload["total"] = self.tokens.total().into();
        if let Some(model) = &self.model {
            payload["model"] = model.as_ref().into();
        }
        payload
    }
}
