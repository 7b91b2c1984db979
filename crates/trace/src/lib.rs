//! Past sessions of coding agents: read into one event model, indexed, searched and diagnosed.
//!
//! The logs are their agents' own and are only ever read. The index is a structural one: where each block of a log lies,
//! what kinds of events it has, which letters may occur in it. The text stays in the logs.

pub mod accounting;
mod analysis;
mod block_events;
mod bloom;
mod call_stats;
mod db;
mod error;
mod event_details;
mod index;
mod index_files;
mod request_owners;
mod search;
mod search_text;
mod segment;
mod session;
mod status;
mod steps;
mod summary;
mod trace;
mod usage;
mod verify;
mod watch;

pub use analysis::{
    AnalysisOptions, AnalysisSummary, Deduction, EventCounts, Insight, Lens, OmittedInsights,
    SessionAnalysis, Severity,
};
pub use call_stats::ToolCallCounts;
pub use error::TraceError;
pub use event_details::EventDetails;
pub use index::{IndexProgress, IndexRefresh};
pub use index_files::{erase_indexes, index_files, index_of_named};
pub use search::{MatchPosition, QueryFinder, SearchMatch, SearchMode, SearchRequest, SearchResults};
pub use session::{Project, Session, SessionFilter};
pub use status::{ClientTotals, IndexStatus, UnrecognisedRecords};
pub use steps::{CallStep, ResultStep, ToolStep, TurnPart, TurnStep};
pub use summary::{SessionSummary, ToolStats, Turn, preview};
pub use trace::{LogState, Trace};
pub use usage::{ExplainedReport, UsageDecision, UsageGrouping, UsageRow};
pub use verify::{IndexDifference, IndexVerification};
pub use watch::{OnEvent, SessionWatch};
