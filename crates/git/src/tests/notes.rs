//! Notes arrive whatever state the worktree is in, and everything else in it stays as it is to the byte.

use std::fs;
use std::os::unix::fs::symlink;

use super::support::{AT, World, branch};
use crate::GitErrorKind;
use crate::{CheckedOut, Commit, Delivery, Notes, ReviewNote, Worktree};

/// Chooses a name, commits and merges, as a delivery does.
pub(super) fn deliver(
    worktree: &Worktree,
    reviewed: &Commit,
    earlier: &[ReviewNote],
    content: &str,
) -> (Commit, Commit, ReviewNote) {
    for _ in 0..3 {
        let path = worktree.choose_notes_path(reviewed, earlier, content).unwrap();
        let notes = Notes { path: &path, content, message: "Review notes\n", at: AT, reviewed };
        let (commit, note) = worktree.repository().commit_notes(&notes).unwrap();
        if let Delivery::Delivered(by) = worktree.merge_notes(&branch(), &notes, &commit, earlier).unwrap() {
            return (commit, by, note);
        }
    }
    panic!("the path is taken again and again");
}

fn again(
    worktree: &Worktree,
    reviewed: &Commit,
    note: &ReviewNote,
    content: &str,
    notes: &Commit,
) -> crate::error::Result<Delivery> {
    let delivery = Notes { path: &note.path, content, message: "Review notes\n", at: AT, reviewed };
    worktree.merge_notes(&branch(), &delivery, notes, &[])
}

fn tip(world: &World) -> Commit {
    world.plain("tree", &["rev-parse", "HEAD"]).parse().unwrap()
}

#[test]
fn notes_come_to_a_dirty_tree_and_leave_it_as_it_is() {
    let world = World::new();
    let worktree = world.worktree();
    let reviewed = tip(&world);
    world.write("tree/a.txt", "staged\n");
    world.plain("tree", &["add", "a.txt"]);
    world.write("tree/a.txt", "staged, and changed again\n");
    world.write("tree/b.txt", "changed\n");
    world.write("tree/new/file", [0, 159, 146, 150]);
    world.write("tree/.gitignore", "*.o\n");
    world.write("tree/x.o", "ignored");
    world.write("tree/added", "added\n");
    world.plain("tree", &["add", "added"]);
    let before = world.everything("tree");

    let (notes, by, note) = deliver(&worktree, &reviewed, &[], "look here\n");

    assert_eq!(
        (by, note.path.as_str()),
        (notes.clone(), "REVIEW_FEEDBACK.md"),
        "nothing moved: a fast forward"
    );
    assert_eq!(world.read("tree/REVIEW_FEEDBACK.md"), "look here\n");
    assert_eq!(world.everything("tree").without(&note.path), before);
    assert_eq!(tip(&world), notes);
    assert_eq!(
        world.plain("tree", &["log", "-1", "--format=%an <%ae> %at"]),
        format!("tamis <tamis@tamis.invalid> {AT}")
    );
    // The same again changes nothing.
    let delivery = Notes {
        path: &note.path,
        content: "look here\n",
        message: "Review notes\n",
        at: AT,
        reviewed: &reviewed,
    };
    assert_eq!(worktree.repository().commit_notes(&delivery).unwrap(), (notes.clone(), note.clone()));
    let again = worktree.merge_notes(&branch(), &delivery, &notes, &[]).unwrap();
    assert_eq!(again, Delivery::Delivered(notes.clone()));
    assert_eq!(tip(&world), notes);
}

#[test]
fn a_coder_who_moved_on_gets_a_merge_and_one_who_rewrote_gets_no_old_commits() {
    let world = World::new();
    let worktree = world.worktree();
    world.write("tree/a.txt", "work\n");
    let reviewed = world.commit("tree", "work");
    world.write("tree/b.txt", "more\n");
    let more = world.commit("tree", "more");
    let (notes, by, note) = deliver(&worktree, &reviewed, &[], "one\n");
    assert_eq!(world.plain("tree", &["log", "-1", "--format=%P"]), format!("{more} {notes}"));
    assert_eq!(by, tip(&world));
    assert_eq!(again(&worktree, &reviewed, &note, "one\n", &notes).unwrap(), Delivery::Delivered(by));

    // The next notes replace the first, which are unchanged.
    let reviewed = tip(&world);
    let (_, _, second) = deliver(&worktree, &reviewed, std::slice::from_ref(&note), "two\n");
    assert_eq!(
        (second.path.as_str(), world.read("tree/REVIEW_FEEDBACK.md").as_str()),
        ("REVIEW_FEEDBACK.md", "two\n")
    );

    // Everything since `more` is rewritten.
    let reviewed = tip(&world);
    world.plain("tree", &["reset", "--quiet", "--hard", more.as_str()]);
    world.write("tree/b.txt", "otherwise\n");
    let rewritten = world.commit("tree", "otherwise");
    let (notes, by, note) = deliver(&worktree, &reviewed, &[note, second], "three\n");
    assert_eq!(world.plain("tree", &["log", "-1", "--format=%P"]), rewritten.to_string());
    assert_eq!(again(&worktree, &reviewed, &note, "three\n", &notes).unwrap(), Delivery::Delivered(by));
}

#[test]
fn what_git_does_not_see_keeps_its_name_too() {
    type Take = fn(&std::path::Path);
    let cases: &[(&str, Take)] = &[
        ("a pipe", |path| {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("a socket", |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
    ];
    for (what, take) in cases {
        let world = World::new();
        let worktree = world.worktree();
        let reviewed = tip(&world);
        let taken = world.path("tree/REVIEW_FEEDBACK.md");
        take(&taken);
        let before = fs::symlink_metadata(&taken).unwrap();
        let (_, _, note) = deliver(&worktree, &reviewed, &[], "notes\n");
        assert_eq!(note.path, "REVIEW_FEEDBACK-2.md", "{what}");
        let after = fs::symlink_metadata(&taken).unwrap();
        assert_eq!(after.file_type(), before.file_type(), "{what}");
    }
}

#[test]
fn whatever_has_the_name_already_keeps_it() {
    type Take = fn(&World);
    let cases: &[(&str, Take)] = &[
        ("an untracked file", |world| world.write("tree/REVIEW_FEEDBACK.md", "mine")),
        ("a tracked file", |world| {
            world.write("tree/REVIEW_FEEDBACK.md", "mine");
            world.commit("tree", "mine");
        }),
        ("a staged file", |world| {
            world.write("tree/REVIEW_FEEDBACK.md", "mine");
            world.plain("tree", &["add", "REVIEW_FEEDBACK.md"]);
            fs::remove_file(world.path("tree/REVIEW_FEEDBACK.md")).unwrap();
        }),
        ("an ignored file", |world| {
            world.write("tree/.gitignore", "REVIEW*\n");
            world.write("tree/REVIEW_FEEDBACK.md", "mine");
        }),
        ("a folder", |world| world.write("tree/REVIEW_FEEDBACK.md/file", "mine")),
        ("a tracked folder", |world| {
            world.write("tree/REVIEW_FEEDBACK.md/file", "mine");
            world.commit("tree", "mine");
        }),
        ("an empty folder", |world| fs::create_dir(world.path("tree/REVIEW_FEEDBACK.md")).unwrap()),
        ("a link", |world| symlink("../outside", world.path("tree/REVIEW_FEEDBACK.md")).unwrap()),
        ("a tracked link", |world| {
            symlink("../outside", world.path("tree/REVIEW_FEEDBACK.md")).unwrap();
            world.commit("tree", "link");
        }),
    ];
    for (what, take) in cases {
        let world = World::new();
        let worktree = world.worktree();
        let reviewed = tip(&world);
        world.write("outside", "untouched");
        take(&world);
        let before = world.everything("tree");
        let (_, _, note) = deliver(&worktree, &reviewed, &[], "notes\n");
        assert_eq!(note.path, "REVIEW_FEEDBACK-2.md", "{what}");
        assert_eq!(world.everything("tree").without(&note.path), before, "{what}");
        assert_eq!(world.read("tree/REVIEW_FEEDBACK-2.md"), "notes\n", "{what}");
        assert_eq!(world.read("outside"), "untouched", "{what}");

        if *what == "an empty folder" {
            // Neither git nor the user objects.
            continue;
        }
        // And also when it is taken between the commit and the merge.
        let notes = Notes {
            path: "REVIEW_FEEDBACK.md",
            content: "late\n",
            message: "m",
            at: AT,
            reviewed: &reviewed,
        };
        let (commit, _) = worktree.repository().commit_notes(&notes).unwrap();
        let late = worktree.merge_notes(&branch(), &notes, &commit, &[]).unwrap();
        assert_eq!(late, Delivery::PathTaken, "{what}");
        assert_eq!(world.everything("tree").without("REVIEW_FEEDBACK-2.md"), before, "{what}");
    }
}

#[test]
fn notes_that_the_agent_changed_are_left_to_it() {
    let world = World::new();
    let worktree = world.worktree();
    let reviewed = tip(&world);
    let (_, _, first) = deliver(&worktree, &reviewed, &[], "one\n");
    world.write("tree/REVIEW_FEEDBACK.md", "one\ndone!\n");
    let (_, _, second) = deliver(&worktree, &tip(&world), std::slice::from_ref(&first), "two\n");
    assert_eq!(second.path, "REVIEW_FEEDBACK-2.md");
    assert_eq!(world.read("tree/REVIEW_FEEDBACK.md"), "one\ndone!\n");

    // For a pull request both go; what was not committed stays as an untracked file.
    let paths = [first.path, second.path];
    let removed = worktree.remove_notes(&branch(), &paths, AT).unwrap().unwrap();
    assert_eq!(tip(&world), removed);
    assert_eq!(world.plain("tree", &["status", "--porcelain"]), "?? REVIEW_FEEDBACK.md");
    assert_eq!(world.read("tree/REVIEW_FEEDBACK.md"), "one\ndone!\n");
    assert!(!world.path("tree/REVIEW_FEEDBACK-2.md").exists());
    assert_eq!(world.plain("tree", &["ls-tree", "--name-only", "HEAD"]), "a.txt\nb.txt");
    assert_eq!(worktree.remove_notes(&branch(), &paths, AT).unwrap(), None);
}

#[test]
fn notes_staged_in_one_form_and_written_in_another_are_not_taken_out() {
    let world = World::new();
    let worktree = world.worktree();
    let (_, _, note) = deliver(&worktree, &tip(&world), &[], "one\n");
    world.write("tree/REVIEW_FEEDBACK.md", "staged\n");
    world.plain("tree", &["add", "REVIEW_FEEDBACK.md"]);
    world.write("tree/REVIEW_FEEDBACK.md", "written\n");
    let before = world.everything("tree");
    let refused = worktree.remove_notes(&branch(), &[note.path], AT).unwrap_err();
    assert_eq!(refused.kind, GitErrorKind::UncommittedChanges);
    assert_eq!(world.everything("tree"), before);
}

#[test]
fn what_an_interrupted_delivery_left_is_taken_up() {
    for staged in [false, true] {
        let world = World::new();
        let worktree = world.worktree();
        let reviewed = tip(&world);
        let content = "look here\n";
        world.write("tree/REVIEW_FEEDBACK.md", content);
        if staged {
            world.plain("tree", &["add", "REVIEW_FEEDBACK.md"]);
        }
        let (notes, _, note) = deliver(&worktree, &reviewed, &[], content);
        assert_eq!(note.path, "REVIEW_FEEDBACK.md");
        assert_eq!(tip(&world), notes);
        assert_eq!(world.plain("tree", &["status", "--porcelain"]), "");
    }
}

#[test]
fn a_worktree_in_the_middle_of_something_is_left_alone() {
    let world = World::new();
    let worktree = world.worktree();
    let reviewed = tip(&world);
    let notes = Notes { path: "REVIEW_FEEDBACK.md", content: "x", message: "m", at: AT, reviewed: &reviewed };
    let (commit, _) = worktree.repository().commit_notes(&notes).unwrap();
    let refused = || {
        let before = world.everything("tree");
        let error = worktree.merge_notes(&branch(), &notes, &commit, &[]).unwrap_err();
        assert_eq!(world.everything("tree"), before);
        assert_eq!(error.kind, GitErrorKind::Busy, "{error}");
        error.message
    };
    world.plain("tree", &["checkout", "--quiet", "--detach"]);
    assert_eq!(refused(), "the worktree is not on any branch; expected tamis/work-1-a1");
    world.plain("tree", &["checkout", "--quiet", "-b", "other"]);
    assert_eq!(refused(), "the worktree is on branch other; expected tamis/work-1-a1");
    world.write("tree/a.txt", "theirs\n");
    world.commit("tree", "theirs");
    world.plain("tree", &["checkout", "--quiet", branch().as_str()]);
    world.write("tree/a.txt", "ours\n");
    world.commit("tree", "ours");
    for (verb, operation) in [("merge", "merge"), ("rebase", "rebase"), ("cherry-pick", "cherry-pick")] {
        assert!(!world.try_plain("tree", &[verb, "other"]).0);
        assert_eq!(refused(), format!("the worktree is in the middle of a {operation}"));
        assert_eq!(worktree.state().unwrap().conflicts, ["a.txt"]);
        world.plain("tree", &[verb, "--abort"]);
    }
    // A conflict of a stash is one without an operation.
    world.write("tree/a.txt", "stashed\n");
    world.plain("tree", &["stash", "--quiet"]);
    world.write("tree/a.txt", "moved on\n");
    world.commit("tree", "moved on");
    assert!(!world.try_plain("tree", &["stash", "pop"]).0);
    assert_eq!(refused(), "a.txt has an unresolved conflict");
    world.plain("tree", &["checkout", "--quiet", "--ours", "a.txt"]);
    world.plain("tree", &["reset", "--quiet"]);
    assert!(matches!(worktree.merge_notes(&branch(), &notes, &commit, &[]), Ok(Delivery::Delivered(_))));
    assert_eq!(worktree.state().unwrap().checked_out, CheckedOut::OnBranch(branch()));
}

#[test]
fn a_review_branch_gets_its_notes_unless_its_agent_went_elsewhere() {
    let world = World::new();
    let worktree = world.worktree();
    let repository = worktree.repository();
    let reviewed = tip(&world);
    let review = "tamis/review-1-a1-1".parse().unwrap();
    let path = world.path("review");
    repository.add_worktree(&path, &review, &reviewed).unwrap();
    let notes = Notes { path: "REVIEW_FEEDBACK.md", content: "x", message: "m", at: AT, reviewed: &reviewed };
    let (commit, _) = repository.commit_notes(&notes).unwrap();
    world.write("review/REVIEW_FEEDBACK.md", "the reviewer's own");
    assert!(!repository.advance_review_branch(&path, &review, &reviewed, &commit).unwrap());
    assert_eq!(world.read("review/REVIEW_FEEDBACK.md"), "the reviewer's own");
    fs::remove_file(world.path("review/REVIEW_FEEDBACK.md")).unwrap();
    assert!(repository.advance_review_branch(&path, &review, &reviewed, &commit).unwrap());
    assert!(repository.state_of(&path).unwrap().is_clean());
    assert_eq!(repository.branch_tip(&review).unwrap(), Some(commit.clone()));
    world.write("review/own.txt", "the reviewer's");
    let own = world.commit("review", "own");
    assert!(!repository.advance_review_branch(&path, &review, &reviewed, &commit).unwrap());
    assert_eq!(repository.branch_tip(&review).unwrap(), Some(own));
}

#[test]
fn a_name_that_differs_by_case_only_is_taken() {
    let world = World::new();
    let worktree = world.worktree();
    let (_, tip) = world.repository().default_base().unwrap();
    world.write("tree/Review_Feedback.md", "mine, not committed\n");
    let (_, _, note) = deliver(&worktree, &tip, &[], "notes\n");
    assert_eq!(note.path, "REVIEW_FEEDBACK-2.md");
    assert_eq!(world.read("tree/Review_Feedback.md"), "mine, not committed\n");
}
