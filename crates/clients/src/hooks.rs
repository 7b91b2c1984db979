//! The hooks of each client: its events, and the tools that they are for. Setup, the plugin folder, `tamis hook` and the doctor
//! follow this table.

use crate::Client;

/// The hooks that tamis has in a client.
#[derive(Debug)]
pub struct ClientHooks {
    /// Runs after a tool, and may replace its output.
    pub after: HookEvent<HookedTool>,
    /// Runs before a tool that writes, and may refuse it.
    pub before: HookEvent<&'static str>,
}

/// An event of a client, and the tools for which its hook runs.
#[derive(Debug)]
pub struct HookEvent<T: 'static> {
    /// As the client names the event.
    pub name: &'static str,
    pub tools: &'static [T],
}

/// A tool whose output is pruned.
#[derive(Debug, PartialEq, Eq)]
pub struct HookedTool {
    /// As the client names it to its hooks.
    pub name: &'static str,
    pub output: HookedOutput,
    /// As its logs name it, where that differs.
    logged: &'static [&'static str],
}

/// What a tool prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookedOutput {
    Command,
    File,
    Matches,
}

const fn tool(name: &'static str, output: HookedOutput) -> HookedTool {
    HookedTool { name, output, logged: &[] }
}

const CLAUDE_CODE: ClientHooks = ClientHooks {
    after: HookEvent {
        name: "PostToolUse",
        tools: &[
            tool("Bash", HookedOutput::Command),
            tool("Read", HookedOutput::File),
            tool("Grep", HookedOutput::Matches),
        ],
    },
    before: HookEvent { name: "PreToolUse", tools: &["Write", "Edit", "MultiEdit", "NotebookEdit"] },
};
const CODEX: ClientHooks = ClientHooks {
    after: HookEvent {
        name: "PostToolUse",
        tools: &[HookedTool {
            name: "Bash",
            output: HookedOutput::Command,
            logged: &["exec_command", "shell", "shell_command", "local_shell"],
        }],
    },
    // Its models also write files by patches in the shell.
    before: HookEvent { name: "PreToolUse", tools: &["Bash", "apply_patch", "Edit", "Write"] },
};
const GEMINI: ClientHooks = ClientHooks {
    after: HookEvent {
        name: "AfterTool",
        tools: &[
            tool("run_shell_command", HookedOutput::Command),
            tool("read_file", HookedOutput::File),
            tool("read_many_files", HookedOutput::File),
            tool("grep_search", HookedOutput::Matches),
            tool("search_file_content", HookedOutput::Matches),
        ],
    },
    before: HookEvent { name: "BeforeTool", tools: &["write_file", "replace"] },
};
/// Our plugin sends the same events as Gemini CLI.
const OPENCODE: ClientHooks = ClientHooks {
    after: HookEvent {
        name: "AfterTool",
        tools: &[
            tool("bash", HookedOutput::Command),
            tool("read", HookedOutput::File),
            tool("grep", HookedOutput::Matches),
        ],
    },
    before: HookEvent { name: "BeforeTool", tools: &["write", "edit", "patch", "apply_patch"] },
};

impl Client {
    pub fn hooks(self) -> &'static ClientHooks {
        match self {
            Client::ClaudeCode => &CLAUDE_CODE,
            Client::Codex => &CODEX,
            Client::Gemini => &GEMINI,
            Client::OpenCode => &OPENCODE,
        }
    }
}

impl ClientHooks {
    /// What a tool prints, if its output is pruned.
    pub fn output_of(&self, name: &str) -> Option<HookedOutput> {
        self.after.tools.iter().find(|tool| tool.name == name).map(|tool| tool.output)
    }

    /// Whether this is the name of a tool in the client's logs whose output is pruned.
    pub fn is_logged_name(&self, name: &str) -> bool {
        let is_named = |tool: &HookedTool| match tool.logged {
            [] => tool.name == name,
            logged => logged.contains(&name),
        };
        self.after.tools.iter().any(is_named)
    }
}
