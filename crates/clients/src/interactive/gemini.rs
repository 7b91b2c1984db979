//! Gemini CLI. It has no flag for servers, but reads defaults of the system from where a variable says; the user's own
//! settings stand above them, and servers of other names beside ours.

use serde_json::{Value, json};

use super::{Interactive, InteractiveOptions, Task};

const DEFAULTS_VARIABLE: &str = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH";

pub(super) fn interactive(options: &InteractiveOptions, task: &Task) -> Interactive {
    let servers = options.run.mcp_servers.iter().map(|(name, server)| {
        (name.clone(), json!({"command": server.command, "args": server.args, "env": server.env}))
    });
    let settings = json!({"mcpServers": Value::Object(servers.collect())}).to_string();
    let settings_path = options.state.join("gemini-settings.json");

    // For this session alone.
    let mut args = vec!["--skip-trust".to_owned()];
    let approved = options.run.approved.iter().filter_map(|tool| {
        let server = tool.server.as_deref()?;
        Some(format!("mcp_{server}_{}", tool.name))
    });
    let approved: Vec<_> = approved.collect();
    if !approved.is_empty() {
        // A file of rules in its place would switch the user's own off.
        args.push(format!("--allowed-tools={}", approved.join(",")));
    }
    if let Some(model) = &options.run.model {
        args.push(format!("--model={model}"));
    }
    if task.file.is_some() {
        args.push(format!("--include-directories={}", options.state.display()));
    }
    args.extend_from_slice(&options.run.agent_args);
    args.push(format!("--prompt-interactive={}", task.prompt));
    Interactive {
        args,
        env: [(DEFAULTS_VARIABLE.to_owned(), settings_path.display().to_string())].into(),
        files: vec![(settings_path, settings)],
    }
}
