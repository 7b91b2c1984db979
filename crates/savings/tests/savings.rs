//! What pruning would have saved and cost, replayed over small sessions with the real engine.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

#[path = "../../trace/tests/session/mod.rs"]
mod session;

use std::ops::ControlFlow;
use std::time::Duration;

use serde_json::{Value, json};
use tamis_logs::discovery::LogLocations;
use tamis_savings::{SavingsOptions, SavingsReport, SavingsSums, SkippedResults};
use tamis_sieve::{MarkerForm, PruneOptions, PruneRequest, Pruned, Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_text::TextKind;
use tamis_trace::{Trace, TraceError};

use session::{ID, Log, Opened};

const QUESTION: &str = "How is the timeout of a request computed?";

/// A file about many things, one of which matches the question.
fn file() -> String {
    let mut text = String::from(
        "fn request_timeout(request: &Request) -> Duration {\n    let base = request.timeout.unwrap_or(DEFAULT_TIMEOUT);\n    base.min(LONGEST_TIMEOUT)\n}\n\n",
    );
    for subject in ["palette", "kerning", "margin", "glyph", "ligature", "baseline", "ornament", "hyphen"] {
        text.push_str(&format!("fn draw_{subject}(canvas: &mut Canvas, {subject}: &Shape) {{\n"));
        for row in 0..30 {
            text.push_str(&format!("    {subject}.corner({row}).stroke(canvas, Colour::Sepia);\n"));
        }
        text.push_str("}\n\n");
    }
    text
}

/// At the default, code stays whole.
const THRESHOLD: f32 = 0.75;

fn sieve() -> Sieve {
    Sieve::new(SieveSettings::without_store(usize::MAX))
}

/// As the product's tools would have answered.
fn pruned(text: &str) -> Pruned {
    let goal = tamis_prune::overheard_goal("", "/w/a.rs", QUESTION);
    let request = PruneRequest {
        text,
        goal: &goal,
        kind: TextKind::detect(text),
        options: PruneOptions {
            threshold: THRESHOLD,
            timeout: Duration::MAX,
            markers: MarkerForm::Short,
            ..PruneOptions::default()
        },
        shown: &[],
    };
    sieve().dry_run(&request, &|| false)
}

/// The first line of the first cut that has enough content.
fn a_cut_line(text: &str) -> (usize, String) {
    let cut = &pruned(text).annotations[0];
    let lines: Vec<&str> = text.split('\n').collect();
    let number = (cut.original_start_line..=cut.original_end_line)
        .find(|number| lines[number - 1].contains(".stroke(canvas"))
        .unwrap();
    (number, lines[number - 1].to_owned())
}

/// As Claude Code shows a file.
fn numbered(text: &str) -> String {
    let line = |(index, line): (usize, &str)| format!("{:>6}→{line}", index + 1);
    text.split('\n').enumerate().map(line).collect::<Vec<_>>().join("\n")
}

fn read_of_the_file() -> Log {
    let mut log = Log::default();
    log.user(QUESTION).call("Read", json!({"file_path": "/w/a.rs"})).gets(&numbered(&file()));
    log
}

fn savings(log: &Log) -> SavingsReport {
    savings_with(log, &SavingsOptions { threshold: THRESHOLD, ..SavingsOptions::default() })
}

fn savings_with(log: &Log, options: &SavingsOptions) -> SavingsReport {
    let Opened { trace, folder, .. } = log.open();
    let estimate =
        || tamis_savings::estimate(&trace, &sieve(), options, &mut |_| ControlFlow::Continue(())).unwrap();
    let savings = estimate();
    let again = estimate();
    assert_eq!(savings, again);
    // It writes nothing but the index.
    let mut names: Vec<_> = std::fs::read_dir(folder.path().join("data"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with("trace"))
        .collect();
    names.sort();
    assert_eq!(names, Vec::<String>::new());
    savings
}

/// The result of the read when nothing of it was needed.
fn unneeded() -> SavingsSums {
    let stats = pruned(&file()).stats;
    assert!(stats.pruned_lines > 5, "{stats:?}");
    let (before, after) = (stats.tokens_est_before as u64, stats.tokens_est_after as u64);
    SavingsSums {
        results: 1,
        results_cut: 1,
        tokens_before: before,
        tokens_after: after,
        tokens_cut: before - after,
        lines: stats.original_lines as u64,
        lines_cut: stats.pruned_lines as u64,
        net_tokens: (before - after) as i64,
        ..SavingsSums::default()
    }
}

#[test]
fn what_was_never_needed_is_saved() {
    let mut log = read_of_the_file();
    // One request reads the result, two more carry it along.
    log.spends(10, 10, 1).spends(10, 10, 1).spends(10, 10, 1);
    let savings = savings(&log);
    let expected = SavingsSums { tokens_not_resent: 2 * unneeded().tokens_cut, ..unneeded() };
    assert_eq!(savings.totals, expected);
    assert_eq!(savings.by_tool.into_iter().collect::<Vec<_>>(), [("Read".to_owned(), expected)]);
    assert_eq!(savings.by_provider.into_iter().collect::<Vec<_>>(), [("claude_code", expected)]);
    assert_eq!((savings.worst.len(), savings.largest.len(), savings.sessions), (0, 1, 1));
}

#[test]
fn a_cut_line_that_was_edited_is_a_cost_and_is_shown() {
    let (number, line) = a_cut_line(&file());
    let mut log = read_of_the_file();
    log.call(
        "Edit",
        json!({"file_path": "/w/a.rs", "old_string": line, "new_string": "    canvas.clear();"}),
    );
    log.gets("done");
    let savings = savings(&log);
    let block = &pruned(&file()).annotations[0];
    let text = file();
    let lines: Vec<&str> = text.split('\n').collect();
    let again =
        lines[block.original_start_line - 1..block.original_end_line].join("\n").len().div_ceil(4) as u64;
    let recovery = 150 + again;
    let cost = SavingsSums {
        results_with_edited_line: 1,
        results_with_needed_line: 1,
        lines_edited: 1,
        recovery_tokens: recovery,
        net_tokens: unneeded().tokens_cut as i64 - recovery as i64,
        needed_share: 1.0 / unneeded().lines_cut as f64,
        ..unneeded()
    };
    assert_eq!(savings.totals, cost);
    let worst = serde_json::to_value(&savings.worst).unwrap();
    assert_eq!(worst[0]["session_id"], ID[..8]);
    assert_eq!(worst[0]["event_index"], 2);
    let needed = json!([{"line": number, "text": line.trim(), "how": "edited", "by_event": 3}]);
    assert_eq!(worst[0]["needed"], needed);
}

#[test]
fn a_line_can_be_needed_in_several_ways() {
    let (_, line) = a_cut_line(&file());
    let part = &line[..line.len() - 3];
    let needs = |step: &dyn Fn(&mut Log)| {
        let mut log = read_of_the_file();
        step(&mut log);
        let totals = savings(&log).totals;
        (totals.lines_edited, totals.lines_quoted)
    };
    let edit = |path: &str, old: &str| json!({"file_path": path, "old_string": old, "new_string": "x"});
    let patch = format!("*** Begin Patch\n*** Update File: a.rs\n@@\n {line}\n+new\n*** End Patch");
    for (tool, input, expected) in [
        ("Edit", edit("/w/a.rs", part), (1, 0)),
        ("Edit", edit("/w/other.rs", &line), (0, 0)),
        ("apply_patch", json!({"input": patch}), (1, 0)),
        ("Bash", json!({"command": format!("grep -n '{}' a.rs", line.trim())}), (0, 1)),
        ("Write", json!({"file_path": "/w/b.rs", "content": format!("{line}\n")}), (0, 1)),
        ("Bash", json!({"command": "ls .stroke(canvas"}), (0, 0)),
    ] {
        let step = |log: &mut Log| {
            log.call(tool, input.clone()).gets("done");
        };
        assert_eq!(needs(&step), expected, "{tool} {input}");
    }
    let quote = format!("The line `{}` draws it.", line.trim());
    let quotes = |log: &mut Log| {
        log.says(&quote);
    };
    assert_eq!(needs(&quotes), (0, 1));
    // A line that the user has pasted is known to the agent from there.
    assert_eq!(needs(&|log| quotes(log.user(&line))), (0, 0));
    // What was quoted and then edited is edited.
    let both = |log: &mut Log| {
        log.says(&quote).call("Edit", edit("a.rs", &line)).gets("done");
    };
    assert_eq!(needs(&both), (1, 0));
}

#[test]
fn what_is_not_put_through_is_counted() {
    let mut log = Log::default();
    log.call("Read", json!({"file_path": "/w/a.rs"})).gets(&file());
    log.user(QUESTION);
    log.call("Read", json!({"file_path": "/w/a.rs"})).gets("small");
    log.call("Bash", json!({"command": "cat a.rs"})).gets(&"a long line\n".repeat(50_000));
    log.call("mcp__tamis__read", json!({"file_path": "/w/a.rs"})).gets(&pruned(&file()).pruned_text);
    log.call("Read", json!({"file_path": "/w/a.rs"})).fails(&file());
    log.call("TodoWrite", json!({})).gets(&file());
    let savings = savings(&log);
    let skipped = SkippedResults {
        too_small: 1,
        too_large: 1,
        already_pruned: 1,
        copies: 0,
        without_goal: 1,
        other: 2,
    };
    assert_eq!((savings.totals, savings.skipped), (SavingsSums::default(), skipped));
}

#[test]
fn a_replay_can_be_broken_off() {
    let Opened { trace, folder: _folder, .. } = read_of_the_file().open();
    let mut seen = Vec::new();
    let broken = tamis_savings::estimate(&trace, &sieve(), &SavingsOptions::default(), &mut |progress| {
        seen.push((progress.sessions, progress.of_sessions, progress.results));
        ControlFlow::Break(())
    });
    assert!(matches!(broken, Err(TraceError::Cancelled)));
    assert_eq!(seen, [(0, 1, 1)]);
}

/// Lines that all match the question, so that the engine keeps them.
fn wanted(numbers: std::ops::Range<usize>) -> String {
    numbers
        .map(|number| {
            format!("    timeout = computed_timeout(request, {number}); // timeout of the request\n")
        })
        .collect()
}

fn needs_of(log: &Log) -> (u64, u64, u64) {
    let totals = savings(log).totals;
    assert_eq!(totals.results_with_needed_line > 0, totals.lines_needed() > 0);
    (totals.lines_edited, totals.lines_quoted, totals.lines_read_again)
}

#[test]
fn what_was_already_shown_is_cut_and_is_a_part_of_its_own() {
    let mut log = Log::default();
    log.user(QUESTION).call("Bash", json!({"command": "sed -n 1,60p a.rs"})).gets(&wanted(0..60));
    log.call("Bash", json!({"command": "sed -n 40,120p a.rs"})).gets(&wanted(39..120));
    let report = savings(&log);
    let without = savings_with(&log, &SavingsOptions { shown_window: Some(0), ..SavingsOptions::default() });
    assert_eq!((without.totals.results, without.totals.lines_cut), (2, 0), "the engine keeps all of it");
    assert_eq!((report.totals.results_cut, report.totals.lines_cut), (1, 21));
    let shown = report.parts["already_shown"];
    let bytes = wanted(39..60).len() as u64;
    assert_eq!((shown.results, shown.lines_cut, shown.lines_needed), (1, 21, 0));
    assert_eq!(shown.tokens_before, (bytes - 1).div_ceil(4));
    assert!(
        shown.tokens_cut > shown.tokens_before / 2 && shown.tokens_cut < shown.tokens_before,
        "{shown:?}"
    );
    let cut: u64 = report.parts.values().map(|part| part.tokens_cut).sum();
    assert_eq!(cut, report.totals.tokens_cut);
    let lines: u64 = report.parts.values().map(|part| part.lines_cut).sum();
    assert_eq!(lines, report.totals.lines_cut);
    assert_eq!(report.largest[0].shown_lines, 21);
    // What was shown and cut, and is read for the third time, was not needed from the cut.
    log.call("Bash", json!({"command": "sed -n 40,60p a.rs"})).gets(&wanted(39..60));
    let totals = savings(&log).totals;
    assert_eq!((totals.lines_needed(), totals.shown_lines_read_again), (0, 21));
}

#[test]
fn only_what_is_still_in_context_counts_as_shown() {
    let shown_lines = |between: &dyn Fn(&mut Log)| {
        let mut log = Log::default();
        log.user(QUESTION).call("Bash", json!({"command": "cat a.rs"})).gets(&wanted(0..60));
        between(&mut log);
        log.call("Bash", json!({"command": "cat a.rs b.rs"})).gets(&wanted(0..60));
        savings(&log).parts.get("already_shown").map_or(0, |part| part.lines_cut)
    };
    assert_eq!(shown_lines(&|_| ()), 60);
    let compacts = |log: &mut Log| {
        log.compacts();
    };
    assert_eq!(shown_lines(&compacts), 0);
    // Once the results before its last five, of which the new one is one, have 15,000 tokens, Claude Code may clear them.
    let others = |count: usize| {
        move |log: &mut Log| {
            for number in 0..count {
                let other = wanted(1_000 * (number + 1)..1_000 * (number + 1) + 250);
                log.call("Other", json!({})).gets(&other);
            }
        }
    };
    assert_eq!(shown_lines(&others(3)), 60);
    assert_eq!(shown_lines(&others(20)), 0);
    // But not as long as each prompt begins with the one before.
    let requests = |is_cached: &'static dyn Fn(u64) -> bool| {
        move |log: &mut Log| {
            for number in 0..16 {
                log.spends(9_000, if is_cached(number) { 9_000 * number } else { 0 }, 100);
                let first = 1_000 * (number as usize + 1);
                log.call("Other", json!({})).gets(&wanted(first..first + 150));
            }
        }
    };
    assert_eq!(shown_lines(&requests(&|_| true)), 60);
    assert_eq!(shown_lines(&requests(&|number| number != 13)), 0);
    // Once the results before its last five have enough tokens, it may clear them, however small the last five are.
    let after = |before: usize, count: usize| {
        let mut log = Log::default();
        log.user(QUESTION);
        others(before)(&mut log);
        log.call("Bash", json!({"command": "cat a.rs"})).gets(&wanted(0..60));
        for number in 0..count {
            log.call("Other", json!({})).gets(&format!("done {number}"));
        }
        log.call("Bash", json!({"command": "cat a.rs b.rs"})).gets(&wanted(0..60));
        savings(&log).parts.get("already_shown").map_or(0, |part| part.lines_cut)
    };
    assert_eq!([after(4, 3), after(4, 4), after(1, 5)], [60, 0, 60]);
}

#[test]
fn a_given_window_replaces_the_clients() {
    let mut log = Log::default();
    log.user(QUESTION);
    for number in 1..5 {
        log.call("Other", json!({})).gets(&wanted(1_000 * number..1_000 * number + 250));
    }
    log.call("Bash", json!({"command": "cat a.rs"})).gets(&wanted(0..60));
    for number in 0..9 {
        log.call("Other", json!({})).gets(&format!("done {number}"));
    }
    log.call("Bash", json!({"command": "cat a.rs b.rs"})).gets(&wanted(0..60));
    let shown = |shown_window: Option<usize>| {
        let report = savings_with(&log, &SavingsOptions { shown_window, ..SavingsOptions::default() });
        report.parts.get("already_shown").map_or(0, |part| part.lines_cut)
    };
    assert_eq!((shown(None), shown(Some(50_000)), shown(Some(0))), (0, 60, 0));
}

#[test]
fn a_cut_range_that_is_read_again_was_needed() {
    let (number, line) = a_cut_line(&file());
    let text = file();
    let range = text.split('\n').skip(number - 1).take(3).collect::<Vec<_>>().join("\n");
    let sed = |file: &str| json!({"command": format!("sed -n '{number},{}p' {file}", number + 2)});
    let needs = |calls: &[(&str, Value, &str)]| {
        let mut log = read_of_the_file();
        for (tool, input, result) in calls {
            log.call(tool, input.clone()).gets(result);
        }
        needs_of(&log)
    };
    let again = (0, 0, 3);
    assert_eq!(needs(&[("Bash", sed("a.rs"), &range)]), again);
    let read = json!({"file_path": "/w/a.rs", "offset": number, "limit": 3});
    assert_eq!(needs(&[("Read", read, &numbered(&range))]), again);
    // Another file with the same lines, or a look at one's own edit, is not.
    assert_eq!(needs(&[("Bash", sed("b.rs"), &range)]), (0, 0, 0));
    let edit = json!({"file_path": "/w/a.rs", "old_string": "nothing of it", "new_string": "x"});
    assert_eq!(needs(&[("Edit", edit, "done"), ("Bash", sed("a.rs"), &range)]), (0, 0, 0));
    // What was read again is known from there.
    let mut log = read_of_the_file();
    log.call("Bash", sed("a.rs")).gets(&range).says(&format!("The line `{}` draws it.", line.trim()));
    assert_eq!(needs_of(&log), again);

    let mut log = Log::default();
    log.user(QUESTION).call("Bash", json!({"command": "make list"})).gets(&file());
    log.call("Bash", json!({"command": "make list"})).gets(&range);
    assert_eq!(needs_of(&log), again, "the same command");
}

#[test]
fn only_what_the_client_would_have_sent_counts() {
    let mut log = Log::default();
    let output: String = (0..4_000).map(|number| format!("a line of output, number {number}\n")).collect();
    log.user(QUESTION).call("Bash", json!({"command": "make"})).gets(&output);
    let totals = savings(&log).totals;
    assert!(output.len() > 100_000 && totals.tokens_before <= 30_000 / 4, "{totals:?}");
    assert!(totals.tokens_before > 29_000 / 4, "{totals:?}");
    assert!(totals.tokens_cut <= totals.tokens_before && totals.lines < 1_100, "{totals:?}");
    // What the client had cut itself was no cut of ours, so reading it later is no need.
    let middle = "a line of output, number 2000";
    log.call("Bash", json!({"command": "make"})).gets(middle).says(middle);
    assert_eq!(needs_of(&log), (0, 0, 0));
}

/// Codex takes turns out of the context when the person goes back, and with them what they had shown.
#[test]
fn what_was_rolled_back_was_not_shown() {
    let shown_lines = |rollback: Option<Value>| {
        let line = |kind: &str, payload: Value| {
            json!({"timestamp": "2026-01-01T10:00:00.000Z", "type": kind, "payload": payload}).to_string()
        };
        let read = |id: &str| {
            let arguments = json!({"cmd": "cat a.rs"}).to_string();
            let output = wanted(0..60);
            [
                line(
                    "response_item",
                    json!({"type": "function_call", "name": "exec_command", "call_id": id, "arguments": arguments}),
                ),
                line(
                    "response_item",
                    json!({"type": "function_call_output", "call_id": id, "output": output}),
                ),
            ]
        };
        let asks = || line("event_msg", json!({"type": "user_message", "message": QUESTION}));
        let mut lines = vec![
            line(
                "session_meta",
                json!({"id": ID, "timestamp": "2026-01-01T10:00:00.000Z", "cwd": "/w", "cli_version": "0.166.0"}),
            ),
            asks(),
        ];
        lines.extend(read("call_1"));
        lines.extend(rollback.map(|payload| line("event_msg", payload)));
        lines.push(asks());
        lines.extend(read("call_2"));
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        std::fs::create_dir(&logs).unwrap();
        std::fs::write(logs.join(format!("rollout-2026-01-01T10-00-00-{ID}.jsonl")), lines.join("\n") + "\n")
            .unwrap();
        let trace = Trace::new(LogLocations::only(vec![logs]), DataDir::at(folder.path().join("data")));
        trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
        let options = SavingsOptions::default();
        let savings =
            tamis_savings::estimate(&trace, &sieve(), &options, &mut |_| ControlFlow::Continue(())).unwrap();
        savings.parts.get("already_shown").map_or(0, |part| part.lines_cut)
    };
    assert_eq!(shown_lines(None), 60);
    assert_eq!(shown_lines(Some(json!({"type": "thread_rolled_back", "num_turns": 1}))), 0);
}
