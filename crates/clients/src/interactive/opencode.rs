//! OpenCode. It takes settings from its environment, which override the user's own. It does not ask about trust.

use serde_json::{Map, Value, json};

use super::{InteractiveLaunch, InteractiveOptions, Task};

const SETTINGS_VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";

/// For the server's start and for calls: by default it gives up on both after seconds.
const TIMEOUT_MILLISECONDS: u32 = 180_000;

pub(super) fn interactive(options: &InteractiveOptions, task: &Task) -> InteractiveLaunch {
    let servers = options.run.mcp_servers.iter().map(|(name, server)| {
        let mut command = vec![server.command.clone()];
        command.extend(server.args.iter().cloned());
        let entry = json!({
            "type": "local", "command": command, "environment": server.env, "enabled": true,
            "timeout": TIMEOUT_MILLISECONDS,
        });
        (name.clone(), entry)
    });
    let mut permission = Map::new();
    for tool in &options.run.approved {
        if let Some(server) = &tool.server {
            permission.insert(format!("{server}_{}", tool.name), json!("allow"));
        }
    }
    if task.file.is_some() {
        let folder = format!("{}/*", options.state.display());
        permission.insert("external_directory".to_owned(), json!({folder: "allow"}));
    }
    let settings = json!({"mcp": Value::Object(servers.collect()), "permission": permission});

    let mut args = Vec::new();
    if let Some(model) = &options.run.model {
        args.push(format!("--model={model}"));
    }
    args.extend_from_slice(&options.run.agent_args);
    args.push(format!("--prompt={}", task.prompt));
    let env = [(SETTINGS_VARIABLE.to_owned(), settings.to_string())].into();
    InteractiveLaunch { args, env, ..InteractiveLaunch::default() }
}
