//! Calls that took long, from call to result.
//!
//! Waiting for the person is left out as far as it is known: questions, what was declined, and tools that take no time of
//! their own, so that what they took was an approval. Where a result says how long the command ran, that counts instead.

use tamis_logs::event::seconds_between;
use tamis_logs::tool_kinds::ToolKind;

use super::calls::Answered;
use super::findings::{Findings, Largest, Severity, lasting, many};
use super::rules::{Lens, Rule};

const SLOW: u64 = 60;
const VERY_SLOW: u64 = 300;
/// Longer than this, the machine slept or the session was left.
const ASLEEP: u64 = 6 * 3_600;
/// Slow calls that are reported one by one.
const MOST_REPORTED: usize = 5;

#[derive(Default)]
pub(super) struct Slow {
    slow: Largest<MOST_REPORTED>,
    very_slow: u64,
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
        let waited = seconds_between(answer.call.at, answer.at);
        let seconds = answer.ran.map_or(waited, |ran| ran as u64);
        if !(SLOW..ASLEEP).contains(&seconds) {
            return;
        }
        // A subagent's work is not one step.
        self.very_slow += u64::from(seconds >= VERY_SLOW && answer.call.used.tool_kind != ToolKind::Delegate);
        self.slow.add(seconds, answer.spot, || answer.call.shown());
    }

    pub(super) fn finish(self, findings: &mut Findings) {
        findings.count(Rule::Slow, self.very_slow);
        for (index, (seconds, spot, shown)) in self.slow.kept.iter().enumerate() {
            let severity = if *seconds >= VERY_SLOW { Severity::Warning } else { Severity::Info };
            let mut message = format!("{} from call to result: {shown}", lasting(*seconds));
            if index == 0 && self.slow.many > 1 {
                let all = format!(
                    "; all {} together {}",
                    many(self.slow.many, "slow call", "slow calls"),
                    lasting(self.slow.sum)
                );
                message.push_str(&all);
            }
            findings.report(Lens::SlowSteps, severity, *spot, &message);
        }
    }
}
