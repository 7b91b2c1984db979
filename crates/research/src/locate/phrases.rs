//! Where files have a phrase of the question word for word.

use tamis_code_index::WordCounter;
use tamis_codebase::{RootedPath, Roots, StopSignal, Stopped};

use super::corpus::Corpus;
use super::{FileClass, Passage};
use crate::question::Question;

/// Files that are read, of those that have all words of a phrase.
const MAX_FILES: usize = 400;
const MAX_PLACES: usize = 5;

/// The first place of each file that has a phrase, best first: the exact case, then code before tests before texts.
pub(super) fn find(
    question: &Question,
    counter: &WordCounter,
    corpus: &Corpus,
    roots: &Roots,
    stop: &StopSignal,
) -> Result<Vec<(RootedPath, Passage)>, Stopped> {
    let mut found: Vec<(bool, FileClass, RootedPath, usize, String)> = Vec::new();
    for phrase in question.verbatim() {
        let mut columns: Vec<usize> = Vec::new();
        counter.each_hit(phrase.as_bytes(), |hit| columns.push(hit.column));
        let has_all = |file: &usize| columns.iter().all(|column| corpus.files[*file].count(*column) > 0);
        let mut files: Vec<usize> = (0..corpus.files.len()).filter(has_all).collect();
        files.sort_by(|&a, &b| {
            let key = |file: usize| (corpus.classes[file], &corpus.files[file].place);
            key(a).cmp(&key(b))
        });
        files.truncate(MAX_FILES);
        let lowered = phrase.to_ascii_lowercase();
        found.extend(corpus.look_into(&files, roots, stop, |file, text| {
            let exact = memchr::memmem::find(text, phrase.as_bytes());
            let at =
                exact.or_else(|| memchr::memmem::find(&text.to_ascii_lowercase(), lowered.as_bytes()))?;
            let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
            let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
            let line = 1 + memchr::memchr_iter(b'\n', &text[..at]).count();
            let shown = Passage::shown(&String::from_utf8_lossy(&text[start..end]));
            Some((exact.is_none(), corpus.classes[file], corpus.files[file].place.clone(), line, shown))
        })?);
    }
    found.sort();
    found.truncate(MAX_PLACES);
    let place = |(_, _, place, line, shown)| (place, Passage { line: shown, ..Passage::at(line) });
    Ok(found.into_iter().map(place).collect())
}
