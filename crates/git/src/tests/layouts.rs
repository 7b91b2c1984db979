//! Repositories of every format and layout work; those that lead elsewhere are refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use super::support::{World, branch};
use crate::address::{RemoteAddress, local_repository};
use crate::{BranchName, Pushed, Reason, Removal, Repository};

/// Everything that an instance goes through, in a repository that is found from a folder; an agent's plain git beside it.
fn goes_through_all(world: &World, from: &str) {
    let repository = Repository::find(&world.git, &world.path(from)).unwrap();
    let (_, tip) = repository.default_base().unwrap();
    let worktree = repository.add_worktree(&world.path("tree"), &branch(), &tip).unwrap();
    assert!(worktree.state().unwrap().is_clean(), "{:?}", worktree.state());
    assert_eq!(world.plain("tree", &["status", "--porcelain", "--branch"]), format!("## {}", branch()));
    world.write("tree/a.txt", "work\n");
    let work = world.commit("tree", "work");
    assert_eq!(repository.branch_tip(&branch()).unwrap(), Some(work.clone()));
    let reasons = || repository.prove_disposable(&world.path("tree"), &branch(), &[]).unwrap();
    assert_eq!(reasons(), [Reason::Unpushed(1)]);
    world.write("tree/untracked", "x\n");
    assert_eq!(reasons().len(), 2);
    assert_eq!(worktree.snapshot(&branch()).unwrap().left_out, [] as [&str; 0]);
    assert_eq!(world.plain("tree", &["show", "refs/tamis/undo/work-1-a1:untracked"]), "x");
    assert!(repository.remove_worktree(&world.path("tree"), Removal::OnlyClean).is_err());
    fs::remove_file(world.path("tree/untracked")).unwrap();
    let registered = repository.worktrees().unwrap();
    assert_eq!(registered.last().unwrap().branch, Some(branch()));
    repository.remove_worktree(&world.path("tree"), Removal::OnlyClean).unwrap();
    assert!(!world.path("tree").exists());
    repository.delete_branch(&branch()).unwrap();
    assert_eq!(
        world.plain(from, &["worktree", "list", "--porcelain"]).matches("worktree ").count(),
        registered.len() - 1
    );
    world.plain(from, &["fsck", "--no-dangling"]);
}

#[test]
fn every_layout_works() {
    type Layout = fn(&World) -> &'static str;
    let layouts: &[(&str, Layout)] = &[
        ("plain", |_| "repo"),
        ("from a folder below", |world| {
            fs::create_dir(world.path("repo/below")).unwrap();
            "repo/below"
        }),
        ("from a linked worktree", |world| {
            world.plain("repo", &["worktree", "add", "--quiet", "../linked"]);
            "linked"
        }),
        ("a bare repository with a worktree", |world| {
            world.plain("home", &["clone", "--quiet", "--bare", "../repo", "../bare.git"]);
            world.plain("bare.git", &["worktree", "add", "--quiet", "../linked", "main"]);
            "linked"
        }),
        ("its own folder elsewhere", |world| {
            world
                .plain("home", &["clone", "--quiet", "--separate-git-dir", "../kept", "../repo", "../split"]);
            "split"
        }),
        ("a submodule", |world| {
            fs::create_dir(world.path("outer")).unwrap();
            world.plain("outer", &["init", "--quiet", "--initial-branch=main"]);
            world.plain("outer", &["submodule", "--quiet", "add", "../repo", "inner"]);
            "outer/inner"
        }),
        ("packed references", |world| {
            world.plain("repo", &["pack-refs", "--all"]);
            "repo"
        }),
        ("objects of another repository", |world| {
            world.plain("home", &["clone", "--quiet", "--shared", "../repo", "../shared"]);
            "shared"
        }),
        ("a shallow clone", |world| {
            world.commit("repo", "second");
            let from = format!("file://{}", world.path("repo").display());
            world.plain("home", &["clone", "--quiet", "--depth=1", &from, "../shallow"]);
            "shallow"
        }),
        ("sha256", |world| {
            fs::create_dir(world.path("long")).unwrap();
            world.plain("long", &["init", "--quiet", "--initial-branch=main", "--object-format=sha256"]);
            world.write("long/a.txt", "a\n");
            world.commit("long", "begin");
            "long"
        }),
        ("reftable", |world| {
            fs::create_dir(world.path("table")).unwrap();
            let made = world
                .try_plain("table", &["init", "--quiet", "--initial-branch=main", "--ref-format=reftable"]);
            if !made.0 {
                // Before git 2.45 there was none.
                return "repo";
            }
            world.write("table/a.txt", "a\n");
            world.commit("table", "begin");
            "table"
        }),
        ("line ends", |world| {
            world.plain("repo", &["config", "core.autocrlf", "true"]);
            world.plain("repo", &["checkout", "--quiet", "."]);
            "repo"
        }),
        ("a name with quotes", |world| {
            let odd = world.path("a 'b' \"c\" $(d)\n");
            fs::rename(world.path("repo"), &odd).unwrap();
            symlink(&odd, world.path("odd")).unwrap();
            "odd"
        }),
    ];
    for (name, layout) in layouts {
        let world = World::new();
        let from = layout(&world);
        println!("{name}");
        goes_through_all(&world, from);
    }
}

#[test]
fn a_new_worktree_is_as_sparse_as_the_repository() {
    let world = World::new();
    world.write("repo/in/x", "x\n");
    world.write("repo/out/y", "y\n");
    world.commit("repo", "folders");
    world.plain("repo", &["sparse-checkout", "set", "in"]);
    let worktree = world.worktree();
    assert!(world.path("tree/in/x").exists() && !world.path("tree/out").exists());
    assert!(worktree.state().unwrap().is_clean());
    assert_eq!(world.plain("tree", &["status", "--porcelain"]), "");
    assert_eq!(world.plain("tree", &["sparse-checkout", "list"]), "in");
    let repository = world.repository();
    assert_eq!(repository.prove_disposable(&world.path("tree"), &branch(), &[]).unwrap(), []);
    repository.remove_worktree(&world.path("tree"), Removal::OnlyClean).unwrap();
}

#[test]
fn the_users_conditional_configuration_counts() {
    let world = World::new();
    world.plain("home", &["config", "--global", "--unset", "user.email"]);
    assert!(!world.repository().has_identity().unwrap());
    let condition = format!("includeIf.gitdir:{}/.path", world.path("repo").display());
    world.plain("home", &["config", "--global", &condition, world.path("at-work").to_str().unwrap()]);
    world.write("at-work", "[user]\n\temail = me@work.invalid\n");
    assert!(world.repository().has_identity().unwrap());
}

#[test]
fn what_leads_elsewhere_is_refused() {
    type Trick = fn(&World);
    let tricks: &[(&str, Trick)] = &[
        ("the .git of another folder", |world| {
            fs::rename(world.path("repo/.git"), world.path("other/.git")).unwrap();
            world.write("repo/.git", "gitdir: ../other/.git\n");
        }),
        ("a worktree that its repository does not know", |world| {
            world.plain("repo", &["worktree", "add", "--quiet", "../other/linked"]);
            fs::rename(world.path("repo"), world.path("moved")).unwrap();
            fs::create_dir(world.path("repo")).unwrap();
            world.write(
                "repo/.git",
                format!("gitdir: {}/.git/worktrees/linked\n", world.path("moved").display()),
            );
        }),
        ("a commondir of its own choice", |world| {
            world.plain("other", &["init", "--quiet"]);
            world.write("repo/.git/commondir", "../../other/.git\n");
        }),
        ("core.worktree", |world| {
            world.plain("repo", &["config", "core.worktree", world.path("other").to_str().unwrap()]);
        }),
        ("objects", |world| {
            fs::rename(world.path("repo/.git/objects"), world.path("other/objects")).unwrap();
            symlink(world.path("other/objects"), world.path("repo/.git/objects")).unwrap();
        }),
        ("a folder of objects", |world| {
            symlink(world.path("other"), world.path("repo/.git/objects/zz")).unwrap();
        }),
        ("references", |world| {
            fs::rename(world.path("repo/.git/refs"), world.path("other/refs")).unwrap();
            symlink(world.path("other/refs"), world.path("repo/.git/refs")).unwrap();
        }),
        ("our branches", |world| {
            symlink(world.path("other"), world.path("repo/.git/refs/heads/tamis")).unwrap();
        }),
        ("our undo references", |world| {
            symlink(world.path("other"), world.path("repo/.git/refs/tamis")).unwrap();
        }),
        ("logs", |world| {
            fs::remove_dir_all(world.path("repo/.git/logs")).unwrap();
            symlink(world.path("other"), world.path("repo/.git/logs")).unwrap();
        }),
        ("the log of the head", |world| {
            fs::remove_file(world.path("repo/.git/logs/HEAD")).unwrap();
            symlink(world.path("other/rc"), world.path("repo/.git/logs/HEAD")).unwrap();
        }),
        ("the index", |world| {
            fs::rename(world.path("repo/.git/index"), world.path("other/index")).unwrap();
            symlink(world.path("other/index"), world.path("repo/.git/index")).unwrap();
        }),
        ("packed references", |world| {
            symlink(world.path("other/new"), world.path("repo/.git/packed-refs")).unwrap();
        }),
        ("worktrees", |world| symlink(world.path("other"), world.path("repo/.git/worktrees")).unwrap()),
        ("an extension that names a folder", |world| {
            world.plain("repo", &["config", "core.repositoryFormatVersion", "1"]);
            world.plain("repo", &["config", "extensions.refStorage", "files:///tmp"]);
        }),
        ("an extension that is not known", |world| {
            world.plain("repo", &["config", "core.repositoryFormatVersion", "1"]);
            world.plain("repo", &["config", "extensions.evil", "true"]);
        }),
        ("a configuration that is not understood", |world| world.write("repo/.git/config", "[[[\n")),
        ("a configuration that never ends", |world| {
            fs::remove_file(world.path("repo/.git/config")).unwrap();
            symlink("/dev/zero", world.path("repo/.git/config")).unwrap();
            world.write("repo/.git/HEAD", "ref: refs/heads/none\n");
            fs::remove_file(world.path("repo/.git/refs/heads/main")).unwrap();
        }),
    ];
    for (name, trick) in tricks {
        let world = World::new();
        fs::create_dir(world.path("other")).unwrap();
        world.write("other/rc", "precious\n");
        trick(&world);
        let mut before = std::collections::BTreeMap::new();
        super::support::collect(&world.path("other"), &world.path("other"), &mut before);
        let made = Repository::find(&world.git, &world.path("repo")).and_then(|repository| {
            let (_, tip) = repository.default_base()?;
            repository.add_worktree(&world.path("tree"), &branch(), &tip)
        });
        assert!(made.is_err(), "{name}");
        let mut after = std::collections::BTreeMap::new();
        super::support::collect(&world.path("other"), &world.path("other"), &mut after);
        assert_eq!(after, before, "{name}");
    }
}

#[test]
fn a_repository_of_another_user_is_refused_unless_the_user_allows_it() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give a folder away.
        return;
    }
    for part in ["repo", "repo/.git", "repo/.git/config"] {
        let world = World::new();
        chown(world.path(part), Some(12345), None).unwrap();
        let refused = Repository::find(&world.git, &world.path("repo")).unwrap_err();
        assert!(refused.message.contains("belongs to another user"), "{part}: {refused}");
        let folder = world.path("repo").canonicalize().unwrap().display().to_string();
        for (value, allows) in [("/elsewhere", false), (folder.as_str(), true), ("", false), ("*", true)] {
            world.plain("home", &["config", "--global", "--add", "safe.directory", value]);
            let found = Repository::find(&world.git, &world.path("repo"));
            assert_eq!(found.is_ok(), allows, "{part}, {value}: {found:?}");
        }
    }
}

/// What git makes of an address: whether it starts ssh, or finds a repository of this machine.
fn as_git_reads_it(world: &World, url: &str) -> &'static str {
    world.write("programs/ssh", format!("#!/bin/sh\n{}\nexit 1\n", world.canary("ssh")));
    fs::set_permissions(world.path("programs/ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    let ssh = format!("core.sshCommand={}", world.path("programs/ssh").display());
    let (found, _) =
        world.try_plain("repo", &["-c", &ssh, "-c", "protocol.ext.allow=never", "ls-remote", "--", url]);
    if found {
        "local"
    } else if world.canaries() == ["ssh"] {
        "ssh"
    } else {
        "neither"
    }
}

#[test]
fn addresses_are_read_as_git_reads_them() {
    let world = World::new();
    world.plain("home", &["clone", "--quiet", "--bare", "../repo", "../remote.git"]);
    world.plain("home", &["clone", "--quiet", "../repo", "../clone"]);
    world.plain("home", &["clone", "--quiet", "--bare", "../repo", "../a:b.git"]);
    world.plain("home", &["clone", "--quiet", "--bare", "../repo", "../100%.git"]);
    let at = |name: &str| world.path(name).display().to_string();
    let (remote, folder) = (at("remote.git"), at(""));
    let folder = folder.trim_end_matches('/');
    for (url, expected) in [
        (remote.clone(), "remote.git"),
        (format!("{remote}/"), "remote.git"),
        (format!("{remote}///"), "remote.git"),
        (at("remote"), "remote.git"),
        ("../remote.git".to_owned(), "remote.git"),
        ("../remote".to_owned(), "remote.git"),
        ("./../remote".to_owned(), "remote.git"),
        (format!("file://{remote}"), "remote.git"),
        (format!("file://{folder}/%72emote.git"), "remote.git"),
        (format!("file://{folder}/%72%65mote"), "remote.git"),
        (at("clone"), "clone/.git"),
        (at("clone/.git"), "clone/.git"),
        ("../clone/".to_owned(), "clone/.git"),
        ("../a:b.git".to_owned(), "a:b.git"),
        (format!("{folder}/100%.git"), "100%.git"),
        (format!("file://{folder}/100%25.git"), "100%.git"),
        (".".to_owned(), "repo/.git"),
        (".git".to_owned(), "repo/.git"),
    ] {
        assert_eq!(as_git_reads_it(&world, &url), "local", "{url}");
        let RemoteAddress::Local(path) = RemoteAddress::parse(&url).unwrap() else { panic!("{url}") };
        let place = local_repository(&path, &world.path("repo")).unwrap();
        assert_eq!(place.git_dir, world.path(expected).canonicalize().unwrap(), "{url}");
    }
    for url in [
        "host:path",
        "user@host:path",
        "host:/path",
        "[::1]:path",
        "user@[::1]:path",
        "ssh://host/path",
        "ssh://user@host:22/path",
        "git+ssh://host/path",
        "ssh+git://host/path",
    ] {
        assert_eq!(as_git_reads_it(&world, url), "ssh", "{url}");
        assert_eq!(RemoteAddress::parse(url), Ok(RemoteAddress::Network("ssh")), "{url}");
    }
    for (url, protocol) in [
        ("https://host/path", "https"),
        ("http://user:secret@host:8080/path", "http"),
        ("git://host/path", "git"),
    ] {
        assert_eq!(RemoteAddress::parse(url), Ok(RemoteAddress::Network(protocol)), "{url}");
    }
    for url in [
        "",
        "ext::touch x",
        "fd::7",
        "evil::x",
        "http::x",
        "ftp://host/x",
        "HTTPS://host/x",
        "evil://host/x",
        "-oProxyCommand=touch x",
        "-oProxyCommand=touch:x",
        "ssh://-oProxyCommand=touch/x",
        "ssh://%2DoProxyCommand=touch/x",
        "ssh://user@-host/x",
        "ssh://a$(touch x)/x",
        "ssh://a;b/x",
        "a`touch x`:x",
        "user@-oProxyCommand=x:path",
        "git://host%0a/x",
        "~user/x",
        "/a\nb",
        "../a\rb",
    ] {
        match RemoteAddress::parse(url) {
            // It would be a folder of this name.
            Ok(RemoteAddress::Local(path)) => {
                assert_eq!(path.to_str(), Some(url));
                assert!(local_repository(&path, &world.path("repo")).is_err(), "{url}");
            }
            Ok(other) => panic!("{url}: {other:?}"),
            Err(_) => {}
        }
    }
}

#[test]
fn a_local_remote_keeps_its_rules_and_its_files() {
    let world = World::new();
    world.worktree();
    world.plain("home", &["clone", "--quiet", "../repo", "../clone"]);
    world.plain("repo", &["remote", "add", "origin", "../clone"]);
    let push = |name: &BranchName| {
        let repository = world.repository();
        repository.push(&repository.remotes().unwrap()[0], name, None)
    };
    assert_eq!(push(&branch()).unwrap(), Pushed::New);
    // It is checked out there, and `updateInstead` would change the files.
    world.plain("clone", &["checkout", "--quiet", branch().as_str()]);
    world.plain("clone", &["config", "receive.denyCurrentBranch", "updateInstead"]);
    world.write("tree/a.txt", "changed\n");
    world.commit("tree", "changed");
    assert!(push(&branch()).unwrap_err().message.contains("refused"));
    assert_eq!(world.read("clone/a.txt"), "a\n");
    world.plain("clone", &["config", "receive.denyCurrentBranch", "ignore"]);
    assert_eq!(push(&branch()).unwrap(), Pushed::Forwarded);
    assert_eq!(world.read("clone/a.txt"), "a\n");
    world.plain("clone", &["fsck", "--no-dangling"]);
}
