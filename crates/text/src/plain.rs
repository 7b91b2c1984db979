//! Text of others that is shown to people.

/// On one line, without what could do something to a terminal or make text look like another.
pub fn plain_line(text: &str) -> String {
    let text: String = text.chars().map(|letter| if is_odd(letter) { ' ' } else { letter }).collect();
    text.trim().to_owned()
}

/// Of several lines, likewise. Lines end as they do everywhere.
pub fn plain_text(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.chars().filter(|&letter| matches!(letter, '\n' | '\t') || !is_odd(letter)).collect()
}

/// Control characters, and those that turn the direction of writing or cannot be seen. A joiner is part of many a script
/// and emoji, and stays.
pub fn is_odd(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The text, or its beginning with a sign that there is more.
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
    fn only_what_can_be_seen_is_left() {
        assert_eq!(plain_line(" a\u{1b}[31m\r\n\u{202e}b\0 "), "a [31m   b");
        assert_eq!(plain_text("a\r\n\tb\u{7}\n\u{feff}é👩\u{200d}🚀"), "a\n\tb\né👩\u{200d}🚀");
        assert_eq!((shortened("abc", 3), shortened("abcd", 3)), ("abc".into(), "ab…".into()));
    }
}
