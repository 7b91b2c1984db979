//! The commands, one file each.

mod agents;
mod bash;
mod call;
mod completions;
mod config;
mod data;
mod doctor;
mod gain;
mod gateway;
mod grep;
mod handoff;
mod hook;
pub(crate) mod mcp;
mod minder;
mod open;
mod prune;
mod reach;
mod read;
mod recover;
mod research;
mod run;
pub(crate) mod serve;
mod session;
mod setup;
mod token;
mod tools;
mod trace;

use clap::Subcommand;

use crate::error::CliResult;
use crate::pager;

#[derive(Subcommand)]
pub(crate) enum Command {
    Setup(setup::SetupCommand),
    Hook(hook::HookCommand),
    Doctor(doctor::DoctorCommand),
    Reach(reach::ReachCommand),
    Gain(gain::GainCommand),
    Serve(serve::Serve),
    Open(open::Open),
    Mcp(mcp::Mcp),
    Gateway(gateway::Gateway),
    Run(run::Run),
    Agents(agents::AgentsCommand),
    Prune(prune::Prune),
    Read(read::Read),
    Grep(grep::Grep),
    Bash(bash::Bash),
    Recover(recover::Recover),
    Research(research::Research),
    Locate(research::Locate),
    Patterns(research::Patterns),
    Analyze(research::Analyze),
    Handoff(handoff::HandoffCommand),
    Trace(trace::TraceCommand),
    Tools(tools::Tools),
    Call(call::Call),
    Config(config::ConfigCommand),
    Data(data::Data),
    Token(token::TokenCommand),
    Completions(completions::Completions),
    #[command(name = "__minder", hide = true)]
    Minder(minder::Minder),
    #[command(name = "__clean-up", hide = true)]
    CleanUp(hook::CleanUp),
    #[command(name = "__session", hide = true)]
    Session(session::Session),
}

pub(crate) fn run(command: Command) -> CliResult {
    // A line or a script is for another program.
    if matches!(command, Command::Token(_) | Command::Completions(_) | Command::Open(_)) {
        pager::turn_off();
    }
    match command {
        Command::Setup(arguments) => setup::run(arguments),
        Command::Hook(arguments) => hook::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Reach(arguments) => reach::run(&arguments),
        Command::Gain(arguments) => gain::run(&arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Open(arguments) => open::run(&arguments),
        Command::Mcp(arguments) => mcp::run(arguments),
        Command::Gateway(arguments) => gateway::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Agents(arguments) => agents::run(arguments),
        Command::Prune(arguments) => prune::run(arguments),
        Command::Read(arguments) => read::run(arguments),
        Command::Grep(arguments) => grep::run(arguments),
        Command::Bash(arguments) => bash::run(arguments),
        Command::Recover(arguments) => recover::run(arguments),
        Command::Research(arguments) => research::run(&arguments),
        Command::Locate(arguments) => research::locate(&arguments),
        Command::Patterns(arguments) => research::patterns(&arguments),
        Command::Analyze(arguments) => research::analyze(&arguments),
        Command::Handoff(arguments) => handoff::run(arguments),
        Command::Trace(arguments) => trace::run(arguments),
        Command::Tools(arguments) => tools::run(arguments),
        Command::Call(arguments) => call::run(arguments),
        Command::Config(arguments) => config::run(arguments),
        Command::Data(arguments) => data::run(arguments),
        Command::Token(arguments) => token::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Minder(_) => minder::run(),
        Command::CleanUp(_) => hook::clean_up(),
        Command::Session(arguments) => session::run(arguments),
    }
}
