//! Lists: sessions, projects, turns; pages, filters, fields.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{Fixture, Log, START, call, secret, small, watched};

const ID: &str = "fb3cff44-13ae-41a6-a6df-f287e0552835";

#[test]
fn a_session_is_listed_with_all_fields_of_the_contract() {
    let fixture = Fixture::new(&[small(ID, START)]);
    let answer = fixture.ask("list_sessions", json!({}));
    let session = json!({
        "id": "fb3cff44",
        "project_hash": "dcf6a4a8d7ba1ef6c3e3cb0ee3e0b2c4",
        "provider": "claude_code",
        "start_time": "2026-01-01T21:40:05Z",
        "end_time": "2026-01-01T21:40:15Z",
        "snippet": "Fix the build",
        "turn_count": 2,
        "duration_seconds": 10,
        "total_tokens": 660,
        "failed_tools": 1,
        "model": "claude-test",
    });
    let mut listed = answer["data"]["sessions"][0].clone();
    let hash = listed["project_hash"].as_str().unwrap().to_owned();
    assert_eq!(hash.len(), 64);
    listed["project_hash"] = session["project_hash"].clone();
    assert_eq!(listed, session);
    assert_eq!(answer["data"]["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(answer["pagination"], json!({"total_in_page": 1, "next_cursor": null, "has_more": false}));
    assert_eq!(answer["hint"], "Use get_session_details(id, detail_level='summary') for turn breakdown");
    assert_eq!(answer["rate_limit"], json!({"limit": 120, "remaining": 119, "reset_seconds": 1}));

    let projects = fixture.ask("get_project_info", json!({}));
    assert_eq!(
        projects["data"],
        json!({"projects": [{
            "hash": hash,
            "root_path": "/home/dev/project",
            "session_count": 1,
            "last_activity": "2026-01-01T21:40:15Z",
        }]})
    );
}

#[test]
fn turns_are_listed_with_their_totals() {
    let fixture = Fixture::new(&[small(ID, START)]);
    let answer = fixture.ask("list_turns", json!({"session_id": "fb3c"}));
    assert_eq!(answer["data"]["session_id"], ID);
    let first = json!({
        "turn_index": 0,
        "timestamp": "2026-01-01T21:40:05Z",
        "user_message": "Fix the build",
        "step_count": 3,
        "tool_calls": 2,
        "failed_tools": 1,
        "outcome": "partial",
        "duration_seconds": 6,
        "tokens": {"total": 440, "input": 400, "output": 40, "cache_read": 120, "cache_creation": 40, "reasoning": 0},
        "largest_context": 100,
        "first_event": 0,
        "event_count": 11,
    });
    assert_eq!(answer["data"]["turns"][0], first);
    assert_eq!(answer["pagination"]["total_in_page"], 2);
    let failed =
        fixture.ask("list_turns", json!({"session_id": ID, "only_failed": true, "fields": ["turn_index"]}));
    assert_eq!(failed["data"]["turns"], json!([{"turn_index": 0}]));
    let cheap =
        fixture.ask("list_turns", json!({"session_id": ID, "max_tokens": 300, "fields": ["turn_index"]}));
    assert_eq!(cheap["data"]["turns"], json!([{"turn_index": 1}]));
}

#[test]
fn filters_keep_only_matching_sessions() {
    let day = 24 * 60 * 60 * 1000;
    let fixture = Fixture::new(&[
        small("aaaaaaaa-0000-4000-8000-000000000000", START),
        Log::new("bbbbbbbb-0000-4000-8000-000000000000", START + day)
            .in_project("/elsewhere")
            .user("hello")
            .say("hi"),
    ]);
    let ids = |arguments: Value| -> Vec<String> {
        let mut arguments = arguments;
        arguments["fields"] = json!(["id"]);
        let answer = fixture.ask("list_sessions", arguments);
        let sessions = answer["data"]["sessions"].as_array().unwrap().clone();
        sessions.iter().map(|session| session["id"].as_str().unwrap()[..1].to_owned()).collect()
    };
    assert_eq!(ids(json!({})), ["b", "a"]);
    assert_eq!(ids(json!({"limit": 1, "cursor": null})), ["b"]);
    assert_eq!(ids(json!({"since": "2026-01-02"})), ["b"]);
    assert_eq!(ids(json!({"until": "2026-01-01"})), ["a"]);
    assert_eq!(ids(json!({"until": "2026-01-01T21:40:04Z"})), Vec::<String>::new());
    assert_eq!(ids(json!({"min_tokens": 200})), ["a"]);
    assert_eq!(ids(json!({"max_tokens": 200})), ["b"]);
    assert_eq!(ids(json!({"provider": "codex"})), Vec::<String>::new());
    assert_eq!(ids(json!({"limit": 1000})), ["b", "a"], "the server limits the length of a page");
    let projects = fixture.ask("get_project_info", json!({}))["data"]["projects"].clone();
    assert_eq!(projects[0]["root_path"], "/elsewhere");
    assert_eq!(ids(json!({"project_hash": projects[0]["hash"]})), ["b"]);
    assert_eq!(ids(json!({"project_hash": &projects[1]["hash"].as_str().unwrap()[..12]})), ["a"]);
}

#[test]
fn a_project_without_a_folder_has_a_hash_that_lists_just_it() {
    let fixture = Fixture::new(&[
        small("aaaaaaaa-0000-4000-8000-000000000000", START),
        Log::new("cccccccc-0000-4000-8000-000000000000", START + 120_000).in_project("").user("a").say("b"),
        Log::new("dddddddd-0000-4000-8000-000000000000", START + 180_000).in_project("").user("a").say("b"),
    ]);
    let projects = fixture.ask("get_project_info", json!({}))["data"]["projects"].clone();
    let without: Vec<&Value> =
        projects.as_array().unwrap().iter().filter(|project| project["root_path"].is_null()).collect();
    assert_eq!(without.len(), 1, "{projects}");
    assert!(without[0].as_object().unwrap().contains_key("root_path"), "{projects}");
    let hash = without[0]["hash"].as_str().unwrap();
    assert_eq!((hash.len(), &without[0]["session_count"]), (64, &json!(2)));
    let listed =
        fixture.ask("list_sessions", json!({"project_hash": hash, "fields": ["id", "project_hash"]}));
    let ids = ["dddddddd", "cccccccc"];
    assert_eq!(listed["data"]["sessions"], json!(ids.map(|id| json!({"id": id, "project_hash": hash}))));
    let found = fixture.ask("search_event_previews", json!({"query": "b", "project_hash": hash}));
    assert_eq!(found["pagination"]["total_in_page"], 2);
}

#[test]
fn since_and_until_leave_out_sessions_without_times() {
    let fixture = Fixture::new(&[
        small("aaaaaaaa-0000-4000-8000-000000000000", START),
        Log::new("bbbbbbbb-0000-4000-8000-000000000000", START).without_times().user("hello").say("hi"),
    ]);
    for (arguments, expected) in [
        (json!({}), 2),
        (json!({"since": "2020-01-01"}), 1),
        (json!({"until": "2030-01-01"}), 1),
        (json!({"since": "2020-01-01", "until": "2030-01-01"}), 1),
        (json!({"since": "1970-01-01"}), 1),
        (json!({"until": "1970-01-01"}), 0),
    ] {
        let listed = fixture.ask("list_sessions", arguments.clone());
        assert_eq!(listed["pagination"]["total_in_page"], expected, "{arguments}");
        let mut search = arguments.clone();
        search["query"] = json!("h");
        search["event_type"] = json!("User");
        let found = fixture.ask("search_event_previews", search);
        assert!(found["pagination"]["total_in_page"].as_u64().unwrap() <= 2 * expected, "{arguments}");
    }
}

#[test]
fn a_cursor_outlives_the_session_that_it_names() {
    let logs: Vec<Log> = (0..5)
        .map(|number| small(&format!("{number}aaaaaaa-0000-4000-8000-000000000000"), START + number * 1000))
        .collect();
    let fixture = Fixture::new(&logs);
    let first = fixture.ask("list_sessions", json!({"limit": 2}));
    assert_eq!(first["data"]["sessions"][1]["id"], "3aaaaaaa");
    std::fs::remove_file(fixture.path(&logs[3])).unwrap();
    fixture.trace.refresh(&mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    let second =
        fixture.ask("list_sessions", json!({"limit": 2, "cursor": first["pagination"]["next_cursor"]}));
    let ids: Vec<&Value> =
        second["data"]["sessions"].as_array().unwrap().iter().map(|session| &session["id"]).collect();
    assert_eq!(ids, ["2aaaaaaa", "1aaaaaaa"]);
}

#[test]
fn snippets_and_titles_are_redacted_before_they_are_cut() {
    for before in (150..200).step_by(7) {
        let text = format!("{} {} and so on", "w".repeat(before), secret());
        let fixture = Fixture::new(&[Log::new(ID, START).user(&text).say("ok")]);
        for (tool, arguments) in [
            ("list_sessions", json!({})),
            ("list_turns", json!({"session_id": ID})),
            ("get_session_details", json!({"session_id": ID})),
            ("get_session_details", json!({"session_id": ID, "detail_level": "full"})),
        ] {
            let answer = fixture.ask(tool, arguments).to_string();
            assert!(!answer.contains(&secret()[..9]), "{before}: {tool}: {answer}");
        }
    }
}

#[test]
fn the_first_call_reports_the_progress_of_the_index() {
    let fixture = Fixture::new(&[small(ID, START)]);
    let (answer, reports) = watched(fixture.services(), "list_sessions");
    assert!(!answer.is_error);
    assert!(!reports.is_empty());
    assert!(reports.iter().all(|report| report.message.as_deref().unwrap().starts_with("reading logs")));
}

#[test]
fn an_empty_answer_explains_why_it_is_empty() {
    let none = Fixture::new(&[]);
    let place = none.trace.locations().logs[0].display().to_string();
    for (tool, arguments) in [
        ("list_sessions", json!({})),
        ("get_project_info", json!({})),
        ("search_event_previews", json!({"query": "x"})),
    ] {
        let answer = none.ask(tool, arguments);
        assert_eq!(answer["hint"], format!("No sessions were found. Looked in {place}."), "{tool}");
    }
    let fixture = Fixture::new(&[small(ID, START)]);
    let answer = fixture.ask("list_sessions", json!({"provider": "opencode"}));
    assert_eq!(answer["hint"], "No sessions match. get_project_info lists the projects that have any.");
    let answer = fixture.ask("search_event_previews", json!({"query": "xylophone"}));
    assert_eq!(answer["hint"], "Nothing matches. Use fewer filters, another spelling or mode='words'.");
}

#[test]
fn hints_begin_with_the_sentence_of_the_contract() {
    let fixture = Fixture::new(&[small(ID, START)]);
    for (tool, arguments, sentence) in [
        (
            "list_sessions",
            json!({}),
            "Use get_session_details(id, detail_level='summary') for turn breakdown",
        ),
        (
            "get_session_details",
            json!({"session_id": ID}),
            "Use detail_level='turns' to see tool execution summaries",
        ),
        (
            "get_session_details",
            json!({"session_id": ID, "detail_level": "turns"}),
            "Use detail_level='steps' for detailed payloads",
        ),
        (
            "get_session_details",
            json!({"session_id": ID, "detail_level": "steps"}),
            "Payloads are truncated to 500 chars. Use search_events(pattern) to find specific content, or \
             detail_level='full' for complete data",
        ),
        (
            "get_session_details",
            json!({"session_id": ID, "detail_level": "full"}),
            "Response may be large. Use search_events(pattern) to find specific events, or detail_level='steps' for \
             truncated payloads",
        ),
        (
            "search_event_previews",
            json!({"query": "build"}),
            "Use get_event_details(session_id, event_index) to retrieve full event payload",
        ),
    ] {
        let hint = fixture.ask(tool, arguments.clone())["hint"].clone();
        let rest = hint.as_str().unwrap().strip_prefix(sentence);
        assert!(
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(". ")),
            "{tool} {arguments}: {hint}"
        );
    }
    let hint = |limit: u64| fixture.ask("list_sessions", json!({"limit": limit}))["hint"].clone();
    assert_eq!(hint(10), "Use get_session_details(id, detail_level='summary') for turn breakdown");
    assert_eq!(
        hint(60),
        "Use get_session_details(id, detail_level='summary') for turn breakdown. limit is 50 at most, so 60 was taken as \
         that."
    );
}

#[test]
fn uses_are_counted_with_their_sizes() {
    let fixture = Fixture::new(&[small(ID, START)]);
    let good = fixture.call("list_sessions", json!({}));
    fixture.ask("list_sessions", json!({"limit": 1, "fields": ["id"]}));
    fixture.fail("list_sessions", json!({"limit": 0}));
    fixture.fail("get_session_details", json!({}));
    let uses = fixture.trace.call_counts().unwrap();
    let counts: Vec<_> =
        uses.iter().map(|uses| (uses.tool.as_str(), uses.calls, uses.failures, uses.largest)).collect();
    assert_eq!(counts[0].0, "get_session_details");
    assert_eq!((counts[0].1, counts[0].2), (1, 1));
    assert_eq!(counts[1], ("list_sessions", 3, 1, good.bytes as u64));
    assert!(uses[1].bytes > good.bytes as u64);
    let requests = |index: usize| (uses[index].request_bytes, uses[index].largest_request);
    let [short, long] = ["{}", r#"{"fields":["id"],"limit":1}"#].map(|text| text.len() as u64);
    let refused = r#"{"limit":0}"#.len() as u64;
    assert_eq!(requests(1), (short + long + refused, long), "requests are counted too");
    assert_eq!(requests(0), (short, short));
}

#[test]
fn too_many_calls_are_refused_for_a_while() {
    let fixture = Fixture::new(&[small(ID, START)]);
    let services = fixture.services();
    let refused = (0..200).find_map(|number| {
        let answered = call(services.clone(), "list_sessions", json!({"limit": 1, "fields": ["id"]}));
        answered.is_error.then_some((number, answered.body))
    });
    let Some((number, body)) = refused else { return }; // So slow a machine that the bucket filled meanwhile.
    assert!(number >= 120);
    assert_eq!((&body["error"]["code"], &body["error"]["retryable"]), (&json!("rate_limited"), &json!(true)));
    assert!(body["error"]["details"]["retry_after_ms"].as_u64().unwrap() <= 500);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Whatever the length of pages, and though sessions began at the same time, every one is listed once.
    #[test]
    fn pages_have_every_session_once(starts in proptest::collection::vec(0_i64..6, 1..40), limit in 1_u64..12) {
        let logs: Vec<Log> = starts
            .iter()
            .enumerate()
            .map(|(number, start)| Log::new(&format!("{number:08x}-0000-4000-8000-000000000000"), START + start * 5000).user("a").say("b"))
            .collect();
        let fixture = Fixture::new(&logs);
        let pages = fixture.pages("list_sessions", &json!({"limit": limit}));
        let ids: Vec<String> = pages
            .iter()
            .flat_map(|page| page.body["data"]["sessions"].as_array().unwrap().clone())
            .map(|session| session["id"].as_str().unwrap().to_owned())
            .collect();
        let mut expected: Vec<(i64, String)> = starts.iter().enumerate().map(|(number, start)| (-start, format!("{number:08x}"))).collect();
        expected.sort();
        prop_assert_eq!(ids, expected.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
    }
}
