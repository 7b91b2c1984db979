//! What answers must look like, as the contract draws them.

use serde_json::Value;

pub(crate) fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().unwrap_or_else(|| panic!("no list: {list}")).iter()
}

fn has(value: &Value, members: &[&str]) {
    for member in members {
        assert!(value.get(member).is_some_and(|member| !member.is_null()), "no {member} in {value}");
    }
}

fn at_most(text: &Value, letters: usize) {
    let text = text.as_str().unwrap_or_else(|| panic!("no text: {text}"));
    // One for the mark of the cut.
    assert!(text.chars().count() <= letters + 1, "more than {letters} characters: {text}");
}

/// A list's wrapper.
fn wrapped<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    has(answer, &["data", "pagination", "hint", "rate_limit"]);
    let listed = answer["data"][name].as_array().unwrap_or_else(|| panic!("no {name} in {answer}"));
    let pagination = &answer["pagination"];
    assert_eq!(pagination["total_in_page"], listed.len());
    assert_eq!(pagination["has_more"], pagination["next_cursor"].is_string(), "{pagination}");
    listed
}

pub(crate) fn debug_failed_tools(answers: &[Value]) {
    let [listed, analysed, turned, stepped, found, event] = answers else {
        panic!("{} answers", answers.len())
    };
    let sessions = wrapped(listed, "sessions");
    assert!((2..=10).contains(&sessions.len()), "{listed}");
    for session in sessions {
        has(session, &["id", "project_hash", "start_time", "turn_count", "duration_seconds", "total_tokens"]);
        assert_eq!(session["provider"], "claude_code");
        at_most(&session["snippet"], 200);
    }
    analysis(analysed);
    turns(turned);
    steps(stepped);
    let id = event["session_id"].as_str().expect("an id");
    for found in matches(found) {
        assert!(id.starts_with(found["session_id"].as_str().expect("an id")), "{found}");
    }
    has(event, &["event_index", "timestamp", "event_type"]);
    assert!(event["payload"].to_string().to_lowercase().contains("error"), "{event}");
}

pub(crate) fn token_usage_pattern(answers: &[Value]) {
    summary(&answers[0]);
    turns(&answers[1]);
    let found = matches(&answers[2]);
    assert!(found.len() <= 20 && found.iter().all(|found| found["event_type"] == "ToolCall"));
    for call in found {
        has(&call["preview"], &["tool", "arguments"]);
    }
    assert!(found.iter().any(|call| call["preview"]["tool"] == "Read"), "{}", answers[2]);
}

pub(crate) fn search_and_retrieve(answers: &[Value]) {
    let found = matches(&answers[0]);
    assert!(found.len() <= 10, "{}", answers[0]);
    for result in found {
        assert_eq!(result["event_type"], "ToolResult");
        at_most(&result["preview"]["preview"], 301);
    }
    let event = &answers[1];
    assert_eq!(
        (&event["event_type"], &event["event_index"]),
        (&found[0]["event_type"], &found[0]["event_index"])
    );
    has(&event["payload"], &["call_id", "content"]);
}

pub(crate) fn summary(answer: &Value) {
    has(answer, &["session_id", "start_time", "end_time", "hint", "rate_limit"]);
    has(&answer["stats"], &["total_turns", "total_tokens", "duration_seconds"]);
    for (at, turn) in items(&answer["turns"]).enumerate() {
        assert_eq!(turn["id"], format!("turn-{at}"));
        has(turn, &["timestamp", "step_count"]);
        has(&turn["stats"], &["input_tokens", "output_tokens"]);
        at_most(&turn["user_message"], 200);
    }
}

pub(crate) fn turns(answer: &Value) {
    has(answer, &["session_id", "hint", "rate_limit"]);
    assert!(items(&answer["turns"]).count() > 0, "{answer}");
    for turn in items(&answer["turns"]) {
        has(turn, &["turn_index", "user_message", "key_actions"]);
        assert!(["success", "partial", "failed"].contains(&turn["outcome"].as_str().expect("an outcome")));
        for step in items(&turn["steps"]) {
            has(step, &["step_index", "summary", "tool_calls", "failed_tools"]);
            has(&step["tokens"], &["input", "output"]);
        }
    }
}

fn steps(answer: &Value) {
    has(answer, &["session_id", "hint", "rate_limit"]);
    let steps = items(&answer["turns"]).flat_map(|turn| items(&turn["steps"]));
    let tools: Vec<&Value> = steps.filter_map(|step| step["tools"].as_array()).flatten().collect();
    assert!(!tools.is_empty(), "{answer}");
    for tool in tools {
        if let Some(call) = tool.get("call") {
            has(call, &["name", "arguments"]);
        }
        if let Some(result) = tool.get("result") {
            at_most(&result["content"], 500);
        }
    }
}

pub(crate) fn analysis(answer: &Value) {
    assert!(answer["score"].as_u64().is_some_and(|score| score < 100), "{answer}");
    for insight in items(&answer["insights"]) {
        has(insight, &["turn_index", "severity", "lens", "message"]);
    }
    assert!(items(&answer["insights"]).any(|insight| insight["lens"] == "Failures"), "{answer}");
    has(
        &answer["summary"]["event_counts"],
        &["assistant_messages", "tool_calls", "tool_results", "user_messages"],
    );
}

/// The matches of a search that found something.
pub(crate) fn matches(answer: &Value) -> &[Value] {
    let found = wrapped(answer, "matches");
    assert!(!found.is_empty(), "{answer}");
    for found in found {
        has(found, &["session_id", "event_index", "timestamp", "event_type", "preview"]);
    }
    found
}

/// Projects, of which one was worked in.
pub(crate) fn projects(answer: &Value, worked_in: &Value) {
    let projects = wrapped(answer, "projects");
    for project in projects {
        has(project, &["hash", "session_count", "last_activity"]);
    }
    // Logs of Gemini CLI may tell no more of a project than its hash.
    let worked_in = projects.iter().find(|project| project["hash"] == *worked_in);
    has(worked_in.unwrap_or_else(|| panic!("not among {answer}")), &["root_path"]);
}

pub(crate) fn error(answer: &Value, code: &str) {
    let error = &answer["error"];
    assert_eq!((&error["code"], &error["retryable"]), (&code.into(), &false.into()), "{answer}");
    has(error, &["message", "details"]);
}
