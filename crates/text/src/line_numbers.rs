//! A file as tools show it, with a number before each line: `cat -n`, the view of an agent or an editor.

use std::borrow::Cow;

/// A number is no longer than this.
const DIGITS: usize = 7;
/// Fewer lines than this are not called a listing.
const FEWEST: usize = 4;

/// The text without the numbers before its lines, where it is one file with its lines numbered one after another. Every
/// line stays a line.
pub fn without_line_numbers(text: &str) -> Cow<'_, str> {
    let first = text.trim_start().bytes().next();
    if !first.is_some_and(|byte| byte.is_ascii_digit()) {
        return Cow::Borrowed(text);
    }
    let (mut numbered, mut following, mut others, mut last) = (0, 0, 0, None);
    for line in text.split('\n') {
        match numbered_line(line) {
            Some((number, _)) => {
                numbered += 1;
                following += usize::from(last.is_none_or(|last| number == last + 1));
                last = Some(number);
            }
            None => others += usize::from(!line.trim().is_empty()),
        }
    }
    // A note of the tool before or after, or a line that was left out, makes no difference.
    if numbered < FEWEST || following * 20 < numbered * 19 || others * 10 > numbered {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            plain.push('\n');
        }
        plain.push_str(numbered_line(line).map_or(line, |(_, content)| content));
    }
    Cow::Owned(plain)
}

/// The number that a tool put before the line, if it looks like one.
pub fn line_number(line: &str) -> Option<u64> {
    numbered_line(line).map(|(number, _)| number)
}

/// `  12→content`, `12<tab>content`, `12│ content`, `12: content`, `12 | content`.
fn numbered_line(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=DIGITS).contains(&digits) {
        return None;
    }
    let (number, rest) = line.split_at(digits);
    let content = ["→", "\t", "│ ", "│", ": ", ":", " | ", " |", "| ", "|"]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark));
    Some((number.parse().ok()?, content?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_of_a_listing_are_left_out() {
        for mark in ["→", "\t", "│ ", ": ", " | "] {
            let lines = ["use std::fs;", "", "fn main() {", "    run();", "}"];
            let shown: Vec<_> =
                lines.iter().enumerate().map(|(n, line)| format!("{:>6}{mark}{line}", n + 98)).collect();
            assert_eq!(without_line_numbers(&shown.join("\n")), lines.join("\n"), "{mark}");
        }
        for text in ["12: a\n14: b\n19: c\n20: d", "1\n2\n3\n4\n5", "3 apples\n4 pears\n5 plums\n6 figs", ""]
        {
            assert!(matches!(without_line_numbers(text), Cow::Borrowed(_)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_line_stays_a_line(text in "([0-9]{1,3}[:\t→-]|a/b\\.c:|[ a:é-]|\n){0,60}") {
            prop_assert_eq!(without_line_numbers(&text).matches('\n').count(), text.matches('\n').count());
        }
    }
}
