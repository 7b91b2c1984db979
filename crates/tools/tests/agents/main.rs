//! The tools of agents: their input, the process that runs a call, and calls whose coordinator dies.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod forwarding;
mod leader_lock;
mod schemas;
mod shared_folder;
