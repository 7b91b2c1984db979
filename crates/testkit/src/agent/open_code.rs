//! OpenCode, with a provider of the OpenAI-compatible kind that it bundles.

use std::process::Command;

use serde_json::{Value, json};

use super::{PROMPT, Place, StdioServer};
use crate::clients::Clients;

pub(super) fn command(clients: &Clients, place: &Place, server: &StdioServer, model: &str) -> Command {
    let mut server_command = vec![server.command_text()];
    server_command.extend(server.args.iter().cloned());
    let mut settings = own_settings(model);
    settings["permission"] = json!("allow");
    settings["mcp"] = json!({&server.name: {
        "type": "local", "command": server_command, "environment": server.env_json(), "enabled": true,
    }});
    place.write_home(".config/opencode/opencode.json", &settings.to_string());
    let mut command = clients.tool("opencode", &place.home);
    command.envs(ENVIRONMENT).args(["run", "--format", "json", PROMPT]);
    command
}

/// Settings that lead it to its model, and to nothing else.
pub(crate) fn own_settings(model: &str) -> Value {
    json!({
        "autoupdate": false,
        "share": "disabled",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "provider": {"scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "scripted",
            "options": {"baseURL": format!("{model}/v1"), "apiKey": "dummy"},
            "models": {"scripted": {"name": "scripted"}},
        }},
    })
}

pub(crate) const ENVIRONMENT: [(&str, &str); 4] = [
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    // It would fetch the package for writing plugins into its folder of settings.
    ("npm_config_offline", "true"),
];
