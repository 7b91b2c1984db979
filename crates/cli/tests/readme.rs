//! The examples of the README, and those of docs/ that begin with `cargo run`, do what they show.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]
#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Fixture, finish};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A command and the output that the document shows for it, which may be nothing.
struct Example {
    command: String,
    shown: String,
}

/// The commands of each `console` block.
fn blocks(document: &str) -> Vec<Vec<Example>> {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let mut blocks = Vec::new();
    for block in text.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        let examples = block.split("$ ").skip(1).map(|example| {
            let (command, shown) = example.split_once('\n').unwrap();
            Example { command: command.to_owned(), shown: shown.to_owned() }
        });
        blocks.push(examples.collect());
    }
    blocks
}

/// A shell in the root of this repository, in which `tamis` is the program under test, and `cargo run --release --` too.
fn shell(fixture: &Fixture, command: &str) -> Command {
    let bin = fixture.folder.path().join("bin");
    if !bin.exists() {
        fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_tamis"), bin.join("tamis")).unwrap();
        fs::write(bin.join("cargo"), "#!/bin/sh\nshift 3\nexec tamis \"$@\"\n").unwrap();
        fs::set_permissions(bin.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let tamis = fixture.tamis(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(root()).env_clear();
    shell.envs(tamis.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    shell.env("COLUMNS", "110");
    shell
}

/// Runs the examples of a block in order. Those that show nothing only have to succeed.
fn check(document: &str, examples: &[Example]) {
    let fixture = Fixture::new();
    for Example { command, shown } in examples {
        let ran = finish(&mut shell(&fixture, command), b"");
        assert_eq!(ran.code, Some(0), "{document}: {command}: {}", ran.stderr);
        if command.contains(" -q ") {
            assert!(ran.stderr.contains("restores the first cut"), "{document}: {command}: {}", ran.stderr);
        }
        if !shown.is_empty() {
            assert_eq!(format!("{}{}", ran.stdout, ran.stderr), *shown, "{document}: {command}");
        }
    }
}

#[test]
fn every_example_of_the_readme_works() {
    let blocks = blocks("README.md");
    assert!(blocks.len() >= 2 && blocks[0].iter().all(|example| !example.shown.is_empty()));
    blocks.iter().for_each(|examples| check("README.md", examples));
}

#[test]
fn examples_that_begin_with_cargo_run_print_what_they_show() {
    let documents = ["docs/trace-cli.md", "docs/research.md"];
    let mut checked = 0;
    for document in documents {
        for block in blocks(document) {
            if block.iter().all(|example| example.command.starts_with("cargo run --release -- ")) {
                check(document, &block);
                checked += 1;
            }
        }
    }
    assert!(checked >= 1);
}

#[test]
fn the_readme_is_short() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let (page, _) = text.split_once("\n## More\n").unwrap();
    assert!(page.lines().count() <= 100, "a page, before the links: {} lines", page.lines().count());
}
