//! Counts a query's words in files. It scans everything, so it must be fast.
//!
//! Text is a sequence of **runs**: letters, digits, underscores. A run matches a name when it is spelled the same, and its
//! parts (`parseYaml` has two) match stems. The index must count with [`each_run`] and [`parts_of`] too, so that the numbers
//! are the same.
//!
//! An Aho-Corasick automaton of the stems skips most of a text: every word begins with its stem, or with another spelling of it
//! ([`beginnings`]). Only runs with a match are split into parts.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use memchr::{memchr, memrchr};
use tamis_text::interner::Interner;
use tamis_text::words::{WordPiece, each_word};

use crate::spelling::{beginnings, word_stem};
use crate::symbols::SymbolSet;

/// What to count, each thing once: stems of words, names that are spelled exactly so, and symbols, of which only declarations
/// matter. At most 32 names and 10 symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordQuery {
    pub stems: Vec<String>,
    pub names: Vec<String>,
    pub symbols: Vec<String>,
}

/// Counts a query's words. Columns are its stems, then its names.
pub struct WordCounter {
    pub(crate) query: WordQuery,
    automaton: Option<AhoCorasick>,
    stems: Interner,
    names: Interner,
    pub(crate) symbols: SymbolSet,
    /// Whether a stem is not ASCII: the automaton ignores only ASCII case.
    foreign: bool,
}

/// One hit: its position and its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    pub at: usize,
    pub column: usize,
}

/// Longer runs are cut: they are not words.
const MAX_RUN_LENGTH: usize = 96;

/// Bytes of a line that are searched for a definition. A longer line is generated, and searching it for each of its words would
/// take quadratic time.
pub(crate) const MAX_LINE_LENGTH: usize = 1 << 10;

pub fn in_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Calls `visit` with the place of each run.
pub fn each_run(bytes: &[u8], mut visit: impl FnMut(usize, &[u8])) {
    let mut at = 0;
    while at < bytes.len() {
        if !in_run(bytes[at]) {
            at += 1;
            continue;
        }
        let end = end_of_run(bytes, at);
        visit(at, &bytes[at..end.min(at + MAX_RUN_LENGTH)]);
        at = end;
    }
}

/// Calls `visit` with the stem of each part of a run.
pub fn parts_of(run: &[u8], mut visit: impl FnMut(&str)) {
    let mut describe = |text: &str| {
        each_word(text, |word, piece| {
            if piece == WordPiece::Part && word.starts_with(|c: char| c.is_alphabetic()) {
                visit(&word_stem(word));
            }
        });
    };
    match std::str::from_utf8(run) {
        Ok(text) => describe(text),
        Err(_) => describe(&String::from_utf8_lossy(run)),
    }
}

pub(crate) fn end_of_run(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|&byte| !in_run(byte)).map_or(bytes.len(), |length| from + length)
}

impl WordCounter {
    pub fn new(query: WordQuery) -> WordCounter {
        let (mut stems, mut names) = (Interner::default(), Interner::default());
        for stem in &query.stems {
            stems.intern(stem);
        }
        for name in &query.names {
            names.intern(name);
        }
        let symbols = SymbolSet::new(&query.symbols);
        let anchors: Vec<&str> = symbols.anchors().collect();
        let foreign = query
            .stems
            .iter()
            .map(String::as_str)
            .chain(anchors.iter().copied())
            .any(|stem| !stem.is_ascii());
        let written = query.stems.iter().flat_map(|stem| beginnings(stem));
        let written = written.chain(query.names.iter().cloned());
        let written: Vec<String> = written.chain(anchors.iter().flat_map(|stem| beginnings(stem))).collect();
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostFirst)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&written)
            .ok()
            .filter(|_| !foreign);
        WordCounter { query, automaton, stems, names, symbols, foreign }
    }

    pub fn columns(&self) -> usize {
        self.stems.len() + self.names.len()
    }

    /// The column of the name of that number.
    pub fn name_column(&self, number: usize) -> usize {
        self.stems.len() + number
    }

    pub fn stem_column(&self, stem: &str) -> Option<usize> {
        self.stems.find(stem).map(|column| column as usize)
    }

    /// Calls `visit` with each hit, in order of place.
    pub fn each_hit(&self, bytes: &[u8], mut visit: impl FnMut(Hit)) {
        self.each_candidate(bytes, |at, run| self.hits_of(at, run, &mut visit));
    }

    /// Calls `visit` with each run that may be a hit.
    pub(crate) fn each_candidate(&self, bytes: &[u8], mut visit: impl FnMut(usize, &[u8])) {
        let Some(automaton) = &self.automaton else {
            if self.foreign {
                each_run(bytes, visit);
            }
            return;
        };
        let mut at = 0;
        while let Some(found) = automaton.find(Input::new(bytes).range(at..)) {
            let mut start = found.start();
            while start > at && in_run(bytes[start - 1]) {
                start -= 1;
            }
            at = end_of_run(bytes, found.end());
            visit(start, &bytes[start..at.min(start + MAX_RUN_LENGTH)]);
        }
    }

    pub(crate) fn hits_of(&self, at: usize, run: &[u8], visit: &mut impl FnMut(Hit)) {
        parts_of(run, |part| {
            if let Some(column) = self.stems.find(part) {
                visit(Hit { at, column: column as usize });
            }
        });
        let name = std::str::from_utf8(run).ok().and_then(|run| self.names.find(run));
        if let Some(number) = name {
            visit(Hit { at, column: self.name_column(number as usize) });
        }
    }
}

/// Whether the run that begins at `at` is a name that is defined there.
pub(crate) fn defines_at(bytes: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(MAX_LINE_LENGTH);
    let start = match memrchr(b'\n', &bytes[from..at]) {
        Some(newline) => from + newline + 1,
        None if from == 0 => 0,
        None => return false,
    };
    defined_in_line(bytes, start).is_some_and(|name| name == at)
}

/// Calls `visit` with each name that the text defines.
pub(crate) fn each_definition(bytes: &[u8], mut visit: impl FnMut(&str)) {
    let mut start = 0;
    while start < bytes.len() {
        if let Some(at) = defined_in_line(bytes, start)
            && (at == 0 || !in_run(bytes[at - 1]))
        {
            let end = end_of_run(bytes, at).min(at + MAX_RUN_LENGTH);
            if end > at
                && let Ok(name) = std::str::from_utf8(&bytes[at..end])
            {
                visit(name);
            }
        }
        start = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length + 1);
    }
}

/// Where the name begins that the line from `start` defines.
fn defined_in_line(bytes: &[u8], start: usize) -> Option<usize> {
    let mut lines = [""; 4];
    let mut from = start;
    for line in &mut lines {
        let end = memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |length| from + length);
        *line = beginning(&bytes[from..end]);
        if end == bytes.len() {
            break;
        }
        from = end + 1;
    }
    tamis_syntax::defined_name(lines[0], &lines[1..]).map(|name| start + name.start)
}

/// As much of a line as is looked at. One that is not UTF-8 defines nothing.
pub(crate) fn beginning(line: &[u8]) -> &str {
    let read = &line[..line.len().min(MAX_LINE_LENGTH)];
    match std::str::from_utf8(read) {
        Ok(text) => text,
        // Only the last character is cut in two.
        Err(error) if read.len() < line.len() && error.error_len().is_none() => {
            std::str::from_utf8(&read[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => "",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query;

    fn counts(text_of_query: &str, text: &[u8]) -> Vec<u32> {
        let counter = WordCounter::new(query(text_of_query));
        let mut counts = vec![0; counter.columns()];
        counter.each_hit(text, |hit| counts[hit.column] += 1);
        counts
    }

    /// The same by reading everything.
    fn counts_by_reading(text_of_query: &str, text: &[u8]) -> Vec<u32> {
        let query = query(text_of_query);
        let counter = WordCounter::new(query.clone());
        let mut counts = vec![0; counter.columns()];
        each_run(text, |_, run| {
            parts_of(run, |part| {
                if let Some(column) = query.stems.iter().position(|stem| stem == part) {
                    counts[column] += 1;
                }
            });
            if let Some(number) = query.names.iter().position(|name| name.as_bytes() == run) {
                counts[counter.name_column(number)] += 1;
            }
        });
        counts
    }

    #[test]
    fn forms_of_a_word_and_parts_of_names_are_found() {
        let text = b"def parse_config(): pass\nclass ConfigParser: parsing = CONFIG\nreparse()";
        assert_eq!(counts("parser configs", text), [3, 3]);
        assert_eq!(counts("`ConfigParser`", text), [3, 3, 1]);
    }

    #[test]
    fn definitions_and_uses_are_distinguished() {
        let text = b"load()\nimport load\n\ndef load(path):\n    return load(path)\n";
        let counter = WordCounter::new(query("`load`"));
        let mut defined = Vec::new();
        counter.each_hit(text, |hit| {
            if hit.column == counter.name_column(0) {
                defined.push(defines_at(text, hit.at));
            }
        });
        assert_eq!(defined, [false, false, true, false]);
    }

    #[test]
    fn only_the_beginning_of_a_long_line_defines() {
        let both = |text: &str| {
            let mut defined = Vec::new();
            each_definition(text.as_bytes(), |name| defined.push(name.to_owned()));
            let at = text.find("load").unwrap();
            (defined == ["load"], defines_at(text.as_bytes(), at))
        };
        for before in [0, 500, 511, 512, 2000] {
            let text = format!("{}\ndef load(x): pass{}", "é".repeat(before), "é".repeat(2000));
            assert_eq!(both(&text), (true, true), "{before}");
        }
        for indent in 0..20 {
            let text = format!("{}def load(x):\n", " ".repeat(MAX_LINE_LENGTH - 10 + indent));
            let (first, second) = both(&text);
            assert_eq!(first, second, "{indent}");
            assert!(second || indent > 2, "{indent}");
            assert!(!second || indent < 10, "{indent}");
        }
    }

    proptest! {
        #[test]
        fn the_automaton_misses_nothing(
            question in "([a-zA-Z_`é.]{1,8} ){0,6}",
            text in "([a-zA-Z_é0-9]{1,9}[ .\n(]{0,2}){0,40}",
        ) {
            prop_assert_eq!(counts(&question, text.as_bytes()), counts_by_reading(&question, text.as_bytes()));
        }

        #[test]
        fn any_bytes_can_be_counted(question in ".{0,60}", text: Vec<u8>) {
            prop_assert_eq!(counts(&question, &text), counts_by_reading(&question, &text));
        }
    }
}
