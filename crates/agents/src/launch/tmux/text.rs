//! Texts on their way to tmux and back: spelled so that nothing in them is taken for more than text.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A word of a command that tmux executes. At the end of a word a semicolon would part commands.
pub(super) fn argument(word: &OsStr) -> OsString {
    let bytes = word.as_bytes();
    match bytes.strip_suffix(b";") {
        Some(rest) => OsString::from_vec([rest, b"\\;"].concat()),
        None => word.to_owned(),
    }
}

/// A command for the shell that tmux gives a session's output to. It is put through the formats of tmux (`#`) and of
/// strftime (`%`) first, so each byte that could mean something to any of the three is written by its number.
pub(super) fn shell_line(words: &[OsString]) -> String {
    let mut line = "exec".to_owned();
    for word in words {
        line.push_str(" \"$(printf '");
        for byte in word.as_bytes() {
            if byte.is_ascii_alphanumeric() || b"/._".contains(byte) {
                line.push(char::from(*byte));
            } else {
                let _ = write!(line, "\\{byte:03o}");
            }
        }
        line.push_str("')\"");
    }
    line
}

/// What is left of a text without its control characters and the escape sequences of terminals. Lines and tabs stay.
pub fn plain_text(text: &str) -> String {
    let text = tamis_text::strip_ansi_escapes(text);
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' => plain.push(letter),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' => plain.push('\n'),
            letter if letter.is_control() => {}
            letter => plain.push(letter),
        }
    }
    plain
}

/// How much of a text must be seen to know it again. Agents show a short one whole.
const SEEN_LETTERS: usize = 40;

/// How often a screen shows the beginning of a text's first line, wherever it breaks it and whatever frame it draws around.
pub(super) fn occurrences(screen: &str, text: &str) -> usize {
    let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
    let first = text.lines().map(letters).find(|line| !line.is_empty()).unwrap_or_default();
    let beginning: String = first.chars().take(SEEN_LETTERS).collect();
    if beginning.is_empty() { 0 } else { letters(screen).matches(&beginning).count() }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_shell_reads_back_every_word() {
        let hostile = [
            "printf",
            "%s.",
            "a b",
            "$(id)",
            "`id`",
            "it's",
            "\"q\"",
            "#{pane_id}",
            "#[x]",
            "%H%n",
            "-x;",
            "\\",
            "é",
            "a\nb",
        ];
        let words = hostile.map(OsString::from);
        let line = shell_line(&words);
        assert!(!line.contains(['#', '%', '`', '\n', ';']), "{line}");
        let said = Command::new("sh").args(["-c", &line]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&said.stdout), hostile[2..].join(".") + ".");
    }

    #[test]
    fn what_is_for_the_terminal_alone_is_left_out() {
        let shown = "\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7}a\u{1b}]8;;x\u{1b}\\b\u{1b}(Bc\u{1b}7d\r\ne\u{8}\rf\u{9b}";
        assert_eq!(plain_text(shown), "red abcd\ne\nf");
    }

    #[test]
    fn a_text_is_known_again_in_any_frame() {
        let screen = "│ > Feedback from rev │\n│   iew-1-a1-1 is there │\n│ Feedback from │";
        assert_eq!(occurrences(screen, "Feedback from review-1-a1-1 is there."), 1);
        assert_eq!(occurrences(screen, "Feedback from review-1-a1-2 is there."), 0);
        assert_eq!((occurrences(screen, "Feedback"), occurrences(screen, "\n")), (2, 0));
    }

    proptest! {
        #[test]
        fn plain_text_has_no_control_but_lines_and_tabs(text in any::<String>()) {
            let plain = plain_text(&text);
            prop_assert!(plain.chars().all(|letter| !letter.is_control() || letter == '\n' || letter == '\t'));
            prop_assert_eq!(plain_text(&plain), plain);
        }

        #[test]
        fn plain_text_stays_as_it_is(text in "[^\\p{Cc}]*") {
            prop_assert_eq!(plain_text(&text), text);
        }
    }
}
