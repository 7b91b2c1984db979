//! Patches for people: bounded, without notes, and no program of the repository runs.

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
    assert_eq!(patch.files[0].hunks[0].lines[0].text.chars().count(), 1001);
}
