//! Where a subagent's calls are made: by tools of its role, within its view, each once.

use std::collections::BTreeMap;

use serde_json::Value;
use tamis_codebase::{Halt, Halted};
use tamis_http::ToolCall;
use tamis_redact::Redacted;

use super::tools::{self, ToolError};
use crate::{BoundedReader, Role};

/// What one call may give, in bytes: two thousand tokens, and less when there are many in a turn.
const MAX_RESULT_LENGTH: usize = 8 << 10;
const SHORTEST_RESULT: usize = 1 << 10;

/// Makes the calls of one conversation.
pub(super) struct ToolCaller<'a> {
    pub(super) role: Role,
    pub(super) reader: &'a BoundedReader,
    pub(super) halt: &'a Halt,
    /// How many bytes the next result may have.
    pub(super) longest: usize,
    made: BTreeMap<String, Made>,
    limited: bool,
}

/// A call that was made.
struct Made {
    text: String,
    /// Whether its result still stands in the conversation.
    stands: bool,
}

/// What the model is told.
pub(super) struct Reply {
    pub(super) text: String,
    /// Whether the call was not made before.
    pub(super) new: bool,
}

impl<'a> ToolCaller<'a> {
    pub(super) fn new(role: Role, reader: &'a BoundedReader, halt: &'a Halt) -> ToolCaller<'a> {
        ToolCaller { role, reader, halt, longest: MAX_RESULT_LENGTH, made: BTreeMap::new(), limited: false }
    }

    /// The next calls have so many bytes together.
    pub(super) fn share(&mut self, bytes: usize, calls: usize) {
        self.longest = (bytes / calls.max(1)).clamp(SHORTEST_RESULT, MAX_RESULT_LENGTH);
    }

    /// Whether something was not read because the request's limits were reached.
    pub(super) fn was_limited(&self) -> bool {
        self.limited
    }

    /// Results may have left the conversation.
    pub(super) fn forget(&mut self) {
        for made in self.made.values_mut() {
            made.stands = false;
        }
    }

    /// Makes a call. Whatever is wrong with it is told to the model, which may do better.
    pub(super) fn call(&mut self, call: &ToolCall) -> Result<Reply, Halted> {
        self.halt.check()?;
        let arguments = match serde_json::from_str::<Value>(&call.arguments) {
            // What some models write when there is nothing to say.
            _ if call.arguments.trim().is_empty() => Ok(serde_json::Map::new()),
            Ok(Value::Object(arguments)) => Ok(arguments),
            Ok(Value::Null) => Ok(serde_json::Map::new()),
            Ok(_) => Err("error: the arguments are no JSON object".to_owned()),
            Err(error) => Err(format!("error: the arguments are not JSON: {error}")),
        };
        let key = match &arguments {
            Ok(arguments) => format!("{} {}", call.name, Value::Object(arguments.clone())),
            Err(_) => format!("{} {}", call.name, call.arguments),
        };
        if let Some(made) = self.made.get_mut(&key) {
            let text = if made.stands {
                "the same call was made before; its result stands above. Call something else, or answer."
                    .to_owned()
            } else {
                made.text.clone()
            };
            made.stands = true;
            return Ok(Reply { text, new: false });
        }
        let result = arguments.map_err(ToolError::Message);
        let text = match result.and_then(|arguments| tools::call(self, &call.name, &arguments)) {
            Ok(text) => text,
            Err(ToolError::Message(text)) => text,
            Err(ToolError::Limited(text)) => {
                self.limited = true;
                text
            }
            Err(ToolError::Halted(halted)) => return Err(halted),
        };
        // Every tool redacts whole files before it cuts; this is for names and words of errors.
        let text = bounded(Redacted::from(text).into_string(), self.longest);
        self.made.insert(key, Made { text: text.clone(), stands: true });
        Ok(Reply { text, new: true })
    }
}

fn bounded(mut text: String, longest: usize) -> String {
    if text.len() > longest {
        text.truncate(text.floor_char_boundary(longest));
        text.push_str("\n… (cut: too long)");
    }
    text
}
