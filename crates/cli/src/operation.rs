//! Running the operations of `tools` from a command, and printing what they prune.

use std::sync::Arc;

use tamis_config::ConfigEnvironment;
use tamis_process::{Program, ProgramOutput};
use tamis_sieve::{PruneWarning, Pruned};
use tamis_tools::{Access, Context, Failure, PruneJob, Services};

use crate::detached_runtime::DetachedRuntime;
use crate::error::{CliError, CliResult};
use crate::{print, setup, signals};

/// The services and the runtime of a command.
pub(crate) struct Operations {
    pub(crate) services: Arc<Services>,
    command: &'static str,
    environment: ConfigEnvironment,
    runtime: DetachedRuntime,
}

impl Operations {
    pub(crate) fn new(command: &'static str) -> Result<Operations, CliError> {
        let environment = ConfigEnvironment::of_process();
        let config = setup::load_failing_open(&environment)?;
        let runtime = DetachedRuntime::on_this_thread()?;
        Ok(Operations { services: setup::services(&config)?, command, environment, runtime })
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

    /// Runs a program, prints the part of its output that answers the question, and exits as the program does. Without a
    /// question, the program replaces this process.
    pub(crate) fn run_program(
        &self,
        program: Program,
        question: Option<String>,
        output: impl FnOnce(ProgramOutput) -> Vec<u8>,
    ) -> CliResult {
        let Some(question) = question.filter(|question| !question.is_empty()) else {
            return Err(CliError::failed(program.exec()));
        };
        let ended = self
            .run(async |context| context.services.workbench.run(program, &context.cancellation).await)?
            .map_err(CliError::failed)?;
        let (code, signal) = (ended.code(), ended.signal());
        let output = output(ended);
        if !output.is_empty() {
            self.print_pruned(output, question)?;
        }
        CliError::passed(code, signal)
    }

    /// Prunes output for a question and prints it, with a summary on stderr.
    pub(crate) fn print_pruned(&self, output: Vec<u8>, question: String) -> CliResult {
        let Some(text) = utf8_or_print(output)? else { return Ok(()) };
        let job = PruneJob::new(text, question);
        let (job, pruned) = self
            .run(async |context| context.services.prune(job, context.caller, context.cancellation).await)?;
        print::bytes(pruned.pruned_text.as_bytes())?;
        if !pruned.pruned_text.ends_with('\n') && !pruned.pruned_text.is_empty() {
            print::bytes(b"\n")?;
        }
        print_summary(&pruned, &job.text, "nothing was cut; try a more specific question");
        setup::finish(&self.services);
        Ok(())
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

/// Reports on stderr how much of a text was kept, and how to recover the first cut.
pub(crate) fn print_summary(pruned: &Pruned, text: &str, nothing_cut: &str) {
    print_warnings(&pruned.warnings);
    let stats = &pruned.stats;
    // The empty line after the last newline does not count.
    let after_the_last = usize::from(text.ends_with('\n') || text.is_empty());
    let [kept, lines] = [stats.kept_lines, stats.original_lines]
        .map(|lines| print::grouped(lines.saturating_sub(after_the_last) as u64));
    let [after, before] =
        [stats.tokens_est_after, stats.tokens_est_before].map(|tokens| print::grouped(tokens as u64));
    print::note(format_args!("kept {kept} of {lines} lines, about {after} of {before} tokens"));
    match pruned.annotations.first() {
        Some(cut) => print::note(format_args!(
            "`tamis recover {} {}-{}` restores the first cut",
            pruned.prune_id, cut.original_start_line, cut.original_end_line
        )),
        None if !stats.used_fallback => print::note(nothing_cut),
        None => {}
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
