//! Starting agents: worktree, identity, prompt, client configuration and tmux session.

pub(crate) mod client_setup;
pub(crate) mod preparation;
pub(crate) mod session_file;
pub(crate) mod start;
pub(crate) mod tmux;
