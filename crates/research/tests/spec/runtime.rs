//! Phase 2: the runtime, the locator, and the way of a request through them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tamis_codebase::StopSignal;
use tamis_research::{
    NoteFact, ResearchConstraints, ResearchRequest, Role, RoleError, RoleErrorKind, WorkerPool,
};

use crate::fixture::{Fixture, Roles, asking, finding, research, research_until, texts};

#[test]
fn worker_pool_enforces_max_concurrent_tasks_and_queues_or_rejects_predictably_when_saturated() {
    let pool = WorkerPool::new(2, 3);
    let (at_work, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (begun, has_begun) = channel();
    let (release, released) = channel::<()>();
    let released = Arc::new(Mutex::new(released));
    let submit = || {
        let (at_work, most) = (Arc::clone(&at_work), Arc::clone(&most));
        let (begun, released) = (begun.clone(), Arc::clone(&released));
        let task = move |_: &StopSignal| {
            let now = at_work.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            begun.send(()).unwrap();
            let _ = released.lock().unwrap().recv();
            at_work.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        };
        let (send, results) = channel();
        pool.submit(StopSignal::never(), task, move |result| send.send(result).unwrap()).map(|()| results)
    };
    let mut submitted = vec![submit().unwrap(), submit().unwrap()];
    (0..2).for_each(|_| has_begun.recv().unwrap());
    // Two are at work; three may wait, and the next one is turned away.
    submitted.extend((0..3).map(|_| submit().unwrap()));
    let full = submit().map(|_| ()).unwrap_err();
    assert_eq!((full.workers, full.waiting), (2, 3));
    (0..5).for_each(|_| release.send(()).unwrap());
    submitted.into_iter().for_each(|results| results.recv().unwrap().unwrap());
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[test]
fn a_request_that_finds_the_queue_full_gets_a_valid_report() {
    let fixture = Fixture::new();
    let (begun, has_begun) = channel();
    let (release, released) = channel::<()>();
    let (begun, released) = (Mutex::new(begun), Mutex::new(released));
    let roles = Roles::default().with(Role::Locator, move |_| {
        begun.lock().unwrap().send(()).unwrap();
        let _ = released.lock().unwrap().recv();
        Ok(finding("Here", &["src/main.rs:1"], &[]))
    });
    let mut settings = fixture.settings();
    (settings.workers, settings.most_waiting) = (1, 1);
    let researcher = Arc::new(tamis_research::Researcher::with_custom_roles(settings, Arc::new(roles)));
    let first = {
        let researcher = Arc::clone(&researcher);
        std::thread::spawn(move || research(&researcher, &asking("where?")).1)
    };
    has_begun.recv().unwrap();
    let name =
        |answer: &serde_json::Value| answer["locator"]["error"]["name"].as_str().unwrap_or("").to_owned();
    // The second waits in the queue; the third looks in until it is there, and never stays.
    let second = {
        let researcher = Arc::clone(&researcher);
        std::thread::spawn(move || {
            loop {
                let answer = research(&researcher, &asking("where?")).1;
                if answer["locator"]["error"]["name"] != "SaturatedError" {
                    return answer;
                }
            }
        })
    };
    let mut hurried = asking("where?");
    hurried.constraints.deadline_ms = Some(5);
    let turned_away = loop {
        let answer = research(&researcher, &hurried).1;
        if name(&answer) != "TimeoutError" {
            break answer;
        }
    };
    assert_eq!(name(&turned_away), "SaturatedError");
    assert_eq!(turned_away["run"]["tasksSpawned"], 0);
    (0..2).for_each(|_| release.send(()).unwrap());
    for answered in [first, second] {
        assert_eq!(answered.join().unwrap()["locator"]["status"], "ok");
    }
}

#[test]
fn deadlines_a_task_exceeding_deadline_ms_is_canceled_and_reported_as_timed_out() {
    let fixture = Fixture::new();
    let (ended, has_ended) = channel();
    let ended = Mutex::new(ended);
    let roles = Roles::default().finding(Role::Locator, finding("Here", &["src/main.rs:1"], &[])).with(
        Role::Analyzer,
        move |task| {
            while !task.stop.is_due() {
                std::thread::yield_now();
            }
            ended.lock().unwrap().send(()).unwrap();
            Err(task.stop.check().unwrap_err().into())
        },
    );
    let constraints = ResearchConstraints { deadline_ms: Some(100), ..ResearchConstraints::default() };
    let (_, answer) = research(&fixture.with(roles), &ResearchRequest { constraints, ..asking("where?") });
    has_ended.recv_timeout(Duration::from_secs(60)).expect("the task itself is stopped");
    assert_eq!(answer["analyzer"]["status"], "timeout");
    assert_eq!(answer["analyzer"]["error"]["name"], "TimeoutError");
    assert_eq!(answer["run"]["timeouts"], json!(["analyzer"]));
    assert!(texts(&answer["run"]["partial"])[0].starts_with("analyzer ran out of time"), "{answer}");
    // Partial results are still reported.
    assert_eq!(answer["locator"]["status"], "ok");
    assert_eq!(answer["synthesis"]["references"], json!(["src/main.rs:1"]));
    assert_eq!(answer["run"]["limits"]["deadlineMs"], 100);
}

#[test]
fn cancellation_stops_further_tool_execution_and_returns_a_canceled_status() {
    let fixture = Fixture::new();
    let stop = StopSignal::never();
    let (calls, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (ended, has_ended) = channel();
    let (ended, cancel) = (Mutex::new(ended), stop.clone());
    let counted = (Arc::clone(&calls), Arc::clone(&stopped));
    let roles = Roles::default().with(Role::Analyzer, move |task| {
        let (calls, stopped) = &counted;
        while task.stop.check().is_ok() {
            assert!(!stopped.load(Ordering::SeqCst), "nothing after it has stopped");
            calls.fetch_add(1, Ordering::SeqCst);
            let place = task.reader.roots.places_of("src/main.rs").remove(0);
            task.reader.read(&place).unwrap();
            // The caller leaves while it works.
            cancel.cancel();
        }
        stopped.store(true, Ordering::SeqCst);
        ended.lock().unwrap().send(()).unwrap();
        Err(task.stop.check().unwrap_err().into())
    });
    let (_, answer) = research_until(&fixture.with(roles), &asking("where?"), &stop);
    has_ended.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(answer["analyzer"]["status"], "canceled");
    assert_eq!(answer["analyzer"]["error"]["name"], "CanceledError");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    // Nothing is started for a caller that has left.
    let (_, answer) = research_until(&fixture.researcher(), &asking("where is parse_shop_config?"), &stop);
    assert_eq!(
        (&answer["locator"]["status"], &answer["analyzer"]["status"]),
        (&json!("canceled"), &json!("canceled"))
    );
    assert_eq!((&answer["run"]["filesScanned"], &answer["run"]["used"]["filesRead"]), (&json!(0), &json!(0)));
}

#[test]
fn error_mapping_provider_and_tool_failures_surface_as_structured_errors_with_stable_codes() {
    let fixture = Fixture::new();
    for (kind, status, name) in [
        (RoleErrorKind::Timeout, "timeout", "TimeoutError"),
        (RoleErrorKind::Canceled, "canceled", "CanceledError"),
        (RoleErrorKind::Saturated, "error", "SaturatedError"),
        (RoleErrorKind::ProviderUnavailable, "error", "ProviderUnavailableError"),
        (RoleErrorKind::ProviderError, "error", "ProviderError"),
        (RoleErrorKind::Refused, "error", "ProviderRefusalError"),
        (RoleErrorKind::InvalidAnswer, "error", "InvalidAnswerError"),
        (RoleErrorKind::BudgetExhausted, "error", "BudgetExhaustedError"),
        (RoleErrorKind::Internal, "error", "InternalError"),
    ] {
        let roles =
            Roles::default().with(Role::Analyzer, move |_| Err(RoleError::new(kind, "it went wrong")));
        let (_, answer) = research(&fixture.with(roles), &asking("where?"));
        assert_eq!(answer["analyzer"]["status"], status);
        assert_eq!(answer["analyzer"]["error"], json!({"name": name, "message": "it went wrong"}));
    }
    let panicking = Roles::default().with(Role::Analyzer, |_| panic!("as it should"));
    let (_, answer) = research(&fixture.with(panicking), &asking("where?"));
    assert_eq!(answer["analyzer"]["error"]["name"], "InternalError");
}

#[test]
fn locator_output_schema_has_summary_references_key_findings_and_confidence_present_and_bounded() {
    let fixture = Fixture::new();
    let (_, answer) = research(&fixture.researcher(), &asking("Where is parse_shop_config implemented?"));
    assert_eq!(answer["locator"]["status"], "ok");
    // However much a role says.
    let long = "x".repeat(10_000);
    let many: Vec<String> = (0..500).map(|number| format!("src/file_{number}.rs:{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut stated = finding(&long, &many, &many);
    stated.notes = vec![NoteFact::Text(long.clone()).into()];
    let roles = Roles::default().finding(Role::Locator, stated);
    let constraints = ResearchConstraints { max_tokens: Some(50_000), ..ResearchConstraints::default() };
    let (_, answer) = research(&fixture.with(roles), &ResearchRequest { constraints, ..asking("where?") });
    for value in [&answer["locator"]["value"], &answer["synthesis"]] {
        let length = |name: &str| value[name].as_str().unwrap().chars().count();
        assert!(length("summary") <= 1200 && length("notes") <= 800, "{value}");
        assert!(texts(&value["references"]).len() <= 24 && texts(&value["key_findings"]).len() <= 16);
    }
}

#[test]
fn locator_evidence_references_are_deduped_and_stable_ordered_with_no_large_excerpts() {
    let fixture = Fixture::new();
    let ask = || research(&fixture.researcher(), &asking("Where is parse_shop_config implemented?")).1;
    let answer = ask();
    let locator = &answer["locator"]["value"];
    let references = texts(&locator["references"]);
    assert!(references[0].starts_with("src/config.rs"), "{references:?}");
    for (number, reference) in references.iter().enumerate() {
        assert!(fixture.has(reference), "{reference} is there");
        assert!(!references[..number].contains(reference), "{reference} is there once");
    }
    for text in texts(&locator["key_findings"]) {
        assert!(text.chars().count() <= 200 && !text.contains('\n'), "{text:?} is an excerpt");
    }
    for _ in 0..3 {
        let again = ask();
        assert_eq!(&again["locator"]["value"], locator);
        assert_eq!(again["synthesis"], answer["synthesis"]);
    }
}

#[test]
fn research_codebase_orchestration_runs_locator_first_and_propagates_constraints_and_roots() {
    let fixture = Fixture::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut roles = Roles::default();
    for role in [Role::Locator, Role::Analyzer, Role::Patterns] {
        let seen = Arc::clone(&seen);
        roles = roles.with(role, move |task| {
            let roots: Vec<_> = task.reader.roots.paths().map(ToOwned::to_owned).collect();
            let limits = task.reader.budget.limits();
            seen.lock().unwrap().push((task.role, roots, limits, task.stop.remaining().is_some()));
            Ok(finding("Here", &["main.rs:1"], &[]))
        });
    }
    let constraints = ResearchConstraints {
        deadline_ms: Some(20_000),
        max_files_read: Some(3),
        max_bytes_read: Some(999),
        max_tokens: Some(1500),
    };
    let request = ResearchRequest {
        roots: vec!["src".into()],
        constraints,
        ..asking("Show examples of how the shop is configured")
    };
    let (report, answer) = research(&fixture.with(roles), &request);
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0].0, Role::Locator, "before all others");
    assert_eq!(seen.len(), 3);
    let source = fixture.code().join("src").canonicalize().unwrap();
    for (role, roots, limits, timed) in seen.iter() {
        assert_eq!((roots, *limits), (&vec![source.clone()], report.run.limits), "{role:?}");
        assert!(timed);
    }
    assert_eq!(answer["rootsSearched"], json!([source]));
    assert_eq!(
        answer["run"]["limits"],
        json!({"deadlineMs": 20_000, "maxFilesRead": 3, "maxBytesRead": 999, "maxTokens": 1500})
    );
    assert_eq!(answer["run"]["roles"], json!(["locator", "analyzer", "patterns"]));
    assert_eq!(answer["run"]["tasksSpawned"], 3);
}
