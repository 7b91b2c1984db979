//! The commands as a person meets them: what goes to stdout, what to stderr, and the exit codes.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

#[path = "../common/mod.rs"]
mod common;

mod config;
mod data;
mod prune;
mod serving;
mod streams;
mod workbench;
