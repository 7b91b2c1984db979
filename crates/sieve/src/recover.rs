//! Lines of an original, by their numbers.

use serde::{Deserialize, Serialize};
use tamis_text::split_lines;

use crate::render::number_line;

/// Lines of an original: 1-based, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LineRange {
    pub start_line: u64,
    pub end_line: u64,
}

/// What was asked back; on the wire, the output of `recover_text`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recovered {
    pub raw_text: String,
    pub metadata: RecoveredFrom,
}

/// Where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecoveredFrom {
    pub prune_id: String,
    /// The ranges in the order asked, ending with the text at the latest.
    pub ranges: Vec<LineRange>,
    /// Always [`RecoveredFrom::NUMBERING`].
    pub line_numbering: &'static str,
}

impl RecoveredFrom {
    pub const NUMBERING: &'static str = "original";
}

/// Why nothing came back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    #[error("no original is kept for {prune_id:?}: the id is unknown or has expired")]
    NotFound { prune_id: String },
    #[error("lines {} to {} cannot be recovered{}", range.0, range.1, of_lines(*lines))]
    InvalidRange {
        range: (i64, i64),
        /// How many lines the original has, when that is why.
        lines: Option<usize>,
    },
    #[error("the lines asked for make more than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("the original cannot be read: {why}")]
    Unavailable { why: String },
}

impl RecoverError {
    /// What the reader can do, where there is something.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            RecoverError::NotFound { .. } => Some("read the source again, or prune it again for a new id"),
            RecoverError::InvalidRange { .. } => {
                Some("ask for ranges with 1 <= start_line <= end_line, within the text")
            }
            RecoverError::TooLarge { .. } => Some("ask for fewer lines at once, and for none twice"),
            RecoverError::Unavailable { .. } => Some("read the source again"),
        }
    }
}

fn of_lines(lines: Option<usize>) -> String {
    lines.map(|lines| format!(" of a text of {lines} lines")).unwrap_or_default()
}

/// Ranges may repeat lines, but the answer is at most this much larger than the whole text: a small request must not
/// be able to ask for a huge answer.
const REPEATED_BYTES: usize = 1 << 20;

/// The lines of `ranges`, joined by `\n`.
pub(crate) fn extract(
    prune_id: &str,
    text: &str,
    ranges: &[(i64, i64)],
    numbered: bool,
) -> Result<Recovered, RecoverError> {
    let lines = split_lines(text);
    let mut prefix = String::new();
    number_line(&mut prefix, lines.len());
    let whole = text.len() + if numbered { lines.len() * prefix.len() } else { 0 };
    let limit = whole + REPEATED_BYTES;
    let mut raw_text = String::new();
    let mut clamped = Vec::with_capacity(ranges.len());
    for (index, &range) in ranges.iter().enumerate() {
        let (start, end) = clamp(range, lines.len())?;
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
    let line_numbering = RecoveredFrom::NUMBERING;
    let metadata = RecoveredFrom { prune_id: prune_id.to_owned(), ranges: clamped, line_numbering };
    Ok(Recovered { raw_text, metadata })
}

/// The range within a text of `lines` lines. It may end beyond the text, but not begin there.
fn clamp(range: (i64, i64), lines: usize) -> Result<(usize, usize), RecoverError> {
    let (start, end) = range;
    if start < 1 || end < start {
        return Err(RecoverError::InvalidRange { range, lines: None });
    }
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    if start > lines {
        return Err(RecoverError::InvalidRange { range, lines: Some(lines) });
    }
    Ok((start, usize::try_from(end).unwrap_or(usize::MAX).min(lines)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalid(range: (i64, i64), lines: Option<usize>) -> Result<Recovered, RecoverError> {
        Err(RecoverError::InvalidRange { range, lines })
    }

    fn extract(text: &str, ranges: &[(i64, i64)], numbered: bool) -> Result<Recovered, RecoverError> {
        super::extract("prn_x", text, ranges, numbered)
    }

    #[test]
    fn ranges_keep_their_order_and_end_with_the_text() {
        let recovered = extract("a\nb\r\n\nd", &[(3, 99), (1, 2), (2, 2)], true).unwrap();
        let range = |start_line, end_line| LineRange { start_line, end_line };
        let metadata = |ranges| RecoveredFrom {
            prune_id: "prn_x".into(),
            ranges,
            line_numbering: RecoveredFrom::NUMBERING,
        };
        assert_eq!(
            recovered,
            Recovered {
                raw_text: "3│ \n4│ d\n1│ a\n2│ b\r\n2│ b\r".into(),
                metadata: metadata(vec![range(3, 4), range(1, 2), range(2, 2)]),
            }
        );
        assert_eq!(extract("a\nb", &[(1, i64::MAX)], false).unwrap().raw_text, "a\nb");
        let nothing = Recovered { raw_text: String::new(), metadata: metadata(vec![]) };
        assert_eq!(extract("a", &[], true).unwrap(), nothing);
    }

    #[test]
    fn impossible_ranges_are_named() {
        for range in [(0, 1), (-3, 2), (2, 1), (i64::MIN, i64::MAX)] {
            assert_eq!(extract("a\nb", &[(1, 1), range], false), invalid(range, None));
        }
        assert_eq!(extract("a\nb", &[(3, 3)], false), invalid((3, 3), Some(2)));
        assert_eq!(extract("a\nb", &[(i64::MAX, i64::MAX)], false), invalid((i64::MAX, i64::MAX), Some(2)));
    }

    #[test]
    fn an_answer_is_bounded_and_the_whole_text_is_always_given() {
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
