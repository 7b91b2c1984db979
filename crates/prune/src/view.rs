//! A text as it reads: without what tools add to every line for a terminal or for finding it again: colours, numbers.
//!
//! Line for line the same text, so that what is decided for a line of it holds for the line as it was written.

use std::borrow::Cow;

use tamis_text::{without_escapes, without_line_numbers};

/// What the engine reads in place of a text.
pub struct View<'a> {
    written: &'a str,
    pub(crate) text: Cow<'a, str>,
    /// Bytes of each line as it was written, its newline included.
    pub(crate) bytes: Vec<usize>,
}

impl<'a> View<'a> {
    pub fn of(written: &'a str) -> View<'a> {
        let plain = without_escapes(written);
        let text = match without_line_numbers(&plain) {
            Cow::Owned(text) => Cow::Owned(text),
            Cow::Borrowed(_) => plain,
        };
        View { written, text, bytes: written.split('\n').map(|line| line.len() + 1).collect() }
    }

    /// The text as it was written, where it is not what the engine reads.
    pub(crate) fn hidden(&self) -> Option<&'a str> {
        matches!(self.text, Cow::Owned(_)).then_some(self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_seen_plain_and_counted_as_written() {
        let listing = View::of("1→a\n2→b\n3→\u{1b}[1mc\u{1b}[0m\n4→d");
        assert_eq!(listing.text, "a\nb\nc\nd");
        assert_eq!(listing.bytes, [6, 6, 14, 6]);
        assert!(matches!(View::of("fn main() {}\n").text, Cow::Borrowed(_)));
    }
}
