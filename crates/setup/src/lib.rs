//! Connects tamis to coding agents and editors by changing their configuration files, and undoes it.
//!
//! Entry points: [`SetupClient`] for the programs and their files, [`Setup::plan`] for what would change, [`Setup::apply`],
//! [`Setup::plan_removal`], and [`Setup::connections`] for what a client's configuration has now.
//!
//! A file is changed only where tamis has its entry: comments, order and layout of everything else stay. What was written is
//! recorded in the data folder, with a copy of the file as it was. If the file is unchanged since, removal restores exactly those
//! bytes; otherwise, it removes only the entries that tamis wrote and that still have the values it gave them.
//!
//! Must never: replace a file that it cannot parse, remove what the user wrote, or follow a file that changes while it works.

mod client;
mod connections;
mod document;
mod files;
mod hooks;
mod record;
mod setup;

use std::path::PathBuf;

pub use client::{SetupClient, SetupEnvironment, SetupPart, SetupScope};
pub use connections::{Connection, ConnectionScope, ConnectionState};
pub use document::DocumentError;
pub use setup::{FileChange, PlannedChange, PlannedRemoval, Setup, SetupStep};

/// Why a client could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("cannot use `{path}`")]
    Document { path: PathBuf, source: DocumentError },
    #[error("cannot read `{path}`")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("cannot write `{path}`")]
    Write { path: PathBuf, source: std::io::Error },
    #[error("`{path}` was changed by another program at the same time")]
    Raced { path: PathBuf },
    #[error("`{path}` is not a regular file")]
    NotAFile { path: PathBuf },
    #[error("`{path}` is larger than {} MiB", limit / (1024 * 1024))]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("another `tamis setup` is still running")]
    Busy,
    #[error("the record `{path}` is damaged")]
    Record { path: PathBuf, source: serde_json::Error },
}
