//! Claude Code: `claude --print` with its stream of JSON messages.
//!
//! It starts the configured servers before the first message, whose `mcp_servers` lists which of them work. It restarts a
//! server that dies between two calls without reporting it; one that dies during a call shows as a failed call.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::json::{items, string, text_of};
use crate::provider::{ParsedLine, means_lost_server};
use crate::{
    Client, ClientEvent, ClientTool, McpServerStatus, OutputParser, OutputStream, Provider, RunOptions,
};

pub(crate) struct Claude;

impl Provider for Claude {
    fn client(&self) -> Client {
        Client::ClaudeCode
    }

    fn arguments(&self, options: &RunOptions) -> Vec<String> {
        let mut args: Vec<String> =
            ["--print", "--output-format", "stream-json", "--verbose"].map(str::to_owned).to_vec();
        args.extend(settings(options));
        args
    }

    fn output_parser(&self) -> Box<dyn OutputParser> {
        Box::<Messages>::default()
    }
}

/// The arguments for sessions with and without a user.
pub(crate) fn settings(options: &RunOptions) -> Vec<String> {
    let mut args = Vec::new();
    if !options.mcp_servers.is_empty() {
        // With `=`, like the next one: both flags would take all arguments that follow.
        args.push(format!("--mcp-config={}", configuration(options)));
    }
    let approved = options.approved.iter().filter_map(|tool| {
        let server = tool.server.as_deref()?;
        Some(format!("mcp__{server}__{}", tool.name))
    });
    let approved: Vec<_> = approved.collect();
    if !approved.is_empty() {
        args.push(format!("--allowedTools={}", approved.join(",")));
    }
    if let Some(model) = &options.model {
        args.push(format!("--model={model}"));
    }
    args.extend_from_slice(&options.agent_args);
    args
}

/// `{"mcpServers": …}`. `alwaysLoad` keeps the tools in the prompt; otherwise the model would have to search for them.
fn configuration(options: &RunOptions) -> Value {
    let servers = options.mcp_servers.iter().map(|(name, server)| {
        let entry = json!({
            "type": "stdio", "command": server.command, "args": server.args, "env": server.env, "alwaysLoad": true,
        });
        (name.clone(), entry)
    });
    json!({"mcpServers": Value::Object(servers.collect())})
}

/// State between messages.
#[derive(Default)]
struct Messages {
    last_answer: Option<String>,
    open_calls: BTreeMap<String, Option<String>>,
    /// Whether it has written any text.
    has_text: bool,
}

impl OutputParser for Messages {
    fn read(&mut self, stream: OutputStream, line: &str) -> ParsedLine {
        if stream == OutputStream::Stderr {
            return ParsedLine::shown();
        }
        let Ok(message @ Value::Object(_)) = serde_json::from_str(line) else { return ParsedLine::shown() };
        match message["type"].as_str() {
            Some("system") if message["subtype"] == "init" => ParsedLine::of(servers(&message)),
            Some("system") => ParsedLine::default(),
            Some("assistant") => ParsedLine::of(self.answer(&message)),
            Some("user") => ParsedLine::of(self.results(&message)),
            Some("result") => ParsedLine::of(self.end(&message)),
            _ => ParsedLine::unknown(),
        }
    }
}

impl Messages {
    fn answer(&mut self, message: &Value) -> Vec<ClientEvent> {
        let answer = message["message"]["id"].as_str().map(str::to_owned);
        let mut events = Vec::new();
        // One answer of the model comes in several messages, one for each of its blocks.
        if answer.is_none() || answer != self.last_answer {
            events.push(ClientEvent::Turn);
            self.last_answer = answer;
        }
        // The text of a subagent is for the agent that started it.
        let of_subagent = message["parent_tool_use_id"].is_string();
        for block in items(&message["message"]["content"]) {
            match block["type"].as_str() {
                Some("text") if !of_subagent => {
                    self.has_text = true;
                    events.push(ClientEvent::Text(string(&block["text"])));
                }
                Some("tool_use") => {
                    let (id, tool) = (string(&block["id"]), tool(&string(&block["name"])));
                    self.open_calls.insert(id.clone(), tool.server.clone());
                    events.push(ClientEvent::ToolCall { id, tool, arguments: block["input"].clone() });
                }
                _ => {}
            }
        }
        events
    }

    fn results(&mut self, message: &Value) -> Vec<ClientEvent> {
        let mut events = Vec::new();
        for block in items(&message["message"]["content"]).filter(|block| block["type"] == "tool_result") {
            let (id, text) = (string(&block["tool_use_id"]), text_of(&block["content"]));
            let failed = block["is_error"] == true;
            if let Some(name) = self.open_calls.remove(&id).flatten() {
                if !failed {
                    events.push(ClientEvent::McpServer { name, status: McpServerStatus::Connected });
                } else if means_lost_server(&text) {
                    events
                        .push(ClientEvent::McpServer { name, status: McpServerStatus::Failed(text.clone()) });
                }
            }
            events.push(ClientEvent::ToolResult { id, text, failed });
        }
        events
    }

    fn end(&mut self, message: &Value) -> Vec<ClientEvent> {
        let mut events = Vec::new();
        let text = message["result"].as_str();
        let failed = message["is_error"] == true;
        let failure = failed.then(|| text.or(message["subtype"].as_str()).unwrap_or("no reason given"));
        // The output of its own commands (a prompt that begins with a slash) is only here.
        if let Some(text) = text.filter(|text| !failed && !self.has_text && !text.is_empty()) {
            events.push(ClientEvent::Text(text.to_owned()));
        }
        let usage = &message["usage"];
        let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let input_tokens = input.iter().filter_map(|name| usage[name].as_u64()).sum();
        let output_tokens = usage["output_tokens"].as_u64().unwrap_or_default();
        events.push(ClientEvent::Usage { input_tokens, output_tokens });
        events.push(ClientEvent::End {
            failure: failure.map(str::to_owned),
            turns: message["num_turns"].as_u64(),
        });
        events
    }
}

fn servers(message: &Value) -> Vec<ClientEvent> {
    items(&message["mcp_servers"])
        .filter_map(|server| {
            let status = match server["status"].as_str()? {
                "connected" => McpServerStatus::Connected,
                "pending" => return None,
                other => McpServerStatus::Failed(format!("claude says {other:?}")),
            };
            Some(ClientEvent::McpServer { name: string(&server["name"]), status })
        })
        .collect()
}

/// `mcp__<server>__<tool>`, or one of its own tools.
fn tool(name: &str) -> ClientTool {
    match name.strip_prefix("mcp__").and_then(|name| name.split_once("__")) {
        Some((server, tool)) => ClientTool { server: Some(server.to_owned()), name: tool.to_owned() },
        None => ClientTool { server: None, name: name.to_owned() },
    }
}
