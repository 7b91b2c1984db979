//! Settings and health: what this server was configured with, what it stores, the clients, and what the doctor finds.

use std::time::Instant;

use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tamis_logs::event::Millis;
use tamis_redact::Redacted;

use crate::{Dashboard, PageError};

/// What only the command line knows: settings, client configurations and the doctor.
pub struct HealthSources {
    pub configuration: Box<dyn Fn() -> PageConfiguration + Send + Sync>,
    pub storage: Box<dyn Fn() -> PageStorage + Send + Sync>,
    pub clients: Box<dyn Fn() -> Vec<PageClient> + Send + Sync>,
    /// May take seconds.
    pub doctor: Box<dyn Fn() -> Result<PageCheckup, PageError> + Send + Sync>,
}

/// For a server without any of it.
impl Default for HealthSources {
    fn default() -> HealthSources {
        HealthSources {
            configuration: Box::new(PageConfiguration::default),
            storage: Box::new(PageStorage::default),
            clients: Box::new(Vec::new),
            doctor: Box::new(|| Ok(PageCheckup::default())),
        }
    }
}

/// Settings and health, as far as that is known at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSettings {
    pub version: &'static str,
    #[cfg_attr(test, ts(as = "String"))]
    pub machine: Redacted,
    pub started: Millis,
    pub configuration: PageConfiguration,
    pub storage: PageStorage,
    pub clients: Vec<PageClient>,
}

/// What this server was configured with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageConfiguration {
    /// The program that runs.
    #[cfg_attr(test, ts(as = "String"))]
    pub program: Redacted,
    #[cfg_attr(test, ts(as = "String"))]
    pub data_folder: Redacted,
    /// The user's file of settings, which need not exist.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub file: Option<Redacted>,
    /// The folders that research reads.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub roots: Vec<Redacted>,
    pub settings: Vec<PageSetting>,
    /// What was ignored, and why.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub warnings: Vec<Redacted>,
}

/// A setting. A secret's value is `(set)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageSetting {
    pub name: &'static str,
    pub about: &'static str,
    /// What its values look like.
    pub kind: String,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub value: Option<Redacted>,
    pub default: Option<String>,
    #[cfg_attr(test, ts(type = "'flag' | 'variable' | 'project' | 'user' | 'default' | 'unset'"))]
    pub source: &'static str,
    /// The variable or file, in words.
    #[cfg_attr(test, ts(as = "String"))]
    pub source_name: Redacted,
    pub variables: &'static [&'static str],
    /// What it would be if the server were started now, where that differs.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub after_restart: Option<Redacted>,
}

/// What is stored, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageStorage {
    pub items: Vec<PageStored>,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub problems: Vec<Redacted>,
}

/// One kind of stored data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageStored {
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    pub count: Option<u64>,
    /// What is counted: `file`, `row`.
    pub unit: &'static str,
    pub bytes: Option<u64>,
    #[cfg_attr(test, ts(as = "String"))]
    pub path: Redacted,
    /// The command that removes it.
    pub removal: Option<&'static str>,
}

/// A client that tamis can be connected to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageClient {
    pub name: &'static str,
    pub display_name: &'static str,
    pub is_installed: bool,
    pub mcp: PageConnection,
    /// None for a client without hooks.
    pub hooks: Option<PageConnection>,
    /// The command that connects it.
    pub setup: String,
}

/// Whether a client uses a part of tamis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageConnection {
    #[cfg_attr(test, ts(type = "'active' | 'off' | 'untrusted' | 'other' | 'unreadable' | 'none'"))]
    pub state: &'static str,
    /// The files that say so.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub places: Vec<Redacted>,
}

/// What the doctor found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageCheckup {
    pub findings: Vec<PageCheckFinding>,
    pub versions: Vec<PageClientVersion>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageCheckFinding {
    #[cfg_attr(test, ts(as = "String"))]
    pub subject: Redacted,
    #[cfg_attr(test, ts(type = "'fine' | 'note' | 'problem'"))]
    pub verdict: &'static str,
    #[cfg_attr(test, ts(as = "String"))]
    pub message: Redacted,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub fix: Option<Redacted>,
}

/// The version of a client, as its program prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageClientVersion {
    pub client: &'static str,
    #[cfg_attr(test, ts(as = "String"))]
    pub program: Redacted,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub version: Option<Redacted>,
}

/// A check-up, with when it was made and how long it took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageDoctor {
    pub at: Millis,
    pub took_ms: u64,
    #[serde(flatten)]
    #[cfg_attr(test, ts(flatten))]
    pub checkup: PageCheckup,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoctorQuery {
    /// Check now, whatever was found before.
    #[serde(default)]
    pub again: bool,
}

/// The last check-up. Held while one runs, so that there is one at a time.
#[derive(Default)]
pub(crate) struct LastCheckup(Mutex<Option<PageDoctor>>);

impl Dashboard {
    pub fn settings(&self) -> PageSettings {
        let status = self.status();
        let health = &self.settings.health;
        PageSettings {
            version: status.version,
            machine: status.machine,
            started: status.started,
            configuration: (health.configuration)(),
            storage: (health.storage)(),
            clients: (health.clients)(),
        }
    }

    /// The last check-up, or one that is made now.
    pub fn doctor(&self, query: DoctorQuery) -> Result<PageDoctor, PageError> {
        let requested = Timestamp::now().as_millisecond();
        let mut last = self.last_checkup.0.lock();
        // One that began while this request waited is recent enough.
        if let Some(known) = last.as_ref().filter(|known| !query.again || known.at >= requested) {
            return Ok(known.clone());
        }
        let (at, begun) = (Timestamp::now().as_millisecond(), Instant::now());
        let checkup = (self.settings.health.doctor)()?;
        let took_ms = begun.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
        Ok(last.insert(PageDoctor { at, took_ms, checkup }).clone())
    }
}
