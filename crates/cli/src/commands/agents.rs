mod abandon;
mod attach;
mod config;
mod data_folder;
mod gc;
mod list;
mod log_file;
mod logs;
mod render;
mod show;
mod start;
mod stop;

use clap::{Args, Subcommand};

use crate::error::CliResult;

/// Start and manage coding agents in their own worktrees
///
/// An instance is a git worktree outside your repository, a branch, a tmux session in which the agent runs with tamis
/// configured, and a row in the database. `tamis serve` coordinates them; `start` starts it if needed. See docs/agents.md.
#[derive(Args)]
pub(crate) struct AgentsCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Start(start::Start),
    List(list::List),
    Show(show::Show),
    Attach(attach::Attach),
    Logs(logs::Logs),
    Stop(stop::Stop),
    Abandon(abandon::Abandon),
    Gc(gc::Gc),
    Config(config::ConfigCommand),
}

pub(crate) fn run(arguments: AgentsCommand) -> CliResult {
    match arguments.command {
        Command::Start(arguments) => start::run(arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Attach(arguments) => attach::run(&arguments),
        Command::Logs(arguments) => logs::run(&arguments),
        Command::Stop(arguments) => stop::run(&arguments),
        Command::Abandon(arguments) => abandon::run(&arguments),
        Command::Gc(arguments) => gc::run(&arguments),
        Command::Config(arguments) => config::run(&arguments),
    }
}
