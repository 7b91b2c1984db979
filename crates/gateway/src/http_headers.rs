//! The headers of a message over HTTP. Without a handshake, a request names its method and what it is about in headers too.

use serde_json::Value;

use crate::message::{Message, text_of};

/// An argument that the tool's schema wants in a header of this name as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderArgument {
    path: Vec<String>,
    header: String,
}

impl HeaderArgument {
    /// Those of a tool's input schema.
    pub(crate) fn all_in(schema: &Value) -> Vec<HeaderArgument> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found);
        found
    }
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<HeaderArgument>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            found.push(HeaderArgument { path: path.clone(), header: header.to_owned() });
        }
        collect(property, path, found);
        path.pop();
    }
}

/// The headers that a request or notification needs in a protocol without a handshake.
pub(crate) fn standard(message: &Message<'_>, arguments: &[HeaderArgument]) -> Vec<(String, String)> {
    let Some(method) = message.method.as_deref() else { return Vec::new() };
    let mut headers = vec![("Mcp-Method".to_owned(), encode(method))];
    let named_by = match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    };
    if let Some(name) = named_by.and_then(|member| text_of(message.param(&[member])?)) {
        headers.push(("Mcp-Name".to_owned(), encode(&name)));
    }
    for HeaderArgument { path, header } in arguments.iter().filter(|_| method == "tools/call") {
        let path: Vec<&str> = std::iter::once("arguments").chain(path.iter().map(String::as_str)).collect();
        let value = message.param(&path).and_then(|json| serde_json::from_str(json).ok());
        let value = match value {
            Some(Value::String(text)) => text,
            Some(Value::Bool(value)) => value.to_string(),
            Some(Value::Number(number)) => number.to_string(),
            _ => continue,
        };
        headers.push((format!("Mcp-Param-{header}"), encode(&value)));
    }
    headers
}

/// A value as it can stand in a header: as it is, or in Base64.
fn encode(value: &str) -> String {
    let is_odd = value.bytes().any(|byte| !(0x20..0x7f).contains(&byte))
        || value.starts_with(' ')
        || value.ends_with(' ')
        || (value.starts_with("=?base64?") && value.ends_with("?="));
    if is_odd { format!("=?base64?{}?=", base64(value.as_bytes())) } else { value.to_owned() }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * index)) as usize & 63];
            text.push(if index <= chunk.len() as u32 { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::LineContent;

    #[test]
    fn a_request_names_its_method_and_its_object() {
        let schema = json!({"properties": {"a": {"properties": {"b": {"x-mcp-header": "Region"}}}, "c": {}}});
        let arguments = HeaderArgument::all_in(&schema);
        for (line, expected) in [
            (r#"{"id":1,"method":"tools/list"}"#, vec![("Mcp-Method", "tools/list")]),
            (
                r#"{"id":1,"method":"tools/call","params":{"name":"é","arguments":{"a":{"b":7}}}}"#,
                vec![
                    ("Mcp-Method", "tools/call"),
                    ("Mcp-Name", "=?base64?w6k=?="),
                    ("Mcp-Param-Region", "7"),
                ],
            ),
            (
                r#"{"id":1,"method":"resources/read","params":{"uri":"a://b"}}"#,
                vec![("Mcp-Method", "resources/read"), ("Mcp-Name", "a://b")],
            ),
            (r#"{"id":1,"result":{}}"#, vec![]),
        ] {
            let content = LineContent::of(line.as_bytes());
            let headers = standard(&content.messages()[0], &arguments);
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(headers, expected, "{line}");
        }
        let encoded = ["", "a", "ab", "abc", "abcd"].map(|text| base64(text.as_bytes()));
        assert_eq!(encoded, ["", "YQ==", "YWI=", "YWJj", "YWJjZA=="]);
    }
}
