//! How a local model is reached and used.

use std::collections::BTreeMap;
use std::time::Duration;

use tamis_http::{BearerSecret, HttpUrl};

use crate::Role;

/// When the model is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelUse {
    /// When there is one, with the deterministic roles to fall back on.
    Auto,
    /// Even when there is none, which is then an error.
    Always,
}

/// What one role may take of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelLimits {
    /// Turns in which the model may call tools.
    pub turns: usize,
    pub calls_a_turn: usize,
    /// What all turns together may take in and give out.
    pub tokens: u64,
    /// What a conversation may hold; older results of tools leave it first. Local models are often set up with little.
    pub context_tokens: usize,
    /// What one turn may give out.
    pub answer_tokens: u32,
}

impl Default for ModelLimits {
    fn default() -> ModelLimits {
        ModelLimits {
            turns: 12,
            calls_a_turn: 6,
            tokens: 120_000,
            context_tokens: 12_000,
            answer_tokens: 4096,
        }
    }
}

/// How a model is reached and used.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// What its paths begin with, as in `http://127.0.0.1:1234/v1`.
    pub url: HttpUrl,
    pub key: Option<BearerSecret>,
    /// The first that the server lists when there is none.
    pub name: Option<String>,
    /// For these roles another.
    pub role_names: BTreeMap<Role, String>,
    pub usage: ModelUse,
    /// How many requests may be under way at the same time; the others queue.
    pub concurrent: usize,
    /// How long to wait for the server to list its models.
    pub probe_timeout: Duration,
    /// How long what was found out is believed.
    pub remembered: Duration,
    /// How long one turn may take, within the request's deadline.
    pub turn_timeout: Duration,
    pub limits: ModelLimits,
}

impl ModelSettings {
    /// With the usual time limits, any model that the server has, and no key.
    pub fn at(url: HttpUrl, usage: ModelUse, concurrent: usize) -> ModelSettings {
        ModelSettings {
            url,
            key: None,
            name: None,
            role_names: BTreeMap::new(),
            usage,
            concurrent,
            probe_timeout: Duration::from_millis(400),
            remembered: Duration::from_secs(30),
            turn_timeout: Duration::from_secs(300),
            limits: ModelLimits::default(),
        }
    }
}
