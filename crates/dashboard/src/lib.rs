//! What the dashboard shows: the answers to the requests of its page, and the files of the page itself.
//!
//! Entry points: [`Dashboard`], one method per request, and [`page_file`]. One module per page of the dashboard has its types and
//! how they are read. All types that the page receives are here: `typescript.rs` generates `dashboard/src/lib/types.ts` from them.
//!
//! Every text from a log, an agent or a prune is [`Redacted`](tamis_redact::Redacted) before it leaves. Nothing here knows HTTP, and
//! methods block: a door calls them away from the threads that serve connections.

mod agents;
mod background;
mod context_windows;
mod error;
mod files;
mod health;
mod live;
mod now;
mod now_figures;
mod now_start;
mod now_tail;
mod prunes;
mod research;
mod session;
mod session_cache;
mod session_compare;
mod session_cost;
mod session_events;
mod session_outline;
mod session_search;
#[cfg(test)]
mod session_tests;
mod sessions;
mod status;
#[cfg(test)]
mod testing;
mod trial;
#[cfg(test)]
mod typescript;

use std::sync::Arc;

use jiff::Timestamp;
use tamis_gain::{ModelPrices, ReachReport};
use tamis_tools::Services;
use tamis_trace::Trace;

use health::LastCheckup;

pub use agents::{
    AgentDiffQuery, AgentEventQuery, AgentListQuery, AgentLogQuery, AgentState, PageAbandon, PageAgent,
    PageAgentCounts, PageAgentEvent, PageAgentEvents, PageAgentLog, PageAgents, PageCoordination, PageDiff,
    PageDiffFile, PageDiffHunk, PageDiffLine, PageEventDetail, PageFamily, PageFeedback, PageInstance,
    PageReview, PageReviewLimits, PageReviewUse,
};
pub use context_windows::NowContext;
pub use error::{PageError, PageErrorKind};
pub use files::{PageFile, page_file};
pub use health::{
    DoctorQuery, HealthSources, PageCheckFinding, PageCheckup, PageClient, PageClientVersion,
    PageConfiguration, PageConnection, PageDoctor, PageSetting, PageSettings, PageStorage, PageStored,
};
pub use live::{LiveCall, LiveMessage, LiveSink, MissedCalls};
pub use now::{NowAgent, NowQuery, NowSession, PageNow};
pub use now_figures::{NowFigures, NowSaved, NowSpent};
pub use now_start::{NowClient, NowClientReach, NowReach, NowStart, NowVerdict};
pub use now_tail::{NowActivity, NowDoing, NowPhase, NowState};
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
    /// The clients of this machine, and whether they use tamis.
    pub clients: Box<dyn Fn() -> Vec<NowClient> + Send + Sync>,
    /// What tamis could save on past sessions, or why that is not known. Takes seconds.
    pub reach: Box<dyn Fn() -> Result<ReachReport, String> + Send + Sync>,
    pub health: HealthSources,
}

/// Answers the requests of the page.
pub struct Dashboard {
    services: Arc<Services>,
    settings: Arc<DashboardSettings>,
    started: Timestamp,
    session_cache: session_cache::SessionCache,
    now_memory: now::NowMemory,
    figures_memory: now_figures::FiguresMemory,
    reach_memory: now_start::ReachMemory,
    last_checkup: LastCheckup,
}

impl Dashboard {
    pub fn new(services: Arc<Services>, settings: DashboardSettings) -> Dashboard {
        Dashboard {
            services,
            settings: Arc::new(settings),
            started: Timestamp::now(),
            session_cache: session_cache::SessionCache::default(),
            now_memory: now::NowMemory::default(),
            figures_memory: now_figures::FiguresMemory::default(),
            reach_memory: now_start::ReachMemory::default(),
            last_checkup: LastCheckup::default(),
        }
    }

    /// The index of sessions.
    fn trace(&self) -> Result<&Arc<Trace>, PageError> {
        let missing = || PageError::new(PageErrorKind::Unavailable, "past sessions are not served here");
        Ok(&self.services.sessions().ok_or_else(missing)?.trace)
    }
}
