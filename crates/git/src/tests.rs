//! Tests with real git, in folders of their own.

mod disposal;
mod hostile;
mod keys;
mod layouts;
mod notes;
mod patch;
mod promises;
mod property;
mod support;
mod syntax;
mod worktrees;
