//! Who answers when there is a model, when there is none, and when there is one that fails.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tamis_codebase::{Policy, RootedPath, Roots, StopSignal};
use tamis_testkit::{ChatServer, ChatStep};
use tempfile::TempDir;

use super::*;
use crate::BoundedReader;
use crate::ResearchLimits;
use crate::locate::{Category, Location, Locations, Passage, locate};
use crate::question::Question;

/// A folder with one file, and a job on it.
fn job() -> (TempDir, Job) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("parser.rs"), "fn parse() {}\n").unwrap();
    let reader = BoundedReader::of_folder(folder.path(), ResearchLimits::SAMPLE);
    let location = Location {
        place: RootedPath { root: 0, path: "parser.rs".into() },
        shown: "parser.rs".into(),
        passages: vec![Passage { name: Some("parse".into()), defines: true, ..Passage::at(1) }],
        category: Category::Implementation,
        score: 1.0,
    };
    let job = Job {
        question: Arc::new(Question::new("Where is the parser?")),
        reader: Arc::new(reader),
        locations: Arc::new(Locations { best: vec![location], ..Locations::default() }),
        thoughts: None,
        alone: true,
    };
    (folder, job)
}

fn model(server: &ChatServer, usage: ModelUse) -> Model {
    let settings = ModelSettings::at(server.url().parse().unwrap(), usage, 1);
    Model::new(ModelSettings { probe_timeout: Duration::from_secs(60), ..settings })
}

fn run_with(server: &ChatServer, usage: ModelUse, stop: &StopSignal) -> RoleRun {
    let (_folder, job) = job();
    run_role(Role::Locator, &job, stop, Some(&model(server, usage)))
}

fn deterministic() -> ResearchFinding {
    let (_folder, job) = job();
    roles::run(Role::Locator, &job, &StopSignal::never()).unwrap()
}

fn answer() -> ChatStep {
    ChatStep::say(json!({"summary": "There.", "references": ["parser.rs:1"], "confidence": "high"}))
}

#[test]
fn the_model_answers_where_there_is_one() {
    let server = ChatServer::start(vec![answer()]);
    let run = run_with(&server, ModelUse::Auto, &StopSignal::never());
    assert_eq!((run.model.as_deref(), run.model_error), (Some("scripted"), None));
    assert_eq!(run.result.unwrap().summary, "There.");
    let prompt = server.turns()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(prompt.ends_with("- parser.rs:1 (implementation) parse"), "{prompt}");
}

/// A model searches no more files than the other roles do.
#[test]
fn files_that_were_not_searched_are_named_where_a_model_may_claim_absence() {
    let found = json!({"summary": "There.", "references": ["parser.rs:1"], "confidence": "high"});
    let absent = json!({"summary": "zorblax was not found.", "references": [], "confidence": "high"});
    let note = "Not searched: logo.png (binary).";
    for (word_is_absent, answer, expected) in
        [(false, &found, ""), (true, &found, note), (false, &absent, note), (true, &absent, note)]
    {
        let server = ChatServer::start(vec![ChatStep::say(answer.clone())]);
        let (folder, mut job) = job();
        std::fs::write(folder.path().join("logo.png"), b"\x89PNG\0zorblax").unwrap();
        let survey = locate(&job.question, &job.reader, None, &StopSignal::never()).unwrap();
        let absent = if word_is_absent { vec!["zorblax".to_owned()] } else { Vec::new() };
        job.locations = Arc::new(Locations { absent, ..survey });
        let run =
            run_role(Role::Locator, &job, &StopSignal::never(), Some(&model(&server, ModelUse::Always)));
        assert_eq!(crate::joined(&run.result.unwrap().notes), expected, "{answer}");
    }
}

#[test]
fn the_deterministic_role_answers_where_there_is_none() {
    let (_folder, job) = job();
    let run = run_role(Role::Locator, &job, &StopSignal::never(), None);
    assert_eq!((run.result, run.model, run.model_error), (Ok(deterministic()), None, None));
    let server = ChatServer::listing(ChatStep::Body("<html>".into()), vec![], None);
    let run = run_with(&server, ModelUse::Auto, &StopSignal::never());
    assert_eq!((run.result, run.model, run.model_error), (Ok(deterministic()), None, None));
    let run = run_with(&server, ModelUse::Always, &StopSignal::never());
    assert_eq!(run.result.unwrap_err().kind, RoleErrorKind::ProviderUnavailable);
}

#[test]
fn the_deterministic_role_answers_for_a_model_that_fails() {
    for (step, kind) in [
        (ChatStep::HangUp, RoleErrorKind::ProviderError),
        (ChatStep::Refuse("no".into()), RoleErrorKind::Refused),
        (ChatStep::say("nonsense"), RoleErrorKind::InvalidAnswer),
        (ChatStep::call("ls", json!({})), RoleErrorKind::BudgetExhausted),
    ] {
        let server = ChatServer::endless(vec![], step.clone());
        let run = run_with(&server, ModelUse::Auto, &StopSignal::never());
        assert_eq!((run.model_error.as_ref().map(|error| error.kind), run.model), (Some(kind), None));
        let finding = run.result.unwrap();
        let notes = crate::joined(&finding.notes);
        assert!(notes.contains("without the model") && notes.contains(kind.name()), "{notes}");
        assert_eq!(finding, ResearchFinding { notes: finding.notes.clone(), ..deterministic() });

        let run = run_with(&server, ModelUse::Always, &StopSignal::never());
        assert_eq!((run.result.unwrap_err().kind, run.model_error), (kind, None), "{step:?}");
    }
}

#[test]
fn a_slow_model_leaves_time_for_the_deterministic_role() {
    let server = ChatServer::endless(vec![], answer().held());
    // As long as a machine under load may stand still between the model's end and the request's.
    let stop = StopSignal::never().by(Instant::now() + Duration::from_secs(4));
    let run = run_with(&server, ModelUse::Auto, &stop);
    assert_eq!(run.model_error.map(|error| error.kind), Some(RoleErrorKind::Timeout));
    assert!(run.result.is_ok() && stop.check().is_ok());
    server.wait_for_hang_ups(1);
}

#[test]
fn a_cancelled_request_falls_back_on_nothing() {
    let server = ChatServer::endless(vec![], answer().held());
    let stop = StopSignal::never();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| run_with(&server, ModelUse::Auto, &stop));
        server.wait_for_turns(1);
        stop.cancel();
        let run = running.join().unwrap();
        assert_eq!((run.result.unwrap_err().kind, run.model_error), (RoleErrorKind::Canceled, None));
    });
    server.wait_for_hang_ups(1);
}

#[test]
fn notes_of_former_work_are_read_from_their_own_root() {
    let (_folder, mut job) = job();
    let notes = tempfile::tempdir().unwrap();
    std::fs::write(notes.path().join("old.md"), "We chose to parse by hand.\n").unwrap();
    job.thoughts = Some(Roots::open(&[notes.path().to_owned()], Policy::standard()).unwrap());
    let server = ChatServer::start(vec![
        ChatStep::call("read", json!({"path": "old.md"})),
        ChatStep::say(
            json!({"summary": "By hand.", "references": ["old.md:1", "parser.rs:1"], "confidence": "med"}),
        ),
    ]);
    let run = run_role(Role::Thoughts, &job, &StopSignal::never(), Some(&model(&server, ModelUse::Always)));
    let references: Vec<String> = run.result.unwrap().references.iter().map(ToString::to_string).collect();
    assert_eq!(references, ["old.md:1"]);
    // The map is one of the code, and no help here.
    assert!(!server.turns()[0]["messages"].to_string().contains("parser.rs"));
    assert_eq!(job.reader.budget.used().files_read, 1);
}
