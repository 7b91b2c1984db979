//! Gemini CLI. It prints a warning for schemas with nullable types and unsigned formats.

use std::process::Command;

use serde_json::{Value, json};

use super::{PROMPT, Setup};

pub(super) fn command(Setup { clients, place, server, model }: Setup<'_>) -> Command {
    let mut settings = own_settings();
    settings["mcpServers"] = json!({&server.name: {
        "command": server.command_text(), "args": server.args, "env": server.env_json(), "trust": true,
    }});
    place.write_home(".gemini/settings.json", &settings.to_string());
    let mut command = clients.tool("gemini", &place.home);
    command
        .envs(environment(model))
        .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
        .args(["--model", "gemini-2.5-flash", "--prompt", PROMPT])
        .args(["--approval-mode", "yolo", "--output-format", "stream-json"]);
    command
}

/// Settings with a chosen sign-in and without telemetry.
pub(crate) fn own_settings() -> Value {
    json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false},
    })
}

/// The environment with its model and nothing else.
pub(crate) fn environment(model: &str) -> [(&'static str, &str); 2] {
    [("GOOGLE_GEMINI_BASE_URL", model), ("GEMINI_API_KEY", "dummy")]
}
