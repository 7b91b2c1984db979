//! The `tamis` program.

fn main() -> std::process::ExitCode {
    tamis_cli::tamis()
}
