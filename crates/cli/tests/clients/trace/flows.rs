//! What a model asks of the tools: the contract's three flows, call by call, each call with what the ones before it
//! answered at hand, and how large each answer may be.

use serde_json::{Value, json};
use tamis_testkit::{ScriptStep, ToolResult};

/// One call, and the most bytes that its answer may have.
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    pub(crate) most: usize,
    arguments: Box<StepArguments>,
}

/// A call's arguments, from the answers to the calls before it.
type StepArguments = dyn Fn(&[Value]) -> Value + Send;

const KB: usize = 1000;

/// The most that an investigation may have in all.
pub(crate) const FLOW: usize = 200 * KB;

pub(crate) const LIST: usize = 20 * KB;
pub(crate) const SUMMARY: usize = 15 * KB;
pub(crate) const TURNS: usize = 30 * KB;
pub(crate) const STEPS: usize = 100 * KB;
pub(crate) const ANALYSIS: usize = 5 * KB;
pub(crate) const SEARCH: usize = 15 * KB;
pub(crate) const EVENT: usize = 10 * KB;

impl Call {
    /// Arguments may depend on the answers to the calls before.
    pub(crate) fn new(
        tool: &'static str,
        most: usize,
        arguments: impl Fn(&[Value]) -> Value + Send + 'static,
    ) -> Call {
        Call { tool, most, arguments: Box::new(arguments) }
    }

    pub(crate) fn step(self) -> ScriptStep {
        ScriptStep::call(self.tool, move |history| {
            let answers: Vec<Value> = history.results.iter().map(ToolResult::json).collect();
            (self.arguments)(&answers)
        })
    }
}

/// Debug failed tools: from the list of sessions down to the exact error.
pub(crate) fn debug_failed_tools() -> Vec<Call> {
    let session = |answers: &[Value]| most(&answers[0]["data"]["sessions"], "total_tokens")["id"].clone();
    let details = move |level: &'static str, most| {
        Call::new(
            "get_session_details",
            most,
            move |answers| json!({"session_id": session(answers), "detail_level": level}),
        )
    };
    vec![
        Call::new("list_sessions", LIST, |_| json!({"provider": "claude_code", "limit": 10})),
        Call::new("analyze_session", ANALYSIS, move |answers| json!({"session_id": session(answers)})),
        details("turns", TURNS),
        details("steps", STEPS),
        Call::new(
            "search_event_previews",
            SEARCH,
            move |answers| json!({"query": "error", "session_id": session(answers)}),
        ),
        Call::new("get_event_details", EVENT, |answers| first_match(&answers[4])),
    ]
}

/// Token usage pattern, of a session that the first answer lists: which turn used them, and for what.
pub(crate) fn token_usage_pattern() -> Vec<Call> {
    let details = |level: &'static str, bytes| {
        Call::new("get_session_details", bytes, move |answers| {
            let session = &most(&answers[0]["data"]["sessions"], "turn_count")["id"];
            json!({"session_id": session, "detail_level": level})
        })
    };
    vec![
        details("summary", SUMMARY),
        details("turns", TURNS),
        Call::new(
            "search_event_previews",
            2 * SEARCH,
            |_| json!({"query": "Read", "event_type": "ToolCall", "limit": 20}),
        ),
    ]
}

/// Search and retrieve: failures anywhere, and one of them whole. `before` calls come before it.
pub(crate) fn search_and_retrieve(before: usize) -> Vec<Call> {
    vec![
        Call::new(
            "search_event_previews",
            SEARCH,
            |_| json!({"query": "error", "event_type": "ToolResult", "limit": 10}),
        ),
        Call::new("get_event_details", EVENT, move |answers| first_match(&answers[before])),
    ]
}

/// The object of a list that has the most of something.
pub(crate) fn most<'a>(list: &'a Value, of: &str) -> &'a Value {
    let items = list.as_array().expect("a list");
    items.iter().max_by_key(|item| item[of].as_u64()).expect("an item")
}

/// What names the first match of a search to `get_event_details`.
pub(crate) fn first_match(found: &Value) -> Value {
    let first = &found["data"]["matches"][0];
    assert!(first.is_object(), "nothing was found: {found}");
    json!({"session_id": first["session_id"], "event_index": first["event_index"]})
}
