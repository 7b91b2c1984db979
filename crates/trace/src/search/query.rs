//! A query, compiled for each stage of the search: n-grams for the Bloom filters, raw bytes for lines, patterns for events.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};
use tamis_clients::Client;
use tamis_logs::discovery::LogFormat;
use tamis_logs::event::{EventBody, EventKind, LogEvent};
use tamis_redact::Redacted;

use super::{SearchRequest, TraceSearchMode};
use crate::bloom::{RequiredNgrams, is_foreign, is_plain, may_be_composed};
use crate::error::TraceError;
use crate::search_text;

/// Longer questions are refused.
const LONGEST_QUERY: usize = 4096;

/// What events are compared with. It also finds the query in a text, to show what is around it.
pub struct CompiledQuery {
    /// All must match, each in one text of the event.
    patterns: Vec<Regex>,
    pub(super) pieces: RequiredNgrams,
    /// What a line's raw bytes must have, what is rare first.
    raw: Vec<Raw>,
    pub(super) kinds: u16,
    only_failed: bool,
}

impl CompiledQuery {
    /// Where one of the patterns matches first, which is never in a secret.
    pub fn find(&self, text: &Redacted) -> Option<usize> {
        text.find_searchable(|text| {
            self.patterns.iter().find_map(|pattern| pattern.find(text)).map(|found| found.start())
        })
    }

    /// Where the patterns match in a text, in order and apart from each other, at most `most` times. Never in a secret.
    pub fn find_all(&self, text: &Redacted, most: usize) -> Vec<Range<usize>> {
        let searchable = text.searchable();
        let mut found: Vec<Range<usize>> = self
            .patterns
            .iter()
            .flat_map(|pattern| pattern.find_iter(&searchable).take(most))
            .map(|found| found.range())
            .filter(|range| !range.is_empty())
            .collect();
        found.sort_by_key(|range| (range.start, range.end));
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for range in found {
            let (Some(start), Some(end)) =
                (text.find_searchable(|_| Some(range.start)), text.find_searchable(|_| Some(range.end)))
            else {
                continue;
            };
            if start < end && ranges.last().is_none_or(|last| last.end <= start) {
                ranges.push(start..end);
            }
        }
        ranges.truncate(most);
        ranges
    }

    pub fn of(search: &SearchRequest) -> Result<CompiledQuery, TraceError> {
        let query = search.query.as_str();
        if query.len() > LONGEST_QUERY {
            let length = query.len();
            return Err(TraceError::InvalidQuery(format!(
                "has {length} bytes, and {LONGEST_QUERY} is the most"
            )));
        }
        if query.trim().is_empty() {
            return Err(TraceError::InvalidQuery("is empty".to_owned()));
        }
        let mut pieces = RequiredNgrams::default();
        let (mut patterns, mut raw) = (Vec::new(), Vec::new());
        match search.mode {
            TraceSearchMode::Substring => {
                pieces.require(query);
                patterns.push(compiled(&literal(query), false)?);
                let whole = Raw::of(query);
                if !matches!(whole, Some(Raw::Letters(_))) {
                    raw.extend(longest(&pieces));
                }
                raw.extend(whole);
            }
            TraceSearchMode::Words => {
                for word in query.split_whitespace() {
                    pieces.require(word);
                    let (before, after) = (edge(word.chars().next()), edge(word.chars().next_back()));
                    patterns.push(compiled(&format!("{before}{}{after}", literal(word)), false)?);
                    // Not as a word of its own: what is beside it may be a secret.
                    raw.extend(Raw::of(word));
                }
                raw.sort_by_key(|raw| std::cmp::Reverse(raw.length()));
            }
            TraceSearchMode::Regex => {
                patterns.push(compiled(query, true)?);
                if let Ok(parsed) = regex_syntax::parse(query) {
                    required(&parsed, &mut pieces);
                }
                raw.extend(longest(&pieces));
            }
        }
        let kinds = search.kinds.iter().fold(0, |mask, kind| mask | kind.bit());
        Ok(CompiledQuery {
            patterns,
            pieces,
            raw,
            kinds: if kinds == 0 { u16::MAX } else { kinds },
            only_failed: search.only_failed,
        })
    }

    /// Whether an event in this line can match.
    pub(super) fn worth_line(&self, line: &[u8]) -> bool {
        self.raw.iter().all(|raw| raw.find(line).is_some())
    }

    /// Whether any event of a block can match.
    pub(super) fn worth_block(&self, bytes: &[u8], format: LogFormat) -> bool {
        if !matches!(format, LogFormat::Lines(_)) {
            // An event of a document may span many lines, and one line may hold many events.
            return self.worth_line(bytes);
        }
        let Some(raw) = self.raw.first() else { return true };
        let signs = self.signs(format);
        let mut from = 0;
        while let Some(found) = bytes.get(from..).and_then(|rest| raw.find(rest)) {
            let found = from + found;
            let start = memchr::memrchr(b'\n', &bytes[..found]).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', &bytes[found..]).map_or(bytes.len(), |at| found + at);
            let line = &bytes[start..end];
            let has_sign =
                || signs.is_empty() || signs.iter().any(|sign| memchr::memmem::find(line, sign).is_some());
            if self.worth_line(line) && has_sign() {
                return true;
            }
            from = end + 1;
        }
        false
    }

    /// Byte strings of which every line with an event of the requested kind has one; empty when that is not known.
    fn signs(&self, format: LogFormat) -> &'static [&'static [u8]] {
        use EventKind::{Reasoning, ToolCall, ToolResult};
        // With the quote, since every result has a `tool_use_id` and a `call_id`.
        const CODEX: &[&[u8]] = &[
            b"_call\"",
            b"_output\"",
            b"_begin\"",
            b"_request\"",
            b"_end\"",
            b"_response\"",
            b"_result\"",
            b"\"item",
        ];
        const SIGNS: [(Client, EventKind, &[&[u8]]); 5] = [
            (Client::ClaudeCode, ToolCall, &[b"tool_use\""]),
            (Client::ClaudeCode, ToolResult, &[b"tool_result\""]),
            (Client::ClaudeCode, Reasoning, &[b"thinking"]),
            (Client::Codex, ToolCall, CODEX),
            (Client::Codex, ToolResult, CODEX),
        ];
        let LogFormat::Lines(provider) = format else { return &[] };
        let of = |(whose, kind, _): &&(Client, EventKind, _)| *whose == provider && self.kinds == kind.bit();
        SIGNS.iter().find(of).map_or(&[], |(_, _, signs)| *signs)
    }

    /// Whether the event matches: each pattern is found in one of its texts.
    pub(super) fn matches(&self, event: &LogEvent<'_>, texts: &mut Vec<String>) -> bool {
        if self.kinds & event.kind().bit() == 0 {
            return false;
        }
        if self.only_failed && !matches!(&event.body, EventBody::ToolResult(result) if result.tool_failed()) {
            return false;
        }
        texts.clear();
        search_text::searchable_words(event, texts);
        !self.patterns.is_empty()
            && self.patterns.iter().all(|pattern| texts.iter().any(|text| pattern.is_match(text)))
    }
}

/// The longest piece with a single written form.
fn longest(pieces: &RequiredNgrams) -> Option<Raw> {
    pieces.longest.as_deref().and_then(Finder::of).map(Raw::Letters)
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn edge(letter: Option<char>) -> &'static str {
    if letter.is_some_and(is_of_word) { r"\b" } else { "" }
}

fn compiled(pattern: &str, in_any_case: bool) -> Result<Regex, TraceError> {
    RegexBuilder::new(pattern)
        .case_insensitive(in_any_case)
        .size_limit(4 << 20)
        .dfa_size_limit(16 << 20)
        .build()
        .map_err(|error| TraceError::InvalidQuery(format!("is not a regular expression: {error}")))
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

/// How a text is looked for in raw bytes, where JSON may have escaped it once or more. It may find more, and never less.
enum Raw {
    Letters(Finder),
    /// Letters beyond ASCII that have no case: as they are, or escaped.
    Foreign {
        plain: String,
        escaped: regex::bytes::Regex,
    },
    Pattern {
        pattern: regex::bytes::Regex,
        length: usize,
    },
}

impl Raw {
    /// `None` where the words may have been put together from several places of a line, or JSON itself may be meant.
    fn of(text: &str) -> Option<Raw> {
        if may_be_composed(text) || text.chars().any(char::is_control) {
            return None;
        }
        if text.chars().all(is_plain) {
            return Finder::of(text).map(Raw::Letters);
        }
        if text.chars().all(is_foreign) {
            let units: Vec<String> = text.encode_utf16().map(|unit| format!(r"\\+u{unit:04x}")).collect();
            // Without the first backslash, of which logs are full.
            let escaped = regex::bytes::Regex::new(&format!("(?i-u){}", &units.concat()[3..])).ok()?;
            return Some(Raw::Foreign { plain: text.to_owned(), escaped });
        }
        let pattern = regex::bytes::Regex::new(&raw_pattern(text)).ok()?;
        Some(Raw::Pattern { pattern, length: text.len() })
    }

    fn find(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            Raw::Letters(finder) => finder.find(bytes),
            Raw::Foreign { plain, escaped } => {
                let plain = memchr::memmem::find(bytes, plain.as_bytes());
                plain.into_iter().chain(escaped.find(bytes).map(|found| found.start())).min()
            }
            Raw::Pattern { pattern, .. } => pattern.find(bytes).map(|found| found.start()),
        }
    }

    fn length(&self) -> usize {
        match self {
            Raw::Letters(finder) => finder.needle.len(),
            Raw::Foreign { plain, .. } => plain.len(),
            Raw::Pattern { length, .. } => *length,
        }
    }
}

fn raw_pattern(text: &str) -> String {
    let mut pattern = String::from("(?i-u)");
    for letter in text.chars() {
        match letter {
            '/' => pattern.push_str(r"\\*/"),
            '\\' => pattern.push_str(r"\\+"),
            ' '..='~' if is_plain(letter) => {
                pattern.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
            }
            ' '..='~' => {
                let plain = regex::escape(letter.encode_utf8(&mut [0; 4]));
                pattern.push_str(&format!(r"(?:{plain}|\\+u{:04x})", u32::from(letter)));
            }
            _ => pattern.push_str(&format!(r"(?:(?iu:{letter})|(?:\\+u[0-9a-f]{{4}}){{1,2}})")),
        }
    }
    pattern
}

/// The texts that whatever matches must have.
fn required(pattern: &Hir, pieces: &mut RequiredNgrams) {
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

/// Finds a text in bytes whatever the case of its ASCII letters. The regex engine compares three letters at once in all their
/// cases, which is twice as fast here as looking for the rarest letter.
struct Finder {
    needle: Vec<u8>,
    pattern: regex::bytes::Regex,
}

impl Finder {
    fn of(text: &str) -> Option<Finder> {
        let pattern = regex::bytes::Regex::new(&format!("(?i-u){}", regex::escape(text))).ok()?;
        Some(Finder { needle: text.as_bytes().to_vec(), pattern })
    }

    /// Where it is first.
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        self.pattern.find(bytes).map(|found| found.start())
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
            before in ".{0,20}", sought in "[a-zA-Z0-9 /\\\\<>&'+=_.:日éß-]{1,12}", after in ".{0,20}", deep: bool, words: bool,
        ) {
            let text = format!("{before}{sought}{after}");
            let mut raw = serde_json::to_string(&text).unwrap();
            if deep {
                raw = serde_json::to_string(&raw).unwrap();
            }
            let mode = if words { TraceSearchMode::Words } else { TraceSearchMode::Substring };
            let search = SearchRequest { query: sought.clone(), mode, most: 1, ..SearchRequest::default() };
            if let Ok(question) = CompiledQuery::of(&search) {
                let matches = question.patterns.iter().all(|pattern| pattern.is_match(&text));
                prop_assert!(words || matches, "{sought:?} in {text:?}");
                prop_assert!(!matches || question.worth_line(raw.as_bytes()), "{sought:?} in {raw}");
            }
        }
    }
}
