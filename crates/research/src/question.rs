//! A question, taken apart: what it asks for, and the words and identifiers that may lead there.

/// A question that can be searched for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    /// As it was asked.
    pub(crate) text: String,
    /// Whether it wants examples or similar implementations, so that the pattern finder is worth its time.
    pub(crate) wants_examples: bool,
}

/// Words by which somebody asks for examples.
const EXAMPLE_WORDS: [&str; 10] = [
    "example",
    "examples",
    "pattern",
    "patterns",
    "similar",
    "elsewhere",
    "conventions",
    "convention",
    "idiom",
    "usages",
];

impl Question {
    pub(crate) fn new(text: &str) -> Question {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        let wants_examples =
            words.any(|word| EXAMPLE_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)));
        Question { text: text.to_owned(), wants_examples }
    }
}
