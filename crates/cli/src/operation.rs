//! Running the operations of `tools` from a command, and printing what they prune.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Value, json};
use tamis_config::ConfigEnvironment;
use tamis_sieve::{PruneOptions, PruneWarning, Pruned};
use tamis_tools::{Access, Context, Failure, PruneJob, Services};

use crate::detached_runtime::DetachedRuntime;
use crate::error::{CliError, CliResult};
use crate::{print, setup, signals, style};

/// The services and the runtime of a command.
pub(crate) struct Operations {
    pub(crate) services: Arc<Services>,
    command: &'static str,
    environment: ConfigEnvironment,
    runtime: DetachedRuntime,
    has_advised: Cell<bool>,
}

/// Shorter texts have hardly anything to cut, whatever the question.
const FEW_LINES: usize = 20;

impl Operations {
    pub(crate) fn new(command: &'static str) -> Result<Operations, CliError> {
        let environment = ConfigEnvironment::of_process();
        let config = setup::load_failing_open(&environment)?;
        let runtime = DetachedRuntime::on_this_thread()?;
        let services = setup::services(&config)?;
        Ok(Operations { services, command, environment, runtime, has_advised: Cell::new(false) })
    }

    /// Runs an operation to its end. Ctrl-C cancels it, and ends every process that it started.
    pub(crate) fn run<T>(
        &self,
        operation: impl AsyncFnOnce(Context) -> Result<T, Failure>,
    ) -> Result<T, CliError> {
        let caller = setup::person(&self.environment, self.command);
        let context = Context::new(Arc::clone(&self.services), caller, Access::Full);
        let cancellation = context.cancellation.clone();
        let outcome = self.runtime.block_on(async {
            let running = operation(context);
            tokio::pin!(running);
            let outcome = tokio::select! {
                outcome = &mut running => outcome,
                () = signals::next_signal() => {
                    cancellation.cancel();
                    running.await
                }
            };
            // Processes left in the background end with us: nothing else would end them.
            self.services.workbench.process_groups.end_all().await;
            outcome
        });
        Ok(outcome?)
    }

    /// Prunes a text.
    pub(crate) fn prune(&self, job: PruneJob) -> Result<(PruneJob, Pruned), CliError> {
        self.run(async |context| context.services.prune(job, context.caller, context.cancellation).await)
    }

    /// Prints output, or the part of it that answers the question, with a summary on stderr. `file` is the file it comes from,
    /// if there are several.
    pub(crate) fn print_answer(
        &self,
        file: Option<&Path>,
        output: Vec<u8>,
        arguments: &AnswerArgs,
    ) -> CliResult {
        let Some(question) = arguments.question() else { return print::bytes(&output) };
        let Some(text) = utf8_or_print(output)? else { return Ok(()) };
        let (job, pruned) = self.prune(arguments.job(text, question))?;
        print::bytes(style::pruned(&pruned.pruned_text).as_bytes())?;
        if !pruned.pruned_text.ends_with('\n') && !pruned.pruned_text.is_empty() {
            print::bytes(b"\n")?;
        }
        self.print_summary(file, &pruned, &job.text, "question");
        Ok(())
    }

    /// Reports on stderr how much of a text was kept, and how to recover the first cut; if nothing was cut, advises once what
    /// to change, the `query` first.
    pub(crate) fn print_summary(&self, file: Option<&Path>, pruned: &Pruned, text: &str, query: &str) {
        print_warnings(&pruned.warnings);
        let stats = &pruned.stats;
        let after_the_last = lines_after_the_last_newline(text);
        let [kept, lines] = [stats.kept_lines, stats.original_lines]
            .map(|lines| print::grouped(lines.saturating_sub(after_the_last) as u64));
        let [after, before] =
            [stats.tokens_est_after, stats.tokens_est_before].map(|tokens| print::grouped(tokens as u64));
        let file = file.map(|path| format!("{}: ", path.display())).unwrap_or_default();
        print::note(format_args!("{file}kept {kept} of {lines} lines, about {after} of {before} tokens"));
        if let Some(cut) = pruned.annotations.first() {
            print::note(format_args!(
                "`tamis recover {} {}-{}` restores the first cut",
                pruned.prune_id, cut.original_start_line, cut.original_end_line
            ));
        } else if !stats.used_fallback && stats.original_lines > FEW_LINES && !self.has_advised.replace(true)
        {
            print::note(format_args!("nothing was cut; try a more specific {query}, or --threshold 0.7"));
        }
    }

    /// The same as JSON: `about`, and the text or the output of `prune_text`.
    pub(crate) fn answer_json(
        &self,
        about: (&str, Value),
        output: Vec<u8>,
        arguments: &AnswerArgs,
    ) -> Result<Value, CliError> {
        let text = String::from_utf8(output)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let mut answer = match arguments.question() {
            Some(question) => {
                let (job, mut pruned) = self.prune(arguments.job(text, question))?;
                let after_the_last = lines_after_the_last_newline(&job.text);
                for lines in [&mut pruned.stats.original_lines, &mut pruned.stats.kept_lines] {
                    *lines = lines.saturating_sub(after_the_last);
                }
                json!(pruned)
            }
            None => json!({"text": text}),
        };
        answer[about.0] = about.1;
        Ok(answer)
    }
}

/// The question that output is pruned for, and how the answer is printed.
#[derive(Args)]
pub(crate) struct AnswerArgs {
    /// Keep only what answers this question
    #[arg(long, short, value_parser = NonEmptyStringValueParser::new())]
    question: Option<String>,
    /// Cut lines that score below this, 0 to 1; a higher threshold cuts more
    #[arg(long, value_name = "SCORE", default_value_t = f64::from(PruneOptions::default().threshold), value_parser = share, requires = "question")]
    threshold: f64,
    /// Print JSON; with --question, with the fields of `prune_text`
    #[arg(long)]
    pub(crate) json: bool,
}

impl AnswerArgs {
    pub(crate) fn question(&self) -> Option<&str> {
        self.question.as_deref()
    }

    fn job(&self, text: String, question: &str) -> PruneJob {
        let mut job = PruneJob::new(text, question.to_owned());
        job.options.threshold = self.threshold as f32;
        job
    }
}

/// The contract's tools count the empty line after the last newline; people do not.
fn lines_after_the_last_newline(text: &str) -> usize {
    usize::from(text.ends_with('\n') || text.is_empty())
}

/// Parses a number from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

/// The bytes as text. Bytes that are not UTF-8 are printed as they are, with a warning: only text can be pruned, and a
/// command must not lose bytes.
pub(crate) fn utf8_or_print(bytes: Vec<u8>) -> Result<Option<String>, CliError> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            print::note(format_args!("warning: not UTF-8 ({}), so nothing is cut", error.utf8_error()));
            print::bytes(error.as_bytes())?;
            Ok(None)
        }
    }
}

pub(crate) fn print_warnings(warnings: &[PruneWarning]) {
    for warning in warnings {
        let why = match warning {
            PruneWarning::InputTooLarge => {
                "the text is longer than prune.max_input_chars, or has more than 250,000 lines, so nothing is cut"
            }
            PruneWarning::Timeout => "pruning took longer than --timeout-ms, so nothing is cut",
            PruneWarning::ConstraintsUnmet => {
                "the text has fewer lines than --min-keep-lines, so nothing is cut"
            }
            PruneWarning::RecoveryUnavailable => {
                "the original cannot be stored in the data folder, so nothing is cut"
            }
            PruneWarning::InternalError => "the engine failed, so nothing is cut; please report this",
            PruneWarning::LedgerUnavailable => "the call cannot be counted; `tamis data show` shows why",
        };
        print::note(format_args!("warning: {} ({why})", warning.code()));
    }
}
