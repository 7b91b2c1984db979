use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use serde_json::json;
use tamis_sieve::{PruneOptions, PruneWarning, Pruned};
use tamis_text::TextKind;
use tamis_tools::PruneJob;

use super::read::one_or_all;
use crate::error::{CliError, CliResult};
use crate::input::{self, Input};
use crate::operation::{Operations, print_warnings, share, utf8_or_print};
use crate::{print, setup, style};

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
    /// Time limit in milliseconds; if it passes, print the whole text
    #[arg(long, value_name = "MS", default_value_t = PruneOptions::default().timeout.as_millis() as u64, value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    timeout_ms: u64,
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
    setup::finish(&operations.services);
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
        let bytes = match input::read(&mut source).map_err(|error| CliError::unreadable(path, error))? {
            Input::Whole(bytes) => bytes,
            Input::Beginning(_) if self.json => {
                return Err(CliError::failed(anyhow::anyhow!("the text is larger than 64 MiB"))
                    .hint("without --json it is printed whole"));
            }
            Input::Beginning(bytes) => {
                head()?;
                return pass_through(&bytes, &mut source).map(|()| None);
            }
        };
        if self.json {
            let not_text = |error| CliError::failed(error).hint("convert the text to UTF-8 first");
            let text = String::from_utf8(bytes).map_err(|error| not_text(error.utf8_error()))?;
            return Ok(Some(operations.prune(self.job(text))?.1));
        }
        head()?;
        let Some(text) = utf8_or_print(bytes)? else { return Ok(None) };
        let (job, pruned) = operations.prune(self.job(text))?;
        print::bytes(style::pruned(&pruned.pruned_text).as_bytes())?;
        let file = (self.files.len() > 1).then_some(path);
        operations.print_summary(file, &pruned, &job.text, "--goal");
        Ok(None)
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
            timeout: Duration::from_millis(self.timeout_ms),
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

/// Prints a text that is too large to be pruned, without holding it in memory.
fn pass_through(beginning: &[u8], rest: &mut impl Read) -> CliResult {
    print_warnings(&[PruneWarning::InputTooLarge]);
    print::bytes(beginning)?;
    let mut block = vec![0; 1 << 16];
    loop {
        match rest.read(&mut block)? {
            0 => return Ok(()),
            count => print::bytes(&block[..count])?,
        }
    }
}
