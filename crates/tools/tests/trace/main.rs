//! The tools for past sessions, at the registry: over small logs, whole answers; over large ones, their sizes.

#![allow(clippy::unwrap_used, unreachable_pub, reason = "a test may fail where it stands")]

mod details;
mod errors;
mod fixture;
mod lists;
mod schemas;
mod searches;
mod sizes;
