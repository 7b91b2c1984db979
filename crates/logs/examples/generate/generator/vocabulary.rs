//! Some 30,000 words and identifiers, the same for all sessions of a home folder.
//!
//! A few hundred common English words lead; the rest is built from syllables, so that letters follow each other about as
//! they do in real text and a filter of letter triples meets as many distinct ones.

use std::collections::HashSet;

use super::random::Random;

/// Ranks of each list are below 2 to the power of this.
pub(crate) const BITS: u32 = 14;

pub(crate) struct Vocabulary {
    words: Vec<Box<str>>,
    names: Vec<Box<str>>,
}

impl Vocabulary {
    pub(crate) fn new(random: &mut Random) -> Vocabulary {
        let mut known: HashSet<String> = HashSet::new();
        let mut words: Vec<Box<str>> = Vec::new();
        let mut add = |word: String| {
            if words.len() < 1 << BITS && known.insert(word.clone()) {
                words.push(word.into());
            }
            words.len() < 1 << BITS
        };
        COMMON.split_whitespace().for_each(|word| {
            add(word.to_owned());
        });
        while add(invented(random)) {}
        let names = (0..1 << BITS).map(|_| name_of(random, &words).into()).collect();
        Vocabulary { words, names }
    }

    pub(crate) fn word(&self, rank: usize) -> &str {
        &self.words[rank]
    }

    pub(crate) fn name(&self, rank: usize) -> &str {
        &self.names[rank]
    }

    /// A word that is in none of the vocabulary, in whole or in part.
    pub(crate) fn foreign(&self, random: &mut Random) -> String {
        loop {
            let word = invented(random) + &invented(random);
            if word.len() >= 8 && !self.words.iter().chain(&self.names).any(|known| known.contains(&word)) {
                return word;
            }
        }
    }
}

fn invented(random: &mut Random) -> String {
    let mut word = String::new();
    for _ in 0..random.weighted(&[(1, 2), (2, 6), (3, 3)]) {
        word.push_str(random.pick(ONSETS));
        word.push_str(random.pick(VOWELS));
        word.push_str(random.pick(CODAS));
    }
    if random.percent(35) {
        word.push_str(random.pick(ENDINGS));
    }
    word
}

/// An identifier in one of the usual spellings.
fn name_of(random: &mut Random, words: &[Box<str>]) -> String {
    let parts: Vec<&str> =
        (0..random.weighted(&[(1, 3), (2, 6), (3, 2)])).map(|_| words[random.rank(BITS)].as_ref()).collect();
    let mut name = if random.percent(50) {
        parts.join("_")
    } else {
        let mut name = parts[0].to_owned();
        parts[1..].iter().for_each(|part| name.push_str(&capitalized(part)));
        name
    };
    if random.percent(6) {
        name.push_str(&random.between(1, 128).to_string());
    }
    name
}

pub(crate) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

const ONSETS: &[&str] = &[
    "b", "br", "c", "ch", "cl", "cr", "d", "dr", "f", "fl", "fr", "g", "gl", "gr", "h", "j", "k", "l", "m",
    "n", "p", "ph", "pl", "pr", "qu", "r", "s", "sc", "sh", "sl", "sp", "st", "str", "t", "th", "tr", "v",
    "w", "x", "y", "z", "", "",
];
const VOWELS: &[&str] =
    &["a", "e", "i", "o", "u", "a", "e", "i", "o", "e", "ai", "ea", "ee", "ie", "io", "oo", "ou", "ua", "y"];
const CODAS: &[&str] = &[
    "", "", "", "", "b", "ck", "ct", "d", "ff", "g", "l", "ll", "ld", "m", "mp", "n", "nd", "ng", "nt", "p",
    "pt", "r", "rd", "rk", "rm", "rt", "s", "sh", "sk", "ss", "st", "t", "tch", "w", "x", "z",
];
const ENDINGS: &[&str] =
    &["ed", "er", "ing", "s", "ly", "tion", "able", "ment", "ness", "al", "ive", "ize", "less"];

/// In about the order of their frequency in what agents and tools write.
const COMMON: &str = "
the to a and of in is for it this that with on be not file from are as test by an or if we can code use error new all at
so will line now should has have but which was when run no one you any set get type out then add data name return only
value first let read list up there function into need make each after where path other build same also does before fix
check more change two because check result call string still what its call here already must user id key index time
output default command state input number config size empty module check version under start end write case option pass
next last between change match both without see server client request response table row column count total build field
path missing found expected actual failed warning info debug main source target tests files lines branch commit merge
update create delete remove insert select open close send receive token message event handler parse format print log
json string array object map vector buffer stream thread lock async await future task queue cache store load save query
filter sort search find replace text byte bytes word words char length offset range limit page cursor session project
folder directory process memory disk network port host address url header body status level depth width height color
style theme view model controller service provider reader writer parser lexer node tree graph edge root leaf parent
child left right top bottom front back high low fast slow old long short big small true false null none some ok okay
looks works broken instead however therefore maybe likely exactly simply really actually currently probably";
