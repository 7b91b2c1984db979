//! The text read once: the words of each line as numbers, and where the goal's terms are.

use memchr::memmem;
use tamis_text::interner::Vocabulary;
use tamis_text::words::{Piece, each_word, stem};

use crate::Unpruned;
use crate::goal::Goal;

/// Words that begin alike count as this much of a match: `init` for `initialize`, `config` for `configuration`.
const PREFIX_MATCH: f32 = 0.5;
const SHORTEST_PREFIX: usize = 4;
const NO_TERM: u16 = u16::MAX;
/// A line is read up to here: what lies further right is data.
const LINE_BYTES: usize = 4 * 1024;

/// One word of the text that the goal asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) line: u32,
    pub(crate) term: u16,
    pub(crate) weight: f32,
}

pub(crate) struct Index {
    pub(crate) lines: usize,
    /// Words of all lines, one after another; compounds whole as well as in parts.
    pub(crate) words: Vec<u32>,
    /// Where each line's words start, and one more.
    pub(crate) starts: Vec<u32>,
    pub(crate) vocabulary: Vocabulary,
    /// In how many lines each word is.
    pub(crate) line_frequency: Vec<u32>,
    pub(crate) hits: Vec<Hit>,
    /// Lines in which two words of the goal follow one another as they do there.
    pub(crate) phrases: Vec<u32>,
    /// Lines that name an identifier of the goal, once for each name.
    pub(crate) named: Vec<u32>,
    /// Which of the vocabulary's words is a term of the goal.
    term_of: Vec<(u16, f32)>,
}

impl Index {
    pub(crate) fn read(
        text: &str,
        lines: &[&str],
        goal: &Goal,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Index, Unpruned> {
        let mut vocabulary = Vocabulary::default();
        // Words as they stand are numbered too, so that each is stemmed once and not at every place.
        let mut forms = Vocabulary::default();
        let mut stem_of_form: Vec<u32> = Vec::new();
        let mut words = Vec::with_capacity(text.len() / 6);
        let mut starts = Vec::with_capacity(lines.len() + 1);
        for (number, line) in lines.iter().enumerate() {
            if number % 256 == 0 && interrupted() {
                return Err(Unpruned::Interrupted);
            }
            starts.push(words.len() as u32);
            each_word(crate::goal::clip(line, LINE_BYTES), |word, _: Piece| {
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

    /// The goal's term that a word of the vocabulary stands for, and how well.
    pub(crate) fn term(&self, word: u32) -> Option<(u16, f32)> {
        let found = self.term_of[word as usize];
        (found.0 != NO_TERM).then_some(found)
    }

    fn find_hits(&mut self, goal: &Goal, interrupted: &dyn Fn() -> bool) -> Result<(), Unpruned> {
        let mut last_line = vec![u32::MAX; self.vocabulary.len()];
        for line in 0..self.lines {
            if line % 512 == 0 && interrupted() {
                return Err(Unpruned::Interrupted);
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
        // Both lists ascend, so one walk turns offsets into lines.
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

/// For each word of the vocabulary, the term that it is or begins like.
fn match_terms(vocabulary: &Vocabulary, goal: &Goal) -> Vec<(u16, f32)> {
    let mut term_of = vec![(NO_TERM, 0.0); vocabulary.len()];
    // The first bytes of each term, ordered, so that a word is compared with the few that begin as it does.
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
