//! A text as it reads: without what tools add to every line for a terminal or for finding it again: colours, numbers.
//!
//! Line for line the same text, so that what is decided for a line of it holds for the line as it was written.

use std::borrow::Cow;

use tamis_text::{line_number, without_escapes, without_line_numbers};

/// What the engine reads in place of a text.
pub struct View<'a> {
    /// The text as it was written, where escape sequences were left out: a broken one may hide more than itself.
    pub(crate) hidden: Option<&'a str>,
    pub(crate) text: Cow<'a, str>,
    /// Bytes of each line as it was written, its newline included.
    pub(crate) bytes: Vec<usize>,
    /// Of a listing: the number that was taken from each line. Else nothing.
    numbers: Vec<Option<u64>>,
}

impl<'a> View<'a> {
    pub fn of(written: &'a str) -> View<'a> {
        let plain = without_escapes(written);
        let hidden = matches!(plain, Cow::Owned(_)).then_some(written);
        let bytes = written.split('\n').map(|line| line.len() + 1).collect();
        let (text, numbers) = match without_line_numbers(&plain) {
            Cow::Owned(text) => (Cow::Owned(text), plain.split('\n').map(line_number).collect()),
            Cow::Borrowed(_) => (plain, Vec::new()),
        };
        View { hidden, text, bytes, numbers }
    }

    /// The lines of a listing whose number the goal names. Rows of data that begin with a key look like a listing too, and
    /// whoever asks for a line or a key has no other word for it.
    pub(crate) fn named_by(&self, goal: &str) -> Vec<usize> {
        if self.numbers.is_empty() {
            return Vec::new();
        }
        let mut named: Vec<u64> = goal
            .split(|letter: char| !letter.is_alphanumeric())
            .filter_map(|word| word.parse().ok())
            .collect();
        named.sort_unstable();
        let is_named =
            |line: &usize| self.numbers[*line].is_some_and(|number| named.binary_search(&number).is_ok());
        (0..self.numbers.len()).filter(is_named).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_seen_plain_and_counted_as_written() {
        let listing = View::of("1→a\n2→b\n3→\u{1b}[1mc\u{1b}[0m\n4→d");
        assert_eq!(listing.text, "a\nb\nc\nd");
        assert_eq!(listing.bytes, [6, 6, 14, 6]);
        assert_eq!(listing.named_by("lines 2, 4 and x3"), [1, 3]);
        assert!(View::of("2 a\n3 b").named_by("line 2").is_empty());
        assert!(matches!(View::of("fn main() {}\n").text, Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn lines_are_one_to_one(text in "(\u{1b}(\\]|\\[|P|\\[0m)?|[0-9]{1,2}[→:\t]|1→|2→|3→|[a\u{feff}\u{7}]|\r\n|\r|\n){0,80}") {
            let view = View::of(&text);
            let written: Vec<&str> = text.split('\n').collect();
            prop_assert_eq!(view.text.split('\n').count(), written.len());
            prop_assert_eq!(&view.bytes, &written.iter().map(|line| line.len() + 1).collect::<Vec<_>>());
            prop_assert!(view.numbers.is_empty() || view.numbers.len() == written.len());
        }
    }
}
