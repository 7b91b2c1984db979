//! `tamis grep` as the users of ripgrep expect it.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::process::Command;

use common::{Fixture, Ran, finish, module};
use serde_json::json;

/// A project with what ripgrep leaves out: ignored, hidden and binary files, and git's own.
fn project() -> Fixture {
    let fixture = Fixture::new();
    for (path, text) in [
        (".git/config", "needle in git\n"),
        (".gitignore", "target/\n*.tmp\n"),
        (".ignore", "vendored/\n"),
        (".hidden", "needle hidden\n"),
        ("README.md", "# The shop\n\nNeedle in the docs.\n"),
        ("a.rs", "fn before() {}\nfn needle() {}\nfn needles() {}\nfn after() {}\nlast needle"),
        ("b.py", "one\ntwo\nneedle = 1\nfour\nfive\nsix\nseven\nneedle = 2\r\n"),
        ("notes.tmp", "needle ignored\n"),
        ("src/deep/c.rs", "// no match\n// a NEEDLE\n"),
        ("src/d.ts", "let needle = 3;\n"),
        ("target/out.rs", "needle built\n"),
        ("vendored/x.rs", "needle vendored\n"),
        ("zero.bin", "needle first\n\0\nneedle then\n"),
    ] {
        let path = fixture.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    fixture
}

fn lines(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().collect()
}

#[test]
fn ignored_hidden_and_git_files_are_left_out() {
    let fixture = project();
    let found = fixture.run(&["grep", "needle"], b"");
    assert_eq!(
        lines(&found),
        [
            "a.rs:2:fn needle() {}",
            "a.rs:3:fn needles() {}",
            "a.rs:5:last needle",
            "b.py:3:needle = 1",
            "b.py:8:needle = 2",
            "src/d.ts:1:let needle = 3;",
        ],
        "{}",
        found.stderr
    );
    assert_eq!(found.code, Some(0));
    let hidden = fixture.run(&["grep", "needle", "--hidden", "--no-ignore", "-l"], b"");
    assert_eq!(
        lines(&hidden),
        [".hidden", "a.rs", "b.py", "notes.tmp", "src/d.ts", "target/out.rs", "vendored/x.rs"]
    );
    // A file that is named is searched whatever it is.
    assert_eq!(lines(&fixture.run(&["grep", "needle", "notes.tmp"], b"")), ["1:needle ignored"]);
}

#[test]
fn ignore_files_above_the_folder_and_of_the_repository_hold() {
    let fixture = project();
    for (path, text) in [
        (".git/info/exclude", "mine.rs\n"),
        ("src/mine.rs", "needle of mine\n"),
        ("src/notes.tmp", "needle ignored\n"),
    ] {
        let path = fixture.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let found = fixture.run(&["grep", "needle", "src"], b"");
    assert_eq!(lines(&found), ["src/d.ts:1:let needle = 3;"], "{}", found.stderr);
    let below = finish(fixture.tamis(&["grep", "needle"]).current_dir(fixture.work().join("src")), b"");
    assert_eq!(lines(&below), ["d.ts:1:let needle = 3;"], "{}", below.stderr);
}

#[test]
fn the_options_are_those_of_ripgrep() {
    let fixture = project();
    for (arguments, expected) in [
        (&["-i", "needle", "src"][..], &["src/d.ts:1:let needle = 3;", "src/deep/c.rs:2:// a NEEDLE"][..]),
        (&["-S", "needle", "README.md"], &["3:Needle in the docs."]),
        (&["-S", "Needle", "a.rs"], &[]),
        (&["-w", "needle", "a.rs"], &["2:fn needle() {}", "5:last needle"]),
        (&["-l", "needle", ".", "-g", "*.rs"], &["./a.rs"]),
        (&["-l", "needle", "-g", "!*.rs"], &["b.py", "src/d.ts"]),
        (&["-l", "-i", "needle", "-t", "rust", "-t", "py"], &["a.rs", "b.py", "src/deep/c.rs"]),
        (&["needle()", "a.rs", "-F"], &["2:fn needle() {}"]),
        (&["-A1", "before", "a.rs"], &["1:fn before() {}", "2-fn needle() {}"]),
        (&["-B", "1", "after", "a.rs"], &["3-fn needles() {}", "4:fn after() {}"]),
        (
            &["-C1", "needle", "b.py", "src/d.ts"],
            &[
                "b.py-2-two",
                "b.py:3:needle = 1",
                "b.py-4-four",
                "--",
                "b.py-7-seven",
                "b.py:8:needle = 2",
                "--",
                "src/d.ts:1:let needle = 3;",
            ],
        ),
        (&["-v", "e", "b.py"], &["2:two", "4:four", "6:six"]),
        (
            &["needle", "a.rs", "src"],
            &[
                "a.rs:2:fn needle() {}",
                "a.rs:3:fn needles() {}",
                "a.rs:5:last needle",
                "src/d.ts:1:let needle = 3;",
            ],
        ),
        (&["-n", r"n(ee|oo)dle\b", "a.rs"], &["2:fn needle() {}", "5:last needle"]),
        (&["-e", "before", "-e", "after", "a.rs"], &["1:fn before() {}", "4:fn after() {}"]),
        (&["-F", "-e", "needle()", "-e", "last", "a.rs"], &["2:fn needle() {}", "5:last needle"]),
        (&["-e", "-x", "a.rs"], &[]),
        (&["-c", "needle"], &["a.rs:3", "b.py:2", "src/d.ts:1"]),
        (&["-c", "needle", "a.rs"], &["3"]),
        (&["-c", "-C1", "needle", "a.rs"], &["3"]),
        (&["-c", "no such thing", "a.rs"], &[]),
        (&["-o", "needles?", "a.rs"], &["2:needle", "3:needles", "5:needle"]),
        (&["-o", "e[et]", "src"], &["src/d.ts:1:et", "src/d.ts:1:ee"]),
        (&["-rn", "after", "a.rs"], &["4:fn after() {}"]),
        (&["-R", "let", "src"], &["src/d.ts:1:let needle = 3;"]),
    ] {
        let ran = fixture.run(&[&["grep"], arguments].concat(), b"");
        assert_eq!(lines(&ran), expected, "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.code, Some(i32::from(expected.is_empty())), "{arguments:?}");
    }
    let piped = fixture.run(&["grep", "needle", "-"], b"a needle\nno\n");
    assert_eq!((piped.stdout.as_str(), piped.code), ("1:a needle\n", Some(0)));
}

#[test]
fn what_cannot_be_searched_is_an_error_in_plain_words() {
    let fixture = project();
    for (arguments, error) in [
        (&["("][..], "error: invalid regular expression: "),
        (
            &["x", "-t", "klingon"],
            "error: unknown file type `klingon`\n\nhint: types are named as in ripgrep",
        ),
        (&["x", "-g", "a[b"], "error: invalid glob: "),
        (
            &["x", "missing"],
            "error: cannot search `missing`\n  because: No such file or directory (os error 2)\n",
        ),
        (
            &["x", "src/e.ts"],
            "error: cannot search `src/e.ts`\n  because: No such file or directory (os error 2)\n\nhint: did you mean `src/d.ts`?\n",
        ),
    ] {
        let ran = fixture.run(&[&["grep"], arguments].concat(), b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(error), "{arguments:?}: {}", ran.stderr);
    }
    // What can be searched is, and the error still shows.
    let partly = fixture.run(&["grep", "needle", "missing", "a.rs"], b"");
    assert_eq!((partly.code, lines(&partly).len()), (Some(2), 3), "{}", partly.stderr);
}

#[test]
fn read_grep_and_bash_take_a_threshold_and_print_json() {
    let fixture = Fixture::new();
    std::fs::write(fixture.work().join("module.py"), module()).unwrap();
    let question = ["-q", "how does cache_17 fill the cache", "--json"];
    for (command, about) in [
        (&["read", "module.py"][..], ("path", json!("module.py"))),
        (&["grep", "value", "module.py"], ("exit_code", json!(0))),
        (&["bash", "--", "cat module.py; exit 3"], ("exit_code", json!(3))),
    ] {
        let run = |more: &[&str]| fixture.run(&[&command[..1], &question, more, &command[1..]].concat(), b"");
        let answer = run(&[]);
        let (default, whole) = (answer.json(), run(&["--threshold", "0"]).json());
        assert_eq!(default[about.0], about.1, "{command:?}");
        assert_eq!(answer.code, Some(if command[0] == "bash" { 3 } else { 0 }));
        for key in ["prune_id", "pruned_text", "annotations", "stats", "warnings"] {
            assert!(default.get(key).is_some(), "{command:?}: {key}");
        }
        assert!(default["stats"]["pruned_lines"].as_u64() > Some(0), "{command:?}");
        if command[0] == "read" {
            assert_eq!(default["stats"]["original_lines"], module().lines().count());
        }
        assert_eq!(whole["stats"]["pruned_lines"], 0, "{command:?}");
    }
    let read = fixture.run(&["read", "--json", "module.py"], b"").json();
    assert_eq!(read, json!({"path": "module.py", "text": module()}));
    let found = fixture.run(&["grep", "--json", "def cache", "module.py"], b"").json();
    assert_eq!(found["matches"].as_array().unwrap().len(), 1);
    let first =
        json!({"path": "module.py", "line": 277, "text": "def cache_17(request, value):", "is_match": true});
    assert_eq!(found["matches"][0], first);
    let ran = fixture.run(&["bash", "--json", "--", "echo out; exit 7"], b"");
    assert_eq!((ran.json(), ran.code), (json!({"exit_code": 7, "text": "out\n\n[exit code: 7]"}), Some(7)));
    let alone = fixture.run(&["read", "module.py", "--threshold", "0.7"], b"");
    assert_eq!(alone.code, Some(2), "a threshold needs a question");
}

/// Byte for byte what ripgrep prints, where it is installed (`cargo install ripgrep`).
#[test]
fn output_is_that_of_ripgrep() {
    let installed = Command::new("rg").arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !installed {
        return;
    }
    let fixture = project();
    for arguments in [
        &["needle"][..],
        &["needle", "."],
        &["needle", "src", "a.rs"],
        &["needle", "a.rs"],
        &["needle", "zero.bin"],
        &["then", "zero.bin"],
        &["needle", "missing", "a.rs"],
        &["-i", "needle"],
        &["-i", "-w", "needle"],
        &["-S", "needle"],
        &["-S", "Needle"],
        &["-l", "needle"],
        &["-l", "nothing at all"],
        &["-F", "needle()"],
        &["-v", "needle", "b.py"],
        &["-g", "*.rs", "needle"],
        &["-g", "!*.rs", "needle"],
        &["-g", "src/**", "-i", "needle"],
        &["-t", "rust", "needle"],
        &["-t", "py", "-t", "ts", "needle"],
        &["-A", "1", "needle"],
        &["-B", "2", "needle"],
        &["-C", "1", "needle"],
        &["--no-ignore", "needle"],
        &["", "a.rs"],
        &["^$", "README.md"],
        &[r"\d$"],
        &["needle$", "-i"],
        &["-e", "needle", "-e", "fn", "-c"],
        &["-c", "needle", "a.rs"],
        &["-o", "n.e"],
        &["-o", "-e", "let", "-e", "needle", "src"],
    ] {
        let mut rg = Command::new("rg");
        rg.args(["--no-config", "-n", "--no-heading", "--color", "never", "--sort", "path"]).args(arguments);
        // With a pipe as its stdin and no path, it would search that.
        let rg = rg.stdin(std::process::Stdio::null()).current_dir(fixture.work()).output().unwrap();
        let ours = fixture.run(&[&["grep"], arguments].concat(), b"");
        let theirs = (String::from_utf8(rg.stdout).unwrap(), rg.status.code());
        assert_eq!((ours.stdout, ours.code), theirs, "{arguments:?}: {}", ours.stderr);
    }
}
