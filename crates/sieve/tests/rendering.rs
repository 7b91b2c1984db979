//! For any text and any cuts: kept lines and recovered cuts together are the original, byte for byte.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::sync::LazyLock;

use common::*;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use regex::Regex;
use tamis_sieve::{PruneOptions, PruneRequest, Pruned, Sieve, SieveSettings};
use tamis_text::split_lines;

/// The contract's expression, in this library's spelling of group names.
const MARKER: &str = r"^⟦PRUNÉ: prune_id=(?P<prune_id>[^\s]+) lignes (?P<start>\d+)-(?P<end>\d+) \((?P<count>\d+)\) raison=(?P<reason>.*)⟧$";

/// Lines with what tends to break line tools: CR, BOM, NUL, emoji, our own markers and prefixes.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ -~]{0,40}",
        1 => "[ -~]{0,20}\r",
        1 => Just(String::new()),
        1 => Just("\u{feff}BOM and \0 NUL".to_owned()),
        1 => Just("👩‍👩‍👧‍👦 é \u{2028} \u{85} 漢字".to_owned()),
        1 => Just("⟦PRUNÉ: prune_id=prn_x lignes 1-2 (2) raison=faux⟧".to_owned()),
        1 => Just("7│ faux".to_owned()),
        1 => any::<String>().prop_map(|text| text.replace('\n', " ")),
    ]
}

/// A text and cuts that never touch, as a goal for the scripted engine.
fn text_and_cuts() -> impl Strategy<Value = (String, Vec<(usize, usize)>, String)> {
    (prop::collection::vec((line(), any::<bool>()), 1..40), "[^\n]{0,30}").prop_map(|(lines, reason)| {
        let mut cuts: Vec<(usize, usize)> = Vec::new();
        for (index, (_, cut)) in lines.iter().enumerate() {
            match cuts.last_mut() {
                Some((_, last)) if *cut && *last == index => *last = index + 1,
                _ if *cut => cuts.push((index + 1, index + 1)),
                _ => {}
            }
        }
        let text = lines.into_iter().map(|(line, _)| line).collect::<Vec<_>>().join("\n");
        (text, cuts, reason)
    })
}

/// Rebuilds the original from the kept lines, recovering each cut that the annotations list.
fn rebuild(sieve: &Sieve, request: &PruneRequest<'_>, pruned: &Pruned) -> String {
    static EXPRESSION: LazyLock<Regex> = LazyLock::new(|| Regex::new(MARKER).unwrap());
    let mut left = split_lines(&pruned.pruned_text).into_iter();
    let mut rebuilt: Vec<String> = Vec::new();
    let mut annotations = pruned.annotations.iter().peekable();
    let total = pruned.stats.original_lines;
    while rebuilt.len() < total {
        let number = rebuilt.len() + 1;
        if let Some(cut) = annotations.next_if(|cut| cut.original_start_line == number) {
            let found = EXPRESSION.captures(&cut.marker).expect("the marker parses");
            assert_eq!(found["prune_id"], pruned.prune_id);
            assert_eq!(found["start"], cut.original_start_line.to_string());
            assert_eq!(found["end"], cut.original_end_line.to_string());
            assert_eq!(found["count"], cut.pruned_line_count.to_string());
            assert_eq!(found["reason"], cut.reason);
            if request.options.include_markers {
                assert_eq!(left.next(), Some(cut.marker.as_str()));
            }
            let range = (cut.original_start_line as i64, cut.original_end_line as i64);
            let raw = sieve.recover(&pruned.prune_id, &[range], false, &caller()).unwrap().raw_text;
            rebuilt.extend(split_lines(&raw).into_iter().map(str::to_owned));
        } else {
            let line = left.next().expect("a kept line");
            let prefix = if request.options.annotate_lines { format!("{number}│ ") } else { String::new() };
            rebuilt.push(line.strip_prefix(&prefix).expect("its number").to_owned());
        }
    }
    if pruned.stats.kept_lines > 0 || request.options.include_markers {
        assert_eq!(left.next(), None);
    }
    rebuilt.join("\n")
}

#[test]
fn kept_lines_and_recovered_cuts_make_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let sieve = sieve(folder.path());
    let config = ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() };
    let input = (text_and_cuts(), any::<bool>(), any::<bool>());
    let property =
        |((text, cuts, reason), annotate_lines, include_markers): ((String, Vec<_>, String), _, _)| {
            let goal = cuts
                .iter()
                .map(|(first, last)| format!("{first}-{last} {reason}"))
                .collect::<Vec<_>>()
                .join("\n");
            let request = PruneRequest {
                options: PruneOptions { annotate_lines, include_markers, ..request(&text, &goal).options },
                ..request(&text, &goal)
            };
            let pruned = sieve.prune(&request, &caller(), &|| false);
            prop_assert_eq!(&pruned.warnings, &[]);
            prop_assert_eq!(pruned.annotations.len(), cuts.len());
            let cut: usize = cuts.iter().map(|(first, last)| last - first + 1).sum();
            prop_assert_eq!(pruned.stats.pruned_lines, cut);
            prop_assert_eq!(pruned.stats.kept_lines + cut, pruned.stats.original_lines);
            prop_assert_eq!(rebuild(&sieve, &request, &pruned), text);
            Ok(())
        };
    if let Err(failure) = TestRunner::new(config).run(&input, property) {
        panic!("{failure}");
    }
}

#[test]
fn large_texts_too() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SieveSettings { max_input_chars: 10_000_000, ..settings(folder.path()) };
    let sieve = Sieve::with_engine(settings, scripted);
    let long_line = format!("{}\r\nshort\n{}", "x".repeat(1 << 20), "é".repeat(1 << 19));
    let many_lines = (0..200_000).map(|number| format!("line {number}\n")).collect::<String>();
    let many_cuts =
        (1..100_000).map(|number| format!("{0}-{0} x", number * 2)).collect::<Vec<_>>().join("\n");
    for (text, goal) in [(&long_line, "1-1 x"), (&many_lines, "3-199999 x"), (&many_lines, "")] {
        for annotate_lines in [false, true] {
            let request = PruneRequest {
                options: PruneOptions { annotate_lines, ..request(text, goal).options },
                ..request(text, goal)
            };
            let pruned = sieve.prune(&request, &caller(), &|| false);
            assert_eq!(pruned.warnings, []);
            assert_eq!(rebuild(&sieve, &request, &pruned), *text);
        }
    }
    let pruned = prune(&sieve, &many_lines, &many_cuts);
    assert_eq!(pruned.stats.pruned_lines, 99_999);
    assert_eq!(recover_all(&sieve, &pruned.prune_id).unwrap(), many_lines);
}
