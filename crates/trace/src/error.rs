//! Errors of this crate. A record that cannot be read is not an error: it is counted.

use std::path::PathBuf;

use tamis_store::StoreError;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum TraceError {
    #[error("cannot use the index of past sessions")]
    Index(#[from] StoreError),
    #[error("cannot use data folder `{path}`")]
    DataDir { path: PathBuf, source: std::io::Error },
    #[error("another process is indexing in `{path}`")]
    Busy { path: PathBuf },
    #[error("cannot read `{path}`")]
    Log { path: String, source: std::io::Error },
    #[error("`{path}` was changed or removed in the meantime")]
    Changed { path: String },
    #[error("Session not found: {id}")]
    NoSuchSession { id: String },
    #[error("Session ID prefix '{prefix}' matches {count} sessions. Provide more characters.")]
    Ambiguous {
        prefix: String,
        /// The first of them.
        matches: Vec<String>,
        /// How many there are.
        count: u64,
    },
    #[error("Event index {index} out of bounds for session {session} ({})", match most { Some(most) => format!("max: {most}"), None => "it has no events".to_owned() })]
    NoSuchEvent { session: String, index: u64, most: Option<u64> },
    #[error("query {0}")]
    InvalidQuery(String),
    #[error("The search took longer than {seconds} seconds.")]
    TooSlow { seconds: u64 },
    #[error("cancelled")]
    Cancelled,
}
