//! From a line to a message that rmcp takes, or to why it is none.

use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ClientRequest, GetMeta, Implementation, InitializeRequest,
    InitializeRequestParams, JsonRpcMessage, ProtocolVersion, RequestId,
};
use serde_json::{Value, json};
use tamis_tools::RpcError;

use crate::Presence;
use crate::envelope::{Message, NO_ID, Unfit, failure, json_value, message};
use crate::presence::INVALID_PARAMS;

/// Whether rmcp leaves its handshake with this message.
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

/// Whether this asks for something that rmcp would refuse because there was no handshake.
pub(crate) fn lacks_handshake(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::InitializeRequest(_)
            | ClientRequest::DiscoverRequest(_)
            | ClientRequest::PingRequest(_) => false,
            // One that brings its own metadata knows a protocol without handshakes, and is judged by that.
            request => request.get_meta().protocol_version().is_none(),
        },
        _ => false,
    }
}

/// A handshake in the name of a client that leaves it out; the answer is for nobody.
pub(crate) fn own_handshake() -> ClientJsonRpcMessage {
    let client =
        InitializeRequestParams::new(ClientCapabilities::default(), Implementation::new("unknown", ""));
    let request = ClientRequest::InitializeRequest(InitializeRequest::new(client));
    ClientJsonRpcMessage::request(request, own_handshake_id())
}

pub(crate) fn own_handshake_id() -> RequestId {
    RequestId::String("tamis: for a client that shakes no hands".into())
}

/// A line that is not passed on, and why.
#[derive(Debug)]
pub(crate) struct Refused {
    /// As it came.
    pub(crate) id: String,
    pub(crate) error: RpcError,
}

impl Refused {
    pub(crate) fn to_json(&self, presence: &Presence) -> String {
        failure(&self.id, &presence.worded(self.error.clone()))
    }
}

impl From<Unfit<'_>> for Refused {
    fn from(unfit: Unfit<'_>) -> Refused {
        Refused { id: unfit.id.to_owned(), error: unfit.error }
    }
}

/// The message in a line, or why it is none.
pub(crate) fn parse(line: &[u8], presence: &Presence) -> Result<ClientJsonRpcMessage, Refused> {
    let value = json_value(line)?;
    let envelope = message(value)?;
    let id = envelope.id.unwrap_or(NO_ID);
    let refuse = |code, why: String| Err(Refused { id: id.to_owned(), error: RpcError::bare(code, why) });
    // MCP has no null, no fraction and no huge number for an id, and rmcp no place for them.
    if envelope.id.is_some_and(|id| serde_json::from_str::<RequestId>(id).is_err()) {
        return refuse(-32600, "Invalid Request: id must be a string or a 64-bit integer".to_owned());
    }
    if let (Some(_), Some(method)) = (envelope.id, &envelope.method)
        && !presence.serves(method)
    {
        return refuse(-32601, format!("Method not found: {method}"));
    }
    if let Err(unfit) = envelope.check_params() {
        let mut refused = Refused::from(unfit);
        if presence.to_the_letter {
            refused.error.code = INVALID_PARAMS;
        }
        return Err(refused);
    }
    // rmcp takes any parameters for this one.
    if presence.to_the_letter
        && envelope.method.as_deref() == Some("tools/list")
        && envelope.params()?.get("cursor").is_some_and(|cursor| !cursor.is_string())
    {
        return refuse(INVALID_PARAMS, "Invalid params: cursor must be a string".to_owned());
    }
    let Ok(message) = serde_json::from_str::<ClientJsonRpcMessage>(value) else {
        envelope.params()?;
        return refuse(-32600, "Invalid Request: not a message of MCP".to_owned());
    };
    // Until a session is open rmcp would complain about metadata instead.
    if let JsonRpcMessage::Request(request) = &message
        && matches!(request.request, ClientRequest::CustomRequest(_))
        && envelope.method.as_deref() == Some("initialize")
    {
        let (completed, why) = if presence.to_the_letter {
            let why = "Invalid params: initialize needs protocolVersion; clientInfo and capabilities must be in form";
            (completed_handshake(&envelope), why)
        } else {
            (None, "Invalid params: initialize needs protocolVersion, capabilities and clientInfo")
        };
        return completed.map_or_else(|| refuse(INVALID_PARAMS, why.to_owned()), Ok);
    }
    Ok(message)
}

/// A handshake with what its contract lets it leave out; None when more is wrong with it.
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
    fn what_is_no_message_of_mcp_is_answered() {
        for (line, id, code) in [
            ("nonsense", "null", -32700),
            ("[]", "null", -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "1.5", -32600),
            (r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}"#, "5", -32602),
            (r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":"\ud800"}}"#, "5", -32602),
        ] {
            let answer = parse(line.as_bytes(), &Presence::TAMIS).expect_err(line).to_json(&Presence::TAMIS);
            let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"#);
            assert!(answer.starts_with(&start), "{line} got {answer}");
        }
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(parse(line.as_bytes(), &Presence::TAMIS).is_ok(), "{line}");
        }
    }
}
