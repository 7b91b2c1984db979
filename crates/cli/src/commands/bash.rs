use clap::Args;
use serde_json::json;
use tamis_tools::{assembled_output, limit_note};

use crate::error::{CliError, CliResult};
use crate::operation::{AnswerArgs, Operations};
use crate::{print, setup};

/// Run a command, and keep the output that answers a question
///
/// Exits with the command's own exit code. Without --question and --json, bash replaces this process.
#[derive(Args)]
pub(crate) struct Bash {
    #[command(flatten)]
    answer: AnswerArgs,
    /// Command to run in bash; multiple words are joined with spaces
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

pub(crate) fn run(arguments: Bash) -> CliResult {
    let Bash { answer, command } = arguments;
    let operations = Operations::new("bash")?;
    let program = operations.services.workbench.bash(&command.join(" "));
    if answer.question().is_none() && !answer.json {
        return Err(CliError::failed(program.exec()));
    }
    let ended = operations
        .run(async |context| context.services.workbench.run(program, &context.cancellation).await)?
        .map_err(CliError::failed)?;
    let (code, signal) = (ended.code(), ended.signal());
    if let Some(note) = limit_note(&ended) {
        print::note(note);
    }
    let output = assembled_output(ended);
    if answer.json {
        print::json(&operations.answer_json(("exit_code", json!(code)), output, &answer)?)?;
    } else if !output.is_empty() {
        operations.print_answer(output, &answer)?;
    }
    setup::finish(&operations.services);
    CliError::passed(code, signal)
}
