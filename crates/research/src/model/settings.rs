//! How a local model is reached and used.

use std::collections::BTreeMap;
use std::time::Duration;

use tamis_http::{BearerSecret, HttpUrl};

use crate::Role;

/// When the model is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelUse {
    /// When there is one, with the deterministic roles to fall back on.
    #[default]
    Auto,
    Never,
    /// Even when there is none, which is then an error.
    Always,
}

impl ModelUse {
    pub const NAMES: [(&'static str, ModelUse); 3] =
        [("auto", ModelUse::Auto), ("never", ModelUse::Never), ("always", ModelUse::Always)];
}

impl std::str::FromStr for ModelUse {
    type Err = String;

    fn from_str(text: &str) -> Result<ModelUse, String> {
        let known = ModelUse::NAMES.iter().find(|(name, _)| *name == text);
        known.map(|(_, usage)| *usage).ok_or_else(|| format!("{text:?} is none of auto, never, always"))
    }
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
    /// The usual ones.
    pub fn at(url: HttpUrl) -> ModelSettings {
        ModelSettings {
            url,
            key: None,
            name: None,
            role_names: BTreeMap::new(),
            usage: ModelUse::Auto,
            concurrent: 1,
            probe_timeout: Duration::from_millis(400),
            remembered: Duration::from_secs(30),
            turn_timeout: Duration::from_secs(300),
            limits: ModelLimits::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_model_is_used_has_three_names() {
        for (name, usage) in ModelUse::NAMES {
            assert_eq!(name.parse(), Ok(usage));
        }
        assert!("sometimes".parse::<ModelUse>().is_err());
    }
}
