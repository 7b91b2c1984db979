//! The programs `tamis` and `mcp-pruner`: parse, run, turn the error into an exit code.

mod background_server;
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
mod pager;
mod print;
mod progress;
mod signals;
mod similar_paths;
mod startup;
mod stdio;
mod style;
mod table;
mod times;
mod wrap;

use std::panic::UnwindSafe;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser};
use tamis_process::{WARDEN_ARGUMENT, run_warden};

use error::{CliResult, Kind};
use style::ColorWhen;

/// A fine sieve between coding agents and what they read
///
/// Prunes long text for the task at hand, marks every cut, and can recover anything it cut.
#[derive(Parser)]
#[command(name = "tamis", version, propagate_version = true, max_term_width = 100)]
struct Arguments {
    /// When to colour the output: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Global options"
    )]
    color: ColorWhen,
    /// Do not use a pager for long output (TAMIS_PAGER, PAGER or less)
    #[arg(long, global = true, help_heading = "Global options")]
    no_pager: bool,
    #[command(subcommand)]
    command: commands::Command,
}

/// Every command of `tamis`, for the reference and the man pages.
pub fn command() -> clap::Command {
    with_tool_costs(Arguments::command())
}

/// Adds what is worked out for the help only, because it takes as long as many a command.
fn with_tool_costs(command: clap::Command) -> clap::Command {
    // `mut_subcommand` would move it to the end of the list.
    command.mut_subcommands(|sub| match sub.get_name() {
        "mcp" => sub.after_long_help(commands::mcp::tool_costs()),
        _ => sub,
    })
}

/// The `tamis` program.
pub fn tamis() -> ExitCode {
    run(|| {
        let arguments = parse();
        style::set(arguments.color);
        if arguments.no_pager {
            pager::turn_off();
        }
        commands::run(arguments.command)
    })
}

/// A usage error with what to write instead, where clap cannot know it.
fn with_hint(mut error: clap::Error) -> clap::Error {
    let argument = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let hint = if argument.contains("--goal") && error.kind() == ErrorKind::MissingRequiredArgument {
        "name what the text is for: `tamis prune --goal \"why does the build fail\" build.log`"
    } else if argument == "[CLIENT]..." && error.kind() == ErrorKind::InvalidValue {
        "any other MCP client can start `tamis mcp`: add that command in its settings"
    } else {
        return error;
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    error
}

/// The arguments; or the help or an error of clap's, which `--color` holds for too.
fn parse() -> Arguments {
    let given: Vec<_> = std::env::args_os().collect();
    let never = given.windows(2).any(|pair| pair[0] == "--color" && pair[1] == "never")
        || given.iter().any(|argument| argument == "--color=never");
    let choice = if never { ColorChoice::Never } else { ColorChoice::Auto };
    let wants_help = given.iter().any(|argument| argument == "--help" || argument == "help");
    let command = Arguments::command().color(choice);
    let command = if wants_help { with_tool_costs(command) } else { command };
    let matches = command.try_get_matches().unwrap_or_else(|error| with_hint(error).exit());
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
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
    let code = exit_code(ended);
    pager::finish();
    code
}

/// Prints the error of a command.
fn exit_code(ended: std::thread::Result<CliResult>) -> ExitCode {
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
