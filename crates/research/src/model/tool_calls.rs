//! Makes the tool calls of a model: tools of its role, each call once.

use std::collections::BTreeMap;

use serde_json::Value;
use tamis_codebase::{StopSignal, Stopped};
use tamis_redact::Redacted;

use super::chat::ToolCall;
use super::tools::{self, ToolError};
use crate::{BoundedReader, Role};

/// Bytes of one result: two thousand tokens, and less when a turn has many calls.
const MAX_RESULT_LENGTH: usize = 8 << 10;
const SHORTEST_RESULT: usize = 1 << 10;

/// Makes the tool calls of one conversation.
pub(super) struct ToolCaller<'a> {
    pub(super) role: Role,
    pub(super) reader: &'a BoundedReader,
    pub(super) stop: &'a StopSignal,
    /// Maximum bytes of the next result.
    pub(super) longest: usize,
    made: BTreeMap<String, Made>,
    limited: bool,
}

/// A call that was made.
struct Made {
    text: String,
    /// Whether its result is still in the conversation.
    stands: bool,
}

/// The reply to the model.
pub(super) struct Reply {
    pub(super) text: String,
    /// Whether this call is a new one.
    pub(super) new: bool,
}

impl<'a> ToolCaller<'a> {
    pub(super) fn new(role: Role, reader: &'a BoundedReader, stop: &'a StopSignal) -> ToolCaller<'a> {
        ToolCaller { role, reader, stop, longest: MAX_RESULT_LENGTH, made: BTreeMap::new(), limited: false }
    }

    /// Divides this many bytes among the next calls.
    pub(super) fn share(&mut self, bytes: usize, calls: usize) {
        self.longest = (bytes / calls.max(1)).clamp(SHORTEST_RESULT, MAX_RESULT_LENGTH);
    }

    /// Whether something was not read because the request's limits were reached.
    pub(super) fn was_limited(&self) -> bool {
        self.limited
    }

    /// Notes that results may have left the conversation.
    pub(super) fn forget(&mut self) {
        for made in self.made.values_mut() {
            made.stands = false;
        }
    }

    /// Makes a call. The model gets the reason for a failure, so that it can correct the call.
    pub(super) fn call(&mut self, call: &ToolCall) -> Result<Reply, Stopped> {
        self.stop.check()?;
        let arguments = match serde_json::from_str::<Value>(&call.arguments) {
            // Some models send this when there are no arguments.
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
            Err(ToolError::Stopped(stopped)) => return Err(stopped),
        };
        // Tools redact whole files before they cut; this covers names and error texts.
        let text = bounded(Redacted::from(text).into_inner(), self.longest);
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
