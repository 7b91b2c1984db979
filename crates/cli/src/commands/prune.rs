use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use serde_json::json;
use tamis_sieve::{PruneOptions, Pruned};
use tamis_text::TextKind;
use tamis_tools::PruneJob;

use super::read::one_or_all;
use crate::error::{CliError, CliResult};
use crate::input::{self, Input, MAX_INPUT_BYTES};
use crate::operation::{LARGE_TEXT_BYTES, Operations, PruneSummary, share, utf8_or_print};
use crate::{print, startup, style};

/// Cut a text down to what a goal needs
///
/// Prints the pruned text to stdout and a summary to stderr. Every cut is replaced by a marker line, `[tamis 48-78: tests]`;
/// the first names the prune id. `tamis recover` takes markers, or the id and line numbers. With several files, a line with its
/// path precedes each.
#[derive(Args)]
pub(crate) struct Prune {
    /// Keep the lines that this goal needs
    #[arg(long, short, value_parser = NonEmptyStringValueParser::new())]
    goal: String,
    /// Kind of text [default: detected]
    #[arg(long, value_enum)]
    kind: Option<KindArgument>,
    /// Maximum share of the lines to cut, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = PruneOptions::default().max_prune_ratio, value_parser = share)]
    max_prune_ratio: f64,
    /// Minimum number of lines to keep
    #[arg(long, value_name = "LINES", default_value_t = PruneOptions::default().min_keep_lines)]
    min_keep_lines: usize,
    /// Cut lines that score below this, 0 to 1; a higher threshold cuts more
    #[arg(long, value_name = "SCORE", default_value_t = f64::from(PruneOptions::default().threshold), value_parser = share)]
    threshold: f64,
    /// Time limit in milliseconds; if it passes, print the whole text [default: 20000, for large texts none]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    timeout_ms: Option<u64>,
    /// Prefix each line with its number in the original
    #[arg(long)]
    annotate_lines: bool,
    /// Cut without marker lines
    #[arg(long)]
    no_markers: bool,
    /// Print JSON with the fields of `prune_text`
    #[arg(long)]
    json: bool,
    /// Files to prune; `-` is stdin, the default
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum KindArgument {
    Code,
    Logs,
    Docs,
}

pub(crate) fn run(arguments: Prune) -> CliResult {
    let operations = Operations::new("prune")?;
    let stdin = [PathBuf::from("-")];
    let files = if arguments.files.is_empty() { &stdin } else { arguments.files.as_slice() };
    let mut answers = Vec::new();
    let mut failed = Vec::new();
    for (index, path) in files.iter().enumerate() {
        let is_only = files.len() == 1;
        match arguments.prune(&operations, path, || print::file_head(path, index, files.len())) {
            Ok(Some(pruned)) if is_only => answers.push(json!(pruned)),
            Ok(Some(pruned)) => {
                let mut answer = json!(pruned);
                answer["path"] = json!(path);
                answers.push(answer);
            }
            Ok(None) => {}
            Err(error) if error.is_broken_pipe() => return Err(error),
            Err(error) => failed.push(error),
        }
    }
    if !answers.is_empty() {
        print::json(&one_or_all(answers, files.len()))?;
    }
    startup::finish(&operations.services);
    CliError::last_of(failed)
}

impl Prune {
    /// Prunes a file and prints it after `head`; for JSON, returns the result instead.
    fn prune(
        &self,
        operations: &Operations,
        path: &Path,
        head: impl FnOnce() -> CliResult,
    ) -> Result<Option<Pruned>, CliError> {
        let mut source = open(path)?;
        let file = (self.files.len() > 1).then_some(path);
        let most = if self.json { MAX_INPUT_BYTES } else { LARGE_TEXT_BYTES };
        let read = input::read(&mut source, most).map_err(|error| CliError::unreadable(path, error))?;
        let bytes = match read {
            Input::Whole(bytes) => bytes,
            Input::Beginning(_) if self.json => {
                return Err(CliError::failed(anyhow::anyhow!("the text is larger than 64 MiB"))
                    .hint("without --json it is pruned as it comes"));
            }
            Input::Beginning(bytes) => {
                head()?;
                let mut text = Cursor::new(bytes).chain(source);
                return self.print_large(operations, file, &mut text).map(|()| None);
            }
        };
        if bytes.is_empty() && path.as_os_str() != "-" {
            print::note(format_args!("`{}` is empty", path.display()));
        }
        if self.json {
            let not_text = |error| CliError::failed(error).hint("convert the text to UTF-8 first");
            let text = String::from_utf8(bytes).map_err(|error| not_text(error.utf8_error()))?;
            return Ok(Some(operations.prune(self.job(text))?.1));
        }
        head()?;
        let Some(text) = utf8_or_print(bytes)? else { return Ok(None) };
        let job = self.job(text);
        if operations.is_large(&job) {
            return self.print_large(operations, file, &mut job.text.as_bytes()).map(|()| None);
        }
        let (job, pruned) = operations.prune(job)?;
        print::bytes(style::pruned(&pruned.pruned_text).as_bytes())?;
        operations.print_summary(file, &PruneSummary::of(&pruned, &job), "--goal");
        Ok(None)
    }

    fn print_large(&self, operations: &Operations, file: Option<&Path>, text: &mut dyn Read) -> CliResult {
        let options =
            PruneOptions { timeout: self.timeout(Duration::MAX), ..self.job(String::new()).options };
        operations.print_large(file, text, &self.goal, options, "--goal")
    }

    fn timeout(&self, default: Duration) -> Duration {
        self.timeout_ms.map_or(default, Duration::from_millis)
    }

    fn job(&self, text: String) -> PruneJob {
        let mut job = PruneJob::new(text, self.goal.clone());
        job.kind = self.kind.map(|kind| match kind {
            KindArgument::Code => TextKind::Code,
            KindArgument::Logs => TextKind::Logs,
            KindArgument::Docs => TextKind::Docs,
        });
        job.options = PruneOptions {
            threshold: self.threshold as f32,
            max_prune_ratio: self.max_prune_ratio,
            min_keep_lines: self.min_keep_lines,
            timeout: self.timeout(job.options.timeout),
            annotate_lines: self.annotate_lines,
            include_markers: !self.no_markers,
            ..job.options
        };
        job
    }
}

fn open(path: &Path) -> Result<Box<dyn Read>, CliError> {
    if path.as_os_str() == "-" {
        input::announce_stdin();
        return Ok(Box::new(std::io::stdin().lock()));
    }
    Ok(Box::new(File::open(path).map_err(|error| CliError::unreadable(path, error))?))
}
