use std::str::FromStr;

use clap::Args;
use serde_json::json;
use tamis_config::{Config, ConfigEnvironment};
use tamis_sieve::{RecentPrune, RecoverError};
use tamis_store::DataDir;

use crate::error::{CliError, CliResult};
use crate::operation::Operations;
use crate::table::{self, Align, Table};
use crate::{escape, input, print, setup, times};

/// How every prune id begins.
const ID: &str = "prn_";

/// Restore lines that were cut
///
/// Takes a prune id and lines, such as 120-154 or 105-106,110; without lines, restores the whole text. Also takes pasted markers,
/// whole or in part, preferably in quotes: `tamis recover '⟦PRUNÉ: prune_id=prn_… lignes 6-44 (39) …⟧'`. `-` reads them from
/// stdin.
#[derive(Args)]
pub(crate) struct Recover {
    /// Prune id (prn_…) and lines, or markers
    #[arg(value_name = "ID [LINES]|MARKER", required_unless_present = "list")]
    pasted: Vec<String>,
    /// List recent prunes that can be recovered, latest first
    #[arg(long, conflicts_with_all = ["pasted", "numbers"])]
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
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranges(pub(super) Vec<(i64, i64)>);

impl FromStr for Ranges {
    type Err = String;

    fn from_str(text: &str) -> Result<Ranges, String> {
        // `6-44`, and how other programs write it: `6..44`, `6:44`, `L6-L44`, with a long dash, `6-` to the end.
        let range = |text: &str| {
            let text = text.replace("..", "-").replace(['–', ':'], "-").replace('L', "");
            let number = |text: &str| text.trim().parse::<i64>().ok().filter(|number| *number > 0);
            match text.split_once('-') {
                Some((first, "")) => Some((number(first)?, i64::MAX)),
                Some((first, last)) => Some((number(first)?, number(last)?)),
                None => Some((number(&text)?, number(&text)?)),
            }
        };
        // A comma at the end is left over from `105-106, 110`.
        let ranges = text.trim_end_matches(',').split(',').map(range).collect::<Option<Vec<_>>>();
        match ranges {
            Some(ranges) if ranges.iter().all(|(first, last)| first <= last) => Ok(Ranges(ranges)),
            Some(_) => Err(format!("the lines `{text}` end before they begin")),
            None => Err(format!("`{text}` is no range of lines")),
        }
    }
}

pub(crate) fn run(arguments: Recover) -> CliResult {
    let operations = Operations::new("recover")?;
    if arguments.list {
        return list(&operations, arguments.limit, arguments.json);
    }
    let pasted = match &arguments.pasted[..] {
        [stdin] if stdin == "-" => String::from_utf8_lossy(&input::stdin()?).into_owned(),
        [stdin, lines @ ..] if stdin == "-" => {
            format!("{} {}", String::from_utf8_lossy(&input::stdin()?).trim(), lines.join(" "))
        }
        // After an id, everything is a range: nothing is ignored as it is in what was pasted.
        [id, lines @ ..] if id.starts_with(ID) && !id.contains(char::is_whitespace) => {
            lines.iter().try_for_each(|lines| ranges(lines).map(drop))?;
            arguments.pasted.join(" ")
        }
        pasted => pasted.join(" "),
    };
    let (prune_id, ranges) = parse(&pasted)?;
    let mut ranges = each_line_once(ranges);
    let is_whole = ranges.is_empty();
    if is_whole {
        ranges.push((1, i64::MAX));
    }
    let recovered = operations.run(async |context| {
        context.services.recover(prune_id, ranges, arguments.numbers, context.caller).await
    })?;
    let mut recovered = recovered.map_err(explain)?;
    // The empty line after the last newline is no line to a person.
    let last = recovered.metadata.ranges.last().map_or(0, |range| range.end_line);
    if is_whole && let Some(text) = recovered.raw_text.strip_suffix(&format!("{last}│ ")) {
        recovered.raw_text.truncate(text.len());
    }
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

/// The error in the words of this command.
fn explain(error: RecoverError) -> CliError {
    match error {
        RecoverError::InvalidRange { range: (first, _), lines: Some(lines), ends_in_newline } => {
            let lines = (lines - usize::from(ends_in_newline)) as u64;
            let error = anyhow::anyhow!("the text has no line {first}");
            CliError::failed(error).hint(format!("it has {}", print::count(lines, "line")))
        }
        RecoverError::NotFound { .. } => unopened_data_folder().unwrap_or_else(|| hinted(error)),
        error => hinted(error),
    }
}

fn hinted(error: RecoverError) -> CliError {
    CliError { hint: error.hint().map(str::to_owned), ..CliError::failed(error) }
}

/// Why no id can be known: the data folder cannot be used.
fn unopened_data_folder() -> Option<CliError> {
    let config = Config::load(&ConfigEnvironment::of_process()).ok()?;
    let folder = DataDir::at(config.data_dir());
    if let Err(error) = folder.secure() {
        return Some(error.into());
    }
    let error = folder.create().and_then(|()| std::fs::read_dir(config.data_dir()).map(drop)).err()?;
    let message = format!("cannot open the data folder `{}`", config.data_dir().display());
    Some(
        CliError::failed(anyhow::Error::new(error).context(message))
            .hint("TAMIS_DATA_DIR names the data folder"),
    )
}

/// The ranges in their order, without the lines that an earlier one has.
fn each_line_once(ranges: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    let mut unique: Vec<(i64, i64)> = Vec::new();
    for range in ranges {
        let mut parts = vec![range];
        for &(first, last) in &unique {
            let without = |(begin, end): (i64, i64)| {
                let outside = [(begin, end.min(first - 1)), (begin.max(last.saturating_add(1)), end)];
                outside.into_iter().filter(|(begin, end)| begin <= end)
            };
            // Both parts are the whole range where nothing overlaps.
            parts = parts
                .into_iter()
                .flat_map(|part| match part.1 < first || part.0 > last {
                    true => vec![part],
                    false => without(part).collect(),
                })
                .collect();
        }
        unique.extend(parts);
    }
    unique
}

/// The prune id in what was pasted, and the lines to restore: an id with lines, markers or parts of them, or a command that tamis
/// printed.
fn parse(pasted: &str) -> Result<(String, Vec<(i64, i64)>), CliError> {
    let is_of_id = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut id = None;
    let mut ranges = Vec::new();
    for part in pasted.split(ID).skip(1) {
        let end = part.find(|letter| !is_of_id(letter)).unwrap_or(part.len());
        if *id.get_or_insert(&part[..end]) != &part[..end] {
            let error = CliError::usage("the markers have several prune ids");
            return Err(error.hint("recover them one after the other"));
        }
        ranges.extend(lines_after_id(&part[end..])?);
    }
    match id {
        Some(id) => Ok((format!("{ID}{id}"), ranges)),
        None if pasted.trim().is_empty() => {
            Err(CliError::usage("nothing was pasted: no prune id and no marker")
                .hint("pipe a pruned text or a marker to `tamis recover -`"))
        }
        None => Err(CliError::usage(format!("`{}` has no prune id", escape::line(pasted.trim())))
            .hint("a prune id begins with `prn_`; `tamis recover --list` shows those of recent prunes")),
    }
}

fn ranges(text: &str) -> Result<Vec<(i64, i64)>, CliError> {
    let parsed: Result<Ranges, String> = text.parse();
    let example = "write lines as 120-154, 120 or 105-106,110";
    parsed.map(|ranges| ranges.0).map_err(|error| CliError::usage(error).hint(example))
}

/// The lines that follow an id: ranges, up to anything else. In a marker, the word `lignes` precedes them.
fn lines_after_id(text: &str) -> Result<Vec<(i64, i64)>, CliError> {
    let mut ranges = Vec::new();
    let mut words = text.split_whitespace().map(|word| word.trim_matches(['`', '"', '\'', '⟧'])).peekable();
    while words.next_if(|word| word.is_empty() || ["lignes", "lines"].contains(word)).is_some() {}
    while let Some(word) =
        words.next_if(|word| word.starts_with(|letter: char| letter.is_ascii_digit() || letter == 'L'))
    {
        ranges.extend(self::ranges(word)?);
    }
    Ok(ranges)
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
        let part = format!("prune_id={id} lignes 6-44");
        for (pasted, ranges) in [
            (id.to_owned(), vec![]),
            (marker("6-44"), vec![(6, 44)]),
            (format!("  {}\n{}\n", marker("6-44"), marker("50-50")), vec![(6, 44), (50, 50)]),
            (format!("`tamis recover {id} 6-44` restores the first cut"), vec![(6, 44)]),
            (format!("tamis recover {id} 6-44"), vec![(6, 44)]),
            (format!("{id} 6-44 50, 60-61"), vec![(6, 44), (50, 50), (60, 61)]),
            (format!("prune_id={id}"), vec![]),
            (format!("\"{id}\""), vec![]),
            (part.clone(), vec![(6, 44)]),
            (format!("PRUNÉ: {part} (39) raison=hors focus: L7"), vec![(6, 44)]),
            // Wrapped by a terminal, or split by a shell.
            (part.replace(' ', "\n"), vec![(6, 44)]),
            (format!("⟦PRUNÉ: {part}"), vec![(6, 44)]),
            (format!("105│ {}", marker("6-44")), vec![(6, 44)]),
        ] {
            assert_eq!(parse(&pasted).ok(), Some((id.to_owned(), ranges)), "{pasted}");
        }
        let other = marker("1-2").replace("bbbbbb", "cccccc");
        for wrong in [format!("{}{other}", marker("1-2")), "nothing".to_owned(), format!("{id} 7-6")] {
            assert!(parse(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_line_is_restored_once() {
        for (ranges, expected) in [
            (vec![(6, 8), (7, 9)], vec![(6, 8), (9, 9)]),
            (vec![(7, 9), (6, 10)], vec![(7, 9), (6, 6), (10, 10)]),
            (vec![(2, 2), (1, 1)], vec![(2, 2), (1, 1)]),
            (vec![(1, i64::MAX), (4, 5)], vec![(1, i64::MAX)]),
            (vec![(4, 5), (1, i64::MAX)], vec![(4, 5), (1, 3), (6, i64::MAX)]),
        ] {
            assert_eq!(each_line_once(ranges.clone()), expected, "{ranges:?}");
        }
    }

    #[test]
    fn lines_are_lists_of_ranges() {
        let parsed = |text: &str| text.parse::<Ranges>().map(|ranges| ranges.0);
        assert_eq!(parsed("105-106,110"), Ok(vec![(105, 106), (110, 110)]));
        assert_eq!(parsed("120"), Ok(vec![(120, 120)]));
        assert_eq!(parsed("120-154,"), Ok(vec![(120, 154)]));
        for same in ["6..44", "6:44", "6–44", "L6-L44", "6-44"] {
            assert_eq!(parsed(same), Ok(vec![(6, 44)]), "{same}");
        }
        assert_eq!(parsed("6-"), Ok(vec![(6, i64::MAX)]));
        for wrong in ["", "x-y", "-", "1,,2", "1-2-3", "7-6", "0-3"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
