//! The `mcp-pruner` program.

fn main() -> std::process::ExitCode {
    tamis_cli::mcp_pruner()
}
