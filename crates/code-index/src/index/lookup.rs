//! Looks up a query in the index, and reads the files that have changed since.

use std::collections::BTreeMap;

use tamis_codebase::{RootedPath, Roots, StopSignal, is_binary};
use tamis_store::rusqlite::Connection;

use super::segment::{self, Key};
use super::tree::Tree;
use super::{IndexError, db};
use crate::survey::FileCounts;
use crate::symbols::Declared;
use crate::word_counter::WordCounter;

/// The survey of all files of a tree; changed files are read. The connection must see one state of the database throughout:
/// segment numbers mean nothing in another.
pub(super) fn look_up(
    connection: &Connection,
    known: &Tree,
    changed: &[(usize, usize)],
    roots: &Roots,
    counter: &WordCounter,
    stop: &StopSignal,
) -> Result<Vec<FileCounts>, IndexError> {
    let mut files: Vec<Option<FileCounts>> = Vec::with_capacity(known.files());
    // Of each segment the files' lengths, and their numbers in the survey.
    let mut segments: BTreeMap<u32, (Vec<u8>, Vec<u32>)> = BTreeMap::new();
    for segment in known.segments() {
        let lengths = db::lengths(connection, segment)?;
        let nowhere = vec![u32::MAX; segment::files(&lengths)];
        segments.insert(segment, (lengths, nowhere));
    }
    let mut changed = changed.iter().copied().peekable();
    let mut buffer = Vec::new();
    for (number, folder) in known.folders.iter().enumerate() {
        stop.check()?;
        for file in 0..folder.files.len() {
            let place = folder.place(file);
            if changed.next_if_eq(&(number, file)).is_some() {
                stop.check()?;
                files.push(read(roots, place, counter, &mut buffer));
                continue;
            }
            let entry = known.entries[number][file].ok_or(IndexError::Damaged)?;
            let (lengths, numbers) = segments.get_mut(&entry.segment).ok_or(IndexError::Damaged)?;
            let length = segment::length(lengths, entry.number).ok_or(IndexError::Damaged)?;
            // Not text, or too large.
            let Some(bytes) = length else { continue };
            numbers[entry.number as usize] = files.len() as u32;
            files.push(Some(FileCounts {
                place,
                bytes,
                counts: None,
                defines: 0,
                declares: Declared::default(),
            }));
        }
    }
    let keys = keys(counter);
    for (&segment, (_, numbers)) in &segments {
        stop.check()?;
        for (key, column) in &keys {
            let Some(bucket) = db::bucket(connection, segment, key.bucket())? else { continue };
            let read = segment::each_count(&bucket, *key, |number, count| {
                let at = numbers.get(number as usize).map_or(usize::MAX, |&at| at as usize);
                // One that has changed since, or has gone, has its counts elsewhere or nowhere.
                let Some(file) = files.get_mut(at).and_then(Option::as_mut) else { return };
                match *column {
                    Column::Defines(name) => file.defines |= 1 << name,
                    Column::Declares(bits) => file.declares |= bits,
                    Column::Counted(column) => {
                        let counts = file
                            .counts
                            .get_or_insert_with(|| vec![0u16; counter.columns()].into_boxed_slice());
                        counts[column] = count;
                    }
                }
            });
            read.ok_or(IndexError::Damaged)?;
        }
    }
    Ok(files.into_iter().flatten().collect())
}

/// What a key is about.
#[derive(Clone, Copy)]
enum Column {
    Counted(usize),
    /// The number of a name.
    Defines(usize),
    Declares(Declared),
}

/// What is looked for in each segment.
fn keys(counter: &WordCounter) -> Vec<(Key, Column)> {
    let mut keys = Vec::new();
    for (column, stem) in counter.query.stems.iter().enumerate() {
        keys.push((Key::stem(stem), Column::Counted(column)));
    }
    for (number, name) in counter.query.names.iter().enumerate() {
        keys.push((Key::name(name), Column::Counted(counter.name_column(number))));
        keys.push((Key::definition(name), Column::Defines(number)));
    }
    counter.symbols.each_sign(|sign, bits| keys.push((Key::symbol(sign), Column::Declares(bits))));
    keys
}

fn read(roots: &Roots, place: RootedPath, counter: &WordCounter, bytes: &mut Vec<u8>) -> Option<FileCounts> {
    roots.read_into(&place, roots.policy().largest_searched, bytes).ok()?;
    (!is_binary(bytes)).then(|| FileCounts::by_reading(place, bytes, counter))
}
