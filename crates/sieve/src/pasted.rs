//! What a person or an agent pastes to recover cuts: markers of either form, whole or in part, ids with lines, commands.

use std::str::FromStr;

/// How every prune id begins.
const ID: &str = "prn_";

/// One or more ranges of lines, separated by commas: 1-based, inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRanges(pub Vec<(i64, i64)>);

impl FromStr for LineRanges {
    type Err = PastedError;

    fn from_str(text: &str) -> Result<LineRanges, PastedError> {
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
            Some(ranges) if ranges.iter().all(|(first, last)| first <= last) => Ok(LineRanges(ranges)),
            Some(_) => Err(PastedError::Backwards(text.to_owned())),
            None => Err(PastedError::NoRange(text.to_owned())),
        }
    }
}

/// Why a pasted text names no cut.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PastedError {
    #[error("the lines `{0}` end before they begin")]
    Backwards(String),
    #[error("`{0}` is no range of lines")]
    NoRange(String),
    #[error("the markers have several prune ids")]
    SeveralIds,
    #[error("no prune id and no marker")]
    Nothing,
}

/// The cuts that a pasted text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastedCuts {
    /// An id, or the beginning of one. None: only markers that leave it to the first marker of their text.
    pub prune_id: Option<String>,
    /// In their order, each line once. Empty: the whole text.
    pub ranges: Vec<(i64, i64)>,
}

impl FromStr for PastedCuts {
    type Err = PastedError;

    fn from_str(pasted: &str) -> Result<PastedCuts, PastedError> {
        let is_of_id = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let mut prune_id: Option<String> = None;
        let mut ranges = Vec::new();
        let mut parts = pasted.split(ID);
        // Short markers have their lines before the id, and most have none.
        ranges.extend(lines_of_short_markers(parts.next().unwrap_or_default())?);
        for part in parts {
            let end = part.find(|letter| !is_of_id(letter)).unwrap_or(part.len());
            let id = format!("{ID}{}", &part[..end]);
            if *prune_id.get_or_insert(id.clone()) != id {
                return Err(PastedError::SeveralIds);
            }
            ranges.extend(lines_after_id(&part[end..])?);
            ranges.extend(lines_of_short_markers(&part[end..])?);
        }
        if prune_id.is_none() && ranges.is_empty() {
            return Err(PastedError::Nothing);
        }
        Ok(PastedCuts { prune_id, ranges: each_line_once(ranges) })
    }
}

/// The lines that follow an id: ranges, up to anything else. In a marker of the contract, the word `lignes` precedes them.
fn lines_after_id(text: &str) -> Result<Vec<(i64, i64)>, PastedError> {
    let mut words = words(text).peekable();
    while words.next_if(|word| word.is_empty() || ["lignes", "lines"].contains(word)).is_some() {}
    let mut ranges = Vec::new();
    while let Some(word) =
        words.next_if(|word| word.starts_with(|letter: char| letter.is_ascii_digit() || letter == 'L'))
    {
        ranges.extend(word.parse::<LineRanges>()?.0);
    }
    Ok(ranges)
}

/// The lines of `[tamis 48-78…` and `[tamis cut 6-44…`, wherever they are wrapped.
fn lines_of_short_markers(text: &str) -> Result<Vec<(i64, i64)>, PastedError> {
    let mut ranges = Vec::new();
    let mut words = words(text).peekable();
    while let Some(word) = words.next() {
        if word != "tamis" {
            continue;
        }
        while words.next_if(|word| ["cut", "lines"].contains(word)).is_some() {}
        if let Some(lines) = words.next_if(|word| word.starts_with(|letter: char| letter.is_ascii_digit())) {
            ranges.extend(lines.trim_end_matches([':', ';', '.']).parse::<LineRanges>()?.0);
        }
    }
    Ok(ranges)
}

/// The words of a text, without the signs that surround them in markers and quotations.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| word.trim_matches(['`', '"', '\'', '⟧', '[', ']']))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_names_a_cut_can_be_pasted() {
        let id = "prn_aaaaaaaaaaaaaaaabbbbbb";
        let marker =
            |lines: &str| format!("⟦PRUNÉ: prune_id={id} lignes {lines} (2) raison=répétitions: 2 lignes⟧");
        let part = format!("prune_id={id} lignes 6-44");
        let short = format!("[tamis cut 6-44: repeats; restore: recover_text or tamis recover {id} 6-44]");
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
            // The short form.
            (short.clone(), vec![(6, 44)]),
            (short.replace(' ', "\n"), vec![(6, 44)]),
            (short[1..].to_owned(), vec![(6, 44)]),
            (format!("7│ {short}"), vec![(6, 44)]),
            (
                format!("{short}\nkept 3\n[tamis 48]\n[tamis 50-78: tests]\n"),
                vec![(6, 44), (48, 48), (50, 78)],
            ),
            (format!("[tamis 48]\n{short}"), vec![(48, 48), (6, 44)]),
            (format!("[tamis cut 6-44 of {id}: repeats]"), vec![(6, 44)]),
            (format!("{id} [tamis 48-50]"), vec![(48, 50)]),
        ] {
            let expected = PastedCuts { prune_id: Some(id.to_owned()), ranges };
            assert_eq!(pasted.parse::<PastedCuts>(), Ok(expected), "{pasted}");
        }
        for (pasted, ranges) in
            [("[tamis 48-78: tests]", vec![(48, 78)]), ("tamis 48\n[tamis 50]", vec![(48, 48), (50, 50)])]
        {
            assert_eq!(pasted.parse(), Ok(PastedCuts { prune_id: None, ranges }), "{pasted}");
        }
        let other = marker("1-2").replace("bbbbbb", "cccccc");
        for wrong in [format!("{}{other}", marker("1-2")), "nothing".to_owned(), format!("{id} 7-6")] {
            assert!(wrong.parse::<PastedCuts>().is_err(), "{wrong}");
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
        let parsed = |text: &str| text.parse::<LineRanges>().map(|ranges| ranges.0);
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
