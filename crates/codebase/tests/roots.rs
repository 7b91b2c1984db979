//! Nothing outside the roots is read or listed, whatever paths, links and other processes do.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use tamis_codebase::{
    AccessError, EntryKind, Policy, RootError, RootedPath, Roots, Search, StopSignal, Stopped, files, glob,
    list, scan, search,
};

const SECRET: &str = "the outside secret";

/// A folder with a root in it, and next to it what must never be seen.
struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Fixture { folder };
        fs::create_dir_all(fixture.root().join("src/deep")).unwrap();
        fs::write(fixture.root().join("src/a.rs"), "fn inside() {}\n").unwrap();
        fs::write(fixture.root().join("src/deep/b.rs"), "fn inside_too() {}\n").unwrap();
        for outside in ["outside", "root-secret"] {
            fs::create_dir_all(fixture.path().join(outside)).unwrap();
            fs::write(fixture.path().join(outside).join("secret.txt"), SECRET).unwrap();
            fs::write(fixture.path().join(outside).join("a.rs"), SECRET).unwrap();
        }
        fixture
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("root")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn open(&self) -> Roots {
        Roots::open(&[self.root()], Policy::standard()).unwrap()
    }
}

fn make_fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn place(path: &str) -> RootedPath {
    RootedPath { root: 0, path: path.to_owned() }
}

fn found(roots: &Roots) -> Vec<String> {
    files(roots, &StopSignal::never()).unwrap().into_iter().map(|place| place.path).collect()
}

#[test]
fn links_are_never_followed() {
    let fixture = Fixture::new();
    let link = |to: &Path, at: &str| symlink(to, fixture.root().join(at)).unwrap();
    link(&fixture.path().join("outside/secret.txt"), "absolute-file");
    link(Path::new("../outside/secret.txt"), "relative-file");
    link(&fixture.path().join("outside"), "folder");
    link(Path::new("folder"), "chain");
    link(Path::new("chain"), "longer-chain");
    link(Path::new("src"), "folder-inside");
    link(Path::new("src/a.rs"), "file-inside");
    link(Path::new("nowhere"), "dangling");
    link(Path::new("circle"), "circle");
    link(Path::new("/proc/self/environ"), "environment");
    let roots = fixture.open();
    for path in [
        "absolute-file",
        "relative-file",
        "folder/secret.txt",
        "chain/secret.txt",
        "longer-chain/secret.txt",
        "folder-inside/a.rs",
        "file-inside",
        "dangling",
        "circle",
        "environment",
    ] {
        assert!(matches!(roots.open_file(&place(path)), Err(AccessError::Outside { .. })), "{path}");
    }
    assert_eq!(found(&roots), ["src/a.rs", "src/deep/b.rs"]);
    for path in ["folder", "chain", "folder-inside", "dangling"] {
        assert!(list(&roots, path, 10).is_err(), "{path}");
    }
    let kinds: Vec<_> = list(&roots, "", 100).unwrap().entries.into_iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == EntryKind::Link).count(), 10);
    assert_eq!(kinds.len(), 11);
}

#[test]
fn paths_do_not_lead_out_and_similar_names_are_not_roots() {
    let fixture = Fixture::new();
    let roots = fixture.open();
    for path in [
        "../outside/secret.txt",
        "src/../../outside/secret.txt",
        "/etc/passwd",
        "",
        ".",
        "..",
        "src/..",
        "-secret/secret.txt",
        "../root-secret/secret.txt",
        "src/a.rs\0",
    ] {
        assert!(
            matches!(
                roots.open_file(&place(path)),
                Err(AccessError::Outside { .. } | AccessError::System { .. })
            ),
            "{path:?}"
        );
    }
    let root = fixture.root();
    let root = root.to_str().unwrap();
    for outside in
        [format!("{root}-secret/secret.txt"), format!("{root}/../outside/a.rs"), "/etc/passwd".into()]
    {
        assert_eq!(roots.places_of(&outside), [], "{outside}");
    }
    assert_eq!(roots.places_of(&format!("{root}/src/./a.rs")), [place("src/a.rs")]);
    assert!(roots.open_file(&RootedPath { root: 1, path: "src/a.rs".into() }).is_err());
}

#[test]
fn a_folder_swapped_for_a_link_leads_nowhere() {
    let fixture = Fixture::new();
    for name in ["shared.txt", "only-inside.txt"] {
        fixture.write(&format!("dir/{name}"), "inside");
    }
    for name in ["shared.txt", "only-outside.txt"] {
        fs::write(fixture.path().join("outside").join(name), SECRET).unwrap();
    }
    symlink(fixture.path().join("outside"), fixture.path().join("link")).unwrap();
    let roots = fixture.open();
    let (dir, parked, link) =
        (fixture.root().join("dir"), fixture.path().join("parked"), fixture.path().join("link"));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                fs::rename(&dir, &parked).unwrap();
                fs::rename(&link, &dir).unwrap();
                std::thread::yield_now();
                fs::rename(&dir, &link).unwrap();
                fs::rename(&parked, &dir).unwrap();
                std::thread::yield_now();
            }
        });
        let attempt = || {
            let (mut read, mut refused, mut bytes) = (0u64, 0u64, Vec::new());
            // By count and not by time.
            while read + refused < 20_000 {
                match roots.read_into(&place("dir/shared.txt"), 1000, &mut bytes) {
                    Ok(()) => {
                        assert_eq!(bytes, b"inside");
                        read += 1;
                    }
                    Err(_) => refused += 1,
                }
                assert!(roots.open_file(&place("dir/only-outside.txt")).is_err());
                if (read + refused) % 200 == 0 {
                    let names = format!(
                        "{:?} {:?} {:?}",
                        files(&roots, &StopSignal::never()).unwrap(),
                        glob(&roots, "*.txt", 100, &StopSignal::never()).unwrap(),
                        list(&roots, "dir", 100),
                    );
                    assert!(!names.contains("only-outside") && !names.contains("secret.txt"), "{names}");
                    let matches = search(&roots, &Search::new(SECRET), &StopSignal::never()).unwrap();
                    assert_eq!(matches.matching_lines, 0);
                }
            }
            read + refused
        };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(attempt));
        over.store(true, Ordering::Relaxed);
        assert_eq!(outcome.unwrap(), 20_000);
    });
}

#[test]
fn what_is_not_a_file_is_skipped_and_nothing_blocks() {
    let fixture = Fixture::new();
    let root = fixture.root();
    make_fifo(&root.join("fifo"));
    // Rules are read on every walk: they must not wait for a writer either, nor follow a link to something endless.
    fs::create_dir(root.join("odd")).unwrap();
    fs::rename(root.join("fifo"), root.join("odd/.gitignore")).unwrap();
    symlink("/dev/zero", root.join("odd/.ignore")).unwrap();
    fs::write(root.join("odd/c.rs"), "c").unwrap();
    make_fifo(&root.join("fifo"));
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    fs::write(root.join("src/not-utf8.txt"), b"caf\xe9").unwrap();
    let odd_name = std::ffi::OsStr::from_bytes(b"odd\xff.rs");
    let has_odd_name = fs::write(root.join(odd_name), "x").is_ok();
    fs::write(root.join("unreadable"), "x").unwrap();
    fs::set_permissions(root.join("unreadable"), fs::Permissions::from_mode(0o000)).unwrap();
    let sparse = fs::File::create(root.join("sparse.txt")).unwrap();
    sparse.set_len(1 << 40).unwrap();

    let roots = fixture.open();
    for path in ["fifo", "socket", "src", "odd/.gitignore"] {
        let outcome = roots.open_file(&place(path));
        assert!(matches!(outcome, Err(AccessError::NotAFile { .. })), "{path}: {outcome:?}");
    }
    assert!(matches!(roots.read_text(&place("sparse.txt"), 1 << 20), Err(AccessError::TooLarge { .. })));
    assert_eq!(roots.read_text(&place("src/not-utf8.txt"), 100).unwrap(), "caf\u{fffd}");
    assert!(matches!(roots.read_text(&place("missing"), 100), Err(AccessError::System { .. })));
    // Root can read everything.
    if fs::read(root.join("unreadable")).is_err() {
        assert!(matches!(roots.read_text(&place("unreadable"), 100), Err(AccessError::System { .. })));
    }
    let names = ["odd/c.rs", "sparse.txt", "src/a.rs", "src/deep/b.rs", "src/not-utf8.txt", "unreadable"];
    assert_eq!(found(&roots), names);
    let seen = scan(&roots, &StopSignal::never(), Vec::new, |seen: &mut Vec<String>, place, _| {
        seen.push(place.path);
    });
    let mut seen = seen.unwrap().concat();
    seen.sort();
    seen.retain(|path| path != "unreadable");
    assert_eq!(seen, ["odd/c.rs", "src/a.rs", "src/deep/b.rs", "src/not-utf8.txt"]);
    let listing = list(&roots, ".", 100).unwrap();
    assert_eq!(listing.total, 6);
    assert!(has_odd_name || cfg!(target_os = "macos"));
    let kinds: Vec<_> = listing.entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
    assert_eq!(
        kinds,
        [
            ("fifo", EntryKind::Other),
            ("odd", EntryKind::Folder),
            ("socket", EntryKind::Other),
            ("sparse.txt", EntryKind::File { bytes: 1 << 40 }),
            ("src", EntryKind::Folder),
            ("unreadable", EntryKind::File { bytes: 1 }),
        ]
    );
}

#[test]
fn secrets_are_neither_read_nor_listed() {
    let fixture = Fixture::new();
    for path in
        [".env", ".git/config", ".ssh/id", "conf/server.PEM", ".docker/config.json", "x/.aws/credentials"]
    {
        fixture.write(path, SECRET);
    }
    for path in
        [".env.example", ".docker/nginx.conf", ".github/workflows/ci.yml", "secrets/mod.rs", ".cache/x"]
    {
        fixture.write(path, "shown");
    }
    let roots = fixture.open();
    for path in [
        ".env",
        ".git/config",
        ".ssh/id",
        "conf/server.PEM",
        ".docker/config.json",
        "x/.aws/credentials",
        "x/.AWS/credentials",
    ] {
        assert!(matches!(roots.open_file(&place(path)), Err(AccessError::Denied { .. })), "{path}");
    }
    assert!(matches!(list(&roots, ".ssh", 10), Err(AccessError::Denied { .. })));
    assert_eq!(
        found(&roots),
        [
            ".docker/nginx.conf",
            ".env.example",
            ".github/workflows/ci.yml",
            "secrets/mod.rs",
            "src/a.rs",
            "src/deep/b.rs"
        ]
    );
    let names: Vec<_> = list(&roots, "", 100).unwrap().entries.into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, [".cache", ".docker", ".env.example", ".github", "conf", "secrets", "src", "x"]);
    assert_eq!(search(&roots, &Search::new(SECRET), &StopSignal::never()).unwrap().matching_lines, 0);
    for denied in [".ssh", ".git", "x/.aws"] {
        let error = Roots::open(&[fixture.root().join(denied)], Policy::standard()).err();
        assert!(matches!(error, Some(RootError::Denied { .. })), "{denied}: {error:?}");
        assert!(matches!(roots.narrowed(&[denied.into()]).err(), Some(RootError::Denied { .. })), "{denied}");
    }
}

#[test]
fn a_narrowed_root_shows_nothing_that_the_whole_root_denies() {
    let fixture = Fixture::new();
    let denied = [
        ".docker/config.json",
        ".cargo/credentials.toml",
        ".config/gh/hosts.yml",
        ".codex/auth.json",
        "x/.docker/config.json",
        "ops/prod.yml",
        "ops/deep/prod.yml",
        "ops/deep/keys/a.txt",
        "private/notes.txt",
        "app/private/notes.txt",
    ];
    for path in denied {
        fixture.write(path, SECRET);
        let folder = Path::new(path).parent().unwrap();
        fixture.write(folder.join("readable.md").to_str().unwrap(), "not a secret");
    }
    let patterns = ["private/", "ops/*.yml", "/ops/deep/prod.yml", "ops/deep/keys"].map(str::to_owned);
    let roots = Roots::open(&[fixture.root()], Policy::denying(&patterns).unwrap()).unwrap();
    for path in denied {
        assert!(matches!(roots.open_file(&place(path)), Err(AccessError::Denied { .. })), "{path}");
        // Every folder on the way, in one step and step by step, and after the folders were opened again.
        let folders: Vec<&Path> =
            Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
        let mut by_steps = Some(roots.clone());
        for folder in folders.iter().rev() {
            let name = folder.file_name().unwrap();
            by_steps = by_steps.and_then(|roots| roots.narrowed(&[name.into()]).ok());
            let at_once = roots.narrowed(&[(*folder).to_owned()]).ok();
            let again = at_once.as_ref().map(|narrowed| narrowed.reopened().0);
            for narrowed in [&by_steps, &at_once, &again].into_iter().flatten() {
                let rest = Path::new(path).strip_prefix(folder).unwrap().to_str().unwrap();
                let opened = narrowed.open_file(&place(rest));
                assert!(
                    matches!(opened, Err(AccessError::Denied { .. })),
                    "{path} from {folder:?}: {opened:?}"
                );
                assert_eq!(
                    search(narrowed, &Search::new(SECRET), &StopSignal::never()).unwrap().matching_lines,
                    0
                );
                let listed = list(narrowed, "", 100).unwrap();
                assert!(listed.entries.iter().all(|entry| entry.name != rest), "{path} from {folder:?}");
            }
        }
    }
    // A folder can also be chosen as a root by the user; names in it are still secrets.
    for (folder, name) in [(".docker", "config.json"), (".codex", "auth.json"), (".config", "gh/hosts.yml")] {
        let root = Roots::open(&[fixture.root().join(folder)], Policy::standard()).unwrap();
        assert!(matches!(root.open_file(&place(name)), Err(AccessError::Denied { .. })), "{folder}");
    }
    assert!(roots.narrowed(&["ops/deep".into()]).unwrap().open_file(&place("readable.md")).is_ok());
}

#[test]
fn roots_are_narrowed_to_folders_in_them() {
    let fixture = Fixture::new();
    let root = fixture.root();
    symlink(fixture.path().join("outside"), root.join("link-out")).unwrap();
    symlink("src/deep", root.join("link-in")).unwrap();
    let roots = fixture.open();
    let searched = |folder: &Path| -> Result<Vec<PathBuf>, String> {
        let narrowed = roots.narrowed(&[folder.to_owned()]).map_err(|error| error.to_string())?;
        Ok(narrowed.paths().map(Path::to_owned).collect())
    };
    let deep = root.join("src/deep");
    for (folder, meant) in [
        (root.clone(), &root),
        (root.join("src/deep"), &deep),
        (PathBuf::from("src/deep"), &deep),
        (PathBuf::from("./src/../src/deep/"), &deep),
        (PathBuf::from("."), &root),
        (root.join("link-in"), &deep),
    ] {
        assert_eq!(searched(&folder), Ok(vec![meant.clone()]), "{folder:?}");
    }
    // The error is the same whether the folder exists or not.
    for outside in [
        fixture.path().join("outside"),
        fixture.path().join("not-there"),
        fixture.path().join("root-secret"),
        fixture.path(),
        root.join("link-out"),
        root.join("missing"),
        root.join("src/a.rs"),
        PathBuf::from("../outside"),
        PathBuf::from("../not-there"),
        PathBuf::from("/etc"),
        PathBuf::from("/not-there"),
        PathBuf::from("src\0"),
        PathBuf::from(""),
    ] {
        let narrowed = searched(&outside);
        if outside.as_os_str().is_empty() {
            assert_eq!(narrowed, Ok(vec![root.clone()]));
            continue;
        }
        assert_eq!(narrowed, Err(format!("`{}` is not a folder within the roots", outside.display())));
    }
    let narrowed = roots.narrowed(&["src/deep".into()]).unwrap();
    assert_eq!(found(&narrowed), ["b.rs"]);
    assert!(narrowed.open_file(&place("../a.rs")).is_err());
    assert!(narrowed.narrowed(&[root]).is_err());
}

#[test]
fn a_system_folder_cannot_be_a_root() {
    for system in ["/", "/etc", "/proc", "/proc/self", "/dev", "/usr", "/usr/bin"] {
        if Path::new(system).exists() {
            let error = Roots::open(&[system.into()], Policy::standard()).err();
            assert!(matches!(error, Some(RootError::System { .. })), "{system}: {error:?}");
        }
    }
    let fixture = Fixture::new();
    symlink("/etc", fixture.root().join("link")).unwrap();
    let error = Roots::open(&[fixture.root().join("link")], Policy::standard()).err();
    assert!(matches!(error, Some(RootError::System { .. })));
    for no_folder in ["missing", "src/a.rs"] {
        let error = Roots::open(&[fixture.root().join(no_folder)], Policy::standard()).err();
        assert!(matches!(error, Some(RootError::Unreadable { .. })), "{no_folder}");
    }
}

#[test]
fn a_deleted_root_is_empty_and_a_recreated_one_is_read_anew() {
    let fixture = Fixture::new();
    let roots = fixture.open();
    fs::rename(fixture.root(), fixture.path().join("moved")).unwrap();
    symlink(fixture.path().join("outside"), fixture.root()).unwrap();
    assert_eq!(
        found(&roots),
        ["src/a.rs", "src/deep/b.rs"],
        "it is the folder that was opened, wherever it is now"
    );
    assert_eq!(roots.reopened().1, [fixture.path().join("root")], "a link in its place is not it");
    fs::remove_dir_all(fixture.path().join("moved")).unwrap();
    assert_eq!(found(&roots), [""; 0]);
    assert!(roots.read_text(&place("src/a.rs"), 100).is_err());
    fs::remove_file(fixture.path().join("root")).unwrap();
    assert_eq!(roots.reopened().1, [fixture.path().join("root")]);
    fs::create_dir(fixture.path().join("root")).unwrap();
    fs::write(fixture.path().join("root/new.rs"), "x").unwrap();
    let (again, gone) = roots.reopened();
    assert_eq!((found(&again), gone), (vec!["new.rs".to_owned()], vec![]));
}

#[test]
fn rules_hold_from_the_repository_down_and_in_every_narrowed_root() {
    let fixture = Fixture::new();
    // Neither the root's nor its repository's.
    fs::write(fixture.path().join(".gitignore"), "*\n").unwrap();
    fixture.write(".gitignore", "*.log\n/build/\n!kept.log\n!.shown/\n!.env\n");
    fixture.write(".ignore", "vendor\n");
    fixture.write("src/.gitignore", "*.tmp\n/deep/*.gen\n");
    for path in [
        "a.log",
        "kept.log",
        "build/x",
        "src/build/x",
        "vendor/v.rs",
        "src/x.tmp",
        "src/deep/x.gen",
        ".shown/x",
        ".hidden/x",
        ".env",
        "x.tmp",
    ] {
        fixture.write(path, "x");
    }
    let roots = fixture.open();
    assert_eq!(
        found(&roots),
        [
            ".gitignore",
            ".shown/x",
            "kept.log",
            "src/.gitignore",
            "src/a.rs",
            "src/build/x",
            "src/deep/b.rs",
            "x.tmp"
        ]
    );
    let narrowed = roots.narrowed(&["src".into()]).unwrap();
    assert_eq!(found(&narrowed), [".gitignore", "a.rs", "build/x", "deep/b.rs"]);
    // A nested repository has rules of its own, `.git/info/exclude` included.
    fs::create_dir_all(fixture.root().join("src/deep/.git/info")).unwrap();
    fs::write(fixture.root().join("src/deep/.git/info/exclude"), "*.own\n").unwrap();
    fixture.write("src/deep/y.own", "x");
    assert_eq!(found(&roots.narrowed(&["src/deep".into()]).unwrap()), ["b.rs", "x.gen"]);
    let deep = Roots::open(&[fixture.root().join("src/deep")], Policy::standard()).unwrap();
    assert_eq!(found(&deep), ["b.rs", "x.gen"]);
}

#[test]
fn roots_in_roots_are_walked_once() {
    let fixture = Fixture::new();
    let roots =
        Roots::open(&[fixture.root(), fixture.root().join("src/deep"), fixture.root()], Policy::standard())
            .unwrap();
    let all = files(&roots, &StopSignal::never()).unwrap();
    assert_eq!(all, [place("src/a.rs"), RootedPath { root: 1, path: "b.rs".into() }]);
}

#[test]
fn a_very_deep_tree_does_not_end_the_walk() {
    let fixture = Fixture::new();
    // Deeper than any path can be long, which takes steps.
    let mut at = fs::File::open(fixture.root()).unwrap();
    let name = "d".repeat(200);
    for _ in 0..40 {
        rustix::fs::mkdirat(&at, &name, rustix::fs::Mode::from_raw_mode(0o700)).unwrap();
        let flags = rustix::fs::OFlags::DIRECTORY;
        at = rustix::fs::openat(&at, &name, flags, rustix::fs::Mode::empty()).unwrap().into();
    }
    let roots = fixture.open();
    assert_eq!(found(&roots), ["src/a.rs", "src/deep/b.rs"]);
    let long = vec![name; 40].join("/");
    assert!(roots.open_file(&place(&long)).is_err());
}

#[test]
fn a_halt_ends_walks_and_scans() {
    let fixture = Fixture::new();
    let roots = fixture.open();
    let stop = StopSignal::never();
    stop.cancel();
    assert_eq!(files(&roots, &stop), Err(Stopped::Cancelled));
    let stop = StopSignal::never();
    let seen = scan(
        &roots,
        &stop,
        || 0,
        |seen, _, _| {
            stop.cancel();
            *seen += 1;
        },
    );
    assert_eq!(seen, Err(Stopped::Cancelled));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever a path is made of, it opens a file of the root or nothing.
    #[test]
    fn hostile_paths_never_escape(
        parts in proptest::collection::vec(
            prop_oneof![
                // What leads somewhere comes often enough to come together.
                4 => prop_oneof![Just(".."), Just("out"), Just("loop"), Just("outside")],
                4 => prop_oneof![Just("a.rs"), Just("secret.txt"), Just("src")],
                1 => prop_oneof![Just("."), Just(""), Just("/"), Just("deep"), Just("b.rs"), Just("root"), Just("root-secret")],
                1 => prop_oneof![Just("\0"), Just("..\0"), Just("....//"), Just("%2e%2e"), Just("..\\"), Just("~"), Just("*")],
            ],
            0..5,
        ),
        absolute in any::<bool>(),
    ) {
        let fixture = Fixture::new();
        symlink(fixture.path().join("outside"), fixture.root().join("out")).unwrap();
        symlink(".", fixture.root().join("loop")).unwrap();
        let roots = fixture.open();
        let mut path = parts.join("/");
        if absolute {
            path = format!("{}/{path}", fixture.root().display());
        }
        let mut places = roots.places_of(&path);
        places.push(place(&path));
        for place in places {
            if let Ok(text) = roots.read_text(&place, 1000) {
                prop_assert!(text.starts_with("fn inside"), "{path:?}");
            }
        }
        if let Ok(listing) = list(&roots, &path, 100) {
            prop_assert!(listing.entries.iter().all(|entry| entry.name != "secret.txt"), "{path:?}");
        }
        if let Ok(narrowed) = roots.narrowed(&[PathBuf::from(&path)]) {
            prop_assert!(narrowed.paths().all(|path| path.starts_with(fixture.root())), "{path:?}");
        }
    }
}
