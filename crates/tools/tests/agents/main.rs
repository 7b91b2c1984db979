//! The tools of agents: what they take, who does it, and what becomes of a call when whoever coordinates dies.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod forwarding;
mod leader_lock;
mod schemas;
mod shared_folder;
