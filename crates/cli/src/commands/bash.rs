use clap::Args;
use tamis_process::bash;
use tamis_tools::assembled_output;

use crate::error::{CliError, CliResult};
use crate::question::Asked;

/// Run a command, and keep what of its output answers a question
///
/// Ends with the command's own exit code. Without a question it is as if bash had been started instead.
#[derive(Args)]
pub(crate) struct Bash {
    /// What you want to know
    #[arg(long, short)]
    question: Option<String>,
    /// The command, for bash; several words are joined by spaces
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

pub(crate) fn run(arguments: Bash) -> CliResult {
    let asked = Asked::new()?;
    let shell = bash(&arguments.command.join(" "), asked.services.workbench.folder.path());
    let Some(question) = arguments.question.filter(|question| !question.is_empty()) else {
        return Err(CliError::failed(shell.take_over()));
    };
    let ended = asked.run(shell)?;
    let (code, signal) = (ended.code(), ended.signal());
    let output = assembled_output(ended);
    if !output.is_empty() {
        asked.answer("bash", &output, &question)?;
    }
    CliError::passed(code, signal)
}
