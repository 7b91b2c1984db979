//! Logs of coding agents: one reader for each format, all into one event model.
//!
//! [`discovery`] finds the logs, [`reading`] opens one with the reader of its format ([`readers`]), and every reader gives
//! [`event`]s and [`usage`] reports. [`tool_kinds`] classifies the agents' tools by their names, and [`latest_messages`] holds what the
//! person and the agent wrote last.
//!
//! This crate only ever reads: no log is written, locked or removed. A record that a reader does not recognise is never an
//! error; it is reported and counted.

mod detection;
pub mod discovery;
pub mod event;
pub mod latest_messages;
pub mod lines;
pub mod readers;
pub mod reading;
pub mod tool_kinds;
pub mod usage;
