//! The identifiers that a question names, as the analyzer and the pattern finder look for them.

use super::stop_words::ASKING;

/// An identifier, or a word that is used like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identifier {
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

/// What file names end with: `config.py` is not an attribute.
#[rustfmt::skip]
const ENDINGS: [&str; 22] = [
    "py", "rs", "js", "ts", "tsx", "jsx", "go", "java", "c", "h", "cc", "cpp", "hpp", "rb", "sh", "md", "toml", "yml",
    "yaml", "json", "txt", "cfg",
];

/// The identifiers of a question, in order of appearance, each once.
pub(super) fn identifiers(question: &str) -> Vec<Identifier> {
    let mut identifiers: Vec<Identifier> = Vec::new();
    let runs = runs(question);
    for (number, run) in runs.iter().enumerate() {
        let next = runs.get(number + 1).map_or("", |next| next.text);
        let before = number.checked_sub(1).map_or("", |at| runs[at].text);
        if let Some(identifier) = run.identifier(before, next)
            && identifiers.len() < MAX_NAMES
            && !identifiers.iter().any(|known| known.name == identifier.name)
        {
            identifiers.push(identifier);
        }
    }
    identifiers
}

/// A word of the question with its dots: `a`, `a.b`, `a::b`, `a->b`.
struct Run<'a> {
    text: &'a str,
    /// In backticks, or with brackets behind it.
    marked: bool,
    /// Whether `/` or `-` joins it to something: a path, or a word of plain language.
    joined: bool,
}

impl Run<'_> {
    fn identifier(&self, before: &str, next: &str) -> Option<Identifier> {
        let mut segments = self.text.split(['.', ':', '#', '-', '>']).filter(|segment| !segment.is_empty());
        let name = segments.next_back()?;
        let of = segments.next_back().map(str::to_owned);
        let opens_well = name.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$');
        if !opens_well || name.len() < 2 || self.joined || (of.is_some() && ENDINGS.contains(&name)) {
            return None;
        }
        let given = |certain| Some(Identifier { name: name.to_owned(), of: of.clone(), certain });
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
            let dot = [".", "::", "#", "->"].iter().find(|dot| {
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
