//! Splits a text into words and stems them, so that `parseYamlFile`, `parse_yaml_file` and "parsing YAML files" match.
//!
//! Identifiers are split at underscores and changes of case, and lowered; a compound is also given as a whole.
//! The stemmer is simple on purpose: forms of one word must get the same stem, but the stem need not be a word.

/// Whether a word is a part of an identifier or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPiece {
    /// A word on its own, or one part of a compound identifier.
    Part,
    /// A compound identifier without its separators; it follows its parts.
    Whole,
}

/// Only this much of a run of letters is read: longer ones are base64 or minified names.
const LONGEST_RUN: usize = 96;

/// Suffixes that the stemmer removes, longest first, if at least three letters remain.
const SUFFIXES: [&str; 24] = [
    "ations", "ating", "ators", "ation", "ingly", "ator", "ates", "ated", "edly", "ions", "ings", "ion",
    "ing", "ies", "ate", "ers", "ors", "er", "or", "ed", "es", "ly", "s", "e",
];

/// The stem of a lower-case word.
pub fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.ends_with("ss") {
        return word;
    }
    for suffix in SUFFIXES {
        let Some(rest) = word.strip_suffix(suffix) else { continue };
        if rest.len() < 3 {
            continue;
        }
        let bytes = rest.as_bytes();
        let doubled = bytes[rest.len() - 1] == bytes[rest.len() - 2]
            && !matches!(bytes[rest.len() - 1], b's' | b'l' | b'z' | b'e');
        return if doubled && rest.len() > 3 { &rest[..rest.len() - 1] } else { rest };
    }
    word.strip_suffix('y').filter(|rest| rest.len() >= 3).unwrap_or(word)
}

/// Calls `visit` with each word of `text`, in order and in lower case, not yet stemmed.
pub fn each_word(text: &str, mut visit: impl FnMut(&str, WordPiece)) {
    let bytes = text.as_bytes();
    let mut run = Run::default();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_alphabetic() || byte == b'_' {
            let end = bytes[at..]
                .iter()
                .position(|&b| !(b.is_ascii_alphanumeric() || b == b'_'))
                .map_or(bytes.len(), |length| at + length);
            if end < bytes.len() && bytes[end] >= 0x80 {
                at = run.read_unicode(text, at, &mut visit);
            } else {
                run.read_ascii(&bytes[at..end.min(at + LONGEST_RUN)], &mut visit);
                at = end;
            }
        } else if byte.is_ascii_digit() {
            let end = bytes[at..]
                .iter()
                .position(|b| !b.is_ascii_digit())
                .map_or(bytes.len(), |length| at + length);
            if end - at > 1 {
                visit(&text[at..end.min(at + LONGEST_RUN)], WordPiece::Part);
            }
            at = end;
        } else if byte >= 0x80 {
            at = run.read_unicode(text, at, &mut visit);
        } else {
            at += 1;
        }
    }
}

/// Buffers for one identifier, reused for the next.
#[derive(Default)]
struct Run {
    part: String,
    whole: String,
    parts: usize,
}

impl Run {
    fn read_ascii(&mut self, identifier: &[u8], visit: &mut impl FnMut(&str, WordPiece)) {
        self.start();
        for (index, &byte) in identifier.iter().enumerate() {
            if byte == b'_' {
                self.end_part(visit);
                continue;
            }
            let before = index.checked_sub(1).map(|i| identifier[i]);
            let after = identifier.get(index + 1).copied();
            if byte.is_ascii_uppercase() && before.is_some_and(|b| opens_part(b, after)) {
                self.end_part(visit);
            }
            self.part.push(byte.to_ascii_lowercase() as char);
        }
        self.end(visit);
    }

    /// Reads one run of letters of any script from `at`, and returns where it ends. Each ideograph is a word.
    fn read_unicode(&mut self, text: &str, at: usize, visit: &mut impl FnMut(&str, WordPiece)) -> usize {
        self.start();
        let mut before_is_lower = false;
        for (offset, c) in text[at..].char_indices() {
            let ideograph = c as u32 >= 0x2E80 && c.is_alphanumeric();
            if !(c.is_alphanumeric() || c == '_') || ideograph {
                self.end(visit);
                if ideograph {
                    visit(c.encode_utf8(&mut [0; 4]), WordPiece::Part);
                }
                return at + offset + c.len_utf8();
            }
            if c == '_' || (c.is_uppercase() && before_is_lower) {
                self.end_part(visit);
            }
            if c != '_' && self.part.len() < LONGEST_RUN {
                self.part.extend(c.to_lowercase());
            }
            before_is_lower = c.is_lowercase();
        }
        self.end(visit);
        text.len()
    }

    fn start(&mut self) {
        self.part.clear();
        self.whole.clear();
        self.parts = 0;
    }

    fn end_part(&mut self, visit: &mut impl FnMut(&str, WordPiece)) {
        if self.part.is_empty() {
            return;
        }
        if self.part.len() > 1 {
            visit(&self.part, WordPiece::Part);
        }
        if self.whole.len() < LONGEST_RUN {
            self.whole.push_str(&self.part);
        }
        self.parts += 1;
        self.part.clear();
    }

    fn end(&mut self, visit: &mut impl FnMut(&str, WordPiece)) {
        self.end_part(visit);
        if self.parts > 1 {
            visit(&self.whole, WordPiece::Whole);
        }
    }
}

/// Whether an upper-case letter opens a new part: `parse|Yaml`, `utf8|Text`, `HTTP|Server`.
fn opens_part(before: u8, after: Option<u8>) -> bool {
    before.is_ascii_lowercase()
        || before.is_ascii_digit()
        || (before.is_ascii_uppercase() && after.is_some_and(|b| b.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stems of the words of `text`.
    fn words(text: &str) -> Vec<(String, WordPiece)> {
        let mut list = Vec::new();
        each_word(text, |word, piece| list.push((stem(word).to_owned(), piece)));
        list
    }

    fn parts(text: &str) -> Vec<String> {
        words(text).into_iter().filter(|(_, piece)| *piece == WordPiece::Part).map(|(word, _)| word).collect()
    }

    #[test]
    fn compounds_split_at_case_and_underscore() {
        for (text, expected) in [
            ("parseYamlFile", "pars yaml fil =parseyamlfil"),
            ("parse_yaml_file", "pars yaml fil =parseyamlfil"),
            ("HTTPServer2Go", "http server2 go =httpserver2go"),
            ("__init__", "init"),
            ("x + y1 * 42", "y1 42"),
            ("MAX_SIZE=4096", "max siz =maxsiz 4096"),
            ("Éléphant élégantMot", "éléphant élégant mot =élégantmot"),
            ("日本 ok", "日 本 ok"),
            ("", ""),
        ] {
            let found: Vec<String> = words(text)
                .into_iter()
                .map(|(word, piece)| if piece == WordPiece::Whole { format!("={word}") } else { word })
                .collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn forms_of_one_word_have_one_stem() {
        for forms in [
            "parse parsing parsed parser parses",
            "query queries",
            "initialize initialization initializing initializer",
            "iterator iterate iter iterated iterating",
            "run running runner",
            "cache caches caching cached",
            "connection connect connecting",
            "allocate allocation alloc allocator",
            "error err errors",
        ] {
            let stems: Vec<String> = parts(forms);
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
        assert_eq!(parts("class classes pass"), ["class", "class", "pass"]);
    }

    #[test]
    fn a_long_run_is_truncated() {
        let long = "a".repeat(1_000_000);
        assert_eq!(words(&long)[0].0.len(), LONGEST_RUN);
        assert_eq!(words(&"é".repeat(1_000_000)).len(), 1);
        assert_eq!(words(&"_".repeat(1_000_000)).len(), 0);
    }
}
