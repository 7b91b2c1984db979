//! The gateway: stands between an MCP client and an MCP server, and prunes large results of the server's tools.
//!
//! Entry point: [`serve`]. `gateway.rs` decides what happens to each message; `tool_result.rs` and `tool_list.rs` find what
//! is changed in it.
//!
//! Only two things change. The list of tools gets `recover_text`, which the gateway answers itself, and large texts in tool
//! results are pruned. All else passes byte for byte, in both directions. So messages are not read into types of the
//! protocol, which would drop what they do not know: a line is scanned for its id and method, and parts of its text are
//! replaced.
//!
//! Never fails a call: on any problem the server's own bytes reach the client. Never holds more than one message per side and
//! request in flight; a message over 16 MiB passes in pieces, unread.

mod client_output;
mod config_file;
mod events;
mod gateway;
mod goal;
mod http_headers;
mod http_link;
mod in_flight;
mod lines;
mod many;
mod merge;
mod message;
mod serve;
mod server;
mod settings;
mod tool_list;
mod tool_result;

pub use config_file::{ServerListError, expand_variables};
pub use serve::{GatewayError, serve};
pub use settings::{GatewayPruning, GatewayServer, GatewaySettings, PrunedTools, ServerConnection};

/// For the fuzz target `gateway_messages`.
#[cfg(fuzzing)]
pub mod fuzzing {
    use serde_json::Value;

    use crate::message::{IdKey, LineContent, json_string, replace};
    use crate::settings::{GatewayPruning, PrunedTools};
    use crate::tool_list::KnownTools;
    use crate::tool_result::large_texts;

    /// Checks that what the gateway changes in a line leaves the rest of it as it is.
    pub fn check_line(line: &[u8]) {
        let content = LineContent::of(line);
        let Ok(text) = std::str::from_utf8(line) else { return assert!(content.messages().is_empty()) };
        let pruning =
            GatewayPruning { threshold: 0.5, min_chars: 4, tools: PrunedTools::All, structured: true };
        for message in content.messages() {
            assert!(text.contains(message.text), "a message is a part of its line");
            message.id.map(IdKey::of);
            message.param(&["arguments", "a"]);
            let Some(result) = message.result else { continue };
            let texts = large_texts(text, result, &pruning);
            let same: Vec<_> =
                texts.iter().map(|large| (large.range.clone(), json_string(&large.text))).collect();
            // Numbers of any size are read as some value, so both sides lose the same.
            let value = |text: &str| serde_json::from_str::<Value>(text).ok();
            assert_eq!(value(&replace(text, &same)), value(text), "the same texts in the same places");
            let tools = |result: &str| value(result).and_then(|list| list["tools"].as_array().map(Vec::len));
            if let Some((range, own)) = KnownTools::default().learn(text, result, r#"{"name":"own"}"#) {
                let start = result.as_ptr() as usize - text.as_ptr() as usize;
                let in_result = range.start - start..range.end - start;
                let longer = replace(result, &[(in_result, own)]);
                assert_eq!(tools(&longer), tools(result).map(|count| count + 1), "one more tool");
            }
        }
    }
}
