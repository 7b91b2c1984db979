//! Parses a line into a message that rmcp accepts, or into the error to answer with.

use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ClientRequest, ClientResult, EmptyObject, GetMeta,
    Implementation, InitializeRequest, InitializeRequestParams, JsonRpcMessage, ProtocolVersion, RequestId,
};
use serde_json::{Value, json};
use tamis_tools::RpcError;

use crate::ServerProfile;
use crate::envelope::{InvalidMessage, Message, NO_ID, failure, json_value, message};
use crate::profile::INVALID_PARAMS;

/// Whether this message completes rmcp's handshake.
pub(crate) fn opens_session(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
            request => {
                let meta = request.get_meta();
                meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                    && meta
                        .protocol_version()
                        .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
            }
        },
        _ => false,
    }
}

/// Whether rmcp would refuse this request because there was no handshake.
pub(crate) fn lacks_handshake(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::InitializeRequest(_)
            | ClientRequest::DiscoverRequest(_)
            | ClientRequest::PingRequest(_) => false,
            // A request with its own metadata uses a protocol without handshakes.
            request => request.get_meta().protocol_version().is_none(),
        },
        _ => false,
    }
}

/// A handshake on behalf of a client that sends none. Its answer is dropped.
pub(crate) fn own_handshake() -> ClientJsonRpcMessage {
    let client =
        InitializeRequestParams::new(ClientCapabilities::default(), Implementation::new("unknown", ""));
    let request = ClientRequest::InitializeRequest(InitializeRequest::new(client));
    ClientJsonRpcMessage::request(request, own_handshake_id())
}

pub(crate) fn own_handshake_id() -> RequestId {
    RequestId::String("tamis: handshake on behalf of the client".into())
}

/// A line that is not passed on, with the error to answer with.
#[derive(Debug)]
pub(crate) struct RejectedLine {
    /// The id's JSON text.
    pub(crate) id: String,
    pub(crate) error: RpcError,
}

impl RejectedLine {
    pub(crate) fn to_json(&self, profile: &ServerProfile) -> String {
        failure(&self.id, &profile.adapt_error(self.error.clone()))
    }
}

impl From<InvalidMessage<'_>> for RejectedLine {
    fn from(invalid: InvalidMessage<'_>) -> RejectedLine {
        RejectedLine { id: invalid.id.to_owned(), error: invalid.error }
    }
}

/// The message in a line, or the error to answer with.
pub(crate) fn parse(line: &[u8], profile: &ServerProfile) -> Result<ClientJsonRpcMessage, RejectedLine> {
    let value = json_value(line)?;
    let envelope = message(value)?;
    let id = envelope.id.unwrap_or(NO_ID);
    let refuse =
        |code, why: String| Err(RejectedLine { id: id.to_owned(), error: RpcError::bare(code, why) });
    if envelope.method.is_none() && id == NO_ID {
        return Ok(ignored_response());
    }
    // MCP allows no null, fraction or huge number as an id, and rmcp cannot represent them.
    if envelope.id.is_some_and(|id| serde_json::from_str::<RequestId>(id).is_err()) {
        return refuse(-32600, "Invalid Request: id must be a string or a 64-bit integer".to_owned());
    }
    if let (Some(_), Some(method)) = (envelope.id, &envelope.method)
        && !profile.serves(method)
    {
        return refuse(-32601, format!("Method not found: {method}"));
    }
    if let Err(invalid) = envelope.check_params() {
        let mut refused = RejectedLine::from(invalid);
        if profile.is_strict {
            refused.error.code = INVALID_PARAMS;
        }
        return Err(refused);
    }
    // rmcp accepts any parameters for this one.
    if profile.is_strict
        && envelope.method.as_deref() == Some("tools/list")
        && envelope.params()?.get("cursor").is_some_and(|cursor| !cursor.is_string())
    {
        return refuse(INVALID_PARAMS, "Invalid params: cursor must be a string".to_owned());
    }
    let Ok(message) = serde_json::from_str::<ClientJsonRpcMessage>(value) else {
        if envelope.params()?.get("_meta").is_some_and(|meta| !meta.is_object()) {
            return refuse(INVALID_PARAMS, "Invalid params: _meta must be an object".to_owned());
        }
        return refuse(-32600, "Invalid Request: not an MCP message".to_owned());
    };
    // Before a session is open, rmcp would report missing metadata instead.
    if let JsonRpcMessage::Request(request) = &message
        && matches!(request.request, ClientRequest::CustomRequest(_))
        && envelope.method.as_deref() == Some("initialize")
    {
        let (completed, why) = if profile.is_strict {
            let why =
                "Invalid params: initialize needs protocolVersion; clientInfo and capabilities must be valid";
            (completed_handshake(&envelope), why)
        } else {
            (None, "Invalid params: initialize needs protocolVersion, capabilities and clientInfo")
        };
        return completed.map_or_else(|| refuse(INVALID_PARAMS, why.to_owned()), Ok);
    }
    Ok(message)
}

/// Instead of a response without an id, which rmcp cannot represent: one to a request that was never made, so that rmcp drops it. An
/// error in return could be answered with another one, without end.
fn ignored_response() -> ClientJsonRpcMessage {
    let nobodys = RequestId::String("tamis: a response without an id".into());
    ClientJsonRpcMessage::response(ClientResult::EmptyResult(EmptyObject {}), nobodys)
}

/// Adds what the contract allows a handshake to leave out; none when it is invalid even so.
fn completed_handshake(envelope: &Message<'_>) -> Option<ClientJsonRpcMessage> {
    let mut params = envelope.params().ok()?;
    let members = params.as_object_mut()?;
    members.entry("capabilities").or_insert_with(|| json!({}));
    let client = members.entry("clientInfo").or_insert_with(|| json!({"name": "unknown"}));
    client.as_object_mut()?.entry("version").or_insert_with(|| json!(""));
    let id: Value = serde_json::from_str(envelope.id?).ok()?;
    let whole = json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params});
    let message = serde_json::from_value(whole).ok()?;
    opens_session(&message).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_not_mcp_messages_are_answered() {
        for (line, id, code) in [
            ("nonsense", "null", -32700),
            ("[]", "null", -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "1.5", -32600),
            (r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}"#, "5", -32602),
            (r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":"\ud800"}}"#, "5", -32602),
            (r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"_meta":3}}"#, "5", -32602),
            (r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":[]}}"#, "5", -32602),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":"x","name":"read"}}"#,
                "5",
                -32602,
            ),
        ] {
            let answer =
                parse(line.as_bytes(), &ServerProfile::TAMIS).expect_err(line).to_json(&ServerProfile::TAMIS);
            let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"#);
            assert!(answer.starts_with(&start), "{line} got {answer}");
        }
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        ] {
            assert!(parse(line.as_bytes(), &ServerProfile::TAMIS).is_ok(), "{line}");
        }
    }
}
