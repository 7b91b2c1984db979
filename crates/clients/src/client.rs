//! The coding agents that tamis knows. Every other list of them is made from this one: whose logs are read, which agents can
//! be run, which can be started as instances.

use std::time::Duration;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A coding agent program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    ClaudeCode,
    Codex,
    Gemini,
    OpenCode,
}

/// What is known of a client, whatever it is used for.
struct Facts {
    /// In JSON and in the index: the contract's `provider`.
    id: &'static str,
    /// As users name it; also the program on PATH.
    name: &'static str,
    aliases: &'static [&'static str],
    display_name: &'static str,
    install_command: &'static str,
    output_chars: usize,
    shown_window: usize,
    shown_results: usize,
    cleared_tokens: usize,
}

impl Client {
    pub const ALL: &'static [Client] = &[Client::ClaudeCode, Client::Codex, Client::Gemini, Client::OpenCode];

    /// The names of all of them, in the same order.
    pub const NAMES: &'static [&'static str] = &[
        Client::ClaudeCode.facts().name,
        Client::Codex.facts().name,
        Client::Gemini.facts().name,
        Client::OpenCode.facts().name,
    ];

    const fn facts(self) -> Facts {
        match self {
            Client::ClaudeCode => Facts {
                id: "claude_code",
                name: "claude",
                aliases: &["claude", "claude-code"],
                display_name: "Claude Code",
                install_command: "npm install -g @anthropic-ai/claude-code",
                output_chars: 30_000,
                shown_window: 50_000,
                // It may clear all but the last five results, if that frees 20,000 tokens. Its estimate of them may be a third
                // above ours. The cache shows whether it did.
                shown_results: 5,
                cleared_tokens: 15_000,
            },
            Client::Codex => Facts {
                id: "codex",
                name: "codex",
                aliases: &[],
                display_name: "Codex",
                install_command: "npm install -g @openai/codex",
                // 10,000 tokens, as its list of models has it, with what it puts around them. With a model that it does not know,
                // 10,000 bytes.
                output_chars: 40_400,
                // It compacts, and clears nothing else. A hook reads about as much of its log.
                shown_window: 100_000,
                shown_results: usize::MAX,
                cleared_tokens: usize::MAX,
            },
            Client::Gemini => Facts {
                id: "gemini",
                name: "gemini",
                aliases: &["gemini-cli"],
                display_name: "Gemini CLI",
                install_command: "npm install -g @google/gemini-cli",
                output_chars: 40_000,
                // It masks results beyond the latest 50,000 tokens.
                shown_window: 40_000,
                shown_results: usize::MAX,
                cleared_tokens: usize::MAX,
            },
            Client::OpenCode => Facts {
                id: "opencode",
                name: "opencode",
                aliases: &[],
                display_name: "OpenCode",
                install_command: "npm install -g opencode-ai",
                output_chars: 51_200,
                // It clears results beyond the latest 40,000 tokens, where `compaction.prune` is set.
                shown_window: 30_000,
                shown_results: usize::MAX,
                cleared_tokens: usize::MAX,
            },
        }
    }

    /// Its name in JSON and in the index: the contract's `provider`.
    pub fn id(self) -> &'static str {
        self.facts().id
    }

    /// As users name it; also the program on PATH.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Other names that users may give in place of the id.
    pub fn aliases(self) -> &'static [&'static str] {
        self.facts().aliases
    }

    pub fn display_name(self) -> &'static str {
        self.facts().display_name
    }

    /// The command that installs it.
    pub fn install_command(self) -> &'static str {
        self.facts().install_command
    }

    pub fn with_id(id: &str) -> Option<Client> {
        Client::ALL.iter().copied().find(|client| client.id() == id)
    }

    /// Characters of one tool result that it sends to the model at most; it cuts longer ones itself. Files that Claude Code
    /// reads have another limit.
    pub fn output_chars(self) -> usize {
        self.facts().output_chars
    }

    /// After a pause of this length without a request, the client may clear all results but the latest.
    pub fn clearing_pause(self) -> Option<Duration> {
        // Claude Code does so after an hour, when the provider's cache has expired.
        (self == Client::ClaudeCode).then_some(Duration::from_secs(50 * 60))
    }

    /// Tokens of tool results, the latest ones, that are in the model's context unless it was compacted or they were cleared.
    pub fn shown_window(self) -> usize {
        self.facts().shown_window
    }

    /// The number of tool results, the latest ones, that are certain to be in the model's context unless it was compacted. It may
    /// clear the others once they have [`Client::cleared_tokens`].
    pub fn shown_results(self) -> usize {
        self.facts().shown_results
    }

    /// Tokens of the other tool results, below which it clears none of them.
    pub fn cleared_tokens(self) -> usize {
        self.facts().cleared_tokens
    }

    /// The client with this id or alias.
    pub fn named(name: &str) -> Option<Client> {
        Client::ALL.iter().copied().find(|client| client.id() == name || client.aliases().contains(&name))
    }

    /// The folders in which it keeps its logs, by its environment variables and defaults.
    pub fn log_folders(
        self,
        variable: &dyn Fn(&str) -> Option<OsString>,
        home: Option<&Path>,
    ) -> Vec<PathBuf> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let under_home = |folder: &str| home.map(|home| home.join(folder));
        match self {
            Client::ClaudeCode => match set("CLAUDE_CONFIG_DIR") {
                // Several may be named, separated by commas.
                Some(folders) => {
                    let folders = folders.to_string_lossy().into_owned();
                    folders.split(',').map(|folder| Path::new(folder.trim()).join("projects")).collect()
                }
                None => {
                    let config = set("XDG_CONFIG_HOME").or_else(|| under_home(".config"));
                    let folders = [under_home(".claude"), config.map(|folder| folder.join("claude"))];
                    folders.into_iter().flatten().map(|folder| folder.join("projects")).collect()
                }
            },
            Client::Codex => set("CODEX_HOME")
                .or_else(|| under_home(".codex"))
                .map_or_else(Vec::new, |codex| vec![codex.join("sessions"), codex.join("archived_sessions")]),
            Client::Gemini => {
                let home = set("GEMINI_CLI_HOME").or_else(|| home.map(Path::to_owned));
                home.map(|home| home.join(".gemini/tmp")).into_iter().collect()
            }
            Client::OpenCode => {
                let data = set("XDG_DATA_HOME").or_else(|| under_home(".local/share"));
                data.map(|folder| folder.join("opencode")).into_iter().collect()
            }
        }
    }
}
