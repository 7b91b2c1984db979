//! What readers learn about past prunes, and trying the engine.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::time::Duration;

use common::{LONG, caller, request, settings, sieve};
use tamis_prune::{CutCause, CutPlace, CutReason};
use tamis_sieve::{
    CallFilter, CallOutcome, Caller, LedgerCut, MarkerForm, PruneOptions, PruneRequest, PruneWarning,
    RecoverError, RepeatedCut, Sieve,
};
use tamis_text::TextKind;

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("some words in line {number}\n")).collect()
}

#[test]
fn calls_are_listed_in_pages_with_what_was_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let by = |client: &str, tool: &str| Caller {
        client: Some(client.to_owned()),
        tool: tool.to_owned(),
        session: Some(format!("session of {client}")),
        ..caller()
    };
    let text = lines(30);
    let cut = sieve.prune(&request(&text, "2-25 parse"), &by("claude", "Bash"), &|| false);
    let whole = sieve.prune(&request(&text, "impossible"), &by("codex", "read"), &|| false);
    assert_eq!(whole.warnings, [PruneWarning::ConstraintsUnmet]);
    sieve.recover(&cut.prune_id, &[(2, 4), (6, 6)], false, &by("claude", "recover_text")).unwrap();
    assert_eq!(sieve.flush(LONG), 0);

    let ids = |filter: &CallFilter, from, limit| {
        let page = sieve.calls(filter, from, limit).unwrap();
        (page.total, page.calls.into_iter().map(|call| call.prune_id).collect::<Vec<_>>())
    };
    let all = CallFilter::default();
    assert_eq!(ids(&all, 0, 10), (2, vec![whole.prune_id.clone(), cut.prune_id.clone()]));
    assert_eq!(ids(&all, 1, 10), (2, vec![cut.prune_id.clone()]));
    assert_eq!(ids(&all, 2, 10), (2, vec![]));
    let only_cut = (1, vec![cut.prune_id.clone()]);
    for filter in [
        CallFilter { client: Some("claude".into()), ..all.clone() },
        CallFilter { tool: Some("Bash".into()), ..all.clone() },
        CallFilter { session: Some("session of claude".into()), ..all.clone() },
        CallFilter { outcome: CallOutcome::Cut, ..all.clone() },
        CallFilter { outcome: CallOutcome::Recovered, ..all.clone() },
    ] {
        assert_eq!(ids(&filter, 0, 10), only_cut, "{filter:?}");
    }
    let not_cut = CallFilter { outcome: CallOutcome::Whole, ..all.clone() };
    assert_eq!(ids(&not_cut, 0, 10), (1, vec![whole.prune_id]));

    let call = sieve.calls(&all, 1, 1).unwrap().calls.remove(0);
    let recovered_tokens = call.recovered_tokens;
    assert_eq!((call.lines_before, call.lines_after, call.recoveries), (31, 7, 1));
    assert!(recovered_tokens > 0);

    let summary = sieve.call_summary(&all, 8).unwrap();
    assert_eq!((summary.totals.calls, summary.cut_calls, summary.totals.fallbacks), (2, 1, 1));
    assert_eq!(summary.totals.recovered_tokens, recovered_tokens);
    assert_eq!(
        (summary.clients, summary.tools),
        (vec!["claude".into(), "codex".into()], vec!["Bash".into(), "read".into()])
    );
    let before: u64 = summary.spans.iter().map(|span| span.tokens_before).sum();
    assert_eq!(before, summary.totals.tokens_before);
    let codex = CallFilter { client: Some("codex".into()), ..all };
    assert_eq!(sieve.call_summary(&codex, 8).unwrap().totals.recoveries, 0);
}

#[test]
fn a_prune_has_its_cuts_its_recoveries_and_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let text = lines(30);
    let pruned = sieve.prune(&request(&text, "2-9 parse\n11-25 hors focus"), &caller(), &|| false);
    sieve.recover(&pruned.prune_id, &[(2, 4), (6, 6)], false, &caller()).unwrap();
    assert_eq!(sieve.flush(LONG), 0);
    let record = sieve.prune_record(&pruned.prune_id).unwrap();
    assert_eq!(record.calls.len(), 1);
    let cut = |first_line, last_line| LedgerCut { first_line, last_line, cause: CutCause::LessRelevant };
    assert_eq!(record.cuts, Some(vec![cut(2, 9), cut(11, 25)]));
    assert_eq!(record.recoveries.len(), 1);
    assert_eq!(record.recoveries[0].ranges, Some(vec![(2, 4), (6, 6)]));

    let read = sieve.original_lines(&pruned.prune_id, 29, 40).unwrap();
    assert_eq!((read.first_line, read.total), (29, Some(31)));
    assert_eq!(read.lines, ["some words in line 29", "some words in line 30", ""]);
    assert_eq!(sieve.original_lines(&pruned.prune_id, 50, 60).unwrap().lines, [""; 0]);
    for unknown in ["prn_aaaaaaaaaaaaaaaabbbbbb", "../../etc/passwd", ""] {
        let missing = sieve.original_lines(unknown, 1, 2);
        assert!(matches!(missing, Err(RecoverError::NotFound { .. })), "{unknown}");
        assert_eq!(sieve.prune_record(unknown).unwrap(), Default::default());
    }
    // Reading is not recovering.
    assert_eq!(sieve.flush(LONG), 0);
    assert_eq!(sieve.prune_record(&pruned.prune_id).unwrap().recoveries.len(), 1);
}

#[test]
fn cuts_are_repeated_if_the_id_shows_the_options() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let text = lines(30);
    let usual = PruneRequest {
        options: PruneOptions { markers: MarkerForm::Short, ..PruneOptions::default() },
        ..request(&text, "2-25 parse")
    };
    let pruned = sieve.prune(&usual, &caller(), &|| false);
    let reason = CutReason { cause: CutCause::LessRelevant, place: CutPlace::Definition("parse".to_owned()) };
    assert_eq!(
        sieve.repeat_cuts(&pruned.prune_id, &|| false),
        Some(vec![RepeatedCut { first_line: 2, last_line: 25, reason }])
    );
    let odd = PruneRequest { options: PruneOptions { threshold: 0.123, ..usual.options }, ..usual };
    let pruned = sieve.prune(&odd, &caller(), &|| false);
    assert_eq!(sieve.repeat_cuts(&pruned.prune_id, &|| false), None);
}

#[test]
fn a_trial_agrees_with_the_dry_run_at_each_threshold_and_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = Sieve::new(settings(folder.path()));
    let text: String = (0..400)
        .map(|number| match number % 40 {
            0 => format!("fn parse_{number}(input: &str) -> Config {{\n"),
            39 => "}\n".to_owned(),
            _ => format!("    let value_{number} = compute(input, {number});\n"),
        })
        .collect();
    let request = |threshold| PruneRequest {
        text: &text,
        goal: "how is parse_80 defined",
        kind: TextKind::Code,
        options: PruneOptions { threshold, markers: MarkerForm::Short, ..PruneOptions::default() },
        shown: &[],
    };
    let thresholds = [0.0, 0.25, 0.75, 1.0];
    let trial = sieve.trial(&request(0.5), &thresholds, &|| false).unwrap();
    assert_eq!(trial.scores.len(), 401);
    let at: Vec<f32> = trial.results.iter().map(|result| result.threshold).collect();
    assert_eq!(at, [0.0, 0.25, 0.5, 0.75, 1.0]);
    for result in &trial.results {
        let pruned = sieve.dry_run(&request(result.threshold), &|| false);
        let lines =
            |cuts: &[RepeatedCut]| cuts.iter().map(|cut| (cut.first_line, cut.last_line)).collect::<Vec<_>>();
        let expected: Vec<_> =
            pruned.annotations.iter().map(|cut| (cut.original_start_line, cut.original_end_line)).collect();
        assert_eq!(lines(&result.cuts), expected, "{}", result.threshold);
        assert_eq!(result.tokens_after, pruned.stats.tokens_est_after);
    }
    assert!(trial.results[0].cuts.is_empty() && !trial.results[4].cuts.is_empty());
    assert_eq!(sieve.trial(&request(0.5), &thresholds, &|| true), Err(PruneWarning::Timeout));
    let hasty = PruneOptions { timeout: Duration::ZERO, ..request(0.5).options };
    let hasty = PruneRequest { options: hasty, ..request(0.5) };
    assert_eq!(sieve.trial(&hasty, &thresholds, &|| false), Err(PruneWarning::Timeout));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is stored");
}
