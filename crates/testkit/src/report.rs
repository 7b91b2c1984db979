//! Checks a research report against its contract: every required member, and no unknown one.

use serde_json::{Map, Value};

/// Panics with the position of the first error.
pub fn assert_report(report: &Value) {
    let members = object(report, "report");
    only(
        members,
        "report",
        &["question", "rootsSearched", "run"],
        &["locator", "analyzer", "patterns", "thoughts", "synthesis", "artifactPath"],
    );
    text(&report["question"], "question");
    texts(&report["rootsSearched"], "rootsSearched");
    for role in ["locator", "analyzer", "patterns", "thoughts"] {
        if let Some(outcome) = members.get(role) {
            assert_outcome(outcome, role);
        }
    }
    if let Some(synthesis) = members.get("synthesis") {
        assert_finding(synthesis, "synthesis");
    }
    if let Some(path) = members.get("artifactPath") {
        text(path, "artifactPath");
    }
    assert_run(&report["run"]);
}

/// The runtime's wrapper: `value` when it is ok, `error` when it is not.
pub fn assert_outcome(outcome: &Value, place: &str) {
    let members = object(outcome, place);
    match text(&outcome["status"], place) {
        "ok" => {
            only(members, place, &["status", "value", "timing"], &[]);
            assert_finding(&outcome["value"], place);
        }
        "timeout" | "canceled" | "error" => {
            only(members, place, &["status", "error", "timing"], &[]);
            only(object(&outcome["error"], place), place, &["name", "message"], &[]);
            text(&outcome["error"]["name"], place);
            text(&outcome["error"]["message"], place);
        }
        other => panic!("{place} has the status {other:?}"),
    }
    only(object(&outcome["timing"], place), place, &["startedAt", "elapsedMs"], &[]);
    assert!(outcome["timing"]["startedAt"].is_i64() && outcome["timing"]["elapsedMs"].is_u64(), "{place}");
}

/// A normalised result.
pub fn assert_finding(finding: &Value, place: &str) {
    let members = ["summary", "references", "key_findings", "confidence", "notes"];
    only(object(finding, place), place, &members, &[]);
    text(&finding["summary"], place);
    texts(&finding["key_findings"], place);
    assert!(finding["notes"].is_null() || finding["notes"].is_string(), "{place} has other notes");
    let confidence = text(&finding["confidence"], place);
    assert!(["low", "med", "high"].contains(&confidence), "{place} has the confidence {confidence:?}");
    let references = texts(&finding["references"], place);
    for (number, reference) in references.iter().enumerate() {
        assert!(is_reference(reference), "{place} has the reference {reference:?}");
        assert!(!references[..number].contains(reference), "{place} has {reference:?} twice");
    }
}

fn assert_run(run: &Value) {
    let members = [
        "model",
        "tasksSpawned",
        "roles",
        "keywords",
        "filesScanned",
        "elapsedMs",
        "timeouts",
        "partial",
        "limits",
        "used",
    ];
    only(object(run, "run"), "run", &members, &[]);
    assert!(run["model"].is_null() || run["model"].is_string(), "run.model");
    for list in ["roles", "keywords", "timeouts", "partial"] {
        texts(&run[list], list);
    }
    for number in ["tasksSpawned", "filesScanned", "elapsedMs"] {
        assert!(run[number].is_u64(), "run.{number}");
    }
    let numbers = |part: &str, names: &[&str]| {
        only(object(&run[part], part), part, names, &[]);
        names.iter().for_each(|name| assert!(run[part][name].is_u64(), "run.{part}.{name}"));
    };
    numbers("limits", &["deadlineMs", "maxFilesRead", "maxBytesRead", "maxTokens"]);
    numbers("used", &["filesRead", "bytesRead", "modelTokens"]);
}

/// `path`, `path:line` or `path:line:col`, relative to its root.
fn is_reference(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('/')
        && !text.split('/').any(|part| part == "..")
        && !text.contains(['\n', '\r'])
}

fn object<'a>(value: &'a Value, place: &str) -> &'a Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("{place} is not an object: {value}"))
}

fn text<'a>(value: &'a Value, place: &str) -> &'a str {
    value.as_str().unwrap_or_else(|| panic!("{place} is not a text: {value}"))
}

fn texts<'a>(value: &'a Value, place: &str) -> Vec<&'a str> {
    let items = value.as_array().unwrap_or_else(|| panic!("{place} is not a list: {value}"));
    items.iter().map(|item| text(item, place)).collect()
}

fn only(members: &Map<String, Value>, place: &str, required: &[&str], allowed: &[&str]) {
    for name in required {
        assert!(members.contains_key(*name), "{place} has no {name}: {members:?}");
    }
    for name in members.keys() {
        assert!(required.contains(&name.as_str()) || allowed.contains(&name.as_str()), "{place} has {name}");
    }
}
