//! Gemini CLI.
//!
//! A conversation is stored in `~/.gemini/tmp/<project>/chats/session-<time>-<8 of the id>.jsonl`, where `<project>` is a name
//! made from the folder's (before 2026 the SHA-256 of its path). Until the spring of 2026 it was one JSON document,
//! `session-*.json`, which is rewritten as a whole:
//!
//! ```text
//! {"sessionId", "projectHash", "startTime", "lastUpdated", "summary"?, "kind"?, "messages": [message…]}
//! ```
//!
//! Since then it is a log of lines, which still has to be read whole, since later lines change earlier ones:
//!
//! ```text
//! {"sessionId", "projectHash", "startTime", "kind": "main"|"subagent", …}   the head; again after each resumption
//! {"id", "timestamp", "type": "user"|"gemini"|"info"|"error"|"warning", …}  a message; the same id again replaces it
//! {"$set": {"lastUpdated": …}}                                              changes of the head
//! {"$set": {"messages": […]}}                                               what the model will see from now on
//! {"$rewindTo": "id"}                                                       this message and all after it are taken back
//! ```
//!
//! A message of the model has `content`, `thoughts`, `tokens`, `model` and `toolCalls`, which hold their results. Tools'
//! results are repeated, as a "user" message of `functionResponse` parts.
//!
//! - **`$set.messages` is not the history.** It is written by resuming, by compressing and by masking long results. It has the
//!   messages without their tokens and tool calls, with new times, after compressing with new ids; and it leaves out what
//!   was compressed. So it adds only what was never seen (the summary), and changes nothing that was recorded.
//! - **Rewinding** takes messages out of the conversation, and a notification says how many. Their tokens were used all
//!   the same, and count.
//! - **Tokens**: `input` is the API's `promptTokenCount`, which includes `cached`; `output` is `candidatesTokenCount`, which
//!   does not include `thoughts`; `tool` is read besides the prompt. `total` is the sum of input, output, thoughts and
//!   tool; where it shows that the output has the thoughts in it, they are not added again.
//! - **Subagents** have logs of their own, `chats/<parent's id>/<id>.jsonl`. Only the folder names the parent
//!   (`locations`).
//! - **Ignored**: `lastUpdated`, `memoryScratchpad`, a subagent's `summary`, which repeats its last call; of a tool call `displayName`, `description`,
//!   `renderOutputAsMarkdown`, and `resultDisplay` beside a result.
//!
//! Not read, since the conversations repeat what they have: `logs.json` (prompts alone, of many sessions) and
//! `checkpoint-*.json` (copies that a person saved).

mod document;
mod events;
mod locations;
mod pieces;
mod tokens;
mod torn;

use serde_json::{Map, Value};

use super::hashing::hex_sha256;
use super::{ParsedLog, SessionFact, time};
pub(super) use locations::facts_of_path;

/// Reads a conversation; `None` when it is not one of Gemini CLI's.
///
/// A torn last line or a broken document gives what can be read, and says so.
pub fn read(text: &str) -> Option<ParsedLog<'static>> {
    let conversation = document::Conversation::read(text)?;
    Some(events::transcript(conversation))
}

fn facts(head: &Map<String, Value>) -> Vec<SessionFact<'static>> {
    let text = |name: &str| head.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut facts = Vec::new();
    facts.extend(text("sessionId").map(|id| SessionFact::Id(id.to_owned().into())));
    if let Some(hash) = text("projectHash") {
        let folders = head.get("directories").and_then(Value::as_array).into_iter().flatten();
        let root = folders.filter_map(Value::as_str).find(|folder| hex_sha256(folder) == hash);
        facts.extend(root.map(|root| SessionFact::Root(root.to_owned().into())));
        facts.push(SessionFact::RootHash(hash.to_owned().into()));
    }
    facts.extend(text("startTime").and_then(time).map(SessionFact::Started));
    // A subagent's is what it gave back.
    if text("kind") != Some("subagent") {
        facts.extend(text("summary").map(|title| SessionFact::Title(title.to_owned().into())));
    }
    facts
}
