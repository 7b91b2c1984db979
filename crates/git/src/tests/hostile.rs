//! A repository that would have git run a program at every step: nothing of it is run.
//!
//! At the end the same repository is used as a person would, which shows that the traps are real.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use super::notes::deliver;
use super::support::{AT, World, branch};
use crate::{BranchName, Pushed, Removal, Repository};

pub(super) const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "prepare-commit-msg",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// Keys of a repository's configuration that name programs.
const KEYS: &[&str] = &[
    "core.fsmonitor",
    "core.sshCommand",
    "core.askPass",
    "core.editor",
    "core.pager",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "sequence.editor",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "interactive.diffFilter",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.proc.process",
    "filter.proc.clean",
    "filter.proc.smudge",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "merge.evil.driver",
    "credential.helper",
    "credential.https://127.0.0.1.helper",
    "remote.origin.receivepack",
    "remote.origin.uploadpack",
    "remote.helper.vcs",
    "uploadpack.packObjectsHook",
    "pager.status",
    "trailer.x.cmd",
    "alias.status",
    "hook.evil.command",
    "submodule.library.update",
];

/// Keys that let more of the above be reached.
const SETTINGS: &[(&str, &str)] = &[
    ("commit.gpgSign", "true"),
    ("push.gpgSign", "if-asked"),
    ("merge.verifySignatures", "true"),
    ("log.showSignature", "true"),
    ("filter.evil.required", "true"),
    ("submodule.recurse", "true"),
    ("status.submoduleSummary", "true"),
    ("gc.auto", "1"),
    ("gc.autoDetach", "false"),
    ("protocol.ext.allow", "always"),
    ("merge.autoStash", "true"),
    ("hook.evil.event", "post-checkout"),
    ("branch.tamis/work-1-a1.mergeOptions", "--no-ff --strategy=evil"),
    ("core.checkStat", "minimal"),
    ("push.negotiate", "true"),
];

fn set_trap(world: &World) {
    for (folder, attributes) in [
        ("repo", &b"*.txt filter=evil diff=evil merge=evil\n*.proc filter=proc\n*.late filter=late\n*.raw filter=\xff\n*.md filter=evil merge=evil diff=evil\n"[..]),
        ("library", b"* filter=inner\n"),
    ] {
        world.write(&format!("{folder}/.gitattributes"), attributes);
    }
    for name in ["x.txt", "x.proc", "x.late", "x.raw", "$(touch canaries)", "`id`;'\"", "--upload-pack=x"] {
        world.write(&format!("repo/{name}"), "content\n");
    }
    world.plain("library", &["init", "--quiet", "--initial-branch=main"]);
    world.commit("library", "library");
    world.plain("repo", &["submodule", "--quiet", "add", "../library", "library"]);
    world.commit("repo", "traps");
    world.plain("repo", &["branch", "-m", "x'$(touch${IFS}canaries/branch)\""]);
    world.plain("home", &["clone", "--quiet", "--bare", "../repo", "../remote.git"]);
    for (name, url) in [
        ("origin", "../remote.git".to_owned()),
        ("ext", format!("ext::sh -c {}% >&2", world.canary("ext").replace(' ', "% "))),
        ("ssh", "ssh://localhost/x.git".to_owned()),
        ("helper", "../remote.git".to_owned()),
        ("https", "https://127.0.0.1:1/x.git".to_owned()),
        ("inner", "./inner.git".to_owned()),
    ] {
        world.plain("repo", &["remote", "add", name, &url]);
    }
    // From here on plain git runs into the traps.
    arm(world, "repo", "repo/.git");
    let late = world.path("repo/.git/late");
    let raw = world.canary_program("filter-of-any-bytes");
    let mut config = fs::read(world.path("repo/.git/config")).unwrap();
    config.extend_from_slice(b"[filter \"\xff\"]\n\tclean = ");
    config.extend_from_slice(raw.as_bytes());
    config.extend_from_slice(b"\n\tsmudge = ");
    config.extend_from_slice(raw.as_bytes());
    config.extend_from_slice(b"\n[includeIf \"onbranch:tamis/**\"]\n\tpath = ");
    config.extend_from_slice(late.as_os_str().as_bytes());
    config.push(b'\n');
    fs::write(world.path("repo/.git/config"), config).unwrap();
    let program = world.canary_program("filter-included-for-a-branch");
    world.write("repo/.git/late", format!("[filter \"late\"]\n\tclean = {program}\n\tsmudge = {program}\n"));
    world.canaries();
}

/// Hooks and configuration that leave canaries.
fn arm(world: &World, folder: &str, git_dir: &str) {
    for hook in HOOKS {
        let path = format!("{git_dir}/hooks/{hook}");
        world.write(&path, format!("#!/bin/sh\n{}\n", world.canary(&format!("hook-{hook}"))));
        fs::set_permissions(world.path(&path), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for key in KEYS {
        let program = world.canary_program(&key.replace('/', "_"));
        let bang = if key.starts_with("alias") || key.starts_with("submodule") { "!" } else { "" };
        world.plain(folder, &["config", "--add", key, &format!("{bang}{program}")]);
    }
    for (key, value) in SETTINGS {
        world.plain(folder, &["config", key, value]);
    }
}

#[test]
fn nothing_of_a_hostile_repository_is_run() {
    let world = World::new();
    set_trap(&world);

    let repository = Repository::find(&world.git, &world.path("repo")).unwrap();
    let (base, tip) = repository.default_base().unwrap();
    assert_eq!(base.as_str(), "x'$(touch${IFS}canaries/branch)\"");
    let worktree = repository.add_worktree(&world.path("tree"), &branch(), &tip).unwrap();
    assert_eq!(world.canaries(), [] as [&str; 0], "making a worktree");
    assert_eq!(world.read("tree/x.txt"), "content\n");

    // The worktree has configuration of its own, and a submodule that has some too.
    world.plain("tree", &["config", "extensions.worktreeConfig", "true"]);
    world.write(
        "repo/.git/worktrees/tree/config.worktree",
        format!("[filter \"own\"]\n\tclean = {}\n", world.canary_program("own")),
    );
    world.write(
        "tree/.gitattributes",
        "*.own filter=own\n*.txt filter=evil merge=evil diff=evil\n*.late filter=late\n",
    );
    let quiet = ["-c", "submodule.library.update=checkout", "submodule", "--quiet", "update", "--init"];
    world.plain("tree", &quiet);
    world.plain("tree/library", &["config", "filter.inner.clean", &world.canary_program("inner-filter")]);
    world.plain("tree/library", &["config", "core.fsmonitor", &world.canary_program("inner-monitor")]);
    for name in ["x.txt", "x.late", "x.own", "library/l", "library/.gitattributes"] {
        world.write(&format!("tree/{name}"), "changed\n");
    }
    world.canaries();

    let state = worktree.state().unwrap();
    assert!(state.modified.contains(&"x.txt".to_owned()), "{state:?}");
    assert!(repository.state_of(&world.path("tree")).unwrap() == state);
    assert_eq!(world.canaries(), [] as [&str; 0], "looking at it");

    let (_, _, note) = deliver(&worktree, &tip, &[], "$(touch x) `id` %s\n");
    assert_eq!(world.canaries(), [] as [&str; 0], "bringing notes");
    world.write("tree/x.proc", "more\n");
    let moved: crate::Commit = {
        let quiet = [
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "commit.gpgSign=false",
            "commit",
            "--quiet",
            "-m",
            "--evil $(id)",
            "x.proc",
        ];
        world.plain("tree", &quiet);
        world.plain("tree", &["rev-parse", "HEAD"]).parse().unwrap()
    };
    world.canaries();
    let (_, _, second) = deliver(&worktree, &tip, std::slice::from_ref(&note), "again\n");
    assert_eq!(world.canaries(), [] as [&str; 0], "merging notes");

    let notes = [note.path, second.path];
    repository.work_identity(&tip, &moved, &notes).unwrap();
    assert!(repository.has_changes(&tip, &moved, &notes).unwrap());
    assert_eq!(repository.summary(&tip, &moved, &notes).unwrap().subjects, ["--evil $(id)"]);
    assert!(
        !repository.has_identity().unwrap() || repository.head_in(repository.folder()).unwrap().is_some()
    );
    worktree.remove_notes(&branch(), &notes, AT).unwrap().unwrap();
    assert_eq!(world.canaries(), [] as [&str; 0], "taking notes out");

    let reasons = repository.prove_disposable(&world.path("tree"), &branch(), &[]).unwrap();
    assert!(reasons.iter().any(|reason| matches!(reason, crate::Reason::Submodule(_))), "{reasons:?}");
    let held = worktree.snapshot(&branch()).unwrap();
    assert!(held.left_out.contains(&"library".to_owned()));
    assert_eq!(world.canaries(), [] as [&str; 0], "holding what is there");

    world.write("repo/inner.git/HEAD", "ref: refs/heads/main\n");
    for remote in repository.remotes().unwrap() {
        let pushed = repository.push(&remote, &branch(), None);
        match remote.name.as_str() {
            "origin" => assert_eq!(pushed.unwrap(), Pushed::New),
            _ => assert!(pushed.is_err(), "{remote:?}"),
        }
        assert_eq!(world.canaries(), [] as [&str; 0], "pushing to {}", remote.name);
    }
    let other: BranchName = "tamis/other".parse().unwrap();
    repository.add_worktree(&world.path("other"), &other, &moved).unwrap();
    assert_eq!(
        repository.remove_worktree(&world.path("other"), Removal::Everything).unwrap(),
        crate::Removed::Done
    );
    repository.remove_worktree(&world.path("tree"), Removal::Everything).unwrap();
    repository.delete_branch(&branch()).unwrap();
    assert_eq!(world.canaries(), [] as [&str; 0], "removing it");

    // The traps are real.
    world.try_plain(
        "repo",
        &["-c", "filter.evil.required=false", "worktree", "add", "../plain", "-b", "tamis/plain"],
    );
    world.write("plain/x.late", "later\n");
    world.write("plain/x.raw", "other\n");
    world.try_plain("plain", &["diff"]);
    world.try_plain("plain", &["status"]);
    world.try_plain("plain", &["push", "origin", "tamis/plain"]);
    world.try_plain("plain", &["push", "--receive-pack=git-receive-pack", "origin", "tamis/plain"]);
    world.try_plain("plain", &["push", "ext", "tamis/plain"]);
    world.try_plain("plain", &["push", "ssh", "tamis/plain"]);
    world.try_plain("plain", &["push", "https", "tamis/plain"]);
    world.try_plain("plain", &["commit", "--allow-empty", "-m", "x"]);
    let sprung = world.canaries();
    for expected in [
        "core.fsmonitor",
        "core.sshCommand",
        "diff.external",
        "filter-included-for-a-branch",
        "filter-of-any-bytes",
        "filter.evil.smudge",
        "hook-post-checkout",
        "hook-pre-push",
        "hook-reference-transaction",
        "remote.origin.receivepack",
        "ext",
    ] {
        assert!(sprung.iter().any(|name| name == expected), "{expected} did not spring: {sprung:?}");
    }
}

#[test]
fn what_the_user_has_set_for_themselves_counts() {
    let world = World::new();
    let program = world.path("programs/upper");
    world.write("programs/upper", "#!/bin/sh\ntr a-z A-Z\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    world.write("repo/.gitattributes", "*.up filter=up\n");
    world.write("repo/x.up", "quiet\n");
    world.commit("repo", "filtered");
    world.plain("home", &["config", "--global", "filter.up.smudge", program.to_str().unwrap()]);
    // As `git lfs install --local` would.
    world.plain("repo", &["config", "filter.up.smudge", &world.canary_program("smudge")]);
    world.worktree();
    assert_eq!(world.read("tree/x.up"), "QUIET\n");
    assert_eq!(world.canaries(), [] as [&str; 0]);
}

#[test]
fn what_a_partial_clone_misses_is_not_fetched_by_the_repositorys_own_program() {
    let world = World::new();
    let blob = world.plain("repo", &["rev-parse", "HEAD:a.txt"]);
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "../elsewhere"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", &world.canary_program("uploadpack")),
    ] {
        world.plain("repo", &["config", key, value]);
    }
    fs::remove_file(world.path(&format!("repo/.git/objects/{}/{}", &blob[..2], &blob[2..]))).unwrap();
    let repository = world.repository();
    let (_, tip) = repository.default_base().unwrap();
    assert!(repository.add_worktree(&world.path("tree"), &branch(), &tip).is_err());
    assert_eq!(world.canaries(), [] as [&str; 0]);
    world.try_plain("repo", &["cat-file", "blob", &blob]);
    assert_eq!(world.canaries(), ["uploadpack"]);
}
