//! What a scripted model does: calls tools one after another, then says that it is done. In a conversation that goes on it
//! may say so in between, until the user has something to say.

use serde_json::Value;

/// The model's last words, once the script is through.
pub const FINAL_TEXT: &str = "The script is done.";

/// What a call's arguments are, given what came before.
pub type StepArguments = Box<dyn Fn(&ScriptHistory) -> Value + Send>;

/// One step of the script.
pub enum ScriptStep {
    /// Call a tool of the MCP server, by its own name; how the agent spells it is the agent's affair.
    Call { tool: &'static str, arguments: StepArguments },
    /// End the turn, and go on when the user has said these words.
    AwaitWords(String),
}

impl ScriptStep {
    /// A call whose arguments may depend on what came before. A panic in `arguments` ends the conversation, and the
    /// run reports it.
    pub fn call(tool: &'static str, arguments: impl Fn(&ScriptHistory) -> Value + Send + 'static) -> Self {
        Self::Call { tool, arguments: Box::new(arguments) }
    }

    /// The end of a turn. The script goes on with a message of the user's that holds `words`, which must be in no earlier one.
    pub fn await_words(words: impl Into<String>) -> Self {
        Self::AwaitWords(words.into())
    }
}

/// The conversation as the model sees it when it is asked for its next step.
pub struct ScriptHistory<'a> {
    /// The request being answered, in the wire format of the agent.
    pub request: &'a Value,
    /// The results of the script's calls so far, in order.
    pub results: &'a [ToolResult],
}

/// A tool's answer as the agent passed it on to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    pub text: String,
}

impl ToolResult {
    /// The JSON object in the answer's text. Agents put words of their own around it (Codex says how long the call
    /// took), so this takes the first object that parses.
    pub fn json(&self) -> Value {
        self.text
            .match_indices('{')
            .find_map(|(start, _)| {
                let mut values = serde_json::Deserializer::from_str(&self.text[start..]).into_iter::<Value>();
                values.next()?.ok()
            })
            .unwrap_or_else(|| panic!("no JSON object in a tool's answer: {}", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::ToolResult;

    #[test]
    fn finds_the_object_among_the_agents_words() {
        let result = ToolResult { text: "Took {long}.\nOutput:\n{\"a\": [1]}\nBye {".to_owned() };
        assert_eq!(result.json(), serde_json::json!({"a": [1]}));
    }
}
