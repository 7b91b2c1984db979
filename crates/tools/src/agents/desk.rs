//! Where doors turn to for anything about agents.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tamis_agents::{AgentsError, Archive, Coordinator, Identity, Settings};
use tokio::sync::watch;

use super::coordinate::Duty;

/// How long nobody may coordinate until a call gives up.
const PATIENCE: Duration = Duration::from_secs(10);

/// What to do about agents, and how.
#[derive(Clone)]
pub struct AgentsSettings {
    pub coordinator: Settings,
    /// Who calls when nobody says so: the instance that this process was started for.
    pub identity: Option<Identity>,
    /// The server's token, for what is asked of whoever coordinates on behalf of the user.
    pub token: Option<String>,
    pub vacancy: Vacancy,
    /// How long nobody may coordinate until a call gives up.
    pub patience: Duration,
}

/// What to do with the user's wishes when nobody coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacancy {
    /// Wait for somebody, and give up after a while.
    Wait,
    /// Coordinate for as long as it takes: for a short command.
    Fill,
}

/// The agents of a data folder, seen from any process.
pub struct Agents {
    pub(super) settings: AgentsSettings,
    /// Opened when first needed, since most calls of a process are about something else.
    archive: Mutex<Option<Arc<Archive>>>,
    pub(super) duty: Duty,
    /// Goes up when events may have come.
    pub(super) bell: watch::Sender<u64>,
    pub(super) is_watched: Mutex<bool>,
}

impl AgentsSettings {
    pub fn new(coordinator: Settings) -> AgentsSettings {
        AgentsSettings {
            coordinator,
            identity: None,
            token: None,
            vacancy: Vacancy::Wait,
            patience: PATIENCE,
        }
    }
}

impl Agents {
    /// Touches nothing yet.
    pub fn new(settings: AgentsSettings) -> Agents {
        Agents {
            settings,
            archive: Mutex::new(None),
            duty: Duty::default(),
            bell: watch::Sender::new(0),
            is_watched: Mutex::new(false),
        }
    }

    pub fn settings(&self) -> &AgentsSettings {
        &self.settings
    }

    /// The tables.
    pub fn archive(&self) -> Result<Arc<Archive>, AgentsError> {
        let mut archive = self.archive.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(archive) = &*archive {
            return Ok(Arc::clone(archive));
        }
        Ok(Arc::clone(archive.insert(Arc::new(Archive::open(&self.settings.coordinator.database)?))))
    }

    /// The coordinator, if it is this process.
    pub(super) fn here(&self) -> Option<Arc<Coordinator>> {
        self.duty.coordinator()
    }

    /// Whether this is the process that coordinates.
    pub fn is_coordinating(&self) -> bool {
        self.here().is_some()
    }

    /// Tells followers that there may be something new.
    pub(super) fn ring(&self) {
        self.bell.send_modify(|rung| *rung += 1);
    }
}
