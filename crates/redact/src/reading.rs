//! Steps of a reader over bytes: past spaces, past quotes at any depth of escaping, never into half a character.

use std::ops::Range;

/// How far a quoted value is read, and how many spaces are passed over. The limits keep the work on hostile text linear.
const QUOTED_REACH: usize = 4096;
const SPACE_REACH: usize = 64;

/// Whether the letter at `at` belongs to an escape like `\n`.
pub(super) fn is_escape(text: &[u8], at: usize) -> bool {
    at > 0 && text[at - 1] == b'\\' && matches!(text.get(at), Some(b'n' | b't' | b'r' | b'b' | b'f'))
}

/// Whether the letter at `at` ends a colour of which the escape character was lost: `[31m`.
pub(super) fn is_color(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let parameters =
        before.iter().rev().take(16).take_while(|byte| matches!(byte, b'0'..=b'9' | b';')).count();
    text.get(at) == Some(&b'm') && before[..at - parameters].ends_with(b"[")
}

/// How many backslashes precede a quote: each level of strings in strings doubles them.
const LEVELS: [usize; 4] = [0, 1, 3, 7];

/// A quote at `at` with the backslashes before it, as strings inside strings have them.
pub(super) fn quote_at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let slashes = rest.iter().take(8).take_while(|byte| **byte == b'\\').count();
    let quote = matches!(rest.get(slashes), Some(b'"' | b'\'' | b'`'));
    (quote && LEVELS.contains(&slashes)).then(|| at..at + slashes + 1)
}

/// Where the quote that closes `open` begins, at the same depth, in the same line.
pub(super) fn closing_quote(text: &[u8], open: &Range<usize>) -> Option<usize> {
    let (depth, quote) = (open.len() - 1, text[open.end - 1]);
    let reach = &text[open.end..text.len().min(open.end + QUOTED_REACH)];
    let mut slashes = 0;
    for (at, &byte) in reach.iter().enumerate() {
        match byte {
            b'\n' => return None,
            b'\\' => slashes += 1,
            _ => {
                // What exceeds a level's own backslashes belongs to the value. An outer level's quote ends it too.
                let closes = |level: &&usize| **level <= depth && slashes % (2 * **level + 2) == **level;
                let level = if byte == quote { LEVELS.iter().rev().find(closes) } else { None };
                if let Some(level) = level {
                    return Some(open.end + at - level);
                }
                // A double quote before a comma or a brace ends the string of JSON that this one never left.
                if byte == b'"' && quote != b'"' && is_end_of_json_string(&reach[at + 1..]) {
                    return Some(open.end + at - slashes);
                }
                slashes = 0;
            }
        }
    }
    (reach.len() == QUOTED_REACH).then(|| floor_of_char(text, open.end + QUOTED_REACH))
}

/// What is between three quotes and three more, as far as its first line goes, which may be the one below.
pub(super) fn triple_quoted(text: &[u8], at: usize) -> Option<Range<usize>> {
    let quotes = text.get(at..at + 3).filter(|quotes| matches!(*quotes, b"\"\"\"" | b"'''"))?;
    let start = skip_lines(text, at + 3);
    let reach = &text[start..text.len().min(start + QUOTED_REACH)];
    let line = &reach[..memchr::memchr(b'\n', reach).unwrap_or(reach.len())];
    let line = &line[..memchr::memmem::find(line, quotes).unwrap_or(line.len())];
    Some(start..floor_of_char(text, start + line.trim_ascii_end().len()))
}

fn is_end_of_json_string(rest: &[u8]) -> bool {
    matches!(rest.first(), None | Some(b',' | b':' | b'}' | b']' | b'\n' | b'\r'))
}

/// `end`, or the beginning of the character that it would cut.
pub(super) fn floor_of_char(text: &[u8], mut end: usize) -> usize {
    while text.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    end
}

pub(super) fn skip_spaces(text: &[u8], at: usize) -> usize {
    let at = at.min(text.len());
    at + text[at..].iter().take(SPACE_REACH).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

pub(super) fn skip_lines(text: &[u8], at: usize) -> usize {
    let at = at.min(text.len());
    at + text[at..].iter().take(SPACE_REACH).take_while(|byte| byte.is_ascii_whitespace()).count()
}
