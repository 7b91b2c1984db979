use std::borrow::Cow;
use std::io::{self, IsTerminal};

use clap::Args;
use serde_json::json;
use tamis_process::ProgramError;
use tamis_tools::{assembled_output, limit_note};

use crate::error::{CliError, CliResult};
use crate::operation::{AnswerArgs, Operations};
use crate::{print, startup};

/// Run a command, and keep the output that answers a question
///
/// A single argument is a command line for bash: `tamis bash 'make 2>&1 | tail'`. Several arguments are a program and its
/// arguments: `tamis bash -- ls 'a b'`. Exits with the command's own exit code. With neither --question nor --json, bash replaces
/// this process.
#[derive(Args)]
pub(crate) struct Bash {
    #[command(flatten)]
    answer: AnswerArgs,
    /// Command to run in bash
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

/// What agents get for a command that a signal ended.
const NO_EXIT_CODE: &[u8] = b"\n[exit code: null]";

pub(crate) fn run(arguments: Bash) -> CliResult {
    let Bash { answer, command } = arguments;
    let operations = Operations::new("bash")?;
    let mut program = operations.services.workbench.bash(&command_line(&command));
    // A terminal belongs to the process group of this process, so another one cannot read it.
    if !io::stdin().is_terminal() {
        program = program.inherit_stdin();
    }
    if answer.question().is_none() && !answer.json {
        return Err(CliError::failed(program.exec()));
    }
    let ended = operations.run(async |context| {
        Ok(context.services.workbench.process_groups.run(program, &context.cancellation).await)
    })?;
    let ended = match ended {
        Err(ProgramError::Cancelled { stdout, stderr }) => {
            // What it wrote until Ctrl-C may be all that was wanted.
            let output = [stdout, stderr].concat();
            if !output.is_empty() && !answer.json {
                operations.print_answer(None, output, &answer)?;
            }
            return Err(CliError::interrupted());
        }
        ended => ended.map_err(CliError::failed)?,
    };
    let (code, signal) = (ended.code(), ended.signal());
    if let Some(note) = limit_note(&ended) {
        print::note(note);
    }
    let mut output = assembled_output(ended);
    if let Some(signal) = signal
        && output.ends_with(NO_EXIT_CODE)
    {
        output.truncate(output.len() - NO_EXIT_CODE.len());
        output.extend_from_slice(format!("\n[ended by signal {signal}]").as_bytes());
    }
    if answer.json {
        print::json(&operations.answer_json(("exit_code", json!(code)), output, &answer)?)?;
    } else if !output.is_empty() {
        operations.print_answer(None, output, &answer)?;
    }
    startup::finish(&operations.services);
    CliError::passed(code, signal)
}

/// What bash runs: one word as it is; several so that each is one word for bash too.
fn command_line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}
