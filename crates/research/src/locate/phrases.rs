//! Where files have a phrase of the question word for word.

use tamis_code_index::WordCounter;
use tamis_codebase::{RootedPath, Roots, StopSignal, Stopped, cores, in_parallel, is_binary};
use tamis_redact::searchable_bytes;

use super::corpus::Corpus;
use super::{FileClass, Passage};
use crate::question::Question;

/// Files that are read, of those that have all words of a phrase.
const MAX_FILES: usize = 400;
const MAX_THREADS: usize = 8;
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
        let lists = in_parallel(&files, cores().min(MAX_THREADS), |files| {
            let (mut found, mut bytes) = (Vec::new(), Vec::new());
            for (_, &file) in files.take_while(|_| !stop.is_due()) {
                let place = &corpus.files[file].place;
                if roots.read_into(place, roots.policy().largest_searched, &mut bytes).is_err()
                    || is_binary(&bytes)
                {
                    continue;
                }
                let text = searchable_bytes(&bytes);
                let exact = memchr::memmem::find(&text, phrase.as_bytes());
                let at =
                    exact.or_else(|| memchr::memmem::find(&text.to_ascii_lowercase(), lowered.as_bytes()));
                let Some(at) = at else { continue };
                let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
                let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
                let line = 1 + memchr::memchr_iter(b'\n', &text[..at]).count();
                let shown = Passage::shown(&String::from_utf8_lossy(&text[start..end]));
                found.push((exact.is_none(), corpus.classes[file], place.clone(), line, shown));
            }
            found
        });
        stop.check()?;
        found.extend(lists.into_iter().flatten());
    }
    found.sort();
    found.truncate(MAX_PLACES);
    let place = |(_, _, place, line, shown)| (place, Passage { line: shown, ..Passage::at(line) });
    Ok(found.into_iter().map(place).collect())
}
