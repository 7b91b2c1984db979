//! Secrets in columns: a table of commas, semicolons, tabs or bars whose first row names a column `password`.

use std::ops::Range;

use super::judge::{self, Notation};
use super::names::{self, SecretKind};

/// How long the row of names may be to either side of the name that was found, and a name and a row of values.
const HEADER_REACH: usize = 512;
const LONGEST_NAME: usize = 40;
const ROW_REACH: usize = 4096;

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
    let Some((separator, kinds)) = kinds_of(&text[header.clone()]) else { return columns };
    let mut next = header.end + 1;
    while next < text.len() {
        let line = line_at(text, next, ROW_REACH);
        let is_rule = |byte: &u8| matches!(byte, b'-' | b'+' | b'|' | b':' | b'=' | b' ' | b'\r');
        let row = &text[line.clone()];
        if row.is_empty() || row.len() == ROW_REACH {
            break;
        }
        if !row.iter().all(is_rule) {
            let cells = cells(row, separator);
            if cells.len() != kinds.len() {
                break;
            }
            for (cell, kind) in cells.into_iter().zip(&kinds) {
                let Some(kind) = *kind else { continue };
                let value = line.start + cell.start..line.start + cell.end;
                if judge::is_secret(kind, &text[value.clone()], Notation::Environment) {
                    columns.found.push((value, kind));
                }
            }
        }
        columns.end = line.end;
        next = line.end + 1;
    }
    columns
}

/// The line from `start` on, without its end, and no longer than that.
fn line_at(text: &[u8], start: usize, most: usize) -> Range<usize> {
    let reach = &text[start..text.len().min(start + most)];
    start..start + memchr::memchr(b'\n', reach).unwrap_or(reach.len())
}

/// What separates the columns, and the kind of secret that each name announces; none if this is no row of names.
fn kinds_of(header: &[u8]) -> Option<(u8, Vec<Option<SecretKind>>)> {
    let of_header =
        |byte: &u8| is_of_name(*byte) || matches!(byte, b'|' | b'\t' | b';' | b',' | b'"' | b'\r');
    if !header.iter().all(of_header) {
        return None;
    }
    let separator = *[b'|', b'\t', b';', b','].iter().find(|separator| header.contains(separator))?;
    let cells = cells(header, separator);
    let is_name = |cell: &Range<usize>| {
        let name = &header[cell.clone()];
        name.len() <= LONGEST_NAME
            && name.first().is_some_and(u8::is_ascii_alphabetic)
            && name.iter().all(|byte| is_of_name(*byte))
            // More are a line of text or code.
            && name.split(|byte| *byte == b' ').count() <= 3
    };
    if cells.len() < 2 || !cells.iter().all(is_name) {
        return None;
    }
    let kinds: Vec<_> = cells.into_iter().map(|cell| names::announced_kind(&header[cell])).collect();
    kinds.iter().any(Option::is_some).then_some((separator, kinds))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ' | b'`' | b'*')
}

/// The cells of a row, without the spaces and quotes around them. A separator in double quotes separates nothing.
fn cells(row: &[u8], separator: u8) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let (mut start, mut is_quoted) = (0, false);
    for (at, byte) in row.iter().enumerate() {
        match *byte {
            b'"' => is_quoted = !is_quoted,
            byte if byte == separator && !is_quoted => {
                cells.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
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
