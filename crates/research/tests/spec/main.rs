//! The contract's unit tests and acceptance scenarios, by name: each test here is a line there.
//!
//! Phase 1, and the forms of what tools answer, are held where the tools are.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod absence;
mod acceptance;
mod answers;
mod fixture;
mod pipeline;
mod runtime;
mod secrets;
