//! Tests with real git, in folders of their own.

mod disposal;
mod hostile;
mod notes;
mod property;
mod support;
mod worktrees;
