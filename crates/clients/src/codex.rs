//! Codex: `codex exec --json`, with the servers as overrides of its configuration.
//!
//! Its reports do not mention a server's start. Its log on stderr does when the user's `RUST_LOG` enables it: a failure
//! has the server's name in the configuration, a success the name that the server gave itself. We do not set `RUST_LOG`,
//! because the commands that Codex runs would inherit it, and programs in Rust would stop logging. Without the log, the first
//! reported call of a server shows that Codex reached it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toml_writer::{ToTomlKey, ToTomlValue, TomlKeyBuilder, TomlStringBuilder};

use crate::json::{string, text_of};
use crate::provider::{ParsedLine, means_lost_server};
use crate::{
    Client, ClientEvent, ClientTool, McpServerStatus, OutputParser, OutputStream, PRUNER, Provider,
    RunOptions,
};

pub(crate) struct Codex;

const START_FAILED: &str = "MCP server startup failed server_name=\"";
const STARTED: &str = "rmcp::service: Service initialized as client";
/// What `mcp-pruner` calls itself.
const PRUNERS_OWN_NAME: &str = "name: \"mcp-pruner\"";

impl Provider for Codex {
    fn client(&self) -> Client {
        Client::Codex
    }

    fn arguments(&self, options: &RunOptions) -> Vec<String> {
        let mut args: Vec<String> = ["exec", "--json"].map(str::to_owned).to_vec();
        args.extend(settings(options));
        // Read the prompt from stdin.
        args.push("-".to_owned());
        args
    }

    fn output_parser(&self) -> Box<dyn OutputParser> {
        Box::<Items>::default()
    }
}

/// The arguments for sessions with and without a user.
pub(crate) fn settings(options: &RunOptions) -> Vec<String> {
    let mut args = Vec::new();
    for (name, server) in &options.mcp_servers {
        let server_key = format!("mcp_servers.{}", toml_key(name));
        let mut set = |key: &str, value: String| {
            args.extend(["--config".to_owned(), format!("{server_key}.{key}={value}")]);
        };
        set("command", toml_string(&server.command));
        // Also when empty: a server of the same name in the user's configuration may have arguments.
        set("args", toml_strings(&server.args));
        for (variable, value) in &server.env {
            set(&format!("env.{}", toml_key(variable)), toml_string(value));
        }
        for tool in options.approved.iter().filter(|tool| tool.server.as_ref() == Some(name)) {
            let tool_key = format!("tools.{}.approval_mode", toml_key(&tool.name));
            set(&tool_key, toml_string("approve"));
        }
    }
    if let Some(model) = &options.model {
        args.push(format!("--model={model}"));
    }
    args.extend_from_slice(&options.agent_args);
    args
}

/// State between reports.
#[derive(Default)]
struct Items {
    open_calls: BTreeSet<String>,
}

impl OutputParser for Items {
    fn read(&mut self, stream: OutputStream, line: &str) -> ParsedLine {
        if stream == OutputStream::Stderr {
            return log_line(line);
        }
        let Ok(report @ Value::Object(_)) = serde_json::from_str(line) else { return ParsedLine::shown() };
        match report["type"].as_str() {
            Some("turn.started") => ParsedLine::of(vec![ClientEvent::Turn]),
            Some("turn.completed") => {
                ParsedLine::of(vec![usage(&report), ClientEvent::End { failure: None, turns: None }])
            }
            Some("turn.failed") => {
                let failure = Some(string(&report["error"]["message"]));
                ParsedLine::of(vec![ClientEvent::End { failure, turns: None }])
            }
            Some("error") => ParsedLine::of(vec![ClientEvent::Notice(string(&report["message"]))]),
            Some("item.started" | "item.completed") => self.item(&report),
            Some("thread.started" | "item.updated") => ParsedLine::default(),
            _ => ParsedLine::unknown(),
        }
    }
}

impl Items {
    fn item(&mut self, report: &Value) -> ParsedLine {
        let item = &report["item"];
        let completed = report["type"] == "item.completed";
        let Some(kind) = item["type"].as_str() else { return ParsedLine::unknown() };
        let (tool, arguments) = match kind {
            "agent_message" if completed => {
                return ParsedLine::of(vec![ClientEvent::Text(string(&item["text"]))]);
            }
            "error" if completed => {
                return ParsedLine::of(vec![ClientEvent::Notice(string(&item["message"]))]);
            }
            "agent_message" | "error" | "reasoning" | "todo_list" => return ParsedLine::default(),
            "mcp_tool_call" => {
                let (server, name) = (string(&item["server"]), string(&item["tool"]));
                (ClientTool { server: Some(server), name }, item["arguments"].clone())
            }
            "command_execution" => (own("shell"), json!({"command": item["command"]})),
            "file_change" => (own("edit"), json!({"changes": item["changes"]})),
            "web_search" => (own("web_search"), json!({"query": item["query"]})),
            _ => return ParsedLine::unknown(),
        };
        let id = string(&item["id"]);
        let mut events = Vec::new();
        if self.open_calls.insert(id.clone()) {
            if let Some(name) = tool.server.clone() {
                events.push(ClientEvent::McpServer { name, status: McpServerStatus::Connected });
            }
            events.push(ClientEvent::ToolCall { id: id.clone(), tool: tool.clone(), arguments });
        }
        if completed {
            self.open_calls.remove(&id);
            events.extend(result(id, &tool, item));
        }
        ParsedLine::of(events)
    }
}

fn result(id: String, tool: &ClientTool, item: &Value) -> Vec<ClientEvent> {
    let error = item["error"]["message"].as_str();
    let text = match (error, &tool.server) {
        (Some(error), _) => error.to_owned(),
        (None, Some(_)) => text_of(&item["result"]["content"]),
        (None, None) => string(&item["aggregated_output"]),
    };
    let mut events = Vec::new();
    if let (Some(name), Some(error)) = (&tool.server, error)
        && means_lost_server(error)
    {
        let why = error.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        events.push(ClientEvent::McpServer { name: name.clone(), status: McpServerStatus::Failed(why) });
    }
    events.push(ClientEvent::ToolResult { id, text, failed: item["status"] == "failed" });
    events
}

fn own(name: &str) -> ClientTool {
    ClientTool { server: None, name: name.to_owned() }
}

fn usage(report: &Value) -> ClientEvent {
    let count = |name: &str| report["usage"][name].as_u64().unwrap_or_default();
    ClientEvent::Usage { input_tokens: count("input_tokens"), output_tokens: count("output_tokens") }
}

fn log_line(line: &str) -> ParsedLine {
    let mut parsed = ParsedLine::shown();
    if let Some((name, rest)) = line.split_once(START_FAILED).and_then(|(_, rest)| rest.split_once('"')) {
        let why = rest.trim_start().trim_start_matches("error=").to_owned();
        let status = McpServerStatus::Failed(why);
        parsed.events.push(ClientEvent::McpServer { name: name.to_owned(), status });
    } else if line.contains(STARTED) && line.contains(PRUNERS_OWN_NAME) {
        parsed
            .events
            .push(ClientEvent::McpServer { name: PRUNER.to_owned(), status: McpServerStatus::Connected });
    }
    parsed
}

/// A key of an override: bare where TOML allows it, else quoted.
pub(crate) fn toml_key(name: &str) -> String {
    let key = TomlKeyBuilder::new(name);
    key.as_unquoted().unwrap_or_else(|| key.as_basic()).to_toml_key()
}

/// A string on one line, whatever it contains.
pub(crate) fn toml_string(text: &str) -> String {
    TomlStringBuilder::new(text).as_basic().to_toml_value()
}

fn toml_strings(texts: &[String]) -> String {
    texts.iter().map(|text| TomlStringBuilder::new(text).as_basic()).collect::<Vec<_>>().to_toml_value()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn toml_values_are_read_back_as_written(name in ".*", text in any::<String>(), texts in proptest::collection::vec(any::<String>(), 0..5)) {
            let line = format!("servers.{}.text={}\nservers.{}.texts={}", toml_key(&name), toml_string(&text), toml_key(&name), toml_strings(&texts));
            prop_assert_eq!(line.lines().count(), 2);
            let table: toml::Table = line.parse().unwrap();
            let server = &table["servers"][&name];
            prop_assert_eq!(server["text"].as_str(), Some(text.as_str()));
            let read: Vec<_> = server["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
            prop_assert_eq!(read, texts);
        }

        #[test]
        fn toml_strings_stay_on_one_line(text in "[\\x00-\\x1f\\x7f\\u{80}-\\u{9f}\"\\\\\u{2028}]*") {
            prop_assert!(!toml_string(&text).contains(['\n', '\r']));
            let table: toml::Table = format!("a={}", toml_string(&text)).parse().unwrap();
            prop_assert_eq!(table["a"].as_str(), Some(text.as_str()));
        }
    }
}
