//! Patches for people: bounded, without notes, and no program of the repository runs.

use std::fs;

use super::support::World;
use crate::{FilePatch, PatchHunk, PatchKind, PatchLine};

fn line(sign: char, text: &str) -> PatchLine {
    PatchLine { sign, text: text.to_owned() }
}

#[test]
fn added_changed_and_deleted_files_are_read_line_by_line() {
    let world = World::new();
    let from = world.commit("repo", "before");
    world.write("repo/a.txt", "a\nplus\n");
    world.write("repo/notes.md", "feedback\n");
    world.write("repo/odd \n name", "-- not a header\ndiff --git a/x b/x\n");
    world.write("repo/image", "\0\u{1}");
    world.plain("repo", &["rm", "--quiet", "b.txt"]);
    let to = world.commit("repo", "after");
    let patch = world.repository().patch(&from, &to, &["notes.md".to_owned()]).unwrap();
    assert_eq!((patch.summary.files, patch.summary.insertions, patch.summary.deletions), (4, 3, 1));
    let hunk = |old_start, new_start, lines: &[PatchLine]| PatchHunk {
        old_start,
        new_start,
        context: String::new(),
        lines: lines.to_vec(),
    };
    let file = |path: &str, lines, kind, hunks: &[PatchHunk]| FilePatch {
        path: path.to_owned(),
        lines,
        kind,
        hunks: hunks.to_vec(),
        is_cut: false,
    };
    assert_eq!(
        patch.files,
        [
            file(
                "a.txt",
                Some((1, 0)),
                PatchKind::Modified,
                &[hunk(1, 1, &[line(' ', "a"), line('+', "plus")])]
            ),
            file("b.txt", Some((0, 1)), PatchKind::Deleted, &[hunk(1, 0, &[line('-', "b")])]),
            file("image", None, PatchKind::Added, &[]),
            file(
                "odd\n name",
                Some((2, 0)),
                PatchKind::Added,
                &[hunk(0, 1, &[line('+', "-- not a header"), line('+', "diff --git a/x b/x")])]
            ),
        ]
    );
    assert_eq!(world.repository().patch(&to, &to, &[]).unwrap().files, []);
}

#[test]
fn of_many_lines_the_first_files_are_shown() {
    let world = World::new();
    let from = world.commit("repo", "before");
    for name in ["1", "2", "3"] {
        world.write(&format!("repo/{name}.txt"), "line\n".repeat(3000));
    }
    world.write("repo/0.txt", "x".repeat(5000));
    let to = world.commit("repo", "after");
    let patch = world.repository().patch(&from, &to, &[]).unwrap();
    let shown: Vec<&str> = patch.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((shown, patch.summary.files), (vec!["0.txt", "1.txt"], 4));
    // Callers redact lines before they shorten them.
    assert_eq!(patch.files[0].hunks[0].lines[0].text.chars().count(), 5000);
}

#[test]
fn a_file_that_becomes_a_link_takes_no_place_of_another() {
    let world = World::new();
    world.write("repo/c.txt", "c\n");
    let from = world.commit("repo", "before");
    fs::remove_file(world.path("repo/a.txt")).unwrap();
    std::os::unix::fs::symlink("b.txt", world.path("repo/a.txt")).unwrap();
    world.write("repo/b.txt", "b\nmore\n");
    world.write("repo/c.txt", "c\nmore\n");
    let to = world.commit("repo", "after");
    let patch = world.repository().patch(&from, &to, &[]).unwrap();
    let lines = |file: &FilePatch| {
        let all = file.hunks.iter().flat_map(|hunk| &hunk.lines);
        all.map(|line| format!("{}{}", line.sign, line.text)).collect::<Vec<_>>()
    };
    let files: Vec<_> = patch.files.iter().map(|file| (file.path.as_str(), file.kind, lines(file))).collect();
    let changed = |path, lines: &[&str]| {
        (path, PatchKind::Modified, lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(
        files,
        [
            changed("a.txt", &["-a", "+b.txt"]),
            changed("b.txt", &[" b", "+more"]),
            changed("c.txt", &[" c", "+more"]),
        ]
    );
}

#[test]
fn changes_that_are_too_large_are_counted_only() {
    let world = World::new();
    let from = world.commit("repo", "before");
    world.write("repo/large.txt", "x".repeat(70 << 20));
    let to = world.commit("repo", "after");
    let patch = world.repository().patch(&from, &to, &[]).unwrap();
    let [file] = &patch.files[..] else { panic!("{:?}", patch.summary) };
    assert_eq!(
        (file.path.as_str(), file.lines, file.is_cut, file.hunks.len()),
        ("large.txt", Some((1, 0)), true, 0)
    );
}
