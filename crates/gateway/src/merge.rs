//! The answers of several servers as one.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::many::MergeError;
use crate::message::{json_string, member, range_in, replace, text_of};

/// A list that each server has its part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Tools,
    Prompts,
    Resources,
    ResourceTemplates,
}

impl ListKind {
    const ALL: [ListKind; 4] =
        [ListKind::Tools, ListKind::Prompts, ListKind::Resources, ListKind::ResourceTemplates];

    pub(crate) fn of_method(method: &str) -> Option<ListKind> {
        ListKind::ALL.into_iter().find(|kind| kind.method() == method)
    }

    pub(crate) fn method(self) -> &'static str {
        match self {
            ListKind::Tools => "tools/list",
            ListKind::Prompts => "prompts/list",
            ListKind::Resources => "resources/list",
            ListKind::ResourceTemplates => "resources/templates/list",
        }
    }

    fn member(self) -> &'static str {
        match self {
            ListKind::Tools => "tools",
            ListKind::Prompts => "prompts",
            ListKind::Resources => "resources",
            ListKind::ResourceTemplates => "resourceTemplates",
        }
    }

    /// The items of a page, as JSON.
    pub(crate) fn items(self, result: &str) -> Vec<&str> {
        let items = member(result, self.member()).and_then(|items| serde_json::from_str(items).ok());
        items.map_or_else(Vec::new, |items: Vec<&RawValue>| items.into_iter().map(RawValue::get).collect())
    }

    /// An item with its name changed, where the client uses it to name the item. Resources have addresses.
    pub(crate) fn renamed(self, item: &str, rename: impl Fn(&str) -> String) -> String {
        let name = match self {
            ListKind::Tools | ListKind::Prompts => member(item, "name"),
            ListKind::Resources | ListKind::ResourceTemplates => None,
        };
        match name.and_then(|name| Some((name, text_of(name)?))) {
            Some((name, text)) => replace(item, &[(range_in(item, name), json_string(&rename(&text)))]),
            None => item.to_owned(),
        }
    }

    /// The result with all items.
    pub(crate) fn result(self, items: &[String], has_handshake: bool) -> String {
        // Without a handshake, results name their type, and lists say how long they may be kept.
        let more = match has_handshake {
            true => "",
            false => r#""resultType":"complete","ttlMs":0,"cacheScope":"private","#,
        };
        format!(r#"{{{more}"{}":[{}]}}"#, self.member(), items.join(","))
    }
}

/// The handshakes of all servers, each with its name, as one result.
pub(crate) fn handshakes(method: &str, answers: &[(&str, String)]) -> Result<String, MergeError> {
    let answers: Vec<(&str, Value)> = answers
        .iter()
        .filter_map(|(name, answer)| Some((*name, serde_json::from_str(answer).ok()?)))
        .collect();
    let failed = answers.iter().find(|(_, answer)| answer.get("result").is_none());
    // A client that gets an error to `server/discover` tries the handshake, which all servers may know.
    let is_refused =
        method == "server/discover" || answers.iter().all(|(_, answer)| answer.get("result").is_none());
    if let (true, Some((name, answer))) = (is_refused, failed) {
        let error = &answer["error"];
        return Err(MergeError {
            code: error["code"].as_i64().unwrap_or(-32603),
            message: format!("{name}: {}", error["message"].as_str().unwrap_or_default()),
            data: error.get("data").cloned(),
        });
    }
    if answers.is_empty() {
        let message = "no MCP server answered".to_owned();
        return Err(MergeError { code: -32603, message, data: None });
    }
    for (name, answer) in &answers {
        if answer.get("result").is_none() {
            tracing::warn!("the MCP server `{name}` refused the handshake: {}", answer["error"]["message"]);
        }
    }
    let results: Vec<(&str, &Value)> =
        answers.iter().filter_map(|(name, answer)| Some((*name, answer.get("result")?))).collect();
    let mut capabilities = json!({"tools": {}});
    let mut instructions = vec![
        "Several MCP servers are behind this one; the names of tools and prompts begin with that of their server and `__`."
            .to_owned(),
    ];
    for (name, result) in &results {
        unite(&mut capabilities, result.get("capabilities").unwrap_or(&Value::Null));
        if let Some(text) = result["instructions"].as_str() {
            instructions.push(format!("{name}: {text}"));
        }
    }
    let info = json!({"name": "tamis-gateway", "version": env!("CARGO_PKG_VERSION")});
    let instructions = instructions.join("\n\n");
    let merged = if method == "initialize" {
        // Revisions are dates: all servers know the earliest of those that they chose.
        let version = results.iter().filter_map(|(_, result)| result["protocolVersion"].as_str()).min();
        json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "serverInfo": info,
            "instructions": instructions,
        })
    } else {
        json!({
            "resultType": "complete",
            "supportedVersions": common_versions(&results),
            "capabilities": capabilities,
            "instructions": instructions,
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": info},
        })
    };
    Ok(merged.to_string())
}

/// The revisions that all servers support.
fn common_versions(results: &[(&str, &Value)]) -> Vec<Value> {
    let versions = |result: &Value| result["supportedVersions"].as_array().cloned().unwrap_or_default();
    let mut common = results.first().map(|(_, result)| versions(result)).unwrap_or_default();
    for (_, result) in results {
        let others = versions(result);
        common.retain(|version| others.contains(version));
    }
    common
}

/// Adds what `other` has: members of objects, and `true` over `false`.
fn unite(one: &mut Value, other: &Value) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            for (name, value) in other {
                unite(one.entry(name.clone()).or_insert(empty(value)), value);
            }
        }
        (one, Value::Bool(true)) => *one = Value::Bool(true),
        (one @ Value::Null, other) => *one = other.clone(),
        _ => {}
    }
}

fn empty(value: &Value) -> Value {
    if value.is_object() { Value::Object(Map::new()) } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handshakes_have_what_any_server_can_and_the_revision_that_all_know() {
        let answers = [
            ("a", r#"{"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":false},"logging":{}}}}"#),
            (
                "b",
                r#"{"result":{"protocolVersion":"2025-03-26","instructions":"Be b.","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}}}}"#,
            ),
            ("c", r#"{"error":{"code":-1,"message":"no"}}"#),
        ]
        .map(|(name, answer)| (name, answer.to_owned()));
        let merged: Value = serde_json::from_str(&handshakes("initialize", &answers).ok().unwrap()).unwrap();
        assert_eq!(merged["protocolVersion"], "2025-03-26");
        assert_eq!(
            merged["capabilities"],
            json!({"tools": {"listChanged": true}, "logging": {}, "resources": {"subscribe": true}})
        );
        assert!(merged["instructions"].as_str().unwrap().ends_with("b: Be b."));
        let refused = handshakes("server/discover", &answers).err().unwrap();
        assert_eq!((refused.code, refused.message.as_str()), (-1, "c: no"));
        assert!(handshakes("initialize", &[]).is_err());
    }

    #[test]
    fn items_keep_their_bytes_except_for_names() {
        let result = r#"{"tools":[{"x":1.0,"name":"a\u0062","_meta":{}},{"name":"c"}]}"#;
        let items: Vec<_> = ListKind::Tools
            .items(result)
            .into_iter()
            .map(|item| ListKind::Tools.renamed(item, |name| format!("s__{name}")))
            .collect();
        assert_eq!(items, [r#"{"x":1.0,"name":"s__ab","_meta":{}}"#, r#"{"name":"s__c"}"#]);
    }
}
