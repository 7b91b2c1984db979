//! What one request may take, over all of its roles together.

use std::sync::Mutex;
use std::time::Duration;

use serde::Serialize;

/// The limits of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    #[serde(rename = "deadlineMs", serialize_with = "milliseconds")]
    pub deadline: Duration,
    pub max_files_read: u64,
    pub max_bytes_read: u64,
    /// What the report may weigh.
    pub max_tokens: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            deadline: Duration::from_secs(30),
            max_files_read: 50,
            max_bytes_read: 1 << 20,
            max_tokens: 2000,
        }
    }
}

/// What a caller asks for in place of what is configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    pub deadline_ms: Option<u64>,
    pub max_files_read: Option<u64>,
    pub max_bytes_read: Option<u64>,
    pub max_tokens: Option<u64>,
}

/// Beyond these nobody may go, whatever is asked for: a research is no backup.
const CEILING: Limits = Limits {
    deadline: Duration::from_secs(600),
    max_files_read: 10_000,
    max_bytes_read: 256 << 20,
    max_tokens: 50_000,
};

impl Limits {
    /// These with a caller's wishes.
    pub fn with(self, wishes: Constraints) -> Limits {
        let wished = wishes.deadline_ms.map(Duration::from_millis);
        Limits {
            deadline: wished.unwrap_or(self.deadline).min(CEILING.deadline),
            max_files_read: wishes.max_files_read.unwrap_or(self.max_files_read).min(CEILING.max_files_read),
            max_bytes_read: wishes.max_bytes_read.unwrap_or(self.max_bytes_read).min(CEILING.max_bytes_read),
            max_tokens: wishes.max_tokens.unwrap_or(self.max_tokens).min(CEILING.max_tokens),
        }
    }
}

fn milliseconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// What of a request's limits is used up, shared by all that work for it.
pub struct Allowance {
    limits: Limits,
    used: Mutex<Used>,
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Used {
    pub files_read: u64,
    pub bytes_read: u64,
    /// What a model took in and gave out.
    pub model_tokens: u64,
    /// Whether something was not read because of the limits.
    #[serde(skip)]
    pub limited: bool,
}

impl Allowance {
    pub fn of(limits: Limits) -> Allowance {
        Allowance { limits, used: Mutex::default() }
    }

    pub fn limits(&self) -> Limits {
        self.limits
    }

    pub fn used(&self) -> Used {
        *self.lock()
    }

    /// Takes the reading of one more file of this many bytes, if there is room for it.
    pub fn take_file(&self, bytes: u64) -> bool {
        let mut used = self.lock();
        let fits = used.files_read < self.limits.max_files_read
            && used.bytes_read.saturating_add(bytes) <= self.limits.max_bytes_read;
        if fits {
            used.files_read += 1;
            used.bytes_read += bytes;
        } else {
            used.limited = true;
        }
        fits
    }

    /// Notes that something was not read because of the limits.
    pub(crate) fn note_limited(&self) {
        self.lock().limited = true;
    }

    pub fn count_model_tokens(&self, tokens: u64) {
        self.lock().model_tokens += tokens;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_over_all_who_read() {
        let limits = Limits { max_files_read: 2, max_bytes_read: 10, ..Limits::default() };
        let allowance = Allowance::of(limits);
        assert!(allowance.take_file(8));
        assert!(!allowance.used().limited);
        assert!(!allowance.take_file(3));
        assert!(allowance.take_file(2));
        assert!(!allowance.take_file(0));
        assert_eq!(allowance.used(), Used { files_read: 2, bytes_read: 10, model_tokens: 0, limited: true });
    }

    #[test]
    fn wishes_replace_what_is_configured_up_to_a_ceiling() {
        let wishes =
            Constraints { deadline_ms: Some(5), max_files_read: Some(u64::MAX), ..Constraints::default() };
        let limits = Limits::default().with(wishes);
        assert_eq!((limits.deadline, limits.max_files_read), (Duration::from_millis(5), 10_000));
        assert_eq!(
            serde_json::to_string(&limits).unwrap(),
            r#"{"deadlineMs":5,"maxFilesRead":10000,"maxBytesRead":1048576,"maxTokens":2000}"#
        );
    }
}
