//! The goal of a tool result. A gateway does not know the question of the person or the model, only the call.
//!
//! An argument that is a query says what is looked for, so it leads, and the other arguments follow. Without one, the goal is
//! what the tool does and with what, as an overheard goal: source code and documents stay whole, and of logs only what passed or
//! repeats may go.

use serde_json::Value;
use tamis_prune::overheard_goal;

use crate::in_flight::ToolCall;

/// Names of arguments that hold a query, in lower case and without separators. Longer names may end with one of them.
const QUERY_NAMES: &[&str] = &[
    "query",
    "question",
    "search",
    "searchterm",
    "searchterms",
    "keyword",
    "keywords",
    "pattern",
    "regex",
    "prompt",
    "goal",
    "goalhint",
    "task",
    "topic",
    "intent",
    "focus",
    "objective",
    "instruction",
    "instructions",
];

/// Too short to be the end of another name.
const SHORT_QUERY_NAMES: &[&str] = &["q", "term", "terms", "text", "ask", "find"];

/// A question without a telling name begins with one of these, or ends with a question mark.
const QUESTION_WORDS: &[&str] =
    &["how", "what", "where", "why", "which", "who", "when", "find", "does", "is", "are"];

/// Longer arguments are texts that a tool is given, not words to look for.
const MAX_ARGUMENT_CHARS: usize = 500;

/// A goal has at most about this many characters.
const MAX_GOAL_CHARS: usize = 1_500;

/// The goal of a call, from its arguments, the tool's name and its description.
pub(crate) fn of_call(call: &ToolCall, description: Option<&str>) -> String {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
    let (mut queries, mut others) = (Vec::new(), Vec::new());
    collect("", &arguments, 3, &mut queries, &mut others);
    let mut goal = queries.join(". ");
    if queries.is_empty() {
        goal = call.tool.replace(['_', '-', '.', '/'], " ");
    }
    for other in others {
        goal.push_str(". ");
        goal.push_str(&other);
    }
    if queries.is_empty() {
        let request = description.map_or(call.tool.as_str(), first_sentence);
        return overheard_goal("", &goal, request);
    }
    goal.chars().take(MAX_GOAL_CHARS).collect()
}

/// Sorts the strings of an argument into queries and others, which are given with their names.
fn collect(name: &str, value: &Value, depth: usize, queries: &mut Vec<String>, others: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() && text.chars().count() <= MAX_ARGUMENT_CHARS => {
            let text = text.trim();
            if is_query_name(name) || is_question(text) {
                queries.push(text.to_owned());
            } else {
                others.push(format!("{name} {text}"));
            }
        }
        Value::Array(items) if depth > 0 => {
            items.iter().for_each(|item| collect(name, item, depth - 1, queries, others));
        }
        Value::Object(members) if depth > 0 => {
            members.iter().for_each(|(name, value)| collect(name, value, depth - 1, queries, others));
        }
        _ => {}
    }
}

fn is_query_name(name: &str) -> bool {
    let plain: String =
        name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    SHORT_QUERY_NAMES.contains(&plain.as_str()) || QUERY_NAMES.iter().any(|query| plain.ends_with(query))
}

fn is_question(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default().to_lowercase();
    let has_several = words.nth(1).is_some();
    has_several && (text.ends_with('?') || QUESTION_WORDS.contains(&first.as_str()))
}

fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").or_else(|| text.find('\n')).unwrap_or(text.len());
    text[..end].trim_end_matches('.').trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_leads_and_without_one_the_tool_says_what_it_does() {
        let description = Some("Read a file as text. Handles encodings.");
        for (tool, arguments, goal) in [
            ("search", r#"{"path":"/src","query":"session expiry"}"#, "session expiry. path /src"),
            ("search_code", r#"{"searchQuery":"a b","limit":3}"#, "a b"),
            ("ask", r#"{"input":"How does the parser recover?"}"#, "How does the parser recover?"),
            ("grep", r#"{"args":{"pattern":"fn main","globs":["*.rs"]}}"#, "fn main. globs *.rs"),
            ("read_file", r#"{"path":"src/a.rs"}"#, "read file. path src/a.rs Task: Read a file as text"),
            ("read_file", "", "read file Task: Read a file as text"),
            ("read_file", "[1,null]", "read file Task: Read a file as text"),
        ] {
            let call = ToolCall { tool: tool.to_owned(), arguments: arguments.to_owned() };
            assert_eq!(of_call(&call, description), goal, "{tool} {arguments}");
        }
        let long = format!(r#"{{"content":"{}"}}"#, "x ".repeat(400));
        let call = ToolCall { tool: "write".to_owned(), arguments: long };
        assert_eq!(of_call(&call, None), "write Task: write");
    }
}
