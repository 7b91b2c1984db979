//! The survey of a codebase: of every file, how often it has each word of a query.

use std::borrow::Cow;

use tamis_codebase::{RootedPath, Roots, StopSignal, Stopped, scan};
use tamis_redact::searchable_bytes;

use crate::symbols::{Declared, LineScan};
use crate::word_counter::{WordCounter, defines_at};

/// The counts of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCounts {
    pub place: RootedPath,
    pub bytes: u64,
    /// By column of the [`WordCounter`]; none when all are zero.
    pub counts: Option<Box<[u16]>>,
    /// A bit for each name that the file defines, by the name's number.
    pub defines: u32,
    /// How the file declares the symbols of the query.
    pub declares: Declared,
}

impl FileCounts {
    pub fn count(&self, column: usize) -> u16 {
        self.counts.as_ref().map_or(0, |counts| counts[column])
    }
}

/// Counts by reading every file.
pub(crate) fn survey_by_reading(
    roots: &Roots,
    counter: &WordCounter,
    stop: &StopSignal,
) -> Result<Vec<FileCounts>, Stopped> {
    let lists = scan(roots, stop, Vec::new, |files: &mut Vec<FileCounts>, place, bytes| {
        files.push(FileCounts::by_reading(place, bytes, counter));
    })?;
    Ok(lists.into_iter().flatten().collect())
}

impl FileCounts {
    /// Words in secrets are not counted: a file would be found by them.
    pub(crate) fn by_reading(place: RootedPath, bytes: &[u8], counter: &WordCounter) -> FileCounts {
        let length = bytes.len() as u64;
        let found = FileCounts::of_words(place, bytes, counter);
        if found.counts.is_none() && found.declares == Declared::default() {
            return found;
        }
        match searchable_bytes(bytes) {
            Cow::Borrowed(_) => found,
            Cow::Owned(shown) => {
                FileCounts { bytes: length, ..FileCounts::of_words(found.place, &shown, counter) }
            }
        }
    }

    fn of_words(place: RootedPath, bytes: &[u8], counter: &WordCounter) -> FileCounts {
        let first_name = counter.name_column(0);
        let mut counts: Option<Box<[u16]>> = None;
        let mut defines = 0;
        let mut declares = Declared::default();
        let mut scan = LineScan::new(&counter.symbols, bytes, &place.path);
        counter.each_candidate(bytes, |at, run| {
            counter.hits_of(at, run, &mut |hit| {
                let counts = counts.get_or_insert_with(|| vec![0; counter.columns()].into_boxed_slice());
                counts[hit.column] = counts[hit.column].saturating_add(1);
                if let Some(number) = hit.column.checked_sub(first_name)
                    && defines & (1 << number) == 0
                    && defines_at(bytes, hit.at)
                {
                    defines |= 1 << number;
                }
            });
            scan.see(at, run, |_, _, name, kind| declares |= counter.symbols.declared_by(name, kind));
        });
        FileCounts { place, bytes: bytes.len() as u64, counts, defines, declares }
    }
}
