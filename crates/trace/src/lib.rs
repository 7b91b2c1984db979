//! Past sessions of coding agents: read into one event model, indexed, searched and diagnosed.
//!
//! The logs are their agents' own and are only ever read. The index is a structural one: where each block of a log lies,
//! what kinds of events it has, which letters may occur in it. The text stays in the logs.

pub mod event;
pub mod readers;
pub mod usage;
