//! OpenCode, with a provider of the OpenAI-compatible kind that it bundles.

use std::process::Command;

use serde_json::json;

use super::{PROMPT, Setup};

pub(super) fn command(Setup { clients, place, server, model }: Setup<'_>) -> Command {
    let mut server_command = vec![server.command_text()];
    server_command.extend(server.args.iter().cloned());
    let settings = json!({
        "autoupdate": false,
        "share": "disabled",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "permission": "allow",
        "provider": {"scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "scripted",
            "options": {"baseURL": format!("{model}/v1"), "apiKey": "dummy"},
            "models": {"scripted": {"name": "scripted"}},
        }},
        "mcp": {&server.name: {
            "type": "local", "command": server_command, "environment": server.env_json(), "enabled": true,
        }},
    });
    place.write_home(".config/opencode/opencode.json", &settings.to_string());
    let mut command = clients.tool("opencode", &place.home);
    command
        .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
        .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
        .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
        // Otherwise it would fetch the package for writing plugins.
        .env("npm_config_offline", "true")
        .args(["run", "--format", "json", PROMPT]);
    command
}
