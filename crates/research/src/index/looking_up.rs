//! What the index has for a question, and what has changed since, by reading.

use std::collections::BTreeMap;

use tamis_codebase::{Halt, Place, Roots, is_binary};
use tamis_store::rusqlite::Connection;

use super::segment::{self, Key};
use super::tree::Tree;
use super::{NoIndex, db};
use crate::class::{Class, Way};
use crate::question::Question;
use crate::survey::{Survey, Surveyed};
use crate::tally::Counter;

/// What is looked for.
pub(super) struct Wanted<'a> {
    pub(super) roots: &'a Roots,
    pub(super) question: &'a Question,
    pub(super) counter: &'a Counter,
}

/// The survey of all files of a tree; those that have changed are read. The connection must see one state of the database all
/// the while: numbers of segments mean nothing in another.
pub(super) fn look_up(
    connection: &Connection,
    known: &Tree,
    changed: &[(usize, usize)],
    wanted: &Wanted<'_>,
    halt: &Halt,
) -> Result<Survey, NoIndex> {
    let counter = wanted.counter;
    let mut files: Vec<Option<Surveyed>> = Vec::with_capacity(known.files());
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
        halt.check()?;
        let way = Way::through(&folder.path);
        for file in 0..folder.files.len() {
            let place = folder.place(file);
            if changed.next_if_eq(&(number, file)).is_some() {
                halt.check()?;
                files.push(read(wanted.roots, place, counter, &mut buffer));
                continue;
            }
            let entry = known.entries[number][file].ok_or(NoIndex::Damaged)?;
            let (lengths, numbers) = segments.get_mut(&entry.segment).ok_or(NoIndex::Damaged)?;
            let length = segment::length(lengths, entry.number).ok_or(NoIndex::Damaged)?;
            // Not text, or too large.
            let Some(bytes) = length else { continue };
            let class = Class::at(way, &folder.files[file].0);
            numbers[entry.number as usize] = files.len() as u32;
            files.push(Some(Surveyed { place, class, bytes, counts: None, defines: 0 }));
        }
    }
    let keys = keys(wanted.question, counter);
    for (&segment, (_, numbers)) in &segments {
        halt.check()?;
        for (key, column) in &keys {
            let Some(bucket) = db::bucket(connection, segment, key.bucket())? else { continue };
            let read = segment::each_count(&bucket, *key, |number, count| {
                let at = numbers.get(number as usize).map_or(usize::MAX, |&at| at as usize);
                // One that has changed since, or has gone, has its counts elsewhere or nowhere.
                let Some(file) = files.get_mut(at).and_then(Option::as_mut) else { return };
                match column.checked_sub(counter.columns()) {
                    Some(name) => file.defines |= 1 << name,
                    None => {
                        let counts = file
                            .counts
                            .get_or_insert_with(|| vec![0u16; counter.columns()].into_boxed_slice());
                        counts[*column] = count;
                    }
                }
            });
            read.ok_or(NoIndex::Damaged)?;
        }
    }
    Ok(Survey { files: files.into_iter().flatten().collect() })
}

/// What is looked for in each segment: the columns of the counter, then what is defined.
fn keys(question: &Question, counter: &Counter) -> Vec<(Key, usize)> {
    let mut keys = Vec::new();
    for (column, term) in question.terms.iter().enumerate() {
        keys.push((Key::stem(&term.stem), column));
    }
    for (number, name) in question.names.iter().enumerate() {
        keys.push((Key::name(&name.text), counter.name_column(number)));
        keys.push((Key::definition(&name.text), counter.columns() + number));
    }
    keys
}

fn read(roots: &Roots, place: Place, counter: &Counter, bytes: &mut Vec<u8>) -> Option<Surveyed> {
    roots.read_into(&place, roots.policy().largest_searched, bytes).ok()?;
    (!is_binary(bytes)).then(|| Surveyed::by_reading(place, bytes, counter))
}
