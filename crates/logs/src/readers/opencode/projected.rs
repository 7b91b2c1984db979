//! The messages of the next version's table, put into today's form.

use serde_json::{Value, json};

use super::{Message, Part};

/// `None` for a type that is not known.
pub(super) fn message(kind: &str, mut message: Message) -> Option<Message> {
    let data = message.data.take();
    let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (info, parts) = match kind {
        "user" => {
            let mut parts = vec![json!({"type": "text", "text": text("text")})];
            for file in list(&data, "files") {
                parts.push(json!({"type": "file", "url": file.get("uri"), "mime": file.get("mime"), "filename": file.get("name")}));
            }
            (json!({"role": "user"}), parts)
        }
        "synthetic" | "system" => {
            (json!({"role": "user"}), vec![json!({"type": "text", "text": text("text"), "synthetic": true})])
        }
        "compaction" => {
            let summary = json!({"type": "text", "text": text("summary")});
            (json!({"role": "assistant", "summary": true}), vec![summary])
        }
        "shell" => {
            let mut state = json!({"status": "running", "input": {"command": text("command")}});
            if data.pointer("/time/completed").is_some() {
                state["status"] = "completed".into();
                state["output"] = text("output").into();
            }
            let tool = json!({"type": "tool", "tool": "bash", "callID": text("callID"), "state": state});
            (json!({"role": "assistant"}), vec![tool])
        }
        "agent-switched" => {
            let note = format!("switched to agent {}", text("agent"));
            (json!({"role": "user"}), vec![json!({"type": "text", "text": note, "synthetic": true})])
        }
        "model-switched" => {
            let model = data.pointer("/model/id").and_then(Value::as_str).unwrap_or("another");
            let note = format!("switched to model {model}");
            (json!({"role": "user"}), vec![json!({"type": "text", "text": note, "synthetic": true})])
        }
        "assistant" => {
            let info = json!({
                "role": "assistant",
                "modelID": data.pointer("/model/id"),
                "tokens": data.get("tokens"),
                "error": data.get("error").map(|error| json!({"name": "error", "data": error})),
                "time": data.get("time"),
            });
            (info, list(&data, "content").map(content).collect())
        }
        _ => return None,
    };
    message.data = info;
    let id = message.id.clone();
    let part = |(place, data): (usize, Value)| Part { id: format!("{id}.{place}"), created: None, data };
    message.parts = parts.into_iter().enumerate().map(part).collect();
    Some(message)
}

fn list<'a>(data: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    data.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn content(piece: &Value) -> Value {
    if piece.get("type").is_none_or(|kind| kind != "tool") {
        return piece.clone();
    }
    let mut state = piece.get("state").cloned().unwrap_or_default();
    if let (Some(content), Value::Object(state)) = (state.get("content").cloned(), &mut state) {
        state.entry("output").or_insert(content);
        if let Some(message) = state.get("error").and_then(|error| error.get("message")).cloned() {
            state.insert("error".into(), message);
        }
        let time = |name: &str| piece.get("time").and_then(|time| time.get(name)).cloned();
        let start = time("ran").or_else(|| time("created"));
        state.insert("time".into(), json!({"start": start, "end": time("completed")}));
    }
    json!({"type": "tool", "tool": piece.get("name"), "callID": piece.get("id"), "state": state})
}
