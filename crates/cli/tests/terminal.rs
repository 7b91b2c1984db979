//! What a person sees at a terminal: colours, the pager, and notices while the program waits. Each runs on a pseudo-terminal.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::process::Command;

use common::terminal::{Screen, on_terminal};
use common::{Fixture, finish, module};

const RED: &str = "\u{1b}[1;31m";
const DIM: &str = "\u{1b}[2m";
/// Ctrl-D at the beginning of a line: the end of the input.
const END: &[u8] = b"\x04";

/// Without a pager, unless a test is about it.
fn screen(fixture: &Fixture, arguments: &[&str], variables: &[(&str, &str)]) -> Screen {
    let mut command = fixture.tamis(arguments);
    command.env("TAMIS_PAGER", "").envs(variables.iter().copied());
    on_terminal(&mut command, b"")
}

#[test]
fn errors_are_red_and_markers_dim_where_a_terminal_is() {
    let fixture = Fixture::new();
    std::fs::write(fixture.work().join("module.py"), module()).unwrap();
    let prune = ["prune", "-g", "how does cache_17 fill the cache", "module.py"];
    let read = ["read", "-q", "how does cache_17 fill the cache", "module.py"];
    for arguments in [&prune[..], &read] {
        let shown = screen(&fixture, arguments, &[]);
        let marked: Vec<&str> = shown.text.lines().filter(|line| line.contains("[tamis ")).collect();
        assert!(!marked.is_empty() && marked.iter().all(|line| line.starts_with(DIM)), "{}", shown.text);
    }
    assert!(screen(&fixture, &["read", "missing"], &[]).text.starts_with(&format!("{RED}error:")));
    // Neither where the user wants none, nor where there is no terminal.
    for (arguments, variables) in [
        (&["--color", "never"][..], &[][..]),
        (&["--color=never"], &[]),
        (&[], &[("NO_COLOR", "1")]),
        (&[], &[("TERM", "dumb")]),
    ] {
        for command in
            [&["read", "missing"][..], &prune, &["grep", "cache", "module.py"], &["no-such-command"]]
        {
            let shown = screen(&fixture, &[arguments, command].concat(), variables);
            assert!(
                !shown.text.contains('\u{1b}'),
                "{arguments:?} {variables:?} {command:?}: {:?}",
                shown.text
            );
        }
    }
    let piped = fixture.run(&prune, b"");
    assert!(!piped.stdout.contains('\u{1b}') && !piped.stderr.contains('\u{1b}'));
    let forced = fixture.run(&[&prune[..], &["--color", "always"]].concat(), b"");
    assert!(forced.stdout.contains(DIM), "{}", forced.stdout);
    let found = screen(&fixture, &["grep", "cache_17", "module.py"], &[]);
    assert!(found.text.contains(&format!("{RED}cache_17\u{1b}[0m")), "{}", found.text);
}

#[test]
fn names_of_found_files_cannot_control_the_terminal() {
    let fixture = Fixture::new();
    std::fs::write(fixture.work().join("odd\u{1b}]0;title\u{7}.txt"), "needle\n").unwrap();
    for arguments in
        [&["grep", "needle"][..], &["grep", "-l", "needle"], &["grep", "needle", "missing\u{1b}[2J"]]
    {
        let shown = screen(&fixture, &[arguments, &["--color=never"]].concat(), &[]);
        assert!(!shown.text.contains(['\u{1b}', '\u{7}']), "{arguments:?}: {:?}", shown.text);
    }
    let piped = fixture.run(&["grep", "-l", "needle"], b"");
    assert_eq!(piped.stdout, "odd\u{1b}]0;title\u{7}.txt\n", "a name in a pipe is the name");
}

/// A pager that shows where its input begins and ends.
const PAGER: &str = "sed 's/^/| /'; echo '(end)'";

fn paged(fixture: &Fixture, arguments: &[&str], variables: &[(&str, &str)]) -> Screen {
    on_terminal(
        fixture
            .tamis(arguments)
            .env("PATH", std::env::var_os("PATH").unwrap())
            .envs(variables.iter().copied()),
        b"",
    )
}

#[test]
fn output_goes_through_the_pager_on_a_terminal_and_the_exit_code_stays() {
    let fixture = Fixture::new();
    std::fs::write(fixture.work().join("text.txt"), "one\ntwo\n").unwrap();
    let shown = paged(&fixture, &["read", "text.txt"], &[("TAMIS_PAGER", PAGER)]);
    assert_eq!((shown.text.as_str(), shown.code), ("| one\n| two\n(end)\n", Some(0)));
    let shown = paged(&fixture, &["read", "text.txt"], &[("PAGER", PAGER)]);
    assert_eq!(shown.text, "| one\n| two\n(end)\n");
    let shown = paged(&fixture, &["read", "text.txt"], &[("PAGER", "false"), ("TAMIS_PAGER", PAGER)]);
    assert_eq!(shown.text, "| one\n| two\n(end)\n", "the more special variable counts");
    // Notes share the screen, so they go through it too; its exit code is not ours.
    let failed =
        paged(&fixture, &["bash", "--json", "--color=never", "--", "exit 7"], &[("TAMIS_PAGER", PAGER)]);
    assert_eq!(failed.code, Some(7), "{}", failed.text);
    let failed =
        paged(&fixture, &["read", "text.txt", "missing", "--color=never"], &[("TAMIS_PAGER", PAGER)]);
    assert_eq!(failed.code, Some(1));
    assert!(failed.text.contains("| error: cannot read `missing`"), "{}", failed.text);
    let left = paged(&fixture, &["read", "text.txt"], &[("TAMIS_PAGER", "false")]);
    assert_eq!((left.text.as_str(), left.code), ("", Some(0)));
    for (arguments, variables) in [
        (&["--no-pager"][..], &[("TAMIS_PAGER", PAGER)][..]),
        (&[], &[("TAMIS_PAGER", "")]),
        (&[], &[("TAMIS_PAGER", "cat")]),
        (&[], &[("TAMIS_PAGER", PAGER), ("TERM", "dumb")]),
    ] {
        let shown = paged(&fixture, &[&["read", "text.txt"], arguments].concat(), variables);
        assert_eq!((shown.text.as_str(), shown.code), ("one\ntwo\n", Some(0)), "{arguments:?} {variables:?}");
    }
    // A pager may have arguments.
    for (pager, expected) in [
        ("cat -A", "one$\ntwo$\n"),
        (" cat  -n ", "     1\tone\n     2\ttwo\n"),
        ("head -n 1", "one\n"),
        ("sed s/o/0/", "0ne\ntw0\n"),
        ("env cat", "one\ntwo\n"),
    ] {
        let shown = paged(&fixture, &["read", "text.txt"], &[("PAGER", pager)]);
        assert_eq!((shown.text.as_str(), shown.code), (expected, Some(0)), "{pager}");
    }
    let missing =
        paged(&fixture, &["read", "text.txt", "--color=never"], &[("TAMIS_PAGER", "no-such-pager")]);
    assert_eq!(missing.text, "warning: cannot find the pager `no-such-pager`\none\ntwo\n");
    // Output that does not go to a terminal is not paged.
    let piped = finish(fixture.tamis(&["read", "text.txt"]).env("TAMIS_PAGER", PAGER), b"");
    assert_eq!(piped.stdout, "one\ntwo\n");
}

/// A pager that the user leaves early ends neither the command nor its exit code.
#[test]
fn leaving_the_pager_early_keeps_the_exit_code() {
    let fixture = Fixture::new();
    std::fs::write(fixture.work().join("long.txt"), "a line of text\n".repeat(100_000)).unwrap();
    let shown =
        paged(&fixture, &["bash", "--json", "--", "cat long.txt; exit 7"], &[("TAMIS_PAGER", "head -n 1")]);
    assert_eq!((shown.text.as_str(), shown.code), ("{\n", Some(7)));
}

#[test]
fn commands_say_that_they_wait_for_stdin() {
    let fixture = Fixture::new();
    for arguments in [&["prune", "-g", "x"][..], &["read", "-"], &["recover", "-"], &["call", "health", "-"]]
    {
        let shown = on_terminal(fixture.tamis(arguments).env("TAMIS_PAGER", ""), END);
        assert!(
            shown.text.contains("reading from stdin; Ctrl-D ends the text"),
            "{arguments:?}: {}",
            shown.text
        );
        let piped = fixture.run(arguments, b"");
        assert!(!piped.stderr.contains("reading from stdin"), "{arguments:?}: {}", piped.stderr);
    }
    for text in [&b"\x04"[..], b"a line\n\x04"] {
        let shown = on_terminal(&mut fixture.tamis(&["grep", "x", "-"]), text);
        assert!(shown.text.contains("reading from stdin; Ctrl-D ends the text"), "{}", shown.text);
        assert_eq!(shown.code, Some(1), "no match");
    }
}

#[test]
fn a_server_on_a_terminal_says_what_it_is_for() {
    let fixture = Fixture::new();
    let shown = on_terminal(&mut fixture.tamis(&["mcp"]), END);
    assert!(shown.text.contains("`tamis mcp` is for coding agents"), "{}", shown.text);
    assert!(shown.text.contains("claude mcp add tamis -- tamis mcp"), "{}", shown.text);
    assert_eq!(shown.code, Some(0));
    let piped = fixture.run(&["mcp"], b"");
    assert!(!piped.stderr.contains("coding agents"), "{}", piped.stderr);
    let mut pruner = Command::new(env!("CARGO_BIN_EXE_mcp-pruner"));
    let shown = on_terminal(pruner.current_dir(fixture.work()), END);
    assert!(shown.text.contains("mcp-pruner is for coding agents"), "{}", shown.text);
}

#[test]
fn mcp_pruner_has_help_and_a_version() {
    let run = |argument: &str| finish(Command::new(env!("CARGO_BIN_EXE_mcp-pruner")).arg(argument), b"");
    for flag in ["--help", "-h"] {
        let help = run(flag);
        assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
        for word in
            ["Usage: mcp-pruner", "PRUNER_URL", "PRUNER_TIMEOUT_MS", "MCP_PRUNER_CWD", "read, bash and grep"]
        {
            assert!(help.stdout.contains(word), "{word}: {}", help.stdout);
        }
    }
    for flag in ["--version", "-V"] {
        let version = run(flag);
        assert_eq!((version.code, version.stdout.as_str()), (Some(0), "mcp-pruner 1.0.0\n"));
    }
    assert_eq!(run("--other").code, Some(2));
}
