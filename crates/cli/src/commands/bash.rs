use clap::Args;
use tamis_tools::assembled_output;

use crate::error::CliResult;
use crate::operation::Operations;

/// Run a command, and keep the output that answers a question
///
/// Exits with the command's own exit code. Without --question, bash replaces this process.
#[derive(Args)]
pub(crate) struct Bash {
    /// Keep only what answers this question
    #[arg(long, short)]
    question: Option<String>,
    /// Command to run in bash; multiple words are joined with spaces
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

pub(crate) fn run(arguments: Bash) -> CliResult {
    let operations = Operations::new("bash")?;
    let program = operations.services.workbench.bash(&arguments.command.join(" "));
    operations.run_program(program, arguments.question, assembled_output)
}
