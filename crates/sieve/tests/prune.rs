//! The results of prunes and recoveries, compared as whole values.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::time::{Duration, SystemTime};

use common::*;
use serde_json::json;
use tamis_sieve::{
    Caller, LedgerTotals, LineRange, MarkerForm, PruneOptions, PruneRequest, PruneSavings, PruneWarning,
    PurgeRequest, RecoverError, RecoveredMetadata, RecoveredText, Sieve, SieveSettings, is_marker,
};

const TEXT: &str = "a\nb\nc\nd\r\ne\n";

#[test]
fn a_pruned_text_has_the_contracts_form() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let request = PruneRequest {
        options: PruneOptions {
            annotate_lines: true,
            ..request(TEXT, "2-3 hors focus\n5-5 sans lien").options
        },
        ..request(TEXT, "2-3 hors focus\n5-5 sans lien")
    };
    let pruned = sieve.prune(&request, &caller(), &|| false);
    let id = &pruned.prune_id;
    assert!(id.starts_with("prn_") && id.len() == 26, "{id}");
    let first = format!("⟦PRUNÉ: prune_id={id} lignes 2-3 (2) raison=hors focus⟧");
    let second = format!("⟦PRUNÉ: prune_id={id} lignes 5-5 (1) raison=sans lien⟧");
    let text = format!("1│ a\n{first}\n4│ d\r\n{second}\n6│ ");
    let tokens = text.len().div_ceil(4);
    let elapsed = pruned.stats.elapsed_ms;
    let expected = json!({
        "prune_id": id,
        "pruned_text": text,
        "annotations": [
            {"kind": "pruned_block", "original_start_line": 2, "original_end_line": 3, "pruned_line_count": 2,
             "reason": "hors focus", "marker": first},
            {"kind": "pruned_block", "original_start_line": 5, "original_end_line": 5, "pruned_line_count": 1,
             "reason": "sans lien", "marker": second},
        ],
        "stats": {"original_lines": 6, "kept_lines": 3, "pruned_lines": 3, "pruned_ratio": 0.5,
                  "tokens_est_before": 3, "tokens_est_after": tokens, "elapsed_ms": elapsed,
                  "used_fallback": false},
        "warnings": [],
    });
    assert_eq!(serde_json::to_value(&pruned).unwrap(), expected);
    // The order of the fields is the contract's too.
    let order = r#"{"kind":"pruned_block","original_start_line":5,"original_end_line":5,"pruned_line_count":1,"reason":"sans lien","marker":"#;
    assert!(serde_json::to_string(&pruned.annotations[1]).unwrap().starts_with(order));
    let order =
        r#"{"original_lines":6,"kept_lines":3,"pruned_lines":3,"pruned_ratio":0.5,"tokens_est_before":3,"#;
    assert!(serde_json::to_string(&pruned.stats).unwrap().starts_with(order));
    assert_eq!(pruned.scores, [0.5; 6]);
}

#[test]
fn without_markers_the_annotations_are_complete() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let request = PruneRequest {
        options: PruneOptions { include_markers: false, ..request(TEXT, "2-3 hors\nfocus").options },
        ..request(TEXT, "2-3 hors\nfocus")
    };
    let pruned = sieve.prune(&request, &caller(), &|| false);
    assert_eq!(pruned.pruned_text, "a\nd\r\ne\n");
    assert!(pruned.annotations[0].marker.contains(&format!("prune_id={} lignes 2-3 (2)", pruned.prune_id)));
}

#[test]
fn a_dry_run_gives_what_a_prune_gives_and_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let real = sieve(folder.path().join("real"));
    let without_store = Sieve::with_engine(SieveSettings::without_store(usize::MAX), scripted);
    let place = folder.path().join("dry");
    let with_store = sieve(&place);
    for goal in ["2-3 x\n5-5 y", "", "panic", "impossible", "2-9 out of the text"] {
        let request = request(TEXT, goal);
        let answered = real.prune(&request, &caller(), &|| false);
        for dry_sieve in [&without_store, &with_store] {
            let mut dry = dry_sieve.dry_run(&request, &|| false);
            dry.stats.elapsed_ms = answered.stats.elapsed_ms;
            assert_eq!(dry, answered, "{goal}");
        }
    }
    assert!(!place.exists());
}

#[test]
fn the_same_call_has_the_same_result_in_every_process() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = prune(&sieve(one.path()), TEXT, "2-3 x");
    let second = prune(&sieve(other.path()), TEXT, "2-3 x");
    assert_eq!((&first.prune_id, &first.pruned_text), (&second.prune_id, &second.pruned_text));
    let third = prune(&sieve(one.path()), TEXT, "3-3 x");
    assert_eq!(first.prune_id[..20], third.prune_id[..20]);
    assert_ne!(first.prune_id, third.prune_id);
}

#[test]
fn a_text_without_cuts_is_unchanged_and_recoverable() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    for text in ["", "\n", "\u{feff}a\0b\r\n", TEXT] {
        let pruned = prune(&sieve, text, "");
        assert_eq!(pruned.pruned_text, text);
        assert_eq!((pruned.stats.used_fallback, pruned.warnings.len()), (false, 0));
        assert_eq!(recover_all(&sieve, &pruned.prune_id).unwrap(), text);
    }
}

#[test]
fn a_ratio_never_claims_more_than_was_cut() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    assert_eq!(prune(&sieve, "a\nb\nc", "1-2 x").stats.pruned_ratio, 0.6666);
    assert_eq!(prune(&sieve, "a\nb\nc", "1-3 x").stats.pruned_ratio, 1.0);
    assert_eq!(prune(&sieve, "a\nb\nc", "1-3 x").stats.kept_lines, 0);
}

#[test]
fn cut_lines_can_be_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let id = prune(&sieve, TEXT, "2-3 x").prune_id;
    let recovered = sieve.recover(&id, &[(4, 99), (2, 3)], true, &caller()).unwrap();
    let range = |start_line, end_line| LineRange { start_line, end_line };
    let metadata = RecoveredMetadata {
        prune_id: id.clone(),
        ranges: vec![range(4, 6), range(2, 3)],
        line_numbering: RecoveredMetadata::NUMBERING,
    };
    assert_eq!(recovered, RecoveredText { raw_text: "4│ d\r\n5│ e\n6│ \n2│ b\n3│ c".into(), metadata });
    // The contract's form, and its order.
    let last = sieve.recover(&id, &[(5, 5)], false, &caller()).unwrap();
    assert_eq!(
        serde_json::to_string(&last).unwrap(),
        format!(
            r#"{{"raw_text":"e","metadata":{{"prune_id":"{id}","ranges":[{{"start_line":5,"end_line":5}}],"line_numbering":"original"}}}}"#
        )
    );
    // The part of the id that comes from the text is enough; the rest is not checked.
    assert_eq!(recover_all(&sieve, &format!("{}aaaaaa", &id[..20])).unwrap(), TEXT);
    assert_eq!(sieve.goal(&id).as_deref(), Some("2-3 x"));
}

#[test]
fn the_beginning_of_an_id_is_enough_if_no_other_begins_so() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let id = prune(&sieve, TEXT, "2-3 x").prune_id;
    prune(&sieve, TEXT, "2-3 another goal");
    for end in [8, 12, 20, 23, 25] {
        assert_eq!(recover_all(&sieve, &id[..end]).unwrap(), TEXT, "{end}");
    }
    // It could be guessed, so it is not enough for callers without a credential.
    let anonymous = Caller { is_anonymous: true, ..caller() };
    let guessed = sieve.recover(&id[..8], &[(1, 1)], false, &anonymous);
    assert_eq!(guessed, Err(RecoverError::NotFound { prune_id: id[..8].to_owned() }));
    assert!(sieve.recover(&id, &[(1, 1)], false, &anonymous).is_ok());
    // Another original that begins in the same way.
    let twin = format!("{}{}", &id[4..16], "zzzz");
    let stored = original(folder.path(), &id);
    std::fs::copy(&stored, stored.with_file_name(format!("{twin}.zst"))).unwrap();
    expire_in(&stored.with_file_name(format!("{twin}.zst")), DAY);
    let several = RecoverError::Ambiguous { prune_id: id[..12].to_owned(), count: 2 };
    assert_eq!(recover_all(&sieve, &id[..12]), Err(several));
    assert_eq!(recover_all(&sieve, &id[..20]).unwrap(), TEXT);
    // The ledger counts what was recovered for the prune that it came from.
    assert_eq!(sieve.flush(LONG), 0);
    assert_eq!(sieve.ledger_totals().unwrap().recoveries, 7);
}

#[test]
fn kept_lines_stay_where_they_are_if_a_text_is_pruned_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let text: String = (1..=40).map(|line| format!("line {line} {}\n", "x".repeat(40))).collect();
    let request = request(&text, "2-12 hors focus\n14-30 sans lien\n40-41 sans lien");
    let options = PruneOptions { markers: MarkerForm::Short, in_place: true, ..request.options };
    let pruned = sieve.prune(&PruneRequest { options, ..request }, &caller(), &|| false);
    let lines: Vec<&str> = pruned.pruned_text.split('\n').collect();
    let original: Vec<&str> = text.split('\n').collect();
    assert_eq!(lines.len(), original.len());
    for (number, (line, was)) in (1..).zip(lines.iter().zip(&original)) {
        match number {
            2 | 14 | 40 => assert!(is_marker(line), "{number}: {line}"),
            3..=12 | 15..=30 | 41 => assert_eq!(*line, "", "{number}"),
            _ => assert_eq!(line, was, "{number}"),
        }
    }
    // The same call with other lines has another id, and both are of the same text.
    let moved = PruneOptions { in_place: false, ..options };
    let moved = sieve.prune(&PruneRequest { options: moved, ..request }, &caller(), &|| false);
    assert_ne!(moved.prune_id, pruned.prune_id);
    assert_eq!(moved.prune_id[..20], pruned.prune_id[..20]);
}

#[test]
fn short_markers_stay_when_a_text_is_pruned_again() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let text: String = (1..=40).map(|line| format!("line {line} {}\n", "x".repeat(40))).collect();
    let short = |text: &str, goal: &str| {
        let request = request(text, goal);
        let options = PruneOptions { markers: MarkerForm::Short, ..request.options };
        sieve.prune(&PruneRequest { options, ..request }, &caller(), &|| false)
    };
    let once = short(&text, "2-12 hors focus\n14-30 sans lien\n32-39 sans lien");
    let id = &once.prune_id;
    let markers: Vec<&str> = once.pruned_text.lines().filter(|line| is_marker(line)).collect();
    let first = format!("[tamis cut 2-12: off goal; restore: recover_text or tamis recover {id} 2-12]");
    assert_eq!(markers, [first.as_str(), "[tamis 14-30]", "[tamis 32-39]"]);
    assert_eq!(once.annotations[1].marker, markers[1]);
    assert_eq!(once.annotations[1].reason, "off goal");
    // Every line is small, and one first marker would take more than it saves.
    assert_eq!(short(&text, "2-3 hors focus").annotations, []);
    let again = short(&(once.pruned_text.clone() + &text), "8-20 hors focus");
    let named = format!("[tamis cut 8-20 of {}: off goal]", again.prune_id);
    assert!(again.pruned_text.contains(&named), "{}", again.pruned_text);
    for marker in markers {
        assert!(again.pruned_text.contains(marker), "{}", again.pruned_text);
    }
}

#[test]
fn errors_of_recovery_are_distinct() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let id = prune(&sieve, TEXT, "2-3 x").prune_id;
    let wrong_end = format!("{}1", &id[..25]);
    for unknown in [
        "",
        "prn_",
        "prn_aaaaaaaaaaaaaaaaaaaaaa",
        "prn_../../state",
        &id[..7],
        &wrong_end,
        &id.to_uppercase(),
    ] {
        let error = sieve.recover(unknown, &[(0, 0)], false, &caller()).unwrap_err();
        assert_eq!(error, RecoverError::NotFound { prune_id: unknown.into() });
    }
    for (range, lines) in [((0, 1), None), ((3, 2), None), ((7, 7), Some(6))] {
        let error = sieve.recover(&id, &[(1, 1), range], false, &caller()).unwrap_err();
        assert_eq!(error, RecoverError::InvalidRange { range, lines, ends_in_newline: true });
    }
}

#[test]
fn invalid_cuts_of_the_engine_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    for (goal, warning) in [
        ("panic", PruneWarning::InternalError),
        ("impossible", PruneWarning::ConstraintsUnmet),
        ("0-1 x", PruneWarning::InternalError),
        ("3-2 x", PruneWarning::InternalError),
        ("5-7 x", PruneWarning::InternalError),
        ("1-2 x\n3-3 touching", PruneWarning::InternalError),
        ("3-3 x\n1-1 backwards", PruneWarning::InternalError),
    ] {
        let pruned = prune(&sieve, TEXT, goal);
        assert_whole(&pruned, TEXT, &[warning]);
        assert_eq!(recover_all(&sieve, &pruned.prune_id).unwrap(), TEXT);
    }
    let limits = request(TEXT, "1-4 x");
    for limited in [
        PruneRequest { options: PruneOptions { max_prune_ratio: 0.6, ..limits.options }, ..limits },
        PruneRequest { options: PruneOptions { max_prune_ratio: f64::NAN, ..limits.options }, ..limits },
        PruneRequest { options: PruneOptions { min_keep_lines: 3, ..limits.options }, ..limits },
        PruneRequest { options: PruneOptions { min_keep_lines: 7, ..limits.options }, ..limits },
        PruneRequest { options: PruneOptions { keep_first_lines: 1, ..limits.options }, ..limits },
    ] {
        let pruned = sieve.prune(&limited, &caller(), &|| false);
        assert_whole(&pruned, TEXT, &[PruneWarning::ConstraintsUnmet]);
    }
    let exact = PruneRequest {
        options: PruneOptions { max_prune_ratio: 4.0 / 6.0, min_keep_lines: 2, ..limits.options },
        ..limits
    };
    assert!(!sieve.prune(&exact, &caller(), &|| false).stats.used_fallback);
}

#[test]
fn a_timeout_returns_the_text_whole() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let timeout = std::time::Duration::from_millis(5);
    for goal in ["wait", "late\n2-3 x"] {
        let pruned = sieve.prune(
            &PruneRequest {
                options: PruneOptions { timeout, ..request(TEXT, goal).options },
                ..request(TEXT, goal)
            },
            &caller(),
            &|| false,
        );
        assert_whole(&pruned, TEXT, &[PruneWarning::Timeout]);
        let pruned = sieve.prune(&request(TEXT, goal), &caller(), &|| true);
        assert_whole(&pruned, TEXT, &[PruneWarning::Timeout]);
        assert_eq!(recover_all(&sieve, &pruned.prune_id).unwrap(), TEXT);
    }
    let forever = PruneRequest {
        options: PruneOptions { timeout: std::time::Duration::MAX, ..request(TEXT, "2-3 x").options },
        ..request(TEXT, "2-3 x")
    };
    assert!(!sieve.prune(&forever, &caller(), &|| false).stats.used_fallback);
}

#[test]
fn size_is_counted_in_characters() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SieveSettings { max_input_chars: 4, ..settings(folder.path()) };
    let sieve = Sieve::with_engine(settings, scripted);
    let numbered = PruneRequest {
        options: PruneOptions { annotate_lines: true, ..request("é🦀\n漢", "1-1 x").options },
        ..request("é🦀\n漢", "1-1 x")
    };
    assert!(!sieve.prune(&numbered, &caller(), &|| false).stats.used_fallback);
    let numbered = PruneRequest { text: "é🦀\n漢字", ..numbered };
    let pruned = sieve.prune(&numbered, &caller(), &|| false);
    assert_whole(&pruned, "é🦀\n漢字", &[PruneWarning::InputTooLarge]);
    assert_eq!(recover_all(&sieve, &pruned.prune_id).unwrap(), "é🦀\n漢字");
}

#[test]
fn the_ledger_counts_calls_and_recoveries_and_holds_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let text = "secret words\n".repeat(10);
    let id = prune(&sieve, &text, "2-9 hidden goal").prune_id;
    prune(&sieve, &text, "panic");
    sieve.recover(&id, &[(2, 3), (5, 5)], false, &caller()).unwrap();
    assert_eq!(sieve.flush(LONG), 0);
    let savings = sieve.ledger_totals().unwrap();
    let tokens_after = savings.tokens_after;
    let expected = LedgerTotals {
        calls: 2,
        fallbacks: 1,
        lines_before: 22,
        lines_after: 14,
        tokens_before: 66,
        tokens_after,
        recoveries: 1,
        recovered_lines: 3,
        recovered_tokens: 10,
    };
    assert_eq!(savings, expected);
    for name in ["state.db", "state.db-wal"] {
        let bytes = std::fs::read(folder.path().join(name)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("secret words") && !text.contains("hidden goal"), "{name}");
    }
}

#[test]
fn savings_are_counted_for_known_ids() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let begun = SystemTime::now();
    let text = "some words\n".repeat(40);
    let [one, other] = ["2-30 x", "2-35 y"].map(|goal| prune(&sieve, &text, goal));
    prune(&sieve, &text, "2-30 x");
    prune(&sieve, "of somebody else\n", "");
    sieve.recover(&one.prune_id, &[(2, 3)], false, &caller()).unwrap();
    assert_eq!(sieve.flush(LONG), 0);
    let of = |ids: &[&str], since| {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        sieve.savings_of_prunes(&ids, since).unwrap().unwrap()
    };
    let unknown = "prn_aaaaaaaaaaaaaaaaaaaaaa";
    let [before, after, after_other] =
        [one.stats.tokens_est_before, one.stats.tokens_est_after, other.stats.tokens_est_after]
            .map(|tokens| tokens as u64);
    let recovered_tokens = "some words\nsome words".len().div_ceil(4) as u64;
    // Each call counts, even if it is repeated.
    let of_one =
        PruneSavings { known_ids: 1, tokens_before: 2 * before, tokens_after: 2 * after, recovered_tokens };
    assert_eq!(of(&[&one.prune_id, unknown, "prn_\"], '"], begun), of_one);
    let of_both = PruneSavings {
        known_ids: 2,
        tokens_before: 3 * before,
        tokens_after: 2 * after + after_other,
        recovered_tokens,
    };
    assert_eq!(of(&[&one.prune_id, &other.prune_id], begun), of_both);
    // Earlier calls do not count.
    let later = SystemTime::now() + Duration::from_secs(1);
    assert_eq!(of(&[&one.prune_id], later), PruneSavings::default());
    assert_eq!(of(&[], begun), PruneSavings::default());
    let elsewhere = folder.path().join("elsewhere");
    assert_eq!(
        Sieve::new(settings(&elsewhere)).savings_of_prunes(&[one.prune_id].into(), begun).unwrap(),
        None
    );
    assert!(!elsewhere.exists());
}

#[test]
fn creating_a_sieve_creates_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let sieve = Sieve::new(settings(&data));
    assert_eq!(sieve.storage_report(), Default::default());
    assert_eq!(sieve.clean_up(), Default::default());
    assert_eq!(sieve.ledger_totals().unwrap(), Default::default());
    assert_eq!(sieve.flush(LONG), 0);
    drop(sieve);
    assert!(!data.exists());
}

#[test]
fn a_sieve_is_shared_among_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Sieve>();
}

#[test]
fn recent_prunes_are_those_that_can_be_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let prune = |text: &str, goal: &str| sieve.prune(&request(text, goal), &caller(), &|| false).prune_id;
    let first = prune(TEXT, "2-3 hors focus");
    let second = prune("v\nw\nx\ny\nz\n", "1-2 sans lien");
    prune("nothing is cut here\n", "");
    assert_eq!(prune(TEXT, "2-3 hors focus"), first, "the same call again");
    assert_eq!(sieve.flush(Duration::from_secs(60)), 0);
    let listed = |limit: usize| sieve.recent_prunes(limit).unwrap();
    let ids: Vec<String> = listed(9).into_iter().map(|prune| prune.prune_id).collect();
    assert!(ids.len() == 2 && ids.contains(&first) && ids.contains(&second), "each once: {ids:?}");
    assert_eq!(listed(1).len(), 1);
    let prunes = listed(9);
    let prune = prunes.iter().find(|prune| prune.prune_id == first).unwrap();
    assert_eq!((prune.lines_before, prune.lines_after), (5, 3));
    assert_eq!(
        (prune.tool.as_str(), prune.goal.as_deref()),
        (caller().tool.as_str(), Some("2-3 hors focus"))
    );
    let purge = PurgeRequest { recovery: true, ledger: false, older_than: None };
    sieve.purge(purge);
    assert_eq!(listed(9), [], "without their originals they are of no use");
}
