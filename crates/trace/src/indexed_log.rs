//! A log and how far it is indexed.

use tamis_logs::discovery::{LogFormat, LogSource};
use tamis_redact::Redacted;

/// A log and how far it is indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedLog {
    pub(crate) id: i64,
    pub source: LogSource,
    pub format: LogFormat,
    pub read_to: u64,
    /// Bytes of a last line that is not whole yet.
    pub pending: u64,
    /// Of what is indexed.
    pub(crate) fingerprint: Vec<u8>,
    /// The reader's state at `read_to`.
    pub(crate) reader: String,
    pub(crate) problem: Option<String>,
}

impl IndexedLog {
    /// A log of which nothing is read yet.
    pub(crate) fn new(source: LogSource) -> IndexedLog {
        IndexedLog {
            id: 0,
            source,
            format: LogFormat::Unknown,
            read_to: 0,
            pending: 0,
            fingerprint: Vec::new(),
            reader: String::new(),
            problem: None,
        }
    }

    /// The file, and which of several sessions there.
    pub fn name(&self) -> Redacted {
        self.source.name().into()
    }

    /// Why it could not be read, or not to its end.
    pub fn problem(&self) -> Option<Redacted> {
        self.problem.as_deref().map(Redacted::from)
    }
}
