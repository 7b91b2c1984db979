//! The tmux server of a data folder: one session for each instance.
