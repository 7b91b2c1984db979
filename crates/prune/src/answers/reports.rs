//! Reports of test runs. The network knows what a failure needs; a goal that asks for other results needs those too.

use tamis_text::{StepOutcome, step_outcome};

use crate::DEFAULT_THRESHOLD;
use crate::want::{Amount, TestsWanted, Want};

/// Signs of a test that was not run.
const SKIPPED: [&str; 7] = ["SKIP", "skip", "ignored", "XFAIL", "pending", "todo", "disabled"];
/// Words of the line that sums a run up.
const SUMS: [&str; 6] = ["passed", "skipped", "ignored", "passing", "pending", "tests in"];

/// Raises the results that the goal asks for.
pub(crate) fn raise(lines: &[&str], want: &Want, scores: &mut [f32]) {
    let Some(wanted) = want.tests.filter(|_| want.is_stated && want.amount != Amount::YesNo) else { return };
    for (line, score) in lines.iter().zip(scores) {
        let is_skipped = || SKIPPED.iter().any(|sign| line.contains(sign));
        let is_sum = || {
            line.len() < 200
                && line.bytes().any(|byte| byte.is_ascii_digit())
                && SUMS.iter().any(|word| line.contains(word))
        };
        let is_wanted = match step_outcome(line) {
            Some(StepOutcome::Passed) => match wanted {
                TestsWanted::All => true,
                TestsWanted::Skipped => is_skipped(),
                TestsWanted::Passed => !is_skipped(),
            },
            Some(StepOutcome::Failed) => wanted == TestsWanted::All,
            None => is_sum(),
        };
        if is_wanted {
            *score = score.max(DEFAULT_THRESHOLD);
        }
    }
}
