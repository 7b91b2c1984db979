//! Text as it reads without its escapes: `%3D`, `\u003d`, `&quot;`, and colours of terminals.
//!
//! An escape hides what is around it from the finders: the `3D` of `%3Dghp_…` looks like the beginning of a word. So the
//! lines that have escapes are scanned a second time, decoded, and what is found there is mapped back. Quotes and line
//! ends that are escaped for a string (`\"`, `\n`) stay, because the finders read those.

use std::ops::Range;

/// How far a decoded part reaches from an escape, within its line.
const REACH_BEFORE: usize = 1024;
const REACH_AFTER: usize = 2048;
/// How often a text may have been encoded.
const MAX_ROUNDS: usize = 8;
/// The longest sequence that sets a colour.
const MAX_COLOR: usize = 24;

const ENTITIES: &[(&[u8], u8)] =
    &[(b"quot;", b'"'), (b"amp;", b'&'), (b"lt;", b'<'), (b"gt;", b'>'), (b"apos;", b'\'')];

/// What an escape stands for, and how long it is.
struct Escape {
    /// Nothing, for a colour.
    byte: Option<u8>,
    length: usize,
}

/// A part of a text, decoded.
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    pieces: Vec<Piece>,
}

/// Bytes of the text that were copied, or one that was decoded.
struct Piece {
    /// Where it begins in the decoded bytes.
    at: usize,
    source: Range<usize>,
}

impl Decoded {
    /// Where a range of the decoded bytes is in the text.
    pub(super) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let of = |at: usize| {
            let piece = &self.pieces[self.pieces.partition_point(|piece| piece.at <= at) - 1];
            (piece, piece.source.start + (at - piece.at))
        };
        let start = of(range.start).1;
        // Behind the last byte, and before a colour that follows it.
        let (piece, last) = of(range.end - 1);
        start..if last == piece.source.start && self.is_escape(piece) { piece.source.end } else { last + 1 }
    }

    fn is_escape(&self, piece: &Piece) -> bool {
        let next = self.pieces.partition_point(|other| other.at <= piece.at);
        let length = self.pieces.get(next).map_or(self.bytes.len(), |next| next.at) - piece.at;
        piece.source.len() > length
    }
}

/// The parts of `text` that have escapes.
pub(super) fn parts(text: &[u8]) -> Vec<Range<usize>> {
    let mut parts = around(text, memchr::memchr3_iter(b'%', b'\\', 0x1b, text));
    let entities = around(text, memchr::memchr_iter(b'&', text));
    if !entities.is_empty() {
        parts.extend(entities);
        parts.sort_by_key(|part| part.start);
        parts.dedup_by(|next, last| {
            let touches = next.start <= last.end + 1;
            last.end = if touches { last.end.max(next.end) } else { last.end };
            touches
        });
    }
    parts
}

/// The lines around those of the places that have an escape; neighbours are one part.
fn around(text: &[u8], places: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for at in places {
        let known = parts.last().is_some_and(|last| {
            at < last.end
                && (at + REACH_AFTER / 2 <= last.end || text.get(last.end).is_none_or(|byte| *byte == b'\n'))
        });
        if known || escape_at(text, at).is_none() {
            continue;
        }
        let before = &text[at.saturating_sub(REACH_BEFORE)..at];
        let start = at - before.len() + memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        let after = &text[at..text.len().min(at + REACH_AFTER)];
        let end = at + memchr::memchr(b'\n', after).unwrap_or(after.len());
        match parts.last_mut() {
            Some(last) if start <= last.end + 1 => last.end = end,
            _ => parts.push(start..end),
        }
    }
    parts
}

/// One part of the text, decoded.
pub(super) fn decode(text: &[u8], part: Range<usize>) -> Decoded {
    let mut decoded = Decoded { bytes: Vec::with_capacity(part.len()), pieces: Vec::new() };
    let mut at = part.start;
    while at < part.end {
        let copied = text[at..part.end]
            .iter()
            .position(|byte| matches!(byte, b'%' | b'\\' | 0x1b | b'&'))
            .map_or(part.end, |found| at + found);
        let (escape, next) = match escape_at(&text[..part.end], copied) {
            Some(escape) => (escape.byte, copied + escape.length),
            None => (None, (copied + 1).min(part.end)),
        };
        let copied = if next == copied + 1 { next } else { copied };
        if copied > at {
            decoded.pieces.push(Piece { at: decoded.bytes.len(), source: at..copied });
            decoded.bytes.extend_from_slice(&text[at..copied]);
        }
        if let Some(byte) = escape {
            decoded.pieces.push(Piece { at: decoded.bytes.len(), source: copied..next });
            decoded.bytes.push(byte);
        }
        at = next;
    }
    decoded
}

fn escape_at(text: &[u8], at: usize) -> Option<Escape> {
    let rest = &text[at..];
    match rest.first()? {
        b'%' => {
            let rounds = repeats(&rest[1..], b"25");
            rest.get(1 + 2 * rounds..3 + 2 * rounds)
                .and_then(hex)
                .and_then(|byte| shown(byte, 3 + 2 * rounds))
                .or_else(|| {
                    // `%25` is a per cent sign itself.
                    (rounds > 0).then_some(Escape { byte: Some(b'%'), length: 1 + 2 * rounds })
                })
        }
        b'&' => entity(rest),
        0x1b => color(rest, 1),
        _ => {
            let slashes = rest.iter().take(MAX_ROUNDS).take_while(|byte| **byte == b'\\').count();
            let (byte, length) = match &rest[slashes..] {
                [b'u', b'0', b'0', high, low, ..] => (hex(&[*high, *low])?, slashes + 5),
                [b'x', high, low, ..] => (hex(&[*high, *low])?, slashes + 3),
                [b'0', b'3', b'3', ..] => (0x1b, slashes + 3),
                [b'e', b'[', ..] => (0x1b, slashes + 1),
                _ => return None,
            };
            if byte == 0x1b { color(rest, length) } else { shown(byte, length) }
        }
    }
}

fn entity(rest: &[u8]) -> Option<Escape> {
    let rounds = repeats(&rest[1..], b"amp;");
    let start = 1 + rounds * b"amp;".len();
    let name = &rest[start..];
    if let Some((name, byte)) = ENTITIES.iter().find(|(entity, _)| name.starts_with(entity)) {
        return Some(Escape { byte: Some(*byte), length: start + name.len() });
    }
    let end = name.iter().take(5).position(|byte| *byte == b';').filter(|_| name[0] == b'#');
    let number = end.and_then(|end| str::from_utf8(&name[1..end]).ok());
    let code = number.and_then(|number| match number.strip_prefix(['x', 'X']) {
        Some(number) => u8::from_str_radix(number, 16).ok(),
        None => number.parse().ok(),
    });
    match code {
        Some(code) => shown(code, start + end? + 1),
        None => (rounds > 0).then_some(Escape { byte: Some(b'&'), length: start }),
    }
}

/// `[31m`, after an escape character of that length.
fn color(rest: &[u8], length: usize) -> Option<Escape> {
    let sequence = rest[length..].strip_prefix(b"[")?;
    let parameters = sequence
        .iter()
        .take(MAX_COLOR)
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b':' | b'?'))
        .count();
    let is_whole = sequence.get(parameters).is_some_and(u8::is_ascii_alphabetic);
    is_whole.then_some(Escape { byte: None, length: length + 1 + parameters + 1 })
}

/// Characters that are written; others are left as they are, since half a character is none.
fn shown(byte: u8, length: usize) -> Option<Escape> {
    matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r').then_some(Escape { byte: Some(byte), length })
}

fn repeats(text: &[u8], part: &[u8]) -> usize {
    text.chunks(part.len()).take(MAX_ROUNDS).take_while(|chunk| *chunk == part).count()
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_mapped_back() {
        for (text, expected) in [
            ("a%3Db", "a=b"),
            ("a%253Db", "a=b"),
            ("100%25", "100%"),
            ("a%E9b 50% %zz", ""),
            ("\\u003d \\\\u0026 \\x22", "= & \""),
            ("\\n \\\" C:\\new", ""),
            ("\x1b[1;31mred\x1b[0m \\u001b[3Xm \\033[0mx", "red m x"),
            ("&quot;&#39;&amp;quot;&#x3D; &str", "\"'\"= &str"),
        ] {
            let parts = parts(text.as_bytes());
            let decoded: Vec<Decoded> = parts.into_iter().map(|part| decode(text.as_bytes(), part)).collect();
            let bytes: Vec<u8> = decoded.iter().flat_map(|part| part.bytes.clone()).collect();
            assert_eq!(String::from_utf8_lossy(&bytes), expected, "{text}");
        }
        let text = b"x %22a\x1b[0m%22 y";
        let decoded = decode(text, 0..text.len());
        assert_eq!(decoded.bytes, b"x \"a\" y");
        assert_eq!((decoded.source(&(2..5)), decoded.source(&(3..4))), (2..13, 5..6));
    }
}
