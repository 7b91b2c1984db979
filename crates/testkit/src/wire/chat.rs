//! OpenAI's chat completions, streamed or whole. Used by OpenCode, and by most clients of local models.

use axum::response::Response;
use serde_json::{Value, json};

use super::{Reply, ReportedUsage, ToolName, event_stream, items, json_response, text_of};

pub(super) fn offered(body: &Value) -> Vec<ToolName> {
    items(&body["tools"]).filter_map(|tool| tool["function"]["name"].as_str()).map(ToolName::plain).collect()
}

pub(super) fn results(body: &Value) -> Vec<String> {
    items(&body["messages"])
        .filter(|message| message["role"] == "tool")
        .map(|message| text_of(&message["content"]))
        .collect()
}

pub(super) fn respond(body: &Value, reply: &Reply, usage: ReportedUsage) -> Response {
    let (message, finish_reason) = match reply {
        Reply::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Reply::Call { tool, arguments, label } => {
            let call = json!({
                "index": 0, "id": format!("call_{label}"), "type": "function",
                "function": {"name": tool.name, "arguments": arguments.to_string()},
            });
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
    };
    let answer = |object: &str, choice: Value| {
        json!({
            "id": "chatcmpl-scripted", "object": object, "created": 0, "model": body["model"],
            "choices": [choice],
            "usage": {"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.total()},
        })
    };
    if body["stream"] != true {
        let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason});
        return json_response(&answer("chat.completion", choice));
    }
    let text = json!({"index": 0, "delta": message, "finish_reason": null});
    let ended = json!({"index": 0, "delta": {}, "finish_reason": finish_reason});
    let (text, ended) = (answer("chat.completion.chunk", text), answer("chat.completion.chunk", ended));
    event_stream(format!("data: {text}\n\ndata: {ended}\n\ndata: [DONE]\n\n"))
}
