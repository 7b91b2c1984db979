//! The contract's tables of tools, arguments, errors and exit codes, row by row. A case is a call, what comes of it, and
//! the states it goes through.

use serde_json::{Value, json};

use crate::http_pruner::{HttpPruner, Manners};
use crate::server::{Place, Server};

/// The pruner that the server uses.
enum Asking {
    /// `PRUNER_URL` is empty.
    Off,
    /// A pruner that answers with this.
    Pruner(Value),
    /// A pruner whose address refuses connections.
    Absent,
}

/// What was sent to the pruner.
enum Sent {
    Nothing,
    /// This text, with the question as it was.
    Text(String),
}

struct Case {
    name: &'static str,
    asking: Asking,
    tool: &'static str,
    arguments: Value,
    text: String,
    sent: Sent,
    way: &'static [&'static str],
}

const RAW: &[&str] = &[
    "req:received",
    "req:validating",
    "req:executing_tool",
    "req:raw_output_ready",
    "req:prune_check",
    "req:respond_raw",
    "req:responded",
];
const PRUNED: &[&str] = &[
    "req:received",
    "req:validating",
    "req:executing_tool",
    "req:raw_output_ready",
    "req:prune_check",
    "req:calling_pruner",
    "req:respond_pruned",
    "req:responded",
];
const FALLEN_BACK: &[&str] = &[
    "req:received",
    "req:validating",
    "req:executing_tool",
    "req:raw_output_ready",
    "req:prune_check",
    "req:calling_pruner",
    "req:pruner_error_fallback",
    "req:respond_raw",
    "req:responded",
];
const TOOL_ERROR: &[&str] = &["req:received", "req:validating", "req:executing_tool", "req:tool_error"];

/// With white space around it, which must reach the pruner.
const QUESTION: &str = "  why?\n";

fn good() -> Asking {
    Asking::Pruner(json!({"pruned_code": "PRUNED"}))
}

fn cases(place: &Place) -> Vec<Case> {
    let at = |name: &str| place.path().join(name).display().to_string();
    place.write("text.txt", "one\ntwo\n");
    place.write("empty.txt", "");
    place.write("latin.txt", b"caf\xe9\n");
    std::fs::create_dir(place.path().join("sub")).unwrap();
    place.write("sub/inner.txt", "two inside\n");
    place.write("locked.txt", "secret");
    let with_question = |mut arguments: Value| {
        arguments["context_focus_question"] = json!(QUESTION);
        arguments
    };
    let case = |name, asking, tool, arguments, text: &str, sent: Option<&str>, way| Case {
        name,
        asking,
        tool,
        arguments,
        text: text.to_owned(),
        sent: sent.map_or(Sent::Nothing, |text| Sent::Text(text.to_owned())),
        way,
    };
    use Asking::{Absent, Off};
    let read = |path: &str| json!({"file_path": path});
    let bash = |command: &str| json!({"command": command});
    let grep = |pattern: &str, path: &str| json!({"pattern": pattern, "path": path});
    let mut cases = vec![
        // read
        case("read, relative", good(), "read", read("text.txt"), "one\ntwo\n", None, RAW),
        case("read, absolute", good(), "read", read(&at("text.txt")), "one\ntwo\n", None, RAW),
        case("read, dots", good(), "read", read("sub/../text.txt"), "one\ntwo\n", None, RAW),
        case(
            "read, unknown keys",
            good(),
            "read",
            json!({"file_path": "text.txt", "limit": 1}),
            "one\ntwo\n",
            None,
            RAW,
        ),
        case("read, not UTF-8", good(), "read", read("latin.txt"), "caf\u{fffd}\n", None, RAW),
        case("read, empty", good(), "read", read("empty.txt"), "", None, RAW),
        case("read, the null device", good(), "read", read("/dev/null"), "", None, RAW),
        case(
            "read, pruned",
            good(),
            "read",
            with_question(read("text.txt")),
            "PRUNED",
            Some("one\ntwo\n"),
            PRUNED,
        ),
        case(
            "read, empty is eligible",
            good(),
            "read",
            with_question(read("empty.txt")),
            "PRUNED",
            Some(""),
            PRUNED,
        ),
        case(
            "read, an empty question is none",
            good(),
            "read",
            json!({"file_path": "text.txt", "context_focus_question": ""}),
            "one\ntwo\n",
            None,
            RAW,
        ),
        case("read, pruning disabled", Off, "read", with_question(read("text.txt")), "one\ntwo\n", None, RAW),
        case(
            "read, pruner absent",
            Absent,
            "read",
            with_question(read("text.txt")),
            "one\ntwo\n",
            None,
            FALLEN_BACK,
        ),
        case(
            "read, pruned to nothing",
            Asking::Pruner(json!({"text": ""})),
            "read",
            with_question(read("text.txt")),
            "",
            Some("one\ntwo\n"),
            PRUNED,
        ),
        case(
            "read, ENOENT",
            good(),
            "read",
            with_question(read("missing.txt")),
            &format!("Error reading file: ENOENT: no such file or directory, open '{}'", at("missing.txt")),
            None,
            TOOL_ERROR,
        ),
        case(
            "read, a folder",
            good(),
            "read",
            with_question(read("sub")),
            &format!("Error reading file: EISDIR: illegal operation on a directory, read '{}'", at("sub")),
            None,
            TOOL_ERROR,
        ),
        case(
            "read, a device",
            good(),
            "read",
            with_question(read("/dev/zero")),
            "Error reading file: '/dev/zero' is a character device, not a file",
            None,
            TOOL_ERROR,
        ),
        case(
            "read, nothing named",
            good(),
            "read",
            read(""),
            &format!(
                "Error reading file: EISDIR: illegal operation on a directory, read '{}'",
                place.path().display()
            ),
            None,
            TOOL_ERROR,
        ),
        // bash
        case("bash, stdout", good(), "bash", bash("echo out"), "out\n", None, RAW),
        case("bash, stderr", good(), "bash", bash("echo err >&2"), "\n[stderr]\nerr\n", None, RAW),
        case("bash, exit code", good(), "bash", bash("exit 3"), "\n[exit code: 3]", None, RAW),
        case(
            "bash, all three",
            good(),
            "bash",
            bash("printf out; printf err >&2; exit 255"),
            "out\n[stderr]\nerr\n[exit code: 255]",
            None,
            RAW,
        ),
        case("bash, signal", good(), "bash", bash("kill -9 $$"), "\n[exit code: null]", None, RAW),
        case("bash, no output", good(), "bash", bash("true"), "(no output)", None, RAW),
        case(
            "bash, not UTF-8",
            good(),
            "bash",
            bash(r"printf '\xff'; printf '\xfe' >&2"),
            "\u{fffd}\n[stderr]\n\u{fffd}",
            None,
            RAW,
        ),
        case("bash, where it runs", good(), "bash", bash("cat text.txt"), "one\ntwo\n", None, RAW),
        case("bash, nothing to read", good(), "bash", bash("cat"), "(no output)", None, RAW),
        case(
            "bash, a job in the background",
            good(),
            "bash",
            bash("(sleep 3; echo late; echo why >&2) & echo early"),
            "early\nlate\n\n[stderr]\nwhy\n",
            None,
            RAW,
        ),
        case("bash, no command", good(), "bash", bash(""), "(no output)", None, RAW),
        case(
            "bash, pruned with its exit code",
            good(),
            "bash",
            with_question(bash("echo out; echo err >&2; exit 3")),
            "PRUNED",
            Some("out\n\n[stderr]\nerr\n\n[exit code: 3]"),
            PRUNED,
        ),
        // Pruned before the placeholder replaces it: the placeholder itself is never sent.
        case(
            "bash, nothing is eligible",
            good(),
            "bash",
            with_question(bash("true")),
            "PRUNED",
            Some(""),
            PRUNED,
        ),
        case(
            "bash, pruned to nothing",
            Asking::Pruner(json!({"content": ""})),
            "bash",
            with_question(bash("echo out")),
            "(no output)",
            Some("out\n"),
            PRUNED,
        ),
        case(
            "bash, pruner absent",
            Absent,
            "bash",
            with_question(bash("echo out")),
            "out\n",
            None,
            FALLEN_BACK,
        ),
        case(
            "bash, nothing and pruner absent",
            Absent,
            "bash",
            with_question(bash("true")),
            "(no output)",
            None,
            FALLEN_BACK,
        ),
        case("bash, pruning disabled", Off, "bash", with_question(bash("echo out")), "out\n", None, RAW),
        // grep
        // One file is not named, a folder's files are: grep's own way.
        case("grep, matches", good(), "grep", grep("two", "text.txt"), "2:two\n", None, RAW),
        case("grep, a folder", good(), "grep", grep("two", "sub"), "sub/inner.txt:1:two inside\n", None, RAW),
        case(
            "grep, no path",
            good(),
            "grep",
            json!({"pattern": "two inside"}),
            "./sub/inner.txt:1:two inside\n",
            None,
            RAW,
        ),
        case("grep, no matches", good(), "grep", grep("three", "."), "(no matches found)", None, RAW),
        case(
            "grep, no matches are never pruned",
            good(),
            "grep",
            with_question(grep("three", ".")),
            "(no matches found)",
            None,
            RAW,
        ),
        case(
            "grep, pruned",
            good(),
            "grep",
            with_question(grep("one", "text.txt")),
            "PRUNED",
            Some("1:one\n"),
            PRUNED,
        ),
        case(
            "grep, pruner absent",
            Absent,
            "grep",
            with_question(grep("one", "text.txt")),
            "1:one\n",
            None,
            FALLEN_BACK,
        ),
        case(
            "grep, pruning disabled",
            Off,
            "grep",
            with_question(grep("one", "text.txt")),
            "1:one\n",
            None,
            RAW,
        ),
        case(
            "grep, a pattern like an option",
            good(),
            "grep",
            grep("--help", "."),
            "(no matches found)",
            None,
            RAW,
        ),
        case(
            "grep, exit 2",
            good(),
            "grep",
            with_question(grep("x", "missing")),
            "Error: grep: missing: No such file or directory\n",
            None,
            TOOL_ERROR,
        ),
        case(
            "grep, a pattern that is none",
            good(),
            "grep",
            with_question(grep("\\(", ".")),
            "Error: grep: Unmatched ( or \\(\n",
            None,
            TOOL_ERROR,
        ),
    ];
    // Root can read every file.
    if !is_root() {
        let mut permissions = std::fs::metadata(place.path().join("locked.txt")).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0);
        std::fs::set_permissions(place.path().join("locked.txt"), permissions).unwrap();
        let denied = format!("Error reading file: EACCES: permission denied, open '{}'", at("locked.txt"));
        cases.push(case(
            "read, EACCES",
            good(),
            "read",
            with_question(read("locked.txt")),
            &denied,
            None,
            TOOL_ERROR,
        ));
    }
    cases
}

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}

#[test]
fn every_call_answers_as_the_contract_says() {
    let place = Place::new();
    for case in cases(&place) {
        let pruner = match &case.asking {
            Asking::Pruner(answer) => Some(HttpPruner::start(Manners::json(answer))),
            Asking::Off | Asking::Absent => None,
        };
        let mut server = match (&case.asking, &pruner) {
            (Asking::Absent, _) => place.serve_with(&HttpPruner::refusing_url()),
            (_, Some(pruner)) => place.serve_with(&pruner.url),
            _ => place.serve(),
        };
        assert_eq!(server.text(case.tool, case.arguments), case.text, "{}", case.name);
        assert_eq!(server.last_way(), case.way, "{}", case.name);
        let questions = pruner.map_or_else(Vec::new, |pruner| pruner.questions());
        match case.sent {
            Sent::Nothing => assert_eq!(questions, Vec::<Value>::new(), "{}", case.name),
            Sent::Text(code) => {
                assert_eq!(questions, [json!({"code": code, "query": QUESTION})], "{}", case.name);
            }
        }
    }
}

/// Programs that are not there, and those that end in ways that theirs never do, are put into the search path.
#[test]
fn programs_that_fail_are_told_in_their_tools_words() {
    let place = Place::new();
    let bin = place.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let pretend = |name: &str, script: &str| {
        let path = bin.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    let mut command = place.command();
    command.env("PATH", &bin);
    let mut server = Server::start(command);
    let here = place.path().display();
    assert_eq!(
        server.text("bash", json!({"command": "true", "context_focus_question": "q"})),
        format!("Error executing command: cannot start bash in '{here}': ENOENT: no such file or directory")
    );
    assert_eq!(server.last_way(), TOOL_ERROR);
    assert_eq!(
        server.text("grep", json!({"pattern": "x", "context_focus_question": "q"})),
        format!("Error executing grep: cannot start grep in '{here}': ENOENT: no such file or directory")
    );
    assert_eq!(server.last_way(), TOOL_ERROR);
    // The table of grep's exit codes, with what GNU grep never does, too.
    for (script, text, way) in [
        ("echo found; exit 0", "found\n", RAW),
        ("echo found; echo warning >&2; exit 0", "found\n", RAW),
        // A binary file matches: GNU grep says so on stderr alone. To say that nothing was found would be wrong.
        ("echo 'grep: bin: binary file matches' >&2; exit 0", "", RAW),
        ("exit 0", "", RAW),
        ("echo warning >&2; exit 1", "(no matches found)", RAW),
        ("echo trouble >&2; exit 2", "Error: trouble\n", TOOL_ERROR),
        ("echo found; echo trouble >&2; exit 2", "Error: trouble\n", TOOL_ERROR),
        ("echo found; exit 2", "found\n", RAW),
        ("exit 2", "(no matches found)", RAW),
        ("echo trouble >&2; exit 9", "Error: trouble\n", TOOL_ERROR),
        ("echo found; kill -9 $$", "Error: grep was ended by signal 9", TOOL_ERROR),
    ] {
        pretend("grep", script);
        assert_eq!(server.text("grep", json!({"pattern": "x"})), text, "{script}");
        assert_eq!(server.last_way(), way, "{script}");
    }
    // What it is given, and in which order.
    pretend("grep", "printf '%s|' \"$@\"");
    assert_eq!(server.text("grep", json!({"pattern": "-a b"})), "-rn|--color=never|--|-a b|.|");
}

#[test]
fn the_three_fields_are_taken_in_their_order() {
    let place = Place::new();
    place.write("text.txt", "raw");
    for (answer, text) in [
        (json!({"pruned_code": "a", "content": "b", "text": "c"}), "a"),
        (json!({"content": "b", "text": "c"}), "b"),
        (json!({"text": "c", "score": 1}), "c"),
        (json!({"pruned_code": null, "content": ["b"], "text": "c"}), "c"),
        (json!({"pruned_code": {"text": "a"}, "content": "b"}), "b"),
    ] {
        let pruner = HttpPruner::start(Manners::json(&answer));
        let mut server = place.serve_with(&pruner.url);
        let arguments = json!({"file_path": "text.txt", "context_focus_question": "q"});
        assert_eq!(server.text("read", arguments), text, "{answer}");
        let received = pruner.received();
        assert_eq!(received.len(), 1);
        assert_eq!(received[0].line, "POST /prune HTTP/1.1");
        let header = |name: &str| {
            received[0].headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
        };
        assert_eq!(header("content-type"), Some("application/json"));
        assert!(pruner.url.contains(header("host").unwrap()));
    }
}

/// The table of what is wrong with arguments.
#[test]
fn wrong_arguments_are_invalid_params_and_nothing_else() {
    let place = Place::new();
    let mut server = place.serve();
    let wrong_texts = [json!(null), json!(5), json!(true), json!(["x"]), json!({"x": 1}), json!(1.5)];
    let mut calls = Vec::new();
    for (tool, required, optional) in [
        ("read", "file_path", &["context_focus_question"][..]),
        ("bash", "command", &["context_focus_question"]),
        ("grep", "pattern", &["path", "context_focus_question"]),
    ] {
        calls.push(json!({"name": tool, "arguments": {}}));
        calls.push(json!({"name": tool}));
        calls.push(json!({"name": tool, "arguments": {"other": "x"}}));
        for wrong in &wrong_texts {
            calls.push(json!({"name": tool, "arguments": {required: wrong}}));
            for optional in optional {
                calls.push(json!({"name": tool, "arguments": {required: "touch ran", *optional: wrong}}));
            }
        }
        for arguments in [json!([]), json!("x"), json!(5), json!(null)] {
            calls.push(json!({"name": tool, "arguments": arguments}));
        }
    }
    calls.extend([
        json!({"name": "write", "arguments": {}}),
        json!({"name": 5}),
        json!({}),
        json!({"arguments": {}}),
    ]);
    let count = calls.len();
    for params in calls {
        let error = server.request("tools/call", params.clone())["error"].clone();
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(-32602), &json!("Invalid params")),
            "{params}"
        );
    }
    let ways = server.ways();
    assert_eq!(ways.len(), count, "each has a number of its own");
    for way in ways.values() {
        assert_eq!(*way, ["req:received", "req:validating", "req:invalid_request"]);
    }
    assert!(!place.path().join("ran").exists(), "nothing was run");
}
