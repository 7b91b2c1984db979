//! Searching, and finding files by name.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tamis_codebase::{
    Case, GlobError, Line, Matches, Policy, Roots, Search, SearchError, SearchMode, StopSignal, Stopped,
    glob, search,
};

fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Roots) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let roots = Roots::open(&[folder.path().to_owned()], Policy::standard()).unwrap();
    (folder, roots)
}

fn render(matches: &Matches) -> Vec<String> {
    let line = |path: &str, line: &Line| {
        format!("{path}{}{}", if line.is_match { ":" } else { "-" }, line.number) + " " + &line.text
    };
    matches
        .files
        .iter()
        .flat_map(|file| file.lines.iter().map(move |each| line(&file.place.path, each)))
        .collect()
}

fn found(roots: &Roots, wanted: &Search) -> Vec<String> {
    render(&search(roots, wanted, &StopSignal::never()).unwrap())
}

#[test]
fn lines_are_in_order_with_their_numbers() {
    let (_folder, roots) =
        tree(&[("b.rs", "one\r\ntwo needle\r\n"), ("a/x.rs", "needle\n\nneedle"), ("a.txt", "nothing\n")]);
    let matches = search(&roots, &Search::new("needle"), &StopSignal::never()).unwrap();
    assert_eq!(render(&matches), ["a/x.rs:1 needle", "a/x.rs:3 needle", "b.rs:2 two needle"]);
    assert_eq!((matches.matching_lines, matches.matching_files, matches.files_searched), (3, 2, 3));
    assert!(!matches.is_cut());
}

#[test]
fn case_literals_and_globs() {
    let (_folder, roots) = tree(&[("a.rs", "Foo(x)\nfoo\n"), ("tests/b.rs", "foo\n"), ("c.md", "foo\n")]);
    let with = |change: &dyn Fn(&mut Search)| {
        let mut wanted = Search::new("foo");
        change(&mut wanted);
        found(&roots, &wanted)
    };
    assert_eq!(with(&|_| {}).len(), 4);
    assert_eq!(with(&|wanted| wanted.case = Case::Respect).len(), 3);
    assert_eq!(with(&|wanted| wanted.pattern = "Foo".into()), ["a.rs:1 Foo(x)"]);
    assert_eq!(with(&|wanted| (wanted.pattern, wanted.case) = ("FOO".into(), Case::Ignore)).len(), 4);
    assert_eq!(with(&|wanted| (wanted.pattern, wanted.literal) = ("o(".into(), true)), ["a.rs:1 Foo(x)"]);
    assert_eq!(with(&|wanted| wanted.globs = vec!["*.md".into()]), ["c.md:1 foo"]);
    assert_eq!(with(&|wanted| wanted.globs = vec!["*.rs".into(), "!tests/".into()]).len(), 2);
}

#[test]
fn kept_matches_are_bounded_and_counts_are_not() {
    let many: Vec<(String, String)> = (0..30).map(|n| (format!("f{n:02}.txt"), "x\n".repeat(10))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let (_folder, roots) = tree(&many);
    let wanted = Search { most_matches: 25, ..Search::new("x") };
    for _ in 0..20 {
        let matches = search(&roots, &wanted, &StopSignal::never()).unwrap();
        let kept: Vec<_> =
            matches.files.iter().map(|file| (file.place.path.as_str(), file.lines.len())).collect();
        assert_eq!(kept, [("f00.txt", 10), ("f01.txt", 10), ("f02.txt", 5)]);
        assert_eq!((matches.matching_lines, matches.matching_files, matches.is_cut()), (300, 30, true));
        assert_eq!(matches.files[2].matching_lines, 10);
    }
    let few = Search { most_matches: 4, most_per_file: 3, ..wanted.clone() };
    assert_eq!(found(&roots, &few), ["f00.txt:1 x", "f00.txt:2 x", "f00.txt:3 x", "f01.txt:1 x"]);
    let only_files = Search { mode: SearchMode::Files, most_matches: 2, ..wanted.clone() };
    let matches = search(&roots, &only_files, &StopSignal::never()).unwrap();
    assert_eq!((matches.files.len(), matches.matching_files, matches.is_cut()), (2, 30, true));
    let none = search(&roots, &Search { most_matches: 0, ..wanted.clone() }, &StopSignal::never()).unwrap();
    assert_eq!((none.files.len(), none.matching_lines), (0, 300));
    let counts = Search { mode: SearchMode::Counts, most_matches: usize::MAX, ..wanted };
    let matches = search(&roots, &counts, &StopSignal::never()).unwrap();
    assert!(matches.files.len() == 30 && matches.files.iter().all(|file| file.matching_lines == 10));
}

#[test]
fn kept_matches_have_context() {
    let text: String =
        (1..=9).map(|n| if n % 3 == 0 { "hit\n".to_owned() } else { format!("l{n}\n") }).collect();
    let (_folder, roots) = tree(&[("a.txt", &text)]);
    let wanted = Search { context: 1, most_matches: 2, ..Search::new("hit") };
    let lines =
        ["a.txt-2 l2", "a.txt:3 hit", "a.txt-4 l4", "a.txt-5 l5", "a.txt:6 hit", "a.txt-7 l7", "a.txt-8 l8"];
    let all = found(&roots, &Search { most_matches: 9, ..wanted.clone() });
    assert_eq!(all.len(), 8);
    assert_eq!(all[..7], lines);
    assert_eq!(found(&roots, &wanted), lines[..6]);
    assert_eq!(found(&roots, &Search { most_matches: 9, most_per_file: 1, ..wanted }), lines[..3]);
}

#[test]
fn long_lines_are_cut_around_their_match() {
    let line = format!("{}NEEDLE{}", "é".repeat(5000), "ü".repeat(5000));
    let (_folder, roots) = tree(&[("min.js", &line), ("early.js", &format!("NEEDLE{}", "x".repeat(900)))]);
    let matches =
        search(&roots, &Search { longest_line: 101, ..Search::new("NEEDLE") }, &StopSignal::never()).unwrap();
    for file in &matches.files {
        let [line] = file.lines.as_slice() else { panic!("{file:?}") };
        assert!(line.is_cut && line.text.len() <= 101 && line.text.contains("NEEDLE"), "{line:?}");
        assert!(!line.text.contains('\u{fffd}'), "{line:?}");
    }
}

#[test]
fn binary_and_huge_files_are_skipped() {
    let (folder, roots) = tree(&[("a.txt", "needle\n"), ("b.bin", "needle\0needle\n")]);
    fs::write(folder.path().join("huge.txt"), "needle\n".repeat(700_000)).unwrap();
    let matches = search(&roots, &Search::new("needle"), &StopSignal::never()).unwrap();
    assert_eq!((render(&matches), matches.files_searched), (vec!["a.txt:1 needle".to_owned()], 1));
}

#[test]
fn an_invalid_search_is_an_error_with_a_hint() {
    let (_folder, roots) = tree(&[("a.txt", "a(b\n")]);
    let error_of = |wanted: Search| search(&roots, &wanted, &StopSignal::never()).unwrap_err();
    for pattern in ["a(b", "[", "*", "a\\nb", "a\nb", "(?P<", "\\p{Nope}", "((a{500}){500}){500}"] {
        let error = error_of(Search::new(pattern));
        assert!(matches!(error, SearchError::Pattern { .. }), "{pattern}: {error}");
        assert!(error.hint().is_some());
    }
    assert!(matches!(error_of(Search::new("")), SearchError::Empty));
    let error = error_of(Search { globs: vec!["a[".into()], ..Search::new("a") });
    assert!(matches!(error, SearchError::Glob(_)) && error.to_string().contains("a["), "{error}");
    let stop = StopSignal::never();
    stop.cancel();
    let error = search(&roots, &Search::new("a"), &stop).unwrap_err();
    assert!(matches!(error, SearchError::Stopped(Stopped::Cancelled)));
}

#[test]
fn files_by_name() {
    let (_folder, roots) =
        tree(&[("src/a.rs", ""), ("src/b/c.rs", ""), ("b.toml", ""), ("docs/x.md", ""), (".env", "")]);
    let names = |pattern: &str, most: usize| {
        let found = glob(&roots, pattern, most, &StopSignal::never()).unwrap();
        let names: Vec<String> = found.places.into_iter().map(|place| place.path).collect();
        (names.join(" "), found.total)
    };
    assert_eq!(names("*.rs", 10), ("src/a.rs src/b/c.rs".into(), 2));
    assert_eq!(names("*.rs", 1), ("src/a.rs".into(), 2));
    assert_eq!(names("src/*.rs", 10), ("src/a.rs".into(), 1));
    assert_eq!(names("**/*.{md,toml}", 10), ("b.toml docs/x.md".into(), 2));
    assert_eq!(names("docs", 10), ("docs/x.md".into(), 1));
    assert_eq!(names(".env", 10), (String::new(), 0));
    assert!(matches!(glob(&roots, "a[", 10, &StopSignal::never()), Err(GlobError::Pattern(_))));
    assert!(matches!(glob(&roots, "../*", 10, &StopSignal::never()), Err(GlobError::Pattern(_))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// A literal search finds the lines that have the text, no more and no fewer.
    #[test]
    fn finds_what_a_plain_loop_finds(
        texts in proptest::collection::vec("[ab\\n]{0,40}", 1..6),
        needle in "[ab]{1,3}",
        most in 1usize..20,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut expected = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            fs::write(folder.path().join(format!("f{number}")), text).unwrap();
            let lines = text.lines().enumerate().filter(|(_, line)| line.contains(&needle));
            expected.extend(lines.map(|(at, line)| format!("f{number}:{} {line}", at + 1)));
        }
        let roots = Roots::open(&[Path::new(folder.path()).to_owned()], Policy::standard()).unwrap();
        let wanted = Search { literal: true, most_matches: most, ..Search::new(&needle) };
        let matches = search(&roots, &wanted, &StopSignal::never()).unwrap();
        prop_assert_eq!(matches.matching_lines as usize, expected.len());
        prop_assert_eq!(matches.is_cut(), expected.len() > most);
        expected.truncate(most);
        prop_assert_eq!(render(&matches), expected);
    }
}

/// A token, put together here so that no scanner takes this file for a leak.
fn file_with(token: &str) -> String {
    format!("first\nexport GITHUB_TOKEN={}_{token} # zebra\nlast\n", "ghp")
}

#[test]
fn a_secret_cannot_be_read_out_by_searching() {
    let (one, other) = ("a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f", "Zq7Lk2Xv9Rb4Tn8WHs1Yd6Gm3Cj5Fp0Aw7Ue");
    let (_one, one) = tree(&[("a.rs", &file_with(one))]);
    let (_other, other) = tree(&[("a.rs", &file_with(other))]);
    for pattern in [
        "ghp_a8Kd",
        "ghp_[a-m]",
        "a8Kd|zebra",
        "a8Kd|redacted",
        "TOKEN=.{40} #",
        "TOKEN=. #",
        "^.{10,}$",
        "Kd0s",
        "redacted",
        "zebra",
    ] {
        for literal in [false, true] {
            let wanted = Search { literal, case: Case::Respect, context: 1, ..Search::new(pattern) };
            let answer = |roots: &Roots| {
                let matches = search(roots, &wanted, &StopSignal::never()).unwrap();
                (render(&matches), matches.matching_lines, matches.matching_files)
            };
            assert_eq!(answer(&one), answer(&other), "{pattern}");
        }
    }
    assert_eq!(found(&one, &Search::new("zebra")).len(), 1, "what is shown is found");
}
