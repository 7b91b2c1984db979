//! Parses a question: the names that it spells, the words to search for, and whether it wants examples or tests.
//!
//! A **name** is something written as code writes it: in backticks, with an underscore, dots or a change of case, or with
//! brackets after it. It is searched for in that spelling. A **term** is the stem of any other content word; the parts of
//! names are terms too. Stop words are left out.
//!
//! The locator ranks by these. The other roles go by stricter **identifiers** and by the **stems** of more words: they look at
//! few files, in which a common word means more than in all files.

mod act;
mod identifiers;
mod parts;
mod stop_words;
mod symbols;
mod value;

use std::collections::BTreeSet;

use tamis_code_index::{WordQuery, word_stem};
use tamis_redact::Redacted;
use tamis_text::words::{WordPiece, each_word};

pub(crate) use act::Act;
pub(crate) use identifiers::Identifier;
use parts::Parts;
pub(crate) use stop_words::TEST_WORDS;
use stop_words::{ASKING, EXAMPLE_WORDS, JARGON, OVERVIEW_WORDS, REQUESTS, STOP_WORDS, TEST_PHRASES, WHOLES};
pub(crate) use symbols::Symbol;
pub(crate) use value::{Aspect, ValueForm, WantedValue};

/// A question that can be searched for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    /// The question, redacted.
    pub(crate) text: String,
    pub(crate) names: Vec<Name>,
    pub(crate) terms: Vec<Term>,
    /// Owner and member of names such as `Owner.member`, by number.
    pub(crate) members: Vec<(usize, usize)>,
    /// Whether it wants examples or similar implementations, so that the pattern finder is worth its time.
    pub(crate) wants_examples: bool,
    /// Its words beside those that only ask, as they are written; empty when there are many.
    pub(crate) content: Vec<String>,
    /// What these may name.
    pub(crate) symbols: Vec<Symbol>,
    /// In order of appearance.
    pub(crate) identifiers: Vec<Identifier>,
    /// Stems of the content words.
    pub(crate) stems: BTreeSet<String>,
    /// Whether it is for the tests of something.
    pub(crate) wants_tests: bool,
    /// What the code must do to be the answer, if the question says so.
    pub(crate) act: Option<Act>,
    /// The value that it asks for, if it asks for one and spells no name.
    pub(crate) value: Option<WantedValue>,
}

/// An identifier that the question spells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) text: String,
    /// Whether it may as well be the first word of a title: it counts only where something of that name is defined.
    pub(crate) doubtful: bool,
}

/// A word's stem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) stem: String,
    /// As the question has it.
    pub(crate) word: String,
    /// Whether it is a word of the question, and not only part of a name.
    pub(crate) spoken: bool,
    /// Whether it only asks: that no file has it says nothing.
    pub(crate) asks: bool,
    /// Whether the question does not have it: code gives a value that is asked for with this word.
    pub(crate) is_implied: bool,
}

/// More would cost time and change nothing: the rest of a very long question is not looked for.
const MAX_NAMES: usize = 24;
const MAX_TERMS: usize = 48;
/// Fewer words are a name.
const SHORTEST_PHRASE: usize = 3;

impl Question {
    /// The question is redacted before it is split: its words come back in reports, memos and handoffs.
    pub(crate) fn new(text: &str) -> Question {
        let redacted = Redacted::from(text);
        let searched = redacted.searchable();
        let text = searched.as_ref();
        let mut parts = Parts::default();
        for (number, piece) in text.split('`').enumerate() {
            if number % 2 == 1 {
                parts.quote(piece);
            } else {
                parts.read(piece);
            }
        }
        let Parts { mut names, members, doubtful, words, .. } = parts;
        let content = symbols::content(text);
        let mut terms: Vec<Term> = Vec::new();
        // "find", "show": a request that opens the question is not about finding.
        let opening = words.first().filter(|word| REQUESTS.contains(&word.to_lowercase().as_str()));
        let is_opening = |number: usize| number == 0 && opening.is_some() && !content.contains(&words[0]);
        for (_, word) in words.iter().enumerate().filter(|(number, _)| !is_opening(*number)) {
            // "the Location header": with a capital inside a sentence, a common word is a name.
            match doubtful.contains(word) && !STOP_WORDS.contains(&word.to_lowercase().as_str()) {
                true => push_term(&mut terms, &word.to_lowercase(), true, false),
                false => add_term(&mut terms, word, true),
            }
        }
        for name in &names {
            each_word(name, |word, piece| {
                if piece == WordPiece::Part {
                    add_term(&mut terms, word, false);
                }
            });
        }
        if terms.is_empty() {
            // "where is main": the only word is one that most questions have.
            for word in &content {
                each_word(word, |word, piece| {
                    if piece == WordPiece::Part {
                        push_term(&mut terms, word, true, REQUESTS.contains(&word));
                    }
                });
            }
        }
        let symbols = symbols::symbols(&content);
        // A name that is spelled is what is looked for.
        let is_spelled = !names.is_empty() || symbols.iter().any(|symbol| symbol.is_code);
        let value = WantedValue::of(text).filter(|_| !is_spelled);
        for stem in value.iter().flat_map(WantedValue::stems) {
            if !terms.iter().any(|known| known.stem == stem) {
                let (stem, word) = (stem.to_owned(), stem.to_owned());
                terms.push(Term { stem, word, spoken: false, asks: true, is_implied: true });
            }
        }
        terms.truncate(MAX_TERMS);
        names.truncate(MAX_NAMES);
        let kept = names.len();
        let members = members.into_iter().filter(|(owner, member)| *owner.max(member) < kept).collect();
        let doubtful = doubtful.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>();
        let room = MAX_NAMES - names.len();
        let names = names
            .into_iter()
            .map(|text| Name { text, doubtful: false })
            .chain(doubtful.into_iter().take(room).map(|text| Name { text, doubtful: true }))
            .collect();
        let wants_examples = text
            .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '"' | '“' | '”'))
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
            .any(|word| EXAMPLE_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)));
        let mut stems = BTreeSet::new();
        each_word(text, |word, _| {
            if word.len() > 2 && !ASKING.contains(&word) {
                stems.insert(word_stem(word).into_owned());
            }
        });
        let lower = text.to_lowercase();
        Question {
            text: redacted.as_str().to_owned(),
            names,
            terms,
            members,
            wants_examples,
            symbols,
            content,
            identifiers: identifiers::identifiers(text),
            stems,
            wants_tests: TEST_PHRASES.iter().any(|words| lower.contains(words)),
            act: Act::of(text),
            value,
        }
    }

    /// The phrases to look for as they are: those in quotes, else the question without the words that ask.
    pub(crate) fn phrases(&self) -> Vec<String> {
        let quoted = |open: char, close: char| {
            let pieces = self.text.split(open).skip(1);
            pieces.step_by(if open == close { 2 } else { 1 }).filter_map(move |rest| {
                let end = if open == close { rest.len() } else { rest.find(close)? };
                Some(rest[..end].trim().to_owned()).filter(|phrase| phrase.contains(' '))
            })
        };
        let is_closed = |mark: char| self.text.matches(mark).count().is_multiple_of(2);
        let mut phrases: Vec<String> = quoted('“', '”').collect();
        for mark in ['"', '`'].into_iter().filter(|mark| is_closed(*mark)) {
            phrases.extend(quoted(mark, mark));
        }
        if phrases.is_empty() {
            let asks = |word: &&str| {
                let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
                [&ASKING[..], &STOP_WORDS, &EXAMPLE_WORDS, &["uses", "places", "cases"]]
                    .iter()
                    .any(|words| words.contains(&word.as_str()))
            };
            let words: Vec<&str> = self.text.split_whitespace().skip_while(asks).collect();
            let asked = words.iter().rev().take_while(|word| asks(word)).count();
            let phrase = words[..words.len() - asked].join(" ");
            phrases.push(phrase.trim_matches(|c: char| !c.is_alphanumeric()).to_owned());
        }
        phrases.retain(|phrase| !phrase.is_empty());
        phrases
    }

    /// Phrases that a file may have word for word: those in quotes, else the whole question.
    pub(crate) fn verbatim(&self) -> Vec<String> {
        let has_words = |phrase: &str, least: usize| phrase.split_whitespace().count() >= least;
        let mut phrases: Vec<String> = Vec::new();
        for mark in ['"', '`', '\'', '“'] {
            let close = if mark == '“' { '”' } else { mark };
            let mut rest = self.text.as_str();
            while let Some(open) = rest.find(mark) {
                // An apostrophe is inside of a word.
                let is_open = !rest[..open].ends_with(char::is_alphanumeric);
                rest = &rest[open + mark.len_utf8()..];
                let Some(end) = rest.find(close).filter(|_| is_open) else { continue };
                if has_words(&rest[..end], 2) {
                    phrases.push(rest[..end].trim().to_owned());
                }
                rest = &rest[end + close.len_utf8()..];
            }
        }
        // A file that has the whole of "how does …" is a log of questions.
        let first = self.text.split_whitespace().next().unwrap_or("").to_lowercase();
        let asks = ASKING.contains(&first.as_str());
        if phrases.is_empty() && !asks && has_words(&self.text, SHORTEST_PHRASE) {
            phrases.push(self.text.trim().to_owned());
        }
        phrases
    }

    /// Whether it is about the codebase as a whole: "what does this project do".
    pub(crate) fn is_about_everything(&self) -> bool {
        let words = self.text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let is_whole = |word: &String| WHOLES.contains(&word.as_str());
        let says_nothing = |word: &String| {
            let lists = [&ASKING[..], &STOP_WORDS, &REQUESTS, &OVERVIEW_WORDS, &WHOLES];
            lists.iter().any(|list| list.contains(&word.as_str()))
        };
        words.len() > 1 && words.iter().any(is_whole) && words.iter().all(says_nothing)
    }

    /// Whether examples of it are tests: it wants the tests of something, or has no other subject than tests.
    pub(crate) fn is_for_tests(&self) -> bool {
        let mut words = self.content.iter().map(|word| word.to_lowercase());
        self.wants_tests
            || self.content.iter().any(|word| word.to_lowercase().starts_with("test"))
                && words.all(|word| TEST_WORDS.contains(&word.as_str()))
    }

    /// Stems of words that follow each other, without articles and the like.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        // The stems, each with the identifier that it is a part of.
        let mut words: Vec<(String, Option<usize>)> = Vec::new();
        let mut pairs: Vec<(String, String)> = Vec::new();
        let pieces = self.text.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_' || c == '`'));
        for (number, piece) in pieces.enumerate() {
            let is_identifier = piece.contains('_') || piece.chars().skip(1).any(char::is_uppercase);
            each_word(piece, |word, kind| {
                if kind == WordPiece::Part {
                    let stem =
                        if ASKING.contains(&word) { String::new() } else { word_stem(word).into_owned() };
                    words.push((stem, is_identifier.then_some(number)));
                }
            });
        }
        for pair in words.windows(2) {
            // An identifier counts as a whole already, and most often where it is only used.
            let is_one_name = pair[0].1.is_some() && pair[0].1 == pair[1].1;
            let pair = (pair[0].0.clone(), pair[1].0.clone());
            let is_new =
                !pair.0.is_empty() && !pair.1.is_empty() && pair.0 != pair.1 && !pairs.contains(&pair);
            if is_new && !is_one_name {
                pairs.push(pair);
            }
        }
        pairs
    }

    /// What to count in files, in the order of terms and names.
    pub(crate) fn word_query(&self) -> WordQuery {
        WordQuery {
            stems: self.terms.iter().map(|term| term.stem.clone()).collect(),
            names: self.names.iter().map(|name| name.text.clone()).collect(),
            symbols: self
                .symbols
                .iter()
                .filter(|symbol| symbol.is_whole)
                .map(|symbol| symbol.text.clone())
                .collect(),
        }
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
        let mut matched = BTreeSet::new();
        each_word(text, |word, _| {
            if let Some(known) = self.stems.get(&*word_stem(word)) {
                matched.insert(known.as_str());
            }
        });
        matched
    }

    /// How many words of a name the question does not have.
    pub(crate) fn unmatched_words(&self, name: &str) -> usize {
        let mut unmatched = BTreeSet::new();
        each_word(name, |word, piece| {
            if piece == WordPiece::Part && !self.stems.contains(&*word_stem(word)) {
                unmatched.insert(word.to_owned());
            }
        });
        unmatched.len()
    }

    /// Whether the question certainly names it.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.certain_names().any(|known| known.name == name)
    }

    pub(crate) fn certain_names(&self) -> impl Iterator<Item = &Identifier> {
        self.identifiers.iter().filter(|name| name.certain)
    }
}

fn add_term(terms: &mut Vec<Term>, word: &str, spoken: bool) {
    let word = word.to_lowercase();
    let jargon = spoken && JARGON.contains(&word.as_str());
    if word.len() < 2 || jargon || STOP_WORDS.contains(&word.as_str()) {
        return;
    }
    push_term(terms, &word, spoken, REQUESTS.contains(&word.as_str()));
}

/// Adds a lower-case word.
fn push_term(terms: &mut Vec<Term>, word: &str, spoken: bool, asks: bool) {
    let stem = word_stem(word).into_owned();
    if let Some(known) = terms.iter_mut().find(|term| term.stem == stem) {
        known.spoken |= spoken;
        return;
    }
    terms.push(Term { stem, word: word.to_owned(), spoken, asks, is_implied: false });
}

/// Whether it is a stop word.
pub(crate) fn is_common(word: &str) -> bool {
    let word = word.to_lowercase();
    STOP_WORDS.contains(&word.as_str()) || JARGON.contains(&word.as_str())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether it is spelled as only code is: `a_b`, `aB`, `ABc`, `a1`.
fn is_code(word: &str) -> bool {
    let bytes = word.as_bytes();
    let pair = |test: fn(u8, u8) -> bool| bytes.windows(2).any(|pair| test(pair[0], pair[1]));
    word.contains('_')
        || pair(|a, b| (a.is_ascii_lowercase() || a.is_ascii_digit()) && b.is_ascii_uppercase())
        || pair(|a, b| a.is_ascii_lowercase() && b.is_ascii_digit())
        || bytes.windows(3).any(|three| {
            three[0].is_ascii_uppercase() && three[1].is_ascii_uppercase() && three[2].is_ascii_lowercase()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken_apart(text: &str) -> (Vec<String>, Vec<String>) {
        let question = Question::new(text);
        let names = question
            .names
            .into_iter()
            .map(|name| if name.doubtful { format!("{}?", name.text) } else { name.text });
        let terms = question
            .terms
            .into_iter()
            .filter(|term| !term.is_implied)
            .map(|term| if term.spoken { term.stem } else { format!("({})", term.stem) });
        (names.collect(), terms.collect())
    }

    #[test]
    fn names_and_words_are_distinguished() {
        for (text, names, terms) in [
            (
                "How does the `initial_form_count` method in `BaseFormSet` reconcile the management form?",
                "initial_form_count BaseFormSet",
                "reconcil form (initial) (count) (bas) (set)",
            ),
            ("Where is retry implemented?", "", "retr"),
            // A request that opens the question is not looked for; inside of it, it may be.
            ("find what counts retries", "", "count retr"),
            ("what counts the finds of retries?", "", "count find retr"),
            ("What does Config.load() do when Redis is down?", "Config load Redis?", "redi (config) (load)"),
            ("why does HTTPAdapter pool connections", "HTTPAdapter", "pool connect (http) (adapt)"),
            ("Which utf8 decoder is used. Nothing else", "utf8 Nothing?", "decod noth (utf8)"),
            ("Blueprint registration", "Blueprint?", "blueprint registr"),
            ("Describe Blueprint", "Blueprint?", "blueprint"),
            // A common word is dropped, and kept where it is written as a name.
            ("where is the location of the header set", "", "head"),
            ("where is the Location header set", "Location?", "loc head"),
            ("how is the State of an Order changed", "State? Order?", "stat ord"),
            ("How does it decide which proxy to use", "", "prox"),
            ("設定 読込", "", "設 定 読 込"),
            ("Où est le café?", "Où?", "où est le café"),
            ("", "", ""),
            ("how what where", "", ""),
        ] {
            let expected = |list: &str| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(taken_apart(text), (expected(names), expected(terms)), "{text}");
        }
    }

    #[test]
    fn owners_and_members_are_distinguished() {
        for (text, members) in [
            ("How does Config.load() work?", vec![(0, 1)]),
            ("What do `Registry::call` and `a.b.c` do with `x`?", vec![(0, 1)]),
            ("`Owner.member_of(other)`", vec![(0, 1)]),
            ("Config and load()", vec![]),
            ("read django.urls.reverse", vec![(0, 1), (1, 2)]),
        ] {
            assert_eq!(Question::new(text).members, members, "{text}");
        }
    }

    #[test]
    fn words_of_the_question_request_examples() {
        assert!(Question::new("Show me similar handlers").wants_examples);
        assert!(Question::new("Are there other Examples of retries?").wants_examples);
        assert!(Question::new("Give an example: (patterns, usages) of \"retry\".").wants_examples);
        for question in [
            "Where is X implemented?",
            "Where is db.example.com configured?",
            "Who calls https://example.org/path?",
            "Who writes to me@example.net?",
            "What does example_app.run do?",
            "Where is examples/run.py used?",
        ] {
            assert!(!Question::new(question).wants_examples, "{question}");
        }
    }

    #[test]
    fn phrases_are_what_is_quoted_or_what_is_left_without_the_words_that_ask() {
        for (question, phrases) in [
            ("connection refused by peer", vec!["connection refused by peer"]),
            ("Show examples of connection refused, please", vec!["connection refused"]),
            ("Where is \"too many open files\" logged?", vec!["too many open files"]),
            ("Where is “too many” logged?", vec!["too many"]),
            ("Where is `fn main` and \"a b\"?", vec!["a b", "fn main"]),
            ("Where is it?", vec![]),
        ] {
            assert_eq!(Question::new(question).phrases(), phrases, "{question}");
        }
    }

    #[test]
    fn a_question_may_have_a_phrase_word_for_word() {
        for (question, phrases) in [
            ("No key has as many lines", vec!["No key has as many lines"]),
            ("where is the error 'no original is stored for' produced", vec!["no original is stored for"]),
            ("it isn't in its place", vec![]),
            ("nothing isn't in it's place", vec!["nothing isn't in it's place"]),
            ("Where is “too many” logged, and \"a b\"?", vec!["a b", "too many"]),
            ("`load` twice", vec![]),
        ] {
            assert_eq!(Question::new(question).verbatim(), phrases, "{question}");
        }
    }

    #[test]
    fn a_question_may_be_for_tests() {
        for question in [
            "unit tests",
            "tests",
            "Show me examples of integration tests",
            "how are tests written",
            "unit tests of the parser",
            "which tests cover URLField",
        ] {
            assert!(Question::new(question).is_for_tests(), "{question}");
        }
        for question in ["unit", "test server", "the test runner", "cases", "where is the latest unit"] {
            assert!(!Question::new(question).is_for_tests(), "{question}");
        }
    }

    #[test]
    fn a_question_may_be_about_everything() {
        for question in [
            "what does this project do",
            "What is this repo about?",
            "explain the codebase",
            "overview of the project",
        ] {
            assert!(Question::new(question).is_about_everything(), "{question}");
        }
        for question in
            ["what is it that it does", "project", "what does the project parser do", "where is main"]
        {
            assert!(!Question::new(question).is_about_everything(), "{question}");
        }
    }

    #[test]
    fn a_long_question_is_bounded() {
        let text = (0..10_000).map(|number| format!("word{number} thing_{number} ")).collect::<String>();
        let question = Question::new(&text);
        assert_eq!((question.names.len(), question.terms.len()), (MAX_NAMES, MAX_TERMS));
    }

    #[test]
    fn identifiers_and_stems_are_found() {
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
            let names: Vec<String> = Question::new(question)
                .identifiers
                .iter()
                .map(|name| {
                    let of = name.of.as_ref().map_or(String::new(), |of| format!("{of}."));
                    format!("{of}{}{}", name.name, if name.certain { "" } else { "?" })
                })
                .collect();
            assert_eq!(names.join(" "), expected, "{question}");
        }
        let question = Question::new("How are sessions loaded from cookies?");
        assert_eq!(question.stems.iter().map(String::as_str).collect::<Vec<_>>(), ["cook", "load", "sess"]);
        assert!((question.coverage("fn load_session()") - 2.0 / 3.0).abs() < 1e-9);
    }
}
