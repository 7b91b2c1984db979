//! OpenAI's Responses, streamed. Used by Codex, which offers an MCP server's tools in a namespace of their own.

use std::fmt::Write as _;

use axum::response::Response;
use serde_json::{Value, json};

use super::{Reply, ReportedUsage, ToolName, event_stream, items, text_of};

pub(super) fn offered(body: &Value) -> Vec<ToolName> {
    items(&body["tools"])
        .flat_map(|tool| {
            let namespace = (tool["type"] == "namespace").then(|| &tool["name"]).and_then(Value::as_str);
            let tools: Vec<&Value> = match namespace {
                Some(_) => items(&tool["tools"]).collect(),
                None => vec![tool],
            };
            tools.into_iter().filter_map(move |tool| {
                let name = tool["name"].as_str()?.to_owned();
                Some(ToolName { namespace: namespace.map(str::to_owned), name })
            })
        })
        .collect()
}

pub(super) fn results(body: &Value) -> Vec<String> {
    items(&body["input"])
        .filter(|item| item["type"] == "function_call_output")
        .map(|item| text_of(&item["output"]))
        .collect()
}

pub(super) fn respond(body: &Value, reply: &Reply, usage: ReportedUsage) -> Response {
    let item = match reply {
        Reply::Text(text) => json!({
            "type": "message", "id": "msg_scripted", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Reply::Call { tool, arguments, label } => {
            let mut call = json!({
                "type": "function_call", "id": format!("fc_{label}"),
                "call_id": format!("call_{label}"), "status": "completed",
                "name": tool.name, "arguments": arguments.to_string(),
            });
            if let Some(namespace) = &tool.namespace {
                call["namespace"] = json!(namespace);
            }
            call
        }
    };
    let mut begun = item.clone();
    begun["status"] = json!("in_progress");
    // Clients count usage per response id, so ids must differ.
    let id = format!("resp_scripted{}", items(&body["input"]).count());
    let response = json!({
        "id": id, "object": "response", "created_at": 0, "model": body["model"],
        "status": "in_progress", "output": [],
    });
    let mut completed = response.clone();
    completed["status"] = json!("completed");
    completed["output"] = json!([item]);
    completed["usage"] = json!({
        "input_tokens": usage.input, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.total(),
    });
    let mut events = vec![
        json!({"type": "response.created", "response": response}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": begun}),
    ];
    if let Reply::Text(text) = reply {
        events.push(json!({
            "type": "response.output_text.delta", "item_id": "msg_scripted", "output_index": 0,
            "content_index": 0, "delta": text,
        }));
    }
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    events.push(json!({"type": "response.completed", "response": completed}));

    let mut stream = String::new();
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
        let name = event["type"].as_str().unwrap_or_default();
        let _ = write!(stream, "event: {name}\ndata: {event}\n\n");
    }
    event_stream(stream)
}
