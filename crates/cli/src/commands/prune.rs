use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tamis_config::Surroundings;
use tamis_prune::DEFAULT_THRESHOLD;
use tamis_sieve::PruneRequest;
use tamis_text::Kind;

use crate::error::{CliError, CliResult};
use crate::{print, question, setup};

/// Cut a text down to what a goal needs
///
/// The pruned text goes to stdout, a summary to stderr. Every cut is marked by a line that `tamis recover` understands.
#[derive(Args)]
pub(crate) struct Prune {
    /// What you are after
    #[arg(long, short)]
    goal: String,
    /// What kind of text it is [default: told from the text]
    #[arg(long, value_enum)]
    kind: Option<KindArgument>,
    /// Cut at most this share of the lines, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    max_prune_ratio: f64,
    /// Keep at least this many lines
    #[arg(long, value_name = "LINES", default_value_t = 0)]
    min_keep_lines: usize,
    /// Cut lines that score below this, 0 to 1: higher cuts more
    #[arg(long, value_name = "SCORE", default_value_t = f64::from(DEFAULT_THRESHOLD), value_parser = share)]
    threshold: f64,
    /// Leave the text whole if it takes longer
    #[arg(long, value_name = "MS", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    timeout_ms: u64,
    /// Number the lines as in the original
    #[arg(long)]
    annotate_lines: bool,
    /// Leave no markers where lines were cut
    #[arg(long)]
    no_markers: bool,
    /// Print everything that is known of the cut, as `prune_text` does
    #[arg(long)]
    json: bool,
    /// The text; - or nothing reads stdin
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
        _ => Err("a number from 0 to 1 is expected".to_owned()),
    }
}

pub(crate) fn run(arguments: Prune) -> CliResult {
    let surroundings = Surroundings::of_process();
    let config = setup::load(&surroundings)?;
    let bytes = read(arguments.file.as_ref())?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if arguments.json => {
            return Err(CliError::failed(error.utf8_error()).hint("convert the text to UTF-8 first"));
        }
        Err(error) => {
            // Better whole than wrong.
            print::note(format_args!("warning: not UTF-8 ({}), so nothing is cut", error.utf8_error()));
            return print::bytes(error.as_bytes());
        }
    };
    let services = setup::services(&config)?;
    let request = PruneRequest {
        text: &text,
        goal: &arguments.goal,
        kind: match arguments.kind {
            None => Kind::detect(&text),
            Some(KindArgument::Code) => Kind::Code,
            Some(KindArgument::Logs) => Kind::Logs,
            Some(KindArgument::Docs) => Kind::Docs,
        },
        threshold: arguments.threshold as f32,
        max_prune_ratio: arguments.max_prune_ratio,
        min_keep_lines: arguments.min_keep_lines,
        keep_first_lines: 0,
        timeout: Duration::from_millis(arguments.timeout_ms),
        annotate_lines: arguments.annotate_lines,
        include_markers: !arguments.no_markers,
    };
    let pruned = services.sieve.prune(&request, &setup::person(&surroundings, "prune"), &|| false);
    if arguments.json {
        print::json(&pruned)?;
    } else {
        print::bytes(pruned.pruned_text.as_bytes())?;
        let nothing_cut = "nothing was cut: say more of what you are after, or try --threshold 0.7";
        question::summarise(&pruned, &text, nothing_cut);
    }
    setup::finish(&services);
    Ok(())
}

fn read(file: Option<&PathBuf>) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    match file {
        Some(path) if path.as_os_str() != "-" => {
            bytes = std::fs::read(path).map_err(|error| {
                CliError::failed(anyhow::Error::new(error).context(format!("cannot read {}", path.display())))
            })?;
        }
        _ => {
            std::io::stdin().lock().read_to_end(&mut bytes)?;
        }
    }
    Ok(bytes)
}
