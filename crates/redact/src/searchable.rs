//! Text as searches compare it: what is shown, without the secrets and without their marks.
//!
//! A search that compared the original would tell whether a secret matches, and halving reads it out. The words of marks
//! must not match either: then everything that matches here is in the original too, so an index of the original may
//! select what is compared without changing the answer.

use std::borrow::Cow;

use crate::{MARK, Redacted, Redactor};

/// What stands for a secret. It is no character, so no text has it.
const HIDDEN: char = '\u{FFFF}';

impl Redacted {
    /// The text with one character, which no query has, in place of each mark.
    pub fn searchable(&self) -> Cow<'_, str> {
        searchable(self)
    }

    /// Where `find` finds something in [`Redacted::searchable`], as an offset into this text.
    pub fn find_searchable(&self, find: impl FnOnce(&str) -> Option<usize>) -> Option<usize> {
        let mut at = find(&self.searchable())?;
        for (start, length) in marks(self) {
            if at <= start {
                break;
            }
            at = (at + length).saturating_sub(HIDDEN.len_utf8()).max(start);
        }
        Some(self.floor_char_boundary(at))
    }
}

/// The contents of a file as [`Redacted::searchable`] gives them. Lines stay where they are.
pub fn searchable_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    let text = String::from_utf8_lossy(bytes);
    match searchable(&Redactor::standard().redact(&text)) {
        // Nothing is hidden.
        same if same == text => Cow::Borrowed(bytes),
        hidden => Cow::Owned(hidden.into_owned().into_bytes()),
    }
}

fn searchable(redacted: &str) -> Cow<'_, str> {
    let mut hidden = String::new();
    let mut from = 0;
    for (start, length) in marks(redacted) {
        hidden.push_str(&redacted[from..start]);
        hidden.push(HIDDEN);
        from = start + length;
    }
    if from == 0 {
        return Cow::Borrowed(redacted);
    }
    hidden.push_str(&redacted[from..]);
    Cow::Owned(hidden)
}

/// Where the marks of a text are, and how long.
fn marks(text: &str) -> impl Iterator<Item = (usize, usize)> {
    text.match_indices(MARK).filter_map(|(start, _)| {
        let label = &text[start + MARK.len()..];
        let length = label
            .bytes()
            .take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-' || byte.is_ascii_digit())
            .count();
        (length > 0 && label[length..].starts_with(']')).then_some((start, MARK.len() + length + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_one_character_and_places_are_mapped_back() {
        let text = Redacted::from("é password=hunter2! and DB_PASSWORD=hunter3! end [redacted:");
        assert_eq!(text.searchable(), "é password=\u{FFFF} and DB_PASSWORD=\u{FFFF} end [redacted:");
        for word in ["password", "and", "DB_", "end", "[redacted:"] {
            let at = text.find_searchable(|text| text.find(word));
            assert_eq!(at, if word == "[redacted:" { text.rfind(word) } else { text.find(word) }, "{word}");
        }
        assert_eq!(text.find_searchable(|text| text.find("hunter")), None);
        assert_eq!(searchable_bytes(b"\xff plain"), Cow::<[u8]>::Borrowed(b"\xff plain"));
        assert_eq!(
            searchable_bytes(b"\xff token=Zq7Lk2Xv9Rb4Tn8W\n").iter().filter(|byte| **byte == b'\n').count(),
            1
        );
    }
}
