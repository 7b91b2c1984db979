//! `POST /rpc`: JSON-RPC 2.0 over plain HTTP, for clients that are no MCP clients.
//!
//! Ids are echoed as the bytes that came, so that no number is rounded on its way. JSON-RPC errors are answers,
//! with status 200; what is not answered (notifications) gets 202 and no body.

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tamis_tools::{Access, Caller, Context, Reply, RpcError};

use crate::http_door::caller;
use crate::{Served, mcp};

/// Enough for any client; more would let a small request ask for a huge answer.
const LARGEST_BATCH: usize = 256;

pub(crate) async fn answer(
    State(served): State<Served>,
    Extension(access): Extension<Access>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let door = RpcDoor { served, access, caller: caller("rpc", &headers) };
    match door.answer_all(&body).await {
        Some(answer) => ([(header::CONTENT_TYPE, "application/json")], answer).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

struct RpcDoor {
    served: Served,
    access: Access,
    caller: Caller,
}

/// A message, unchecked. Members that are `null` are told apart from members that are not there.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
}

fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A message that is a request or a notification.
struct Message<'a> {
    id: Option<&'a str>,
    method: String,
    params: Value,
}

impl RpcDoor {
    /// The answer to a request or a batch; None when there is nothing to answer.
    async fn answer_all(&self, body: &[u8]) -> Option<String> {
        let message: &RawValue = match serde_json::from_slice(body) {
            Ok(message) => message,
            Err(error) => return Some(failure("null", &rpc_error(-32700, format!("Parse error: {error}")))),
        };
        if !message.get().starts_with('[') {
            return self.answer_one(message.get()).await;
        }
        let messages: Vec<&RawValue> = serde_json::from_str(message.get()).unwrap_or_default();
        if messages.is_empty() || messages.len() > LARGEST_BATCH {
            let why = format!("Invalid Request: a batch has 1 to {LARGEST_BATCH} messages");
            return Some(failure("null", &rpc_error(-32600, why)));
        }
        let mut answers = Vec::with_capacity(messages.len());
        for message in messages {
            answers.extend(self.answer_one(message.get()).await);
        }
        (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
    }

    async fn answer_one(&self, message: &str) -> Option<String> {
        let message = match check(message) {
            Ok(message) => message,
            Err((id, error)) => return Some(failure(id, &error)),
        };
        // A notification asks for nothing, so nothing is done: no method here has an effect of its own.
        let id = message.id?;
        Some(match self.call(&message.method, message.params).await {
            Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Err(error) => failure(id, &error),
        })
    }

    /// The result of a method, as JSON.
    async fn call(&self, method: &str, params: Value) -> Result<String, RpcError> {
        let result = match method {
            "initialize" => mcp::plain_initialize(&params),
            "ping" => json!({}),
            "tools/list" => json!({"tools": mcp::plain_list(&self.served.registry, self.access)}),
            "tools/call" => return self.call_tool(params).await,
            "health" => return self.tool("health", Value::Null).await.map(|(text, _)| text),
            "resources/list" => json!({"resources": []}),
            "resources/templates/list" => json!({"resourceTemplates": []}),
            "prompts/list" => json!({"prompts": []}),
            // Sent as a request by mistake: harmless.
            "notifications/initialized" => json!({}),
            _ => return Err(rpc_error(-32601, format!("Method not found: {method}"))),
        };
        Ok(result.to_string())
    }

    async fn call_tool(&self, params: Value) -> Result<String, RpcError> {
        #[derive(Deserialize)]
        struct Params {
            name: String,
            #[serde(default)]
            arguments: Value,
        }
        let params: Params = serde_json::from_value(params)
            .map_err(|error| rpc_error(-32602, format!("Invalid params: {error}")))?;
        let (text, is_error) = self.tool(&params.name, params.arguments).await?;
        let mut result = json!({"content": [{"type": "text", "text": text}]});
        if is_error {
            result["isError"] = true.into();
        }
        Ok(result.to_string())
    }

    async fn tool(&self, name: &str, arguments: Value) -> Result<(String, bool), RpcError> {
        let context = Context::new(self.served.services.clone(), self.caller.clone(), self.access);
        // When the client hangs up, this future is dropped, and with it the guard.
        let _gone = context.cancellation.clone().drop_guard();
        match self.served.registry.call(name, arguments, context).await {
            Reply::Text { text, is_error } => Ok((text, is_error)),
            Reply::Error(error) => Err(error),
        }
    }
}

/// A message that JSON-RPC allows, or the id and the error to answer with.
fn check(text: &str) -> Result<Message<'_>, (&str, RpcError)> {
    let invalid = |why: &str| rpc_error(-32600, format!("Invalid Request: {why}"));
    let envelope: Envelope<'_> =
        serde_json::from_str(text).map_err(|error| ("null", invalid(&error.to_string())))?;
    let id = envelope.id.map(RawValue::get);
    let is_id = |id: &str| {
        id == "null" || id.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
    };
    if id.is_some_and(|id| !is_id(id)) {
        return Err(("null", invalid("id must be a string or a number")));
    }
    let for_id = id.unwrap_or("null");
    if envelope.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
        return Err((for_id, invalid("jsonrpc must be \"2.0\"")));
    }
    let method = envelope
        .method
        .and_then(|method| serde_json::from_str::<String>(method.get()).ok())
        .ok_or_else(|| (for_id, invalid("method must be a string")))?;
    let params = match envelope.params {
        None => Value::Null,
        Some(params) => serde_json::from_str(params.get())
            .map_err(|error| (for_id, rpc_error(-32602, format!("Invalid params: {error}"))))?,
    };
    match params {
        Value::Object(_) | Value::Null => Ok(Message { id, method, params }),
        Value::Array(_) => {
            Err((for_id, rpc_error(-32602, "Invalid params: by name, not by position".into())))
        }
        _ => Err((for_id, invalid("params must be an object"))),
    }
}

fn rpc_error(code: i32, message: String) -> RpcError {
    RpcError { code, message, data: None }
}

fn failure(id: &str, error: &RpcError) -> String {
    let mut object = json!({"code": error.code, "message": error.message});
    if let Some(data) = &error.data {
        object["data"] = data.clone();
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{object}}}"#)
}
