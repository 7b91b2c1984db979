//! Google's generateContent, streamed or whole. Used by Gemini CLI.

use axum::response::Response;
use serde_json::{Value, json};

use super::{Reply, ReportedUsage, ToolName, event_stream, items, json_response, text_of};
use crate::script::FINAL_TEXT;

pub(super) fn offered(body: &Value) -> Vec<ToolName> {
    items(&body["tools"])
        .flat_map(|tool| items(&tool["functionDeclarations"]))
        .filter_map(|function| function["name"].as_str())
        .map(ToolName::plain)
        .collect()
}

pub(super) fn results(body: &Value) -> Vec<String> {
    items(&body["contents"])
        .flat_map(|content| items(&content["parts"]))
        .map(|part| &part["functionResponse"]["response"])
        .filter(|response| !response.is_null())
        .map(|response| match &response["output"] {
            Value::Null => response.to_string(),
            output => text_of(output),
        })
        .collect()
}

/// Besides the conversation, the agent counts tokens and asks small questions that want JSON back: which model to
/// use, and who speaks next. One object answers them all.
pub(super) fn side_answer(path: &str, body: &Value) -> Option<Response> {
    if path.ends_with(":countTokens") {
        return Some(json_response(&json!({"totalTokens": 100})));
    }
    let wants = &body["generationConfig"];
    let wants_json =
        wants["responseMimeType"] == "application/json" || !wants["responseJsonSchema"].is_null();
    wants_json.then(|| {
        let answer = json!({
            "reasoning": FINAL_TEXT, "next_speaker": "user", "model_choice": "flash",
            "complexity_reasoning": FINAL_TEXT, "complexity_score": 1,
        });
        whole_or_stream(path, &json!({"text": answer.to_string()}), ReportedUsage::FIXED)
    })
}

pub(super) fn respond(path: &str, reply: &Reply, usage: ReportedUsage) -> Response {
    let part = match reply {
        Reply::Text(text) => json!({"text": text}),
        Reply::Call { tool, arguments, .. } => {
            json!({"functionCall": {"name": tool.name, "args": arguments}})
        }
    };
    whole_or_stream(path, &part, usage)
}

fn whole_or_stream(path: &str, part: &Value, usage: ReportedUsage) -> Response {
    let answer = json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": usage.input, "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.total()},
        "modelVersion": "scripted", "responseId": "scripted",
    });
    if path.ends_with(":streamGenerateContent") {
        event_stream(format!("data: {answer}\r\n\r\n"))
    } else {
        json_response(&answer)
    }
}
