//! `bash`: what a command writes, or the part of it that answers a question.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_process::{Ended, RunError, bash};

use crate::workbench::{Question, RawOutput, answer, lossy};
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct Bash;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct BashInput {
    /// Shell command to run.
    command: String,
    /// A question: only what answers it comes back.
    #[serde(default)]
    context_focus_question: Question,
}

impl Operation for Bash {
    const NAME: &'static str = "bash";
    const TOOLSET: Toolset = Toolset::Workbench;
    const DESCRIPTION: &'static str = "Run a shell command. With context_focus_question, the output is pruned to what \
        the question needs; without it, all of the output comes back.";
    const READ_ONLY: bool = false;
    type Input = BashInput;
    type Output = String;

    async fn run(input: BashInput, context: Context) -> Result<String, Failure> {
        let workbench = &context.services.workbench;
        let shell = bash(&input.command, workbench.folder.path());
        let output = match workbench.children.run(shell, &context.cancellation).await {
            Ok(ended) => {
                Ok(RawOutput { text: assembled_output(ended), prunable: true, placeholder: "(no output)" })
            }
            Err(RunError::Cancelled) => return Err(Failure::Cancelled),
            Err(error) => Err(format!("Error executing command: {error}")),
        };
        answer(output, input.context_focus_question, context).await
    }

    fn render(output: String) -> Result<String, Failure> {
        Ok(output)
    }
}

/// Stdout, then what was written to stderr, then the exit code unless it is 0.
pub fn assembled_output(ended: Ended) -> String {
    let code = ended.code();
    let mut output = lossy(ended.stdout);
    if !ended.stderr.is_empty() {
        output.push_str("\n[stderr]\n");
        output.push_str(&String::from_utf8_lossy(&ended.stderr));
    }
    match code {
        Some(0) => {}
        Some(code) => output.push_str(&format!("\n[exit code: {code}]")),
        None => output.push_str("\n[exit code: null]"),
    }
    output
}
