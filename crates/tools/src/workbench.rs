//! What `read`, `bash` and `grep` share: their working folder, their pruner, and the path from raw output to answer.

use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_codebase::{ReadError, WorkingFolder, read_file};
use tamis_process::{ProcessGroups, Program, ProgramError, ProgramOutput};
use tamis_redact::Redactor;
use tokio_util::sync::CancellationToken;

use crate::input::OptionalText;
use crate::remote_pruner::RemotePruner;
use crate::request::Event;
use crate::services::{PruneJob, blocking};
use crate::{Context, Failure};

/// The folder, process groups and pruner of the workbench's tools.
pub struct Workbench {
    pub folder: WorkingFolder,
    pub process_groups: ProcessGroups,
    pub pruner: Pruner,
    /// Whether secrets in answers are redacted. By contract they are not, unless the user asks for it.
    pub redacts: bool,
}

/// How the output of a call with a question is pruned.
pub enum Pruner {
    /// Not at all: output stays raw.
    Off,
    /// By the sieve: cuts are marked and can be recovered.
    Sieve,
    /// By a service over HTTP, whose answer is used unchanged.
    Remote(RemotePruner),
}

impl Workbench {
    /// In this process's folder, with the sieve and without a warden: commands outlive a process that is killed.
    pub fn here() -> io::Result<Workbench> {
        let folder = WorkingFolder::at(".")?;
        Ok(Workbench {
            folder,
            process_groups: ProcessGroups::new(None),
            pruner: Pruner::Sieve,
            redacts: false,
        })
    }

    /// Reads a file.
    pub async fn read(
        &self,
        file: &Path,
        cancellation: &CancellationToken,
    ) -> Result<Result<Vec<u8>, ReadError>, Failure> {
        let path = self.folder.resolve(file);
        // Reading may hang on a network file system; the caller can still cancel.
        tokio::select! {
            read = blocking(move || read_file(&path)) => read,
            () = cancellation.cancelled() => Err(Failure::Cancelled),
        }
    }

    /// `bash -c COMMAND` in the working folder.
    pub fn bash(&self, command: &str) -> Program {
        Program::bash(command, self.folder.path())
    }

    /// `grep -rn PATTERN PATH` in the working folder.
    pub fn grep(&self, pattern: &str, path: &str) -> Program {
        Program::grep(pattern, path, self.folder.path())
    }

    /// Runs a program to its end.
    pub async fn run(
        &self,
        program: Program,
        cancellation: &CancellationToken,
    ) -> Result<Result<ProgramOutput, ProgramError>, Failure> {
        match self.process_groups.run(program, cancellation).await {
            Err(ProgramError::Cancelled { .. }) => Err(Failure::Cancelled),
            ended => Ok(ended),
        }
    }
}

/// The question that an answer is pruned for. An empty one counts as none; any other is passed on unchanged.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Question(OptionalText);

impl Question {
    fn text(self) -> Option<String> {
        self.0.0.filter(|question| !question.is_empty())
    }
}

/// The output of an operation before pruning.
pub(crate) struct RawOutput {
    pub(crate) text: String,
    /// Whether the tool's contract lets this be pruned.
    pub(crate) prunable: bool,
    /// Replaces an empty answer, pruned or not.
    pub(crate) placeholder: &'static str,
    /// Ends the answer, pruned or not.
    pub(crate) note: Option<String>,
}

/// What an answer says of a program that was ended at its output limit.
pub fn limit_note(ended: &ProgramOutput) -> Option<String> {
    let mebibytes = ended.output_limit? >> 20;
    Some(format!(
        "[output limit: the command wrote more than {mebibytes} MiB and was ended; redirect its output to a file and read \
         a part of it]"
    ))
}

/// Turns the raw output of an operation, or its error text, into the answer.
pub(crate) async fn answer(
    output: Result<RawOutput, String>,
    question: Question,
    context: Context,
) -> Result<String, Failure> {
    let request = context.request.clone();
    let output = if context.services.workbench.redacts { redacted(output).await? } else { output };
    let RawOutput { text, prunable, placeholder, note } = match output {
        Ok(output) => output,
        Err(error_text) => {
            request.step(Event::OperationFailed);
            return Ok(error_text);
        }
    };
    request.step_because(Event::OperationSucceeded, &format!("{} bytes", text.len()));
    request.step(Event::OutputCaptured);
    let finish = |text: String| {
        let text = if text.is_empty() { placeholder.to_owned() } else { text };
        match note {
            Some(note) => format!("{text}\n{note}"),
            None => text,
        }
    };
    let Some(question) = question.text() else {
        request.step(Event::NoQuestion);
        return Ok(finish(text));
    };
    if matches!(context.services.workbench.pruner, Pruner::Off) {
        request.step(Event::PruningDisabled);
        return Ok(finish(text));
    }
    if !prunable {
        request.step(Event::NothingToPrune);
        return Ok(finish(text));
    }
    request.step(Event::PruningEligible);
    let cancellation = context.cancellation.clone();
    let outcome = tokio::select! {
        outcome = prune(text, question, context) => outcome?,
        () = cancellation.cancelled() => return Err(Failure::Cancelled),
    };
    Ok(finish(match outcome {
        Outcome::Pruned(pruned) => {
            request.step_because(Event::Pruned, &format!("{} bytes", pruned.len()));
            pruned
        }
        Outcome::Failed { raw, reason } => {
            request.step_because(Event::PrunerFailed, &reason);
            request.step(Event::FallbackChosen);
            raw
        }
    }))
}

/// The output without secrets, before it is pruned, stored or sent to a pruner.
async fn redacted(output: Result<RawOutput, String>) -> Result<Result<RawOutput, String>, Failure> {
    let redact = |text: String| Redactor::standard().redact(&text).into_owned();
    blocking(move || match output {
        Ok(output) => Ok(RawOutput { text: redact(output.text), ..output }),
        Err(error_text) => Err(redact(error_text)),
    })
    .await
}

enum Outcome {
    Pruned(String),
    Failed { raw: String, reason: String },
}

async fn prune(text: String, question: String, context: Context) -> Result<Outcome, Failure> {
    match &context.services.workbench.pruner {
        Pruner::Off => Ok(Outcome::Failed { raw: text, reason: "pruning is off".to_owned() }),
        Pruner::Remote(pruner) => Ok(match pruner.prune(&text, &question).await {
            Ok(pruned) => Outcome::Pruned(pruned),
            Err(error) => Outcome::Failed { raw: text, reason: error.to_string() },
        }),
        Pruner::Sieve => {
            let job = PruneJob::new(text, question);
            let (job, pruned) =
                context.services.prune(job, context.caller.clone(), context.cancellation.clone()).await?;
            if !pruned.stats.used_fallback {
                return Ok(Outcome::Pruned(pruned.pruned_text));
            }
            let warnings: Vec<_> = pruned.warnings.iter().map(|warning| warning.code()).collect();
            Ok(Outcome::Failed { raw: job.text, reason: warnings.join(", ") })
        }
    }
}

/// Decodes UTF-8; invalid bytes become U+FFFD, since a tool's answer is text. Only then is the text copied.
pub(crate) fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tamis_sieve::{Caller, Sieve, SieveSettings};

    use super::*;
    use crate::{Access, Services};

    #[tokio::test]
    async fn a_note_ends_the_answer_with_or_without_a_question() {
        for (question, text) in [("", "a\n"), ("where is it", "a\n"), ("where is it", "")] {
            let sieve = Sieve::new(SieveSettings::without_store(1000));
            let services = Arc::new(Services::new(sieve, Workbench::here().unwrap()));
            let context = Context::new(services, Caller::default(), Access::Full);
            let note = Some("[output limit]".to_owned());
            let output = RawOutput { text: text.to_owned(), prunable: true, placeholder: "(none)", note };
            let question = serde_json::from_value(json!(question)).unwrap();
            let answer = answer(Ok(output), question, context).await.unwrap();
            assert!(answer.ends_with("\n[output limit]"), "{answer}");
        }
    }
}
