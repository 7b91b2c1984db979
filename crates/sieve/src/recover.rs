//! Recovery: lines of an original, by their numbers.

use std::io::{self, BufRead, Read};

use serde::{Deserialize, Serialize};
use tamis_text::split_lines;

use crate::render::number_line;

/// Lines of an original: 1-based, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LineRange {
    pub start_line: u64,
    pub end_line: u64,
}

/// Recovered lines; on the wire, the output of `recover_text`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecoveredText {
    pub raw_text: String,
    pub metadata: RecoveredMetadata,
}

/// Where the lines come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecoveredMetadata {
    pub prune_id: String,
    /// The requested ranges in their order, clamped to the text.
    pub ranges: Vec<LineRange>,
    /// Always [`RecoveredMetadata::NUMBERING`].
    pub line_numbering: &'static str,
}

impl RecoveredMetadata {
    pub const NUMBERING: &'static str = "original";
}

/// Why nothing was recovered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    #[error("no original is stored for `{}`: the id is unknown or has expired", prune_id.escape_debug())]
    NotFound { prune_id: String },
    #[error("`{}` is the beginning of {count} prune ids", prune_id.escape_debug())]
    Ambiguous { prune_id: String, count: usize },
    #[error("cannot recover lines {} to {}{}", range.0, range.1, of_lines(*lines))]
    InvalidRange {
        range: (i64, i64),
        /// The number of lines of the original, if the range is beyond it.
        lines: Option<usize>,
        /// Whether the last of these lines is the empty one after the last newline.
        ends_in_newline: bool,
    },
    #[error("the requested lines exceed {limit} bytes")]
    TooLarge { limit: usize },
    #[error("cannot read the original: {why}")]
    Unavailable { why: String },
}

impl RecoverError {
    /// What the caller can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            RecoverError::NotFound { .. } => Some("read the source again, or prune it again for a new id"),
            RecoverError::Ambiguous { .. } => Some("use more of the id"),
            RecoverError::InvalidRange { .. } => {
                Some("request ranges with 1 <= start_line <= end_line, within the text")
            }
            RecoverError::TooLarge { .. } => Some("request fewer lines at once, and no line twice"),
            RecoverError::Unavailable { .. } => Some("read the source again"),
        }
    }
}

fn of_lines(lines: Option<usize>) -> String {
    lines.map(|lines| format!(" of a text of {lines} lines")).unwrap_or_default()
}

/// Ranges may repeat lines, but the result is at most this much larger than the text, so that a small request cannot
/// produce a huge answer.
const REPEATED_BYTES: usize = 1 << 20;

/// What is recovered from a large text at once.
const STREAMED_BYTES: usize = 64 << 20;

/// The lines of `ranges`, joined by `\n`.
pub(crate) fn extract(
    prune_id: &str,
    text: &str,
    ranges: &[(i64, i64)],
    numbered: bool,
) -> Result<RecoveredText, RecoverError> {
    let lines = split_lines(text);
    let mut prefix = String::new();
    number_line(&mut prefix, lines.len());
    let whole = text.len() + if numbered { lines.len() * prefix.len() } else { 0 };
    let limit = whole + REPEATED_BYTES;
    let mut raw_text = String::new();
    let mut clamped = Vec::with_capacity(ranges.len());
    for (index, &range) in ranges.iter().enumerate() {
        let (start, end) = clamp(range, &lines)?;
        if index > 0 {
            raw_text.push('\n');
        }
        for number in start..=end {
            if number > start {
                raw_text.push('\n');
            }
            if numbered {
                number_line(&mut raw_text, number);
            }
            raw_text.push_str(lines[number - 1]);
            if raw_text.len() > limit {
                return Err(RecoverError::TooLarge { limit });
            }
        }
        clamped.push(LineRange { start_line: start as u64, end_line: end as u64 });
    }
    let line_numbering = RecoveredMetadata::NUMBERING;
    let metadata = RecoveredMetadata { prune_id: prune_id.to_owned(), ranges: clamped, line_numbering };
    Ok(RecoveredText { raw_text, metadata })
}

/// The same for a text of any size. The lines of all ranges together are bounded.
pub(crate) fn extract_streamed(
    prune_id: &str,
    mut text: impl BufRead,
    ranges: &[(i64, i64)],
    numbered: bool,
) -> io::Result<Result<RecoveredText, RecoverError>> {
    let invalid =
        |range, lines, ends_in_newline| RecoverError::InvalidRange { range, lines, ends_in_newline };
    if let Some(&range) = ranges.iter().find(|range| range.0 < 1 || range.1 < range.0) {
        return Ok(Err(invalid(range, None, false)));
    }
    let mut parts = vec![String::new(); ranges.len()];
    let mut bytes = 0;
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_by_key(|&index| ranges[index].0);
    let mut waiting = order.into_iter().peekable();
    let mut open: Vec<usize> = Vec::new();
    let mut line = Vec::new();
    let mut number = 0usize;
    let mut ends_in_newline = true;
    while ends_in_newline {
        line.clear();
        number += 1;
        let at = number as i64;
        while let Some(index) = waiting.next_if(|&index| ranges[index].0 == at) {
            open.push(index);
        }
        if open.is_empty() {
            ends_in_newline = skip_line(&mut text)?;
            continue;
        }
        (&mut text).take(STREAMED_BYTES as u64 + 1).read_until(b'\n', &mut line)?;
        ends_in_newline = line.pop_if(|last| *last == b'\n').is_some();
        for &index in &open {
            let part = &mut parts[index];
            if at > ranges[index].0 {
                part.push('\n');
            }
            if numbered {
                number_line(part, number);
            }
            part.push_str(&String::from_utf8_lossy(&line));
            bytes += line.len() + 1;
        }
        if bytes > STREAMED_BYTES {
            return Ok(Err(RecoverError::TooLarge { limit: STREAMED_BYTES }));
        }
        open.retain(|&index| ranges[index].1 > at);
    }
    if let Some(index) = waiting.next() {
        return Ok(Err(invalid(ranges[index], Some(number), true)));
    }
    let clamped = ranges.iter().map(|range| LineRange {
        start_line: range.0.unsigned_abs(),
        end_line: range.1.unsigned_abs().min(number as u64),
    });
    let metadata = RecoveredMetadata {
        prune_id: prune_id.to_owned(),
        ranges: clamped.collect(),
        line_numbering: RecoveredMetadata::NUMBERING,
    };
    Ok(Ok(RecoveredText { raw_text: parts.join("\n"), metadata }))
}

/// Skips the rest of a line, and returns whether a newline ends it.
fn skip_line(text: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let buffer = text.fill_buf()?;
        if buffer.is_empty() {
            return Ok(false);
        }
        let end = memchr::memchr(b'\n', buffer);
        let length = end.map_or(buffer.len(), |end| end + 1);
        text.consume(length);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// Clamps a range to a text of these lines. A range may end beyond the text, but not begin there.
fn clamp(range: (i64, i64), lines: &[&str]) -> Result<(usize, usize), RecoverError> {
    let (start, end) = range;
    let ends_in_newline = lines.last().is_some_and(|line| line.is_empty());
    if start < 1 || end < start {
        return Err(RecoverError::InvalidRange { range, lines: None, ends_in_newline });
    }
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    if start > lines.len() {
        return Err(RecoverError::InvalidRange { range, lines: Some(lines.len()), ends_in_newline });
    }
    Ok((start, usize::try_from(end).unwrap_or(usize::MAX).min(lines.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalid(range: (i64, i64), lines: Option<usize>) -> Result<RecoveredText, RecoverError> {
        Err(RecoverError::InvalidRange { range, lines, ends_in_newline: false })
    }

    fn extract(text: &str, ranges: &[(i64, i64)], numbered: bool) -> Result<RecoveredText, RecoverError> {
        super::extract("prn_x", text, ranges, numbered)
    }

    #[test]
    fn ranges_keep_their_order_and_are_clamped_to_the_text() {
        let recovered = extract("a\nb\r\n\nd", &[(3, 99), (1, 2), (2, 2)], true).unwrap();
        let range = |start_line, end_line| LineRange { start_line, end_line };
        let metadata = |ranges| RecoveredMetadata {
            prune_id: "prn_x".into(),
            ranges,
            line_numbering: RecoveredMetadata::NUMBERING,
        };
        assert_eq!(
            recovered,
            RecoveredText {
                raw_text: "3│ \n4│ d\n1│ a\n2│ b\r\n2│ b\r".into(),
                metadata: metadata(vec![range(3, 4), range(1, 2), range(2, 2)]),
            }
        );
        assert_eq!(extract("a\nb", &[(1, i64::MAX)], false).unwrap().raw_text, "a\nb");
        let nothing = RecoveredText { raw_text: String::new(), metadata: metadata(vec![]) };
        assert_eq!(extract("a", &[], true).unwrap(), nothing);
    }

    #[test]
    fn invalid_ranges_are_refused() {
        for range in [(0, 1), (-3, 2), (2, 1), (i64::MIN, i64::MAX)] {
            assert_eq!(extract("a\nb", &[(1, 1), range], false), invalid(range, None));
        }
        assert_eq!(extract("a\nb", &[(3, 3)], false), invalid((3, 3), Some(2)));
        assert_eq!(extract("a\nb", &[(i64::MAX, i64::MAX)], false), invalid((i64::MAX, i64::MAX), Some(2)));
    }

    #[test]
    fn the_result_is_bounded_and_the_whole_text_always_fits() {
        let text = "x".repeat(REPEATED_BYTES);
        let limit = 2 * REPEATED_BYTES;
        assert_eq!(extract(&text, &[(1, 1); 2], false), Err(RecoverError::TooLarge { limit }));
        assert!(extract("x", &[(1, 1); 1000], false).is_ok());
        let long = format!("{}\n{}", "x".repeat(4 << 20), "y".repeat(3 << 20));
        for numbered in [false, true] {
            assert!(extract(&long, &[(1, 2)], numbered).unwrap().raw_text.len() >= long.len());
            assert!(matches!(
                extract(&long, &[(1, 2), (1, 1)], numbered),
                Err(RecoverError::TooLarge { .. })
            ));
        }
    }
}
