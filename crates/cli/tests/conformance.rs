//! `docs/conformance.md` has every clause of the contracts once, with tests that exist or a reason.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const DIFFERS: &str = "**differs**: ";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap().to_owned()
}

/// A row of the page.
struct Clause {
    contract: usize,
    number: usize,
    text: String,
    held_by: String,
}

fn clauses(page: &str) -> Vec<Clause> {
    let clause = |line: &str| {
        // A bar inside of a cell is escaped.
        let cells: Vec<String> =
            line.replace("\\|", "\u{1}").split('|').map(|cell| cell.trim().to_owned()).collect();
        let [_, id, text, held_by, _] = <[String; 5]>::try_from(cells).ok()?;
        let (contract, number) = id.split_once('.')?;
        Some(Clause { contract: contract.parse().ok()?, number: number.parse().ok()?, text, held_by })
    };
    page.lines().filter_map(clause).collect()
}

/// `path.rs::name` in a cell.
fn tests_in(cell: &str) -> Vec<(&str, &str)> {
    cell.split('`').skip(1).step_by(2).filter_map(|quoted| quoted.split_once(".rs::")).collect()
}

/// Whether the file has a test of that name.
fn is_test(source: &str, name: &str) -> bool {
    let Some(at) = source.find(&format!("fn {name}(")) else { return false };
    let line = source[..at].rfind('\n').unwrap_or_default();
    let mut attributes =
        source[..line].lines().rev().take_while(|line| line.trim_start().starts_with(['#', '/']));
    attributes.any(|line| line.trim().starts_with("#[test]") || line.trim().starts_with("#[tokio::test"))
}

#[test]
fn every_clause_is_listed_once_with_tests_that_exist_or_a_reason() {
    let page = fs::read_to_string(root().join("docs/conformance.md")).unwrap();
    let clauses = clauses(&page);
    let mut counts: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    for Clause { contract, number, text, held_by } in &clauses {
        let (all, different) = counts.entry(*contract).or_default();
        *all += 1;
        assert_eq!(number, all, "clause {contract}.{number} comes after {contract}.{}", *all - 1);
        assert!(!text.is_empty(), "{contract}.{number} says nothing");
        let tests = tests_in(held_by);
        match held_by.strip_prefix(DIFFERS) {
            Some(reason) => {
                *different += 1;
                assert!(reason.split(' ').count() > 8, "{contract}.{number} gives no reason");
            }
            None if tests.is_empty() => wrong.push(format!("{contract}.{number} names no test")),
            None => {}
        }
        for (path, name) in tests {
            let path = format!("crates/{path}.rs");
            let source = sources
                .entry(path.clone())
                .or_insert_with(|| fs::read_to_string(root().join(&path)).unwrap_or_default());
            if !is_test(source, name) {
                wrong.push(format!("{contract}.{number}: {path} has no test `{name}`"));
            }
        }
    }
    assert_eq!(wrong, [""; 0], "\n{}", wrong.join("\n"));
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    // The table at the top.
    let (all, different) = counts.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let totals = counts.iter().map(|(contract, counts)| (format!("{contract}. "), *counts));
    for (start, (all, different)) in totals.chain([("all ".to_owned(), (all, different))]) {
        let row = page.lines().find(|line| line.starts_with(&format!("| {start}"))).unwrap();
        let end = format!("| {all} | {} | {different} |", all - different);
        assert!(row.ends_with(&end), "{row} should end {end}");
    }
}

#[test]
fn a_test_is_told_from_other_functions() {
    let source = "#[test]\nfn one() {}\n\nfn two() {}\n\n#[tokio::test(start_paused = true)]\n// Why.\nasync fn three() {}\n    #[test]\n    #[ignore]\n    fn four() {}\n";
    let found: Vec<bool> =
        ["one", "two", "three", "four", "five"].iter().map(|name| is_test(source, name)).collect();
    assert_eq!(found, [true, false, true, true, false]);
}
