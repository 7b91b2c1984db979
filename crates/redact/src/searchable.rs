//! Text as searches compare it: what is shown, without the secrets and without their marks.
//!
//! A search that compared the original would tell whether a secret matches, and halving reads it out. The words of marks
//! must not match either: then everything that matches here is in the original too, so an index of the original may
//! select what is compared without changing the answer. What was found may be shown: then the marks come back.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::names::SecretKind;
use crate::rules::RULES;
use crate::{MARK, Redacted, Redactor};

/// What stands for a secret, before two digits that say which mark it had. None of them is a character, so no text has
/// them.
const HIDDEN: char = '\u{FFFF}';
pub(super) const HIDDEN_TEXT: &str = "\u{FFFF}";
const FIRST_DIGIT: u32 = 0xFDD0;
const DIGITS: u32 = 32;
/// Three bytes each.
const HIDDEN_LENGTH: usize = 9;

/// The words of all marks, in order.
static LABELS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut labels = vec!["aws-secret-key", "cookie", "private-key", "url-password"];
    labels.extend(RULES.iter().map(|rule| rule.label));
    labels.extend(SecretKind::ALL.map(SecretKind::label));
    labels.sort_unstable();
    labels.dedup();
    labels
});

impl Redacted {
    /// The text with three characters, which no query has, in place of each mark.
    pub fn searchable(&self) -> Cow<'_, str> {
        searchable(self)
    }

    /// Where `find` finds something in [`Redacted::searchable`], as an offset into this text.
    pub fn find_searchable(&self, find: impl FnOnce(&str) -> Option<usize>) -> Option<usize> {
        let mut at = find(&self.searchable())?;
        for (start, length, _) in marks(self) {
            if at <= start {
                break;
            }
            at = (at + length).saturating_sub(HIDDEN_LENGTH).max(start);
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

/// A part of what [`searchable_bytes`] gave, with the marks of its secrets again.
pub fn with_marks(part: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut from = 0;
    for (start, _) in part.match_indices(HIDDEN) {
        let rest = &part[start..];
        let (length, label) = match hidden_label(rest) {
            Some(label) => (HIDDEN_LENGTH, Some(label)),
            // The part ends here.
            None if rest.chars().skip(1).all(is_digit) => (rest.len(), None),
            None => continue,
        };
        shown.push_str(&part[from..start]);
        shown.push_str(label.map_or("[redacted]", |_| MARK));
        label.iter().for_each(|label| shown.extend([label, "]"]));
        from = start + length;
    }
    if from == 0 {
        return Cow::Borrowed(part);
    }
    shown.push_str(&part[from..]);
    Cow::Owned(shown)
}

/// The word of the mark that what stands for a secret at the start of `text` had.
pub(super) fn hidden_label(text: &str) -> Option<&'static str> {
    let mut characters = text.chars();
    let is_hidden = characters.next() == Some(HIDDEN);
    let mut digit = || u32::from(characters.next()?).checked_sub(FIRST_DIGIT).filter(|digit| *digit < DIGITS);
    let (high, low) = (digit()?, digit()?);
    LABELS.get((high * DIGITS + low) as usize).copied().filter(|_| is_hidden)
}

fn is_digit(character: char) -> bool {
    (FIRST_DIGIT..FIRST_DIGIT + DIGITS).contains(&u32::from(character))
}

fn searchable(redacted: &str) -> Cow<'_, str> {
    let mut hidden = String::new();
    let mut from = 0;
    for (start, length, label) in marks(redacted) {
        hidden.push_str(&redacted[from..start]);
        hidden.push(HIDDEN);
        let digits = [label as u32 / DIGITS, label as u32 % DIGITS];
        hidden.extend(digits.iter().filter_map(|digit| char::from_u32(FIRST_DIGIT + digit)));
        from = start + length;
    }
    if from == 0 {
        return Cow::Borrowed(redacted);
    }
    hidden.push_str(&redacted[from..]);
    Cow::Owned(hidden)
}

/// Where the marks of a text are, how long, and the numbers of their words. Other words are no mark's but the text's own.
fn marks(text: &str) -> impl Iterator<Item = (usize, usize, usize)> {
    text.match_indices(MARK).filter_map(|(start, _)| {
        let label = &text[start + MARK.len()..];
        let length = label
            .bytes()
            .take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-' || byte.is_ascii_digit())
            .count();
        let number = LABELS.binary_search(&&label[..length]).ok()?;
        label[length..].starts_with(']').then_some((start, MARK.len() + length + 1, number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_no_words_and_places_are_mapped_back() {
        let text = Redacted::from("é password=hunter2! and DB_PASSWORD=hunter3! end [redacted:");
        let searchable = text.searchable();
        let plain = searchable.replace(|letter| letter == HIDDEN || is_digit(letter), "");
        assert_eq!(plain, "é password= and DB_PASSWORD= end [redacted:");
        assert_eq!(searchable.chars().count() - plain.chars().count(), 6);
        assert_eq!(with_marks(&searchable), text.as_str());
        assert_eq!(Redactor::standard().redact(&searchable), text.as_str());
        assert_eq!(with_marks("a\u{FFFF}b"), "a\u{FFFF}b");
        assert_eq!(with_marks("a \u{FFFF}\u{FDD0}"), "a [redacted]");
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
