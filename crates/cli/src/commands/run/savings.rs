//! The summary of a run. Savings are reported only as far as the ledger knows them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime};

use tamis_clients::{RunOutcome, RunTotals};
use tamis_config::Config;
use tamis_sieve::{PruneSavings, Sieve};

use crate::{print, startup};

/// Time limit for the ledger to show the last prunes: a pruner writes its rows after its answers. Runs without cuts do not
/// wait.
const LEDGER_PATIENCE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// One line on stderr: turns, tool calls, tokens saved.
pub(super) fn summarise(
    agent: &str,
    outcome: &RunOutcome,
    wired: bool,
    prune_ids: &BTreeSet<String>,
    begun: SystemTime,
    config: &Config,
) {
    let totals = &outcome.totals;
    let mut line =
        format!("{agent}: {}, {}", counted(totals.turns, "turn"), counted(totals.tool_calls, "tool call"));
    if wired {
        line.push_str(&format!(", {} of them through the pruner", print::grouped(totals.pruner_calls)));
        let ledger = || look(&startup::sieve(config), prune_ids, begun);
        if let Some(savings) = savings(totals, prune_ids, ledger) {
            line.push_str(&format!("; {savings}"));
        }
    }
    print::note(line);
    if totals.shell_refused {
        print::note("hint: --allow-bash lets the agent use the pruner's bash");
    }
    if totals.unknown_reports > 0 {
        tracing::debug!("{} reports of unknown kinds", totals.unknown_reports);
    }
}

fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", print::grouped(number), if number == 1 { "" } else { "s" })
}

fn savings(
    totals: &RunTotals,
    prune_ids: &BTreeSet<String>,
    ledger: impl FnOnce() -> Result<Option<PruneSavings>, String>,
) -> Option<String> {
    if totals.pruner_calls == 0 {
        return None;
    }
    if prune_ids.is_empty() {
        // Another pruner may cut without markers.
        let nothing = if totals.questions == 0 {
            "none requested pruning"
        } else {
            "tokens saved unknown: no cut is marked"
        };
        return Some(nothing.to_owned());
    }
    let cuts = prune_ids.len() as u64;
    let known = match ledger() {
        Ok(savings) => savings.unwrap_or_default(),
        Err(why) => return Some(format!("tokens saved unknown: {why}")),
    };
    if known.known_ids == 0 {
        return Some("tokens saved unknown: the pruner keeps its ledger elsewhere".to_owned());
    }
    let saved = known.tokens_before.saturating_sub(known.tokens_after);
    let mut text =
        format!("about {} of {} tokens saved", print::grouped(saved), print::grouped(known.tokens_before));
    if known.recovered_tokens > 0 {
        text.push_str(&format!(", {} of them recovered later", print::grouped(known.recovered_tokens)));
    }
    if known.known_ids < cuts {
        text.push_str(&format!(", unknown for {}", counted(cuts - known.known_ids, "other")));
    }
    Some(text)
}

/// Savings of these prunes in the ledger, which gets a moment to record the last.
fn look(
    sieve: &Sieve,
    prune_ids: &BTreeSet<String>,
    begun: SystemTime,
) -> Result<Option<PruneSavings>, String> {
    let deadline = Instant::now() + LEDGER_PATIENCE;
    loop {
        let found = sieve.savings_of_prunes(prune_ids, begun).map_err(|error| error.to_string())?;
        let complete = found.is_some_and(|found| found.known_ids >= prune_ids.len() as u64);
        if complete || Instant::now() >= deadline {
            return Ok(found);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(pruner_calls: u64, questions: u64) -> RunTotals {
        let mut totals = RunTotals::default();
        (totals.pruner_calls, totals.questions) = (pruner_calls, questions);
        totals
    }

    fn rendered(
        totals: &RunTotals,
        ids: &[&str],
        ledger: Result<Option<PruneSavings>, String>,
    ) -> Option<String> {
        savings(totals, &ids.iter().map(|id| (*id).to_owned()).collect(), || ledger)
    }

    #[test]
    fn savings_are_reported_only_as_far_as_they_are_known() {
        let known =
            PruneSavings { known_ids: 1, tokens_before: 2000, tokens_after: 500, recovered_tokens: 0 };
        let cases = [
            (totals(0, 0), vec![], Ok(None), None),
            (totals(1, 0), vec![], Ok(None), Some("none requested pruning")),
            (totals(1, 1), vec![], Ok(Some(known)), Some("tokens saved unknown: no cut is marked")),
            (totals(1, 1), vec!["a"], Ok(Some(known)), Some("about 1,500 of 2,000 tokens saved")),
            (
                totals(2, 2),
                vec!["a", "b"],
                Ok(Some(PruneSavings { recovered_tokens: 300, ..known })),
                Some("about 1,500 of 2,000 tokens saved, 300 of them recovered later, unknown for 1 other"),
            ),
            (
                totals(1, 1),
                vec!["a"],
                Ok(None),
                Some("tokens saved unknown: the pruner keeps its ledger elsewhere"),
            ),
            (
                totals(1, 1),
                vec!["a"],
                Err("it is locked".to_owned()),
                Some("tokens saved unknown: it is locked"),
            ),
        ];
        for (totals, ids, ledger, expected) in cases {
            assert_eq!(
                rendered(&totals, &ids, ledger.clone()).as_deref(),
                expected,
                "{totals:?} {ids:?} {ledger:?}"
            );
        }
    }
}
