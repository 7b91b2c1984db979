//! Every key of git's documentation, with hostile values, in every operation: no program runs, no file outside of the repository
//! changes, and no secret is seen in a list of processes. With and without a writer that swaps configurations meanwhile.
//!
//! `TAMIS_HOSTILE=all` tries them in small groups as well, which takes minutes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use super::notes::deliver;
use super::support::{AT, World, branch};
use crate::keys::{KEYS, Verdict, verdict};
use crate::{BranchName, Credential, Removal, Repository};

const SECRET: &str = "s3cret-of-the-suite";
/// `x:s3cret-of-the-suite`, as HTTP has it.
const PAIR: &str = "eDpzM2NyZXQtb2YtdGhlLXN1aXRl";
/// A variable that this test has and no git may have.
const OURS: &str = "CARGO_MANIFEST_DIR";

/// Keys that git knows and does not list, and keys of its companions.
const UNLISTED: &[&str] = &[
    "filter.evil.process",
    "hook.evil.command",
    "hook.evil.event",
    "trailer.evil.cmd",
    "trailer.evil.command",
    "tar.evil.command",
    "init.templateDir",
    "lfs.standalonetransferagent",
    "lfs.customtransfer.evil.path",
    "lfs.customtransfer.evil.args",
    "lfs.extension.evil.clean",
    "lfs.extension.evil.smudge",
    "lfs.url",
    "lfs.pushurl",
    "lfs.storage",
    "lfs.gitprotocol",
    "remote.origin.lfsurl",
    "annex.evil.command",
    "svn-remote.evil.url",
    "include.path",
    "includeIf.onbranch:**.path",
    "includeIf.gitdir:**.path",
    "includeIf.hasconfig:remote.*.url:**.path",
    "core.fsmonitor",
    "submodule.library.update",
    "credential.helper",
    "credential.http://127.0.0.1.helper",
    "http.http://127.0.0.1.cookieFile",
    "http.http://127.0.0.1.proxy",
    "http.sslCertType",
    "uploadpack.packObjectsHook",
    "alias.status",
    "alias.push",
    "pager.status",
    "pager.diff",
];

/// Keys as git lists them.
fn listed() -> Vec<String> {
    let output = Command::new("git").args(["help", "--config"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // `gitweb.remote_heads` cannot be written to a file.
    let is_key = |line: &&str| line.contains('.') && !line.contains([' ', '_']);
    text.lines().filter(is_key).map(str::to_owned).collect()
}

/// A key's section and variable, as the table has them.
fn parts(key: &str) -> (String, String) {
    let (section, rest) = key.split_once('.').unwrap();
    (section.to_ascii_lowercase(), rest.rsplit('.').next().unwrap().to_ascii_lowercase())
}

#[test]
fn every_key_that_git_lists_is_judged() {
    let listed = listed();
    assert!(listed.len() > 500, "git lists its keys: {}", listed.len());
    let unjudged: Vec<&str> = listed
        .iter()
        .map(String::as_str)
        .chain(UNLISTED.iter().copied())
        .filter(|key| {
            let (section, variable) = parts(key);
            verdict(&section, &variable).is_none()
        })
        .collect();
    assert_eq!(unjudged, [] as [&str; 0]);
    // The first line counts, so a later one for the same key would say nothing.
    for (at, (section, variable, ..)) in KEYS.iter().enumerate() {
        let first = KEYS.iter().position(|(s, v, ..)| s == section && (v == variable || *v == "*"));
        assert_eq!(first, Some(at), "{section}.{variable} is judged twice");
    }
}

/// Every key that must not reach git, with names in the place of `<name>`.
fn hostile_keys() -> Vec<String> {
    let concrete = |key: String| {
        let name = match key.split('.').next().unwrap() {
            "remote" => "origin",
            "branch" => "tamis/work-1-a1",
            _ => "evil",
        };
        let (before, rest) = key.split_once('<')?;
        let (_, after) = rest.split_once('>')?;
        Some(format!("{before}{name}{after}"))
    };
    let mut keys: Vec<String> = listed()
        .into_iter()
        .map(|key| concrete(key.clone()).unwrap_or(key))
        .filter(|key| !key.ends_with('*'))
        .chain(UNLISTED.iter().map(|key| (*key).to_owned()))
        .filter(|key| {
            let (section, variable) = parts(key);
            // What is only about how git prints is left out, since there is much of it.
            // With these, a repository or a remote is refused.
            !["advice", "color", "fsck"].contains(&section.as_str())
                && !["core.worktree", "remote.origin.vcs"].contains(&key.as_str())
                && !key.contains("fsck.")
                && !matches!(verdict(&section, &variable), Some((Verdict::Keep(_), _)))
        })
        .collect();
    keys.sort();
    keys.dedup();
    keys
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Program,
    Shell,
    Victim,
    Address,
    On,
}

const VALUES: &[Value] = &[Value::Program, Value::Shell, Value::Victim, Value::Address, Value::On];

impl Value {
    fn text(self, world: &World, key: &str) -> String {
        let name: String =
            key.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
        match self {
            Value::Program => world.path("programs/canary").display().to_string(),
            Value::Shell => format!("!touch {}", world.path("canaries").join(name).display()),
            Value::Victim if key.starts_with("include") => world.path("included").display().to_string(),
            Value::Victim => world.path("victims/file").display().to_string(),
            Value::Address => format!("ext::touch {}", world.path("canaries").join(name).display()),
            Value::On => "true".to_owned(),
        }
    }
}

/// Lines of configuration with these keys.
fn lines(world: &World, keys: &[String], value: Value) -> String {
    let mut text = String::new();
    for key in keys {
        let (section, rest) = key.split_once('.').unwrap();
        let head = match rest.rsplit_once('.') {
            Some((subsection, _)) => format!("{section} \"{subsection}\""),
            None => section.to_owned(),
        };
        let variable = rest.rsplit('.').next().unwrap();
        text += &format!("[{head}]\n\t{variable} = \"{}\"\n", value.text(world, key));
    }
    text
}

/// A repository in which everything else is hostile, too: hooks, attributes, and the old files of remotes.
fn arm(world: &World) {
    world.write(
        "programs/canary",
        format!("#!/bin/sh\nenv > {0}/program-$$\ncat\n", world.path("canaries").display()),
    );
    fs::set_permissions(world.path("programs/canary"), fs::Permissions::from_mode(0o755)).unwrap();
    world.write("victims/file", "precious\n");
    world.write(
        "included",
        format!(
            "[filter \"evil\"]\n\tclean = {0}\n\tsmudge = {0}\n",
            world.path("programs/canary").display()
        ),
    );
    world.write("repo/.gitattributes", "* filter=evil diff=evil merge=evil\n");
    world.write(
        "repo/.gitmodules",
        "[submodule \"library\"]\n\tpath = library\n\turl = ext::touch% x\n\tupdate = !touch x\n",
    );
    world.commit("repo", "hostile");
    world.plain("home", &["clone", "--quiet", "--bare", "../repo", "../remote.git"]);
    world.plain("repo", &["remote", "add", "origin", "../remote.git"]);
    for hooks in ["repo/.git/hooks", "remote.git/hooks"] {
        for hook in super::hostile::HOOKS.iter().chain(&["pre-receive", "post-receive", "proc-receive"]) {
            fs::create_dir_all(world.path(hooks)).unwrap();
            fs::copy(world.path("programs/canary"), world.path(&format!("{hooks}/{hook}"))).unwrap();
        }
    }
    world.write("repo/.git/info/attributes", "* filter=evil diff=evil merge=evil\n");
    world.write("repo/.git/remotes/origin", "URL: ext::touch% x\nPush: refs/heads/*:refs/heads/*\n");
    world.write("repo/.git/branches/origin", "ext::touch% x\n");
}

/// A server that refuses every request, and saves what it was sent.
fn refusing_server() -> (u16, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, requests) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = vec![0; 4096];
            let read = stream.read(&mut request).unwrap_or(0);
            let _ = sender.send(String::from_utf8_lossy(&request[..read]).into_owned());
            let _ = stream.write_all(b"HTTP/1.1 403 No\r\nSet-Cookie: a=b; Max-Age=9999\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    (port, requests)
}

/// Everything that tamis does with a repository. Removing a worktree may fail while its folder is written to.
fn operate(world: &World, port: u16, swaps: bool) {
    let repository = Repository::find(&world.git, &world.path("repo")).unwrap();
    let other: BranchName = "tamis/other".parse().unwrap();
    let (_, tip) = repository.default_base().unwrap();
    let _ = repository.head_in(&world.path("repo"));
    let _ = repository.has_identity();
    let _ = repository.our_branches();
    let worktree = repository.add_worktree(&world.path("tree"), &branch(), &tip).unwrap();
    let begun = SystemTime::now();
    world.write("tree/a.txt", "changed\n");
    world.write("tree/new.txt", "new\n");
    let _ = worktree.state();
    let _ = repository.state_of(&world.path("tree"));
    let (_, commit, note) = deliver(&worktree, &tip, &[], "notes\n");
    let _ = worktree.snapshot(&branch());
    let moved = repository.branch_tip(&branch()).unwrap().unwrap();
    let notes = [note.path.clone()];
    let _ = repository.delivered_by(&moved, &commit, &tip);
    let _ = repository.work_identity(&tip, &moved, &notes);
    let _ = repository.summary(&tip, &moved, &notes);
    let _ = worktree.remove_notes(&branch(), &notes, AT);
    let _ = repository.prove_disposable(&world.path("tree"), &branch(), &[]);
    let _ = worktree.ignored();
    let origin = repository.remotes().unwrap().remove(0);
    let _ = repository.remote_tip(&origin, &branch());
    let pushed = repository.push(&origin, &branch(), None);
    assert!(pushed.is_ok(), "{pushed:?}");
    // As GitHub is pushed to. A writer of the configuration may have another address there by now.
    let config = world.path("repo/.git/config");
    let text = fs::read_to_string(&config).unwrap();
    let draft = world.path("repo/.git/config.second-draft");
    fs::write(&draft, text.replace("../remote.git", &format!("http://127.0.0.1:{port}/x.git"))).unwrap();
    fs::rename(&draft, &config).unwrap();
    if let Ok(again) = Repository::find(&world.git, &world.path("repo")) {
        let credential = Credential {
            origin: format!("http://127.0.0.1:{port}/"),
            user: "x".to_owned(),
            secret: SECRET.to_owned(),
        };
        for remote in again.remotes().unwrap_or_default() {
            let _ = again.push(&remote, &branch(), Some(&credential));
        }
    }
    let _ = repository.clear_left_locks(&world.path("tree"), &branch(), begun);
    let second = repository.add_worktree(&world.path("other"), &other, &moved).unwrap();
    assert!(second.state().unwrap().is_clean());
    repository.remove_worktree(&world.path("other"), Removal::OnlyClean).unwrap();
    assert!(repository.remove_worktree(&world.path("tree"), Removal::OnlyClean).is_err(), "it has work");
    let removed = repository.remove_worktree(&world.path("tree"), Removal::Everything);
    assert!(removed.is_ok() || swaps, "{removed:?}");
    repository.hold_branch(&branch()).unwrap();
    let deleted = repository.delete_branch(&branch());
    assert!(deleted.is_ok() || swaps, "{deleted:?}");
    let _ = repository.drop_unused_branch(&other, &moved);
}

/// Every file outside of the repository and its worktrees, with its bytes.
fn outside(world: &World) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in ["home", "victims", "programs"] {
        super::support::collect(&world.path(""), &world.path(folder), &mut files);
    }
    for entry in fs::read_dir(world.path("")).unwrap().flatten() {
        files.insert(entry.file_name().to_string_lossy().into_owned(), Vec::new());
    }
    for made in ["tree", "other", "scratch"] {
        files.remove(made);
    }
    files
}

/// The processes that run now.
fn processes() -> BTreeSet<OsString> {
    fs::read_dir("/proc").into_iter().flatten().flatten().map(|process| process.file_name()).collect()
}

/// What a list of processes shows of gits that work for this world: secrets, and variables that they must not have. What ran
/// before is not looked at: reading all of a machine's processes every millisecond takes longer than the work that is watched.
fn leaks(world: &Path, earlier: &BTreeSet<OsString>) -> Vec<String> {
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if earlier.contains(&process.file_name()) {
            continue;
        }
        let read = |name: &str| fs::read(process.path().join(name)).unwrap_or_default();
        let (environment, arguments) = (read("environ"), read("cmdline"));
        let has =
            |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        if !has(&environment, &format!("GIT_COMMON_DIR={}", world.display())) {
            continue;
        }
        for (secret, place) in [
            (SECRET, &arguments),
            (PAIR, &arguments),
            (SECRET, &environment),
            (PAIR, &environment),
            (OURS, &environment),
        ] {
            if has(place, secret) {
                found.push(format!("{secret} in {}", String::from_utf8_lossy(&arguments)));
            }
        }
    }
    found
}

/// One pass over all operations with these lines in the configuration.
fn attack(keys: &[String], value: Value, swaps: bool) {
    let world = World::new();
    arm(&world);
    let config = world.path("repo/.git/config");
    let good = fs::read_to_string(&config).unwrap();
    let evil = good.clone() + &lines(&world, keys, value);
    let swap = |text: &str| {
        let draft = config.with_extension("draft");
        let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, &config));
        assert!(written.is_ok());
        for own in ["repo/.git/config.worktree", "repo/.git/worktrees/tree/config.worktree"] {
            let _ = fs::write(world.path(own), &text[good.len()..]);
        }
    };
    let (port, requests) = refusing_server();
    let (before, earlier) = (outside(&world), processes());
    let (done, found) = (AtomicBool::new(false), std::sync::Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                found.lock().unwrap().extend(leaks(&world.path("scratch"), &earlier));
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        if swaps {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    swap(&evil);
                    std::thread::sleep(Duration::from_micros(700));
                    swap(&good);
                    std::thread::sleep(Duration::from_micros(700));
                }
            });
        } else {
            swap(&evil);
        }
        let operated =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| operate(&world, port, swaps)));
        done.store(true, Ordering::Relaxed);
        assert!(operated.is_ok(), "{value:?}, swaps: {swaps}");
    });
    let what = format!("{value:?}, swaps: {swaps}, {} keys from {:?}", keys.len(), keys.first());
    assert_eq!(world.canaries(), [] as [&str; 0], "{what}");
    assert_eq!(found.into_inner().unwrap(), [] as [&str; 0], "{what}");
    assert_eq!(outside(&world), before, "{what}");
    let left: Vec<_> =
        fs::read_dir(world.path("scratch")).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(left, [] as [&Path; 0], "{what}");
    if !swaps {
        let sent: String = requests.try_iter().collect();
        // Where the configuration loosens what is trusted, nothing is sent.
        assert!(sent.contains(PAIR) || keys.iter().any(|key| key.starts_with("http.")), "{what}: {sent}");
    }
}

#[test]
fn no_key_of_a_repository_has_git_run_or_change_anything() {
    let keys = hostile_keys();
    assert!(keys.len() > 500, "{}", keys.len());
    for value in VALUES {
        attack(&keys, *value, false);
        attack(&keys, *value, true);
    }
    // With one of these, no credential is sent.
    let sends: Vec<String> = keys.into_iter().filter(|key| !key.starts_with("http.")).collect();
    attack(&sends, Value::Program, false);
}

/// In small groups of keys that are far apart in the list, since a key may keep git from reaching another one.
#[test]
fn no_few_keys_have_git_run_or_change_anything() {
    const GROUP: usize = 8;
    if std::env::var_os("TAMIS_HOSTILE").is_none() {
        return;
    }
    let keys: Vec<String> = hostile_keys()
        .into_iter()
        .filter(|key| {
            let (section, variable) = parts(key);
            !matches!(verdict(&section, &variable), Some((Verdict::Unused, _)))
        })
        .collect();
    let count = keys.len().div_ceil(GROUP);
    let groups: Vec<Vec<String>> =
        (0..count).map(|first| keys.iter().skip(first).step_by(count).cloned().collect()).collect();
    assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), keys.len());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for value in [Value::Program, Value::Victim] {
                        for swaps in [false, true] {
                            attack(group, value, swaps);
                        }
                    }
                }
            });
        }
    });
    println!("{} keys in {} groups", keys.len(), groups.len());
}

/// The same lines make a plain git run programs and write files.
#[test]
fn the_keys_are_real_traps() {
    let world = World::new();
    arm(&world);
    let keys = ["core.fsmonitor", "core.hooksPath", "filter.evil.clean", "diff.external"].map(str::to_owned);
    let config = world.path("repo/.git/config");
    let text = fs::read_to_string(&config).unwrap() + &lines(&world, &keys, Value::Program);
    fs::write(&config, text).unwrap();
    world.write("repo/a.txt", "changed\n");
    world.try_plain("repo", &["status"]);
    world.try_plain("repo", &["diff"]);
    assert!(world.canaries().len() >= 2);
}
