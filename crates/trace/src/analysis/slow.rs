//! Calls that took long, from call to result.
//!
//! Waiting for the person is left out as far as it is known: questions, what was declined, and tools that take no time of
//! their own, so that what they took was an approval. Where a result says how long the command ran, that counts instead.

use tamis_logs::tool_kinds::ToolKind;

use super::calls::Answered;
use super::findings::{Findings, Severity, Spot, lasting, many};
use super::rules::{Lens, Rule};

const SLOW: u64 = 60;
const VERY_SLOW: u64 = 300;
/// Longer than this, the machine slept or the session was left.
const ASLEEP: u64 = 6 * 3_600;
/// Slow calls that are reported one by one.
const MOST_TOLD: usize = 5;

#[derive(Default)]
pub(super) struct Slow {
    slow: u64,
    very_slow: u64,
    seconds: u64,
    /// The slowest, the slowest first.
    slowest: Vec<(u64, Spot, String)>,
}

impl Slow {
    pub(super) fn answered(&mut self, answer: &Answered<'_>) {
        // The others take no time of their own.
        let takes_time = matches!(
            answer.call.used.tool_kind,
            ToolKind::Run | ToolKind::Fetch | ToolKind::Delegate | ToolKind::Other
        );
        if !takes_time || answer.declined {
            return;
        }
        let waited = match (answer.call.at, answer.at) {
            (Some(from), Some(to)) => u64::try_from(to.saturating_sub(from)).unwrap_or(0) / 1_000,
            _ => 0,
        };
        let seconds = answer.ran.map_or(waited, |ran| ran as u64);
        if !(SLOW..ASLEEP).contains(&seconds) {
            return;
        }
        self.slow += 1;
        self.seconds += seconds;
        // A subagent's work is not one step.
        self.very_slow += u64::from(seconds >= VERY_SLOW && answer.call.used.tool_kind != ToolKind::Delegate);
        let place = self.slowest.partition_point(|(known, ..)| *known >= seconds);
        if place < MOST_TOLD {
            self.slowest.insert(place, (seconds, answer.spot, answer.call.shown()));
            self.slowest.truncate(MOST_TOLD);
        }
    }

    pub(super) fn finish(self, findings: &mut Findings) {
        findings.count(Rule::Slow, self.very_slow);
        for (index, (seconds, spot, shown)) in self.slowest.iter().enumerate() {
            let severity = if *seconds >= VERY_SLOW { Severity::Warning } else { Severity::Info };
            let mut message = format!("{} from call to result: {shown}", lasting(*seconds));
            if index == 0 && self.slow > 1 {
                let all = format!(
                    "; all {} together {}",
                    many(self.slow, "slow call", "slow calls"),
                    lasting(self.seconds)
                );
                message.push_str(&all);
            }
            findings.report(Lens::SlowSteps, severity, *spot, &message);
        }
    }
}
