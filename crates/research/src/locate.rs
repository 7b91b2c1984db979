//! Where the things are that a question is about: every file is scanned, or looked up in the index, and ranked.

mod corpus;
mod file_class;
mod files_by_word;
mod locations;
mod rank;

use std::sync::Arc;

use tamis_code_index::{Indexer, WordCounter, survey};
use tamis_codebase::StopSignal;

pub(crate) use file_class::{FileClass, is_test};
pub(crate) use files_by_word::FilesByWord;
pub use locations::Category;
pub(crate) use locations::{Location, Locations};

use crate::question::Question;
use crate::{BoundedReader, RoleError};
use corpus::Corpus;
use rank::{Weights, rank};

const MAX_SPOTS: usize = 12;
/// With more than this share of the question's weight in no file, nothing is found.
const MAX_ABSENT: f64 = 0.6;

/// Finds the best files: scans every file of the roots, or looks them up in the index.
pub(crate) fn locate(
    question: &Question,
    reader: &BoundedReader,
    indexer: Option<&Indexer>,
    stop: &StopSignal,
) -> Result<Locations, RoleError> {
    let counter = WordCounter::new(question.word_query());
    let corpus = Corpus::new(survey(indexer, &reader.roots, &counter, stop)?);
    let weights = Weights::of(question, &counter, &corpus);
    let ranked = if weights.share_absent() > MAX_ABSENT && !names_something(question, &counter, &weights) {
        Vec::new()
    } else {
        rank(question, &counter, &weights, &corpus, &reader.roots, stop)?
    };
    let coverage = ranked.iter().take(3).map(|ranked| ranked.coverage).fold(0.0, f64::max);
    let best = ranked
        .into_iter()
        .take(MAX_SPOTS)
        .map(|ranked| {
            let place = corpus.files[ranked.file].place.clone();
            Location {
                category: Category::of(&place.path),
                place,
                line: Some(ranked.line),
                name: ranked.name,
                score: ranked.score,
            }
        })
        .collect();
    let names = question.names.iter().filter(|name| !name.doubtful).map(|name| name.text.clone());
    let spoken = question.terms.iter().filter(|term| term.spoken).map(|term| term.word.clone());
    let columns = question.terms.iter().map(|term| (term.spoken, &term.word));
    let columns = columns.chain(question.names.iter().map(|name| (!name.doubtful, &name.text)));
    let absent =
        columns.zip(&weights.absent).filter(|((is_keyword, _), absent)| *is_keyword && **absent > 0.0);
    Ok(Locations {
        best,
        files_scanned: corpus.files.len() as u64,
        keywords: names.chain(spoken).collect(),
        absent: absent.map(|((_, word), _)| word.clone()).collect(),
        coverage,
        files_by_word: Arc::new(FilesByWord::of(question, corpus.files)),
    })
}

/// Whether the question spells a name that exists.
fn names_something(question: &Question, counter: &WordCounter, weights: &Weights) -> bool {
    let names = question.names.iter().enumerate();
    names
        .filter(|(_, name)| !name.doubtful)
        .any(|(number, _)| weights.columns[counter.name_column(number)] > 0.0)
}
