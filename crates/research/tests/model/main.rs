//! Roles by a model, against a server that misbehaves to order: each loop ends within its budget, in a finding that the
//! files bear out or in a fault that says what went wrong.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod conversation;
mod files;
mod reports;
mod server;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tamis_codebase::{Policy, Roots, StopSignal};
use tamis_research::{
    BoundedReader, Confidence, FindingKind, KeyFinding, Model, ModelLimits, ModelSettings, ModelTask,
    ModelUse, ReadBudget, Reference, ResearchFinding, ResearchLimits, Role, RoleError, RoleErrorKind,
};
use tamis_testkit::{ChatServer, ChatStep};
use tempfile::TempDir;

/// A small codebase.
fn codebase() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "src/config.rs",
        "use std::fs;\n\npub fn parse_config(text: &str) -> Config {\n    Config::of(text)\n}\n",
    );
    write("src/main.rs", "fn main() {\n    let config = parse_config(\"\");\n}\n");
    write("README.md", "# A program\n");
    folder
}

const LIMITS: ResearchLimits = ResearchLimits {
    deadline: Duration::from_secs(30),
    max_files_read: 50,
    max_bytes_read: 1 << 20,
    max_tokens: 2000,
};

fn view_with(folder: &Path, limits: ResearchLimits) -> BoundedReader {
    let roots = Roots::open(&[folder.to_owned()], Policy::standard()).unwrap();
    BoundedReader::new(roots, Arc::new(ReadBudget::of(limits)), StopSignal::never())
}

fn reader(folder: &Path) -> BoundedReader {
    view_with(folder, LIMITS)
}

fn settings(server: &ChatServer) -> ModelSettings {
    // Slow machines are no matter of these tests.
    ModelSettings {
        probe_timeout: Duration::from_secs(60),
        ..ModelSettings::at(server.url().parse().unwrap(), ModelUse::Auto, 1)
    }
}

fn model(server: &ChatServer) -> Model {
    Model::new(settings(server))
}

fn ask(model: &Model, reader: &BoundedReader, stop: &StopSignal) -> Result<ResearchFinding, RoleError> {
    let hints = ["src/config.rs:3 (implementation) parse_config".to_owned()];
    let task =
        ModelTask { role: Role::Analyzer, question: "How is configuration parsed?", reader, hints: &hints };
    model.answer(&task, stop)
}

/// Asks once, with all the time in the world.
fn outcome(server: &ChatServer) -> Result<ResearchFinding, RoleError> {
    let folder = codebase();
    ask(&model(server), &reader(folder.path()), &StopSignal::never())
}

fn kind(outcome: Result<ResearchFinding, RoleError>) -> RoleErrorKind {
    outcome.unwrap_err().kind
}

fn good() -> Value {
    json!({"summary": "parse_config makes a Config.", "references": ["src/config.rs:3", "src/main.rs:2"],
        "key_findings": ["src/config.rs:3 defines parse_config"], "confidence": "high", "notes": null})
}

fn good_finding() -> ResearchFinding {
    ResearchFinding {
        summary: "parse_config makes a Config.".into(),
        references: vec![Reference::new("src/config.rs", Some(3)), Reference::new("src/main.rs", Some(2))],
        key_findings: vec![KeyFinding::new(
            FindingKind::Explanation { places: vec![] },
            "src/config.rs:3 defines parse_config".into(),
        )],
        confidence: Confidence::High,
        notes: vec![],
        not_found: None,
    }
}

/// The results of tools in the request of a turn.
fn results(turn: &Value) -> Vec<String> {
    let messages = turn["messages"].as_array().unwrap().iter();
    messages.filter(|m| m["role"] == "tool").map(|m| m["content"].as_str().unwrap().to_owned()).collect()
}

fn offered(turn: &Value) -> Vec<&str> {
    let tools = turn["tools"].as_array().map_or(&[][..], Vec::as_slice);
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

/// The results that a model gets for these calls, all in one turn.
fn tool_results(folder: &Path, role: Role, calls: &[(&str, Value)]) -> Vec<String> {
    let calls = calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.clone())).collect();
    let server = ChatServer::start(vec![ChatStep::Call(calls), ChatStep::say(good())]);
    let limits = ModelLimits { calls_a_turn: 100, ..ModelLimits::default() };
    let model = Model::new(ModelSettings { limits, ..settings(&server) });
    let reader = reader(folder);
    let task = ModelTask { role, question: "?", reader: &reader, hints: &[] };
    let _ = model.answer(&task, &StopSignal::never());
    results(&server.turns()[1])
}
