//! Where the locator and the analyzer point, on small codebases that have something to confuse them.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod acts;
mod bindings;
mod fixture;
mod patterns;
mod ranking;
mod symbols;
mod values;
