//! Repositories are found and explained; worktrees are made and removed, many at once.

use std::fs;
use std::process::Command;
use std::sync::Barrier;
use std::time::{Duration, SystemTime};

use super::support::{World, branch};
use crate::GitErrorKind;
use crate::{BranchName, CheckedOut, Git, GitOperation, Head, Removal, Removed, Repository};

#[test]
fn a_repository_is_found_from_anywhere_in_it() {
    let world = World::new();
    let worktree = world.worktree();
    let tip = worktree.repository().branch_tip(&branch()).unwrap().unwrap();
    world.write("repo/deep/er/file", "x");
    world.write("tree/deep/file", "x");
    for folder in ["repo", "repo/deep/er", "repo/.git/..", "tree", "tree/deep"] {
        let found = Repository::find(&world.git, &world.path(folder)).unwrap();
        assert_eq!(found.folder(), world.path("repo").canonicalize().unwrap(), "{folder}");
        assert_eq!(found.common_dir(), world.path("repo/.git").canonicalize().unwrap(), "{folder}");
    }
    let repository = world.repository();
    let main: BranchName = "main".parse().unwrap();
    assert_eq!(
        repository.head_in(repository.folder()).unwrap(),
        Some(Head { commit: tip.clone(), branch: Some(main.clone()) })
    );
    assert_eq!(repository.default_base().unwrap(), (main.clone(), tip.clone()));
    world.plain("repo", &["checkout", "--quiet", "--detach"]);
    assert_eq!(
        repository.head_in(repository.folder()).unwrap(),
        Some(Head { commit: tip.clone(), branch: None })
    );
    assert_eq!(repository.default_base().unwrap(), (main, tip.clone()));
    assert!(repository.has_identity().unwrap());
    world.plain("home", &["config", "--global", "--unset", "user.email"]);
    assert!(!repository.has_identity().unwrap());
    assert_eq!(repository.remotes().unwrap(), []);
}

#[test]
fn what_is_no_usable_repository_is_explained() {
    let world = World::new();
    let why = |folder: &str| {
        let error = Repository::find(&world.git, &world.path(folder)).unwrap_err();
        assert_eq!(error.kind, GitErrorKind::Failed);
        let message =
            error.message.replace(&world.path("").canonicalize().unwrap().display().to_string(), "");
        format!("{message} | {}", error.hints.join(" | "))
    };
    assert!(
        why("home").starts_with(
            "`/home` is not in a git repository | change to a repository, or create one: git init"
        )
    );
    fs::create_dir(world.path("empty")).unwrap();
    world.plain("empty", &["init", "--quiet"]);
    assert!(why("empty").starts_with("the repository /empty has no commit yet | create the first commit"));
    world.plain("home", &["clone", "--quiet", "--bare", "../repo", "../bare.git"]);
    assert!(why("bare.git").starts_with(
        "`/bare.git` is a bare repository, which has no files | change to one of its worktrees"
    ));
    // But a worktree of a bare repository does.
    world.plain("bare.git", &["worktree", "add", "--quiet", "../of-bare", "main"]);
    let found = Repository::find(&world.git, &world.path("of-bare")).unwrap();
    assert_eq!(found.folder(), world.path("of-bare").canonicalize().unwrap());
    found
        .add_worktree(
            &world.path("second"),
            &branch(),
            &found.head_in(found.folder()).unwrap().unwrap().commit,
        )
        .unwrap();
    // A repository must not lead to other folders of the user's.
    world.plain("repo", &["config", "core.worktree", world.path("home").to_str().unwrap()]);
    assert!(why("repo").contains("has its files in /home"));
    assert!(
        Repository::find(&Git::new(world.path("scratch")).with_program("no-such-git"), &world.path("home"))
            .is_err()
    );
}

#[test]
fn fifty_at_once_come_and_go_without_a_lock_error() {
    let world = World::new();
    let repository = world.repository();
    let (_, tip) = repository.default_base().unwrap();
    let begin = Barrier::new(50);
    std::thread::scope(|scope| {
        for number in 1..=50 {
            let (world, repository, tip, begin) = (&world, &repository, &tip, &begin);
            scope.spawn(move || {
                let path = world.path(&format!("trees/{number}"));
                let branch = BranchName::of_instance(&format!("work-1-a{number}")).unwrap();
                begin.wait();
                let worktree = repository.add_worktree(&path, &branch, tip).unwrap();
                assert!(worktree.state().unwrap().is_clean());
                assert!(path.join("a.txt").exists());
                worktree.snapshot(&branch).unwrap();
                assert_eq!(repository.remove_worktree(&path, Removal::OnlyClean).unwrap(), Removed::Done);
                repository.delete_branch(&branch).unwrap();
            });
        }
    });
    assert_eq!(repository.worktrees().unwrap().len(), 1);
    assert_eq!(
        world.plain("repo", &["for-each-ref", "--format=%(refname)", "refs/heads"]),
        "refs/heads/main"
    );
}

#[test]
fn an_interrupted_making_is_finished_or_undone() {
    let world = World::new();
    let repository = world.repository();
    let (_, tip) = repository.default_base().unwrap();
    let path = world.path("tree");
    // Only the branch.
    world.plain("repo", &["branch", branch().as_str(), tip.as_str()]);
    repository.add_worktree(&path, &branch(), &tip).unwrap();
    repository.remove_worktree(&path, Removal::Everything).unwrap();
    // Registered, and not filled.
    world.plain(
        "repo",
        &["worktree", "add", "--quiet", "--no-checkout", path.to_str().unwrap(), branch().as_str()],
    );
    world.write("repo/.git/worktrees/tree/locked", "initializing");
    assert!(repository.add_worktree(&path, &branch(), &tip).unwrap().state().unwrap().is_clean());
    // A second call has the same result.
    repository.add_worktree(&path, &branch(), &tip).unwrap();
    assert_eq!(repository.remove_worktree(&path, Removal::Everything).unwrap(), Removed::Done);
    assert_eq!(repository.remove_worktree(&path, Removal::Everything).unwrap(), Removed::NotRegistered);
    // Killed so early that git does not list it.
    world.write("repo/.git/worktrees/tree/locked", "initializing");
    assert_eq!(repository.remove_worktree(&path, Removal::Everything).unwrap(), Removed::NotRegistered);
    assert!(!world.path("repo/.git/worktrees/tree").exists());
    // A folder or branch that is not ours stays.
    world.write("tree/precious", "x");
    assert_eq!(repository.add_worktree(&path, &branch(), &tip).unwrap_err().kind, GitErrorKind::Failed);
    assert_eq!(repository.remove_worktree(&path, Removal::Everything).unwrap(), Removed::NotRegistered);
    assert_eq!(world.read("tree/precious"), "x");
    world.write("repo/a.txt", "on\n");
    let later = world.commit("repo", "on");
    let refused = repository.add_worktree(&world.path("other"), &branch(), &later).unwrap_err();
    assert!(refused.message.contains("already exists"), "{refused}");
    assert_eq!(
        repository.add_worktree(&world.path("repo/in"), &branch(), &tip).unwrap_err().kind,
        GitErrorKind::Invalid
    );
}

#[test]
fn exactly_one_vanished_worktree_is_forgotten_and_changes_are_not_removed() {
    let world = World::new();
    let worktree = world.worktree();
    let repository = worktree.repository();
    let (_, tip) = repository.default_base().unwrap();
    repository.add_worktree(&world.path("also"), &"tamis/also".parse().unwrap(), &tip).unwrap();
    for name in ["tree", "also"] {
        fs::rename(world.path(name), world.path(&format!("{name}-moved"))).unwrap();
        assert_eq!(repository.state_of(&world.path(name)).unwrap().checked_out, CheckedOut::Vanished);
    }
    assert_eq!(repository.worktree(&world.path("tree")).unwrap_err().kind, GitErrorKind::Failed);
    assert_eq!(repository.remove_worktree(&world.path("also"), Removal::OnlyClean).unwrap(), Removed::Done);
    fs::rename(world.path("tree-moved"), world.path("tree")).unwrap();
    world.write("tree/untracked", "x");
    assert_eq!(
        repository.remove_worktree(&world.path("tree"), Removal::OnlyClean).unwrap_err().kind,
        GitErrorKind::Failed
    );
    assert_eq!(world.read("tree/untracked"), "x");
    // A folder that is no longer a worktree does not lead to a repository around it.
    world.plain("", &["init", "--quiet"]);
    fs::remove_file(world.path("tree/.git")).unwrap();
    assert_eq!(repository.state_of(&world.path("tree")).unwrap().checked_out, CheckedOut::Vanished);
}

#[test]
fn states_are_told_apart() {
    let world = World::new();
    let worktree = world.worktree();
    world.plain("tree", &["config", "status.showUntrackedFiles", "no"]);
    assert!(worktree.state().unwrap().is_clean());
    world.write("tree/a.txt", "changed");
    world.write("tree/new file", "x");
    world.write("tree/staged\n\"file\"", "x");
    world.plain("tree", &["add", "staged\n\"file\""]);
    let state = worktree.state().unwrap();
    assert_eq!(state.modified, ["a.txt", "staged\n\"file\""]);
    assert_eq!(state.untracked, ["new file"]);
    assert!(state.is_clean_but_for(&["a.txt", "staged\n\"file\"", "new file"].map(str::to_owned)));
    world.plain("tree", &["bisect", "start"]);
    assert_eq!(worktree.state().unwrap().operation, Some(GitOperation::Bisect));
}

#[test]
fn a_lock_is_waited_for_named_and_cleared_only_when_no_process_holds_it() {
    let world = World::new();
    let worktree = world.worktree();
    let repository = worktree.repository();
    let lock = world
        .path("repo/.git/worktrees/tree/index.lock")
        .canonicalize()
        .unwrap_or(world.path("repo/.git/worktrees/tree/index.lock"));
    let begun = SystemTime::now() - Duration::from_secs(60);
    let held = fs::File::create(&lock).unwrap();
    held.set_modified(begun + Duration::from_secs(30)).unwrap();

    // Another process removes it while we wait.
    let reset = || worktree.call().args(["reset", "--quiet"]).writes().run();
    let error = reset().unwrap_err();
    assert_eq!(error.kind, GitErrorKind::Locked);
    assert!(error.message.contains("index.lock") && error.hints[0].contains("fuser"), "{error:?}");

    let clear = |since| repository.clear_left_locks(&world.path("tree"), &branch(), since).unwrap();
    assert_eq!(clear(begun), [] as [std::path::PathBuf; 0], "a process, this one, has it open");
    drop(held);
    assert_eq!(clear(SystemTime::now()), [] as [std::path::PathBuf; 0], "it is older than what we did");
    // A git that works there may hold it without having it open.
    let mut working = Command::new("git")
        .args(["cat-file", "--batch"])
        .current_dir(world.path("tree"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(clear(begun), [] as [std::path::PathBuf; 0]);
    drop(working.stdin.take());
    working.wait().unwrap();
    if cfg!(target_os = "linux") {
        let moved = clear(begun);
        assert_eq!(moved.len(), 1);
        assert!(moved[0].exists() && !lock.exists());
        reset().unwrap();
    }
}

#[test]
fn a_lock_that_goes_away_is_no_error() {
    let world = World::new();
    let worktree = world.worktree();
    let lock = world.path("repo/.git/worktrees/tree/index.lock");
    fs::write(&lock, "").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| worktree.call().args(["reset", "--quiet"]).writes().run().unwrap());
        std::thread::sleep(Duration::from_millis(50));
        fs::remove_file(&lock).unwrap();
    });
}

#[test]
fn a_git_that_hangs_is_ended_with_all_that_it_started() {
    let world = World::new();
    let program = world.path("slow-git");
    world.write("slow-git", "#!/bin/sh\nsleep 600 &\nsleep 600\n");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let git = world.git.clone().with_program(&program).with_limit(Duration::from_millis(100));
    let error = Repository::find(&git, &world.path("repo")).unwrap_err();
    assert_eq!(error.kind, GitErrorKind::TimedOut);
}

#[test]
fn names_that_are_no_branches_are_refused() {
    for wrong in [
        "",
        "-x",
        "--upload-pack=x",
        "a..b",
        "a b",
        "a\nb",
        "a/",
        "/a",
        "a//b",
        ".a",
        "a.lock",
        "@",
        "a@{1}",
        "HEAD",
        "a:b",
        "x\u{1b}[2J",
        "a.",
        "a\\b",
    ] {
        assert_eq!(wrong.parse::<BranchName>().unwrap_err().kind, GitErrorKind::Invalid, "{wrong:?}");
        let world_agrees = !Command::new("git")
            .args(["check-ref-format", &format!("refs/heads/{wrong}")])
            .status()
            .unwrap()
            .success();
        assert!(world_agrees || wrong.starts_with('-') || wrong == "HEAD" || wrong == "@", "{wrong:?}");
    }
    for right in ["main", "tamis/work-1-a1", "über", "a$(id)", "a'b\"c;d", "feature/x@y"] {
        assert_eq!(right.parse::<BranchName>().unwrap().as_str(), right);
    }
}

#[test]
fn worktrees_are_listed_though_another_git_is_registering_one() {
    let world = World::new();
    let worktree = world.worktree();
    let repository = world.repository();
    let file = worktree.git_dir().join("commondir");
    let content = std::fs::read(&file).unwrap();
    std::fs::write(&file, "").unwrap();
    assert!(repository.worktrees().is_err(), "git lists no worktree whose files are empty");
    let start = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            std::fs::write(&file, &content).unwrap();
        });
        start.wait();
        assert_eq!(repository.worktrees().unwrap().len(), 2);
    });
}
