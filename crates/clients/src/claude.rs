//! Claude Code: `claude --print` with its stream of JSON messages.
//!
//! It starts the servers of its configuration before the first message, whose `mcp_servers` says which of them work.
//! One that dies between two calls it starts again without a word; one that dies during a call shows as a failed call.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::json::{items, string, text_of};
use crate::provider::{Reading, tells_of_a_lost_server};
use crate::{Event, Provider, RunOptions, ServerStatus, Stream, Tool, Transcript};

pub(crate) struct Claude;

impl Provider for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn program(&self) -> &'static str {
        "claude"
    }

    fn install_hint(&self) -> &'static str {
        "install Claude Code (`npm install -g @anthropic-ai/claude-code`), or name the program with --program"
    }

    fn arguments(&self, options: &RunOptions) -> Vec<String> {
        let mut args: Vec<String> =
            ["--print", "--output-format", "stream-json", "--verbose"].map(str::to_owned).to_vec();
        args.extend(settings(options));
        args
    }

    fn transcript(&self) -> Box<dyn Transcript> {
        Box::<Messages>::default()
    }
}

/// What is asked of it, whether a person is there or not.
pub(crate) fn settings(options: &RunOptions) -> Vec<String> {
    let mut args = Vec::new();
    if !options.mcp_servers.is_empty() {
        // In one word, like the next: both flags take as many words as follow.
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

/// `{"mcpServers": …}`. `alwaysLoad` keeps the tools in the prompt, where they would otherwise hide behind a search.
fn configuration(options: &RunOptions) -> Value {
    let servers = options.mcp_servers.iter().map(|(name, server)| {
        let entry = json!({
            "type": "stdio", "command": server.command, "args": server.args, "env": server.env, "alwaysLoad": true,
        });
        (name.clone(), entry)
    });
    json!({"mcpServers": Value::Object(servers.collect())})
}

/// What must be remembered from one message to the next.
#[derive(Default)]
struct Messages {
    last_answer: Option<String>,
    open_calls: BTreeMap<String, Option<String>>,
    /// Whether it has said anything.
    spoke: bool,
}

impl Transcript for Messages {
    fn read(&mut self, stream: Stream, line: &str) -> Reading {
        if stream == Stream::Stderr {
            return Reading::shown();
        }
        let Ok(message @ Value::Object(_)) = serde_json::from_str(line) else { return Reading::shown() };
        match message["type"].as_str() {
            Some("system") if message["subtype"] == "init" => Reading::of(servers(&message)),
            Some("system") => Reading::default(),
            Some("assistant") => Reading::of(self.answer(&message)),
            Some("user") => Reading::of(self.results(&message)),
            Some("result") => Reading::of(self.end(&message)),
            _ => Reading::unknown(),
        }
    }
}

impl Messages {
    fn answer(&mut self, message: &Value) -> Vec<Event> {
        let answer = message["message"]["id"].as_str().map(str::to_owned);
        let mut events = Vec::new();
        // An answer comes in several messages, one for each of its blocks.
        if answer.is_none() || answer != self.last_answer {
            events.push(Event::Turn);
            self.last_answer = answer;
        }
        // What a subagent says is for the agent that asked it.
        let of_subagent = message["parent_tool_use_id"].is_string();
        for block in items(&message["message"]["content"]) {
            match block["type"].as_str() {
                Some("text") if !of_subagent => {
                    self.spoke = true;
                    events.push(Event::Text(string(&block["text"])));
                }
                Some("tool_use") => {
                    let (id, tool) = (string(&block["id"]), tool(&string(&block["name"])));
                    self.open_calls.insert(id.clone(), tool.server.clone());
                    events.push(Event::ToolCall { id, tool, arguments: block["input"].clone() });
                }
                _ => {}
            }
        }
        events
    }

    fn results(&mut self, message: &Value) -> Vec<Event> {
        let mut events = Vec::new();
        for block in items(&message["message"]["content"]).filter(|block| block["type"] == "tool_result") {
            let (id, text) = (string(&block["tool_use_id"]), text_of(&block["content"]));
            let failed = block["is_error"] == true;
            if let Some(name) = self.open_calls.remove(&id).flatten() {
                if !failed {
                    events.push(Event::McpServer { name, status: ServerStatus::Connected });
                } else if tells_of_a_lost_server(&text) {
                    events.push(Event::McpServer { name, status: ServerStatus::Failed(text.clone()) });
                }
            }
            events.push(Event::ToolResult { id, text, failed });
        }
        events
    }

    fn end(&mut self, message: &Value) -> Vec<Event> {
        let mut events = Vec::new();
        let said = message["result"].as_str();
        let failed = message["is_error"] == true;
        let failure = failed.then(|| said.or(message["subtype"].as_str()).unwrap_or("it does not say why"));
        // Commands of its own, as in a prompt that begins with a slash, are answered here alone.
        if let Some(said) = said.filter(|said| !failed && !self.spoke && !said.is_empty()) {
            events.push(Event::Text(said.to_owned()));
        }
        let usage = &message["usage"];
        let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let input_tokens = input.iter().filter_map(|name| usage[name].as_u64()).sum();
        let output_tokens = usage["output_tokens"].as_u64().unwrap_or_default();
        events.push(Event::Usage { input_tokens, output_tokens });
        events.push(Event::End { failure: failure.map(str::to_owned), turns: message["num_turns"].as_u64() });
        events
    }
}

fn servers(message: &Value) -> Vec<Event> {
    items(&message["mcp_servers"])
        .filter_map(|server| {
            let status = match server["status"].as_str()? {
                "connected" => ServerStatus::Connected,
                "pending" => return None,
                other => ServerStatus::Failed(format!("claude says {other:?}")),
            };
            Some(Event::McpServer { name: string(&server["name"]), status })
        })
        .collect()
}

/// `mcp__<server>__<tool>`, or a tool of its own.
fn tool(name: &str) -> Tool {
    match name.strip_prefix("mcp__").and_then(|name| name.split_once("__")) {
        Some((server, tool)) => Tool { server: Some(server.to_owned()), name: tool.to_owned() },
        None => Tool { server: None, name: name.to_owned() },
    }
}
