//! Searching files as ripgrep does, at the library's edge. `tamis grep` is compared with ripgrep itself.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::path::PathBuf;

use tamis_codebase::{Case, FileSearch, FileSearchError, FoundFile, StopSignal, UnsearchedPath};
use tokio_util::sync::CancellationToken;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        (".git/config", "needle\n"),
        (".gitignore", "out/\n"),
        ("a.rs", "needle one\n2\n3\n4\nNeedle two\n"),
        ("b.bin", "x\0\nneedle\n"),
        ("out/c.rs", "needle\n"),
    ] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn search(pattern: &str, paths: Vec<PathBuf>) -> FileSearch {
    FileSearch { patterns: vec![pattern.to_owned()], case: Case::Respect, paths, ..FileSearch::default() }
}

fn run(search: &FileSearch) -> (Vec<FoundFile>, Vec<UnsearchedPath>) {
    let mut files = Vec::new();
    let found = |file| {
        files.push(file);
        Ok::<(), FileSearchError>(())
    };
    let errors = search.run(&StopSignal::never(), found).unwrap();
    (files, errors)
}

#[test]
fn a_walk_leaves_out_what_ripgrep_leaves_out_and_a_named_file_is_searched() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let (files, errors) = run(&search("needle", vec![folder.path().to_owned()]));
    let paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
    assert_eq!((paths, errors), (vec![at("a.rs")], vec![]));
    let (files, errors) = run(&search("needle", vec![at("out/c.rs"), at("b.bin"), at("missing")]));
    assert_eq!(files.iter().map(|file| file.path.clone()).collect::<Vec<_>>(), [at("out/c.rs"), at("b.bin")]);
    assert_eq!(files[1].lines, [], "a binary file only matches");
    assert!(files[1].binary.as_ref().unwrap().starts_with("binary file matches"), "{:?}", files[1].binary);
    let cause = "No such file or directory (os error 2)".to_owned();
    assert_eq!(errors, [UnsearchedPath { path: at("missing"), cause }]);
}

#[test]
fn lines_have_numbers_matches_context_and_gaps() {
    let folder = folder();
    let options =
        FileSearch { case: Case::Ignore, after: 1, ..search("needle", vec![folder.path().join("a.rs")]) };
    assert!(!options.has_several_files());
    let (files, _) = run(&options);
    let lines: Vec<_> = files[0]
        .lines
        .iter()
        .map(|line| (line.number, line.is_match, line.follows_gap, line.matches.first().cloned()))
        .collect();
    assert_eq!(lines, [(1, true, false, Some(0..6)), (2, false, false, None), (5, true, true, Some(0..6))]);
}

#[test]
fn a_search_can_be_stopped_and_refuses_what_it_does_not_understand() {
    let folder = folder();
    let here = || vec![folder.path().to_owned()];
    let token = CancellationToken::new();
    token.cancel();
    let none = |_: FoundFile| Ok::<(), FileSearchError>(());
    let stopped = search("needle", here()).run(&StopSignal::on(token), none);
    assert!(matches!(stopped, Err(FileSearchError::Stopped(_))), "{stopped:?}");
    for (search, error) in [
        (search("(", here()), "invalid regular expression: "),
        (
            FileSearch { types: vec!["klingon".to_owned()], ..search("x", here()) },
            "unknown file type `klingon`",
        ),
        (FileSearch { globs: vec!["a[b".to_owned()], ..search("x", here()) }, "invalid glob: "),
    ] {
        let refused = search.run(&StopSignal::never(), none).unwrap_err().to_string();
        assert!(refused.starts_with(error), "{refused}");
    }
}
