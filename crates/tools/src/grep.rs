//! `grep`: lines that match a pattern, or those of them that answer a question.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_process::ProgramOutput;

use crate::input::OptionalText;
use crate::workbench::{Question, RawOutput, answer, limit_note, lossy};
use crate::{Context, Failure, Operation, Toolset};

const NOTHING_FOUND: &str = "(no matches found)";

pub(crate) struct Grep;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GrepInput {
    /// Regular expression to search for.
    pattern: String,
    /// File or folder to search; default ".".
    #[serde(default)]
    path: OptionalText,
    /// Return only what answers this question.
    #[serde(default)]
    context_focus_question: Question,
}

impl Operation for Grep {
    const NAME: &'static str = "grep";
    const TOOLSET: Toolset = Toolset::Workbench;
    const DESCRIPTION: &'static str = "Search files recursively; returns path:line:match. With \
        context_focus_question, return only the matches that answer it.";
    const READ_ONLY: bool = true;
    type Input = GrepInput;
    type Output = String;

    async fn run(input: GrepInput, context: Context) -> Result<String, Failure> {
        let workbench = &context.services.workbench;
        let path = input.path.0.as_deref().unwrap_or(".");
        let program = workbench.grep(&input.pattern, path);
        let output = match workbench.run(program, &context.cancellation).await? {
            Ok(ended) => interpret(ended),
            Err(error) => Err(format!("Error executing grep: {error}")),
        };
        answer(output, input.context_focus_question, context).await
    }

    fn render(output: String) -> Result<String, Failure> {
        Ok(output)
    }
}

/// Reads grep's exit code: 0 means matches, 1 means no matches, anything else is an error.
fn interpret(ended: ProgramOutput) -> Result<RawOutput, String> {
    let (code, signal, note) = (ended.code(), ended.signal(), limit_note(&ended));
    if note.is_some() {
        return Ok(RawOutput { text: lossy(ended.stdout), prunable: true, placeholder: "", note });
    }
    if !matches!(code, Some(0 | 1)) && !ended.stderr.is_empty() {
        return Err(format!("Error: {}", lossy(ended.stderr)));
    }
    if let Some(signal) = signal {
        // The output is incomplete.
        return Err(format!("Error: grep was ended by signal {signal}"));
    }
    // Matches in binary files are reported on stderr alone: nothing to show, but not "no matches".
    let placeholder = if code == Some(0) { "" } else { NOTHING_FOUND };
    let text = if code == Some(1) { String::new() } else { lossy(ended.stdout) };
    let prunable = !text.is_empty();
    let text = if prunable { text } else { placeholder.to_owned() };
    Ok(RawOutput { text, prunable, placeholder: "", note })
}

#[cfg(test)]
mod tests {
    use tamis_process::Program;

    use super::*;

    #[test]
    fn what_was_found_up_to_the_limit_comes_back_with_a_note() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("much"), "a line\n".repeat(1 << 18)).unwrap();
        let ended = Program::grep("line", "much", folder.path()).max_output(1 << 20).run().unwrap();
        let output = interpret(ended).unwrap();
        assert!(output.text.starts_with("1:a line\n2:a line\n") && output.prunable);
        let note = output.note.unwrap();
        assert!(
            note.starts_with("[output limit: the command wrote more than 1 MiB and was ended;"),
            "{note}"
        );
    }
}
