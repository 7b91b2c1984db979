//! Which messages of a log a question is about, by what both name.
//!
//! Each message is given as bits for what it has of the question, so the same rule serves a text in memory, whose messages are all known,
//! and a large one, of which only the number of lines with each combination of bits is known.

mod words;

use tamis_text::words::{WordPiece, each_word, stem};

use crate::bm25::idf;
use crate::goal::{Goal, Intent};
use crate::patterns::{Edges, Pattern, Patterns};
use crate::want::{Name, NameSort, Want};
use words::{FUNCTION_WORDS, GENERIC};

pub(crate) use words::asks_for_failure;

/// A word that more than this share of the messages has is no evidence by itself.
const MOST_WITH_A_WORD: f32 = 0.5;
/// All messages that are selected by single words are at most this share.
const MOST_SELECTED: f32 = 0.8;
/// For a question about failures, which are found without words.
const MOST_BESIDE_FAILURES: f32 = 0.05;
/// Messages that have the most of what the goal names select only if they are at most this share.
const MOST_OF_THE_BEST: f32 = 0.5;
/// Messages with this share of what the best one has are as good as it.
const AS_GOOD: f32 = 0.6;
/// If less than this share of what the goal names is in the text, the other words may be the ones that matter.
const LEAST_FOUND: f32 = 0.6;

/// A shorter number may be anything, unless the word before or behind it is there too.
const SHORTEST_NUMBER: usize = 3;
/// A shorter name with digits, such as a version, may be in lines beside those that are meant.
const SHORTEST_DECISIVE: usize = 5;
/// Between a word and its number: `stage 5`, `worker-7`, `server=3`.
const BEFORE_NUMBER: [&str; 7] = [" ", "-", "=", "_", " #", ": ", "["];

/// What a question names, and the bits that stand for it.
pub(crate) struct Vocabulary {
    names: Vec<NameBits>,
    /// The bit of each term of the goal, if it has one.
    of_term: Vec<u64>,
    stems: Vec<String>,
    patterns: Vec<Pattern>,
    /// The question names more than there are bits.
    is_cut_short: bool,
    is_about_failures: bool,
}

/// The bits of one name.
#[derive(Clone, Copy, Default)]
struct NameBits {
    /// Long and with digits, so it is not there by chance.
    is_decisive: bool,
    /// Spelled as it is, if it is no word of a language: an address, a process, a request, a program.
    id: u64,
    /// Its compound, and each of its parts.
    whole: u64,
    parts: u64,
    /// Other words that programs use for it.
    synonyms: u64,
}

/// Allocates bits, the lowest first.
struct Bits {
    next: u32,
    most: u32,
}

impl Bits {
    fn take(&mut self) -> u64 {
        if self.next >= self.most {
            return 0;
        }
        self.next += 1;
        1 << (self.next - 1)
    }
}

impl Vocabulary {
    /// With up to `most` bits. Names that are no words of a language come first, because they say most.
    pub(crate) fn of(goal: &Goal, want: &Want, most: u32) -> Vocabulary {
        let mut bits = Bits { next: 0, most };
        let mut vocabulary = Vocabulary {
            names: Vec::new(),
            of_term: vec![0; goal.terms.len()],
            stems: goal.terms.iter().map(|term| term.stem.clone()).collect(),
            patterns: Vec::new(),
            is_cut_short: false,
            is_about_failures: (goal.intents.contains(&Intent::Failures) || want.asks_for_failure)
                && !want.counts,
        };
        let is_name = |name: &&Name| {
            let lower = name.text.to_lowercase();
            !GENERIC.contains(&lower.as_str()) && !FUNCTION_WORDS.contains(&lower.as_str())
        };
        let names: Vec<&Name> = want.subjects.iter().filter(is_name).collect();
        vocabulary.names = names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let before = at.checked_sub(1).map(|before| names[before].text.as_str());
                let after = names.get(at + 1).map(|after| after.text.as_str());
                NameBits {
                    id: vocabulary.add_id(name, before, after, &mut bits),
                    is_decisive: name.text.len() >= SHORTEST_DECISIVE
                        && name.text.bytes().any(|byte| byte.is_ascii_digit()),
                    ..NameBits::default()
                }
            })
            .collect();
        for (number, name) in names.iter().enumerate() {
            let NameBits { whole, parts, .. } = vocabulary.terms_of(&name.text, &mut bits);
            let synonyms = vocabulary.add_synonyms(&name.text, &mut bits);
            vocabulary.names[number] = NameBits { whole, parts, synonyms, ..vocabulary.names[number] };
        }
        vocabulary.is_cut_short = bits.next == bits.most;
        vocabulary
    }

    /// A bit for a name that is no word of a language, where it is in the text as it is spelled.
    fn add_id(&mut self, name: &Name, before: Option<&str>, after: Option<&str>, bits: &mut Bits) -> u64 {
        let text = name.text.as_str();
        if !(name.sort != NameSort::Word
            || is_capitalized(text)
            || text.bytes().any(|byte| byte.is_ascii_digit()))
        {
            return 0;
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let mut spellings = Vec::new();
        if text.len() >= SHORTEST_NUMBER || !is_number {
            spellings.push(text.to_owned());
        } else {
            let word = before.map(|word| word.strip_suffix('s').unwrap_or(word));
            spellings.extend(
                word.iter()
                    .flat_map(|word| BEFORE_NUMBER.iter().map(move |sign| format!("{word}{sign}{text}"))),
            );
            spellings
                .extend(after.iter().flat_map(|word| [format!("{text} {word}"), format!("{text}{word}")]));
        }
        let bit = if spellings.is_empty() { 0 } else { bits.take() };
        self.patterns.extend(spellings.iter().filter_map(|word| Pattern::new(word, bit, Edges::Whole)));
        bit
    }

    fn terms_of(&mut self, name: &str, bits: &mut Bits) -> NameBits {
        let mut found = NameBits::default();
        each_word(name, |word, piece| {
            let Some(term) = self.stems.iter().position(|other| other == stem(word)) else { return };
            if self.of_term[term] == 0 {
                self.of_term[term] = bits.take();
            }
            match piece {
                WordPiece::Whole => found.whole |= self.of_term[term],
                WordPiece::Part => found.parts |= self.of_term[term],
            }
        });
        found
    }

    fn add_synonyms(&mut self, name: &str, bits: &mut Bits) -> u64 {
        let words: Vec<(&str, bool)> = words::synonyms(name).collect();
        let bit = if words.is_empty() { 0 } else { bits.take() };
        self.patterns.extend(words.iter().filter_map(|(word, is_whole)| {
            Pattern::new(word, bit, if *is_whole { Edges::Whole } else { Edges::Beginning })
        }));
        bit
    }

    /// Whether the question is for a cause or a failure, which the network and the protections know.
    pub(crate) fn is_about_failures(&self) -> bool {
        self.is_about_failures
    }

    /// The bit of a term of the goal, or 0.
    pub(crate) fn term(&self, term: usize) -> u64 {
        self.of_term.get(term).copied().unwrap_or(0)
    }

    /// Patterns for what is no term of the goal.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = Pattern> {
        self.patterns.iter().filter(|pattern| pattern.bits() != 0).cloned()
    }

    /// Patterns for the terms, where there is no index.
    pub(crate) fn patterns_of_terms(&self) -> impl Iterator<Item = Pattern> {
        let terms = self.stems.iter().zip(&self.of_term).filter(|(_, bits)| **bits != 0);
        terms.filter_map(|(stem, bits)| Pattern::new(stem, *bits, Edges::Stem))
    }

    /// For each line, the bits of what is no term of the goal.
    pub(crate) fn mark(&self, lines: &[&str]) -> Vec<u64> {
        let patterns = Patterns::new(self.patterns().collect());
        lines.iter().map(|line| patterns.find(line.as_bytes())).collect()
    }
}

/// `Skype`, `TCP`
fn is_capitalized(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// Which messages a question is about.
pub(crate) enum Mentions {
    /// The question names nothing, so no message is known to be what it is about.
    Nothing,
    /// What it names is not in the text, or everywhere: any message may be what is wanted.
    Unknown,
    Some(Selection),
}

pub(crate) struct Selection {
    /// Bits of which each selects by itself.
    telling: u64,
    weights: Vec<f32>,
    /// The weight from which on all bits of a message together select it.
    least: f32,
    has_id: bool,
    /// An address, a request or the like that is among them.
    decisive: u64,
    /// All that the question names is in the messages that have it, or selects messages itself.
    is_complete: bool,
}

impl Selection {
    /// Whether other messages are certainly not meant.
    pub(crate) fn is_decisive(&self) -> bool {
        self.decisive != 0 && self.is_complete
    }

    /// Whether a name that is no word of a language is among what it selects.
    pub(crate) fn has_id(&self) -> bool {
        self.has_id
    }

    /// Whether messages that it does not select are not meant, if it is known from something else which ones are.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether a message has what makes the selection decisive.
    pub(crate) fn has_decisive(&self, bits: u64) -> bool {
        bits & self.decisive != 0
    }

    pub(crate) fn has(&self, bits: u64) -> bool {
        bits & self.telling != 0 || self.least > 0.0 && weight(&self.weights, bits) >= self.least
    }
}

impl Mentions {
    /// `combinations` has, for each combination of bits that occurs, the number of messages with it.
    pub(crate) fn read(vocabulary: &Vocabulary, combinations: &[(u64, u64)]) -> Mentions {
        let all: u64 = combinations.iter().map(|(_, count)| count).sum();
        let with = |mask: u64| -> u64 {
            combinations.iter().filter(|(bits, _)| bits & mask != 0).map(|(_, count)| count).sum()
        };
        let share = |count: u64, most: f32| count as f32 <= most * all as f32;
        let Named { names, found, bits: named } = named(vocabulary, &with);
        if names == 0 {
            return Mentions::Nothing;
        }
        let is_about_failures = vocabulary.is_about_failures;
        let mut known: Vec<(u64, u64)> = (0..u64::BITS)
            .map(|bit| 1 << bit)
            .filter(|bit| named & bit != 0)
            .map(|bit| (with(bit), bit))
            .filter(|&(count, _)| count > 0)
            .collect();
        known.sort_unstable();
        // Such a name is one thing, whatever else is asked.
        let ids = vocabulary.names.iter().fold(0, |ids, name| ids | name.id);
        let mut telling = known
            .iter()
            .filter(|&&(count, bit)| ids & bit != 0 && share(count, MOST_WITH_A_WORD))
            .fold(0, |telling, (_, bit)| telling | bit);
        let has_id = telling != 0;
        let decisive = match is_about_failures {
            true => 0,
            false => {
                telling
                    & vocabulary
                        .names
                        .iter()
                        .filter(|name| name.is_decisive)
                        .fold(0, |ids, name| ids | name.id)
            }
        };
        let most = if is_about_failures { MOST_BESIDE_FAILURES } else { MOST_SELECTED };
        for &(count, bit) in &known {
            if share(count, MOST_WITH_A_WORD) && share(with(telling | bit), most) {
                telling |= bit;
            }
        }
        let mut weights = vec![0.0; u64::BITS as usize];
        for &(count, bit) in &known {
            weights[bit.trailing_zeros() as usize] = idf(count as f32, all as f32);
        }
        let best = combinations.iter().map(|(bits, _)| weight(&weights, *bits)).fold(0.0, f32::max);
        let as_good: u64 = combinations
            .iter()
            .filter(|(bits, _)| best > 0.0 && weight(&weights, *bits) >= AS_GOOD * best)
            .map(|(_, count)| count)
            .sum();
        let most_of_best = if is_about_failures { MOST_BESIDE_FAILURES } else { MOST_OF_THE_BEST };
        let selects = best > 0.0 && share(as_good, most_of_best);
        let selection = Selection {
            telling,
            weights,
            least: if selects { AS_GOOD * best } else { 0.0 },
            has_id,
            decisive,
            is_complete: false,
        };
        let is_settled = |name: &NameBits| {
            let all = name.id | name.whole | name.parts | name.synonyms;
            let is_in_all = || {
                let mut with_id =
                    combinations.iter().filter(|(bits, _)| bits & selection.decisive != 0).peekable();
                with_id.peek().is_some() && with_id.all(|(bits, _)| bits & all != 0)
            };
            all == 0 || all & selection.telling != 0 || is_in_all()
        };
        let is_complete =
            !vocabulary.is_cut_short && found == names && vocabulary.names.iter().all(is_settled);
        let selection = Selection { is_complete, ..selection };
        let is_trusted = has_id || found as f32 >= LEAST_FOUND * names as f32;
        match (telling != 0 || selects, is_trusted) {
            (true, true) => Mentions::Some(selection),
            (true, false) if is_about_failures => Mentions::Some(selection),
            _ if is_about_failures => Mentions::Nothing,
            _ => Mentions::Unknown,
        }
    }
}

fn weight(weights: &[f32], bits: u64) -> f32 {
    weights.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, weight)| weight).sum()
}

/// How many things the goal names, how many of them are in the text, and the bits that they consist of.
#[derive(Default)]
struct Named {
    names: usize,
    found: usize,
    bits: u64,
}

fn named(vocabulary: &Vocabulary, with: &dyn Fn(u64) -> u64) -> Named {
    let mut named = Named::default();
    for &NameBits { id, whole, parts, synonyms, .. } in &vocabulary.names {
        if id != 0 && with(id) > 0 {
            named.names += 1;
            named.found += 1;
            named.bits |= id;
            continue;
        }
        if id | whole | parts | synonyms == 0 {
            continue;
        }
        named.names += 1;
        let has_whole = whole != 0 && with(whole) > 0;
        let has_parts =
            parts != 0 && (0..u64::BITS).map(|bit| 1 << bit).all(|bit| parts & bit == 0 || with(bit) > 0);
        named.found += usize::from(has_whole || has_parts || synonyms != 0 && with(synonyms) > 0);
        named.bits |= synonyms | if has_whole { whole } else { parts };
    }
    named
}
