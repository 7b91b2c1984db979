//! The subject of a question: the identifiers that it names, and its content words.

use std::collections::BTreeSet;

use tamis_text::words::{WordPiece, each_word, stem};

/// The names and words of a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct QuestionSubject {
    /// In order of appearance.
    pub(crate) names: Vec<SubjectName>,
    /// Stems of the content words.
    pub(crate) stems: BTreeSet<String>,
    /// Whether the question is for the tests of something.
    pub(crate) wants_tests: bool,
}

/// An identifier, or a word that is used like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SubjectName {
    pub(crate) name: String,
    /// The qualifier before its dot.
    pub(crate) of: Option<String>,
    /// Whether it is certainly an identifier; else only where something of that name is defined.
    pub(crate) certain: bool,
}

const MAX_NAMES: usize = 10;

/// Words beside a name that give its kind.
#[rustfmt::skip]
const KINDS: [&str; 22] = [
    "class", "classes", "method", "methods", "function", "functions", "decorator", "struct", "trait", "interface",
    "enum", "fixture", "exception", "hook", "macro", "constructor", "module", "classmethod", "property", "model",
    "mixin", "command",
];

/// Words before those that are not names.
#[rustfmt::skip]
const NO_NAMES: [&str; 44] = [
    "the", "a", "an", "this", "that", "each", "test", "tests", "base", "parent", "child", "wrapper", "main", "helper",
    "handler", "callback", "abstract", "custom", "same", "which", "what", "other", "another", "new", "every", "of",
    "its", "and", "or", "view", "factory", "utility", "standalone", "core", "public", "private", "any", "specific",
    "different", "inner", "nested", "error", "separate", "single",
];

/// Stop words of questions.
#[rustfmt::skip]
const ASKING: [&str; 104] = [
    "how", "does", "do", "did", "what", "where", "why", "when", "which", "who", "is", "are", "was", "be", "been", "the",
    "a", "an", "and", "or", "not", "of", "in", "on", "to", "for", "from", "by", "with", "without", "that", "this",
    "these", "those", "it", "its", "as", "at", "into", "between", "through", "than", "rather", "while", "would", "could",
    "should", "can", "may", "must", "will", "if", "then", "there", "their", "they", "we", "our", "you", "i", "me", "my",
    "have", "has", "had", "show", "find", "tell", "explain", "describe", "give", "list", "example", "examples",
    "pattern", "patterns", "similar", "existing", "elsewhere", "codebase", "code", "implemented", "implementation",
    "work", "works", "used", "use", "using", "usage", "usages", "way", "ways", "done", "some", "all", "please", "about", "decided",
    "need", "needs", "thought", "thoughts", "notes", "were",
];

/// What file names end with: `config.py` is no attribute.
#[rustfmt::skip]
const ENDINGS: [&str; 22] = [
    "py", "rs", "js", "ts", "tsx", "jsx", "go", "java", "c", "h", "cc", "cpp", "hpp", "rb", "sh", "md", "toml", "yml",
    "yaml", "json", "txt", "cfg",
];

/// Phrases of questions for tests.
#[rustfmt::skip]
const TESTS_WANTED: [&str; 9] = [
    "which test", "what test", "tests cover", "tests for ", "tests of ", "tested", "test coverage", "unit tests",
    "covered by test",
];

impl QuestionSubject {
    pub(crate) fn of(question: &str) -> QuestionSubject {
        let lower = question.to_lowercase();
        let wants_tests = TESTS_WANTED.iter().any(|words| lower.contains(words));
        let mut subject = QuestionSubject { wants_tests, ..QuestionSubject::default() };
        let runs = runs(question);
        for (number, run) in runs.iter().enumerate() {
            let next = runs.get(number + 1).map_or("", |next| next.text);
            let before = number.checked_sub(1).map_or("", |at| runs[at].text);
            if let Some(name) = run.named(before, next)
                && subject.names.len() < MAX_NAMES
                && !subject.names.iter().any(|known| known.name == name.name)
            {
                subject.names.push(name);
            }
        }
        each_word(question, |word, _| {
            if word.len() > 2 && !ASKING.contains(&word) {
                subject.stems.insert(stem(word).to_owned());
            }
        });
        subject
    }

    /// The share of the question's words that a text has.
    pub(crate) fn coverage(&self, text: &str) -> f64 {
        if self.stems.is_empty() {
            return 0.0;
        }
        self.matched_stems(text).len() as f64 / self.stems.len() as f64
    }

    /// Those of the question's words that a text has.
    pub(crate) fn matched_stems(&self, text: &str) -> BTreeSet<&str> {
        let mut met = BTreeSet::new();
        each_word(text, |word, _| {
            if let Some(known) = self.stems.get(stem(word)) {
                met.insert(known.as_str());
            }
        });
        met
    }

    /// How many words of a name the question does not have.
    pub(crate) fn unmatched_words(&self, name: &str) -> usize {
        let mut strange = BTreeSet::new();
        each_word(name, |word, piece| {
            if piece == WordPiece::Part && !self.stems.contains(stem(word)) {
                strange.insert(word.to_owned());
            }
        });
        strange.len()
    }

    /// Whether the question certainly names it.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.certain_names().any(|known| known.name == name)
    }

    pub(crate) fn certain_names(&self) -> impl Iterator<Item = &SubjectName> {
        self.names.iter().filter(|name| name.certain)
    }
}

/// A word of the question with its dots: `a`, `a.b`, `a::b`.
struct Run<'a> {
    text: &'a str,
    /// In backticks, or with brackets behind it.
    marked: bool,
    /// Whether `/` or `-` joins it to something: a path, or a word of plain language.
    joined: bool,
}

impl Run<'_> {
    fn named(&self, before: &str, next: &str) -> Option<SubjectName> {
        let mut segments = self.text.split(['.', ':', '#']).filter(|segment| !segment.is_empty());
        let name = segments.next_back()?;
        let of = segments.next_back().map(str::to_owned);
        let opens_well = name.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$');
        if !opens_well || name.len() < 2 || self.joined || (of.is_some() && ENDINGS.contains(&name)) {
            return None;
        }
        let given = |certain| Some(SubjectName { name: name.to_owned(), of: of.clone(), certain });
        let compound = name.trim_matches('_').contains('_')
            || (name.starts_with("__") && name.ends_with("__") && name.len() > 4)
            || (name.starts_with('_') && name.len() > 3)
            || name
                .as_bytes()
                .windows(2)
                .any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase())
            // `URLField`, and not `URLs`.
            || name.as_bytes().windows(4).any(|four| {
                four[..2].iter().all(u8::is_ascii_uppercase) && four[2..].iter().all(u8::is_ascii_lowercase)
            });
        let dotted = of.as_ref().is_some_and(|of| of.len() > 1 && name.len() > 1);
        if self.marked || compound || dotted {
            return given(true);
        }
        let asking = |word: &str| {
            let lower = word.to_lowercase();
            NO_NAMES.contains(&lower.as_str())
                || ASKING.contains(&lower.as_str())
                || KINDS.contains(&lower.as_str())
        };
        if asking(name) || !name.is_ascii() {
            return None;
        }
        let beside =
            KINDS.contains(&next) || (KINDS.contains(&before) && name.starts_with(char::is_uppercase));
        beside.then(|| given(name.starts_with(char::is_uppercase)))?
    }
}

fn runs(question: &str) -> Vec<Run<'_>> {
    let bytes = question.as_bytes();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80;
    let mut runs = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !word(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        loop {
            while at < bytes.len() && word(bytes[at]) {
                at += 1;
            }
            let dot = [".", "::", "#"].iter().find(|dot| {
                question[at..].starts_with(**dot) && bytes.get(at + dot.len()).is_some_and(|&byte| word(byte))
            });
            match dot {
                Some(dot) => at += dot.len(),
                None => break,
            }
        }
        let before = start.checked_sub(1).map(|before| bytes[before]);
        let after = bytes.get(at).copied();
        let joins = |byte: Option<u8>| matches!(byte, Some(b'/' | b'-'));
        runs.push(Run {
            text: &question[start..at],
            marked: (before == Some(b'`') && after != Some(b' '))
                || after == Some(b'(') && bytes.get(at + 1) == Some(&b')'),
            joined: joins(before) || joins(after),
        });
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words_are_distinguished() {
        for (question, expected) in [
            ("How does `load` work?", "load"),
            ("How does the initial_form_count method in BaseFormSet work?", "initial_form_count BaseFormSet"),
            ("What does FixtureFunctionMarker.__call__ check?", "FixtureFunctionMarker.__call__"),
            ("Where is std::fs::read_to_string() called", "fs.read_to_string"),
            ("Why does the Pipeline class reject it?", "Pipeline"),
            ("How does the links method handle Unicode?", "links?"),
            ("How does the base class in src/config.py, e.g. A/B, up-to-date, handle HTTP requests?", ""),
            ("What is in flask.config.py and MAX_SIZE?", "MAX_SIZE"),
            ("Which tests cover URLField, for URLs and APIs?", "URLField"),
            ("", ""),
        ] {
            let names: Vec<String> = QuestionSubject::of(question)
                .names
                .iter()
                .map(|name| {
                    let of = name.of.as_ref().map_or(String::new(), |of| format!("{of}."));
                    format!("{of}{}{}", name.name, if name.certain { "" } else { "?" })
                })
                .collect();
            assert_eq!(names.join(" "), expected, "{question}");
        }
        let subject = QuestionSubject::of("How are sessions loaded from cookies?");
        assert_eq!(subject.stems.iter().map(String::as_str).collect::<Vec<_>>(), ["cook", "load", "sess"]);
        assert!((subject.coverage("fn load_session()") - 2.0 / 3.0).abs() < 1e-9);
    }
}
