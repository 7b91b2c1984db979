//! Private keys in blocks of many lines: each line loses its own secret part, so that lines, prefixes and numbers stay where
//! they are.
//!
//! The line that begins a block stays: it says what was there. A block may lack its beginning or its end, since outputs are
//! cut; it may have a prefix in each line (`12:`, `+ `, `> `), or be one line with `\n` written out.

use std::ops::Range;

const DASHES: &[u8] = b"-----";
/// No key has lines, or as many lines, as that.
const MOST_LINES: usize = 400;
/// Lines that stand in a block beside the key.
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

/// The pieces of the body that begins at `from`, to its end or to where it stops looking like one.
fn after(text: &[u8], from: usize) -> Vec<Range<usize>> {
    let end = memchr::memmem::find(&text[from..text.len().min(from + MOST_LINES * 128)], DASHES)
        .map(|at| from + at);
    let mut found = Vec::new();
    let mut at = from;
    for line in text[from..end.unwrap_or(text.len())].split(|&byte| byte == b'\n').take(MOST_LINES) {
        let before = found.len();
        pieces(line, at, &mut found);
        // Without an end, the body ends with its first line that is too short or no base64.
        let body: usize = found[before..].iter().map(ExactSizeIterator::len).sum();
        if end.is_none() && at > from && !is_header(line) && !line.trim_ascii().is_empty() {
            if body < 16 {
                found.truncate(before);
                break;
            }
            if body < 40 {
                break;
            }
        }
        at += line.len() + 1;
    }
    found
}

/// The pieces of a body whose beginning was cut off: whole lines of base64 right before `to`.
fn before(text: &[u8], to: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut end = to - text[..to].iter().rev().take_while(|byte| **byte != b'\n').count();
    for number in 0..MOST_LINES {
        if end == 0 {
            break;
        }
        let line_end = end - 1;
        let start = memchr::memrchr(b'\n', &text[..line_end]).map_or(0, |at| at + 1);
        let mut of_line = Vec::new();
        pieces(&text[start..line_end], start, &mut of_line);
        let body: usize = of_line.iter().map(ExactSizeIterator::len).sum();
        if body < if number == 0 { 1 } else { 40 } || line_end - start > 256 {
            break;
        }
        found.extend(of_line);
        end = start;
    }
    // One short line could be anything.
    if found.iter().all(|range| range.len() < 40) { Vec::new() } else { found }
}

/// The runs of base64 at the end of the line, or before each `\n` that is written out.
fn pieces(line: &[u8], start: usize, found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while at < line.len() {
        let end = memchr::memmem::find(&line[at..], b"\\n").map_or(line.len(), |end| at + end);
        let piece = &line[at..end];
        let trimmed = trimmed_length(piece);
        let run = piece[..trimmed].iter().rev().take_while(|byte| is_base64(**byte)).count();
        if run > 0 && !is_header(piece) && !is_number(&piece[trimmed - run..trimmed]) {
            found.push(start + at + trimmed - run..start + at + trimmed);
        }
        at = end + 2;
    }
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

/// A line number with nothing after it.
fn is_number(run: &[u8]) -> bool {
    run.len() < 8 && run.iter().all(u8::is_ascii_digit)
}

fn is_header(line: &[u8]) -> bool {
    HEADERS.iter().any(|header| memchr::memmem::find(line, header.as_bytes()).is_some())
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
