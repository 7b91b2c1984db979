//! Past sessions as a person meets them: tables, JSON, errors, and what a log must not do to a terminal.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::{Fixture, Ran, finish};
use serde_json::{Value, json};

const SHOP: &str = "fb3cff44-13ae-41a6-a6df-f287e0552835";
const FORK: &str = "fb3d0000-13ae-41a6-a6df-f287e0552836";
const CODEX: &str = "019a0000-0000-7000-8000-000000000007";

/// A fixture with the logs of three sessions in the agents' own folders.
struct Past {
    fixture: Fixture,
}

fn claude(session: &str, second: u64, kind: &str, message: Value) -> String {
    let mut record = json!({
        "type": kind, "sessionId": session, "uuid": format!("{kind}-{second}"), "cwd": "/work/shop",
        "version": "2.1.0", "timestamp": format!("2026-01-01T21:40:{second:02}.000Z"), "message": message,
    });
    if kind == "assistant" {
        record["requestId"] = json!(format!("req-{}", message_id(&record)));
    }
    format!("{record}\n")
}

fn message_id(record: &Value) -> String {
    record["message"]["id"].as_str().unwrap_or_default().to_owned()
}

fn assistant(session: &str, second: u64, id: &str, part: Value, output: u64) -> String {
    let message = json!({
        "id": id, "role": "assistant", "model": "claude-opus-4-1", "content": [part],
        "usage": {"input_tokens": 100, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 20,
                  "output_tokens": output},
    });
    claude(session, second, "assistant", message)
}

fn shop() -> String {
    [
        claude(SHOP, 1, "user", json!({"role": "user", "content": "mend the parser of prices"})),
        // The same request logged twice, the second time in full.
        assistant(SHOP, 3, "m1", json!({"type": "text", "text": "I will read it."}), 1),
        assistant(
            SHOP,
            4,
            "m1",
            json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/work/shop/prices.rs"}}),
            40,
        ),
        claude(
            SHOP,
            5,
            "user",
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "No such file", "is_error": true}
            ]}),
        ),
        assistant(SHOP, 7, "m2", json!({"type": "text", "text": "It is not there."}), 10),
        claude(SHOP, 9, "user", json!({"role": "user", "content": "look in 日本語 then"})),
    ]
    .concat()
}

fn codex() -> String {
    let line = |second: u64, kind: &str, payload: Value| {
        let time = format!("2026-01-02T08:00:{second:02}.000Z");
        format!("{}\n", json!({"timestamp": time, "type": kind, "payload": payload}))
    };
    [
        line(
            0,
            "session_meta",
            json!({"id": CODEX, "timestamp": "2026-01-02T08:00:00.000Z", "cwd": "/work/bakery", "cli_version": "0.50.0",
                   "originator": "codex_cli_rs", "instructions": null}),
        ),
        line(1, "event_msg", json!({"type": "user_message", "message": "bake the bread"})),
        line(
            1,
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "bake the bread"}]}),
        ),
        line(
            2,
            "response_item",
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Baked."}]}),
        ),
    ]
    .concat()
}

impl Past {
    fn new() -> Past {
        let past = Past { fixture: Fixture::new() };
        past.write(&format!(".claude/projects/-work-shop/{SHOP}.jsonl"), &shop());
        past.write(
            &format!(".codex/sessions/2026/01/02/rollout-2026-01-02T08-00-00-{CODEX}.jsonl"),
            &codex(),
        );
        past
    }

    fn home(&self, path: &str) -> PathBuf {
        self.fixture.folder.path().join("home").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.home(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.fixture.tamis(&[&["trace"], arguments].concat());
        command.env("TZ", "UTC");
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        finish(&mut self.command(arguments), b"")
    }

    /// What a command prints that goes well and has nothing to remark.
    fn said(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        ran.stdout
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        ran.json()
    }
}

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn below_the_head(shown: &str) -> &str {
    shown.split_once("\n\n").unwrap().1
}

#[test]
fn sessions_are_listed_in_a_table_and_as_json() {
    let past = Past::new();
    assert_eq!(
        past.said(&["sessions"]),
        lines(&[
            "ID        PROVIDER     STARTED           TURNS  DURATION  TOKENS  PROJECT       ABOUT",
            "019a0000  codex        2026-01-02 08:00      1        2s       0  /work/bakery  bake the bread",
            "fb3cff44  claude_code  2026-01-01 21:40      2        8s   2,290  /work/shop    mend the parser of prices"
        ])
    );
    let mut narrow = past.command(&["sessions", "--provider", "claude"]);
    narrow.env("COLUMNS", "60");
    assert_eq!(
        finish(&mut narrow, b"").stdout,
        lines(&[
            "ID        STARTED           TURNS  TOKENS  ABOUT",
            "fb3cff44  2026-01-01 21:40      2   2,290  mend the parser…"
        ])
    );
    let listed = past.json(&["sessions"]);
    let session = &listed["sessions"][1];
    assert_eq!(listed["has_more"], false);
    assert_eq!(
        (&session["id"], &session["short_id"], &session["total_tokens"], &session["start_time"]),
        (&json!(SHOP), &json!(&SHOP[..8]), &json!(2290), &json!("2026-01-01T21:40:01Z"))
    );
}

#[test]
fn a_project_is_shortened_only_for_a_screen() {
    let past = Past::new();
    let folder = "/work/a_rather_long_folder_name_for_a_project/shop";
    past.write(
        &format!(".claude/projects/-long/{FORK}.jsonl"),
        &shop().replace(SHOP, FORK).replace("/work/shop", folder),
    );
    assert!(past.said(&["sessions"]).contains(folder));
    let mut narrow = past.command(&["sessions"]);
    let shown = finish(narrow.env("COLUMNS", "200"), b"").stdout;
    assert!(shown.contains("…") && !shown.contains(folder), "{shown}");
}

/// A client that was started and left writes a log without a turn, with or without a time.
#[test]
fn empty_sessions_are_listed_only_when_wanted() {
    let past = Past::new();
    let [noted, summed] =
        ["7d000000", "7e000000"].map(|begin| format!("{begin}-0000-4000-8000-000000000000"));
    let note = json!({
        "type": "system", "subtype": "informational", "content": "hello", "timestamp": "2026-01-03T08:00:00.000Z",
        "sessionId": noted, "uuid": "a", "cwd": "/work/shop", "version": "2"
    });
    past.write(&format!(".claude/projects/-work-shop/{noted}.jsonl"), &format!("{note}\n"));
    let summary = json!({"type": "summary", "summary": "-", "leafUuid": "a"});
    past.write(&format!(".claude/projects/-work-shop/{summed}.jsonl"), &format!("{summary}\n"));
    let listed = |arguments: &[&str]| -> Vec<String> {
        let listed = past.json(arguments);
        let ids =
            listed["sessions"].as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap());
        ids.map(str::to_owned).collect()
    };
    assert_eq!(listed(&["sessions"]), [CODEX, SHOP]);
    assert_eq!(listed(&["sessions", "--limit", "1"]), [CODEX]);
    assert_eq!(listed(&["sessions", "--empty"]), [noted.as_str(), CODEX, SHOP, summed.as_str()]);
    assert!(!past.said(&["sessions"]).contains("7d000000"));
}

#[test]
fn sessions_are_chosen_by_agent_folder_time_and_tokens() {
    let past = Past::new();
    let chosen = |options: &[&str]| -> Vec<String> {
        let listed = past.json(&[&["sessions"], options].concat());
        listed["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let hash = past.json(&["projects"])["projects"][1]["hash"].as_str().unwrap().to_owned();
    for (options, expected) in [
        (&[][..], &[CODEX, SHOP][..]),
        (&["--provider", "codex"], &[CODEX]),
        (&["--project", "/work/shop"], &[SHOP]),
        (&["--project", &hash[..8]], &[SHOP]),
        (&["--since", "2026-01-02"], &[CODEX]),
        (&["--until", "2026-01-01"], &[SHOP]),
        (&["--since", "2026-01-01T21:40:09Z", "--until", "2026-01-02T07:00"], &[SHOP]),
        (&["--since", "1h"], &[]),
        (&["--min-tokens", "2290"], &[SHOP]),
        (&["--max-tokens", "2289"], &[CODEX]),
        (&["--limit", "1"], &[CODEX]),
    ] {
        assert_eq!(chosen(options), expected, "{options:?}");
    }
    // Others may be named instead of the agents' own places, and have an index of their own.
    let logs = past.home(".claude");
    assert_eq!(chosen(&["--logs", logs.to_str().unwrap()]), [SHOP]);
    assert_eq!(chosen(&[]), [CODEX, SHOP]);
    let mut command = past.command(&["sessions", "--json"]);
    command.env("TAMIS_TRACE_LOGS", past.home(".codex/sessions"));
    assert_eq!(finish(&mut command, b"").json()["sessions"][0]["id"], CODEX);
}

#[test]
fn a_session_is_shown_at_four_levels() {
    let past = Past::new();
    assert_eq!(
        past.said(&["turns", "fb3c"]),
        lines(&[
            "TURN  TIME                 DURATION  EVENTS  STEPS  CALLS  FAILED  TOKENS  CONTEXT  SAID",
            "   0  2026-01-01 21:40:01        6s  0-7         2      1       1   2,290    1,120  mend the parser of prices",
            "   1  2026-01-01 21:40:09        0s  8-8         0      0       0       0        0  look in 日本語 then"
        ])
    );
    assert_eq!(
        past.said(&["show", "fb3c"]),
        lines(&[
            "session   fb3cff44-13ae-41a6-a6df-f287e0552835",
            "provider  claude_code",
            "version   2.1.0",
            "project   /work/shop",
            "started   2026-01-01 21:40:01",
            "ended     2026-01-01 21:40:09, after 8s",
            "events    9 in 2 turns, 1 tool call, 1 failed",
            "models    claude-opus-4-1",
            "tokens    2,290",
            "",
            "TURN  TIME                 DURATION  EVENTS  STEPS  CALLS  FAILED  TOKENS  CONTEXT  SAID",
            "   0  2026-01-01 21:40:01        6s  0-7         2      1       1   2,290    1,120  mend the parser of prices",
            "   1  2026-01-01 21:40:09        0s  8-8         0      0       0       0        0  look in 日本語 then"
        ])
    );
    assert_eq!(
        below_the_head(&past.said(&["show", "fb3c", "--level", "turns"])),
        lines(&[
            "turn 0  2026-01-01 21:40:01  event 0",
            "  > mend the parser of prices",
            "    0  Read /work/shop/prices.rs (failed)  (1,160 tokens)",
            "    1  It is not there.  (1,130 tokens)",
            "turn 1  2026-01-01 21:40:09  event 8",
            "  > look in 日本語 then"
        ])
    );
    assert_eq!(
        below_the_head(&past.said(&["show", "fb3c", "--level", "steps", "--from", "1"])),
        lines(&["turn 1  2026-01-01 21:40:09  event 8", "  > look in 日本語 then"])
    );
    let full = past.said(&["show", "fb3c", "--level", "full"]);
    assert!(full.contains("    failed  event 5\n      No such file\n"), "{full}");

    let turns = past.json(&["turns", "fb3c", "--from", "1"]);
    assert_eq!(turns["turns"][0]["user_message"], "look in 日本語 then");
    let summary = past.json(&["show", "fb3c"]);
    assert_eq!(summary["tools"]["Read"]["failed"], 1);
    let steps = past.json(&["show", "fb3c", "--level", "steps"]);
    assert_eq!(steps["session"]["id"], SHOP);
    assert_eq!(steps["turns"].as_array().unwrap().len(), 2);
    assert_eq!(
        steps["turns"][0]["steps"][0]["tools"][0],
        json!({
            "call": {"event_index": 3, "name": "Read", "arguments": {"file_path": "/work/shop/prices.rs"}},
            "result": {"event_index": 5, "content": "No such file", "is_error": true},
        })
    );
}

#[test]
fn arguments_that_select_nothing_are_wrong_usage() {
    let past = Past::new();
    let at = |index: &str| format!("{SHOP}:{index}");
    let [negative, word, float, huge, none] = ["-1", "x", "1.5", "99999999999999999999", ""].map(at);
    for (arguments, expected) in [
        (
            &["sessions", "--limit", "0"][..],
            "invalid value '0' for '--limit <N>': expected a number, 1 or more",
        ),
        (
            &["turns", SHOP, "--limit", "0"],
            "invalid value '0' for '--limit <N>': expected a number, 1 or more",
        ),
        (
            &["search", "a", "--limit", "0"],
            "invalid value '0' for '--limit <N>': expected a number, 1 or more",
        ),
        (&["savings", "--limit", "x"], "invalid value 'x' for '--limit <N>': expected a number, 1 or more"),
        (&["event", &negative], "invalid event index `-1`: expected a number, 0 or more"),
        (&["event", &word], "invalid event index `x`: expected a number, 0 or more"),
        (&["event", &float], "invalid event index `1.5`: expected a number, 0 or more"),
        (&["event", &huge], "invalid event index `99999999999999999999`: expected a number, 0 or more"),
        (&["event", &none], "no event index given"),
        (&["event", SHOP], "no event index given"),
        (
            &["sessions", "--since", "2026-02", "--until", "2026-01"],
            "--until is before --since, so no session can match",
        ),
        (
            &["sessions", "--min-tokens", "5", "--max-tokens", "4"],
            "--max-tokens is less than --min-tokens, so no session can match",
        ),
        (&["sessions", "--since", "2026-13"], "expected a time such as"),
    ] {
        let ran = past.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
    }
    for since in ["2025", "2026-01", "2026-W01", "20260101", "2026-01-01T00"] {
        assert!(!past.said(&["sessions", "--since", since]).is_empty(), "{since}");
    }
}

#[test]
fn what_is_found_can_be_seen_whole() {
    let past = Past::new();
    assert_eq!(
        past.said(&["search", "PRICES"]),
        lines(&[
            "SESSION:EVENT  TIME              TYPE      TEXT",
            "fb3cff44:0     2026-01-01 21:40  User      mend the parser of prices",
            "fb3cff44:3     2026-01-01 21:40  ToolCall  Read {\"file_path\":\"/work/shop/prices.rs\"}"
        ])
    );
    let placed = |options: &[&str]| -> Vec<(String, u64)> {
        let found = past.json(&[&["search"], options].concat());
        let place = |one: &Value| {
            (one["session_id"].as_str().unwrap()[..4].to_owned(), one["event_index"].as_u64().unwrap())
        };
        found["matches"].as_array().unwrap().iter().map(place).collect()
    };
    let shop = |event| ("fb3c".to_owned(), event);
    assert_eq!(placed(&["the parser", "--words"]), [shop(0)]);
    assert_eq!(placed(&["read|bake", "--regex", "--type", "user"]), [("019a".to_owned(), 0)]);
    assert_eq!(placed(&["file", "--failed"]), [shop(5)]);
    assert_eq!(placed(&["file_path", "--type", "ToolCall", "--session", "fb3c"]), [shop(3)]);
    assert_eq!(placed(&["the", "parser"]), [shop(0)], "words are joined");
    assert_eq!(past.run(&["search", "nothing"]).stderr, "no matches\n");
    assert_eq!(
        past.run(&["search", "nothing", "like it"]).stderr,
        "no matches; --words finds the words in any order\n"
    );
    assert_eq!(
        past.said(&["event", "fb3cff44:3"]),
        lines(&[
            "session  fb3cff44-13ae-41a6-a6df-f287e0552835",
            "event    3",
            "time     2026-01-01 21:40:04",
            "type     ToolCall (main)",
            "tool     Read",
            "call     t1",
            "",
            "{",
            "  \"file_path\": \"/work/shop/prices.rs\"",
            "}"
        ])
    );
    assert_eq!(past.said(&["event", "fb3c", "3"]), past.said(&["event", "fb3c:3"]));
    assert_eq!(
        past.json(&["event", "fb3c", "5"])["payload"],
        json!({"content": "No such file", "is_error": true, "call_id": "t1"})
    );
}

#[test]
fn usage_is_explained_report_by_report() {
    let past = Past::new();
    // A copy of the session that went on.
    let copied =
        format!("{}{}", shop(), assistant(FORK, 20, "m3", json!({"type": "text", "text": "On it."}), 5));
    past.write(&format!(".claude/projects/-work-shop/{FORK}.jsonl"), &copied);
    assert_eq!(
        past.said(&["usage", "--by", "session", "--provider", "claude_code"]),
        lines(&[
            "REQUESTS  INPUT  CACHE READ  CACHE WRITE  OUTPUT  (REASONING)  TOTAL     USD  SESSION",
            "       2    200       2,000           40      50            0  2,290  0.0105  fb3cff44",
            "       1    100       1,000           20       5            0  1,125  0.0037  fb3d0000",
            "       3    300       3,000           60      55            0  3,415  0.0143  all",
            "",
            "USD at list prices of 2026-10-09; set trace.prices to use your own"
        ])
    );
    assert_eq!(
        past.said(&["usage", "--explain", "fb3c"]),
        lines(&[
            "session fb3cff44-13ae-41a6-a6df-f287e0552835",
            "EVENT  TIME                 STREAM  INPUT  CACHED  OUTPUT  COUNTED  WHY",
            "    2  2026-01-01 21:40:03  main      100   1,020       1    1,121  the first report of its request",
            "    4  2026-01-01 21:40:04  main      100   1,020      40       39  a later report of the same request; only what it adds counts",
            "    7  2026-01-01 21:40:07  main      100   1,020      10    1,130  the first report of its request",
            "3 reports of 3,411 tokens, of which 2,290 count",
            "",
            "input            200",
            "cache read       2,000",
            "cache write      40",
            "output           50",
            "incl. reasoning  0",
            "total            2,290, as listed: 2,290"
        ])
    );
    let fork = past.json(&["usage", "--explain", "fb3d"]);
    let reasons: Vec<_> = fork["logs"][0]["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|report| report["reason"].clone())
        .collect();
    assert_eq!(reasons[0], "an earlier session's log has the same request");
    assert_eq!((&fork["listed_total"], &fork["agrees"]), (&json!(1125), &json!(true)));
    let days = past.json(&["usage", "--since", "2026-01-01T21:40:20Z"]);
    assert_eq!(days["total"]["tokens"]["total"], 1125, "only requests from then on");
    assert_eq!(past.json(&["usage", "--by", "model"])["rows"][0]["name"], "claude-opus-4-1");
    let listed = past.said(&["sessions", "--limit", "2", "--provider", "claude"]);
    assert!(listed.contains("[fork of fb3cff44] mend the parser"), "{listed}");
}

#[test]
fn usage_has_costs_with_dates_and_says_what_has_no_price() {
    let past = Past::new();
    let cost = past.json(&["usage", "--by", "model"])["total"]["cost"].clone();
    assert_eq!(cost, json!({"usd": 0.0105, "prices_as_of": ["2026-10-09"], "unpriced_tokens": {}}));
    let answer = |model: &str, id: &str| {
        let usage = json!({"input_tokens": 1_000_000, "output_tokens": 10});
        let message = json!({"id": id, "role": "assistant", "model": model, "content": [], "usage": usage});
        claude(FORK, 30, "assistant", message)
    };
    past.write(
        &format!(".claude/projects/-work-shop/{FORK}.jsonl"),
        &(answer("in-house-7b", "m8") + &answer("claude-opus-4-1", "m9")),
    );
    let shown = past.said(&["usage", "--by", "model"]);
    assert!(shown.contains("   -  in-house-7b\n"), "{shown}");
    assert!(shown.contains("  ≥15.01  all\n"), "{shown}");
    assert!(shown.ends_with("\nno price for in-house-7b: 1,000,010 tokens\n"), "{shown}");
    // The user's own prices, from the configuration.
    let own = |price: &str| {
        finish(past.command(&["usage", "--by", "model", "--json"]).env("TAMIS_TRACE_PRICES", price), b"")
    };
    let rows = own("in-house-7b 2026-11-01 0.5 - - 2").json()["rows"].clone();
    let priced =
        rows.as_array().unwrap().iter().find(|row| row["name"] == "in-house-7b").unwrap()["cost"].clone();
    assert_eq!((&priced["usd"], &priced["prices_as_of"]), (&json!(0.50002), &json!(["2026-11-01"])));
    let refused = own("in-house-7b cheap");
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(
        refused
            .stderr
            .starts_with("error: trace.prices from TAMIS_TRACE_PRICES: invalid price `in-house-7b cheap`"),
        "{}",
        refused.stderr
    );
}

#[test]
fn times_may_be_weeks_and_days_by_name() {
    let past = Past::new();
    let sessions = |since: &str| past.run(&["sessions", "--since", since]);
    for since in ["2w", "yesterday", "today"] {
        assert_eq!(
            (sessions(since).code, sessions(since).stdout.contains("fb3cff44")),
            (Some(0), false),
            "{since}"
        );
    }
    assert!(sessions("2000w").stdout.contains("fb3cff44"));
    assert!(past.run(&["sessions", "--until", "yesterday"]).stdout.contains("fb3cff44"));
    assert_eq!(sessions("soon").code, Some(2));
}

/// What a command's help shows, it takes.
#[test]
fn usage_has_no_limits_of_tokens() {
    let past = Past::new();
    assert!(!past.said(&["usage", "--help"]).contains("-tokens"), "usage is a sum over sessions");
    assert_eq!(past.run(&["usage", "--min-tokens", "1"]).code, Some(2));
    assert!(past.said(&["sessions", "--help"]).contains("--min-tokens"));
}

#[test]
fn the_index_says_what_it_holds_and_agrees_with_the_logs() {
    let past = Past::new();
    past.write(".claude/projects/-work-shop/odd.jsonl", "{\"type\": \"hologram\"}\n");
    let odd =
        json!({"type": "hologram", "sessionId": SHOP, "uuid": "x", "timestamp": "2026-01-01T21:41:00Z"});
    past.write(&format!(".claude/projects/-work-shop/{SHOP}.jsonl"), &format!("{odd}\n{{\"torn"));
    let shown = past.json(&["index", "--verify"]);
    let of = |name: &str| {
        shown["providers"].as_array().unwrap().iter().find(|one| one["provider"] == name).cloned()
    };
    assert_eq!(of("claude_code").unwrap()["sessions"], 1);
    assert_eq!(of("codex").unwrap()["logs"], 1);
    assert_eq!(shown["not_understood"][0]["count"], 1);
    assert_eq!(shown["unknown_format"].as_array().unwrap().len(), 1);
    assert_eq!(shown["torn"][0]["pending_bytes"], 6);
    assert_eq!(shown["verified"]["differences"], json!([]));
    assert_eq!(shown["verified"]["logs"], 3);
    let text = past.said(&["index", "--rebuild"]);
    assert!(text.contains("  1 time record: hologram in 1 log of claude_code\n"), "{text}");
    assert!(text.contains("incomplete last line: 1 log\n"), "{text}");
    let empty = Fixture::new();
    let nothing = empty.run(&["trace", "index"], b"").stdout;
    assert!(nothing.contains("no logs found; looked in\n"), "{nothing}");

    // It is among what tamis keeps, and can be erased.
    let kept = past.fixture.run(&["data", "show", "--json"], b"").json();
    assert!(kept["trace"]["bytes"].as_u64().unwrap() > 0);
    let would = past.fixture.run(&["data", "purge", "--trace"], b"");
    assert_eq!(would.code, Some(2));
    assert!(
        would.stderr.starts_with("error: this would erase the index of past sessions\n"),
        "{}",
        would.stderr
    );
    let purged = past.fixture.run(&["data", "purge", "--trace", "--yes"], b"");
    assert_eq!(purged.code, Some(0), "{}", purged.stderr);
    assert!(purged.stderr.starts_with("erased the index of past sessions ("), "{}", purged.stderr);
    assert_eq!(past.fixture.run(&["data", "show", "--json"], b"").json()["trace"]["bytes"], 0);
    assert_eq!(past.json(&["sessions"])["sessions"].as_array().unwrap().len(), 2, "and is built again");
}

#[test]
fn where_no_agent_ever_ran_it_says_where_it_looked() {
    let past = Past { fixture: Fixture::new() };
    let looked = lines(&[
        "no sessions found; looked in",
        "  ~/.claude/projects",
        "  ~/.config/claude/projects",
        "  ~/.codex/sessions",
        "  ~/.codex/archived_sessions",
        "  ~/.gemini/tmp",
        "  ~/.local/share/opencode",
    ]);
    for arguments in
        [&["sessions"] as &[&str], &["projects"], &["usage"], &["savings"], &["search", "anything"]]
    {
        let ran = past.run(arguments);
        // Only a search without a match is like grep's.
        let code = i32::from(arguments[0] == "search");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{arguments:?}");
        assert_eq!(ran.stderr, looked, "{arguments:?}");
    }
    assert!(!past.said(&["index"]).contains("recognised"));
    assert_eq!(past.json(&["sessions"]), json!({"sessions": [], "has_more": false}));

    let past = Past::new();
    let none = past.run(&["sessions", "--provider", "opencode"]);
    assert!(none.stderr.starts_with("no sessions match; "), "{}", none.stderr);
    for (arguments, code) in [
        (&["sessions", "--project", "."][..], 0),
        (&["sessions", "--provider", "opencode"], 0),
        (&["usage", "--project", "."], 0),
        (&["savings", "--project", "."], 0),
        (&["search", "prices", "--project", "."], 1),
        (&["search", "no-such-word"], 1),
        (&["search", "no-such-word", "--json"], 1),
    ] {
        assert_eq!(past.run(arguments).code, Some(code), "{arguments:?}");
    }
}

#[test]
fn what_agents_asked_of_past_sessions_is_counted_and_can_be_erased() {
    let past = Past::new();
    let tamis = |arguments: &[&str]| {
        let mut command = past.fixture.tamis(arguments);
        finish(command.env("COLUMNS", "80"), b"")
    };
    let answer = tamis(&["call", "list_sessions", "{}"]).stdout.trim_end().len();
    assert_ne!(tamis(&["call", "get_turns", "{}"]).code, Some(0));
    let shown = tamis(&["data", "show", "--json"]).json()["trace_tools"].clone();
    assert_eq!((&shown[0]["tool"], &shown[0]["failures"]), (&json!("get_turns"), &json!(1)));
    assert_eq!(
        shown[1],
        json!({
            "tool": "list_sessions", "calls": 1, "failures": 0, "answer_bytes": answer,
            "largest_answer_bytes": answer, "request_bytes": 2, "largest_request_bytes": 2,
        })
    );
    let printed = tamis(&["data", "show"]).stdout;
    assert!(printed.contains("CALLS  FAILED"), "{printed}");
    assert!(printed.lines().any(|line| line.ends_with("  list_sessions")), "{printed}");
    assert_eq!(tamis(&["data", "purge", "--ledger", "--yes"]).code, Some(0));
    assert_eq!(tamis(&["data", "show", "--json"]).json()["trace_tools"], json!([]));
}

#[test]
fn a_diagnosis_and_a_replay_are_readable_on_a_narrow_screen() {
    let past = Past::new();
    let printed = |arguments: &[&str]| {
        let ran = finish(past.command(arguments).env("COLUMNS", "80"), b"");
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        ran.stdout
    };
    let analysis = printed(&["analyze", CODEX]);
    assert!(analysis.starts_with("score "), "{analysis}");
    let replay = printed(&["savings"]);
    assert!(replay.starts_with("estimate from replaying "), "{replay}");
    assert!(replay.contains("\nwould have cut     "), "{replay}");
    assert!(replay.lines().all(|line| line.chars().count() <= 80), "{replay}");
    let by_project = printed(&["usage", "--by", "project"]);
    assert!(by_project.contains("/work/shop"), "{by_project}");
}

#[test]
fn errors_say_what_to_run() {
    let past = Past::new();
    past.write(&format!(".claude/projects/-work-shop/{FORK}.jsonl"), &shop());
    let said = |arguments: &[&str], code: i32| {
        let ran = past.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{arguments:?}: {}", ran.stderr);
        ran.stderr
    };
    assert_eq!(
        said(&["show", "beef"], 1),
        "error: Session not found: beef\n\nhint: `tamis trace sessions` lists the sessions\n"
    );
    assert_eq!(
        said(&["turns", "fb3"], 1),
        "error: Session ID prefix 'fb3' matches 2 sessions. Provide more characters.\n\n\
         hint: give a longer prefix; it matches fb3cff44, fb3d0000\n"
    );
    assert_eq!(
        said(&["event", "fb3c", "99"], 1),
        "error: Event index 99 out of bounds for session fb3cff44 (max: 8)\n\n\
         hint: `tamis trace turns fb3cff44` lists its turns and events\n"
    );
    assert!(said(&["event", "fb3c"], 2).contains("hint: pass it as in `tamis trace event SESSION INDEX`"));
    assert!(said(&["search", "(", "--regex"], 2).starts_with("error: query is not a regular expression"));
    assert!(said(&["search", " "], 2).starts_with("error: query is empty"));
    assert!(said(&["sessions", "--since", "soon"], 2).contains("7d or 12h"));
    assert!(said(&["sessions", "--project", "/nowhere"], 1).contains("hint: `tamis trace projects`"));
    assert!(said(&["sessions", "--provider", "cobol"], 2).contains("claude_code"));
    assert!(
        said(&["sessions", "--logs", "/nowhere/at/all"], 2)
            .starts_with("error: cannot read logs at `/nowhere/at/all`")
    );
}

#[test]
fn secrets_and_escape_sequences_never_reach_the_terminal() {
    let past = Past::new();
    let key = ["ghp", "_", "Zq7Lk2Xv9Rb4Tn8Wc1Yd6Hs3Jf5Pm0Ga2Ke4"].concat();
    let nasty = format!("\u{1b}]0;owned\u{7}\u{1b}[2J with {key} \u{202e}txt.exe\u{9b}31m end");
    let records = [
        claude(FORK, 1, "user", json!({"role": "user", "content": nasty.clone()})),
        assistant(FORK, 2, "n1", json!({"type": "text", "text": nasty.clone()}), 1),
        assistant(
            FORK,
            3,
            "n2",
            json!({"type": "tool_use", "id": "t", "name": "Bash\u{1b}[2J", "input": {"command": nasty.clone(), "password": "tr0ub4dor&3x", "headers": {key.clone(): "as a key"}}}),
            1,
        ),
        claude(
            FORK,
            4,
            "user",
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": nasty}]}),
        ),
    ];
    past.write(&format!(".claude/projects/-evil/{FORK}.jsonl"), &records.concat());
    for arguments in [
        &["sessions"][..],
        &["turns", "fb3d"],
        &["show", "fb3d"],
        &["show", "fb3d", "--level", "turns"],
        &["show", "fb3d", "--level", "steps"],
        &["show", "fb3d", "--level", "full"],
        &["search", "end"],
        &["search", &key[..20]],
        &["event", "fb3d", "0"],
        &["event", "fb3d", "3"],
        &["event", "fb3d", "5"],
        &["analyze", "fb3d"],
        &["savings", "--session", "fb3d"],
        &["index"],
    ] {
        for json in [false, true] {
            let mut command = past.command(arguments);
            if json {
                command.arg("--json");
            }
            let ran = finish(&mut command, b"");
            // A secret is not found.
            let code = i32::from(arguments == ["search", &key[..20]]);
            assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
            let raw = |letter: char| {
                letter != '\n' && (letter.is_control() || ('\u{202a}'..='\u{202e}').contains(&letter))
            };
            assert!(!ran.stdout.contains(raw), "{arguments:?}: {:?}", ran.stdout);
            assert!(!ran.stdout.contains(&key[..12]), "{arguments:?}: {}", ran.stdout);
            assert!(!ran.stdout.contains("tr0ub4dor"), "{arguments:?}: {}", ran.stdout);
        }
    }
    let event = past.said(&["event", "fb3d", "0"]);
    assert!(
        event.ends_with(
            "\n\\x1b]0;owned\\x07\\x1b[2J with [redacted:github-token] \\u{202e}txt.exe\\x9b31m end\n"
        ),
        "{event}"
    );
}

/// Names of folders, models, records and parents may hold secrets as texts do.
#[test]
fn secrets_in_names_are_redacted_in_json() {
    use std::os::unix::ffi::OsStringExt;

    let past = Past { fixture: Fixture::new() };
    let key = ["ghp", "_", "Zq7Lk2Xv9Rb4Tn8Wc1Yd6Hs3Jf5Pm0Ga2Ke4"].concat();
    let folder = format!(".claude/projects/{key}");
    let record = |kind: &str, message: Value| {
        json!({
            "type": kind, "sessionId": FORK, "uuid": kind, "cwd": format!("/work/{key}"), "requestId": "r1",
            "timestamp": "2026-01-01T21:40:01.000Z", "forkedFrom": {"sessionId": key}, "message": message,
        })
    };
    let usage = json!({"input_tokens": 5, "output_tokens": 5});
    let records = [
        record("user", json!({"role": "user", "content": "hello"})),
        record("assistant", json!({"id": "m1", "model": key, "content": "hi", "usage": usage})),
        record(&key, Value::Null),
    ];
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    past.write(&format!("{folder}/{FORK}.jsonl"), &format!("{lines}{{\"torn"));
    past.write(&format!("{folder}/odd.jsonl"), "{\"type\": \"hologram\"}\n");
    let only_unknown = json!({"type": key, "sessionId": SHOP, "uuid": "x"});
    past.write(&format!("{folder}/unknown.jsonl"), &format!("{only_unknown}\n"));
    let not_utf8 = std::ffi::OsString::from_vec(b"\xff.jsonl".to_vec());
    std::fs::write(past.home(&folder).join(not_utf8), "").unwrap();
    for (arguments, pointer) in [
        (&["sessions"][..], "/sessions/0/root_path"),
        (&["sessions"], "/sessions/0/parent"),
        (&["show", "fb3d"], "/root_path"),
        (&["show", "fb3d"], "/parent"),
        (&["show", "fb3d", "--level", "turns"], "/session/root_path"),
        (&["projects"], "/projects/0/root_path"),
        (&["usage", "--by", "project"], "/rows/0/name"),
        (&["usage", "--by", "model"], "/rows/0/name"),
        (&["usage", "--explain", "fb3d"], "/logs/0/reports/0/model"),
        (&["index"], "/not_understood/0/what"),
        (&["index"], "/not_understood/0/logs/0"),
        (&["index"], "/unknown_format/0/log"),
        (&["index"], "/problems/0/log"),
        (&["index"], "/problems/0/problem"),
        (&["index"], "/torn/0/log"),
        (&["index"], "/not_looked_at/0"),
    ] {
        let printed = finish(past.command(arguments).arg("--json"), b"").json();
        let value = printed.pointer(pointer).and_then(Value::as_str);
        let value = value.unwrap_or_else(|| panic!("{arguments:?} {pointer}: {printed}"));
        assert!(value.contains("[redacted:"), "{arguments:?} {pointer}: {value}");
        assert!(!printed.to_string().contains(&key), "{arguments:?}: {printed}");
    }
}

#[test]
fn watching_tells_each_event_as_it_is_written() {
    let past = Past::new();
    for (arguments, expected) in [
        (&["watch", "--session", "fb3c"][..], "21:40:30  fb3cff44:9      User          one more thing"),
        (&["watch", "--json"], "one more thing"),
    ] {
        let mut child =
            past.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
        assert_eq!(errors.next().unwrap().unwrap(), "following 2 logs; press Ctrl-C to stop");
        let message = json!({"role": "user", "content": "one more thing"});
        past.write(&format!(".claude/projects/-work-shop/{SHOP}.jsonl"), &claude(SHOP, 30, "user", message));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        if arguments.contains(&"--json") {
            let event: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(event["payload"]["text"], expected);
            assert_eq!(event["session_id"], SHOP);
        } else {
            assert_eq!(line, expected);
        }
        let interrupt = format!("kill -s INT {}", child.id());
        assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert!(lines.next().is_none());
        assert!(errors.next().is_none());
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let past = Past::new();
    let text = "a line of text\n".repeat(20_000);
    for second in 10..30 {
        let message = json!({"role": "user", "content": text});
        past.write(
            &format!(".claude/projects/-work-shop/{SHOP}.jsonl"),
            &claude(SHOP, second, "user", message),
        );
    }
    for arguments in
        [&["show", "fb3c", "--level", "full"][..], &["show", "fb3c", "--level", "full", "--json"]]
    {
        let mut child =
            past.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr)), (Some(0), "".into()));
    }
}
