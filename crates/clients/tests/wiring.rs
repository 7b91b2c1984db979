//! The contract's rules for the runner's variables, row by row, and where the server is searched.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tamis_clients::{
    DEFAULT_PRUNER_URL, McpServer, PrunerSettings, PrunerWiring, ServerLookup, WiringError, approved_tools,
    wire_pruner,
};

/// A folder with `tamis` in it, to which `mcp-pruner` and `node` can be added.
struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        for name in ["beside", "first", "second", "work"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Fixture { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, mode: u32) -> PathBuf {
        std::fs::write(self.at(name), "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(self.at(name), std::fs::Permissions::from_mode(mode)).unwrap();
        self.at(name)
    }

    fn wire(&self, settings: &PrunerSettings) -> Result<PrunerWiring, WiringError> {
        let own_program = self.at("beside/tamis");
        let path = std::env::join_paths([self.at("first"), self.at("second")]).unwrap();
        wire_pruner(
            settings,
            &ServerLookup {
                cwd: &self.at("work"),
                own_program: Some(&own_program),
                path_variable: Some(&path),
            },
        )
    }

    /// The only entry that is allowed.
    fn wired(&self, command: &str, args: &[&str], url: &str) -> PrunerWiring {
        let server = McpServer {
            command: command.to_owned(),
            args: args.iter().map(|argument| (*argument).to_owned()).collect(),
            env: BTreeMap::from([
                ("PRUNER_URL".to_owned(), url.to_owned()),
                ("MCP_PRUNER_CWD".to_owned(), text(&self.at("work"))),
            ]),
        };
        PrunerWiring::Servers(BTreeMap::from([("pruner".to_owned(), server)]))
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn settings(enabled: bool, url: Option<&str>, path: Option<&Path>) -> PrunerSettings {
    PrunerSettings {
        enabled,
        url: url.map(str::to_owned),
        path: path.map(Path::to_owned),
        ..PrunerSettings::default()
    }
}

#[test]
fn jeeves_pruner_enabled() {
    let fixture = Fixture::new();
    let server = fixture.file("beside/mcp-pruner", 0o755);
    let wired = fixture.wired(&text(&server), &[], DEFAULT_PRUNER_URL);
    assert_eq!(fixture.wire(&settings(true, None, None)), Ok(wired));
    assert_eq!(fixture.wire(&settings(false, None, None)), Ok(PrunerWiring::Disabled));
    assert_eq!(fixture.wire(&PrunerSettings::default()), Ok(PrunerWiring::Disabled));
    // When the pruner is disabled, its other settings are not checked.
    assert_eq!(
        fixture.wire(&settings(false, Some("nonsense"), Some(Path::new("/nowhere")))),
        Ok(PrunerWiring::Disabled)
    );
    let unreadable =
        |enabled| PrunerSettings { problem: Some("why".to_owned()), ..settings(enabled, None, None) };
    assert_eq!(fixture.wire(&unreadable(false)), Ok(PrunerWiring::Disabled));
    assert_eq!(fixture.wire(&unreadable(true)), Err(WiringError::Setting("why".to_owned())));
}

#[test]
fn jeeves_pruner_url() {
    let fixture = Fixture::new();
    let server = text(&fixture.file("beside/mcp-pruner", 0o755));
    let forwarded = |given: Option<&str>| fixture.wire(&settings(true, given, None));
    // Unset: the default. Empty: forwarded, which turns pruning off. Otherwise forwarded unchanged.
    assert_eq!(forwarded(None), Ok(fixture.wired(&server, &[], "http://localhost:8000/prune")));
    for url in [
        "",
        "http://localhost:8000/prune",
        "https://pruner.example:8443/a/b?c=d",
        "http://[::1]:8000/prune",
        "HTTP://Pruner.Example",
        "http://127.0.0.1",
    ] {
        assert_eq!(forwarded(Some(url)), Ok(fixture.wired(&server, &[], url)));
    }
    for url in [
        "localhost:8000/prune",
        "/prune",
        "ftp://localhost/prune",
        "file:///prune",
        "http://",
        "http:///prune",
        "http:prune",
        "http://host:99999/",
        "http://host:port/",
        "http://a b/",
        "not a url",
        " ",
    ] {
        assert_eq!(forwarded(Some(url)), Err(WiringError::Url(url.to_owned())), "{url:?}");
    }
}

#[test]
fn jeeves_mcp_pruner_path() {
    let fixture = Fixture::new();
    // It takes precedence over the search.
    fixture.file("beside/mcp-pruner", 0o755);
    let wire = |path: &Path| fixture.wire(&settings(true, None, Some(path)));
    let program = fixture.file("first/my-pruner", 0o755);
    assert_eq!(wire(&program), Ok(fixture.wired(&text(&program), &[], DEFAULT_PRUNER_URL)));

    let script = fixture.file("work/index.js", 0o644);
    assert_eq!(wire(&script), Err(WiringError::NoNode(script.clone())));
    fixture.file("second/node", 0o755);
    for name in ["work/index.js", "work/index.mjs", "work/index.cjs", "work/INDEX.JS"] {
        let script = fixture.file(name, 0o644);
        assert_eq!(wire(&script), Ok(fixture.wired("node", &[&text(&script)], DEFAULT_PRUNER_URL)));
    }
    // A script that is executable still runs under node; other extensions mean nothing.
    let script = fixture.file("work/exec.js", 0o755);
    assert_eq!(wire(&script), Ok(fixture.wired("node", &[&text(&script)], DEFAULT_PRUNER_URL)));
    let program = fixture.file("work/pruner.json", 0o755);
    assert_eq!(wire(&program), Ok(fixture.wired(&text(&program), &[], DEFAULT_PRUNER_URL)));

    for (path, why) in [
        (fixture.at("nowhere"), "No such file or directory"),
        (fixture.at("work"), "not a file"),
        (fixture.at("work/nowhere.js"), "No such file or directory"),
        (fixture.file("work/plain", 0o644), "neither executable nor a script"),
    ] {
        match wire(&path) {
            Err(WiringError::Path { path: named, why: told }) => {
                assert_eq!(named, path);
                assert!(told.contains(why), "{told}");
            }
            other => panic!("{}: {other:?}", path.display()),
        }
    }
}

#[test]
fn the_shell_is_approved_only_when_the_user_allows_it() {
    let approved = |allow_bash| {
        let settings = PrunerSettings { allow_bash, ..settings(true, None, None) };
        approved_tools(&settings).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let harmless = ["mcp:pruner/read", "mcp:pruner/grep"];
    assert_eq!(approved(false), harmless);
    assert_eq!(approved(true), [&harmless[..], &["mcp:pruner/bash"]].concat());
}

#[test]
fn the_server_is_searched_beside_the_program_then_on_path() {
    let fixture = Fixture::new();
    let found = || fixture.wire(&settings(true, None, None));
    assert_eq!(found(), Err(WiringError::NotFound));
    // A file that is not executable is skipped.
    fixture.file("first/mcp-pruner", 0o644);
    assert_eq!(found(), Err(WiringError::NotFound));
    std::fs::create_dir(fixture.at("beside/mcp-pruner")).unwrap();
    assert_eq!(found(), Err(WiringError::NotFound));
    let second = fixture.file("second/mcp-pruner", 0o755);
    assert_eq!(found(), Ok(fixture.wired(&text(&second), &[], DEFAULT_PRUNER_URL)));
    let first = fixture.file("first/mcp-pruner", 0o755);
    assert_eq!(found(), Ok(fixture.wired(&text(&first), &[], DEFAULT_PRUNER_URL)));
    std::fs::remove_dir(fixture.at("beside/mcp-pruner")).unwrap();
    let beside = fixture.file("beside/mcp-pruner", 0o755);
    assert_eq!(found(), Ok(fixture.wired(&text(&beside), &[], DEFAULT_PRUNER_URL)));
}

#[test]
fn a_folder_that_is_not_utf_8_is_an_error() {
    let fixture = Fixture::new();
    fixture.file("beside/mcp-pruner", 0o755);
    let cwd = PathBuf::from(OsString::from_vec(b"/caf\xe9".to_vec()));
    let own_program = fixture.at("beside/tamis");
    let lookup = ServerLookup { cwd: &cwd, own_program: Some(&own_program), path_variable: None };
    let wired = wire_pruner(&settings(true, None, None), &lookup);
    assert_eq!(wired, Err(WiringError::NotText(cwd)));
}
