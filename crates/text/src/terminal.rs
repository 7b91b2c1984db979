//! What programs write for a terminal and not for a reader: colours, titles, cursor movements.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::CharIndices;

/// What every escape sequence begins with. No source file and no document has it but by mistake.
pub(crate) const ESCAPE: char = '\u{1b}';

/// The text without the escape sequences of terminals. Every line stays a line.
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.char_indices().peekable();
    while let Some((_, letter)) = letters.next() {
        if letter == ESCAPE {
            pass_sequence(&mut letters);
        } else {
            plain.push(letter);
        }
    }
    Cow::Owned(plain)
}

/// Passes what belongs to the escape character before it. A newline never does, not even in a sequence without an end.
fn pass_sequence(letters: &mut Peekable<CharIndices<'_>>) {
    let mut pass =
        |belongs: fn(char) -> bool| letters.next_if(|&(_, next)| belongs(next)).map(|(_, next)| next);
    match pass(|next| "[]PX^_()*+".contains(next)) {
        // Its parameters, up to the letter that says what it does.
        Some('[') => {
            while pass(|next| matches!(next, ' '..='?')).is_some() {}
            pass(|next| matches!(next, '@'..='~'));
        }
        // A character set, named by one letter.
        Some('(' | ')' | '*' | '+') => drop(pass(|next| matches!(next, '0'..='~'))),
        // A text for the terminal, such as a title, up to its end; one that has none ends with its line.
        Some(_) => {
            while pass(|next| !matches!(next, '\u{7}' | ESCAPE | '\n' | '\u{9c}')).is_some() {}
            if pass(|next| matches!(next, '\u{7}' | '\u{9c}')).is_none()
                && pass(|next| next == ESCAPE).is_some()
            {
                pass(|next| next == '\\');
            }
        }
        None => drop(pass(|next| matches!(next, '0'..='~'))),
    }
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
