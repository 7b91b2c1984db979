//! The hooks as clients configure them.

use serde_json::{Value, json};
use tamis_clients::{Client, ClientHooks};

use crate::document::Entry;

/// OpenCode has no hooks in its configuration, but loads modules.
const OPENCODE_PLUGIN: &str = include_str!("opencode-plugin.js");
/// The program's name in that module.
const PLUGIN_PROGRAM: &str = "const TAMIS = \"tamis\"";

/// `tamis hook` itself answers within 150 ms.
const TIMEOUT_SECONDS: u64 = 5;

/// The entries of a client whose hooks are in a configuration file.
pub(crate) fn entries(client: Client, command: &str) -> Vec<Entry> {
    let mut hook = json!({
        "type": "command",
        "command": shell_command(client, command),
        "timeout": if client == Client::Gemini { TIMEOUT_SECONDS * 1_000 } else { TIMEOUT_SECONDS },
    });
    if client == Client::Gemini {
        // `/hooks disable` needs a name.
        hook["name"] = json!("tamis");
    }
    let entry = |event: &str, tools: &[&str]| Entry {
        keys: vec!["hooks".to_owned(), event.to_owned()],
        fields: vec![
            ("matcher".to_owned(), json!(matcher(client, tools))),
            ("hooks".to_owned(), Value::Array(vec![hook.clone()])),
        ],
        is_element: true,
    };
    let ClientHooks { after, before } = client.hooks();
    let pruned: Vec<&str> = after.tools.iter().map(|tool| tool.name).collect();
    vec![entry(after.name, &pruned), entry(before.name, before.tools)]
}

/// The regular expression that matches these tools.
fn matcher(client: Client, tools: &[&str]) -> String {
    match (client, tools) {
        // It also matches a part of a name.
        (Client::Codex, [tool]) => format!("^{tool}$"),
        (Client::Codex, tools) => format!("^({})$", tools.join("|")),
        (_, tools) => tools.join("|"),
    }
}

/// What the client's shell runs. It succeeds also if there is no such program, or one that fails: some exit codes of a hook would
/// block the tool.
fn shell_command(client: Client, command: &str) -> String {
    let name = client.name();
    if command.contains('/') {
        let program = format!("'{}'", command.replace('\'', "'\\''"));
        format!("if [ -x {program} ]; then {program} hook {name} || true; fi")
    } else {
        format!("if command -v {command} >/dev/null 2>&1; then {command} hook {name} || true; fi")
    }
}

/// The module that OpenCode loads.
pub(crate) fn opencode_plugin(command: &str) -> String {
    OPENCODE_PLUGIN.replace(PLUGIN_PROGRAM, &format!("const TAMIS = {}", json!(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_of_opencode_has_the_tools_of_the_table() {
        let ClientHooks { after, before } = Client::OpenCode.hooks();
        let pruned: Vec<&str> = after.tools.iter().map(|tool| tool.name).collect();
        for (name, tools) in [("PRUNED", &pruned[..]), ("GUARDED", before.tools)] {
            let list = json!(tools).to_string().replace(',', ", ");
            let line = format!("const {name} = {list}\n");
            assert!(OPENCODE_PLUGIN.contains(&line), "{line}");
        }
        for event in [after.name, before.name] {
            assert!(OPENCODE_PLUGIN.contains(&format!("about(\"{event}\", ")), "{event}");
        }
    }
}
