//! A week of scripted sessions: their logs, the ledger's rows, and what they saved and cost, computed by hand.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

#[path = "week/logs.rs"]
mod logs;

use std::collections::BTreeMap;

use tamis_gain::{
    GainGrouping, GainLoss, GainOptions, GainPart, GainReport, GainSums, ModelPrices, UnlinkedRows,
};

use logs::{DAY, LedgerRow, Week};

/// 2026-11-15T12:00:00Z.
const NOW: i64 = 1_794_744_000_000;

const BUILD: &str = "prn_aaaaaaaaaaaaaaaaaaaaaa";
const SOURCE: &str = "prn_bbbbbbbbbbbbbbbbbbbbbb";
const TESTS: &str = "prn_cccccccccccccccccccccc";
const LOST: &str = "prn_dddddddddddddddddddddd";
const LARGE: &str = "prn_eeeeeeeeeeeeeeeeeeeeee";
const OLD: &str = "prn_ffffffffffffffffffffff";
const IGNORED: &str = "prn_gggggggggggggggggggggg";

/// A result that was cut, as the model was shown it.
fn cut(prune_id: &str) -> String {
    format!(
        "the first line of it\n[tamis cut 2-40: repeats; restore: recover_text or tamis recover {prune_id} 2-40]\nthe last line of it\n"
    )
}

/// A text of this many tokens.
fn tokens(count: usize) -> String {
    "a recovered line of this text ".repeat(count).chars().take(count * 4).collect()
}

/// Sizes in tokens (before → after, markers), then the requests of each session: input + cached input → output. Prices in USD
/// per million tokens: claude-sonnet-4-5 3.00 input, 0.30 cached, 15.00 output; gpt-5 1.25, 0.125, 10.00.
///
/// | day | session | what happened |
/// | --- | --- | --- |
/// | 6 days ago | Claude Code in /w/one | Bash 5000 → 1000 (40); 1000+0→50, 1000+1200→20, 200+3000→20, compaction, 900+0→20 |
/// | 4 days ago | Claude Code in /w/two | Read 1200 → 900 (60), recovered (138), read again (113): 2000+0→40, 1000+2000→30, 200+3000→20, 100+3300→10 |
/// | 2 days ago | Codex in /w/one | exec_command 2500 → 500 (30): 1000+0→30, 600+900→30, 100+1700→30 |
/// | 1 day ago | Claude Code in /w/one | our `bash` 20000 → 2000 (50), of which Claude Code would have sent 7500: 1000+0→50, 3000+0→50 |
/// | 1 day ago | no log | 800 → 200, and a recovery of 90 |
/// | 1 day ago | Claude Code in /w/one | 700 → 300, which the client did not show |
/// | 20 days ago | Claude Code | before the time that is measured |
fn week() -> Week {
    let week = Week::before(NOW, "logs");
    week.add(&LedgerRow::prune(BUILD, 6, "Bash", "hook", Some("claude"), (5000, 1000, 40)));
    let mut log = week.claude("00000000-0000-4000-8000-000000000001", 6, "/w/one");
    log.request("claude-sonnet-4-5-20250929", 1000, 0, 50).call(
        "c1",
        "Bash",
        r#"{"command": "cargo build"}"#,
    );
    log.result("c1", &cut(BUILD)).request("claude-sonnet-4-5-20250929", 1000, 1200, 20);
    log.request("claude-sonnet-4-5-20250929", 200, 3000, 20).compacts();
    log.request("claude-sonnet-4-5-20250929", 900, 0, 20).write();

    lossy_read(&week);

    week.add(&LedgerRow::prune(TESTS, 2, "Bash", "hook", Some("codex"), (2500, 500, 30)));
    let mut log = week.codex("00000000-0000-4000-8000-000000000003", 2, "/w/one");
    log.call("c1", "exec_command", r#"{"cmd": "cargo test"}"#).request("gpt-5", 1000, 0, 30);
    log.result("c1", &cut(TESTS)).request("gpt-5", 600, 900, 30).request("gpt-5", 100, 1700, 30).write();

    week.add(&LedgerRow::prune(LARGE, 1, "bash", "stdio", Some("claude-code/2.1"), (20_000, 2_000, 50)));
    let mut log = week.claude("00000000-0000-4000-8000-000000000004", 1, "/w/one");
    log.request("claude-sonnet-4-5", 1000, 0, 50).call(
        "c1",
        "mcp__tamis__bash",
        r#"{"command": "cargo doc"}"#,
    );
    log.result("c1", &cut(LARGE)).request("claude-sonnet-4-5", 3000, 0, 50);
    // The client did not use the reply of the hook.
    week.add(
        &LedgerRow::prune(IGNORED, 1, "Bash", "hook", Some("claude"), (700, 300, 40))
            .of_call("00000000-0000-4000-8000-000000000004-c2"),
    );
    log.call("c2", "Bash", r#"{"command": "ls -R"}"#).result("c2", "all of it").write();

    week.add(&LedgerRow::prune(LOST, 1, "Bash", "hook", Some("claude"), (800, 200, 40)));
    week.add(&LedgerRow::recovery(LOST, 1, 90));

    week.add(&LedgerRow::prune(OLD, 20, "Bash", "hook", Some("claude"), (9000, 100, 40)));
    let mut log = week.claude("00000000-0000-4000-8000-000000000005", 20, "/w/one");
    log.request("claude-sonnet-4-5", 1000, 0, 50).call("c1", "Bash", r#"{"command": "cargo build"}"#);
    log.result("c1", &cut(OLD)).request("claude-sonnet-4-5", 3000, 0, 50).write();
    week
}

/// The session of four days ago.
fn lossy_read(week: &Week) {
    week.add(&LedgerRow::prune(SOURCE, 4, "Read", "hook", Some("claude"), (1200, 900, 60)));
    week.add(&LedgerRow::recovery(SOURCE, 4, 100));
    let mut log = week.claude("00000000-0000-4000-8000-000000000002", 4, "/w/two");
    log.request("claude-sonnet-4-5", 2000, 0, 40).call("c1", "Read", r#"{"file_path": "/w/two/src/a.rs"}"#);
    log.result("c1", &cut(SOURCE)).request("claude-sonnet-4-5", 1000, 2000, 30);
    // The name of the argument has 2 tokens, the command 10, the result 100, and what is around a call 1 + 2 × 10 + 5.
    let command = format!(r#"{{"command": "tamis recover {SOURCE}"}}"#);
    log.call("c2", "Bash", &command).result("c2", &tokens(100));
    log.request("claude-sonnet-4-5", 200, 3000, 20);
    // The names of the arguments have 3 and 2 tokens, the path 2, the result 80, and what is around a call 26.
    log.call("c3", "Read", r#"{"file_path": "src/a.rs", "offset": 9}"#).result("c3", &tokens(80));
    log.request("claude-sonnet-4-5", 100, 3300, 10).write();
}

fn measured(grouping: GainGrouping) -> GainReport {
    measured_week(&week(), grouping, "codex:Bash")
}

fn measured_week(week: &Week, grouping: GainGrouping, skipped_tool: &str) -> GainReport {
    let (trace, sieve) = week.open();
    let prices = ModelPrices::with(&[]).unwrap();
    let skipped_tools = vec![skipped_tool.to_owned()];
    let options = GainOptions { since: NOW - 7 * DAY, now: NOW, grouping, skipped_tools };
    let mut report = tamis_gain::measure(&trace, sieve, &prices, &options).unwrap();
    let sums = report.rows.values_mut().chain([&mut report.total]);
    sums.for_each(round);
    for loss in &mut report.losses {
        loss.net_usd = loss.net_usd.map(rounded);
    }
    report
}

/// Millionths of a cent.
fn rounded(usd: f64) -> f64 {
    (usd * 1e8).round() / 1e8
}

fn round(sums: &mut GainSums) {
    let GainSums { cut, markers, recovered, reread, net_usd, .. } = sums;
    for usd in [&mut cut.usd, &mut markers.usd, &mut recovered.usd, &mut reread.usd] {
        *usd = rounded(*usd);
    }
    *net_usd = net_usd.map(rounded);
}

fn part(tokens: u64, cached_tokens: u64, usd: f64) -> GainPart {
    GainPart { tokens, cached_tokens, usd }
}

fn dates(dates: &[&str]) -> std::collections::BTreeSet<String> {
    dates.iter().map(|date| (*date).to_owned()).collect()
}

/// Bash of Claude Code: 5000 - (1000 - 40) = 4040 cut and 40 of markers, in one request at 3.00 and in one at 0.30. The request
/// after the compaction carried neither.
fn bash() -> GainSums {
    GainSums {
        results_cut: 1,
        size_cut: 4040,
        cut: part(8080, 4040, 0.013_332),
        markers: part(80, 40, 0.000_132),
        net_tokens: 8000,
        net_usd: Some(0.0132),
        prices_as_of: dates(&["2026-10-09"]),
        ..GainSums::default()
    }
}

/// Read of Claude Code: 1200 - (900 - 60) = 360 cut and 60 of markers. Of the three requests after it, two did nothing but recover
/// and read again, and would not have been made: all that they read and wrote is a cost, and they saved nothing. The last one
/// carried the cut and the recovery (138) at 0.30, and the second reading (113) at 3.00.
///
/// | | tokens | cached | USD in millionths |
/// | --- | --- | --- | --- |
/// | cut | 360 | 360 | 360 × 0.30 = 108 |
/// | markers | 60 | 60 | 60 × 0.30 = 18 |
/// | recovered | 1000 + 2000 + 30 + 138 = 3168 | 2138 | 1000 × 3.00 + 2138 × 0.30 + 30 × 15 = 4091.4 |
/// | read again | 200 + 3000 + 20 + 113 = 3333 | 3000 | 313 × 3.00 + 3000 × 0.30 + 20 × 15 = 2139 |
/// | net | 360 - 60 - 3168 - 3333 = -6201 | | 108 - 18 - 4091.4 - 2139 = -6140.4 |
fn read() -> GainSums {
    GainSums {
        results_cut: 1,
        recoveries: 1,
        rereads: 1,
        size_cut: 360,
        cut: part(360, 360, 0.000_108),
        markers: part(60, 60, 0.000_018),
        recovered: part(3168, 2138, 0.004_091_4),
        reread: part(3333, 3000, 0.002_139),
        net_tokens: -6201,
        net_usd: Some(-0.006_140_4),
        prices_as_of: dates(&["2026-10-09"]),
        ..GainSums::default()
    }
}

/// Codex: 2500 - (500 - 30) = 2030 cut and 30 of markers, in one request at 1.25 and in one at 0.125.
fn codex() -> GainSums {
    GainSums {
        results_cut: 1,
        size_cut: 2030,
        cut: part(4060, 2030, 0.002_791_25),
        markers: part(60, 30, 0.000_041_25),
        net_tokens: 4000,
        net_usd: Some(0.002_75),
        prices_as_of: dates(&["2026-09-05"]),
        ..GainSums::default()
    }
}

/// Our `bash`: Claude Code would have sent 7500, so 7500 - (2000 - 50) = 5550 cut and 50 of markers, in one request at 3.00.
fn own_bash() -> GainSums {
    GainSums {
        results_cut: 1,
        size_cut: 5550,
        cut: part(5550, 0, 0.016_65),
        markers: part(50, 0, 0.000_15),
        net_tokens: 5500,
        net_usd: Some(0.0165),
        prices_as_of: dates(&["2026-10-09"]),
        ..GainSums::default()
    }
}

fn sum(of: &[GainSums]) -> GainSums {
    let mut sum = GainSums::default();
    for one in of {
        sum.results_cut += one.results_cut;
        sum.recoveries += one.recoveries;
        sum.rereads += one.rereads;
        sum.size_cut += one.size_cut;
        for (part, added) in [
            (&mut sum.cut, one.cut),
            (&mut sum.markers, one.markers),
            (&mut sum.recovered, one.recovered),
            (&mut sum.reread, one.reread),
        ] {
            part.tokens += added.tokens;
            part.cached_tokens += added.cached_tokens;
            part.usd += added.usd;
        }
        sum.net_tokens += one.net_tokens;
        sum.net_usd = Some(sum.net_usd.unwrap_or_default() + one.net_usd.unwrap());
        sum.prices_as_of.extend(one.prices_as_of.clone());
    }
    round(&mut sum);
    sum
}

fn groups<const COUNT: usize>(groups: [(&str, GainSums); COUNT]) -> BTreeMap<String, GainSums> {
    groups.into_iter().map(|(name, sums)| (name.to_owned(), sums)).collect()
}

#[test]
fn a_week_is_measured_as_it_is_computed_by_hand() {
    let report = measured(GainGrouping::Agent);
    assert_eq!(
        report,
        GainReport {
            since: NOW - 7 * DAY,
            by: "agent",
            rows: groups([("claude", sum(&[bash(), read(), own_bash()])), ("codex", codex())]),
            total: sum(&[bash(), read(), codex(), own_bash()]),
            net_tokens_by_day: [
                ("2026-11-09", 8000),
                ("2026-11-11", -6201),
                ("2026-11-13", 4000),
                ("2026-11-14", 5500)
            ]
            .map(|(day, net)| (day.to_owned(), net))
            .into(),
            unlinked: UnlinkedRows {
                prunes: 2,
                size_saved: 600 + 400,
                not_shown: 1,
                recoveries: 1,
                size_recovered: 90
            },
            losses: vec![GainLoss {
                client: "claude",
                tool: Some("Read".into()),
                results_cut: 1,
                net_tokens: -6201,
                net_usd: Some(-0.006_140_4),
                switch_off: "tamis config set hook.skip_tools codex:Bash,claude:Read".into(),
            }],
            rules: report.rules,
        }
    );
    assert_eq!(report.total.net_tokens, 11_299);
}

#[test]
fn the_week_is_grouped_by_project_tool_day_and_model() {
    for (grouping, expected) in [
        (
            GainGrouping::Project,
            groups([("/w/one", sum(&[bash(), codex(), own_bash()])), ("/w/two", read())]),
        ),
        (
            GainGrouping::Tool,
            groups([("Bash", sum(&[bash(), codex()])), ("Read", read()), ("bash", own_bash())]),
        ),
        (
            GainGrouping::Day,
            groups([
                ("2026-11-09", bash()),
                ("2026-11-11", read()),
                ("2026-11-13", codex()),
                ("2026-11-14", own_bash()),
            ]),
        ),
        (
            GainGrouping::Model,
            groups([
                ("claude-sonnet-4-5", sum(&[read(), own_bash()])),
                ("claude-sonnet-4-5-20250929", bash()),
                ("gpt-5", codex()),
            ]),
        ),
    ] {
        assert_eq!(measured(grouping).rows, expected, "{grouping:?}");
    }
}

#[test]
fn a_tool_that_is_switched_off_is_no_loss_any_more() {
    let reported = measured(GainGrouping::Agent);
    for (skipped, is_loss) in
        [("claude:Read", false), ("Read", false), ("codex:Read", true), ("claude:Grep", true)]
    {
        let report = measured_week(&week(), GainGrouping::Agent, skipped);
        let switch_off = format!("tamis config set hook.skip_tools {skipped},claude:Read");
        let losses: Vec<GainLoss> = match is_loss {
            true => reported
                .losses
                .iter()
                .map(|loss| GainLoss { switch_off: switch_off.clone(), ..loss.clone() })
                .collect(),
            false => Vec::new(),
        };
        assert_eq!(report, GainReport { losses, ..reported.clone() }, "{skipped}");
    }
    // The client's only tool: its loss is the client's.
    let week = Week::before(NOW, "logs");
    lossy_read(&week);
    for (skipped, losses) in [("codex:Read", 1), ("claude:Read", 0)] {
        assert_eq!(measured_week(&week, GainGrouping::Agent, skipped).losses.len(), losses, "{skipped}");
    }
}

#[test]
fn what_has_no_time_in_the_log_is_a_cost_all_the_same() {
    let session = |untimed_results: usize, untimed_records: usize| {
        let week = Week::before(NOW, "logs");
        week.add(&LedgerRow::prune(SOURCE, 4, "Read", "hook", Some("claude"), (1200, 900, 60)));
        week.add(&LedgerRow::recovery(SOURCE, 4, 100));
        let mut log = week.claude("00000000-0000-4000-8000-000000000002", 4, "/w/two");
        let result = |log: &mut logs::WeekLog, call: (&str, &str, &str), text: &str| {
            log.request("claude-sonnet-4-5", 1000, 2000, 30)
                .call(call.0, call.1, call.2)
                .result(call.0, text);
            log.untimed(untimed_results);
        };
        result(&mut log, ("c1", "Read", r#"{"file_path": "/w/two/src/a.rs"}"#), &cut(SOURCE));
        let command = format!(r#"{{"command": "tamis recover {SOURCE}"}}"#);
        result(&mut log, ("c2", "Bash", &command), &tokens(100));
        // The ledger has no row for this one.
        result(&mut log, ("c3", "Bash", &command), &tokens(100));
        result(&mut log, ("c4", "Read", r#"{"file_path": "src/a.rs", "offset": 9}"#), &tokens(80));
        log.untimed(untimed_records).request("claude-sonnet-4-5", 100, 3300, 10).write();
        measured_week(&week, GainGrouping::Agent, "")
    };
    let timed = session(0, 0);
    assert_eq!((timed.total.results_cut, timed.total.recoveries, timed.total.rereads), (1, 2, 1));
    assert_eq!(session(1, 0), timed);
    assert_eq!(session(0, usize::MAX), timed);
}

/// Bash of Claude Code: 5000 - (1000 - 40) = 4040 cut and 40 of markers, in this many requests at 3.00.
fn uncached_bash(carriers: u64) -> GainSums {
    let part = |size: u64| part(size * carriers, 0, rounded((size * carriers) as f64 * 3.0 / 1e6));
    GainSums {
        results_cut: 1,
        size_cut: 4040,
        cut: part(4040),
        markers: part(40),
        net_tokens: 4000 * carriers as i64,
        net_usd: Some(rounded(4000.0 * carriers as f64 * 3.0 / 1e6)),
        prices_as_of: dates(&["2026-10-09"]),
        ..GainSums::default()
    }
}

#[test]
fn a_cut_counts_once_however_often_its_marker_is_in_a_log() {
    const FIRST: &str = "00000000-0000-4000-8000-000000000001";
    const CALL: &str = "00000000-0000-4000-8000-000000000001-c1";
    let row = || LedgerRow::prune(BUILD, 6, "Bash", "hook", Some("claude"), (5000, 1000, 40));
    for (row, case) in
        [(row(), "without the id of its call"), (row().of_call(CALL), "with the id of its call")]
    {
        let week = Week::before(NOW, "logs");
        week.add(&row);
        let mut log = week.claude(FIRST, 6, "/w/one");
        log.request("claude-sonnet-4-5", 1000, 0, 50).call("c1", "Bash", r#"{"command": "cargo build"}"#);
        log.result("c1", &cut(BUILD)).request("claude-sonnet-4-5", 2000, 0, 20);
        // It prints what was cut before.
        log.call("c2", "Bash", r#"{"command": "tail notes.txt"}"#).result("c2", &cut(BUILD));
        log.request("claude-sonnet-4-5", 3000, 0, 20).write();
        assert_eq!(measured_week(&week, GainGrouping::Agent, "").total, uncached_bash(2), "{case}");
        // The request of the copy carries it too.
        let mut copy = log.forked("00000000-0000-4000-8000-000000000008");
        copy.request("claude-sonnet-4-5", 4000, 0, 20).write();
        assert_eq!(measured_week(&week, GainGrouping::Agent, "").total, uncached_bash(3), "{case}, copied");
    }
    // Another call's marker, before the call that the row is of.
    let week = Week::before(NOW, "logs");
    week.add(&row().of_call(CALL));
    let mut log = week.claude(FIRST, 6, "/w/one");
    log.request("claude-sonnet-4-5", 1000, 0, 50).call("c0", "Bash", r#"{"command": "tail notes.txt"}"#);
    log.result("c0", &cut(BUILD)).request("claude-sonnet-4-5", 2000, 0, 20);
    log.call("c1", "Bash", r#"{"command": "cargo build"}"#).result("c1", &cut(BUILD));
    log.request("claude-sonnet-4-5", 3000, 0, 20).write();
    assert_eq!(measured_week(&week, GainGrouping::Agent, "").total, uncached_bash(1));
    // Markers of two cuts in one result, by turns.
    let week = Week::before(NOW, "logs");
    week.add(&row());
    week.add(&LedgerRow::prune(TESTS, 6, "Bash", "hook", Some("claude"), (5000, 1000, 40)));
    let mut log = week.claude(FIRST, 6, "/w/one");
    log.request("claude-sonnet-4-5", 1000, 0, 50).call("c1", "Bash", r#"{"command": "cargo build"}"#);
    log.result("c1", &[cut(BUILD), cut(TESTS), cut(BUILD)].concat());
    log.request("claude-sonnet-4-5", 2000, 0, 20).write();
    let expected = sum(&[uncached_bash(1), uncached_bash(1)]);
    assert_eq!(measured_week(&week, GainGrouping::Agent, "").total, expected);
}

#[test]
fn what_codex_shows_of_a_command_later_is_linked_by_the_command() {
    const SESSION: &str = "00000000-0000-4000-8000-000000000003";
    let week = Week::before(NOW, "logs");
    let row = LedgerRow::prune(TESTS, 2, "Bash", "hook", Some("codex"), (2500, 500, 30));
    week.add(&row.of_call("00000000-0000-4000-8000-000000000003-c1"));
    let mut log = week.codex(SESSION, 2, "/w/one");
    log.call("c1", "exec_command", r#"{"cmd": "cargo test"}"#).request("gpt-5", 1000, 0, 30);
    log.result("c1", "Process running with session ID 7");
    log.call("c2", "write_stdin", r#"{"session_id": 7, "chars": ""}"#).request("gpt-5", 1000, 0, 30);
    log.result("c2", &cut(TESTS)).request("gpt-5", 600, 900, 30).request("gpt-5", 100, 1700, 30).write();
    let report = measured_week(&week, GainGrouping::Agent, "");
    assert_eq!((report.total, report.unlinked), (codex(), UnlinkedRows::default()));
}
