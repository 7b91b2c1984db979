//! `bash`: what a command writes, or the part of it that answers a question.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_process::ProgramOutput;

use crate::workbench::{Question, RawOutput, answer, limit_note, lossy};
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct Bash;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct BashInput {
    /// Shell command to run.
    command: String,
    /// Return only what answers this question.
    #[serde(default)]
    context_focus_question: Question,
}

impl Operation for Bash {
    const NAME: &'static str = "bash";
    const TOOLSET: Toolset = Toolset::Workbench;
    const DESCRIPTION: &'static str = "Run a shell command. With context_focus_question, return only the output \
        that answers it. Redirect the output of background jobs, or it waits for them.";
    const READ_ONLY: bool = false;
    type Input = BashInput;
    type Output = String;

    async fn run(input: BashInput, context: Context) -> Result<String, Failure> {
        let workbench = &context.services.workbench;
        let program = workbench.bash(&input.command);
        let output = match workbench.run(program, &context.cancellation).await? {
            Ok(ended) => {
                let note = limit_note(&ended);
                let text = lossy(assembled_output(ended));
                Ok(RawOutput { text, prunable: true, placeholder: "(no output)", note })
            }
            Err(error) => Err(format!("Error executing command: {error}")),
        };
        answer(output, input.context_focus_question, context).await
    }

    fn render(output: String) -> Result<String, Failure> {
        Ok(output)
    }
}

/// Stdout, then stderr if there is any, then the exit code unless it is 0.
pub fn assembled_output(ended: ProgramOutput) -> Vec<u8> {
    let code = ended.code();
    let mut output = ended.stdout;
    if !ended.stderr.is_empty() {
        output.extend_from_slice(b"\n[stderr]\n");
        output.extend_from_slice(&ended.stderr);
    }
    match code {
        Some(0) => {}
        Some(code) => output.extend_from_slice(format!("\n[exit code: {code}]").as_bytes()),
        None => output.extend_from_slice(b"\n[exit code: null]"),
    }
    output
}
