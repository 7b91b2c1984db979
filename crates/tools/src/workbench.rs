//! What `read`, `bash` and `grep` share: where they work, who prunes for them, and the way from raw output to answer.

use std::io;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tamis_codebase::WorkingFolder;
use tamis_http::RemotePruner;
use tamis_process::Children;
use tamis_prune::DEFAULT_THRESHOLD;

use crate::input::OptionalText;
use crate::request::Event;
use crate::services::PruneJob;
use crate::{Context, Failure};

/// The sieve takes milliseconds; this is for a machine that is out of breath.
const SIEVE_TIMEOUT: Duration = Duration::from_secs(20);

/// Where the workbench's tools work, and with what.
pub struct Workbench {
    pub folder: WorkingFolder,
    pub children: Children,
    pub pruner: Pruner,
}

/// Who is asked when a call comes with a question.
pub enum Pruner {
    /// Nobody: output stays raw.
    Off,
    /// Our own: cuts are marked, and can be recovered.
    Sieve,
    /// Another, over HTTP. What it answers is taken as it is.
    Remote(RemotePruner),
}

impl Workbench {
    /// Works in this process's folder, with the sieve; commands would outlive a process that is killed.
    pub fn here() -> io::Result<Workbench> {
        let folder = WorkingFolder::at(".")?;
        Ok(Workbench { folder, children: Children::new(None), pruner: Pruner::Sieve })
    }
}

/// The question that an answer is pruned for. Empty counts as none; else it is passed on as it is.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Question(OptionalText);

impl Question {
    fn text(self) -> Option<String> {
        self.0.0.filter(|question| !question.is_empty())
    }
}

/// What an operation gave.
pub(crate) struct RawOutput {
    pub(crate) text: String,
    /// Whether the tool's contract lets this be pruned.
    pub(crate) prunable: bool,
    /// What stands for an empty answer, pruned or not.
    pub(crate) placeholder: &'static str,
}

/// Takes what an operation gave, or the text that says why it gave nothing, to the answer.
pub(crate) async fn answer(
    output: Result<RawOutput, String>,
    question: Question,
    context: Context,
) -> Result<String, Failure> {
    let request = context.request.clone();
    let RawOutput { text, prunable, placeholder } = match output {
        Ok(output) => output,
        Err(error_text) => {
            request.step(Event::OperationFailed);
            return Ok(error_text);
        }
    };
    request.step_because(Event::OperationSucceeded, &format!("{} bytes", text.len()));
    request.step(Event::OutputCaptured);
    let filled = |text: String| if text.is_empty() { placeholder.to_owned() } else { text };
    let Some(question) = question.text() else {
        request.step(Event::NoQuestion);
        return Ok(filled(text));
    };
    if matches!(context.services.workbench.pruner, Pruner::Off) {
        request.step(Event::PruningDisabled);
        return Ok(filled(text));
    }
    if !prunable {
        request.step(Event::NothingToPrune);
        return Ok(filled(text));
    }
    request.step(Event::PruningEligible);
    let cancellation = context.cancellation.clone();
    let asked = tokio::select! {
        asked = ask(text, question, context) => asked?,
        () = cancellation.cancelled() => return Err(Failure::Cancelled),
    };
    Ok(filled(match asked {
        Asked::Pruned(pruned) => {
            request.step_because(Event::Pruned, &format!("{} bytes", pruned.len()));
            pruned
        }
        Asked::Failed { raw, why } => {
            request.step_because(Event::PrunerFailed, &why);
            request.step(Event::FallbackChosen);
            raw
        }
    }))
}

enum Asked {
    Pruned(String),
    Failed { raw: String, why: String },
}

async fn ask(text: String, question: String, context: Context) -> Result<Asked, Failure> {
    match &context.services.workbench.pruner {
        Pruner::Off => Ok(Asked::Failed { raw: text, why: "there is none".to_owned() }),
        Pruner::Remote(pruner) => Ok(match pruner.prune(&text, &question).await {
            Ok(pruned) => Asked::Pruned(pruned),
            Err(error) => Asked::Failed { raw: text, why: error.to_string() },
        }),
        Pruner::Sieve => {
            let job = PruneJob {
                text,
                goal: question,
                kind: None,
                threshold: DEFAULT_THRESHOLD,
                max_prune_ratio: 1.0,
                min_keep_lines: 0,
                keep_first_lines: 0,
                timeout: SIEVE_TIMEOUT,
                annotate_lines: false,
                include_markers: true,
            };
            let (job, pruned) =
                context.services.prune(job, context.caller.clone(), context.cancellation.clone()).await?;
            if !pruned.stats.used_fallback {
                return Ok(Asked::Pruned(pruned.pruned_text));
            }
            let warnings: Vec<_> = pruned.warnings.iter().map(|warning| warning.code()).collect();
            Ok(Asked::Failed { raw: job.text, why: warnings.join(", ") })
        }
    }
}

/// Text as it is; what is no UTF-8 in it becomes U+FFFD. Only the latter is copied.
pub(crate) fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
