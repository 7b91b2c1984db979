use std::str::FromStr;

use clap::Args;

use crate::error::{CliError, CliResult};
use crate::operation::Operations;
use crate::{print, setup};

/// Restore lines that were cut
#[derive(Args)]
pub(crate) struct Recover {
    /// Prune id from a marker (prn_…)
    prune_id: String,
    /// Lines to restore, such as 120-154 or 120 [default: the whole text]
    #[arg(value_name = "LINES")]
    ranges: Vec<Range>,
    /// Prefix each line with its number in the original
    #[arg(long, short)]
    numbers: bool,
    /// Print the JSON output of `recover_text`
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy)]
struct Range(i64, i64);

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Range, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) => Ok(Range(first, last)),
            _ => Err("expected lines such as 120-154 or 120".to_owned()),
        }
    }
}

pub(crate) fn run(arguments: Recover) -> CliResult {
    let operations = Operations::new("recover")?;
    let mut ranges: Vec<_> = arguments.ranges.iter().map(|range| (range.0, range.1)).collect();
    let is_whole = ranges.is_empty();
    if is_whole {
        ranges.push((1, i64::MAX));
    }
    let recovered = operations.run(async |context| {
        context.services.recover(arguments.prune_id, ranges, arguments.numbers, context.caller).await
    })?;
    let recovered = recovered.map_err(|error| {
        let hint = error.hint();
        CliError { hint: hint.map(str::to_owned), ..CliError::failed(error) }
    })?;
    if arguments.json {
        print::json(&recovered)?;
    } else if is_whole {
        // Byte for byte; single lines end with a newline.
        print::bytes(recovered.raw_text.as_bytes())?;
    } else {
        print::line(recovered.raw_text)?;
    }
    setup::finish(&operations.services);
    Ok(())
}
