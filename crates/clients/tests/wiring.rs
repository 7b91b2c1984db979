//! The contract's rules for the runner's variables, row by row, and where the server is looked for.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tamis_clients::{
    DEFAULT_PRUNER_URL, McpServer, PrunerSettings, Resolution, Wiring, WiringError, approved_tools,
    wire_pruner,
};

/// A folder with `tamis`, and places for `mcp-pruner` and `node`.
struct House {
    folder: tempfile::TempDir,
}

impl House {
    fn new() -> House {
        let folder = tempfile::tempdir().unwrap();
        for name in ["beside", "first", "second", "work"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        House { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, mode: u32) -> PathBuf {
        std::fs::write(self.at(name), "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(self.at(name), std::fs::Permissions::from_mode(mode)).unwrap();
        self.at(name)
    }

    fn wire(&self, settings: &PrunerSettings) -> Result<Wiring, WiringError> {
        let own_program = self.at("beside/tamis");
        let path = std::env::join_paths([self.at("first"), self.at("second")]).unwrap();
        wire_pruner(
            settings,
            &Resolution {
                cwd: &self.at("work"),
                own_program: Some(&own_program),
                path_variable: Some(&path),
            },
        )
    }

    /// The only entry that there may be.
    fn wired(&self, command: &str, args: &[&str], url: &str) -> Wiring {
        let server = McpServer {
            command: command.to_owned(),
            args: args.iter().map(|argument| (*argument).to_owned()).collect(),
            env: BTreeMap::from([
                ("PRUNER_URL".to_owned(), url.to_owned()),
                ("MCP_PRUNER_CWD".to_owned(), text(&self.at("work"))),
            ]),
        };
        Wiring::Servers(BTreeMap::from([("pruner".to_owned(), server)]))
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn settings(enabled: &str, url: Option<&str>, path: Option<&Path>) -> PrunerSettings {
    PrunerSettings {
        enabled: Some(enabled.to_owned()),
        url: url.map(str::to_owned),
        path: path.map(Path::to_owned),
        allow_bash: None,
        problem: None,
    }
}

#[test]
fn jeeves_pruner_enabled() {
    let house = House::new();
    let server = house.file("beside/mcp-pruner", 0o755);
    for yes in ["1", "true", "yes", "on", "TRUE", "On", " yes "] {
        let wired = house.wired(&text(&server), &[], DEFAULT_PRUNER_URL);
        assert_eq!(house.wire(&settings(yes, None, None)), Ok(wired), "{yes:?}");
    }
    for no in ["", "0", "false", "no", "off", "2", "enabled", "y", "truee"] {
        assert_eq!(house.wire(&settings(no, None, None)), Ok(Wiring::Disabled), "{no:?}");
    }
    assert_eq!(house.wire(&PrunerSettings::default()), Ok(Wiring::Disabled));
    // What is switched off is not looked at.
    assert_eq!(
        house.wire(&settings("no", Some("nonsense"), Some(Path::new("/nowhere")))),
        Ok(Wiring::Disabled)
    );
    let unreadable =
        |enabled| PrunerSettings { problem: Some("why".to_owned()), ..settings(enabled, None, None) };
    assert_eq!(house.wire(&unreadable("no")), Ok(Wiring::Disabled));
    assert_eq!(house.wire(&unreadable("yes")), Err(WiringError::Setting("why".to_owned())));
}

#[test]
fn jeeves_pruner_url() {
    let house = House::new();
    let server = text(&house.file("beside/mcp-pruner", 0o755));
    let forwarded = |given: Option<&str>| house.wire(&settings("1", given, None));
    // Unset: the default. Empty: forwarded, which switches pruning off. Else as it was given, to the letter.
    assert_eq!(forwarded(None), Ok(house.wired(&server, &[], "http://localhost:8000/prune")));
    for url in [
        "",
        "http://localhost:8000/prune",
        "https://pruner.example:8443/a/b?c=d",
        "http://[::1]:8000/prune",
        "HTTP://Pruner.Example",
        "http://127.0.0.1",
    ] {
        assert_eq!(forwarded(Some(url)), Ok(house.wired(&server, &[], url)));
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
    let house = House::new();
    // It goes before what would be found.
    house.file("beside/mcp-pruner", 0o755);
    let wire = |path: &Path| house.wire(&settings("1", None, Some(path)));
    let program = house.file("first/my-pruner", 0o755);
    assert_eq!(wire(&program), Ok(house.wired(&text(&program), &[], DEFAULT_PRUNER_URL)));

    let script = house.file("work/index.js", 0o644);
    assert_eq!(wire(&script), Err(WiringError::NoNode(script.clone())));
    house.file("second/node", 0o755);
    for name in ["work/index.js", "work/index.mjs", "work/index.cjs", "work/INDEX.JS"] {
        let script = house.file(name, 0o644);
        assert_eq!(wire(&script), Ok(house.wired("node", &[&text(&script)], DEFAULT_PRUNER_URL)));
    }
    // An executable script is one all the same, and other endings mean nothing.
    let script = house.file("work/exec.js", 0o755);
    assert_eq!(wire(&script), Ok(house.wired("node", &[&text(&script)], DEFAULT_PRUNER_URL)));
    let program = house.file("work/pruner.json", 0o755);
    assert_eq!(wire(&program), Ok(house.wired(&text(&program), &[], DEFAULT_PRUNER_URL)));

    for (path, why) in [
        (house.at("nowhere"), "No such file or directory"),
        (house.at("work"), "not a file"),
        (house.at("work/nowhere.js"), "No such file or directory"),
        (house.file("work/plain", 0o644), "neither executable nor a script"),
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
fn the_shell_is_approved_only_when_the_user_says_so() {
    let approved = |allow_bash: Option<&str>| {
        let settings =
            PrunerSettings { allow_bash: allow_bash.map(str::to_owned), ..settings("1", None, None) };
        approved_tools(&settings).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let harmless = ["mcp:pruner/read", "mcp:pruner/grep"];
    for no in [None, Some(""), Some("false"), Some("perhaps")] {
        assert_eq!(approved(no), harmless);
    }
    assert_eq!(approved(Some("yes")), [&harmless[..], &["mcp:pruner/bash"]].concat());
}

#[test]
fn the_server_is_looked_for_beside_the_program_then_on_path() {
    let house = House::new();
    let found = || house.wire(&settings("on", None, None));
    assert_eq!(found(), Err(WiringError::NotFound));
    // What cannot be executed is passed over.
    house.file("first/mcp-pruner", 0o644);
    assert_eq!(found(), Err(WiringError::NotFound));
    std::fs::create_dir(house.at("beside/mcp-pruner")).unwrap();
    assert_eq!(found(), Err(WiringError::NotFound));
    let second = house.file("second/mcp-pruner", 0o755);
    assert_eq!(found(), Ok(house.wired(&text(&second), &[], DEFAULT_PRUNER_URL)));
    let first = house.file("first/mcp-pruner", 0o755);
    assert_eq!(found(), Ok(house.wired(&text(&first), &[], DEFAULT_PRUNER_URL)));
    std::fs::remove_dir(house.at("beside/mcp-pruner")).unwrap();
    let beside = house.file("beside/mcp-pruner", 0o755);
    assert_eq!(found(), Ok(house.wired(&text(&beside), &[], DEFAULT_PRUNER_URL)));
}

#[test]
fn a_folder_that_no_configuration_can_name_is_told() {
    let house = House::new();
    house.file("beside/mcp-pruner", 0o755);
    let cwd = PathBuf::from(OsString::from_vec(b"/caf\xe9".to_vec()));
    let own_program = house.at("beside/tamis");
    let resolution = Resolution { cwd: &cwd, own_program: Some(&own_program), path_variable: None };
    let wired = wire_pruner(&settings("1", None, None), &resolution);
    assert_eq!(wired, Err(WiringError::NotText(cwd)));
}
