//! Claude Code. It trusts a worktree when it trusts the repository; otherwise it asks, and no flag answers for the user.

use super::{InteractiveLaunch, InteractiveOptions, Task};
use crate::claude::settings;

pub(super) fn interactive(options: &InteractiveOptions, task: &Task) -> InteractiveLaunch {
    let mut args = settings(&options.run);
    if task.file.is_some() {
        // Otherwise it would ask before it reads outside the worktree.
        args.push(format!("--add-dir={}", options.state.display()));
    }
    args.extend(["--".to_owned(), task.prompt.clone()]);
    InteractiveLaunch { args, ..InteractiveLaunch::default() }
}
