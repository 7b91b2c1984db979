//! Past sessions of coding agents: read into one event model, indexed, searched and diagnosed.
//!
//! The logs are their agents' own and are only ever read. The index is a structural one: where each block of a log lies,
//! what kinds of events it has, which letters may occur in it. The text stays in the logs.

mod analysis;
mod db;
pub mod deeds;
mod error;
pub mod event;
mod explain;
mod filter;
mod index;
pub mod ledger;
mod lines;
pub mod readers;
mod reading;
mod recognise;
mod report;
mod savings;
mod search;
mod segment;
mod source;
mod steps;
mod tally;
mod trace;
mod upkeep;
pub mod usage;
mod uses;
mod verify;
mod watch;
mod words;

pub use analysis::{
    Analysis, AnalysisOptions, Deduction, EventCounts, Insight, LeftOut, Lens, Severity, Summary,
};
pub use error::TraceError;
pub use explain::{Explained, UsageBy, UsageRow};
pub use index::{Progress, Refreshed};
pub use report::{Holding, NotUnderstood, Report};
pub use savings::{NeededLine, Replayed, Savings, SavingsOptions, SavingsProgress, SavingsSums, Skipped};
pub use search::{Finder, Found, Match, Mode, Place, Search};
pub use source::Places;
pub use steps::{CallStep, Excerpt, Part, ResultStep, Step, ToolStep};
pub use tally::{Tally, ToolUse, Turn};
pub use trace::{LogState, Project, Session, SessionFilter, Trace};
pub use upkeep::{erase_indexes, index_files, index_of_named};
pub use uses::ToolUses;
pub use verify::{Difference, Verified};
pub use watch::{OnEvent, Watch};
