//! The pages of sessions on small logs: whole answers.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::{Value, json};
use tamis_gain::{ModelPrices, ReachReport};
use tamis_logs::discovery::LogLocations;
use tamis_sieve::{Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_tools::{Services, Sessions, Workbench};
use tamis_trace::Trace;

use crate::{
    Dashboard, DashboardSettings, PageCompareQuery, PageErrorKind, PageEventsQuery, PageSearchQuery,
    PageSessionsQuery,
};

const ONE: &str = "11111111-0000-4000-8000-000000000001";
const TWO: &str = "22222222-0000-4000-8000-000000000002";
const OPENED: &str = "33333333-0000-4000-8000-000000000003";
const SECRET: &str = "ghp_Zq7Lk2Xv9Rb4Tn8WpYc3Hd6Jf1Ms5Vg0AeBi";

/// The records of a session of Claude Code, a second apart.
struct Records {
    id: &'static str,
    lines: Vec<String>,
}

impl Records {
    fn add(&mut self, mut record: Value) {
        let second = 1_700_000_000 + self.lines.len() as i64;
        record["sessionId"] = json!(self.id);
        record["uuid"] = json!(format!("uuid-{}", self.lines.len()));
        record["timestamp"] = json!(jiff::Timestamp::from_second(second).unwrap().to_string());
        record["cwd"] = json!("/home/dev/payments");
        record["version"] = json!("2.0.0");
        self.lines.push(record.to_string());
    }

    fn user(&mut self, text: &str) {
        self.add(json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    fn call(&mut self, name: &str, input: Value, result: &str, failed: bool) {
        let number = self.lines.len();
        let call = json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": input});
        let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 1_000 * number,
            "cache_creation_input_tokens": 0, "output_tokens": 5});
        self.add(json!({"type": "assistant", "requestId": format!("req_{}{number}", self.id), "message":
            {"id": format!("msg_{}{number}", self.id), "type": "message", "role": "assistant",
             "model": "claude-sonnet-4-5", "content": [call], "usage": usage}}));
        let result = json!({"type": "tool_result", "tool_use_id": format!("toolu_{number}"),
            "content": result, "is_error": failed});
        self.add(json!({"type": "user", "message": {"role": "user", "content": [result]}}));
    }
}

fn dashboard(folder: &tempfile::TempDir) -> Dashboard {
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    let mut one = Records { id: ONE, lines: Vec::new() };
    one.user("Fix the <script> in the login page");
    one.call("Bash", json!({"command": "cargo test"}), "2 failed", true);
    one.call("Read", json!({"file_path": "/w/login.rs"}), &format!("token = {SECRET}"), false);
    one.user("and the docs");
    let mut two = Records { id: TWO, lines: Vec::new() };
    two.user("Explain 100% of the ÜBERSICHT");
    two.call("Read", json!({"file_path": "/w/a.rs"}), "fn main() {}", false);
    // Claude Code leaves such a log when it is opened and closed: it has no turn and no request.
    let mut opened = Records { id: OPENED, lines: Vec::new() };
    opened.add(json!({"type": "system", "subtype": "informational", "content": "Welcome"}));
    for records in [one, two, opened] {
        std::fs::write(logs.join(format!("{}.jsonl", records.id)), records.lines.join("\n") + "\n").unwrap();
    }
    let data = DataDir::at(folder.path().join("data"));
    let trace = Arc::new(Trace::new(LogLocations::only(vec![logs]), data));
    trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
    let sieve = Sieve::new(SieveSettings::without_store(1000));
    let services = Services::new(sieve, Workbench::here().unwrap());
    let services = Arc::new(services.with_sessions(move || Sessions::new(trace)));
    let settings = DashboardSettings {
        version: "0",
        prices: ModelPrices::with(&[]).unwrap(),
        clients: Box::new(Vec::new),
        reach: Box::new(|| Ok(ReachReport::default())),
        health: crate::HealthSources::default(),
    };
    Dashboard::new(services, settings)
}

#[test]
fn lists_are_filtered_by_words_failures_clients_and_cut_at_any_place() {
    let folder = tempfile::tempdir().unwrap();
    let dashboard = dashboard(&folder);
    let ids = |query: PageSessionsQuery| -> (u64, Vec<String>) {
        let list = dashboard.sessions(&query).unwrap();
        (list.total, list.rows.into_iter().map(|row| row.id).collect())
    };
    let all = PageSessionsQuery::default();
    assert_eq!(ids(all.clone()), (2, vec![ONE.to_owned(), TWO.to_owned()]));
    assert_eq!(ids(PageSessionsQuery { offset: 1, ..all.clone() }), (2, vec![TWO.to_owned()]));
    assert_eq!(ids(PageSessionsQuery { offset: 7, ..all.clone() }), (2, Vec::new()));
    for (words, found) in [
        ("LOGIN fix", vec![ONE]),
        ("übersicht", vec![TWO]),
        ("100%", vec![TWO]),
        ("1_0", vec![]),
        ("payments", vec![ONE, TWO]),
        ("22222222", vec![TWO]),
        ("login übersicht", vec![]),
    ] {
        let query = PageSessionsQuery { q: words.to_owned(), ..all.clone() };
        assert_eq!(ids(query).1, found, "{words}");
    }
    assert_eq!(ids(PageSessionsQuery { failed: 1, ..all.clone() }).1, [ONE]);
    let tokens = PageSessionsQuery { sort: Some("tokens".to_owned()), ..all.clone() };
    assert_eq!(ids(tokens).1, [ONE, TWO]);
    assert_eq!(ids(PageSessionsQuery { client: Some("codex".to_owned()), ..all.clone() }).0, 0);
    for wrong in [
        PageSessionsQuery { client: Some("vim".to_owned()), ..all.clone() },
        PageSessionsQuery { sort: Some("mood".to_owned()), ..all },
    ] {
        assert_eq!(dashboard.sessions(&wrong).unwrap_err().kind, PageErrorKind::Invalid);
    }
    let row = &dashboard.sessions(&PageSessionsQuery::default()).unwrap().rows[0];
    let figures = (row.turns, row.events, row.tool_calls, row.failed, row.tokens);
    assert_eq!(figures, (2, 8, 2, 1, 4_030));
    assert_eq!(row.model.as_ref().unwrap(), &"claude-sonnet-4-5");
    assert!(row.usd.is_some_and(|usd| usd > 0.0));
    let filters = dashboard.session_filters().unwrap();
    assert_eq!((filters.clients[0].id, filters.clients[0].sessions), ("claude_code", 2));
    assert_eq!(filters.projects[0].root.as_ref().unwrap(), &"/home/dev/payments");
    assert_eq!(filters.projects[0].sessions, 2, "as many as the list has");
}

#[test]
fn lists_have_the_sessions_of_a_time_span() {
    const BEGUN: i64 = 1_700_000_000_000;
    let folder = tempfile::tempdir().unwrap();
    let dashboard = dashboard(&folder);
    // Both begin with the same second; the first lasts five seconds, the second two.
    for (since, until, found) in [
        (None, None, vec![ONE, TWO]),
        (Some(BEGUN + 2_000), None, vec![ONE, TWO]),
        (Some(BEGUN + 2_001), None, vec![ONE]),
        (Some(BEGUN + 5_000), None, vec![ONE]),
        (Some(BEGUN + 5_001), None, vec![]),
        (None, Some(BEGUN), vec![ONE, TWO]),
        (None, Some(BEGUN - 1), vec![]),
        (Some(BEGUN + 3_000), Some(BEGUN + 4_000), vec![ONE]),
    ] {
        let list = dashboard.sessions(&PageSessionsQuery { since, until, ..PageSessionsQuery::default() });
        let ids: Vec<String> = list.unwrap().rows.into_iter().map(|row| row.id).collect();
        assert_eq!(ids, found, "{since:?} {until:?}");
    }
}

#[test]
fn a_session_has_its_turns_an_outline_and_events_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let dashboard = dashboard(&folder);
    let session = dashboard.session("1111").unwrap();
    assert_eq!((session.row.id.as_str(), session.short_id.as_str()), (ONE, "11111111"));
    let turns: Vec<_> =
        session.turns.iter().map(|turn| (turn.first_event, turn.events, turn.failed)).collect();
    assert_eq!(turns, [(0, 7, 1), (7, 1, 0)]);
    let tools: Vec<_> =
        session.tools.iter().map(|tool| (tool.name.as_str(), tool.calls, tool.failed)).collect();
    assert_eq!(tools, [("Bash", 1, 1), ("Read", 1, 0)]);

    let outline = dashboard.session_outline(ONE).unwrap();
    assert_eq!(outline.kinds, "uftxctou");
    let growth: Vec<_> = outline.growth.iter().map(|point| (point.event, point.context)).collect();
    assert_eq!(growth, [(2, 1_010), (5, 3_010)]);
    assert_eq!(dashboard.session_outline(ONE).unwrap(), outline, "read again, from memory");

    let events = dashboard.session_events(ONE, &PageEventsQuery::default()).unwrap();
    assert_eq!((events.total, events.rows.len()), (8, 8));
    let call = &events.rows[1];
    assert_eq!((call.preview.as_str(), call.duration, call.partner), ("cargo test", Some(1_000), Some(3)));
    assert!(call.failed);
    let some = PageEventsQuery { numbers: Some("3,6".to_owned()), ..PageEventsQuery::default() };
    let some = dashboard.session_events(ONE, &some).unwrap().rows;
    assert_eq!(
        some,
        [events.rows[3].clone(), events.rows[6].clone()],
        "the same rows, wherever they are read"
    );
    assert_eq!(some[0].tool.as_ref().unwrap(), &"Bash");
    for (from, rows) in [(6, 2), (8, 0), (u64::MAX, 0)] {
        let query = PageEventsQuery { from, ..PageEventsQuery::default() };
        assert_eq!(dashboard.session_events(ONE, &query).unwrap().rows.len(), rows, "{from}");
    }
    let wrong = PageEventsQuery { numbers: Some("6,3".to_owned()), ..PageEventsQuery::default() };
    assert_eq!(dashboard.session_events(ONE, &wrong).unwrap_err().kind, PageErrorKind::Invalid);

    let event = dashboard.session_event(ONE, 6).unwrap();
    assert_eq!((event.text.as_str(), event.left_out), ("token = [redacted:github-token]", 0));
    assert!(!serde_json::to_string(&events).unwrap().contains(&SECRET[4..20]));
    assert_eq!(dashboard.session_event(ONE, 8).unwrap_err().kind, PageErrorKind::NotFound);
    assert_eq!(dashboard.session("4").unwrap_err().kind, PageErrorKind::NotFound);

    let analysis = dashboard.session_analysis(ONE).unwrap();
    let lost: u64 = analysis.deductions.iter().map(|part| part.points).sum();
    assert_eq!(analysis.score + lost, 100);
    assert!(analysis.insights.iter().any(|insight| insight.lens == "failures"), "{:?}", analysis.insights);
}

#[test]
fn a_search_marks_what_it_found_and_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let dashboard = dashboard(&folder);
    let search = |query: PageSearchQuery| dashboard.search_sessions(&query, &|| false);
    let query = PageSearchQuery { q: "ÜBER".to_owned(), ..PageSearchQuery::default() };
    let found = search(query).unwrap();
    assert_eq!(found.matches.len(), 1);
    let one = &found.matches[0];
    assert_eq!((one.session.as_str(), one.event), (TWO, 0));
    assert_eq!((one.excerpt.as_str(), &one.marks), ("Explain 100% of the ÜBERSICHT", &vec![[20, 24]]));
    assert_eq!((found.next, found.ended_early), (None, false));

    let query = PageSearchQuery { q: "fail|read".to_owned(), ..PageSearchQuery::default() };
    let first = PageSearchQuery { mode: Some("regex".to_owned()), limit: Some(1), ..query };
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = search(PageSearchQuery { after, ..first.clone() }).unwrap();
        seen.extend(page.matches.iter().map(|one| (one.session.clone(), one.event)));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, [(ONE.to_owned(), 3), (ONE.to_owned(), 4), (TWO.to_owned(), 1)]);
    let none = search(PageSearchQuery { q: SECRET.to_owned(), ..PageSearchQuery::default() }).unwrap();
    assert_eq!(none.matches, []);
    let unclosed =
        PageSearchQuery { q: "a(".to_owned(), mode: Some("regex".to_owned()), ..PageSearchQuery::default() };
    assert_eq!(
        search(unclosed).unwrap_err().to_string(),
        "query is not a regular expression: unclosed group"
    );
    for wrong in [
        PageSearchQuery { q: "(".to_owned(), mode: Some("regex".to_owned()), ..PageSearchQuery::default() },
        PageSearchQuery { q: "x".to_owned(), kinds: Some("poem".to_owned()), ..PageSearchQuery::default() },
        PageSearchQuery { q: "x".to_owned(), after: Some("1.2".to_owned()), ..PageSearchQuery::default() },
        PageSearchQuery::default(),
    ] {
        assert_eq!(search(wrong.clone()).unwrap_err().kind, PageErrorKind::Invalid, "{wrong:?}");
    }
}

#[test]
fn two_sessions_are_compared_figure_by_figure() {
    let folder = tempfile::tempdir().unwrap();
    let dashboard = dashboard(&folder);
    let compared =
        dashboard.compare_sessions(&PageCompareQuery { a: ONE.to_owned(), b: TWO.to_owned() }).unwrap();
    let figures =
        compared.sides.each_ref().map(|side| (side.requests, side.tokens.total, side.largest_context));
    assert_eq!(figures, [(2, 4_030, 3_010), (1, 1_015, 1_010)]);
    assert!(compared.sides[0].score < compared.sides[1].score);
    let tools: Vec<_> = compared.tools.iter().map(|tool| (tool.name.as_str(), tool.calls)).collect();
    assert_eq!(tools, [("Bash", [1, 0]), ("Read", [1, 1])]);
}
