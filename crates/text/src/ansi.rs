//! Strips ANSI escape sequences: colours, titles, cursor movements.

use std::borrow::Cow;
use std::str::Chars;

/// The first character of every escape sequence. Source files and documents do not contain it.
pub(crate) const ESCAPE: char = '\u{1b}';

/// The text without ANSI escape sequences. The number of lines stays the same.
pub fn strip_ansi_escapes(text: &str) -> Cow<'_, str> {
    let Some((before, mut rest)) = text.split_once(ESCAPE) else { return Cow::Borrowed(text) };
    let mut plain = String::with_capacity(text.len());
    plain.push_str(before);
    loop {
        rest = past_sequence(rest);
        match rest.split_once(ESCAPE) {
            Some((before, after)) => {
                plain.push_str(before);
                rest = after;
            }
            None => {
                plain.push_str(rest);
                return Cow::Owned(plain);
            }
        }
    }
}

/// The text after the sequence that an escape character began. A newline always ends a sequence.
fn past_sequence(text: &str) -> &str {
    let mut letters = text.chars();
    match pass(&mut letters, |next| "[]PX^_()*+".contains(next)) {
        // Control sequence: parameters, then the final letter.
        Some('[') => {
            while pass(&mut letters, |next| matches!(next, ' '..='?')).is_some() {}
            pass(&mut letters, |next| matches!(next, '@'..='~'));
        }
        // A string for the terminal, such as a title, up to its terminator or the end of the line.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while pass(&mut letters, |next| !matches!(next, '\u{7}' | ESCAPE | '\n' | '\u{9c}')).is_some() {}
            if pass(&mut letters, |next| matches!(next, '\u{7}' | '\u{9c}')).is_none()
                && pass(&mut letters, |next| next == ESCAPE).is_some()
            {
                pass(&mut letters, |next| next == '\\');
            }
        }
        // A character set, named by one letter, or a sequence of one letter.
        _ => {
            pass(&mut letters, |next| matches!(next, '0'..='~'));
        }
    }
    letters.as_str()
}

/// Consumes the next character if it is accepted.
fn pass(letters: &mut Chars<'_>, belongs: impl Fn(char) -> bool) -> Option<char> {
    let next = letters.clone().next().filter(|&next| belongs(next))?;
    letters.next();
    Some(next)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_sequences_are_stripped() {
        for (shown, plain) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("a\u{1b}]0;title\u{7}b\u{1b}]8;;x\u{1b}\\c", "abc"),
            ("\u{1b}(Bc\u{1b}7d", "cd"),
            ("tail\u{1b}", "tail"),
            ("\u{1b}[201~Enter\u{1b}[", "Enter"),
            ("\u{1b}]0;no end\nnext", "\nnext"),
            ("\u{1b}\nnext", "\nnext"),
            ("plain", "plain"),
        ] {
            assert_eq!(strip_ansi_escapes(shown), plain, "{shown:?}");
        }
    }

    proptest! {
        #[test]
        fn the_number_of_lines_stays(text in "([a-c\u{1b}\\[\\]m;0é\u{7}\n]|\u{1b}\\[0m){0,40}") {
            let plain = strip_ansi_escapes(&text);
            prop_assert!(!plain.contains(ESCAPE));
            prop_assert_eq!(plain.matches('\n').count(), text.matches('\n').count());
        }
    }
}
