//! The hooks that clients run: which tools they are for, and the command.

use serde_json::{Value, json};

use crate::SetupClient;
use crate::document::Entry;

/// OpenCode has no hooks in its configuration, but loads modules.
const OPENCODE_PLUGIN: &str = include_str!("opencode-plugin.js");
/// The program's name in that module.
const PLUGIN_PROGRAM: &str = "const TAMIS = \"tamis\"";

/// The hooks of a client: the name that it gives an event, and the tools that it is for.
struct ClientHooks {
    after: (&'static str, &'static str),
    before: (&'static str, &'static str),
    /// 5 seconds in the client's unit. `tamis hook` itself answers within 150 ms.
    timeout: u64,
}

const CLAUDE: ClientHooks = ClientHooks {
    after: ("PostToolUse", "Bash|Read|Grep"),
    before: ("PreToolUse", "Write|Edit|MultiEdit|NotebookEdit"),
    timeout: 5,
};
// Its models also write files by patches in the shell.
const CODEX: ClientHooks = ClientHooks {
    after: ("PostToolUse", "^Bash$"),
    before: ("PreToolUse", "^(Bash|apply_patch|Edit|Write)$"),
    timeout: 5,
};
const GEMINI: ClientHooks = ClientHooks {
    after: ("AfterTool", "run_shell_command|read_file|read_many_files|grep_search|search_file_content"),
    before: ("BeforeTool", "write_file|replace"),
    timeout: 5000,
};

/// The entries of a client whose hooks are in a configuration file.
pub(crate) fn entries(client: SetupClient, command: &str) -> Vec<Entry> {
    let hooks = match client {
        SetupClient::ClaudeCode => CLAUDE,
        SetupClient::Codex => CODEX,
        SetupClient::Gemini => GEMINI,
        _ => return Vec::new(),
    };
    let mut hook = json!({
        "type": "command",
        "command": shell_command(client, command),
        "timeout": hooks.timeout,
    });
    if client == SetupClient::Gemini {
        // `/hooks disable` needs a name.
        hook["name"] = json!("tamis");
    }
    let entry = |(event, matcher): (&str, &str)| Entry {
        keys: vec!["hooks".to_owned(), event.to_owned()],
        fields: vec![
            ("matcher".to_owned(), json!(matcher)),
            ("hooks".to_owned(), Value::Array(vec![hook.clone()])),
        ],
        is_element: true,
    };
    vec![entry(hooks.after), entry(hooks.before)]
}

/// What the client's shell runs. It succeeds also if there is no such program, or one that fails: some exit codes of a hook would
/// block the tool.
fn shell_command(client: SetupClient, command: &str) -> String {
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
