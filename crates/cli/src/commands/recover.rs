use std::str::FromStr;

use clap::Args;
use tamis_config::Surroundings;

use crate::error::{CliError, CliResult};
use crate::{print, setup};

/// Give back lines that were cut
#[derive(Args)]
pub(crate) struct Recover {
    /// From a marker: prn_…
    prune_id: String,
    /// Lines as `120-154` or `120`, in the order wanted [default: the whole text]
    #[arg(value_name = "LINES")]
    ranges: Vec<Range>,
    /// Number the lines as in the original
    #[arg(long, short)]
    numbers: bool,
    /// Print the answer of `recover_text`
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
            _ => Err("lines are written as 120-154 or 120".to_owned()),
        }
    }
}

pub(crate) fn run(arguments: Recover) -> CliResult {
    let surroundings = Surroundings::of_process();
    let config = setup::load(&surroundings)?;
    let services = setup::services(&config)?;
    let mut ranges: Vec<_> = arguments.ranges.iter().map(|range| (range.0, range.1)).collect();
    let whole = ranges.is_empty();
    if whole {
        ranges.push((1, i64::MAX));
    }
    let caller = setup::person(&surroundings, "recover");
    let recovered = services.sieve.recover(&arguments.prune_id, &ranges, arguments.numbers, &caller);
    let recovered = recovered.map_err(|error| {
        let hint = error.hint();
        CliError { hint: hint.map(str::to_owned), ..CliError::failed(error) }
    })?;
    if arguments.json {
        print::json(&recovered)?;
    } else if whole {
        // Given back byte for byte; some of its lines are lines, and end as such.
        print::bytes(recovered.raw_text.as_bytes())?;
    } else {
        print::line(recovered.raw_text)?;
    }
    setup::finish(&services);
    Ok(())
}
