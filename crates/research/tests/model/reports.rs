//! Whole reports with a model: whatever it does, the report is one, in time, and says what is missing in it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tamis_codebase::{Policy, Roots, StopSignal};
use tamis_research::{
    Model, ModelSettings, ModelUse, ResearchConstraints, ResearchReport, ResearchRequest, ResearchSettings,
    Researcher, Role,
};
use tamis_testkit::{ChatServer, ChatStep};
use tempfile::TempDir;

use crate::{LIMITS, codebase, good, settings};

/// Asks for a report on the codebase, where the model is used so.
fn report(server: &ChatServer, usage: ModelUse, deadline_ms: u64) -> (ResearchReport, TempDir) {
    let folder = codebase();
    let researcher = Researcher::new(ResearchSettings {
        roots: Roots::open(&[folder.path().to_owned()], Policy::standard()).unwrap(),
        thoughts: None,
        artifacts: folder.path().join("artifacts"),
        limits: LIMITS,
        model: Some(Arc::new(Model::new(ModelSettings { usage, concurrent: 2, ..settings(server) }))),
        index: None,
        workers: 4,
        most_waiting: 64,
    });
    let request = ResearchRequest {
        question: "How does parse_config work? Show examples.".into(),
        constraints: ResearchConstraints { deadline_ms: Some(deadline_ms), ..ResearchConstraints::default() },
        ..ResearchRequest::default()
    };
    (researcher.research(&request, &StopSignal::never(), &|_| ()).unwrap().into_inner(), folder)
}

/// What holds of every report: each role is wrapped, and refers to what is there.
fn check(report: &ResearchReport, folder: &TempDir) {
    let answer = serde_json::to_value(report).unwrap();
    for role in [Role::Locator, Role::Analyzer, Role::Patterns] {
        let wrapper = &answer[role.key()];
        let ok = wrapper["status"] == "ok";
        let members: Vec<&str> = wrapper.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = if ok { ["status", "timing", "value"] } else { ["error", "status", "timing"] };
        assert_eq!(members, expected, "{wrapper}");
    }
    let findings = report.roles.values().filter_map(|outcome| outcome.result.as_ref().ok());
    for reference in findings.chain(&report.synthesis).flat_map(|finding| &finding.references) {
        assert!(folder.path().join(reference.path()).is_file(), "{reference}");
    }
    assert!(report.synthesis.is_some());
}

fn statuses(report: &ResearchReport) -> Vec<&'static str> {
    report.roles.values().map(|outcome| outcome.status()).collect()
}

const LONG: u64 = 300_000;

#[test]
fn a_model_that_answers_makes_the_report() {
    let server = ChatServer::endless(
        vec![ChatStep::call("grep", json!({"pattern": "parse_config"}))],
        ChatStep::say(good()),
    );
    let (report, folder) = report(&server, ModelUse::Auto, LONG);
    check(&report, &folder);
    assert_eq!((report.run.models.as_slice(), report.run.partial.len()), (&["scripted".to_owned()][..], 0));
    assert_eq!(statuses(&report), ["ok"; 3]);
    // One call, and an answer by each role.
    assert_eq!((server.turns().len(), report.run.used.model_tokens), (4, 480));
}

#[test]
fn a_model_that_fails_leaves_a_report_that_says_so() {
    let made_up = json!({"summary": "It is so.", "references": ["made/up.rs:1"]});
    for (step, name) in [
        (ChatStep::HangUp, "ProviderError"),
        (ChatStep::Fail(500, "out of memory".into()), "ProviderError"),
        (ChatStep::Refuse("I will not.".into()), "ProviderRefusalError"),
        (ChatStep::say("I think it is in src."), "InvalidAnswerError"),
        (ChatStep::say(made_up), "InvalidAnswerError"),
        (ChatStep::call("ls", Value::Null), "BudgetExhaustedError"),
    ] {
        let server = ChatServer::endless(vec![], step.clone());
        let (with, folder) = report(&server, ModelUse::Auto, LONG);
        check(&with, &folder);
        assert_eq!((statuses(&with), with.run.models.len()), (vec!["ok"; 3], 0), "{step:?}");
        assert_eq!(with.run.partial.len(), 3, "{:?}", with.run.partial);
        for (role, outcome) in &with.roles {
            let notes = tamis_research::joined(&outcome.result.as_ref().unwrap().notes);
            assert!(notes.contains("without the model"), "{role:?}: {notes}");
            assert!(
                with.run.partial.iter().any(|note| note.text.contains(role.key())),
                "{:?}",
                with.run.partial
            );
        }
        let (without, folder) = report(&server, ModelUse::Always, LONG);
        check(&without, &folder);
        assert_eq!(statuses(&without), ["error"; 3], "{step:?}");
        assert_eq!(serde_json::to_value(&without).unwrap()["analyzer"]["error"]["name"], name);
    }
}

#[test]
fn a_model_that_hangs_leaves_a_report_in_time() {
    let server = ChatServer::endless(vec![], ChatStep::say(good()).held());
    let begun = Instant::now();
    let (report, folder) = report(&server, ModelUse::Auto, 10_000);
    check(&report, &folder);
    assert_eq!((statuses(&report), report.run.partial.len()), (vec!["ok"; 3], 3), "{:?}", report.run.partial);
    // It would hang for ever; how late is too late depends on what else the machine does.
    assert!(begun.elapsed() < Duration::from_secs(60));
    server.wait_for_hang_ups(server.turns().len());
}
