//! The script of a model: tool calls one after another, then the final text. In a longer conversation it may end a turn in
//! between and wait for the user's next message.

use serde_json::Value;

/// The model's text at the end of the script.
pub const FINAL_TEXT: &str = "The script is done.";

/// Makes a call's arguments from the conversation so far.
pub type StepArguments = Box<dyn Fn(&ScriptHistory) -> Value + Send>;

/// One step of the script.
pub enum ScriptStep {
    /// Call a tool of the MCP server, by its own name and not the client's spelling.
    Call { tool: &'static str, arguments: StepArguments },
    /// Call one of the client's own tools, by the name that the client offers it under.
    CallOwn { tool: &'static str, arguments: StepArguments },
    /// End the turn, and go on after a user message with these words.
    AwaitWords(String),
}

impl ScriptStep {
    /// A call whose arguments may depend on the results so far. A panic in `arguments` ends the conversation and is reported
    /// by the run.
    pub fn call(tool: &'static str, arguments: impl Fn(&ScriptHistory) -> Value + Send + 'static) -> Self {
        Self::Call { tool, arguments: Box::new(arguments) }
    }

    /// The same for one of the client's own tools.
    pub fn own(tool: &'static str, arguments: impl Fn(&ScriptHistory) -> Value + Send + 'static) -> Self {
        Self::CallOwn { tool, arguments: Box::new(arguments) }
    }

    /// The end of a turn. The script goes on with a user message that contains `words`, which must be in no earlier one.
    pub fn await_words(words: impl Into<String>) -> Self {
        Self::AwaitWords(words.into())
    }
}

/// The conversation as the model sees it before its next step.
pub struct ScriptHistory<'a> {
    /// The request being answered, in the client's wire format.
    pub request: &'a Value,
    /// The results of the script's calls so far, in order.
    pub results: &'a [ToolResult],
}

/// A tool's result as the client passed it on to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    pub text: String,
}

impl ToolResult {
    /// The JSON object in the result. Clients add text around it (Codex adds how long the call took), so this is the first
    /// object that parses.
    pub fn json(&self) -> Value {
        self.text
            .match_indices('{')
            .find_map(|(start, _)| {
                let mut values = serde_json::Deserializer::from_str(&self.text[start..]).into_iter::<Value>();
                values.next()?.ok()
            })
            .unwrap_or_else(|| panic!("no JSON object in a tool's result: {}", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::ToolResult;

    #[test]
    fn the_object_is_found_in_the_clients_text() {
        let result = ToolResult { text: "Took {long}.\nOutput:\n{\"a\": [1]}\nBye {".to_owned() };
        assert_eq!(result.json(), serde_json::json!({"a": [1]}));
    }
}
