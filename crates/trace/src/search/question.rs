//! What is asked for, in the forms in which it is looked for: letters for the filters, raw bytes for the lines, texts for
//! the events.

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

use super::{Mode, Search};
use crate::error::TraceError;
use crate::event::{Body, Event};
use crate::filter::Pieces;
use crate::reading;

/// Letters of the text around a match.
const EXCERPT: usize = 300;
/// Longer questions are refused.
const LONGEST_QUERY: usize = 4096;

/// What events are compared with.
pub(super) struct Question {
    /// All must match, each in one text of the event.
    patterns: Vec<Regex>,
    pub(super) pieces: Pieces,
    /// Finds the longest piece in raw bytes.
    finder: Option<Finder>,
    /// What raw bytes must match, each of them, beyond that.
    raw: Vec<regex::bytes::Regex>,
    pub(super) kinds: u16,
    only_failed: bool,
}

impl Question {
    /// Where one of the patterns matches first.
    pub(super) fn first_in(&self, text: &str) -> Option<std::ops::Range<usize>> {
        self.patterns.iter().find_map(|pattern| pattern.find(text)).map(|found| found.range())
    }

    pub(super) fn of(search: &Search) -> Result<Question, TraceError> {
        let query = search.query.as_str();
        if query.len() > LONGEST_QUERY {
            let length = query.len();
            return Err(TraceError::Invalid(format!(
                "query has {length} bytes, and {LONGEST_QUERY} is the most"
            )));
        }
        if query.trim().is_empty() {
            return Err(TraceError::Invalid("query is empty".to_owned()));
        }
        let mut pieces = Pieces::default();
        let (mut patterns, mut raw) = (Vec::new(), Vec::new());
        match search.mode {
            Mode::Substring => {
                pieces.require(query);
                patterns.push(compiled(&literal(query))?);
                raw.extend(raw_pattern(query, false));
            }
            Mode::Words => {
                for word in query.split_whitespace() {
                    pieces.require(word);
                    let (before, after) = (edge(word.chars().next()), edge(word.chars().next_back()));
                    patterns.push(compiled(&format!("{before}{}{after}", literal(word)))?);
                    raw.extend(raw_pattern(word, true));
                }
            }
            Mode::Regex => {
                patterns.push(compiled(&format!("(?i){query}"))?);
                if let Ok(parsed) = regex_syntax::parse(query) {
                    required(&parsed, &mut pieces);
                }
            }
        }
        let kinds = search.kinds.iter().fold(0, |mask, kind| mask | kind.bit());
        Ok(Question {
            patterns,
            finder: pieces.longest.as_deref().map(Finder::of),
            pieces,
            raw,
            kinds: if kinds == 0 { u16::MAX } else { kinds },
            only_failed: search.only_failed,
        })
    }

    /// Whether an event that stands in these bytes can match.
    pub(super) fn worth(&self, bytes: &[u8]) -> bool {
        self.finder.as_ref().is_none_or(|finder| finder.is_in(bytes))
            && self.raw.iter().all(|raw| raw.is_match(bytes))
    }

    /// Where the event matches: the text around it.
    pub(super) fn excerpt(&self, event: &Event<'_>, texts: &mut Vec<String>) -> Option<String> {
        if self.kinds & event.kind().bit() == 0 {
            return None;
        }
        if self.only_failed && !matches!(&event.body, Body::ToolResult(result) if result.failed) {
            return None;
        }
        texts.clear();
        reading::words_of_event(event, texts);
        let mut first = None;
        for pattern in &self.patterns {
            let found = texts
                .iter()
                .enumerate()
                .find_map(|(index, text)| Some((index, pattern.find(text)?.range())))?;
            first.get_or_insert(found);
        }
        let (index, found) = first?;
        Some(around(&texts[index], found.start, found.end))
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn edge(letter: Option<char>) -> &'static str {
    if letter.is_some_and(is_of_word) { r"\b" } else { "" }
}

fn compiled(pattern: &str) -> Result<Regex, TraceError> {
    RegexBuilder::new(pattern)
        .size_limit(4 << 20)
        .dfa_size_limit(16 << 20)
        .build()
        .map_err(|error| TraceError::Invalid(format!("query is no regular expression: {error}")))
}

/// A pattern for just this text in any case. An ASCII letter stands for its two cases alone, as in the filters.
fn literal(text: &str) -> String {
    let mut pattern = String::new();
    for letter in text.chars() {
        let flags = if letter.is_ascii() { "(?i-u:" } else { "(?i:" };
        if letter.is_alphabetic() {
            pattern.push_str(&format!("{flags}{letter})"));
        } else {
            pattern.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
        }
    }
    pattern
}

/// A pattern for this text as JSON may have it, escaped once or more. It may match more, and never less. `None` where the
/// words may have been put together from several places of a line, or JSON itself may be meant.
fn raw_pattern(text: &str, whole_word: bool) -> Option<regex::bytes::Regex> {
    if text.contains('"') || text.chars().any(char::is_control) {
        return None;
    }
    let plain = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii() && is_of_word(letter));
    let mut pattern = String::from("(?i-u)");
    if whole_word && plain(text.chars().next()) {
        pattern.push_str(r"(?:\b|\\[bfnrt]|\\u[0-9a-f]{4})");
    }
    for letter in text.chars() {
        match letter {
            '/' => pattern.push_str(r"\\*/"),
            '\\' => pattern.push_str(r"\\+"),
            '<' | '>' | '&' | '\'' | '+' | '=' => {
                let plain = regex::escape(letter.encode_utf8(&mut [0; 4]));
                pattern.push_str(&format!(r"(?:{plain}|\\u{:04x})", u32::from(letter)));
            }
            ' '..='~' => pattern.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4]))),
            _ => pattern.push_str(&format!(r"(?:(?iu:{letter})|(?:\\u[0-9a-f]{{4}}){{1,2}})")),
        }
    }
    if whole_word && plain(text.chars().next_back()) {
        pattern.push_str(r"\b");
    }
    regex::bytes::Regex::new(&pattern).ok()
}

/// The texts that whatever matches must have.
fn required(pattern: &Hir, pieces: &mut Pieces) {
    match pattern.kind() {
        HirKind::Literal(literal) => {
            if let Ok(text) = std::str::from_utf8(&literal.0) {
                pieces.require(text);
            }
        }
        HirKind::Concat(parts) => parts.iter().for_each(|part| required(part, pieces)),
        HirKind::Capture(capture) => required(&capture.sub, pieces),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub, pieces),
        _ => {}
    }
}

/// The text around a match, some of it before and most after.
fn around(text: &str, start: usize, end: usize) -> String {
    let before =
        text[..start].char_indices().rev().take(EXCERPT / 4).last().map_or(start, |(index, _)| index);
    let shown: String = text[before..].chars().take(EXCERPT).collect();
    let mut excerpt = String::new();
    if before > 0 {
        excerpt.push('…');
    }
    let cut = before + shown.len() < text.len();
    excerpt.push_str(&shown);
    if cut || end > before + shown.len() {
        excerpt.push('…');
    }
    excerpt
}

/// Finds a text in bytes whatever the case of its ASCII letters, by the letter of it that is rarest.
struct Finder {
    needle: Vec<u8>,
    rarest: usize,
}

/// Letters from the most common in agents' logs to the rarest; what is not here is rarer.
const COMMON: &[u8] = b" etaoinsrlcd\\\"pmuhfg,:b./-_y01v2w3k54x867(9){};=*j'[]<>zq`#";

impl Finder {
    fn of(text: &str) -> Finder {
        let needle = text.to_ascii_lowercase().into_bytes();
        let rarity = |byte: &u8| COMMON.iter().position(|common| common == byte).unwrap_or(COMMON.len());
        let rarest = (0..needle.len()).max_by_key(|index| rarity(&needle[*index])).unwrap_or(0);
        Finder { needle, rarest }
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        let (Some(rarest), Some(searched)) = (self.needle.get(self.rarest), bytes.get(self.rarest..)) else {
            return self.needle.is_empty();
        };
        memchr::memchr2_iter(*rarest, rarest.to_ascii_uppercase(), searched).any(|start| {
            bytes
                .get(start..start + self.needle.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(&self.needle))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What a line's text matches, its raw bytes do.
        #[test]
        fn raw_bytes_are_never_passed_over_wrongly(
            before in ".{0,20}", asked in "[a-zA-Z0-9 /\\\\<>&'+=_.:日éß-]{1,12}", after in ".{0,20}", deep: bool, words: bool,
        ) {
            let text = format!("{before}{asked}{after}");
            let mut raw = serde_json::to_string(&text).unwrap();
            if deep {
                raw = serde_json::to_string(&raw).unwrap();
            }
            let mode = if words { Mode::Words } else { Mode::Substring };
            let search = Search { query: asked.clone(), mode, most: 1, ..Search::default() };
            if let Ok(question) = Question::of(&search) {
                let matches = question.patterns.iter().all(|pattern| pattern.is_match(&text));
                prop_assert!(words || matches, "{asked:?} in {text:?}");
                prop_assert!(!matches || question.worth(raw.as_bytes()), "{asked:?} in {raw}");
            }
        }
    }
}
