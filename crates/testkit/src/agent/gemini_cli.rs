//! Gemini CLI. It prints a warning for schemas with nullable types and unsigned formats.

use std::process::Command;

use serde_json::json;

use super::{PROMPT, Place, StdioServer};
use crate::clients::Clients;

pub(super) fn command(clients: &Clients, place: &Place, server: &StdioServer, model: &str) -> Command {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false},
        "mcpServers": {&server.name: {
            "command": server.command_text(), "args": server.args, "env": server.env_json(), "trust": true,
        }},
    });
    place.write_home(".gemini/settings.json", &settings.to_string());
    let mut command = clients.tool("gemini", &place.home);
    command
        .env("GOOGLE_GEMINI_BASE_URL", model)
        .env("GEMINI_API_KEY", "dummy")
        .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
        .args(["--model", "gemini-2.5-flash", "--prompt", PROMPT])
        .args(["--approval-mode", "yolo", "--output-format", "stream-json"]);
    command
}
