//! What the dashboard shows: the answers to the requests of its page, and the files of the page itself.
//!
//! Entry points: [`Dashboard`], one method per request, and [`page_file`]. One module per page of the dashboard has its types and
//! how they are read. All types that the page receives are here: `typescript.rs` generates `dashboard/src/lib/types.ts` from them.
//!
//! Every text from a log, an agent or a prune is [`Redacted`](tamis_redact::Redacted) before it leaves. Nothing here knows HTTP, and
//! methods block: a door calls them away from the threads that serve connections.

mod error;
mod files;
mod status;
#[cfg(test)]
mod typescript;

use std::sync::Arc;

use jiff::Timestamp;
use tamis_gain::ModelPrices;
use tamis_tools::Services;
use tamis_trace::Trace;

pub use error::{PageError, PageErrorKind};
pub use files::{PageFile, page_file};
pub use status::PageStatus;

/// What the dashboard knows besides the services of its process.
pub struct DashboardSettings {
    pub version: &'static str,
    pub prices: ModelPrices,
}

/// Answers the requests of the page.
pub struct Dashboard {
    services: Arc<Services>,
    settings: DashboardSettings,
    started: Timestamp,
}

impl Dashboard {
    pub fn new(services: Arc<Services>, settings: DashboardSettings) -> Dashboard {
        Dashboard { services, settings, started: Timestamp::now() }
    }

    /// The index of sessions.
    #[expect(dead_code, reason = "the next pages use it")]
    fn trace(&self) -> Result<&Arc<Trace>, PageError> {
        let missing = || PageError::new(PageErrorKind::Unavailable, "past sessions are not served here");
        Ok(&self.services.sessions().ok_or_else(missing)?.trace)
    }
}
