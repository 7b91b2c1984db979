//! `tamis gain` on scripted sessions, one of which is a loss, and `tamis doctor`, which says so too. What the figures should be
//! is computed by hand in `crates/gain/tests/week.rs`. And `tamis reach`, which says whether it would be worth it.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

#[path = "../../gain/tests/week/logs.rs"]
mod logs;

use std::process::{Command, Output};

use serde_json::{Value, json};

use logs::{LedgerRow, Week};

const BUILD: &str = "prn_aaaaaaaaaaaaaaaaaaaaaa";
const LOST: &str = "prn_dddddddddddddddddddddd";
const MODEL: &str = "claude-sonnet-4-5";

fn cut(prune_id: &str) -> String {
    format!(
        "[tamis cut 2-40: repeats; restore: recover_text or tamis recover {prune_id} 2-40]\nthe last line\n"
    )
}

/// A shell that saves 8,000 tokens, files that cost 2,868 more each than they save, as in the library's test, and a row that is in
/// no log.
fn week(files: u8) -> Week {
    let week = Week::before(jiff::Timestamp::now().as_millisecond(), "home/.claude/projects/p");
    week.add(&LedgerRow::prune(BUILD, 3, "Bash", "hook", Some("claude"), (5000, 1000, 40)));
    let mut log = week.claude("00000000-0000-4000-8000-000000000001", 3, "/w/one");
    log.request(MODEL, 1000, 0, 50).call("c1", "Bash", r#"{"command": "cargo build"}"#);
    log.result("c1", &cut(BUILD)).request(MODEL, 1000, 1200, 20).request(MODEL, 200, 3000, 20).write();

    for file in 0..files {
        let source = format!("prn_{}", char::from(b'e' + file).to_string().repeat(22));
        week.add(&LedgerRow::prune(&source, 2, "Read", "hook", Some("claude"), (1200, 900, 60)));
        week.add(&LedgerRow::recovery(&source, 2, 100));
        let mut log = week.claude(&format!("00000000-0000-4000-8000-0000000001{file:02}"), 2, "/w/two");
        log.request(MODEL, 2000, 0, 40).call("c1", "Read", r#"{"file_path": "/w/two/src/a.rs"}"#);
        log.result("c1", &cut(&source)).request(MODEL, 1000, 2000, 30);
        // 38 tokens in the call, 100 in the result.
        log.call("c2", "Bash", &format!(r#"{{"command": "tamis recover {source}"}}"#))
            .result("c2", &"word ".repeat(80));
        log.request(MODEL, 3300, 3200, 20).write();
    }

    week.add(&LedgerRow::prune(LOST, 1, "Bash", "hook", Some("claude"), (800, 200, 40)));
    week
}

fn tamis(week: &Week, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tamis"))
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", week.folder().join("home"))
        .env("TAMIS_DATA_DIR", week.folder().join("data"))
        .current_dir(week.folder())
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

const LOSS: &str = "in the last seven days, pruning the results of Read in Claude Code cost";
const SWITCH: &str = "tamis config set hook.skip_tools claude:Read";

#[test]
fn gain_and_doctor_report_a_loss_and_how_to_switch_it_off() {
    let week = week(10);
    let gain = tamis(&week, &["gain", "--by", "tool"]);
    assert_eq!(gain.status.code(), Some(0), "{gain:?}");
    let shown = text(&gain);
    // 360 cut and 60 of markers in one request, less the recovery of 138 in it and the request of 3,030 that made it.
    assert!(
        shown.contains(&format!("{LOSS} 28,680 tokens"))
            && shown.contains(&format!("`{SWITCH}` switches it off")),
        "{shown}"
    );
    assert!(shown.contains("not counted: 1 cut of 600 tokens that are in no log"), "{shown}");
    assert!(shown.contains("░") && shown.contains("█"), "{shown}");
    let doctor = tamis(&week, &["doctor"]);
    let found = text(&doctor);
    assert!(
        found.contains(&format!("note     balance: {LOSS}")) && found.contains(&format!("fix: {SWITCH}")),
        "{found}"
    );
    let doctor = tamis(&week, &["doctor", "--json"]);
    let findings: Vec<Value> = serde_json::from_str(&text(&doctor)).unwrap();
    assert!(
        findings.iter().any(|finding| finding["subject"] == "balance" && finding["fix"] == SWITCH),
        "{findings:?}"
    );
}

#[test]
fn a_loss_in_few_results_is_no_reason_to_switch_anything_off() {
    let week = week(8);
    let shown = text(&tamis(&week, &["gain"]));
    assert!(shown.contains(&format!("note: {LOSS} 22,944 tokens")), "{shown}");
    assert!(shown.contains(" (8 results, too few to judge)\n") && !shown.contains(SWITCH), "{shown}");
    let found = text(&tamis(&week, &["doctor"]));
    assert!(!found.contains("balance"), "{found}");
}

#[test]
fn gain_without_any_cut_says_what_to_do() {
    let week = Week::before(jiff::Timestamp::now().as_millisecond(), "home/.claude/projects/p");
    let printed = text(&tamis(&week, &["gain"]));
    let (first, hint) = printed.split_once('\n').unwrap();
    assert!(
        first.starts_with("nothing was cut since ") && first.ends_with(" in a session whose log was found"),
        "{printed}"
    );
    assert_eq!(
        hint,
        "hint: `tamis doctor` checks that your agents are connected; `tamis reach` estimates what pruning would save\n"
    );
}

#[test]
fn gain_prints_whole_figures_as_json() {
    let week = week(1);
    let report: Value =
        serde_json::from_str(&text(&tamis(&week, &["gain", "--by", "tool", "--json"]))).unwrap();
    let figures = |sums: &Value| {
        let tokens = ["cut", "markers", "recovered", "reread"].map(|part| sums[part]["tokens"].clone());
        json!([tokens, sums["net_tokens"], sums["results_cut"], sums["recoveries"]])
    };
    assert_eq!(figures(&report["rows"]["Bash"]), json!([[8080, 80, 0, 0], 8000, 1, 0]));
    assert_eq!(figures(&report["rows"]["Read"]), json!([[360, 60, 3168, 0], -2868, 1, 1]));
    assert_eq!(figures(&report["total"]), json!([[8440, 140, 3168, 0], 5132, 2, 1]));
    let unlinked =
        json!({"prunes": 1, "size_saved": 600, "not_shown": 0, "recoveries": 0, "size_recovered": 0});
    assert_eq!(report["unlinked"], unlinked);
    assert_eq!(report["losses"][0]["switch_off"], SWITCH);
    // The user's prices count instead: 1 USD per token, cached or not.
    let settings = "[trace]\nprices = [\"claude-sonnet-4-5 2026-01-01 1000000 1000000 1000000 1000000\"]\n";
    std::fs::create_dir_all(week.folder().join("home/.config/tamis")).unwrap();
    std::fs::write(week.folder().join("home/.config/tamis/config.toml"), settings).unwrap();
    let report: Value = serde_json::from_str(&text(&tamis(&week, &["gain", "--json"]))).unwrap();
    assert_eq!(report["rows"]["claude"]["net_usd"], json!(5132.0));
    assert_eq!(report["total"]["prices_as_of"], json!(["2026-01-01"]));
    // Nothing since an hour ago.
    let report: Value =
        serde_json::from_str(&text(&tamis(&week, &["gain", "--since", "1h", "--json"]))).unwrap();
    assert_eq!((&report["rows"], &report["unlinked"]["prunes"]), (&json!({}), &json!(0)));
}

/// A session with 25 long outputs, whose requests read this many tokens each.
fn long_outputs(input: u64) -> Week {
    let week = Week::before(jiff::Timestamp::now().as_millisecond(), "home/.claude/projects/p");
    let mut log = week.claude("00000000-0000-4000-8000-000000000009", 1, "/w/one");
    for number in 0..25 {
        let command = format!(r#"{{"command": "cargo build -p part-{number}"}}"#);
        let id = format!("c{number}");
        let output: String = (0..120)
            .map(|step| match step {
                60 => format!("error[E0425]: cannot find value `total_{number}` in this scope\n"),
                step => format!("   Compiling crate-{number}-{step} v1.{step}.0\n"),
            })
            .collect();
        log.request(MODEL, input, 0, 20).call(&id, "Bash", &command).result(&id, &output);
    }
    log.request(MODEL, input, 0, 20).write();
    week
}

#[test]
fn reach_says_whether_it_would_be_worth_it() {
    let small = long_outputs(5_000);
    let shown = text(&tamis(&small, &["reach"]));
    assert!(shown.starts_with("Claude Code: 1 session\n26 requests with 130,000 tokens in all"), "{shown}");
    assert!(
        shown.ends_with(
            "worth it: `tamis setup claude --only hooks` would save 1 % or more of what the model read\n"
        ),
        "{shown}"
    );
    let report: Value = serde_json::from_str(&text(&tamis(&small, &["reach", "--json"]))).unwrap();
    let client = &report["clients"][0];
    let hooks = &client["mechanisms"]["hooks"];
    assert_eq!(
        (&hooks["results"], &hooks["is_worth_it"], &client["verdict"]),
        (&json!(25), &json!(true), &json!("worth_it"))
    );
    assert_eq!(hooks["tokens"], client["result_tokens"], "all of it is reached");
    assert!(hooks["tokens_cut"].as_u64() > Some(10_000), "{report:#}");
    assert_eq!(
        (&client["untouched_tokens"], &client["mechanisms"]["gateway"]["results"]),
        (&json!(0), &json!(0))
    );

    let shown = text(&tamis(&long_outputs(5_000_000), &["reach"]));
    assert!(
        shown.ends_with(
            "not worth it for you: neither hooks nor a gateway would save 1 % of what the model read\n"
        ),
        "{shown}"
    );
    let none = Week::before(0, "home/.claude/projects/p");
    let shown = text(&tamis(&none, &["reach"]));
    assert_eq!(shown, "no sessions of Claude Code, Codex, Gemini CLI or OpenCode were found\n");
}
