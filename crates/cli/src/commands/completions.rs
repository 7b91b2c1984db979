use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::error::CliResult;
use crate::{Arguments, print};

/// Print a completion script for a shell
#[derive(Args)]
pub(crate) struct Completions {
    /// Shell to generate the script for
    shell: Shell,
}

pub(crate) fn run(arguments: Completions) -> CliResult {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "tamis", &mut script);
    print::bytes(&script)
}
