mod analyze;
mod event;
mod index;
mod indexing;
pub(super) mod options;
pub(super) mod prices;
mod projects;
mod render;
mod savings;
mod search;
mod sessions;
mod show;
mod turns;
mod usage;
mod watch;

use clap::{Args, Subcommand};

use crate::error::CliResult;

pub(super) use indexing::refresh;
pub(super) use render::under_home;

/// Browse, search and diagnose past sessions of coding agents
///
/// Reads the logs of Claude Code, Codex, Gemini CLI and OpenCode, and never changes them. Name a session by a unique prefix of
/// its id. Secrets are redacted.
#[derive(Args)]
pub(crate) struct TraceCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Sessions(sessions::Sessions),
    Show(show::Show),
    Turns(turns::Turns),
    Search(search::SearchCommand),
    Event(event::EventCommand),
    Analyze(analyze::Analyze),
    Usage(usage::Usage),
    Projects(projects::Projects),
    Savings(savings::SavingsCommand),
    Watch(watch::WatchCommand),
    Index(index::Index),
}

pub(crate) fn run(arguments: TraceCommand) -> CliResult {
    match arguments.command {
        Command::Sessions(arguments) => sessions::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Turns(arguments) => turns::run(&arguments),
        Command::Search(arguments) => search::run(&arguments),
        Command::Event(arguments) => event::run(&arguments),
        Command::Analyze(arguments) => analyze::run(&arguments),
        Command::Usage(arguments) => usage::run(&arguments),
        Command::Projects(arguments) => projects::run(&arguments),
        Command::Savings(arguments) => savings::run(&arguments),
        Command::Watch(arguments) => watch::run(&arguments),
        Command::Index(arguments) => index::run(&arguments),
    }
}
