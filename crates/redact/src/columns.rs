//! Secrets in columns: a table of commas, semicolons, tabs or bars whose first row names a column `password`.

use std::ops::Range;

use super::judge::{self, Notation};
use super::names::{self, SecretKind};

/// How long the row of names may be to either side of the name that was found, how many characters a name may have, and how
/// long a row of values may be.
const HEADER_REACH: usize = 4096;
const LONGEST_NAME: usize = 40;
const ROW_REACH: usize = 4096;
/// As many rows in a row that have more or fewer cells than there are names end a table.
const MOST_MISFITS: usize = 16;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The secrets of a table.
pub(super) struct Columns {
    pub(super) found: Vec<(Range<usize>, SecretKind)>,
    /// Where the table ends, or the line that is no row of names.
    pub(super) end: usize,
}

/// What the table has whose row of names is the line around `at`.
pub(super) fn find(text: &[u8], at: usize) -> Columns {
    let before = &text[at.saturating_sub(HEADER_REACH)..at];
    let start = at - before.len() + memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let header = line_at(text, start, at - start + HEADER_REACH);
    let mut columns = Columns { found: Vec::new(), end: header.end.max(at) };
    // What was cut at the reach is no row, and behind it is the middle of a line or of a character.
    let begins = start == 0 || text[start - 1] == b'\n';
    if !begins || text.get(header.end).is_some_and(|byte| *byte != b'\n') {
        return columns;
    }
    let names = &text[header.clone()];
    let Some((separator, kinds)) = kinds_of(names) else { return columns };
    // Names with spaces between them may be arguments in code, so a row has to fit first.
    let mut misfits = if memchr::memmem::find(names, b", ").is_some() { MOST_MISFITS - 1 } else { 0 };
    let mut next = header.end + 1;
    while next < text.len() {
        let line = next..memchr::memchr(b'\n', &text[next..]).map_or(text.len(), |end| next + end);
        next = line.end + 1;
        let row = &text[line.clone()];
        if is_blank(row, separator) {
            break;
        }
        if !is_rule(row) {
            let cells = if row.len() < ROW_REACH { cells(row, separator) } else { Vec::new() };
            if cells.len() != kinds.len() {
                misfits += 1;
                if misfits == MOST_MISFITS {
                    break;
                }
                continue;
            }
            misfits = 0;
            for (cell, kind) in cells.into_iter().zip(&kinds) {
                let Some(kind) = *kind else { continue };
                if is_member(row, &cell) {
                    continue;
                }
                let value = line.start + cell.start..line.start + cell.end;
                if judge::is_secret(kind, &text[value.clone()], Notation::Environment) {
                    columns.found.push((value, kind));
                }
            }
        }
        columns.end = line.end;
    }
    columns
}

/// The row of names of the table that the line around `at` is in, if one of its columns has secrets: the first line above
/// that has as many cells as the line at `at`. Also where that line begins.
pub(super) fn names_above(text: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
    let line_before = |end: usize| memchr::memrchr(b'\n', &text[..end]).map_or(0, |newline| newline + 1)..end;
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
    let line = line_before(end);
    let row = &text[line.clone()];
    if row.len() >= ROW_REACH {
        return None;
    }
    [b'|', b'\t', b';', b','].into_iter().filter(|separator| row.contains(separator)).find_map(|separator| {
        let count = count_cells(row, separator);
        let (mut first, mut start, mut misfits) = (None, line.start, 0);
        while start > 0 && misfits < MOST_MISFITS {
            let line = line_before(start - 1);
            start = line.start;
            let row = &text[line.clone()];
            if is_blank(row, separator) {
                break;
            }
            let fits = row.len() < ROW_REACH && count_cells(row, separator) == count;
            misfits = if fits || is_rule(row) { 0 } else { misfits + 1 };
            first = if fits { Some(line) } else { first };
        }
        let is_of_names = |names: &Range<usize>| {
            kinds_of(&text[names.clone()]).is_some_and(|(of_names, _)| of_names == separator)
        };
        first.filter(is_of_names).map(|names| (names, line.start))
    })
}

fn count_cells(row: &[u8], separator: u8) -> usize {
    match memchr::memchr(b'"', row) {
        // Bars at both ends are no cells, but all rows have them.
        Some(_) if separator != b'|' => cells(row, separator).len(),
        _ => memchr::memchr_iter(separator, row).count() + 1,
    }
}

fn is_blank(row: &[u8], separator: u8) -> bool {
    row.trim_ascii().is_empty() && !row.contains(&separator)
}

/// The line between the names and the rows.
fn is_rule(row: &[u8]) -> bool {
    row.iter().all(|byte| matches!(byte, b'-' | b'+' | b'|' | b':' | b'=' | b' ' | b'\r'))
}

/// Whether a cell is a member of JSON, `"name":"value"`, rather than a value in quotes.
fn is_member(row: &[u8], cell: &Range<usize>) -> bool {
    row[..cell.start].ends_with(b"\"") && memchr::memmem::find(&row[cell.clone()], b"\":").is_some()
}

/// The line from `start` on, without its end, and no longer than that.
fn line_at(text: &[u8], start: usize, most: usize) -> Range<usize> {
    let reach = &text[start..text.len().min(start + most)];
    start..start + memchr::memchr(b'\n', reach).unwrap_or(reach.len())
}

/// What separates the columns, and the kind of secret that each name announces; none if this is no row of names.
fn kinds_of(header: &[u8]) -> Option<(u8, Vec<Option<SecretKind>>)> {
    let header = header.strip_prefix(BYTE_ORDER_MARK).unwrap_or(header);
    let of_header = |byte: &u8| {
        !byte.is_ascii() || is_of_name(*byte) || matches!(byte, b'|' | b'\t' | b';' | b',' | b'"' | b'\r')
    };
    if !header.iter().all(of_header) {
        return None;
    }
    let separator = *[b'|', b'\t', b';', b','].iter().find(|separator| header.contains(separator))?;
    let cells = cells(header, separator);
    // The column of row numbers that a data frame writes has no name.
    let unnamed = usize::from(cells.len() > 2 && cells[0].is_empty());
    if cells.len() < 2 || !cells[unnamed..].iter().all(|cell| is_name(&header[cell.clone()])) {
        return None;
    }
    let kinds: Vec<_> = cells.into_iter().map(|cell| names::announced_kind(&header[cell])).collect();
    kinds.iter().any(Option::is_some).then_some((separator, kinds))
}

fn is_name(name: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(name) else { return false };
    let is_accent = |letter: char| ('\u{300}'..='\u{36f}').contains(&letter);
    let is_letter = |letter: char| match u8::try_from(letter) {
        Ok(byte) if byte.is_ascii() => is_of_name(byte),
        _ => letter.is_alphanumeric() || is_accent(letter),
    };
    name.chars().nth(LONGEST_NAME).is_none()
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(is_letter)
        // More are a line of text or code.
        && name.split(' ').count() <= 3
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ' | b'`' | b'*')
}

/// The cells of a row, without the spaces and quotes around them. A separator in double quotes separates nothing, if they
/// begin the cell and end it; elsewhere a quote is a character like any other.
fn cells(row: &[u8], separator: u8) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let (mut start, mut may_quote) = (0, true);
    loop {
        let blank = |byte: &u8| byte.is_ascii_whitespace() && *byte != separator;
        let first = start + row[start..].iter().take_while(|byte| blank(byte)).count();
        let mut from = start;
        if may_quote && row.get(first) == Some(&b'"') {
            match end_of_quoted(row, first + 1, separator) {
                Some(end) => from = end,
                // Nor do those behind it end, as far as this can be known without reading on for each of them.
                None => may_quote = false,
            }
        }
        let Some(end) = memchr::memchr(separator, &row[from..]) else { break };
        cells.push(start..from + end);
        start = from + end + 1;
    }
    cells.push(start..row.len());
    // A table of Markdown has a bar at both ends.
    if separator == b'|' && cells.len() > 2 && row.trim_ascii().starts_with(b"|") {
        cells.remove(0);
        if row.trim_ascii().ends_with(b"|") {
            cells.pop();
        }
    }
    cells.into_iter().map(|cell| bare(row, cell)).collect()
}

/// Behind the quote that ends a cell: a separator or the end of the row follows. Two quotes are one that belongs to the value.
fn end_of_quoted(row: &[u8], mut at: usize, separator: u8) -> Option<usize> {
    while let Some(quote) = memchr::memchr(b'"', &row[at..]) {
        at += quote + 1;
        let spaces = row[at..].iter().take_while(|byte| byte.is_ascii_whitespace() && **byte != separator);
        let after = row.get(at + spaces.count());
        if after.is_none_or(|byte| *byte == separator) {
            return Some(at);
        }
        at += usize::from(row.get(at) == Some(&b'"'));
    }
    None
}

fn bare(row: &[u8], mut cell: Range<usize>) -> Range<usize> {
    let around = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'`' | b'*');
    while cell.start < cell.end && around(row[cell.start]) {
        cell.start += 1;
    }
    while cell.start < cell.end && around(row[cell.end - 1]) {
        cell.end -= 1;
    }
    cell
}
