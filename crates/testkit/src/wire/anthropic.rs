//! Anthropic's Messages, streamed or whole. Used by Claude Code.

use std::fmt::Write as _;

use axum::response::Response;
use serde_json::{Value, json};

use super::{Reply, ReportedUsage, ToolName, event_stream, items, json_response, text_of};

pub(super) fn offered(body: &Value) -> Vec<ToolName> {
    items(&body["tools"]).filter_map(|tool| tool["name"].as_str()).map(ToolName::plain).collect()
}

pub(super) fn results(body: &Value) -> Vec<String> {
    items(&body["messages"])
        .flat_map(|message| items(&message["content"]))
        .filter(|block| block["type"] == "tool_result" && !is_waiting(&block["tool_use_id"]))
        .map(|block| text_of(&block["content"]))
        .collect()
}

/// Results of calls that are not the script's are ignored.
fn is_waiting(id: &Value) -> bool {
    id.as_str().is_some_and(|id| id.starts_with("toolu_waiting"))
}

/// Searches for the tool, which makes Claude Code notice that its server is ready.
pub(super) fn waiting_call(body: &Value, awaited: &ToolName) -> Option<Reply> {
    let tool = ToolName::plain("ToolSearch");
    let arguments = json!({"query": format!("select:{}", awaited.name)});
    let label = format!("waiting{}", items(&body["messages"]).count());
    offered(body).contains(&tool).then_some(Reply::Call { tool, arguments, label })
}

pub(super) fn side_answer(path: &str) -> Option<Response> {
    if path.ends_with("/count_tokens") {
        return Some(json_response(&json!({"input_tokens": 100})));
    }
    (!path.ends_with("/messages")).then(|| json_response(&json!({})))
}

pub(super) fn respond(body: &Value, reply: &Reply, usage: ReportedUsage) -> Response {
    // Clients count usage per message id, so ids must differ.
    let id = format!("msg_scripted{}", items(&body["messages"]).count());
    let message = json!({
        "id": id, "type": "message", "role": "assistant", "model": body["model"],
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": usage.input, "output_tokens": 1},
    });
    let (block, stop_reason) = match reply {
        Reply::Text(text) => (json!({"type": "text", "text": text}), "end_turn"),
        Reply::Call { tool, arguments, label } => {
            let id = format!("toolu_{label}");
            (json!({"type": "tool_use", "id": id, "name": tool.name, "input": arguments}), "tool_use")
        }
    };
    if body["stream"] != true {
        let mut whole = message;
        whole["content"] = json!([block]);
        whole["stop_reason"] = json!(stop_reason);
        return json_response(&whole);
    }
    // A streamed block begins empty and is filled by a delta.
    let (start, delta) = match reply {
        Reply::Text(text) => {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
        }
        Reply::Call { arguments, .. } => {
            let mut start = block;
            start["input"] = json!({});
            (start, json!({"type": "input_json_delta", "partial_json": arguments.to_string()}))
        }
    };
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason, "stop_sequence": null},
            "usage": {"output_tokens": usage.output},
        }),
        json!({"type": "message_stop"}),
    ];
    event_stream(events.iter().fold(String::new(), |mut stream, event| {
        let name = event["type"].as_str().unwrap_or_default();
        let _ = write!(stream, "event: {name}\ndata: {event}\n\n");
        stream
    }))
}
