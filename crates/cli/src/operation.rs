//! Running the operations of `tools` from a command, and printing what they prune.

use std::cell::Cell;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Value, json};
use tamis_config::ConfigEnvironment;
use tamis_prune::MOST_LINES;
use tamis_sieve::{LargePruneRequest, LargePruned, PruneOptions, PruneStats, PruneWarning, Pruned};
use tamis_text::{TextKind, line_count};
use tamis_tools::{Access, Context, Failure, PruneJob, Services};

use crate::detached_runtime::DetachedRuntime;
use crate::error::{CliError, CliResult};
use crate::{print, signals, startup, style};

/// The services and the runtime of a command.
pub(crate) struct Operations {
    pub(crate) services: Arc<Services>,
    command: &'static str,
    environment: ConfigEnvironment,
    runtime: DetachedRuntime,
    has_advised: Cell<bool>,
    /// A larger text is not pruned. None: the user wants no text pruned that is longer than those of the tools.
    max_large_bytes: Option<u64>,
}

/// Longer logs are pruned in passes, with bounded memory. It is also the default of `prune.max_input_chars`.
const LARGE_LOG_BYTES: usize = 2_000_000;

/// Longer texts of any kind are.
pub(crate) const LARGE_TEXT_BYTES: usize = 16 << 20;

/// Shorter texts have hardly anything to cut, whatever the question.
const FEW_LINES: usize = 20;

impl Operations {
    pub(crate) fn new(command: &'static str) -> Result<Operations, CliError> {
        let environment = ConfigEnvironment::of_process();
        let mut config = startup::load_failing_open(&environment)?;
        let runtime = DetachedRuntime::on_this_thread()?;
        let max_chars = &mut config.sieve.max_input_chars.value;
        // A lower limit than the default is the user's wish; the default is for tools that must answer at once.
        let prunes_large = *max_chars >= LARGE_LOG_BYTES;
        if prunes_large {
            *max_chars = (*max_chars).max(LARGE_TEXT_BYTES);
        }
        let max_large_bytes = prunes_large.then_some(config.sieve.max_bytes.value);
        let services = startup::services(&config)?;
        let has_advised = Cell::new(false);
        Ok(Operations { services, command, environment, runtime, has_advised, max_large_bytes })
    }

    /// Runs an operation to its end. Ctrl-C cancels it, and ends every process that it started.
    pub(crate) fn run<T>(
        &self,
        operation: impl AsyncFnOnce(Context) -> Result<T, Failure>,
    ) -> Result<T, CliError> {
        let caller = startup::person(&self.environment, self.command);
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
        let Some(question) = arguments.question() else { return print_any(&output) };
        let Some(text) = utf8_or_print(output)? else { return Ok(()) };
        let job = arguments.job(text, question);
        if self.is_large(&job) {
            let options = PruneOptions { timeout: Duration::MAX, ..job.options };
            return self.print_large(file, &mut job.text.as_bytes(), &job.goal, options, "question");
        }
        let (job, pruned) = self.prune(job)?;
        print::bytes(style::pruned(&pruned.pruned_text).as_bytes())?;
        if !pruned.pruned_text.ends_with('\n') && !pruned.pruned_text.is_empty() {
            print::bytes(b"\n")?;
        }
        self.print_summary(file, &PruneSummary::of(&pruned, &job), "question");
        Ok(())
    }

    /// Whether a text is pruned in passes, whatever its source.
    pub(crate) fn is_large(&self, job: &PruneJob) -> bool {
        let kind = || job.kind.unwrap_or_else(|| TextKind::detect(&job.text));
        self.max_large_bytes.is_some()
            && (job.text.len() > LARGE_TEXT_BYTES
                || line_count(&job.text) > MOST_LINES
                || (job.text.len() > LARGE_LOG_BYTES && kind() == TextKind::Logs))
    }

    /// Prunes a text of any size and prints it, with a summary on stderr.
    pub(crate) fn print_large(
        &self,
        file: Option<&Path>,
        text: &mut dyn Read,
        goal: &str,
        options: PruneOptions,
        query: &str,
    ) -> CliResult {
        let threshold = options.threshold;
        let request = LargePruneRequest { goal, options, max_bytes: self.max_large_bytes.unwrap_or(0) };
        let caller = startup::person(&self.environment, self.command);
        let pruned = self.services.sieve.prune_large(text, &request, &mut Stdout, &caller, &|| false)?;
        if pruned.prune_id.is_none() {
            print_warnings(&pruned.warnings);
            if pruned.warnings.is_empty() {
                print::note("warning: not UTF-8, so nothing is cut");
            }
            return Ok(());
        }
        let LargePruned { prune_id, stats, first_cut, ends_in_newline, warnings } = pruned;
        let prune_id = prune_id.unwrap_or_default();
        self.print_summary(
            file,
            &PruneSummary { prune_id, stats, first_cut, ends_in_newline, warnings, threshold },
            query,
        );
        Ok(())
    }

    /// Reports on stderr how much of a text was kept, and how to recover the first cut; if nothing was cut, advises once what
    /// to change, the `query` first.
    pub(crate) fn print_summary(&self, file: Option<&Path>, summary: &PruneSummary, query: &str) {
        print_warnings(&summary.warnings);
        let stats = &summary.stats;
        let after_the_last = usize::from(summary.ends_in_newline);
        let [kept, lines] = [stats.kept_lines, stats.original_lines]
            .map(|lines| print::grouped(lines.saturating_sub(after_the_last) as u64));
        let [after, before] =
            [stats.tokens_est_after, stats.tokens_est_before].map(|tokens| print::grouped(tokens as u64));
        let file = file.map(|path| format!("{}: ", path.display())).unwrap_or_default();
        print::note(format_args!("{file}kept {kept} of {lines} lines, about {after} of {before} tokens"));
        if let Some((first, last)) = summary.first_cut {
            let prune_id = &summary.prune_id;
            print::note(format_args!("`tamis recover {prune_id} {first}-{last}` restores the first cut"));
        } else if !stats.used_fallback && stats.original_lines > FEW_LINES && !self.has_advised.replace(true)
        {
            let higher = [0.7, 0.9].into_iter().find(|higher| *higher > summary.threshold);
            let higher = higher.map(|higher| format!(", or --threshold {higher}")).unwrap_or_default();
            print::note(format_args!("nothing was cut; try a more specific {query}{higher}"));
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
                let after_the_last = usize::from(has_line_after_the_last_newline(&job.text));
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

/// What a prune did, for its summary.
pub(crate) struct PruneSummary {
    prune_id: String,
    stats: PruneStats,
    first_cut: Option<(usize, usize)>,
    ends_in_newline: bool,
    warnings: Vec<PruneWarning>,
    threshold: f32,
}

impl PruneSummary {
    pub(crate) fn of(pruned: &Pruned, job: &PruneJob) -> PruneSummary {
        let first_cut = pruned.annotations.first();
        PruneSummary {
            prune_id: pruned.prune_id.clone(),
            stats: pruned.stats,
            first_cut: first_cut.map(|cut| (cut.original_start_line, cut.original_end_line)),
            ends_in_newline: has_line_after_the_last_newline(&job.text),
            warnings: pruned.warnings.clone(),
            threshold: job.options.threshold,
        }
    }
}

/// The contract's tools count the empty line after the last newline; people do not.
fn has_line_after_the_last_newline(text: &str) -> bool {
    text.ends_with('\n') || text.is_empty()
}

/// Stdout, or the pager in front of it.
pub(crate) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match print::bytes(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(error) if error.is_broken_pipe() => Err(io::ErrorKind::BrokenPipe.into()),
            Err(error) => Err(io::Error::other(error.error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
            print::note(match is_binary(error.as_bytes()) {
                true => "warning: binary, so nothing is cut",
                false => "warning: not UTF-8, so nothing is cut",
            });
            print_any(error.as_bytes())?;
            Ok(None)
        }
    }
}

/// Prints bytes as they are, except that a terminal gets no binary bytes: some of them change its state.
fn print_any(bytes: &[u8]) -> CliResult {
    if is_binary(bytes) && io::stdout().is_terminal() {
        let size = print::size(bytes.len() as u64);
        print::note(format_args!("binary, {size}: not printed to a terminal; `| xxd` shows its bytes"));
        return Ok(());
    }
    print::bytes(bytes)
}

/// As git decides: a NUL among the first bytes.
fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(8_000)].contains(&0)
}

pub(crate) fn print_warnings(warnings: &[PruneWarning]) {
    for warning in warnings {
        let why = match warning {
            PruneWarning::InputTooLarge => {
                "the text is longer than prune.max_input_chars, or larger than prune.max_bytes, so nothing is cut"
            }
            PruneWarning::Timeout => "pruning took longer than --timeout-ms, so nothing is cut",
            PruneWarning::ConstraintsUnmet => {
                "the text has fewer lines than --min-keep-lines, so nothing is cut"
            }
            PruneWarning::RecoveryUnavailable => {
                "the original cannot be stored in the data folder, so nothing is cut; `tamis data show` shows its size, and \
                 recovery.max_bytes limits it"
            }
            PruneWarning::InternalError => "the engine failed, so nothing is cut; please report this",
            PruneWarning::LedgerUnavailable => "the call cannot be counted; `tamis data show` shows why",
        };
        print::note(format_args!("warning: {} ({why})", warning.code()));
    }
}
