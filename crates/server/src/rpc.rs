//! `POST /rpc`: JSON-RPC 2.0 over plain HTTP, for programs that are not MCP clients.
//!
//! JSON-RPC errors have status 200; notifications get 202 and no body.

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tamis_tools::{Caller, Context, Reply, RpcError};

use crate::envelope::{NO_ID, failure, json_value, message, success};
use crate::guard::Admitted;
use crate::routes::caller;
use crate::{Served, mcp};

/// More would let a small request cause a huge answer.
const MAX_BATCH: usize = 256;

/// A batch fails when its answers are larger than this.
const MAX_ANSWER_BYTES: usize = 64 << 20;

pub(crate) async fn answer(
    State(served): State<Served>,
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let caller = caller("rpc", &headers, &admitted);
    let door = RpcDoor { served, admitted, caller };
    match door.answer_all(&body).await {
        Some(answer) => ([(header::CONTENT_TYPE, "application/json")], answer).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

struct RpcDoor {
    served: Served,
    admitted: Admitted,
    caller: Caller,
}

impl RpcDoor {
    /// The answer to a request or a batch; None when there is nothing to answer.
    async fn answer_all(&self, body: &[u8]) -> Option<String> {
        let value = match json_value(body) {
            Ok(value) => value,
            Err(invalid) => return Some(invalid.to_json()),
        };
        if !value.starts_with('[') {
            return self.answer_one(value).await;
        }
        let messages: Vec<&RawValue> = serde_json::from_str(value).unwrap_or_default();
        if messages.is_empty() || messages.len() > MAX_BATCH {
            let why = format!("Invalid Request: a batch has 1 to {MAX_BATCH} messages");
            return Some(failure(NO_ID, &RpcError::bare(-32600, why)));
        }
        let mut answers = Vec::with_capacity(messages.len());
        let mut bytes = 0;
        for message in messages {
            if bytes > MAX_ANSWER_BYTES {
                let why = format!("the answers to the batch are larger than {MAX_ANSWER_BYTES} bytes");
                return Some(failure(NO_ID, &RpcError::bare(-32603, why)));
            }
            let answer = self.answer_one(message.get()).await;
            bytes += answer.as_ref().map_or(0, String::len);
            answers.extend(answer);
        }
        (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
    }

    async fn answer_one(&self, value: &str) -> Option<String> {
        let message = match message(value) {
            Ok(message) => message,
            Err(invalid) => return Some(invalid.to_json()),
        };
        // A notification asks for nothing, so nothing is done: no method here has an effect of its own.
        let id = message.id?;
        let Some(method) = &message.method else {
            return Some(failure(id, &RpcError::bare(-32600, "Invalid Request: there is no method".into())));
        };
        let params = match message.params() {
            Ok(params) => params,
            Err(invalid) => return Some(invalid.to_json()),
        };
        Some(match self.call(method, params).await {
            Ok(result) => success(id, &result),
            Err(error) => failure(id, &error),
        })
    }

    /// The result of a method, as JSON.
    async fn call(&self, method: &str, params: Value) -> Result<String, RpcError> {
        let result = match method {
            "initialize" => mcp::plain_initialize(&params, self.served.profile, &self.served.registry),
            "ping" => json!({}),
            "tools/list" => {
                json!({"tools": mcp::plain_list(&self.served.registry, self.admitted.credentials(), self.served.profile)})
            }
            "tools/call" => return self.call_tool(params).await,
            "health" => return self.tool("health", Value::Null).await.map(|(text, _)| text),
            "resources/list" => json!({"resources": []}),
            "resources/templates/list" => json!({"resourceTemplates": []}),
            "prompts/list" => json!({"prompts": []}),
            // A notification sent as a request by mistake is harmless.
            "notifications/initialized" => json!({}),
            _ => return Err(RpcError::bare(-32601, format!("Method not found: {method}"))),
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
            .map_err(|error| RpcError::bare(-32602, format!("Invalid params: {error}")))?;
        let (text, is_error) = self.tool(&params.name, params.arguments).await?;
        let mut result = json!({"content": [{"type": "text", "text": text}]});
        if is_error {
            result["isError"] = true.into();
        }
        Ok(result.to_string())
    }

    async fn tool(&self, name: &str, arguments: Value) -> Result<(String, bool), RpcError> {
        let mut context =
            Context::new(self.served.services.clone(), self.caller.clone(), self.admitted.access);
        context.identity = self.admitted.identity.clone();
        // When the client disconnects, this future is dropped, which cancels the call.
        let _gone = context.cancellation.clone().drop_guard();
        match self.served.registry.call(name, arguments, context).await {
            Reply::Text { text, is_error } => Ok((text, is_error)),
            Reply::Error(error) => Err(error),
        }
    }
}
