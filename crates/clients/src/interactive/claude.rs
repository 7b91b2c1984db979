//! Claude Code. A worktree is trusted when its repository is; it asks otherwise, and no flag answers for the user.

use super::{Interactive, InteractiveOptions, Task};
use crate::claude::settings;

pub(super) fn interactive(options: &InteractiveOptions, task: &Task) -> Interactive {
    let mut args = settings(&options.run);
    if task.file.is_some() {
        // Else it would ask before it reads outside the worktree.
        args.push(format!("--add-dir={}", options.state.display()));
    }
    args.extend(["--".to_owned(), task.prompt.clone()]);
    Interactive { args, ..Interactive::default() }
}
