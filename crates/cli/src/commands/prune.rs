use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tamis_sieve::{PruneOptions, PruneWarning};
use tamis_text::TextKind;
use tamis_tools::PruneJob;

use crate::error::{CliError, CliResult};
use crate::input::{self, Input};
use crate::operation::{Operations, print_summary, print_warnings, utf8_or_print};
use crate::{print, setup};

/// Cut a text down to what a goal needs
///
/// Prints the pruned text to stdout and a summary to stderr. Every cut is replaced by a marker line; pass its prune id and line
/// numbers to `tamis recover`.
#[derive(Args)]
pub(crate) struct Prune {
    /// Keep the lines that this goal needs
    #[arg(long, short)]
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
    /// Print the JSON output of `prune_text`
    #[arg(long)]
    json: bool,
    /// File to prune; read from stdin if omitted or `-`
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum KindArgument {
    Code,
    Logs,
    Docs,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

pub(crate) fn run(arguments: Prune) -> CliResult {
    let operations = Operations::new("prune")?;
    let mut source = open(arguments.file.as_ref())?;
    let bytes = match input::read(&mut source)? {
        Input::Whole(bytes) => bytes,
        Input::Beginning(_) if arguments.json => {
            return Err(CliError::failed(anyhow::anyhow!("the text is larger than 64 MiB"))
                .hint("without --json it is printed whole"));
        }
        Input::Beginning(bytes) => return pass_through(&bytes, &mut source),
    };
    let text = if arguments.json {
        let not_text = |error| CliError::failed(error).hint("convert the text to UTF-8 first");
        String::from_utf8(bytes).map_err(|error| not_text(error.utf8_error()))?
    } else {
        match utf8_or_print(bytes)? {
            Some(text) => text,
            None => return Ok(()),
        }
    };
    let job = PruneJob {
        kind: arguments.kind.map(|kind| match kind {
            KindArgument::Code => TextKind::Code,
            KindArgument::Logs => TextKind::Logs,
            KindArgument::Docs => TextKind::Docs,
        }),
        options: PruneOptions {
            threshold: arguments.threshold as f32,
            max_prune_ratio: arguments.max_prune_ratio,
            min_keep_lines: arguments.min_keep_lines,
            timeout: Duration::from_millis(arguments.timeout_ms),
            annotate_lines: arguments.annotate_lines,
            include_markers: !arguments.no_markers,
            ..PruneOptions::default()
        },
        ..PruneJob::new(text, arguments.goal)
    };
    let (job, pruned) = operations
        .run(async |context| context.services.prune(job, context.caller, context.cancellation).await)?;
    if arguments.json {
        print::json(&pruned)?;
    } else {
        print::bytes(pruned.pruned_text.as_bytes())?;
        let nothing_cut = "nothing was cut; try a more specific --goal, or --threshold 0.7";
        print_summary(&pruned, &job.text, nothing_cut);
    }
    setup::finish(&operations.services);
    Ok(())
}

fn open(file: Option<&PathBuf>) -> Result<Box<dyn Read>, CliError> {
    Ok(match file {
        Some(path) if path.as_os_str() != "-" => {
            Box::new(File::open(path).map_err(|error| CliError::unreadable(path, error))?)
        }
        _ => Box::new(std::io::stdin().lock()),
    })
}

/// Prints a text that is too large to be pruned, without holding it in memory.
fn pass_through(beginning: &[u8], rest: &mut impl Read) -> CliResult {
    print_warnings(&[PruneWarning::InputTooLarge]);
    let mut out = std::io::stdout().lock();
    out.write_all(beginning)?;
    std::io::copy(rest, &mut out)?;
    out.flush()?;
    Ok(())
}
