//! JSON-RPC's envelope, parsed the same way by every door.
//!
//! Members stay unparsed: an id is echoed byte by byte, so that no number is rounded, and large arguments are parsed once,
//! where they are used.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tamis_tools::RpcError;

/// The id of an answer to a message whose id is missing or unreadable.
pub(crate) const NO_ID: &str = "null";

/// A well-formed message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    /// The id's JSON text. None for a notification, which is never answered.
    pub(crate) id: Option<&'a str>,
    /// None for a response to a request of ours.
    pub(crate) method: Option<String>,
    /// JSON text.
    params: Option<&'a str>,
}

/// Input that is not a message, and the error to answer with.
#[derive(Debug, PartialEq)]
pub(crate) struct InvalidMessage<'a> {
    pub(crate) id: &'a str,
    pub(crate) error: RpcError,
}

impl InvalidMessage<'_> {
    pub(crate) fn to_json(&self) -> String {
        failure(self.id, &self.error)
    }
}

/// Distinguishes members that are `null` from missing ones.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// One JSON value, unparsed.
pub(crate) fn json_value(bytes: &[u8]) -> Result<&str, InvalidMessage<'static>> {
    match serde_json::from_slice::<&RawValue>(bytes) {
        Ok(value) => Ok(value.get()),
        Err(error) => {
            Err(InvalidMessage { id: NO_ID, error: RpcError::bare(-32700, format!("Parse error: {error}")) })
        }
    }
}

/// Parses a message from a JSON value.
pub(crate) fn message(value: &str) -> Result<Message<'_>, InvalidMessage<'_>> {
    let invalid = |id, why: &str| InvalidMessage {
        id,
        error: RpcError::bare(-32600, format!("Invalid Request: {why}")),
    };
    // serde would also accept an array of the members.
    if !value.starts_with('{') {
        return Err(invalid(NO_ID, "a message is an object"));
    }
    let members: Members<'_> =
        serde_json::from_str(value).map_err(|error| invalid(NO_ID, &error.to_string()))?;
    let id = members.id.map(RawValue::get);
    if id.is_some_and(|id| !is_id(id)) {
        return Err(invalid(NO_ID, "id must be a string or a number"));
    }
    let for_id = id.unwrap_or(NO_ID);
    if members.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
        return Err(invalid(for_id, "jsonrpc must be \"2.0\""));
    }
    let method = match members.method {
        Some(method) => serde_json::from_str(method.get()).ok(),
        None if members.result.is_some() || members.error.is_some() => {
            return Ok(Message { id, method: None, params: None });
        }
        None => None,
    };
    let Some(method) = method else {
        return Err(invalid(for_id, "method must be a string"));
    };
    let params = members.params.map(RawValue::get).filter(|params| *params != "null");
    // A notification with invalid params is not answered either.
    let params = params.filter(|params| id.is_some() || params.starts_with('{'));
    Ok(Message { id, method: Some(method), params })
}

impl<'a> Message<'a> {
    /// Checks that the parameters are an object. Check first that the method exists: an unknown method is the error to report.
    pub(crate) fn check_params(&self) -> Result<(), InvalidMessage<'a>> {
        let (code, why) = match self.params.map(|params| params.as_bytes()[0]) {
            None | Some(b'{') => return Ok(()),
            Some(b'[') => (-32602, "Invalid params: by name, not by position"),
            Some(_) => (-32600, "Invalid Request: params must be an object"),
        };
        Err(InvalidMessage { id: self.id.unwrap_or(NO_ID), error: RpcError::bare(code, why.to_owned()) })
    }

    /// The parameters; null where there are none.
    pub(crate) fn params(&self) -> Result<Value, InvalidMessage<'a>> {
        self.check_params()?;
        self.params.map_or(Ok(Value::Null), |params| {
            serde_json::from_str(params).map_err(|error| InvalidMessage {
                id: self.id.unwrap_or(NO_ID),
                error: RpcError::bare(-32602, format!("Invalid params: {error}")),
            })
        })
    }
}

fn is_id(raw: &str) -> bool {
    raw == "null" || raw.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

/// A successful answer; `result` is JSON.
pub(crate) fn success(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// An error answer.
pub(crate) fn failure(id: &str, error: &RpcError) -> String {
    let mut object = json!({"code": error.code, "message": error.message});
    if let Some(data) = &error.data {
        object["data"] = data.clone();
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{object}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_messages_are_answered_with_json_rpc_errors() {
        for (text, id, code) in [
            ("[]", "null", -32600),
            (r#"["2.0",1,"ping"]"#, "null", -32600),
            ("3", "null", -32600),
            ("{}", "null", -32600),
            (r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, "4", -32600),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, "\"a\"", -32600),
            (r#"{"jsonrpc":"2.0","id":"a"}"#, "\"a\"", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#, "1", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, "1", -32602),
        ] {
            let invalid = message(text).and_then(|message| message.params()).expect_err(text);
            assert_eq!((invalid.id, invalid.error.code), (id, code), "{text}");
        }
        for text in ["{", "nonsense", "", "{} x", "\u{feff}{}", "\"\\ud800"] {
            assert_eq!(json_value(text.as_bytes()).expect_err(text).error.code, -32700, "{text}");
        }
    }

    #[test]
    fn ids_are_echoed_unchanged() {
        for id in ["1", "-1", "1.50", "12345678901234567890123", "1e3", "null", r#""é\n""#, r#""""#] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(message(&text).unwrap().id, Some(id));
        }
    }

    #[test]
    fn a_notification_is_valid_whatever_its_params() {
        for params in ["{}", "[1]", "3", "null"] {
            let text = format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{params}}}"#);
            assert_eq!(message(&text).unwrap().id, None, "{params}");
        }
    }

    #[test]
    fn params_that_cannot_be_parsed_are_invalid_params() {
        let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        for params in [format!(r#"{{"a":{deep}}}"#), r#"{"a":"\ud800"}"#.to_owned()] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{params}}}"#);
            let invalid = message(&text).unwrap().params().unwrap_err();
            assert_eq!((invalid.id, invalid.error.code), ("7", -32602));
        }
    }
}
