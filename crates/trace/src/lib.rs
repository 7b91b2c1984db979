//! Past sessions of coding agents: an index over their logs, search, usage and analysis.
//!
//! [`Trace`] is the entry point. [`Trace::refresh`] brings the index up to date; [`Trace::sessions`], [`Trace::events`] and
//! [`Trace::steps`] read sessions, [`Trace::search`] searches them, [`Trace::usage`] adds up tokens, [`Trace::analyze`]
//! diagnoses one session, and [`Trace::watch`] follows them while they are written.
//!
//! The index holds where each block of a log is, which kinds of events it has and a Bloom filter of its text. The text itself
//! stays in the logs, which are never changed. The index may be deleted at any time: it is rebuilt from the logs.
//!
//! This crate never prunes and knows nothing of tools, answers or their sizes.

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
mod indexed_log;
mod request_owners;
mod search;
mod search_text;
mod segment;
mod session;
mod session_list;
mod status;
mod step_boundaries;
mod steps;
mod summary;
mod time_span;
mod trace;
mod usage;
mod verify;
mod watch;

pub use analysis::{
    AnalysisOptions, AnalysisSummary, Deduction, EventCounts, Insight, Lens, OmittedInsights,
    SessionAnalysis, Severity,
};
pub use call_stats::{ToolCallCounts, ToolCallSize};
pub use error::TraceError;
pub use event_details::EventDetails;
pub use index::{IndexProgress, IndexRefresh};
pub use index_files::{erase_indexes, index_files, index_of_named};
pub use indexed_log::IndexedLog;
pub use search::{CompiledQuery, MatchPosition, SearchMatch, SearchRequest, SearchResults, TraceSearchMode};
pub use session::{ListedSession, Project, Session, SessionFilter};
pub use session_list::{SessionListQuery, SessionOrder, SessionSort};
pub use status::{ClientTotals, IndexStatus, UnrecognisedRecords};
pub use steps::{CallStep, ResultStep, ToolStep, TurnPart, TurnStep};
pub use summary::{SessionSummary, ToolStats, Turn, preview};
pub use time_span::TimeSpan;
pub use trace::Trace;
pub use usage::{ExplainedReport, UsageGrouping, UsageRow};
pub use verify::{IndexDifference, IndexVerification};
pub use watch::{OnEvent, OnLogEvent, SessionWatch};
