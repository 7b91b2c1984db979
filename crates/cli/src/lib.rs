//! The programs `tamis` and `mcp-pruner`: parse, run, turn the error into an exit code.

mod commands;
mod detached_runtime;
mod diagnostics;
mod error;
mod escape;
mod input;
mod interrupts;
mod mcp_pruner;
mod memory;
mod operation;
mod print;
mod progress;
mod setup;
mod signals;
mod stdio;
mod table;
mod times;
mod wrap;

use std::panic::UnwindSafe;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use tamis_process::{WARDEN_ARGUMENT, run_warden};

use error::{CliResult, Kind};

/// A fine sieve between coding agents and what they read
///
/// Prunes long text for the task at hand, marks every cut, and can recover anything it cut.
#[derive(Parser)]
#[command(name = "tamis", version, propagate_version = true, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

/// Every command of `tamis`, for the reference and the man pages.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// The `tamis` program.
pub fn tamis() -> ExitCode {
    run(|| commands::run(Arguments::parse().command))
}

/// The `mcp-pruner` program.
pub fn mcp_pruner() -> ExitCode {
    run(mcp_pruner::run)
}

fn run(program: impl FnOnce() -> CliResult + UnwindSafe) -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == WARDEN_ARGUMENT) {
        run_warden();
        return ExitCode::SUCCESS;
    }
    memory::return_large_blocks();
    hush_panics();
    let ended = std::panic::catch_unwind(program);
    diagnostics::flush();
    match ended {
        Ok(Ok(())) => ExitCode::SUCCESS,
        // The reader of our output has seen enough, as `head` does.
        Ok(Err(error)) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            if !matches!(error.kind, Kind::Passed(_)) {
                print::error(&error);
            }
            error.exit_code()
        }
        Err(_) => ExitCode::from(255),
    }
}

/// A panic's message may quote the text that was being read, so only its place is printed. Panics of handlers are caught there
/// and answered as internal errors.
fn hush_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        print::note(format_args!("internal error at {place}; please report this"));
    }));
}
