//! The server behind the page.

use serde::Serialize;
use tamis_logs::event::Millis;
use tamis_redact::Redacted;

use crate::Dashboard;

/// The server behind the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageStatus {
    pub version: &'static str,
    /// The name of the machine.
    #[cfg_attr(test, ts(as = "String"))]
    pub machine: Redacted,
    pub started: Millis,
}

impl Dashboard {
    pub fn status(&self) -> PageStatus {
        PageStatus {
            version: self.settings.version,
            machine: machine(),
            started: self.started.as_millisecond(),
        }
    }
}

/// The name of the machine.
pub(crate) fn machine() -> Redacted {
    rustix::system::uname().nodename().to_string_lossy().into_owned().into()
}
