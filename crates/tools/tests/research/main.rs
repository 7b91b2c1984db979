//! The tools of research as a client meets them: their list, their forms, their errors, progress and cancellation.
//!
//! The names of tests of phase 1, and of the forms of phase 3, are the contract's lines.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod errors;
mod fixture;
mod forms;
mod handoffs;
mod routing;
