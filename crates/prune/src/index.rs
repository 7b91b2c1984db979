//! The word index of a text: the words of each line as numbers, and where the goal's terms occur.

use memchr::memmem;
use tamis_text::interner::Interner;
use tamis_text::words::{WordPiece, each_word, stem};

use crate::EngineError;
use crate::goal::Goal;

/// The weight of a match by prefix: `init` for `initialize`, `config` for `configuration`.
const PREFIX_MATCH: f32 = 0.5;
const SHORTEST_PREFIX: usize = 4;
const NO_TERM: u16 = u16::MAX;
/// Only this much of a line is read: further right there is data.
const LINE_BYTES: usize = 4 * 1024;

/// One occurrence of a term of the goal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) line: u32,
    pub(crate) term: u16,
    pub(crate) weight: f32,
}

pub(crate) struct Index {
    pub(crate) lines: usize,
    /// The words of all lines, one after another. Compound identifiers are there in parts and whole.
    pub(crate) words: Vec<u32>,
    /// Where the words of each line start; the last entry is the end.
    pub(crate) starts: Vec<u32>,
    pub(crate) vocabulary: Interner,
    /// In how many lines each word occurs.
    pub(crate) line_frequency: Vec<u32>,
    pub(crate) hits: Vec<Hit>,
    /// Lines in which two words follow one another as they do in the goal.
    pub(crate) phrases: Vec<u32>,
    /// Lines that contain an identifier of the goal, once for each identifier.
    pub(crate) named: Vec<u32>,
    /// For each word of the vocabulary, the term that it matches and the weight of the match.
    term_of: Vec<(u16, f32)>,
}

impl Index {
    pub(crate) fn read(
        text: &str,
        lines: &[&str],
        goal: &Goal,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Index, EngineError> {
        let mut vocabulary = Interner::default();
        // Unstemmed words are interned too, so that each is stemmed only once.
        let mut forms = Interner::default();
        let mut stem_of_form: Vec<u32> = Vec::new();
        let mut words = Vec::with_capacity(text.len() / 6);
        let mut starts = Vec::with_capacity(lines.len() + 1);
        for (number, line) in lines.iter().enumerate() {
            if number % 256 == 0 && interrupted() {
                return Err(EngineError::Interrupted);
            }
            starts.push(words.len() as u32);
            each_word(crate::goal::clip(line, LINE_BYTES), |word, _: WordPiece| {
                let form = forms.intern(word) as usize;
                if form == stem_of_form.len() {
                    stem_of_form.push(vocabulary.intern(stem(word)));
                }
                words.push(stem_of_form[form]);
            });
        }
        starts.push(words.len() as u32);
        let term_of = match_terms(&vocabulary, goal);
        let mut index = Index {
            lines: lines.len(),
            line_frequency: vec![0; vocabulary.len()],
            words,
            starts,
            vocabulary,
            hits: Vec::new(),
            phrases: Vec::new(),
            named: Vec::new(),
            term_of,
        };
        index.find_hits(goal, interrupted)?;
        index.find_identifiers(text, goal);
        Ok(index)
    }

    pub(crate) fn line_words(&self, line: usize) -> &[u32] {
        &self.words[self.starts[line] as usize..self.starts[line + 1] as usize]
    }

    /// The term of the goal that a word matches, and the weight of the match.
    pub(crate) fn term(&self, word: u32) -> Option<(u16, f32)> {
        let found = self.term_of[word as usize];
        (found.0 != NO_TERM).then_some(found)
    }

    fn find_hits(&mut self, goal: &Goal, interrupted: &dyn Fn() -> bool) -> Result<(), EngineError> {
        let mut last_line = vec![u32::MAX; self.vocabulary.len()];
        for line in 0..self.lines {
            if line % 512 == 0 && interrupted() {
                return Err(EngineError::Interrupted);
            }
            let mut before = NO_TERM;
            for at in self.starts[line]..self.starts[line + 1] {
                let word = self.words[at as usize];
                if last_line[word as usize] != line as u32 {
                    last_line[word as usize] = line as u32;
                    self.line_frequency[word as usize] += 1;
                }
                let (term, weight) = self.term_of[word as usize];
                if term != NO_TERM {
                    self.hits.push(Hit { line: line as u32, term, weight });
                    if before != NO_TERM && goal.pairs.binary_search(&(before, term)).is_ok() {
                        self.phrases.push(line as u32);
                    }
                }
                before = term;
            }
        }
        Ok(())
    }

    fn find_identifiers(&mut self, text: &str, goal: &Goal) {
        // Occurrences come in order, so counting newlines between them gives their lines in one pass.
        for name in &goal.identifiers {
            let mut offset = 0;
            let mut line = 0u32;
            let mut last = u32::MAX;
            for found in memmem::find_iter(text.as_bytes(), name.as_bytes()) {
                line += memchr::memchr_iter(b'\n', &text.as_bytes()[offset..found]).count() as u32;
                offset = found;
                if line != last {
                    self.named.push(line);
                    last = line;
                }
            }
        }
    }
}

/// Matches each word of the vocabulary with the terms of the goal, exactly or by prefix.
fn match_terms(vocabulary: &Interner, goal: &Goal) -> Vec<(u16, f32)> {
    let mut term_of = vec![(NO_TERM, 0.0); vocabulary.len()];
    // Sorted by their first bytes, so that a word is compared only with the terms that begin like it.
    let mut openings: Vec<([u8; SHORTEST_PREFIX], u16)> = goal
        .terms
        .iter()
        .enumerate()
        .filter_map(|(number, term)| {
            Some((term.stem.as_bytes().first_chunk::<SHORTEST_PREFIX>().copied()?, number as u16))
        })
        .collect();
    openings.sort_unstable();
    for (id, slot) in term_of.iter_mut().enumerate() {
        let word = vocabulary.word(id as u32);
        let Some(opening) = word.as_bytes().first_chunk::<SHORTEST_PREFIX>() else { continue };
        let from = openings.partition_point(|(known, _)| known < opening);
        for &(_, term) in openings[from..].iter().take_while(|(known, _)| known == opening) {
            let stem = &goal.terms[term as usize].stem;
            if stem != word
                && (stem.starts_with(word)
                    || (word.starts_with(stem.as_str()) && word.len() < 2 * stem.len()))
            {
                *slot = (term, PREFIX_MATCH);
                break;
            }
        }
    }
    for (number, term) in goal.terms.iter().enumerate() {
        if let Some(id) = vocabulary.find(&term.stem) {
            term_of[id as usize] = (number as u16, 1.0);
        }
    }
    term_of
}
