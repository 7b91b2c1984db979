//! What programs write for a terminal and not for a reader: colours, titles, cursor movements.

use std::borrow::Cow;
use std::str::Chars;

/// What every escape sequence begins with. No source file and no document has it but by mistake.
pub(crate) const ESCAPE: char = '\u{1b}';

/// The text without the escape sequences of terminals. Every line stays a line.
pub fn without_escapes(text: &str) -> Cow<'_, str> {
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

/// What follows an escape character and is not part of its sequence. A newline never is, not even of one without an end.
fn past_sequence(text: &str) -> &str {
    let mut letters = text.chars();
    match pass(&mut letters, |next| "[]PX^_()*+".contains(next)) {
        // Its parameters, up to the letter that says what it does.
        Some('[') => {
            while pass(&mut letters, |next| matches!(next, ' '..='?')).is_some() {}
            pass(&mut letters, |next| matches!(next, '@'..='~'));
        }
        // A text for the terminal, such as a title, up to its end; one that has none ends with its line.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while pass(&mut letters, |next| !matches!(next, '\u{7}' | ESCAPE | '\n' | '\u{9c}')).is_some() {}
            if pass(&mut letters, |next| matches!(next, '\u{7}' | '\u{9c}')).is_none()
                && pass(&mut letters, |next| next == ESCAPE).is_some()
            {
                pass(&mut letters, |next| next == '\\');
            }
        }
        // A character set, named by one letter, or a sequence that is one letter.
        _ => {
            pass(&mut letters, |next| matches!(next, '0'..='~'));
        }
    }
    letters.as_str()
}

/// Takes the next letter if it is of the right sort.
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
    fn sequences_are_left_out_whole() {
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
            assert_eq!(without_escapes(shown), plain, "{shown:?}");
        }
    }

    proptest! {
        #[test]
        fn every_line_stays_a_line(text in "([a-c\u{1b}\\[\\]m;0é\u{7}\n]|\u{1b}\\[0m){0,40}") {
            let plain = without_escapes(&text);
            prop_assert!(!plain.contains(ESCAPE));
            prop_assert_eq!(plain.matches('\n').count(), text.matches('\n').count());
        }
    }
}
