//! Claude Code. It sends `server/discover` of the 2026-07-28 protocol first and ends its servers with SIGINT.

use std::process::Command;

use serde_json::json;

use super::{PROMPT, Setup};

pub(super) fn command(Setup { clients, place, server, model }: Setup<'_>) -> Command {
    let settings = json!({"mcpServers": {&server.name: {
        "type": "stdio", "command": server.command_text(), "args": server.args, "env": server.env_json(),
    }}});
    let settings = place.write_home("mcp.json", &settings.to_string());
    let mut command = clients.tool("claude", &place.home);
    command
        .envs(environment(model))
        // Otherwise it would hide MCP tools behind a search tool.
        .env("ENABLE_TOOL_SEARCH", "false")
        .args(["--print", PROMPT, "--output-format", "stream-json", "--verbose"])
        .arg("--mcp-config")
        .arg(settings)
        .args(["--strict-mcp-config", "--allowedTools", &format!("mcp__{}", server.name)]);
    command
}

/// The environment with its model and nothing else.
pub(crate) fn environment(model: &str) -> [(&'static str, &str); 4] {
    [
        ("ANTHROPIC_BASE_URL", model),
        ("ANTHROPIC_API_KEY", "sk-ant-dummy"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ]
}
