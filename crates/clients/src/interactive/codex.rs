//! Codex. Its sandbox, when enabled, has no access to the repository's objects, so it could not commit in a worktree.

use super::{InteractiveLaunch, InteractiveOptions, Task};
use crate::codex::{settings, toml_key, toml_string};

/// `request_review` makes the review agent's worktree before it returns; Codex would give up after a minute.
const TOOL_TIMEOUT_SECONDS: u32 = 180;
const STARTUP_TIMEOUT_SECONDS: u32 = 60;

pub(super) fn interactive(options: &InteractiveOptions, task: &Task) -> InteractiveLaunch {
    let mut args = Vec::new();
    let mut set = |setting: String| args.extend(["--config".to_owned(), setting]);
    // Otherwise it would ask whether to update.
    set("check_for_update_on_startup=false".to_owned());
    // A whole table: in a dotted path Codex takes quotes as part of the name.
    let worktree = toml_string(&options.worktree.to_string_lossy());
    set(format!("projects={{{worktree}={{trust_level=\"trusted\"}}}}"));
    for name in options.run.mcp_servers.keys() {
        let server = format!("mcp_servers.{}", toml_key(name));
        set(format!("{server}.startup_timeout_sec={STARTUP_TIMEOUT_SECONDS}"));
        set(format!("{server}.tool_timeout_sec={TOOL_TIMEOUT_SECONDS}"));
    }
    if let Some(folder) = &options.git_folder {
        args.extend(["--add-dir".to_owned(), folder.display().to_string()]);
    }
    args.extend(settings(&options.run));
    args.extend(["--".to_owned(), task.prompt.clone()]);
    InteractiveLaunch { args, ..InteractiveLaunch::default() }
}
