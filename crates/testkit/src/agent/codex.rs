//! Codex. It uses the 2025-06-18 protocol, separates a tool's name from its server's namespace, and is the only
//! client that shows the model an error's `data`.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::json;

use super::{PROMPT, Setup, StdioServer};

pub(super) fn command(Setup { clients, place, server, model }: Setup<'_>) -> Command {
    place.write_home(".codex/config.toml", &settings(server, model));
    let mut command = clients.tool("codex", &place.home);
    command.env(MODEL_KEY.0, MODEL_KEY.1).args(["exec", "--json", "--sandbox", "danger-full-access", PROMPT]);
    command
}

/// The settings of its model and nothing else.
pub(crate) fn model_settings(model: &str) -> String {
    format!(
        r#"model = "scripted"
model_provider = "scripted"
approval_policy = "never"
check_for_update_on_startup = false
# The value of known models; for an unknown one Codex cuts results at 10,000 bytes.
tool_output_token_limit = 10000

[analytics]
enabled = false

# They would be fetched from the network.
[features]
apps = false
plugins = false

[model_providers.scripted]
name = "scripted"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
"#
    )
}

/// The key that its settings refer to.
pub(crate) const MODEL_KEY: (&str, &str) = ("SCRIPTED_KEY", "dummy");

/// Strings and arrays of strings are written alike in JSON and in TOML.
fn settings(server: &StdioServer, model: &str) -> String {
    let mut settings = model_settings(model);
    let _ = write!(
        settings,
        r#"
[mcp_servers.{name}]
command = {command}
args = {args}
default_tools_approval_mode = "approve"
required = true
startup_timeout_sec = 60

[mcp_servers.{name}.env]
"#,
        name = server.name,
        command = json!(server.command_text()),
        args = json!(server.args),
    );
    for (name, value) in &server.env {
        let _ = writeln!(settings, "{name} = {}", json!(value));
    }
    settings
}
