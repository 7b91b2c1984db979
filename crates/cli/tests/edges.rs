//! Rules for the whole workspace: dependencies between crates point one way, as in `docs/architecture.md`; a library that one
//! crate wraps is used and re-exported by no other; and public types have unique names.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate with those of ours that it may build on.
const MAY_USE: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("redact", &[]),
    ("syntax", &[]),
    ("prune", &["syntax", "text"]),
    ("store", &[]),
    ("process", &[]),
    ("clients", &["process"]),
    ("config", &[]),
    ("setup", &["clients", "store"]),
    ("sieve", &["prune", "store", "text"]),
    ("codebase", &["process", "redact"]),
    ("http", &[]),
    ("code-index", &["codebase", "redact", "store", "syntax", "text"]),
    ("research", &["code-index", "codebase", "http", "redact", "store", "syntax", "text"]),
    ("git", &["process", "store"]),
    ("github", &["git", "http", "process", "text"]),
    ("agents", &["clients", "git", "github", "process", "redact", "store", "text"]),
    ("coordinator", &["agents", "http", "redact"]),
    ("logs", &["clients", "store"]),
    ("hook", &["clients", "logs", "prune", "redact", "sieve", "store", "text"]),
    ("trace", &["clients", "codebase", "logs", "redact", "store"]),
    ("doctor", &["clients", "hook", "logs", "setup", "store", "trace"]),
    ("savings", &["clients", "logs", "prune", "redact", "sieve", "text", "trace"]),
    ("gain", &["clients", "logs", "savings", "sieve", "store", "text", "trace"]),
    (
        "tools",
        &[
            "agents",
            "clients",
            "codebase",
            "coordinator",
            "http",
            "logs",
            "process",
            "prune",
            "redact",
            "research",
            "sieve",
            "text",
            "trace",
        ],
    ),
    ("gateway", &["http", "process", "prune", "sieve", "tools"]),
    (
        "dashboard",
        &[
            "agents",
            "clients",
            "codebase",
            "coordinator",
            "gain",
            "logs",
            "prune",
            "redact",
            "research",
            "sieve",
            "text",
            "tools",
            "trace",
        ],
    ),
    ("server", &["agents", "coordinator", "dashboard", "redact", "tools"]),
    (
        "cli",
        &[
            "agents",
            "clients",
            "code-index",
            "codebase",
            "config",
            "coordinator",
            "dashboard",
            "doctor",
            "gain",
            "hook",
            "gateway",
            "http",
            "logs",
            "process",
            "prune",
            "redact",
            "research",
            "savings",
            "server",
            "setup",
            "sieve",
            "store",
            "text",
            "tools",
            "trace",
        ],
    ),
    ("testkit", &[]),
];

/// What only these crates may know, of what others make.
const KNOWN_ONLY_TO: &[(&str, &[&str])] = &[
    ("rmcp", &["server"]),
    ("axum", &["server", "testkit"]),
    ("clap", &["cli"]),
    ("anyhow", &["cli"]),
    ("rusqlite", &["store"]),
    ("tree-sitter", &["syntax"]),
    ("hyper", &["http", "server"]),
    ("rustls", &["http"]),
    ("grep", &["codebase"]),
    ("ignore", &["codebase"]),
    (
        "tokio",
        &["coordinator", "http", "research", "process", "tools", "gateway", "server", "cli", "testkit"],
    ),
];

/// What a crate re-exports of its dependencies, and the crates that may use a foreign one through it. `store` re-exports
/// rusqlite because wrapping every query would only hide SQL behind a second interface; the crates with tables write it.
const RE_EXPORTS: &[(&str, &str, &[&str])] = &[
    ("store", "rusqlite", &["agents", "code-index", "logs", "sieve", "trace"]),
    ("tools", "tamis_agents", &[]),
    ("tools", "tamis_sieve", &[]),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Each crate's dependencies that are not only for its tests.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(crates()).unwrap() {
        let folder = entry.unwrap().path();
        let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
        let names = |table: &str| -> Vec<String> {
            manifest
                .get(table)
                .and_then(|table| table.as_table())
                .map_or(Vec::new(), |table| table.keys().cloned().collect())
        };
        assert!(
            !manifest.contains_key("target"),
            "{}: dependencies of a target are not looked at",
            folder.display()
        );
        let names = [names("dependencies"), names("build-dependencies")].concat();
        all.insert(folder.file_name().unwrap().to_str().unwrap().to_owned(), names);
    }
    all
}

#[test]
fn dependencies_point_one_way() {
    let may_use: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    for (name, dependencies) in dependencies() {
        let allowed =
            may_use.get(name.as_str()).unwrap_or_else(|| panic!("{name} is not in the list of crates"));
        for dependency in dependencies.iter().filter_map(|name| name.strip_prefix("tamis-")) {
            assert!(allowed.contains(&dependency), "{name} must not use {dependency}");
        }
    }
}

#[test]
fn what_one_crate_hides_the_others_do_not_know() {
    for (name, dependencies) in dependencies() {
        for (hidden, knowing) in KNOWN_ONLY_TO {
            let knows = dependencies.iter().any(|dependency| {
                dependency == hidden
                    || dependency.strip_prefix(hidden).is_some_and(|rest| rest.starts_with('-'))
            });
            // `tokio-util` has the cancellation tokens that most crates pass on.
            let excused = *hidden == "tokio" && !dependencies.iter().any(|dependency| dependency == "tokio");
            assert!(!knows || excused || knowing.contains(&name.as_str()), "{name} must not know {hidden}");
        }
    }
}

#[test]
fn re_exports_are_listed_and_used_only_where_allowed() {
    let dependencies = dependencies();
    let name_in_code = |dependency: &str| dependency.replace('-', "_");
    let mut found = Vec::new();
    for (name, dependencies) in &dependencies {
        for path in sources(&crates().join(name).join("src")) {
            for line in fs::read_to_string(&path).unwrap().lines() {
                let Some(first) = re_exported(line) else { continue };
                if let Some(dependency) =
                    dependencies.iter().find(|dependency| name_in_code(dependency) == first)
                {
                    found.push((name.clone(), name_in_code(dependency)));
                }
            }
        }
    }
    found.sort();
    found.dedup();
    let listed: Vec<_> = RE_EXPORTS.iter().map(|(by, of, _)| ((*by).to_owned(), (*of).to_owned())).collect();
    assert_eq!(found, listed, "what crates re-export (left) is what the list allows (right)");
    for (by, of, users) in RE_EXPORTS.iter().filter(|(_, of, _)| !of.starts_with("tamis_")) {
        for name in dependencies.keys().filter(|name| name != by && !users.contains(&name.as_str())) {
            for path in sources(&crates().join(name).join("src")) {
                let source = fs::read_to_string(&path).unwrap();
                assert!(!source.contains(&format!("{of}::")), "{} uses {of} through {by}", path.display());
            }
        }
    }
}

/// The first name of a path that this line makes public for other crates.
fn re_exported(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let path = line.strip_prefix("pub use ").or_else(|| line.strip_prefix("pub extern crate "))?;
    path.trim_start_matches("::").split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

#[test]
fn each_crates_sql_is_in_its_db_rs() {
    const SQL: [&str; 5] = ["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "CREATE TABLE"];
    for name in dependencies().into_keys().filter(|name| name != "store") {
        for path in sources(&crates().join(&name).join("src")) {
            if path.ends_with("db.rs") || path.parent().is_some_and(|folder| folder.ends_with("db")) {
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            for words in SQL {
                assert!(!source.contains(words), "{} has SQL ({words})", path.display());
            }
        }
    }
}

/// A repository may name programs in its configuration, so only the crate that keeps git from reading it runs git.
#[test]
fn only_one_crate_runs_git() {
    for name in dependencies().into_keys().filter(|name| name != "git" && name != "testkit") {
        for path in sources(&crates().join(&name).join("src")) {
            let source = fs::read_to_string(&path).unwrap();
            assert!(!source.contains("::new(\"git\")"), "{} runs git", path.display());
        }
    }
}

/// A name has one meaning in the workspace, so that a reader never has to ask which crate's type is meant.
#[test]
fn public_types_have_unique_names() {
    let mut declared = BTreeMap::new();
    for name in dependencies().into_keys() {
        for path in sources(&crates().join(name).join("src")) {
            for declaration in fs::read_to_string(&path).unwrap().lines().filter_map(public_type) {
                if let Some(other) = declared.insert(declaration.to_owned(), path.clone()) {
                    panic!("{declaration} is declared in {} and in {}", other.display(), path.display());
                }
            }
        }
    }
    assert!(!declared.is_empty());
}

/// The name of the public type or trait that this line declares at the top level of its file.
fn public_type(line: &str) -> Option<&str> {
    let name =
        ["pub struct ", "pub enum ", "pub trait "].iter().find_map(|start| line.strip_prefix(start))?;
    name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_threat_names_a_test_that_exists() {
    let root = crates().parent().unwrap().to_owned();
    let document = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let (_, threats) = document.split_once("\n## Threats\n").unwrap();
    let threats = threats.split("\n## ").next().unwrap();
    let sources: String = sources(&crates()).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let rows: Vec<&str> = threats.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert!(rows.len() > 10, "{threats}");
    for row in rows {
        let tests = row.rsplit('|').nth(1).unwrap();
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {row}");
        for name in names {
            // Those in a browser are named by their files.
            let exists = match name.ends_with(".test.js") {
                true => root.join(name).is_file(),
                false => sources.contains(&format!("fn {name}(")),
            };
            assert!(exists, "there is no test {name}");
        }
    }
}

#[test]
fn documents_name_files_that_exist() {
    let root = crates().parent().unwrap().to_owned();
    let mut documents: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "training/README.md"]
        .iter()
        .map(|name| root.join(name))
        .collect();
    let crate_readmes = fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().path().join("README.md"));
    documents.extend(crate_readmes.filter(|path| path.exists()));
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    documents.extend(docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        let quoted = text.split('`').skip(1).step_by(2);
        for path in quoted.filter(|quoted| quoted.starts_with("crates/")) {
            let is_pattern = path.contains(['*', ' ', '…', '<']);
            assert!(
                is_pattern || root.join(path).exists(),
                "{} names {path}, which does not exist",
                document.display()
            );
        }
    }
}
