//! Answers that keep their promised size, in UTF-8 bytes of their text. What does not fit follows by cursor.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::rate::RateState;

/// The contract's kilobyte, in the smaller of its readings.
const KB: usize = 1000;

/// What every client passes on to its model whole. Codex cuts the middle out above 10,000 tokens of four bytes, Gemini CLI
/// above 40,000 characters; OpenCode and Claude Code put larger answers into a file. Truncated JSON is not JSON, so what
/// the contract would allow 100 KB comes in pages of this size.
const PASSED_ON_WHOLE: usize = 38 * KB;

/// What each tool's answer has at most.
pub(crate) const LIST: usize = 20 * KB;
pub(crate) const SUMMARY: usize = 15 * KB;
pub(crate) const TURNS: usize = 30 * KB;
pub(crate) const STEPS: usize = PASSED_ON_WHOLE;
pub(crate) const ANALYSIS: usize = 5 * KB;
pub(crate) const EVENT: usize = 10 * KB;
pub(crate) const COMPARISON: usize = 10 * KB;

/// A search's answer: 15 KB for ten items, more for more, and never over what any model takes in well.
pub(crate) fn of_search(items: usize) -> usize {
    (items * 3 * KB / 2).clamp(15 * KB, 30 * KB)
}

/// Larger answers have a warning in their hint.
const LARGE: usize = 30 * KB;
/// Bytes for what stands around the items: hint, cursor, rate limit.
const AROUND: usize = 1_600;

/// Bytes of a value's JSON.
pub(crate) fn size(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail, and a value of JSON has a form.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// Bytes of a letter in JSON.
fn letter_size(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

/// Bytes of a text in JSON, without its quotes.
pub(crate) fn text_size(text: &str) -> usize {
    text.chars().map(letter_size).sum()
}

/// Where a text must end to take at most this many bytes in JSON.
pub(crate) fn fitting(text: &str, bytes: usize) -> usize {
    let mut left = bytes;
    for (at, letter) in text.char_indices() {
        let needed = letter_size(letter);
        if needed > left {
            return at;
        }
        left -= needed;
    }
    text.len()
}

/// Items that are collected until the answer is full.
pub(crate) struct Page {
    pub(crate) items: Vec<Value>,
    left: usize,
}

impl Page {
    /// A page of an answer of at most `most` bytes, of which `taken` are used already.
    pub(crate) fn new(most: usize, taken: usize) -> Page {
        Page { items: Vec::new(), left: most.saturating_sub(AROUND + taken) }
    }

    /// Takes an item, unless it does not fit. The first always does: items are small by their making.
    pub(crate) fn take(&mut self, item: Value) -> bool {
        let needed = size(&item) + 1;
        if needed > self.left && !self.items.is_empty() {
            return false;
        }
        self.left = self.left.saturating_sub(needed);
        self.items.push(item);
        true
    }
}

/// Bytes that the items of an answer may have.
pub(crate) const fn room(most: usize) -> usize {
    most - AROUND
}

/// An answer without what all of them have.
pub(crate) struct Answer {
    body: Map<String, Value>,
    hint: String,
}

impl Answer {
    /// A list in the contract's wrapper.
    pub(crate) fn list(data: Value, items: usize, next_cursor: Option<String>) -> Answer {
        let body = Map::from_iter([("data".to_owned(), data)]);
        Answer { body, hint: String::new() }.paged(items, next_cursor)
    }

    /// An answer of a form of its own.
    pub(crate) fn of(body: Value) -> Answer {
        let body = match body {
            Value::Object(body) => body,
            other => Map::from_iter([("data".to_owned(), other)]),
        };
        Answer { body, hint: String::new() }
    }

    pub(crate) fn paged(mut self, items: usize, next_cursor: Option<String>) -> Answer {
        let has_more = next_cursor.is_some();
        let pagination = json!({"total_in_page": items, "next_cursor": next_cursor, "has_more": has_more});
        self.body.insert("pagination".to_owned(), pagination);
        self
    }

    /// Adds a sentence to the hint. The contract's own hints have no full stop, unless something follows them.
    pub(crate) fn hint(mut self, sentence: impl AsRef<str>) -> Answer {
        if !self.hint.is_empty() {
            self.hint.push_str(if self.hint.ends_with('.') { " " } else { ". " });
        }
        self.hint.push_str(sentence.as_ref());
        self
    }

    pub(crate) fn hint_if(self, sentence: Option<impl AsRef<str>>) -> Answer {
        match sentence {
            Some(sentence) => self.hint(sentence),
            None => self,
        }
    }

    /// The answer's text.
    pub(crate) fn finish(self, rate: RateState) -> Value {
        let bytes = size(&self.body) + self.hint.len();
        let warning = (bytes > LARGE).then(|| {
            format!("Size warning: this answer has {} KB; a narrower question costs less.", bytes / KB)
        });
        let Answer { mut body, hint } = self.hint_if(warning);
        if !hint.is_empty() {
            body.insert("hint".to_owned(), hint.into());
        }
        body.insert("rate_limit".to_owned(), json!(rate));
        Value::Object(body)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sizes_are_those_of_the_json(text: String, bytes in 0_usize..80) {
            prop_assert_eq!(text_size(&text) + 2, serde_json::to_string(&text).unwrap().len());
            prop_assert_eq!(size(&text), serde_json::to_string(&text).unwrap().len());
            let end = fitting(&text, bytes);
            prop_assert!(text_size(&text[..end]) <= bytes);
            let next = text[end..].chars().next();
            prop_assert!(next.is_none_or(|letter| text_size(&text[..end]) + letter_size(letter) > bytes));
        }
    }
}
