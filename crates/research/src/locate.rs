//! Where the things are that a question is about: every file is scanned, or looked up in the index, and ranked.

mod corpus;
mod file_class;
mod file_names;
mod files_by_word;
mod locations;
mod overview;
mod phrases;
mod rank;
mod symbols;
mod values;

use std::sync::Arc;

use tamis_code_index::{Indexer, WordCounter, survey};
use tamis_codebase::{RootedPath, StopSignal};

pub(crate) use file_class::{FileClass, is_test};
pub(crate) use files_by_word::FilesByWord;
pub use locations::Category;
pub(crate) use locations::{Location, Locations};
pub(crate) use symbols::{Certainty, SymbolPlace};

use crate::question::{Question, Term, WantedValue};
use crate::{BoundedReader, RoleError};
use corpus::Corpus;
use file_names::NameMatch;
pub(crate) use rank::Passage;
use rank::{Ranked, Weights, rank};

/// How many passages of the best file, the second, and so on. In the README's questions, the third passage of a file among the
/// first five is needed more often than the second of a later one.
const PASSAGES: [usize; 12] = [3, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1];
/// With more than this share of the weight of a question for a name in no file, nothing is found.
const MAX_ABSENT: f64 = 0.6;

/// Finds the best files: scans every file of the roots, or looks them up in the index.
pub(crate) fn locate(
    question: &Question,
    reader: &BoundedReader,
    indexer: Option<&Indexer>,
    stop: &StopSignal,
) -> Result<Locations, RoleError> {
    let counter = WordCounter::new(question.word_query());
    let mut corpus = Corpus::new(survey(indexer, &reader.roots, &counter, stop)?);
    let files_scanned = corpus.files.len();
    let weights = Weights::of(question, &counter, &corpus);
    let is_about_everything = question.is_about_everything();
    let mut declared = if is_about_everything {
        Vec::new()
    } else {
        symbols::find(question, &counter, &corpus, indexer, &reader.roots, stop)?
    };
    // "where is the block cache filled" is not about the place that declares it.
    let act = question.act.filter(|_| !question.symbols.iter().any(|symbol| symbol.is_code));
    if let Some(act) = act {
        declared.retain(|place| place.answers(act));
    }
    let mut files = if is_about_everything {
        overview::find(&corpus).into_iter().map(|file| (file, NameMatch::Whole)).collect()
    } else {
        let is_symbol = declared.iter().any(|symbol| symbol.is_of_owner);
        file_names::find(question, &mut corpus, is_symbol, &reader.roots, stop)?
    };
    if act.is_some() {
        files.retain(|(_, matched)| *matched <= NameMatch::WholeInAnyCase);
    }
    // "max retries" may be the name that is declared, and so may all that "what is Timeout" asks about.
    let is_name =
        |value: &WantedValue| !declared.is_empty() && (!value.is_asked || question.content.len() == 1);
    let values = match &question.value {
        Some(value) if !is_name(value) => values::find(question, &counter, &corpus, &reader.roots, stop)?,
        _ => Vec::new(),
    };
    if !values.is_empty() {
        files.retain(|(_, matched)| *matched <= NameMatch::WholeInAnyCase);
    }
    let phrases = phrases::find(question, &counter, &corpus, &reader.roots, stop)?;
    let is_found = !declared.is_empty()
        || !files.is_empty()
        || !phrases.is_empty()
        || !values.is_empty()
        || is_in_files(question, &counter, &weights);
    let mut ranked = if is_found {
        rank(question, &counter, &weights, &corpus, &reader.roots, &PASSAGES, stop)?
    } else {
        Vec::new()
    };
    let is_named = declared.first().is_some_and(|first| first.certainty <= Certainty::Named)
        || files.first().is_some_and(|(_, matched)| !matches!(matched, NameMatch::Words | NameMatch::Part));
    let coverage = ranked.iter().take(3).map(|ranked| ranked.coverage).fold(0.0, f64::max);
    let coverage = if is_named || !phrases.is_empty() { 1.0 } else { coverage };
    // Where all of a question is a name that is found, files without the name are not about it.
    let is_only_name = is_named && (question.content.len() == 1 || is_about_everything);
    if is_about_everything {
        ranked.clear();
    } else if is_only_name {
        let is_spelled = declared.first().is_none_or(|first| first.certainty != Certainty::SameLetters);
        let columns = columns_of(&question.content.join(" "), &counter, is_spelled);
        ranked.retain(|ranked| columns.iter().all(|column| corpus.files[ranked.file].count(*column) > 0));
    }
    let mut best = in_order(&phrases, &values, &declared, &files, ranked, &corpus);
    let first = best.first().filter(|first| first.passages.is_empty()).map(|first| &first.place);
    let file =
        first.filter(|first| files.iter().any(|(file, _)| corpus.files[*file].place == **first)).cloned();
    let names = question.names.iter().filter(|name| !name.doubtful).map(|name| name.text.clone());
    let spoken = question.terms.iter().filter(|term| term.spoken).map(|term| term.word.clone());
    let columns = question.terms.iter().map(|term| (term.spoken, &term.word));
    let columns = columns.chain(question.names.iter().map(|name| (!name.doubtful, &name.text)));
    let is_absent = |((is_keyword, _), absent): &((bool, &String), &f64)| *is_keyword && **absent > 0.0;
    let absent = columns.zip(&weights.absent).filter(is_absent).filter(|_| !is_only_name);
    corpus.files.truncate(files_scanned);
    let files_by_word = FilesByWord::of(question, corpus.files);
    if reader.roots.len() > 1 {
        for location in &mut best {
            location.shown = files_by_word.shown(&reader.roots, &location.place);
        }
    }
    Ok(Locations {
        best,
        files_scanned: files_scanned as u64,
        keywords: names.chain(spoken).collect(),
        absent: absent.map(|((_, word), _)| word.clone()).collect(),
        coverage,
        values,
        declared,
        file,
        files_by_word: Arc::new(files_by_word),
    })
}

/// The columns of a name: its own where the question spells it, else those of its words.
fn columns_of(name: &str, counter: &WordCounter, is_spelled: bool) -> Vec<usize> {
    let mut columns = Vec::new();
    counter.each_hit(name.as_bytes(), |hit| columns.push(hit.column));
    let first_name = counter.name_column(0);
    if is_spelled && columns.iter().any(|column| *column >= first_name) {
        columns.retain(|column| *column >= first_name);
    } else {
        columns.retain(|column| *column < first_name);
    }
    columns
}

/// Whether the files have what the question is about: a name that it spells, or a word that does not only ask.
fn is_in_files(question: &Question, counter: &WordCounter, weights: &Weights) -> bool {
    let is_there = |column: usize| weights.columns[column] > 0.0;
    let mut names = question.names.iter().enumerate().filter(|(_, name)| !name.doubtful);
    if names.clone().any(|(number, _)| is_there(counter.name_column(number))) {
        return true;
    }
    // A question about a name that is nowhere is answered only where most of it is found.
    if names.next().is_some() {
        return weights.share_absent() <= MAX_ABSENT;
    }
    let words = question.terms.iter().enumerate().filter(|(_, term)| term.spoken);
    let is_subject = |term: &Term| !term.asks || question.terms.iter().all(|term| term.asks || !term.spoken);
    words.filter(|(_, term)| is_subject(term)).any(|(column, _)| is_there(column))
}

/// Places with a phrase of the question first, then files that it names, values that it asks for, and declarations of what it names, then the ranked files.
fn in_order(
    phrases: &[(RootedPath, Passage)],
    values: &[(RootedPath, Passage)],
    declared: &[SymbolPlace],
    files: &[(usize, NameMatch)],
    ranked: Vec<Ranked>,
    corpus: &Corpus,
) -> Vec<Location> {
    let score = ranked.first().map_or(1.0, |first| first.score);
    let at = |place: &RootedPath, passages: Vec<Passage>| Location {
        category: Category::of(&place.path),
        place: place.clone(),
        shown: place.path.clone(),
        passages,
        score,
    };
    let at_symbol = |place: &SymbolPlace| at(&place.place, vec![place.passage.clone()]);
    let at_file = |file: usize, matched: NameMatch| {
        let place = &corpus.files[file].place;
        let inside = declared.iter().filter(|symbol| matched == NameMatch::Stem && symbol.place == *place);
        at(place, inside.map(|symbol| symbol.passage.clone()).take(1).collect())
    };
    let symbols = |least: Certainty, most: Certainty| {
        declared.iter().filter(move |place| (least..=most).contains(&place.certainty)).map(at_symbol)
    };
    let named = |least: NameMatch, most: NameMatch| {
        files
            .iter()
            .filter(move |(_, matched)| (least..=most).contains(matched))
            .map(|(file, matched)| at_file(*file, *matched))
    };
    let at_line = |(place, passage): &(RootedPath, Passage)| at(place, vec![passage.clone()]);
    let first = phrases
        .iter()
        .map(at_line)
        .chain(named(NameMatch::Whole, NameMatch::WholeInAnyCase))
        .chain(values.iter().map(at_line))
        .chain(symbols(Certainty::Exact, Certainty::Named))
        .chain(named(NameMatch::Stem, NameMatch::Stem))
        .chain(symbols(Certainty::Related, Certainty::Related))
        .chain(named(NameMatch::Words, NameMatch::Words))
        .chain(symbols(Certainty::Set, Certainty::Local))
        .chain(named(NameMatch::Page, NameMatch::Page))
        .chain(named(NameMatch::Part, NameMatch::Part));
    let rest = ranked.into_iter().map(|ranked| {
        let place = &corpus.files[ranked.file].place;
        Location { score: ranked.score, ..at(place, ranked.passages) }
    });
    let mut best: Vec<Location> = Vec::new();
    for location in first.chain(rest) {
        let Some(at) = best.iter().position(|known| known.place == location.place) else {
            best.push(location);
            continue;
        };
        // A file that is there by its name stands for itself; one that declares a symbol has other passages too.
        let known = &mut best[at].passages;
        if !known.is_empty() {
            let is_new = |passage: &Passage| known.iter().all(|known| !known.is_near(passage));
            let further: Vec<Passage> = location.passages.into_iter().filter(is_new).collect();
            known.extend(further);
        }
    }
    best.truncate(PASSAGES.len());
    best
}
