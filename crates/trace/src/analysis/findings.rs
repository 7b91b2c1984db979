//! What the lenses found, kept within bounds.

use serde::Serialize;
use tamis_redact::Redacted;

use super::rules::{Lens, RULES, Rule};
use crate::summary::preview;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Severity {
    Critical,
    Warning,
    Info,
}

/// One thing found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Insight {
    pub turn_index: u64,
    pub severity: Severity,
    pub lens: Lens,
    pub message: Redacted,
    /// The event to look at.
    pub event_index: u64,
    /// Whose event and turn these are, when they are a subagent's: its session's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

impl Insight {
    /// Its place among the others.
    pub(super) fn place(&self) -> (Severity, Option<&str>, u64, u64) {
        (self.severity, self.session_id.as_deref(), self.turn_index, self.event_index)
    }
}

/// Insights that are not shown, by how much they matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OmittedInsights {
    pub critical: u64,
    pub warning: u64,
    pub info: u64,
}

impl OmittedInsights {
    pub fn total(&self) -> u64 {
        self.critical + self.warning + self.info
    }

    pub(super) fn add(&mut self, severity: Severity) {
        *match severity {
            Severity::Critical => &mut self.critical,
            Severity::Warning => &mut self.warning,
            Severity::Info => &mut self.info,
        } += 1;
    }
}

/// Letters of a message.
const MESSAGE_CHARS: usize = 170;
/// Insights that are kept of each rule and severity while a session is read.
const MOST_OF_A_KIND: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) counts: [u64; RULES],
    pub(super) insights: Vec<Insight>,
    pub(super) left_out: OmittedInsights,
    /// Set while a subagent's session is analysed.
    pub(super) session: Option<String>,
}

/// Where something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) turn: u64,
    pub(super) event: u64,
}

impl Findings {
    /// Adds to the count of a rule.
    pub(super) fn count(&mut self, rule: Rule, many: u64) {
        self.counts[rule as usize] += many;
    }

    pub(super) fn report(&mut self, lens: Lens, severity: Severity, spot: Spot, message: &str) {
        let same =
            self.insights.iter().filter(|known| known.lens == lens && known.severity == severity).count();
        if same >= MOST_OF_A_KIND {
            return self.left_out.add(severity);
        }
        self.insights.push(Insight {
            turn_index: spot.turn,
            severity,
            lens,
            message: preview(message, MESSAGE_CHARS),
            event_index: spot.event,
            session_id: self.session.clone(),
        });
    }
}

/// The `MOST` largest of several, the largest first, and how many there were.
#[derive(Default)]
pub(super) struct Largest<const MOST: usize> {
    pub(super) many: u64,
    pub(super) sum: u64,
    pub(super) kept: Vec<(u64, Spot, String)>,
}

impl<const MOST: usize> Largest<MOST> {
    pub(super) fn add(&mut self, size: u64, spot: Spot, message: impl FnOnce() -> String) {
        self.many += 1;
        self.sum += size;
        let place = self.kept.partition_point(|(known, ..)| *known >= size);
        if place < MOST {
            self.kept.insert(place, (size, spot, message()));
            self.kept.truncate(MOST);
        }
    }
}

/// `1 call`, `3 calls`.
pub(super) fn many(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// `950`, `45k`, `1.2M`.
pub(super) fn rounded(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..999_500 => format!("{}k", (tokens + 500) / 1_000),
        _ => format!("{:.1}M", tokens as f64 / 1e6),
    }
}

/// `42 s`, `5 min`, `1 h 20 min`.
pub(super) fn lasting(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}
