//! A text without what tools add for display: ANSI escape sequences and line numbers.
//!
//! It has the same lines as the text it was made from, so a decision about one of its lines holds for that line of the
//! input.

use std::borrow::Cow;

use tamis_text::{line_number, strip_ansi_escapes, strip_line_numbers};

/// The text that the engine reads, and what it needs to know about the input.
pub struct PlainText<'a> {
    /// The input, if escape sequences were stripped from it: a broken one may take other text along.
    pub(crate) hidden: Option<&'a str>,
    pub(crate) text: Cow<'a, str>,
    /// Bytes of each line of the input, its newline included.
    pub(crate) bytes: Vec<usize>,
    /// The number stripped from each line, if the input had line numbers; otherwise empty.
    numbers: Vec<Option<u64>>,
}

impl<'a> PlainText<'a> {
    pub fn of(written: &'a str) -> PlainText<'a> {
        let plain = strip_ansi_escapes(written);
        let hidden = matches!(plain, Cow::Owned(_)).then_some(written);
        let bytes = written.split('\n').map(|line| line.len() + 1).collect();
        let (text, numbers) = match strip_line_numbers(&plain) {
            Cow::Owned(text) => (Cow::Owned(text), plain.split('\n').map(line_number).collect()),
            Cow::Borrowed(_) => (plain, Vec::new()),
        };
        PlainText { hidden, text, bytes, numbers }
    }

    /// The lines whose stripped number occurs in the goal. Rows of data that begin with a key look like numbered lines, and a
    /// goal that asks for such a key has no other word for it.
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
    fn escapes_and_numbers_are_stripped_and_bytes_are_of_the_input() {
        let listing = PlainText::of("1→a\n2→b\n3→\u{1b}[1mc\u{1b}[0m\n4→d");
        assert_eq!(listing.text, "a\nb\nc\nd");
        assert_eq!(listing.bytes, [6, 6, 14, 6]);
        assert_eq!(listing.named_by("lines 2, 4 and x3"), [1, 3]);
        assert!(PlainText::of("2 a\n3 b").named_by("line 2").is_empty());
        assert!(matches!(PlainText::of("fn main() {}\n").text, Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn the_number_of_lines_stays(text in "(\u{1b}(\\]|\\[|P|\\[0m)?|[0-9]{1,2}[→:\t]|1→|2→|3→|[a\u{feff}\u{7}]|\r\n|\r|\n){0,80}") {
            let view = PlainText::of(&text);
            let written: Vec<&str> = text.split('\n').collect();
            prop_assert_eq!(view.text.split('\n').count(), written.len());
            prop_assert_eq!(&view.bytes, &written.iter().map(|line| line.len() + 1).collect::<Vec<_>>());
            prop_assert!(view.numbers.is_empty() || view.numbers.len() == written.len());
        }
    }
}
