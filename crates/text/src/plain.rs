//! Makes untrusted text safe to show to people.

/// The text on one line, without characters that could control a terminal or disguise the text.
pub fn plain_line(text: &str) -> String {
    let text: String = text.chars().map(|letter| if is_odd(letter) { ' ' } else { letter }).collect();
    text.trim().to_owned()
}

/// The text without such characters. Newlines and tabs stay, and CRLF becomes LF.
pub fn plain_text(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.chars().filter(|&letter| matches!(letter, '\n' | '\t') || !is_odd(letter)).collect()
}

/// Control characters, invisible characters and those that change the writing direction. Joiners are allowed: many scripts
/// and emoji need them.
pub fn is_odd(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The text, truncated to `most` characters with an ellipsis.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_are_removed() {
        assert_eq!(plain_line(" a\u{1b}[31m\r\n\u{202e}b\0 "), "a [31m   b");
        assert_eq!(plain_text("a\r\n\tb\u{7}\n\u{feff}é👩\u{200d}🚀"), "a\n\tb\né👩\u{200d}🚀");
        assert_eq!((shortened("abc", 3), shortened("abcd", 3)), ("abc".into(), "ab…".into()));
    }
}
