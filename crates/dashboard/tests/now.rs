//! The page Now and the calls of the live connection, over logs that are written here.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tamis_dashboard::{
    Dashboard, DashboardSettings, HealthSources, LiveMessage, LiveSink, NowActivity, NowQuery, NowSession,
    NowState, PageSessionsQuery,
};
use tamis_gain::{ModelPrices, ReachReport};
use tamis_logs::discovery::LogLocations;
use tamis_sieve::{Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_tools::{Services, Sessions, Workbench};
use tamis_trace::Trace;
use tempfile::TempDir;

const ONE: &str = "11111111-0000-4000-8000-000000000001";
const TWO: &str = "22222222-0000-4000-8000-000000000002";
const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

struct Fixture {
    folder: TempDir,
    dashboard: Dashboard,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let dashboard = dashboard(&folder);
        Fixture { folder, dashboard }
    }

    fn append(&self, name: &str, records: &[Value]) {
        let path: PathBuf = self.folder.path().join("logs/-work-shop").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        file.write_all(lines.as_bytes()).unwrap();
    }

    fn rows(&self) -> Vec<NowSession> {
        self.dashboard.now(NowQuery::default()).unwrap().sessions
    }
}

/// Like a server that starts on the same data.
fn dashboard(folder: &TempDir) -> Dashboard {
    let locations = LogLocations::only(vec![folder.path().join("logs")]);
    let trace = Arc::new(Trace::new(locations, DataDir::at(folder.path().join("data"))));
    let services = Services::new(Sieve::new(SieveSettings::without_store(1000)), Workbench::here().unwrap())
        .with_sessions(move || Sessions::new(trace));
    let settings = DashboardSettings {
        version: "0.0.0",
        prices: ModelPrices::with(&[]).unwrap(),
        clients: Box::new(Vec::new),
        reach: Box::new(|| Ok(ReachReport::default())),
        health: HealthSources::default(),
    };
    Dashboard::new(Arc::new(services), settings)
}

fn ago(seconds: i64) -> String {
    let at = Timestamp::now().as_millisecond() - seconds * 1000;
    Timestamp::from_millisecond(at).unwrap().to_string()
}

fn user(session: &str, seconds: i64, content: &Value) -> Value {
    json!({
        "type": "user", "sessionId": session, "uuid": format!("u{seconds}"), "cwd": "/work/shop", "version": "2.0.0",
        "timestamp": ago(seconds), "message": {"role": "user", "content": content},
    })
}

/// An answer of the model, which read 50,000 tokens.
fn answer(session: &str, seconds: i64, model: &str, content: &Value) -> Value {
    json!({
        "type": "assistant", "sessionId": session, "uuid": format!("a{seconds}"), "cwd": "/work/shop", "version": "2.0.0",
        "timestamp": ago(seconds), "requestId": format!("req_{session}_{seconds}"),
        "message": {
            "id": format!("msg_{session}_{seconds}"), "role": "assistant", "model": model, "content": [content],
            "usage": {"input_tokens": 50_000, "output_tokens": 100},
        },
    })
}

fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn result(id: &str, failed: bool) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": "text", "is_error": failed}])
}

fn state_of(row: &NowSession) -> NowState {
    let now = Timestamp::now().as_millisecond();
    row.phases.iter().rfind(|phase| phase.from <= now).unwrap().state
}

#[test]
fn what_a_session_does_follows_from_the_end_of_its_log() {
    let opus = "claude-opus-4-1";
    let message = json!({"type": "text", "text": "Done."});
    let bash = call("c1", "Bash", &json!({"command": "make"}));
    let edit = call("c1", "Edit", &json!({"file_path": "/work/shop/a.rs"}));
    let ask = call("c1", "AskUserQuestion", &json!({"questions": [{"question": "Which?"}]}));
    type Case<'c> = (&'c str, i64, Vec<Value>, NowState, NowActivity, Option<&'c str>);
    let cases: Vec<Case<'_>> = vec![
        ("prompt", 30, vec![user(ONE, 30, &json!("go"))], NowState::Working, NowActivity::Thinking, None),
        ("no answer", 700, vec![user(ONE, 700, &json!("go"))], NowState::Idle, NowActivity::Thinking, None),
        (
            "answer",
            30,
            vec![answer(ONE, 30, opus, &message)],
            NowState::Waiting,
            NowActivity::Message,
            Some("Done."),
        ),
        (
            "old answer",
            4000,
            vec![answer(ONE, 4000, opus, &message)],
            NowState::Idle,
            NowActivity::Message,
            Some("Done."),
        ),
        (
            "command",
            30,
            vec![answer(ONE, 30, opus, &bash)],
            NowState::Working,
            NowActivity::Call,
            Some("make"),
        ),
        (
            "long command",
            300,
            vec![answer(ONE, 300, opus, &bash)],
            NowState::MaybeWaiting,
            NowActivity::Call,
            Some("make"),
        ),
        (
            "edit",
            30,
            vec![answer(ONE, 30, opus, &edit)],
            NowState::MaybeWaiting,
            NowActivity::Call,
            Some("/work/shop/a.rs"),
        ),
        (
            "question",
            300,
            vec![answer(ONE, 300, opus, &ask)],
            NowState::Waiting,
            NowActivity::Question,
            Some("Which?"),
        ),
        (
            "result",
            30,
            vec![answer(ONE, 40, opus, &bash), user(ONE, 30, &result("c1", false))],
            NowState::Working,
            NowActivity::Thinking,
            None,
        ),
        (
            "interrupted",
            30,
            vec![
                answer(ONE, 40, opus, &bash),
                user(ONE, 30, &json!("[Request interrupted by user for tool use]")),
            ],
            NowState::Waiting,
            NowActivity::Interrupted,
            None,
        ),
    ];
    std::thread::scope(|scope| {
        for (name, _, records, state, activity, text) in cases {
            scope.spawn(move || {
                let fixture = Fixture::new();
                fixture.append(&format!("{ONE}.jsonl"), &records);
                let rows = fixture.rows();
                let row = &rows[0];
                let found =
                    (state_of(row), row.doing.activity, row.doing.text.as_ref().map(|text| text.as_str()));
                assert_eq!(found, (state, activity, text), "{name}: {row:?}");
            });
        }
    });
}

#[test]
fn a_row_has_the_whole_family_and_no_secret() {
    let fixture = Fixture::new();
    let model = "claude-sonnet-4-5-20250929";
    let export = call("c1", "Bash", &json!({"command": format!("export TOKEN={SECRET}")}));
    fixture.append(
        &format!("{ONE}.jsonl"),
        &[
            user(ONE, 100, &json!(format!("use {SECRET}"))),
            answer(ONE, 90, model, &export),
            user(ONE, 80, &result("c1", true)),
        ],
    );
    let mut inner = answer(ONE, 50, "unheard-of", &json!({"type": "text", "text": "found"}));
    inner["isSidechain"] = json!(true);
    inner["agentId"] = json!("abc");
    fixture.append(&format!("{ONE}/subagents/agent-abc.jsonl"), &[inner]);
    let rows = fixture.rows();
    let [row] = &rows[..] else { panic!("{rows:?}") };
    let context = row.context.unwrap();
    assert_eq!((context.tokens, context.window, context.above), (50_000, Some(200_000), None));
    assert_eq!((row.subagents, row.tokens, row.calls, row.failed_calls), (1, 100_200, 1, 1));
    assert_eq!(row.model.as_ref().unwrap().as_str(), model);
    // 50,000 tokens at 3 USD and 100 at 15 USD per million.
    assert!((row.usd.unwrap() - 0.1515).abs() < 1e-9, "{:?}", row.usd);
    assert_eq!(row.unpriced.iter().map(|model| model.as_str()).collect::<Vec<_>>(), ["unheard-of"]);
    assert_eq!((row.project.as_ref().unwrap().as_str(), row.client), ("shop", "claude_code"));
    let now = Timestamp::now().as_millisecond();
    assert!((now - 60_000..now - 40_000).contains(&row.last_activity));
    let missed = fixture.dashboard.missed_calls(None).unwrap();
    let all = serde_json::to_string(&(rows, missed.calls)).unwrap();
    assert!(!all.contains(SECRET), "{all}");
}

#[test]
fn a_session_in_which_nothing_happened_is_no_row() {
    let fixture = Fixture::new();
    let mut opened = user(ONE, 30, &json!(""));
    opened["type"] = json!("system");
    opened["subtype"] = json!("informational");
    opened["content"] = json!("Welcome");
    fixture.append(&format!("{ONE}.jsonl"), &[opened]);
    fixture.append(&format!("{TWO}.jsonl"), &[user(TWO, 30, &json!("go"))]);
    let ids: Vec<_> = fixture.rows().into_iter().map(|row| row.id).collect();
    assert_eq!(ids, [TWO]);
}

#[test]
fn figures_and_lists_are_whole_once_the_logs_are_read() {
    const SESSIONS: u64 = 4000;
    let fixture = Fixture::new();
    for number in 0..SESSIONS {
        let id = format!("{number:08x}-0000-4000-8000-000000000000");
        let said = answer(&id, 30, "claude-opus-4-1", &json!({"type": "text", "text": "Done."}));
        fixture.append(&format!("{id}.jsonl"), &[user(&id, 40, &json!("go")), said]);
    }
    let dashboard = &fixture.dashboard;
    let query = PageSessionsQuery::default();
    let since = Some(Timestamp::now().as_millisecond() - 3_600_000);
    let begun = std::time::Instant::now();
    loop {
        let list = dashboard.sessions(&query).unwrap();
        let page = dashboard.now(NowQuery { since, hours: Some(1) }).unwrap();
        if !list.is_indexing {
            assert_eq!(list.total, SESSIONS);
        }
        if let Some(spent) = page.figures.spent {
            assert_eq!(spent.requests, SESSIONS);
            break;
        }
        assert!(page.figures.is_computing && begun.elapsed() < Duration::from_secs(60), "{:?}", page.figures);
        std::thread::sleep(Duration::from_millis(10));
    }
    let counted = dashboard.session_filters().unwrap().clients[0].sessions;
    assert_eq!(counted, SESSIONS);
}

#[test]
fn a_result_finds_the_call_that_was_made_before_sessions_were_followed() {
    let fixture = Fixture::new();
    let log = format!("{TWO}.jsonl");
    let make = call("c1", "Bash", &json!({"command": "make"}));
    fixture.append(&log, &[user(TWO, 20, &json!("go")), answer(TWO, 10, "claude-opus-4-1", &make)]);
    fixture.rows();
    let (sent, is_ready) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let is_sent = || sent.lock().iter().any(|message| matches!(message, LiveMessage::Call(_)));
    let begun = std::time::Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            fixture.dashboard.follow_sessions(&LiveSink {
                ready: &|| is_ready.store(true, Ordering::Relaxed),
                send: &|message| sent.lock().push(message),
                is_ended: &|| is_sent() || begun.elapsed() > Duration::from_secs(10),
            });
        });
        while !is_ready.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(10));
        }
        fixture.append(&log, &[user(TWO, 0, &result("c1", true))]);
    });
    let sent = sent.lock();
    let result = sent.iter().find_map(|message| match message {
        LiveMessage::Call(call) => Some(call),
        _ => None,
    });
    let found = result
        .map(|call| (call.is_result, call.failed, call.of, call.argument.as_ref().map(|text| text.as_str())));
    assert_eq!(found, Some((true, true, Some(1), Some("make"))));
}

#[test]
fn calls_are_sent_once_and_missed_ones_are_made_up_for() {
    let fixture = Fixture::new();
    let log = format!("{TWO}.jsonl");
    let opus = "claude-opus-4-1";
    let run = |number: i64| {
        let bash = call(&format!("c{number}"), "Bash", &json!({"command": format!("step {number}")}));
        [
            answer(TWO, 10 - number, opus, &bash),
            user(TWO, 10 - number, &result(&format!("c{number}"), number == 3)),
        ]
    };
    fixture.append(&log, &[user(TWO, 20, &json!("go"))]);
    fixture.append(&log, &run(1));
    let (sent, is_ended, is_ready) = (Mutex::new(Vec::new()), AtomicBool::new(false), AtomicBool::new(false));
    let wait = |until: &dyn Fn() -> bool| {
        for _ in 0..1000 {
            if until() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{:?}", sent.lock());
    };
    let calls_of = |messages: &[LiveMessage]| -> Vec<_> {
        let call = |message: &LiveMessage| match message {
            LiveMessage::Call(call) => {
                let argument = call.argument.as_ref().map(|text| text.to_string());
                Some((call.is_result, call.failed, argument))
            }
            _ => None,
        };
        messages.iter().filter_map(call).collect()
    };
    let pair = |number: i64| {
        let argument = Some(format!("step {number}"));
        [(false, false, argument.clone()), (true, number == 3, argument)]
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            fixture.dashboard.follow_sessions(&LiveSink {
                ready: &|| is_ready.store(true, Ordering::Relaxed),
                send: &|message| sent.lock().push(message),
                is_ended: &|| is_ended.load(Ordering::Relaxed),
            });
        });
        wait(&|| is_ready.load(Ordering::Relaxed));
        fixture.append(&log, &run(2));
        wait(&|| sent.lock().iter().any(|message| matches!(message, LiveMessage::Session(_))));
        assert_eq!(calls_of(&sent.lock()), pair(2));
        is_ended.store(true, Ordering::Relaxed);
    });
    // While no server runs.
    fixture.append(&log, &run(3));
    let later = dashboard(&fixture.folder);
    let (now, mut missed) = (Timestamp::now().as_millisecond(), Vec::new());
    for _ in 0..1000 {
        // Has the logs read, beside the request.
        later.now(NowQuery::default()).unwrap();
        missed = later.missed_calls(Some(now)).unwrap().calls;
        if missed.len() == 6 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let missed: Vec<_> = missed.into_iter().map(LiveMessage::Call).collect();
    assert_eq!(calls_of(&missed), [pair(1), pair(2), pair(3)].concat(), "those of the last minute");
}
