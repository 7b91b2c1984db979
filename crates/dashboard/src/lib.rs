//! What the dashboard shows: the answers to the requests of its page, and the files of the page itself.
//!
//! Entry points: [`Dashboard`], one method per request, and [`page_file`]. One module per page of the dashboard has its types and
//! how they are read. All types that the page receives are here: `typescript.rs` generates `dashboard/src/lib/types.ts` from them.
//!
//! Every text from a log, an agent or a prune is [`Redacted`](tamis_redact::Redacted) before it leaves. Nothing here knows HTTP, and
//! methods block: a door calls them away from the threads that serve connections.

mod error;
mod files;
mod prunes;
mod research;
mod session;
mod session_cache;
mod session_compare;
mod session_cost;
mod session_events;
mod session_outline;
mod session_search;
mod sessions;
mod status;
mod trial;
#[cfg(test)]
mod typescript;

use std::sync::Arc;

use jiff::Timestamp;
use tamis_gain::ModelPrices;
use tamis_tools::Services;
use tamis_trace::Trace;

pub use error::{PageError, PageErrorKind};
pub use files::{PageFile, page_file};
pub use prunes::{
    PageCut, PageCutCause, PageOriginalLines, PagePrune, PagePruneDetails, PagePruneList, PagePruneOutcome,
    PagePruneQuery, PagePruneSpan, PagePruneSummary, PageRecovery,
};
pub use research::{
    PageConfidence, PageFinding, PageHandoff, PageHandoffReference, PageHandoffRow, PageReferenceLines,
    PageReferenceQuery, PageReferenceState, PageReport, PageResearch, PageResearchEvent, PageResearchRequest,
    PageResearchStep, PageRoleOutcome,
};
pub use session::{
    PageDeduction, PageInsight, PageSession, PageSessionAnalysis, PageSessionParent, PageSessionTool,
    PageSubagent, PageTurn,
};
pub use session_compare::{PageCompareQuery, PageComparedSession, PageComparedTool, PageComparison};
pub use session_cost::{PageSessionModel, PageSessionTokens};
pub use session_events::{PageEvent, PageEventKind, PageEventList, PageEventRow, PageEventsQuery};
pub use session_outline::{PageContextPoint, PageSessionOutline};
pub use session_search::{PageSearchMatch, PageSearchQuery, PageSearchResults, PageSearchSession};
pub use sessions::{
    PageSessionClient, PageSessionFilters, PageSessionList, PageSessionProject, PageSessionRow,
    PageSessionsQuery,
};
pub use status::PageStatus;
pub use trial::{PageCutReason, PageTrial, PageTrialRequest, PageTrialResult};

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
    session_cache: session_cache::SessionCache,
}

impl Dashboard {
    pub fn new(services: Arc<Services>, settings: DashboardSettings) -> Dashboard {
        Dashboard { services, settings, started: Timestamp::now(), session_cache: Default::default() }
    }

    /// The index of sessions.
    fn trace(&self) -> Result<&Arc<Trace>, PageError> {
        let missing = || PageError::new(PageErrorKind::Unavailable, "past sessions are not served here");
        Ok(&self.services.sessions().ok_or_else(missing)?.trace)
    }
}
