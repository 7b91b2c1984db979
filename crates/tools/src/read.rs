//! `read`: a file's text, or the part of it that answers a question.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::workbench::{Question, RawOutput, answer, lossy};
use crate::{Context, Failure, Operation, Toolset};

pub(crate) struct Read;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ReadInput {
    /// Absolute or relative path.
    file_path: String,
    /// Return only what answers this question.
    #[serde(default)]
    context_focus_question: Question,
}

impl Operation for Read {
    const NAME: &'static str = "read";
    const TOOLSET: Toolset = Toolset::Workbench;
    const DESCRIPTION: &'static str = "Read a file, or the part of it that answers context_focus_question.";
    const READ_ONLY: bool = true;
    type Input = ReadInput;
    type Output = String;

    async fn run(input: ReadInput, context: Context) -> Result<String, Failure> {
        let read = context.services.workbench.read(input.file_path.as_ref(), &context.cancellation).await?;
        let output = match read {
            Ok(bytes) => Ok(RawOutput { text: lossy(bytes), prunable: true, placeholder: "", note: None }),
            Err(error) => Err(format!("Error reading file: {error}")),
        };
        answer(output, input.context_focus_question, context).await
    }

    fn render(output: String) -> Result<String, Failure> {
        Ok(output)
    }
}
