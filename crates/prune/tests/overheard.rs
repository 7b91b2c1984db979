//! What may be cut for a goal that an agent did not state.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use tamis_prune::{DEFAULT_THRESHOLD, EngineRequest, PruneLimits, overheard_goal, prune};
use tamis_text::TextKind;

/// The lines that are cut.
fn cut_lines(text: &str, kind: TextKind, goal: &str) -> Vec<String> {
    let limits = PruneLimits {
        threshold: DEFAULT_THRESHOLD,
        max_prune_ratio: 1.0,
        min_keep_lines: 0,
        keep_first_lines: 0,
    };
    let request = EngineRequest { text, goal, kind, limits, marker_bytes: &|_| 30, shown: &[] };
    let lines: Vec<&str> = text.split('\n').collect();
    let cuts = prune(&request, &|| false).unwrap().cuts;
    cuts.iter()
        .flat_map(|cut| lines[cut.first_line - 1..cut.last_line].iter().map(|line| (*line).to_owned()))
        .collect()
}

#[test]
fn of_a_log_only_what_passed_or_repeats_goes() {
    let passed: String =
        (0..40).map(|number| format!("test parser::tests::case_{number}_works ... ok\n")).collect();
    let repeats: String = (0..20).map(|number| format!("worker {number} is alive\n")).collect();
    let once = [
        "web-chat .env written (key: ..., model: small)",
        "ANTHROPIC_API_KEY: ",
        "schema is ready",
        "listening on :3333",
    ];
    let text =
        format!("running 40 tests\n{passed}test result: ok. 40 passed\n{}\n{repeats}done\n", once.join("\n"));
    let goal = overheard_goal(
        "Let me check the logs of the parser.",
        "cargo test",
        "why does the service not answer",
    );
    let cut = cut_lines(&text, TextKind::Logs, &goal);
    assert!(cut.iter().filter(|line| line.ends_with("... ok")).count() > 30, "{cut:?}");
    assert!(cut.iter().all(|line| line.ends_with("... ok") || line.ends_with("is alive")), "{cut:?}");
    assert!(!cut.contains(&"worker 0 is alive".to_owned()), "the first stays");
}

/// What a command prints of files, diffs and lists is no message, however often it repeats.
#[test]
fn printed_lines_stay_although_they_repeat() {
    for (what, line) in [
        ("cat -n", "   427\t    cp = create_checkpoint(ec_db, session_id)"),
        ("code", "\t\treturn workflow.ArtifactRef{}, nil, workflow.Task{}, err"),
        ("an argument", "        selected_session,"),
        ("a field", "  string approval_id = 3;"),
        ("a column of a schema", "    scopes: text(\"scopes\", { mode: \"json\" }).notNull(),"),
        ("grep -n", "go/internal/runtime/process_test.go:862:\tif err := pool.Exec(ctx); err != nil"),
        ("grep -C", "src/db/schema.ts-85-    createdAt: integer(\"created_at\").notNull(),"),
        ("a quoted line", "1884 |         if err != nil and nothing else happened"),
        ("an added line", "+            with suppress(ValueError) as handled"),
        ("a removed line", "-            with suppress(ValueError) as handled"),
        ("find", "./.git/objects/0e/f4da662215ae8516ab1dd05817b70de1f66bab"),
        ("du", "  190271 .entire/metadata/01a00b74-9449-7411-abd4-f0d6378e992b/full.jsonl"),
        ("diff --stat", " .../references/3-revise.md                         |   22 -"),
        ("a table", "T-016  M6    agent  T-015     6      2 cmds: make spec and grep for tools"),
        ("markup", "<td align=\"center\"><picture> passed and nothing else</td>"),
        ("a table that begins with dates", "2026-01-31,0.5,17"),
        ("go test", "ok  \texample.com/shop/cart7\t0.312s"),
    ] {
        // A start that only logs have, and an end that repeats.
        let text = format!(
            "2026-01-31T10:00:00Z INFO starting\n2026-01-31T10:00:01Z INFO started\n{}done\n",
            format!("{line}\n").repeat(30)
        );
        let goal = overheard_goal("Let me look.", "make check", "why does the service not answer");
        assert_eq!(cut_lines(&text, TextKind::Logs, &goal), Vec::<String>::new(), "{what}: {line}");
    }
    for line in [
        "2026-01-31T10:00:00Z INFO  worker  heartbeat 17 of 40",
        "[10:00:01] request 17 was answered",
        "{\"time\":\"2026-08-03T17:24:03Z\",\"level\":\"INFO\",\"msg\":\"request\"}",
        "console warning; message = Called .text() on an HTTP body which is no text.",
    ] {
        let text = format!("starting the service\n{}done\n", format!("{line}\n").repeat(30));
        let goal = overheard_goal("Let me look.", "make check", "why does the service not answer");
        assert!(cut_lines(&text, TextKind::Logs, &goal).len() > 20, "{line}");
    }
}
