use std::str::FromStr;

use clap::Args;
use serde_json::json;
use tamis_sieve::{RecentPrune, cuts_in};

use crate::error::{CliError, CliResult};
use crate::operation::Operations;
use crate::table::{self, Align, Table};
use crate::{escape, input, print, setup, times};

/// How every prune id begins.
const ID: &str = "prn_";

/// Restore lines that were cut
///
/// Takes a prune id and lines, or a whole marker in quotes: `tamis recover '⟦PRUNÉ: prune_id=prn_… lignes 6-44 (39) …⟧'`. `-`
/// reads markers from stdin.
#[derive(Args)]
pub(crate) struct Recover {
    /// Prune id (prn_…), or markers
    #[arg(value_name = "ID|MARKER", required_unless_present = "list")]
    prune_id: Option<String>,
    /// Lines to restore, such as 120-154 or 105-106,110 [default: the marker's, or the whole text]
    #[arg(value_name = "LINES")]
    ranges: Vec<Ranges>,
    /// List recent prunes that can be recovered, latest first
    #[arg(long, conflicts_with_all = ["prune_id", "numbers"])]
    list: bool,
    /// Maximum number of prunes to list
    #[arg(long, value_name = "N", default_value_t = 20, requires = "list")]
    limit: usize,
    /// Prefix each line with its number in the original
    #[arg(long, short)]
    numbers: bool,
    /// Print the JSON output of `recover_text`
    #[arg(long)]
    json: bool,
}

/// One or more ranges of lines, separated by commas.
#[derive(Clone)]
struct Ranges(Vec<(i64, i64)>);

impl FromStr for Ranges {
    type Err = String;

    fn from_str(text: &str) -> Result<Ranges, String> {
        let range = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
        };
        // A comma at the end is left over from `105-106, 110`.
        let ranges = text.trim_end_matches(',').split(',').map(range).collect::<Option<Vec<_>>>();
        ranges.map(Ranges).ok_or_else(|| "expected lines such as 120-154, 120 or 105-106,110".to_owned())
    }
}

pub(crate) fn run(arguments: Recover) -> CliResult {
    let operations = Operations::new("recover")?;
    if arguments.list {
        return list(&operations, arguments.limit, arguments.json);
    }
    let named = match arguments.prune_id.as_deref() {
        Some("-") => String::from_utf8_lossy(&input::stdin()?).into_owned(),
        named => named.unwrap_or_default().to_owned(),
    };
    let (prune_id, of_markers) = parse(&named)?;
    let mut ranges: Vec<_> = arguments.ranges.into_iter().flat_map(|ranges| ranges.0).collect();
    if ranges.is_empty() {
        ranges = of_markers;
    }
    let is_whole = ranges.is_empty();
    if is_whole {
        ranges.push((1, i64::MAX));
    }
    let recovered = operations.run(async |context| {
        context.services.recover(prune_id, ranges, arguments.numbers, context.caller).await
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

/// The prune id in what was pasted, and the lines of its markers: an id, markers, or a command that tamis printed.
fn parse(named: &str) -> Result<(String, Vec<(i64, i64)>), CliError> {
    let cuts: Vec<_> = cuts_in(named).collect();
    let Some((id, _)) = cuts.first() else {
        // What surrounds the id is ignored, as in `tamis recover prn_… 6-44` with its backquotes.
        let Some(start) = named.find(ID) else { return Ok((named.to_owned(), Vec::new())) };
        let (id, rest) = named[start..]
            .split_once(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .unwrap_or((&named[start..], ""));
        let lines = rest.split_whitespace().next().unwrap_or_default().trim_end_matches('`');
        let ranges = lines.parse::<Ranges>().map(|ranges| ranges.0).unwrap_or_default();
        return Ok((id.to_owned(), ranges));
    };
    if cuts.iter().any(|(other, _)| other != id) {
        return Err(
            CliError::usage("the markers have several prune ids").hint("recover them one after the other")
        );
    }
    let line = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let ranges = cuts.iter().map(|(_, lines)| (line(lines.start_line), line(lines.end_line))).collect();
    Ok(((*id).to_owned(), ranges))
}

fn list(operations: &Operations, limit: usize, as_json: bool) -> CliResult {
    let prunes = operations.services.sieve.recent_prunes(limit)?;
    if as_json {
        return print::json(&prunes.iter().map(prune_json).collect::<Vec<_>>());
    }
    if prunes.is_empty() {
        print::note("no prune can be recovered; originals are kept for a while only");
        return Ok(());
    }
    let mut table = Table::new(&[
        ("TIME", Align::Left),
        ("TOOL", Align::Left),
        ("LINES CUT", Align::Right),
        ("PRUNE ID", Align::Left),
        ("GOAL", Align::Left),
    ])
    .dispensable(&["TOOL"]);
    for prune in prunes {
        table.row([
            times::minute(Some(prune.at_ms)),
            escape::line(&prune.tool),
            print::grouped(prune.lines_before.saturating_sub(prune.lines_after)),
            prune.prune_id,
            escape::line(&prune.goal.unwrap_or_default()),
        ]);
    }
    print::text(&table.render(table::screen()))
}

fn prune_json(prune: &RecentPrune) -> serde_json::Value {
    json!({
        "prune_id": prune.prune_id,
        "timestamp": times::utc(Some(prune.at_ms)),
        "tool": prune.tool,
        "client": prune.client,
        "project": prune.project,
        "lines_before": prune.lines_before,
        "lines_after": prune.lines_after,
        "goal": prune.goal.as_deref().map(escape::text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_names_a_cut_can_be_pasted() {
        let id = "prn_aaaaaaaaaaaaaaaabbbbbb";
        let marker =
            |lines: &str| format!("⟦PRUNÉ: prune_id={id} lignes {lines} (2) raison=répétitions: 2 lignes⟧");
        for (pasted, ranges) in [
            (id.to_owned(), vec![]),
            (marker("6-44"), vec![(6, 44)]),
            (format!("  {}\n{}\n", marker("6-44"), marker("50-50")), vec![(6, 44), (50, 50)]),
            (format!("`tamis recover {id} 6-44` restores the first cut"), vec![(6, 44)]),
            (format!("tamis recover {id} 6-44"), vec![(6, 44)]),
            (format!("prune_id={id}"), vec![]),
            (format!("\"{id}\""), vec![]),
            ("nothing".to_owned(), vec![]),
        ] {
            let (found, lines) = parse(&pasted).unwrap();
            assert_eq!(lines, ranges, "{pasted}");
            assert_eq!(found, if pasted == "nothing" { "nothing" } else { id }, "{pasted}");
        }
        let other = marker("1-2").replace("bbbbbb", "cccccc");
        assert!(parse(&format!("{}{other}", marker("1-2"))).is_err());
    }

    #[test]
    fn lines_are_lists_of_ranges() {
        let parsed = |text: &str| text.parse::<Ranges>().map(|ranges| ranges.0);
        assert_eq!(parsed("105-106,110"), Ok(vec![(105, 106), (110, 110)]));
        assert_eq!(parsed("120"), Ok(vec![(120, 120)]));
        assert_eq!(parsed("120-154,"), Ok(vec![(120, 154)]));
        for wrong in ["", "x-y", "1-", "-", "1,,2", "1-2-3"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
