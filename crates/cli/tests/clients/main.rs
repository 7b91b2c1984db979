//! The binary as real MCP clients find it: the four coding agents, the inspector, the conformance suite and the
//! Python package. All need programs that `scripts/install-test-clients` installs, so plain `cargo test` passes them
//! over; with them installed, `cargo test --test clients -- --ignored` runs them.

mod agents;
mod conformance;
mod coordination;
mod default_tools;
mod gain;
mod gateway;
mod hooks;
mod inspector;
mod python;
mod research;
mod runner;
mod sample;
mod sessions;
mod setup;
mod trace;
mod workbench;

use std::path::PathBuf;
use std::time::Duration;

/// How long a client other than an agent may take.
const LIMIT: Duration = Duration::from_secs(120);

fn tamis() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_tamis"))
}

fn mcp_pruner() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_mcp-pruner"))
}

/// A file or folder of `tests/clients` at the root of the repository.
fn shared(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients").join(name)
}
