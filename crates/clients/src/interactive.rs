//! Agents with their screens, each in a terminal that a person may or may not look at: what starts one with a task, with
//! our MCP server wired in, and with as few questions as can be had without touching the user's own configuration.
//!
//! Whether a folder is trusted is the user's to say. Where an agent has an option for it that holds for one session, it is
//! used, for whoever starts an agent in a repository has said so. Claude Code has none: it asks, once for a repository and
//! all its worktrees, if it was never used there.
//!
//! Deliberately missing: reading what such an agent shows. It tells of itself by the tools it calls.

mod claude;
mod codex;
mod gemini;
mod opencode;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::RunOptions;

/// What a session asks of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InteractiveOptions {
    /// The servers' environments must be complete: not every agent passes on its own.
    pub run: RunOptions,
    /// What it is told first.
    pub prompt: String,
    /// Where it works.
    pub worktree: PathBuf,
    /// Where the worktree's repository keeps its objects and refs. An agent in a sandbox cannot commit without it.
    pub git_folder: Option<PathBuf>,
    /// The user's home, where an agent that cannot be told otherwise has its settings.
    pub home: PathBuf,
    /// A folder of this session's alone, outside the worktree, for files that the agent reads.
    pub state: PathBuf,
}

/// How a session starts its agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interactive {
    pub args: Vec<String>,
    /// Beside the environment that is there.
    pub env: BTreeMap<String, String>,
    /// To be written before it starts, for its owner alone.
    pub files: Vec<(PathBuf, String)>,
    /// Symbolic links to be made before it starts, each with where it leads.
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// An agent that has a screen.
#[derive(Clone, Copy)]
pub struct InteractiveAgent {
    /// As the user names it.
    pub name: &'static str,
    /// The program to look for on PATH.
    pub program: &'static str,
    /// How a person gets the program.
    pub install_hint: &'static str,
    build: fn(&InteractiveOptions, &Task) -> Interactive,
}

/// All that there are.
pub const INTERACTIVE_AGENTS: &[InteractiveAgent] = &[
    InteractiveAgent {
        name: "claude",
        program: "claude",
        install_hint: "install Claude Code: `npm install -g @anthropic-ai/claude-code`",
        build: claude::interactive,
    },
    InteractiveAgent {
        name: "codex",
        program: "codex",
        install_hint: "install Codex: `npm install -g @openai/codex`",
        build: codex::interactive,
    },
    InteractiveAgent {
        name: "gemini",
        program: "gemini",
        install_hint: "install Gemini CLI: `npm install -g @google/gemini-cli`",
        build: gemini::interactive,
    },
    InteractiveAgent {
        name: "opencode",
        program: "opencode",
        install_hint: "install OpenCode: `npm install -g opencode-ai`",
        build: opencode::interactive,
    },
];

/// The agent of this name.
pub fn interactive_agent(name: &str) -> Option<&'static InteractiveAgent> {
    INTERACTIVE_AGENTS.iter().find(|agent| agent.name == name)
}

impl InteractiveAgent {
    /// What starts the agent as these options ask.
    pub fn interactive(&self, options: &InteractiveOptions) -> Interactive {
        let task = Task::of(options);
        let mut interactive = (self.build)(options, &task);
        interactive.files.extend(task.file);
        interactive
    }
}

/// What the agent is told on its command line.
struct Task {
    prompt: String,
    /// The prompt itself, where the command line cannot have it.
    file: Option<(PathBuf, String)>,
}

/// Linux takes no word of 128 KiB or more.
const LONGEST_WORD: usize = 96 << 10;

impl Task {
    fn of(options: &InteractiveOptions) -> Task {
        let prompt = &options.prompt;
        // What begins with a sign may be a flag, or a command of the agent's own: `/quit`, `!ls`, `#note`, `@file`.
        let harmless = prompt.starts_with(|first: char| first.is_alphanumeric());
        if harmless && prompt.len() <= LONGEST_WORD && !prompt.contains('\0') {
            return Task { prompt: prompt.clone(), file: None };
        }
        let path = options.state.join("task.md");
        let told = format!("Read your task in the file {} and do what it says.", path.display());
        Task { prompt: told, file: Some((path, prompt.clone())) }
    }
}

#[cfg(test)]
mod tests;
