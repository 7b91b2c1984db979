//! Private keys in blocks of many lines: each line loses its own secret part, so that lines, prefixes and numbers stay where
//! they are.
//!
//! The line that begins a block stays, to show what was there. A block may lack its beginning or its end, since outputs are
//! cut; it may have a prefix in each line (`12:`, `+ `, `> `), or be one line with `\n` written out.

use std::ops::Range;

const DASHES: &[u8] = b"-----";
/// No key has more lines.
const MAX_LINES: usize = 400;
/// Shorter lines are a key's last line, and many other things.
const FULL_LINE: usize = 40;
/// Lines of a block that are not of the key.
const HEADERS: &[&str] = &["Proc-Type: ", "DEK-Info: ", "Version: ", "Comment: ", "Hash: ", "Charset: "];

/// What to hide of the block that begins with the dashes at `at`.
pub(super) fn after_begin(text: &[u8], at: usize) -> Vec<Range<usize>> {
    title_end(text, at).map_or(Vec::new(), |end| after(text, end))
}

/// What to hide of the block that ends with the dashes at `at`, and whose beginning is not in the text.
pub(super) fn before_end(text: &[u8], at: usize) -> Vec<Range<usize>> {
    title_end(text, at).map_or(Vec::new(), |_| before(text, at))
}

/// Past `-----BEGIN … PRIVATE KEY-----`, if it is one.
fn title_end(text: &[u8], at: usize) -> Option<usize> {
    let reach = &text[at + DASHES.len()..text.len().min(at + 80)];
    let length = memchr::memmem::find(reach, DASHES)?;
    memchr::memmem::find(&reach[..length], b"PRIVATE KEY")?;
    Some(at + DASHES.len() + length + DASHES.len())
}

/// The pieces of the body that begins at `from`. With an end in sight, every line up to it must be of a key; without one,
/// the lines that could hardly be anything else. Programs and manuals mention beginnings without any key.
fn after(text: &[u8], from: usize) -> Vec<Range<usize>> {
    let reach = &text[from..text.len().min(from + MAX_LINES * 128)];
    let end = memchr::memmem::find(reach, DASHES);
    let closed = end.is_some_and(|end| reach[end..].starts_with(b"-----END "));
    let mut all = Vec::new();
    let mut sure = None;
    let mut at = from;
    for (number, line) in
        reach[..end.unwrap_or(reach.len())].split(|&byte| byte == b'\n').take(MAX_LINES).enumerate()
    {
        let before = all.len();
        let of_key = pieces(line, at, &mut all) && !(number == 0 && is_other_value(line));
        let length = all[before..].iter().map(ExactSizeIterator::len).sum::<usize>();
        let empty = line.trim_ascii().is_empty() || number == 0 && length == 0;
        if sure.is_none() && !is_header(line) && !empty && length < FULL_LINE {
            // The last line may be short, after a full one.
            let last = of_key && length >= 16 && before > 0;
            sure = Some(if last { all.len() } else { before });
        }
        if !of_key || sure.is_some() && !closed {
            all.truncate(sure.unwrap_or(before));
            return all;
        }
        at += line.len() + 1;
    }
    if !closed {
        all.truncate(sure.unwrap_or(all.len()));
    }
    all
}

/// The pieces of a body whose beginning was cut off: whole lines of base64 right before `to`.
fn before(text: &[u8], to: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut end = to - text[..to].iter().rev().take_while(|byte| **byte != b'\n').count();
    for number in 0..MAX_LINES {
        if end == 0 {
            break;
        }
        let line_end = end - 1;
        let start = memchr::memrchr(b'\n', &text[..line_end]).map_or(0, |at| at + 1);
        let mut of_line = Vec::new();
        pieces(&text[start..line_end], start, &mut of_line);
        let body: usize = of_line.iter().map(ExactSizeIterator::len).sum();
        if body < if number == 0 { 1 } else { FULL_LINE } || line_end - start > 256 {
            break;
        }
        found.extend(of_line);
        end = start;
    }
    // One short line could be anything.
    if found.iter().all(|range| range.len() < FULL_LINE) { Vec::new() } else { found }
}

/// Adds the runs of base64 at the end of the line, or before each `\n` that is written out. Says whether the line holds
/// nothing that a key's line does not.
fn pieces(line: &[u8], start: usize, found: &mut Vec<Range<usize>>) -> bool {
    let mut at = 0;
    while at < line.len() {
        let end = memchr::memmem::find(&line[at..], b"\\n").map_or(line.len(), |end| at + end);
        let piece = &line[at..end];
        let trimmed = trimmed_length(piece);
        let run = piece[..trimmed].iter().rev().take_while(|byte| is_base64(**byte)).count();
        // The sign of a difference is a letter of base64 too.
        let run = run - usize::from(run == trimmed && piece.first() == Some(&b'+'));
        let before = &piece[..trimmed - run];
        if !is_header(piece) && (run == 0 || !is_number(&piece[trimmed - run..trimmed])) {
            if run < FULL_LINE && !is_prefix(before) {
                return false;
            }
            if run > 0 {
                found.push(start + at + trimmed - run..start + at + trimmed);
            }
        }
        at = end + 2;
    }
    true
}

/// What goes on with a colon or a comma after the title is the member of an object whose name the title was.
fn is_other_value(rest: &[u8]) -> bool {
    let around = |byte: &&u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b' ');
    let quotes = rest.iter().take_while(around).count();
    matches!(rest.get(quotes), Some(b':' | b','))
}

/// What may precede a short piece: signs of quotes, lists and differences, a line's number, a reference.
fn is_prefix(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    // A colon behind a quote belongs to an object's member.
    let quote = before.iter().position(|byte| matches!(byte, b'"' | b'\'' | b'`')).unwrap_or(before.len());
    if before[quote..].contains(&b':') {
        return false;
    }
    let sign = |byte: &u8| {
        byte.is_ascii_whitespace()
            || !byte.is_ascii()
            || matches!(byte, b'"' | b'\'' | b'`' | b'+' | b'-' | b'>' | b'|' | b'#' | b'*' | b'\\')
    };
    let number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b':' | b'-' | b'|');
    let without_number = &before[..before.iter().rposition(|byte| !number(byte)).map_or(0, |at| at + 1)];
    // A reference is a path without spaces, then a line's number between signs.
    let reference = before.len() > without_number.len() + 1
        && matches!(before.last(), Some(b':' | b'-'))
        && !without_number.iter().any(u8::is_ascii_whitespace);
    before.iter().all(|byte| sign(byte) || number(byte)) || reference
}

/// How much of a piece is left without what code puts after a string: quotes, commas, `+`, a written `\r`.
fn trimmed_length(piece: &[u8]) -> usize {
    let around = |byte: &&u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'\\' | b')' | b'.')
    };
    let trim = |length: usize| length - piece[..length].iter().rev().take_while(around).count();
    let length = trim(piece.len());
    match &piece[..length] {
        [.., b'"' | b'\'' | b' ', b'+'] => trim(length - 1),
        [.., b'\\', b'r'] => trim(length - 1),
        _ => length,
    }
}

/// A line number with nothing after it, or any other number.
fn is_number(run: &[u8]) -> bool {
    run.iter().all(u8::is_ascii_digit)
}

fn is_header(line: &[u8]) -> bool {
    HEADERS.iter().any(|header| memchr::memmem::find(line, header.as_bytes()).is_some())
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
