//! `POST /rpc`: JSON-RPC 2.0 over plain HTTP, for clients that are no MCP clients.
//!
//! JSON-RPC errors are answers, with status 200; what is not answered (notifications) gets 202 and no body.

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
use crate::http_door::caller;
use crate::{Served, mcp};

/// Enough for any client; more would let a small request ask for a huge answer.
const LARGEST_BATCH: usize = 256;

/// A batch that has been answered with this much is not answered further.
const LARGEST_ANSWER: usize = 64 << 20;

pub(crate) async fn answer(
    State(served): State<Served>,
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let door = RpcDoor { served, admitted, caller: caller("rpc", &headers) };
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
            Err(unfit) => return Some(unfit.to_json()),
        };
        if !value.starts_with('[') {
            return self.answer_one(value).await;
        }
        let messages: Vec<&RawValue> = serde_json::from_str(value).unwrap_or_default();
        if messages.is_empty() || messages.len() > LARGEST_BATCH {
            let why = format!("Invalid Request: a batch has 1 to {LARGEST_BATCH} messages");
            return Some(failure(NO_ID, &RpcError::bare(-32600, why)));
        }
        let mut answers = Vec::with_capacity(messages.len());
        let mut bytes = 0;
        for message in messages {
            if bytes > LARGEST_ANSWER {
                let why = format!("the answers to the batch have over {LARGEST_ANSWER} bytes already");
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
            Err(unfit) => return Some(unfit.to_json()),
        };
        // A notification asks for nothing, so nothing is done: no method here has an effect of its own.
        let id = message.id?;
        let Some(method) = &message.method else {
            return Some(failure(id, &RpcError::bare(-32600, "Invalid Request: nothing was asked".into())));
        };
        let params = match message.params() {
            Ok(params) => params,
            Err(unfit) => return Some(unfit.to_json()),
        };
        Some(match self.call(method, params).await {
            Ok(result) => success(id, &result),
            Err(error) => failure(id, &error),
        })
    }

    /// The result of a method, as JSON.
    async fn call(&self, method: &str, params: Value) -> Result<String, RpcError> {
        let result = match method {
            "initialize" => mcp::plain_initialize(&params, self.served.presence),
            "ping" => json!({}),
            "tools/list" => {
                json!({"tools": mcp::plain_list(&self.served.registry, self.admitted.shown(), self.served.presence)})
            }
            "tools/call" => return self.call_tool(params).await,
            "health" => return self.tool("health", Value::Null).await.map(|(text, _)| text),
            "resources/list" => json!({"resources": []}),
            "resources/templates/list" => json!({"resourceTemplates": []}),
            "prompts/list" => json!({"prompts": []}),
            // Sent as a request by mistake: harmless.
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
        // When the client hangs up, this future is dropped, and with it the guard.
        let _gone = context.cancellation.clone().drop_guard();
        match self.served.registry.call(name, arguments, context).await {
            Reply::Text { text, is_error } => Ok((text, is_error)),
            Reply::Error(error) => Err(error),
        }
    }
}
