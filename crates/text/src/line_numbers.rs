//! Strips the line numbers that `cat -n`, editors and the read tools of agents put before each line.

use std::borrow::Cow;

/// The maximum number of digits of a line number.
const DIGITS: usize = 7;
/// The maximum number of lines before the first numbered one: a client's own words about the file.
const HEADER: usize = 4;
/// Fewer numbered lines than this are taken as data.
const FEWEST: usize = 4;

/// The text without its line numbers, if it is one file with consecutive numbers. The number of lines stays the same.
pub fn strip_line_numbers(text: &str) -> Cow<'_, str> {
    // Most texts are not numbered, and are not read further.
    if !text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(HEADER + 1)
        .any(|line| numbered_line(line).is_some())
    {
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
    // OpenCode puts a file between tags.
    let others = if text.starts_with('<') { others.saturating_sub(2 * HEADER) } else { others };
    // A few other lines (a note of the tool) and a few gaps are allowed.
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

/// The line number that the line begins with, if it has one.
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
    fn a_client_may_put_a_few_lines_before_the_file() {
        let shown = "<path>/w/a.rs</path>\n<type>file</type>\n<content>7: use std::fs;\n8: \n9: fn main() {\n10:     run();\n11: }\n\n(End of file)\n</content>";
        let shown =
            shown.to_owned() + &(12..40).map(|number| format!("\n{number}: // {number}")).collect::<String>();
        assert!(strip_line_numbers(&shown).contains("\nfn main() {\n    run();\n}\n"));
        let log = format!("started\n\na\nb\nc\nd\n{}", "1: x\n2: y\n3: z\n4: w\n".repeat(9));
        assert!(matches!(strip_line_numbers(&log), Cow::Borrowed(_)));
    }

    #[test]
    fn consecutive_line_numbers_are_stripped() {
        for mark in ["→", "\t", "│ ", ": ", " | "] {
            let lines = ["use std::fs;", "", "fn main() {", "    run();", "}"];
            let shown: Vec<_> =
                lines.iter().enumerate().map(|(n, line)| format!("{:>6}{mark}{line}", n + 98)).collect();
            assert_eq!(strip_line_numbers(&shown.join("\n")), lines.join("\n"), "{mark}");
        }
        for text in ["12: a\n14: b\n19: c\n20: d", "1\n2\n3\n4\n5", "3 apples\n4 pears\n5 plums\n6 figs", ""]
        {
            assert!(matches!(strip_line_numbers(text), Cow::Borrowed(_)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_number_of_lines_stays(text in "([0-9]{1,3}[:\t→-]|a/b\\.c:|[ a:é-]|\n){0,60}") {
            prop_assert_eq!(strip_line_numbers(&text).matches('\n').count(), text.matches('\n').count());
        }
    }
}
