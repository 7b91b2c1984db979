//! Word counts of a codebase: for each file, how often it has each word and name of a query, and which names it defines or
//! otherwise declares. Spellings of one word are counted together.
//!
//! Entry points: a [`WordQuery`] makes a [`WordCounter`]; [`survey`] counts in every file of the roots, by looking up an index
//! where an [`Indexer`] has one that is valid, and by reading everything where not. The answer is the same either way.
//!
//! The index is a word index in SQLite: counts by hash of the word, in segments of some thousand files, with the stamps of
//! folders and files to notice changes. It is built and refreshed in the background and may be deleted at any time.
//!
//! It must never rank, judge or explain files, and never answer from counts that may be out of date.

mod index;
mod indexer;
mod spelling;
mod survey;
mod symbols;
mod word_counter;

pub use indexer::{IndexSettings, IndexUse, Indexer, survey};
pub use spelling::word_stem;
pub use survey::FileCounts;
pub use symbols::{Declared, SymbolHit, fold_name};
pub use word_counter::{WordCounter, WordQuery, each_run, in_run, parts_of};

/// The query of a text in tests: what is in backticks is a name, its parts and all other words are stems, and all are symbols.
#[cfg(test)]
fn query(text: &str) -> WordQuery {
    let mut query = WordQuery::default();
    let stems = |run: &str, stems: &mut Vec<String>| {
        parts_of(run.as_bytes(), |stem| {
            if stems.len() < 48 && !stems.iter().any(|known| known == stem) {
                stems.push(stem.to_owned());
            }
        });
    };
    for (number, piece) in text.split('`').enumerate() {
        for run in piece.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|run| !run.is_empty()) {
            if query.symbols.len() < 10 && !query.symbols.iter().any(|known| known == run) {
                query.symbols.push(run.to_owned());
            }
            if number % 2 == 1 && query.names.len() < 24 && !query.names.iter().any(|known| known == run) {
                query.names.push(run.to_owned());
            }
            stems(run, &mut query.stems);
        }
    }
    query
}
