//! The limits of one request over all of its roles, and what is used of them.

use std::collections::BTreeSet;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Serialize;
use tamis_codebase::RootedPath;

/// The limits of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResearchLimits {
    #[serde(rename = "deadlineMs", serialize_with = "milliseconds")]
    pub deadline: Duration,
    pub max_files_read: u64,
    pub max_bytes_read: u64,
    /// Tokens of the report.
    pub max_tokens: u64,
}

#[cfg(test)]
impl ResearchLimits {
    /// For tests that are not about limits.
    pub(crate) const SAMPLE: ResearchLimits = ResearchLimits {
        deadline: Duration::from_secs(30),
        max_files_read: 50,
        max_bytes_read: 1 << 20,
        max_tokens: 2000,
    };
}

/// Limits that a caller sets in place of the configured ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResearchConstraints {
    pub deadline_ms: Option<u64>,
    pub max_files_read: Option<u64>,
    pub max_bytes_read: Option<u64>,
    pub max_tokens: Option<u64>,
}

/// The ceiling for every request.
const CEILING: ResearchLimits = ResearchLimits {
    deadline: Duration::from_secs(600),
    max_files_read: 10_000,
    max_bytes_read: 256 << 20,
    max_tokens: 50_000,
};

impl ResearchLimits {
    /// These limits with a caller's constraints.
    pub fn with(self, constraints: ResearchConstraints) -> ResearchLimits {
        let deadline = constraints.deadline_ms.map(Duration::from_millis);
        ResearchLimits {
            deadline: deadline.unwrap_or(self.deadline).min(CEILING.deadline),
            max_files_read: constraints
                .max_files_read
                .unwrap_or(self.max_files_read)
                .min(CEILING.max_files_read),
            max_bytes_read: constraints
                .max_bytes_read
                .unwrap_or(self.max_bytes_read)
                .min(CEILING.max_bytes_read),
            max_tokens: constraints.max_tokens.unwrap_or(self.max_tokens).min(CEILING.max_tokens),
        }
    }
}

impl ResearchLimits {
    /// As a line of a memo.
    pub(crate) fn render(&self) -> String {
        format!(
            "limits: {} files read, {} bytes read, {} tokens, {} ms",
            self.max_files_read,
            self.max_bytes_read,
            self.max_tokens,
            self.deadline.as_millis()
        )
    }
}

fn milliseconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// What a request has read so far, shared by all of its roles.
pub struct ReadBudget {
    limits: ResearchLimits,
    used: Mutex<ResearchUsage>,
    /// Files that the limits left unread.
    unread: Mutex<BTreeSet<RootedPath>>,
}

/// What a request used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResearchUsage {
    pub files_read: u64,
    pub bytes_read: u64,
    /// Prompt and completion tokens of models.
    pub model_tokens: u64,
    /// Whether something was not read because of the limits.
    #[serde(skip)]
    pub limited: bool,
}

impl ReadBudget {
    pub fn of(limits: ResearchLimits) -> ReadBudget {
        ReadBudget { limits, used: Mutex::default(), unread: Mutex::default() }
    }

    pub fn limits(&self) -> ResearchLimits {
        self.limits
    }

    pub fn used(&self) -> ResearchUsage {
        *self.used.lock()
    }

    /// Counts one more file of this many bytes, if the limits allow it.
    pub fn take_file(&self, bytes: u64) -> bool {
        let mut used = self.used.lock();
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

    /// Notes that a file was not read because of the limits.
    pub(crate) fn note_unread(&self, place: &RootedPath) {
        self.used.lock().limited = true;
        self.unread.lock().insert(place.clone());
    }

    /// The files that were not read because of the limits, in order.
    pub(crate) fn unread(&self) -> Vec<RootedPath> {
        self.unread.lock().iter().cloned().collect()
    }

    pub fn count_model_tokens(&self, tokens: u64) {
        self.used.lock().model_tokens += tokens;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_over_all_readers() {
        let limits = ResearchLimits { max_files_read: 2, max_bytes_read: 10, ..ResearchLimits::SAMPLE };
        let budget = ReadBudget::of(limits);
        assert!(budget.take_file(8));
        assert!(!budget.used().limited);
        assert!(!budget.take_file(3));
        assert!(budget.take_file(2));
        assert!(!budget.take_file(0));
        assert_eq!(
            budget.used(),
            ResearchUsage { files_read: 2, bytes_read: 10, model_tokens: 0, limited: true }
        );
    }

    #[test]
    fn constraints_replace_configured_limits_up_to_a_ceiling() {
        let constraints = ResearchConstraints {
            deadline_ms: Some(5),
            max_files_read: Some(u64::MAX),
            ..ResearchConstraints::default()
        };
        let limits = ResearchLimits::SAMPLE.with(constraints);
        assert_eq!((limits.deadline, limits.max_files_read), (Duration::from_millis(5), 10_000));
        assert_eq!(
            serde_json::to_string(&limits).unwrap(),
            r#"{"deadlineMs":5,"maxFilesRead":10000,"maxBytesRead":1048576,"maxTokens":2000}"#
        );
    }
}
