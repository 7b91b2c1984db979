//! The settings that live in the database: the limits of the review loop, and what agents are started with.

use tamis_clients::Client;
use tamis_store::rusqlite::{self, Connection};

use crate::instances::records::{EventKind, NewEvent};
use crate::{AgentsError, Code, db};

/// What a value must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A whole number, at least this.
    Number { at_least: u64 },
    /// One of these, or empty for "as the coding agent's".
    Choice(&'static [&'static str]),
    /// A JSON list of strings: arguments.
    Texts,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct UserSetting {
    pub(crate) key: &'static str,
    pub(crate) default: &'static str,
    pub(crate) shape: Shape,
    pub(crate) about: &'static str,
}

pub const AGENTS: &[&str] = Client::NAMES;

pub(crate) const MAX_ITERATIONS: &str = "review.max_iterations";
pub(crate) const AUTO_ABANDON_AFTER: &str = "review.auto_abandon_after";
pub(crate) const TIMEOUT_HOURS: &str = "review.timeout_hours";
pub(crate) const DEFAULT_AGENT: &str = "agent.default";
pub(crate) const REVIEW_AGENT: &str = "review.agent";

/// All of them.
pub(crate) const USER_SETTINGS: &[UserSetting] = &[
    UserSetting {
        key: MAX_ITERATIONS,
        default: "3",
        shape: Shape::Number { at_least: 1 },
        about: "maximum number of reviews that a coding agent may request",
    },
    UserSetting {
        key: AUTO_ABANDON_AFTER,
        default: "5",
        shape: Shape::Number { at_least: 1 },
        about: "number of failed reviews, including refused requests, after which an agent is abandoned",
    },
    UserSetting {
        key: TIMEOUT_HOURS,
        default: "24",
        shape: Shape::Number { at_least: 1 },
        about: "time limit of a review, in hours",
    },
    UserSetting {
        key: DEFAULT_AGENT,
        default: "claude",
        shape: Shape::Choice(AGENTS),
        about: "agent to start when none is named",
    },
    UserSetting {
        key: REVIEW_AGENT,
        default: "",
        shape: Shape::Choice(&["", "claude", "codex", "gemini", "opencode"]),
        about: "agent to start for reviews (empty: the same as the coding agent)",
    },
    UserSetting {
        key: "agent.args.claude",
        default: "[]",
        shape: Shape::Texts,
        about: "additional arguments for claude",
    },
    UserSetting {
        key: "agent.args.codex",
        default: "[]",
        shape: Shape::Texts,
        about: "additional arguments for codex",
    },
    UserSetting {
        key: "agent.args.gemini",
        default: "[]",
        shape: Shape::Texts,
        about: "additional arguments for gemini",
    },
    UserSetting {
        key: "agent.args.opencode",
        default: "[]",
        shape: Shape::Texts,
        about: "additional arguments for opencode",
    },
];

impl UserSetting {
    /// Why a value will not do, if it will not.
    pub(crate) fn complaint(&self, value: &str) -> Option<String> {
        match self.shape {
            Shape::Number { at_least } => (!value.parse::<u64>().is_ok_and(|number| number >= at_least))
                .then(|| format!("must be a whole number, {at_least} or more")),
            Shape::Choice(choices) => (!choices.contains(&value))
                .then(|| format!("must be one of {}", choices.join(", ").trim_start_matches(", "))),
            Shape::Texts => serde_json::from_str::<Vec<String>>(value)
                .is_err()
                .then(|| "must be a JSON list of strings, such as [\"--model\", \"opus\"]".to_owned()),
        }
    }
}

/// The setting of this key.
pub fn user_setting(key: &str) -> Result<&'static UserSetting, AgentsError> {
    USER_SETTINGS.iter().find(|setting| setting.key == key).ok_or_else(|| {
        AgentsError::new(Code::ValidationError, format!("there is no setting {key:?}"))
            .suggest("`tamis agents config` lists them")
    })
}

/// A setting's value. An invalid one in the table counts as unset.
pub(crate) fn value_of(connection: &Connection, setting: &UserSetting) -> rusqlite::Result<String> {
    let stored =
        db::config_value(connection, setting.key)?.filter(|value| setting.complaint(value).is_none());
    Ok(stored.unwrap_or_else(|| setting.default.to_owned()))
}

/// The value of the setting with this key.
pub(crate) fn get(connection: &Connection, key: &str) -> Result<String, AgentsError> {
    Ok(value_of(connection, user_setting(key)?)?)
}

pub(crate) fn number(connection: &Connection, key: &str) -> Result<u64, AgentsError> {
    Ok(get(connection, key)?.parse().unwrap_or(u64::MAX))
}

pub(crate) fn texts(connection: &Connection, key: &str) -> Result<Vec<String>, AgentsError> {
    Ok(serde_json::from_str(&get(connection, key)?).unwrap_or_default())
}

/// What the user wants this agent to be started with.
pub(crate) fn agent_args(connection: &Connection, agent: &str) -> Result<Vec<String>, AgentsError> {
    if AGENTS.contains(&agent) {
        return texts(connection, &format!("agent.args.{agent}"));
    }
    Err(AgentsError::new(Code::ValidationError, format!("there is no agent {agent:?}"))
        .suggest(format!("name one of {}, or a command after `--`", AGENTS.join(", "))))
}

/// Sets a value, and records an event.
pub(crate) fn set(connection: &Connection, key: &str, value: &str) -> Result<(), AgentsError> {
    let setting = user_setting(key)?;
    if let Some(complaint) = setting.complaint(value) {
        return Err(AgentsError::new(Code::ValidationError, format!("{key} {complaint}, not {value:?}")));
    }
    db::set_config_value(connection, key, value)?;
    let detail = serde_json::json!({"key": key, "value": value});
    let event = NewEvent { detail, ..NewEvent::of(EventKind::ConfigChanged, None) };
    db::insert_event(connection, &event)?;
    Ok(())
}
