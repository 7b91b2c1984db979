//! The program `mcp-pruner` against its contract: every row of its tables, through the program itself.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod contract;
mod docs;
mod ending;
mod faults;
mod http_pruner;
mod https;
mod measure;
mod protocol;
mod server;
mod transitions;
