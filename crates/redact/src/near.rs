//! Random strings on the line of a name that announces a secret, with nothing that joins the two:
//! `# the staging token, renewed: …`.

use std::ops::Range;

use super::judge;
use super::randomness::Shape;

/// How far from the name, and how long.
const HINT_REACH: usize = 96;
const LONGEST: usize = 200;

/// A string that is surely random, on the line and after `from`, where the name ends.
pub(super) fn random_after(text: &[u8], from: usize) -> Option<Range<usize>> {
    let line = &text[from..text.len().min(from + HINT_REACH + LONGEST)];
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    // Beyond what has been hidden before, nothing is near.
    let line = &line[..memchr::memmem::find(line, super::MARK.as_bytes()).unwrap_or(line.len())];
    let part =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.');
    let mut at = 0;
    while at < line.len().min(HINT_REACH) {
        let length = line[at..].iter().position(|byte| !part(byte)).unwrap_or(line.len() - at);
        let opened = at > 0 && matches!(line[at - 1], b' ' | b'"' | b'\'' | b'`' | b'(' | b':' | b'=');
        if opened && length >= 24 && is_secret(&line[at..at + length]) && !has_other_name(&line[..at]) {
            return Some(from + at..from + at + length);
        }
        at += length + 1;
    }
    None
}

/// Random, and not a path, a file name or a list of words.
fn is_secret(value: &[u8]) -> bool {
    let pieces = value.split(|byte| matches!(byte, b'.' | b'-' | b'_' | b'+' | b'='));
    value.len() <= LONGEST
        && !value.contains(&b'/')
        && pieces.map(<[u8]>::len).max().is_some_and(|longest| longest >= 20)
        && Shape::of(value).is_surely_random()
        && !judge::is_stand_in(value)
}

/// Endings of names of what looks random but is not a secret.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "id", "hash", "sum", "sha", "h1", "sha1", "sha256", "sha512", "md5", "digest", "integrity", "version", "url", "etag", "nonce", "signature",
    "commit", "rev", "fingerprint", "cursor",
];

/// Whether what ends here is another name and a sign, and that name is of something else.
fn has_other_name(before: &[u8]) -> bool {
    let around = |byte: &u8| matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'\\' | b':' | b'=' | b'(');
    let name = &before[..before.iter().rposition(|byte| !around(byte)).map_or(0, |at| at + 1)];
    OTHERS.iter().any(|other| name.to_ascii_lowercase().ends_with(other.as_bytes()))
}
