//! Errors of invalid and impossible calls.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tamis_codebase::{Policy, Roots};
use tamis_research::{ResearchSettings, Researcher, RoleTask};
use tamis_tools::{Reply, Research};

use crate::fixture::{Fixture, FnRoles, call, context, registry};

/// An error has these four members and no others.
fn code(error: &Value) -> &str {
    let members: Vec<&str> = error.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["code", "details", "message", "retryable"], "{error}");
    error["code"].as_str().unwrap()
}

#[test]
fn tool_input_validation_missing_required_fields_returns_a_structured_error() {
    let fixture = Fixture::new();
    for tool in
        ["research_codebase", "locate_in_codebase", "find_patterns", "analyze_component", "create_handoff"]
    {
        let error = fixture.fail(tool, json!({}));
        assert_eq!(
            (code(&error), &error["details"]["parameter"]),
            ("invalid_parameter", &json!("question")),
            "{tool}"
        );
        assert_eq!(error["retryable"], false);
    }
    for (arguments, parameter) in [
        (json!({"question": "  "}), "question"),
        (json!({"question": "x".repeat(5000)}), "question"),
        (json!({"question": 7}), "question"),
        (json!({"question": "a", "roots": "src"}), "roots"),
        (json!({"question": "a", "constraints": {"deadlineMs": 0}}), "constraints.deadlineMs"),
        (json!({"question": "a", "constraints": {"maxTokens": -1}}), "constraints.maxTokens"),
        (json!({"question": "a", "artifact": "yes"}), "artifact"),
    ] {
        let error = fixture.fail("research_codebase", arguments);
        assert_eq!(
            (code(&error), &error["details"]["parameter"]),
            ("invalid_parameter", &json!(parameter)),
            "{error}"
        );
    }
    let error = fixture.fail("locate_in_codebase", json!({"question": "a", "artifact": true}));
    assert_eq!(code(&error), "invalid_parameter", "only research_codebase writes");
}

#[test]
fn a_missing_root_is_noted_and_one_that_comes_back_is_read() {
    let fixture = Fixture::new();
    let settings = fixture.settings();
    let research = Arc::new(Researcher::new(settings));
    let ask = |tool: &str, arguments| call(Research::new(Arc::clone(&research)), tool, arguments);
    let question = json!({"question": "Where is parse_price?"});
    std::fs::rename(fixture.path("shop"), fixture.path("away")).unwrap();
    for tool in ["research_codebase", "locate_in_codebase", "find_patterns", "analyze_component"] {
        let (answer, is_error) = ask(tool, question.clone());
        assert!(is_error, "{tool}: {answer}");
        assert_eq!(code(&answer["error"]), "root_unreadable", "{tool}");
    }
    std::os::unix::fs::symlink(fixture.path("away"), fixture.path("shop")).unwrap();
    assert!(ask("locate_in_codebase", question.clone()).1, "a link in its place is not it");
    std::fs::remove_file(fixture.path("shop")).unwrap();
    std::fs::rename(fixture.path("away"), fixture.path("shop")).unwrap();
    let (answer, is_error) = ask("locate_in_codebase", question);
    assert!(!is_error, "{answer}");
    assert_eq!(answer["locator"]["value"]["references"][0], "src/prices.rs:2-4");
}

#[test]
fn null_is_as_absent_as_a_parameter_that_is_left_out() {
    let fixture = Fixture::new();
    let plain = fixture.ask("locate_in_codebase", json!({"question": "parse_price"}));
    for arguments in [
        json!({"question": null, "query": "parse_price"}),
        json!({"query": "parse_price", "question": null, "pattern": null}),
        json!({"question": "parse_price", "roots": null, "constraints": null}),
        json!({"question": "parse_price", "constraints": {"deadlineMs": null, "deadline_ms": 30000}}),
    ] {
        let answer = fixture.ask("locate_in_codebase", arguments);
        assert_eq!(answer["locator"]["value"], plain["locator"]["value"]);
    }
    for arguments in [json!({"question": null}), json!({"question": null, "query": null}), json!({})] {
        let missing = fixture.fail("locate_in_codebase", arguments);
        assert_eq!(missing, fixture.fail("locate_in_codebase", json!({})));
    }
    let both = fixture.fail("locate_in_codebase", json!({"question": "a", "query": "b"}));
    assert_eq!(code(&both), "invalid_parameter");
}

#[test]
fn a_root_that_was_missing_from_the_start_is_named_too() {
    let fixture = Fixture::new();
    let gone = fixture.path("gone");
    let researcher = Researcher::new(fixture.settings()).with_missing(vec![gone.clone()]);
    let (answer, is_error) = call(
        Research::new(Arc::new(researcher)),
        "locate_in_codebase",
        json!({"question": "Where is parse_price?"}),
    );
    assert!(!is_error, "{answer}");
    let note = format!("{} does not exist and was not searched.", gone.display());
    assert_eq!(answer["run"]["partial"], json!([note]));
    assert!(answer["locator"]["value"]["notes"].as_str().unwrap().contains(&note), "{answer}");
}

#[test]
fn a_missing_root_is_named_in_the_answer_of_the_other_root() {
    let fixture = Fixture::new();
    let folders = [fixture.path("shop"), fixture.path("bakery")];
    let settings =
        ResearchSettings { roots: Roots::open(&folders, Policy::standard()).unwrap(), ..fixture.settings() };
    let research = Arc::new(Researcher::new(settings));
    std::fs::remove_dir_all(fixture.path("bakery")).unwrap();
    for tool in ["research_codebase", "locate_in_codebase"] {
        let arguments = json!({"question": "Where is parse_price?"});
        let (answer, is_error) = call(Research::new(Arc::clone(&research)), tool, arguments);
        assert!(!is_error, "{answer}");
        assert_eq!(answer["rootsSearched"], json!([folders[0]]));
        let note = format!("{} does not exist and was not searched.", folders[1].display());
        assert_eq!(answer["run"]["partial"], json!([note]));
        let finding = answer.get("synthesis").unwrap_or(&answer["locator"]["value"]);
        assert!(finding["notes"].as_str().unwrap().contains(&note), "{answer}");
    }
}

#[test]
fn folders_outside_of_the_roots_are_refused_and_their_content_is_not_revealed() {
    let fixture = Fixture::new();
    std::os::unix::fs::symlink(fixture.path("bakery"), fixture.path("shop/linked")).unwrap();
    let bakery = fixture.path("bakery");
    for outside in [bakery.to_str().unwrap(), "../bakery", "/etc", "/nowhere", "linked"] {
        let error = fixture.fail("locate_in_codebase", json!({"question": "bake_bread", "roots": [outside]}));
        assert_eq!(code(&error), "outside_roots", "{outside}");
        assert!(!error.to_string().contains("bread.py"));
    }
    // The error does not reveal whether a folder outside of the roots exists.
    let there = fixture.fail("locate_in_codebase", json!({"question": "x", "roots": ["/etc"]}));
    let not_there = fixture.fail("locate_in_codebase", json!({"question": "x", "roots": ["/xyz"]}));
    assert_eq!(there.to_string().replace("/etc", "/xyz"), not_there.to_string());
}

#[test]
fn without_roots_the_tools_report_why_and_ping_answers() {
    let why = "cannot read folder `/nowhere`";
    for tool in ["list_roots", "research_codebase", "resume_handoff"] {
        let arguments = if tool == "research_codebase" { json!({"question": "a"}) } else { json!({}) };
        let (answer, is_error) = call(Research::unusable(why.to_owned()), tool, arguments);
        assert!(is_error);
        assert_eq!(code(&answer["error"]), "no_roots");
        assert!(answer["error"]["message"].as_str().unwrap().contains(why));
    }
    let pong = crate::fixture::reply("ping", json!({}), context(Research::unusable(why.to_owned())));
    assert_eq!(pong, Reply::Text { text: "pong".into(), is_error: false });
}

#[test]
fn a_full_queue_is_a_retryable_error() {
    let fixture = Fixture::new();
    let mut settings = fixture.settings();
    settings.most_waiting = 0;
    let idle = FnRoles(|_: &RoleTask<'_>| unreachable!("no role runs"));
    let research = Research::new(Arc::new(Researcher::with_custom_roles(settings, Arc::new(idle))));
    let (answer, is_error) = call(research, "research_codebase", json!({"question": "a"}));
    assert!(is_error, "{answer}");
    assert_eq!((code(&answer["error"]), &answer["error"]["retryable"]), ("saturated", &json!(true)));
}

#[test]
fn a_call_that_is_cancelled_ends_at_once_and_its_work_stops() {
    let fixture = Fixture::new();
    let (begun, has_begun) = channel();
    let (ended, has_ended) = channel();
    let ends = Mutex::new((begun, ended));
    let patient = FnRoles(move |task: &RoleTask<'_>| {
        ends.lock().unwrap().0.send(()).unwrap();
        while !task.stop.is_due() {
            std::thread::yield_now();
        }
        ends.lock().unwrap().1.send(()).unwrap();
        Err(task.stop.check().unwrap_err().into())
    });
    let research =
        Research::new(Arc::new(Researcher::with_custom_roles(fixture.settings(), Arc::new(patient))));
    let context = context(research);
    let cancellation = context.cancellation.clone();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let call = runtime
        .spawn(async move { registry().call("research_codebase", json!({"question": "a"}), context).await });
    let patience = Duration::from_secs(60);
    has_begun.recv_timeout(patience).unwrap();
    cancellation.cancel();
    let reply = runtime.block_on(call).unwrap();
    let Reply::Text { text, is_error: false } = reply else { panic!("{reply:?}") };
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["locator"]["status"], "canceled", "{report}");
    assert_eq!(report["analyzer"]["status"], "canceled", "{report}");
    has_ended.recv_timeout(patience).unwrap();
}
