//! What would be lost is found; what goes is held; what is pushed is pushed once and never by force.

use std::fs;

use super::support::{World, branch};
use crate::GitErrorKind;
use crate::{BranchName, ChangeSummary, Credential, GitOperation, Pushed, Reason, Removal};

fn reasons(world: &World) -> Vec<Reason> {
    world.repository().prove_disposable(&world.path("tree"), &branch(), &[]).unwrap()
}

#[test]
fn every_kind_of_loss_is_a_reason() {
    let world = World::new();
    let worktree = world.worktree();
    assert_eq!(reasons(&world), []);
    world.write("tree/.gitignore", "*.o\n");
    let work = world.commit("tree", "work");
    world.write("tree/x.o", "ignored");
    assert_eq!(reasons(&world), [Reason::Unpushed(1)]);
    let keeper: BranchName = "tamis/keeper".parse().unwrap();
    world.plain("repo", &["branch", keeper.as_str(), work.as_str()]);
    assert_eq!(reasons(&world), [Reason::Unpushed(1)], "another instance's branch can go too");
    let kept = world.repository().prove_disposable(&world.path("tree"), &branch(), &[keeper]).unwrap();
    assert_eq!(kept, []);
    world.plain("repo", &["branch", "mine", work.as_str()]);
    assert_eq!(reasons(&world), [], "the user's own branch has it");

    world.write("tree/a.txt", "changed");
    world.write("tree/new", "x");
    assert_eq!(
        reasons(&world),
        [Reason::Uncommitted(vec!["a.txt".to_owned()]), Reason::Untracked(vec!["new".to_owned()])]
    );
    fs::remove_file(world.path("tree/new")).unwrap();
    world.plain("tree", &["stash", "--quiet"]);
    assert_eq!(reasons(&world), [Reason::Stashed(1)]);
    world.plain("tree", &["stash", "drop", "--quiet"]);
    for mark in ["assume-unchanged", "skip-worktree"] {
        world.write("tree/a.txt", "hidden");
        world.plain("tree", &["update-index", &format!("--{mark}"), "a.txt"]);
        assert_eq!(reasons(&world), [Reason::Hidden(vec!["a.txt".to_owned()])]);
        world.plain("tree", &["update-index", &format!("--no-{mark}"), "a.txt"]);
        world.plain("tree", &["checkout", "--quiet", "a.txt"]);
    }
    world.plain("tree", &["checkout", "--quiet", "--detach"]);
    assert_eq!(reasons(&world), []);
    world.commit("tree", "on no branch");
    assert_eq!(reasons(&world), [Reason::OnlyHere(1)]);
    world.plain("tree", &["update-ref", "refs/worktree/x", "HEAD"]);
    world.plain("tree", &["checkout", "--quiet", branch().as_str()]);
    assert_eq!(reasons(&world), [Reason::OnlyHere(1)]);
    world.plain("tree", &["update-ref", "-d", "refs/worktree/x"]);
    world.plain("tree", &["bisect", "start"]);
    assert_eq!(reasons(&world), [Reason::InProgress(GitOperation::Bisect)]);
    assert_eq!(worktree.state().unwrap().operation, Some(GitOperation::Bisect));
}

#[test]
fn work_in_a_submodule_is_a_reason() {
    let world = World::new();
    fs::create_dir(world.path("library")).unwrap();
    world.plain("library", &["init", "--quiet", "--initial-branch=main"]);
    world.write("library/l", "l");
    world.commit("library", "library");
    world.plain("repo", &["submodule", "--quiet", "add", "../library", "deep/library"]);
    world.commit("repo", "with a submodule");
    let worktree = world.worktree();
    assert_eq!(reasons(&world), []);
    world.plain("tree", &["submodule", "--quiet", "update", "--init"]);
    assert_eq!(reasons(&world), []);
    let submodule = [Reason::Submodule("deep/library".to_owned())];
    world.write("tree/deep/library/untracked", "x");
    assert_eq!(reasons(&world), submodule);
    world.plain("tree/deep/library", &["stash", "--quiet", "--include-untracked"]);
    let both = [submodule[0].clone(), Reason::Submodule("modules/deep/library".to_owned())];
    assert_eq!(reasons(&world), both, "a stash is in the submodule alone");
    // Taken down, its commits are still there only.
    world.plain("tree", &["submodule", "--quiet", "deinit", "--all", "--force"]);
    assert_eq!(reasons(&world), both[1..]);
    world.plain("tree", &["submodule", "--quiet", "update", "--init"]);
    let held = worktree.snapshot(&branch()).unwrap();
    assert_eq!(held.left_out, ["deep/library"]);
}

#[test]
fn a_snapshot_holds_everything_and_changes_nothing() {
    let world = World::new();
    let worktree = world.worktree();
    world.write("tree/b.txt", "amended away\n");
    let amended = world.commit("tree", "before");
    world.plain("tree", &["commit", "--quiet", "--amend", "-m", "after"]);
    world.write("tree/.gitignore", "*.o\n");
    world.write("tree/x.o", "ignored");
    world.write("tree/a.txt", "staged\n");
    world.plain("tree", &["add", "a.txt"]);
    world.write("tree/a.txt", "written\n");
    world.write("tree/dir/new", "new\n");
    world.write("tree/b.txt", "hidden\n");
    world.plain("tree", &["update-index", "--assume-unchanged", "b.txt"]);
    fs::create_dir(world.path("tree/dir/clone")).unwrap();
    world.plain("tree/dir/clone", &["init", "--quiet"]);
    world.write("tree/dir/clone/file", "of another repository");
    let (before, status) = (world.everything("tree"), world.plain("tree", &["status", "--porcelain"]));

    let held = worktree.snapshot(&branch()).unwrap();

    assert_eq!(world.everything("tree"), before);
    assert_eq!(world.plain("tree", &["status", "--porcelain"]), status);
    assert_eq!(held.reference, "refs/tamis/undo/work-1-a1");
    assert_eq!(held.left_out, ["dir/clone"]);
    let show = |name: &str| world.plain("repo", &["show", &format!("{}{name}", held.reference)]);
    assert_eq!(show(":a.txt"), "written");
    assert_eq!(show(":b.txt"), "hidden");
    assert_eq!(show(":dir/new"), "new");
    assert_eq!(show("^2:a.txt"), "staged");
    assert_eq!(show("^1:b.txt"), "amended away");
    let repository = world.repository();
    assert!(repository.is_ancestor(&amended, &held.commit).unwrap(), "what only the log named");
    assert!(
        world
            .plain("repo", &["ls-tree", "-r", "--name-only", &held.reference])
            .lines()
            .all(|path| path != "x.o")
    );
    // The next one holds what the first held, too.
    world.write("tree/a.txt", "later\n");
    let second = worktree.snapshot(&branch()).unwrap();
    assert!(repository.is_ancestor(&held.commit, &second.commit).unwrap());
    assert_eq!(show(":a.txt"), "later");
}

#[test]
fn a_branch_goes_only_when_its_tip_is_held() {
    let world = World::new();
    let worktree = world.worktree();
    let repository = worktree.repository();
    world.write("tree/a.txt", "work\n");
    let tip = world.commit("tree", "work");
    let refused = || repository.delete_branch(&branch()).unwrap_err();
    assert_eq!(refused().kind, GitErrorKind::Kept);
    let held = worktree.snapshot(&branch()).unwrap();
    assert_eq!(held.commit, tip, "with nothing else to hold, the tip itself is held");
    assert!(refused().message.contains("is checked out in worktree"));
    repository.remove_worktree(&world.path("tree"), Removal::OnlyClean).unwrap();
    world.plain("repo", &["branch", "--force", branch().as_str(), "main"]);
    let on_main = repository.hold_branch(&branch()).unwrap().unwrap();
    assert!(repository.is_ancestor(&tip, &on_main).unwrap(), "what was held stays held");
    repository.delete_branch(&branch()).unwrap();
    repository.delete_branch(&branch()).unwrap();
    assert_eq!(repository.branch_tip(&branch()).unwrap(), None);
    assert_eq!(repository.undo_commit(&branch()).unwrap(), Some(on_main));
}

#[test]
fn work_is_the_same_whatever_notes_come_and_go() {
    let world = World::new();
    world.worktree();
    let repository = world.repository();
    let (_, base) = repository.default_base().unwrap();
    let notes = ["REVIEW_FEEDBACK.md".to_owned()];
    assert!(!repository.has_changes(&base, &base, &notes).unwrap());
    world.write("tree/REVIEW_FEEDBACK.md", "notes");
    let only_notes = world.commit("tree", "notes");
    assert!(!repository.has_changes(&base, &only_notes, &notes).unwrap());
    assert!(repository.has_changes(&base, &only_notes, &[]).unwrap());
    world.write("tree/a.txt", "a\nmore\n");
    world.write("tree/ü\t\"x\"", [0, 1, 2]);
    let work = world.commit("tree", "work \u{1b}[31m");
    let identity = repository.work_identity(&base, &work, &notes).unwrap();
    fs::remove_file(world.path("tree/REVIEW_FEEDBACK.md")).unwrap();
    let without = world.commit("tree", "without");
    assert_eq!(repository.work_identity(&base, &without, &notes).unwrap(), identity);
    // The base moves on elsewhere, and the branch follows.
    world.write("repo/elsewhere", "x");
    let moved = world.commit("repo", "elsewhere");
    world.plain("tree", &["merge", "--quiet", "-m", "follow", "main"]);
    let followed = world.plain("tree", &["rev-parse", "HEAD"]).parse().unwrap();
    assert_eq!(repository.work_identity(&moved, &followed, &notes).unwrap(), identity);
    let summary = repository.summary(&moved, &followed, &notes).unwrap();
    assert_eq!(
        summary,
        ChangeSummary {
            files: 2,
            insertions: 1,
            deletions: 0,
            changed: vec![("a.txt".to_owned(), Some((1, 0))), ("ü\t\"x\"".to_owned(), None)],
            commits: 4,
            subjects: ["notes", "work [31m", "without", "follow"].map(str::to_owned).to_vec(),
        }
    );
    world.write("tree/a.txt", "a\nmore \n");
    let spaced = world.commit("tree", "a space");
    assert_ne!(repository.work_identity(&moved, &spaced, &notes).unwrap(), identity);
}

#[test]
fn a_branch_is_pushed_and_never_by_force() {
    let world = World::new();
    world.plain("home", &["clone", "--quiet", "--bare", "../repo", "../remote.git"]);
    world.worktree();
    world.plain("repo", &["remote", "add", "origin", "../remote.git"]);
    world.plain("repo", &["config", "push.followTags", "true"]);
    world.plain("repo", &["remote", "add", "--", "--upload-pack=x", "../remote.git"]);
    let repository = world.repository();
    let remotes = repository.remotes().unwrap();
    assert_eq!(remotes.iter().map(|remote| remote.name.as_str()).collect::<Vec<_>>(), ["origin"]);
    let origin = &remotes[0];
    world.write("tree/a.txt", "one\n");
    let one = world.commit("tree", "one");
    assert_eq!(reasons(&world), [Reason::Unpushed(1)]);
    assert_eq!(repository.push(origin, &branch(), None).unwrap(), Pushed::New);
    assert_eq!(repository.push(origin, &branch(), None).unwrap(), Pushed::UpToDate);
    assert_eq!(repository.remote_tip(origin, &branch()).unwrap(), Some(one));
    assert_eq!(reasons(&world), []);
    world.commit("tree", "two");
    assert_eq!(repository.push(origin, &branch(), None).unwrap(), Pushed::Forwarded);
    world.plain("tree", &["commit", "--quiet", "--amend", "--allow-empty", "-m", "rewritten"]);
    let refused = repository.push(origin, &branch(), None).unwrap_err();
    assert_eq!(refused.kind, GitErrorKind::Failed);
    assert_eq!(
        refused.message,
        "origin has commits on tamis/work-1-a1 that this repository does not have, so the push was refused"
    );
    assert_eq!(world.plain("remote.git", &["log", "-1", "--format=%s", branch().as_str()]), "two");
    world.plain("repo", &["remote", "set-url", "origin", "../vanished.git"]);
    let repository = world.repository();
    let gone = repository.push(&repository.remotes().unwrap()[0], &branch(), None).unwrap_err();
    assert_eq!(gone.kind, GitErrorKind::Failed);
}

#[test]
fn a_credential_goes_to_its_host_only_and_is_never_shown() {
    use std::io::{Read, Write};

    let world = World::new();
    world.worktree();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // It records each request, refuses it, and ends with the test.
    let (sender, requests) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = vec![0; 4096];
            let read = stream.read(&mut request).unwrap_or(0);
            let _ = sender.send(String::from_utf8_lossy(&request[..read]).into_owned());
            let _ = stream.write_all(b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    world
        .plain("repo", &["remote", "add", "origin", &format!("http://in-url:hidden@127.0.0.1:{port}/x.git")]);
    let credential = |origin: &str| Credential {
        origin: origin.to_owned(),
        user: "x".to_owned(),
        secret: "s3cret".to_owned(),
    };
    let push = |credential: &Credential| {
        let repository = world.repository();
        let error =
            repository.push(&repository.remotes().unwrap()[0], &branch(), Some(credential)).unwrap_err();
        let shown = format!("{error:?} {credential:?}");
        for secret in ["s3cret", "eDpzM2NyZXQ=", "hidden"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        error
    };
    push(&credential(&format!("http://127.0.0.1:{port}/")));
    assert!(requests.try_iter().collect::<String>().contains("Authorization: Basic eDpzM2NyZXQ="));
    push(&credential("https://github.com/"));
    assert!(!requests.try_iter().collect::<String>().contains("eDpzM2NyZXQ="));
    // The repository's own helper would be queried for a credential, and could keep the answer.
    world.plain("repo", &["remote", "set-url", "origin", &format!("http://127.0.0.1:{port}/x.git")]);
    world.plain("repo", &["config", "credential.helper", &world.canary_program("helper")]);
    world.plain(
        "repo",
        &["config", "credential.http://127.0.0.1.helper", &world.canary_program("helper-of-host")],
    );
    let repository = world.repository();
    assert!(repository.push(&repository.remotes().unwrap()[0], &branch(), None).is_err());
    assert_eq!(world.canaries(), [] as [&str; 0]);
    assert!(!world.try_plain("repo", &["push", "origin", branch().as_str()]).0);
    assert!(world.canaries().contains(&"helper".to_owned()));
    requests.try_iter().count();
    world.plain("repo", &["config", "http.https://github.com/.sslVerify", "false"]);
    let refused = push(&credential("https://github.com/"));
    assert!(refused.message.contains("is not sent"), "{refused}");
    assert_eq!(requests.try_iter().count(), 0);
}

#[test]
fn what_only_the_worktrees_own_references_name_is_held() {
    let world = World::new();
    let worktree = world.worktree();
    let own = world.plain("tree", &["commit-tree", "HEAD^{tree}", "-m", "named by nobody else"]);
    world.plain("tree", &["update-ref", "refs/worktree/x", &own]);
    let held = worktree.snapshot(&branch()).unwrap();
    world.plain("repo", &["merge-base", "--is-ancestor", &own, held.commit.as_str()]);
}
