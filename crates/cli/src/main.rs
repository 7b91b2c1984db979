//! The `tamis` program: parse, run, turn the error into an exit code.

mod commands;
mod error;
mod print;
mod setup;

use std::process::ExitCode;

use clap::Parser;

/// A fine sieve between coding agents and what they read.
///
/// Prunes long texts for the task at hand, marks every cut, and gives back anything it cut.
#[derive(Parser)]
#[command(name = "tamis", version, propagate_version = true, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match commands::run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has seen enough, as `head` does.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            print::error(&error);
            error.exit_code()
        }
    }
}
