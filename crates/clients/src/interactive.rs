//! Clients in a terminal: how to start one with a task and our MCP server, with as few questions to the user as possible and
//! without changing the user's own configuration.
//!
//! Whether a folder is trusted is the user's decision, made by starting an agent in a repository. Where a client has an option
//! that trusts a folder for one session, it is used. Claude Code has none: it asks once for a repository and all its
//! worktrees, if it was never used there.
//!
//! The screen of such a client is never read; its tool calls show what it does.

mod claude;
mod codex;
mod gemini;
mod opencode;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{Client, RunOptions};

/// What a session is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InteractiveOptions {
    /// The servers' environments must be complete: not every client passes on its own.
    pub run: RunOptions,
    /// The first message.
    pub prompt: String,
    /// The working folder.
    pub worktree: PathBuf,
    /// The folder of the repository's objects and refs. A client in a sandbox cannot commit without access to it.
    pub git_folder: Option<PathBuf>,
    /// The user's home, where some clients have their settings.
    pub home: PathBuf,
    /// A folder for this session only, outside the worktree, for files that the client reads.
    pub state: PathBuf,
}

/// How to start a client for a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InteractiveLaunch {
    pub args: Vec<String>,
    /// Added to the environment.
    pub env: BTreeMap<String, String>,
    /// Files to write before it starts, readable by their owner only.
    pub files: Vec<(PathBuf, String)>,
    /// Symbolic links to make before it starts, each with its target.
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// A client that can be started in a terminal.
#[derive(Clone, Copy)]
pub struct InteractiveAgent {
    pub client: Client,
    build: fn(&InteractiveOptions, &Task) -> InteractiveLaunch,
}

/// Every client that can be started in a terminal.
pub const INTERACTIVE_AGENTS: &[InteractiveAgent] = &[
    InteractiveAgent { client: Client::ClaudeCode, build: claude::interactive },
    InteractiveAgent { client: Client::Codex, build: codex::interactive },
    InteractiveAgent { client: Client::Gemini, build: gemini::interactive },
    InteractiveAgent { client: Client::OpenCode, build: opencode::interactive },
];

/// The client of this name.
pub fn interactive_agent(name: &str) -> Option<&'static InteractiveAgent> {
    INTERACTIVE_AGENTS.iter().find(|agent| agent.client.name() == name)
}

impl InteractiveAgent {
    /// How to start the client with these options.
    pub fn interactive(&self, options: &InteractiveOptions) -> InteractiveLaunch {
        let task = Task::of(options);
        let mut interactive = (self.build)(options, &task);
        interactive.files.extend(task.file);
        interactive
    }
}

/// The prompt on the client's command line.
struct Task {
    prompt: String,
    /// The file with the real prompt, when it cannot be an argument.
    file: Option<(PathBuf, String)>,
}

/// Linux takes no argument of 128 KiB or more.
const LONGEST_ARGUMENT: usize = 96 << 10;

impl Task {
    fn of(options: &InteractiveOptions) -> Task {
        let prompt = &options.prompt;
        // What begins with a sign may be a flag or one of the client's own commands: `/quit`, `!ls`, `#note`, `@file`.
        let is_harmless = prompt.starts_with(|first: char| first.is_alphanumeric());
        if is_harmless && prompt.len() <= LONGEST_ARGUMENT && !prompt.contains('\0') {
            return Task { prompt: prompt.clone(), file: None };
        }
        let path = options.state.join("task.md");
        let prompt_text = format!("Read your task in the file {} and do what it says.", path.display());
        Task { prompt: prompt_text, file: Some((path, prompt.clone())) }
    }
}

#[cfg(test)]
mod tests;
