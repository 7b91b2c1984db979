//! Attacks that worked once: in each, the author of a repository's configuration made git run a program, change a
//! file outside of the repository, or lose work.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::support::{World, branch};
use crate::{Reason, Repository};

const RECEIVING_HOOKS: &[&str] =
    &["pre-receive", "update", "post-receive", "post-update", "reference-transaction", "proc-receive"];

/// A bare repository whose hooks and configuration leave canaries, with the environment that they saw.
fn arm_remote(world: &World, folder: &str) {
    if !world.path(folder).exists() {
        world.plain("home", &["clone", "--quiet", "--bare", "../repo", world.path(folder).to_str().unwrap()]);
    }
    for hook in RECEIVING_HOOKS {
        let path = format!("{folder}/hooks/{hook}");
        world.write(&path, format!("#!/bin/sh\nenv > {}\n", world.path("canaries").join(hook).display()));
        fs::set_permissions(world.path(&path), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (key, value) in [
        ("core.alternateRefsCommand", world.canary_program("alternate-refs")),
        ("core.fsmonitor", world.canary_program("monitor")),
        ("receive.procReceiveRefs", "refs/heads".to_owned()),
        ("gc.auto", "1".to_owned()),
        ("core.hooksPath", world.path(folder).join("hooks").display().to_string()),
    ] {
        world.plain("home", &["config", "--file", &format!("../{folder}/config"), key, &value]);
    }
    world.write(
        &format!("{folder}/objects/info/alternates"),
        format!("{}\n", world.path("repo/.git/objects").display()),
    );
}

#[test]
fn a_push_runs_nothing_of_a_local_remote() {
    let world = World::new();
    world.worktree();
    for folder in ["outside.git", "repo/.git/evil", "repo/inner.git", "tree/inner.git"] {
        arm_remote(&world, folder);
    }
    let inner = format!("file://{}/%69nner.git", world.path("repo").display());
    let outside = world.path("outside.git").display().to_string();
    let in_tree = world.path("tree/inner.git").display().to_string();
    for (url, push_instead_of, may_work) in [
        ("./.git/evil", None, false),
        (inner.as_str(), None, false),
        ("./inner.git", None, false),
        ("nowhere:x", Some("./.git/evil"), false),
        (in_tree.as_str(), None, false),
        (outside.as_str(), None, true),
        ("../outside.git", None, true),
        ("../outside", None, true),
        ("nowhere:x", Some("../outside.git"), true),
    ] {
        world.plain("repo", &["config", "--replace-all", "remote.origin.url", url]);
        if let Some(base) = push_instead_of {
            world.plain("repo", &["config", &format!("url.{base}.pushInsteadOf"), url]);
        }
        let repository = world.repository();
        let origin = repository.remotes().unwrap().remove(0);
        let pushed = repository.push(&origin, &branch(), None);
        assert_eq!(world.canaries(), [] as [&str; 0], "{url} {push_instead_of:?}");
        assert_eq!(pushed.is_ok(), may_work, "{url} {push_instead_of:?}: {pushed:?}");
        world.try_plain(
            "repo",
            &["config", "--remove-section", &format!("url.{}", push_instead_of.unwrap_or(""))],
        );
    }
    // The traps are real.
    world.plain("repo", &["branch", "tamis/plain"]);
    world.try_plain("repo", &["push", "../outside.git", "tamis/plain"]);
    assert!(world.canaries().contains(&"pre-receive".to_owned()));
}

/// A server with one branch, which sets a cookie.
fn cookie_server(branch: &str, tip: &str) -> u16 {
    let line = |text: String| format!("{:04x}{text}", text.len() + 4);
    let body = line("# service=git-receive-pack\n".to_owned())
        + "0000"
        + &line(format!("{tip} refs/heads/{branch}\0report-status\n"))
        + "0000";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-receive-pack-advertisement\r\nSet-Cookie: a=b; Max-Age=99999\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
        }
    });
    port
}

#[test]
fn a_push_overwrites_no_file_of_the_user() {
    let world = World::new();
    world.worktree();
    world.write("victim", "");
    let tip = world.plain("repo", &["rev-parse", branch().as_str()]);
    let port = cookie_server(branch().as_str(), &tip);
    world.plain("repo", &["remote", "add", "origin", &format!("http://127.0.0.1:{port}/x.git")]);
    world.plain("repo", &["config", "http.cookieFile", world.path("victim").to_str().unwrap()]);
    world.plain("repo", &["config", "http.saveCookies", "true"]);
    let repository = world.repository();
    let origin = repository.remotes().unwrap().remove(0);
    assert_eq!(repository.push(&origin, &branch(), None).unwrap(), crate::Pushed::UpToDate);
    assert_eq!(world.read("victim"), "");
    world.plain("repo", &["push", "origin", branch().as_str()]);
    assert_ne!(world.read("victim"), "", "the trap is real");
}

#[test]
fn a_credential_is_not_sent_to_where_a_redirect_leads() {
    let world = World::new();
    world.worktree();
    let (elsewhere, here) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = here.local_addr().unwrap().port();
    let answer = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://{}/x.git/info/refs?service=git-receive-pack\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        elsewhere.local_addr().unwrap()
    );
    std::thread::spawn(move || {
        for mut stream in here.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    elsewhere.set_nonblocking(true).unwrap();
    world.plain("repo", &["remote", "add", "origin", &format!("http://127.0.0.1:{port}/x.git")]);
    // What has nothing to do with trust is no reason to refuse, and is not used.
    world.plain("repo", &["config", "http.postBuffer", "1000000"]);
    world.plain("repo", &["config", "http.followRedirects", "true"]);
    let repository = world.repository();
    let origin = repository.remotes().unwrap().remove(0);
    let credential = crate::Credential {
        origin: format!("http://127.0.0.1:{port}/"),
        user: "x".to_owned(),
        secret: "s3cret".to_owned(),
    };
    let failed = repository.push(&origin, &branch(), Some(&credential)).unwrap_err();
    assert!(failed.hints.iter().any(|hint| hint.contains("it has moved")), "{failed:?}");
    assert!(failed.hints.iter().any(|hint| hint.contains("http.postbuffer")), "{failed:?}");
    assert!(elsewhere.accept().is_err(), "it was asked");
}

/// git-lfs as far as it matters here: a long-running filter that starts the transfer agent of the configuration, where there is
/// one.
const FAKE_LFS: &str = "#!/bin/sh\nprogram=$(git config lfs.standalonetransferagent)\nif [ -n \"$program\" ]; then\n  path=$(git config \"lfs.customtransfer.$program.path\"); \"$path\" </dev/null >/dev/null 2>&1\nfi\ncat\n";

#[test]
fn the_transfer_agent_of_a_repository_is_not_started() {
    let world = World::new();
    world.write("programs/git-lfs", FAKE_LFS);
    fs::set_permissions(world.path("programs/git-lfs"), fs::Permissions::from_mode(0o755)).unwrap();
    let lfs = world.path("programs/git-lfs").display().to_string();
    world.write("repo/.gitattributes", "*.bin filter=lfs\n");
    world.write("repo/x.bin", "pointer\n");
    world.commit("repo", "with a large file");
    for name in ["clean", "smudge"] {
        world.plain(
            "home",
            &["config", "--global", &format!("filter.lfs.{name}"), &format!("{lfs} {name} %f")],
        );
    }
    world.plain("repo", &["config", "lfs.standalonetransferagent", "evil"]);
    world.plain("repo", &["config", "lfs.customtransfer.evil.path", &world.canary_program("transfer")]);
    world.worktree();
    assert_eq!(world.read("tree/x.bin"), "pointer\n", "the user's own filter runs");
    assert_eq!(world.canaries(), [] as [&str; 0]);
    world.plain("repo", &["worktree", "add", "--quiet", "../plain"]);
    assert_eq!(world.canaries(), ["transfer"], "the trap is real");
}

#[test]
fn nothing_of_a_submodule_is_run() {
    let world = World::new();
    fs::create_dir(world.path("library")).unwrap();
    world.plain("library", &["init", "--quiet", "--initial-branch=main"]);
    world.write("library/.gitattributes", "* filter=inner\n");
    world.write("library/l", "l\n");
    world.commit("library", "library");
    world.plain("repo", &["submodule", "--quiet", "add", "../library", "library"]);
    world.commit("repo", "with a submodule");
    let worktree = world.worktree();
    world.plain("tree", &["submodule", "--quiet", "update", "--init"]);
    for (key, name) in [("filter.inner.clean", "inner-filter"), ("core.fsmonitor", "inner-monitor")] {
        world.plain("tree/library", &["config", key, &world.canary_program(name)]);
    }
    world.write("tree/library/l", "changed\n");
    worktree.state().unwrap();
    worktree.snapshot(&branch()).unwrap();
    assert!(!reasons(&world).is_empty());
    assert!(world.repository().remove_worktree(&world.path("tree"), crate::Removal::OnlyClean).is_err());
    assert_eq!(world.canaries(), [] as [&str; 0]);
    world.plain("tree", &["status"]);
    assert_eq!(world.canaries(), ["inner-filter", "inner-monitor"], "the traps are real");
}

#[test]
fn a_configuration_that_is_swapped_while_git_starts_is_not_used() {
    let world = World::new();
    world.write("repo/.gitattributes", "* filter=evil\n");
    world.commit("repo", "filtered");
    let worktree = world.worktree();
    let config = world.path("repo/.git/config");
    let good = fs::read_to_string(&config).unwrap();
    let evil = format!(
        "{good}[filter \"evil\"]\n\tclean = {0}\n\tsmudge = {0}\n[core]\n\tfsmonitor = {1}\n",
        world.canary_program("swapped-filter"),
        world.canary_program("swapped-monitor"),
    );
    let swap = |text: &str| {
        let draft = config.with_extension("draft");
        fs::write(&draft, text).unwrap();
        fs::rename(&draft, &config).unwrap();
    };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap(&evil);
                std::thread::sleep(std::time::Duration::from_micros(1500));
                swap(&good);
                std::thread::sleep(std::time::Duration::from_micros(1500));
            }
        });
        for round in 0..60 {
            world.write("tree/a.txt", format!("{round}\n"));
            worktree.state().unwrap();
            worktree.snapshot(&branch()).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(world.canaries(), [] as [&str; 0]);
    swap(&evil);
    world.write("tree/a.txt", "last\n");
    world.plain("tree", &["status"]);
    assert!(!world.canaries().is_empty(), "the trap is real");
}

fn reasons(world: &World) -> Vec<Reason> {
    let repository = Repository::find(&world.git, &world.path("repo")).unwrap();
    repository.prove_disposable(&world.path("tree"), &branch(), &[]).unwrap()
}

/// What hides an untracked file from git, and what of it is the repository's own.
#[test]
fn whatever_hides_work_it_is_no_proof_that_there_is_none() {
    type Trick = fn(&World);
    let settings: &[(&str, Trick)] = &[
        ("status.showUntrackedFiles", |world| {
            world.plain("repo", &["config", "status.showUntrackedFiles", "no"]);
        }),
        ("core.worktree of the worktree", |world| {
            world.plain("repo", &["config", "extensions.worktreeConfig", "true"]);
            fs::create_dir(world.path("elsewhere")).unwrap();
            let elsewhere = world.path("elsewhere");
            world.write(
                "repo/.git/worktrees/tree/config.worktree",
                format!("[core]\n\tworktree = {}\n", elsewhere.display()),
            );
        }),
        ("core.worktree of the worktree, to the repository", |world| {
            world.plain("repo", &["config", "extensions.worktreeConfig", "true"]);
            let elsewhere = world.path("repo");
            world.write(
                "repo/.git/worktrees/tree/config.worktree",
                format!("[core]\n\tworktree = {}\n", elsewhere.display()),
            );
        }),
        ("core.excludesFile", |world| {
            world.write("excludes", "*\n");
            world.plain("repo", &["config", "core.excludesFile", world.path("excludes").to_str().unwrap()]);
        }),
        ("info/exclude", |world| world.write("repo/.git/info/exclude", "*\n")),
        ("core.ignoreCase", |world| {
            world.plain("repo", &["config", "core.ignoreCase", "true"]);
            fs::rename(world.path("tree/only-here"), world.path("tree/A.TXT")).unwrap();
        }),
        ("assume-unchanged", |world| {
            world.write("tree/b.txt", "only here\n");
            world.plain("tree", &["update-index", "--assume-unchanged", "b.txt"]);
            fs::remove_file(world.path("tree/only-here")).unwrap();
        }),
        ("skip-worktree with a sparse checkout", |world| {
            world.plain("repo", &["config", "core.sparseCheckout", "true"]);
            world.plain("repo", &["config", "sparse.expectFilesOutsideOfPatterns", "true"]);
            world.write("repo/.git/worktrees/tree/info/sparse-checkout", "/a.txt\n");
            world.plain("tree", &["update-index", "--skip-worktree", "b.txt"]);
            world.write("tree/b.txt", "only here\n");
            fs::remove_file(world.path("tree/only-here")).unwrap();
        }),
        ("the untracked cache", |world| {
            world.plain("repo", &["config", "core.untrackedCache", "true"]);
            world.plain("repo", &["config", "core.trustctime", "false"]);
            fs::remove_file(world.path("tree/only-here")).unwrap();
            world.plain("tree", &["status"]);
            world.write("tree/only-here", "work\n");
        }),
        ("the file system monitor's bits", |world| {
            fs::remove_file(world.path("tree/only-here")).unwrap();
            world.write("programs/monitor", "#!/bin/sh\nprintf 'token\\0'\n");
            fs::set_permissions(world.path("programs/monitor"), fs::Permissions::from_mode(0o755)).unwrap();
            world.plain(
                "repo",
                &["config", "core.fsmonitor", world.path("programs/monitor").to_str().unwrap()],
            );
            world.plain("tree", &["update-index", "--fsmonitor"]);
            world.plain("tree", &["status"]);
            world.plain("tree", &["status"]);
            world.write("tree/b.txt", "only here\n");
        }),
        ("core.checkStat and a file of the same size and time", |world| {
            fs::remove_file(world.path("tree/only-here")).unwrap();
            world.plain("repo", &["config", "core.checkStat", "minimal"]);
            world.plain("repo", &["config", "core.trustctime", "false"]);
            let before = fs::metadata(world.path("tree/b.txt")).unwrap().modified().unwrap();
            world.write("tree/b.txt", "c\n");
            let file = fs::File::options().write(true).open(world.path("tree/b.txt")).unwrap();
            file.set_modified(before - std::time::Duration::from_secs(9)).unwrap();
            world.plain("tree", &["update-index", "--assume-unchanged", "b.txt"]);
            fs::write(world.path("tree/b.txt"), "d\n").unwrap();
        }),
        ("a worktree whose .git leads nowhere", |world| world.write("tree/.git", "gitdir: /nowhere\n")),
        ("a worktree without .git", |world| fs::remove_file(world.path("tree/.git")).unwrap()),
        ("a worktree that leads to another repository", |world| {
            fs::create_dir(world.path("other")).unwrap();
            world.plain("other", &["init", "--quiet"]);
            world.write("tree/.git", format!("gitdir: {}\n", world.path("other/.git").display()));
        }),
        ("a submodule's ignore", |world| {
            world.write("tree/.gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ./x\n\tignore = all\n");
        }),
    ];
    for (name, trick) in settings {
        let world = World::new();
        world.worktree();
        world.write("tree/only-here", "work\n");
        trick(&world);
        let found = reasons(&world);
        assert!(!found.is_empty(), "{name}: the only copy of work would go");
        let repository = world.repository();
        if let Ok(removed) = repository.remove_worktree(&world.path("tree"), crate::Removal::OnlyClean) {
            assert!(world.path("tree").exists(), "{name}: {removed:?}");
        }
    }
}
