//! Past sessions of coding agents: read into one event model, indexed, searched and diagnosed.
//!
//! The logs are their agents' own and are only ever read. The index is a structural one: where each block of a log lies,
//! what kinds of events it has, which letters may occur in it. The text stays in the logs.

pub mod accounting;
mod analysis;
mod bloom;
mod call_stats;
mod db;
mod error;
mod index;
mod index_files;
mod reading;
mod search;
mod search_text;
mod segment;
mod status;
mod steps;
mod summary;
mod trace;
mod usage;
mod verify;
mod watch;

pub use analysis::{
    Analysis, AnalysisOptions, Deduction, EventCounts, Insight, LeftOut, Lens, Severity, Summary,
};
pub use call_stats::ToolUses;
pub use error::TraceError;
pub use index::{Progress, Refreshed};
pub use index_files::{erase_indexes, index_files, index_of_named};
pub use search::{Finder, Found, Match, Mode, Place, Search};
pub use status::{Holding, NotUnderstood, Report};
pub use steps::{CallStep, Excerpt, Part, ResultStep, Step, ToolStep};
pub use summary::{Tally, ToolUse, Turn, beginning};
pub use trace::{LogState, Project, Session, SessionFilter, Trace};
pub use usage::{Explained, UsageBy, UsageRow};
pub use verify::{Difference, Verified};
pub use watch::{OnEvent, Watch};
