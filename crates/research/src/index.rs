//! An index of a root: how often each file has each word and name, and what it defines. It takes the place of reading
//! everything, and nothing else: an answer is the same with it and without.
//!
//! It holds for what it was made of. Before it is used, every folder's and file's stamp is compared ([`tamis_workspace::changes`]);
//! files that changed are read instead of looked up, and when files came or went the tree is walked again. What was read
//! anew is added as a segment, by whoever gets the lock; the others only use it. It may be deleted at any time.
//!
//! ```text
//! tree      folders, their files, and of each file: its stamp, and where its counts are (segment, number)
//! segments  some thousand files each: for each file how many bytes it has; counts by hash of word, in buckets
//! ```

mod codec;
mod db;
mod segment;
mod shelf;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use std::time::Duration;

use tamis_store::{Database, Lock, StoreError};
use tamis_workspace::{
    Changes, Folder, Halt, Halted, Place, Roots, changes, is_binary, outer_rules, tree as walk_tree,
};

use crate::class::{Class, Way};
use crate::question::Question;
use crate::survey::{Survey, Surveyed};
use crate::tally::Counter;
use segment::{Builder, Key};
pub use shelf::IndexSettings;
pub(crate) use shelf::{Shelf, survey};
use tree::{Entry, Tree};

/// When an index is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexUse {
    Never,
    /// For roots that are large enough for it to pay.
    Large,
    Always,
}

/// Smaller roots are read faster than their index is checked.
const LARGE: usize = 5_000;
/// When more has changed, reading everything is as fast.
const MOST_CHANGED_SHARE: usize = 5;
/// How long an index that nobody changes is kept. One that is missed is made again.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// More pieces than that are put together anew.
const MOST_SEGMENTS: usize = 96;

/// The index of one root.
pub(crate) struct Index {
    /// Where its database lies.
    path: PathBuf,
    /// What it is made by: other rules make another index.
    rules: String,
}

/// Why there is no help from an index.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoIndex {
    #[error("there is none")]
    Missing,
    #[error("too much has changed")]
    Outdated,
    #[error(transparent)]
    Halted(#[from] Halted),
    #[error("{}", .0.describe())]
    Store(#[from] StoreError),
    #[error("it is damaged")]
    Damaged,
}

impl Index {
    /// The index of these roots in a folder of indexes.
    pub(crate) fn of(folder: &Path, roots: &Roots) -> Index {
        let paths: Vec<_> = roots.paths().collect();
        let rules = format!("{}\n{paths:?}", roots.policy().fingerprint());
        let name = format!("{:016x}.db", tamis_text::vocabulary::hash(rules.as_bytes()));
        Index { path: folder.join(format!("v{}", db::VERSION)).join(name), rules }
    }

    /// Whether a root of so many files is worth one.
    pub(crate) fn is_worth(used: IndexUse, files: usize) -> bool {
        match used {
            IndexUse::Never => false,
            IndexUse::Large => files >= LARGE,
            IndexUse::Always => true,
        }
    }

    /// What a survey by reading would find, and whether something has changed, so that [`Index::refresh`] is due.
    pub(crate) fn survey(
        &self,
        roots: &Roots,
        question: &Question,
        counter: &Counter,
        halt: &Halt,
    ) -> Result<(Survey, bool), NoIndex> {
        if !self.path.exists() {
            return Err(NoIndex::Missing);
        }
        let database = Database::open(&self.path, db::COMPONENTS)?;
        let mut known = self.load(&database)?;
        let mut found = changes(roots, &known.folders, halt)?;
        if found.structure || known.outer_rules != stamps(roots) {
            known = known.with_folders(walk_tree(roots, halt)?, stamps(roots));
            found = Changes { structure: true, files: known.without_entry() };
        }
        let files: usize = known.folders.iter().map(|folder| folder.files.len()).sum();
        if found.files.len() * MOST_CHANGED_SHARE > files && found.files.len() > LARGE / MOST_CHANGED_SHARE {
            return Err(NoIndex::Outdated);
        }
        let survey = look_up(&database, roots, &known, &found, question, counter)?;
        Ok((survey, found.structure || !found.files.is_empty()))
    }

    /// Makes it from nothing. False when somebody else is at it.
    pub(crate) fn build(&self, roots: &Roots, halt: &Halt) -> Result<bool, NoIndex> {
        let database = Database::open(&self.path, db::COMPONENTS)?;
        let Some(_lock) = self.lock() else { return Ok(false) };
        let known = Tree::new(walk_tree(roots, halt)?, stamps(roots));
        let all = Changes { structure: true, files: known.without_entry() };
        database.write(db::clear)?;
        self.add(&database, roots, known, &all, halt)?;
        Ok(true)
    }

    /// Removes indexes beside this one that nobody has changed for long: of codebases that are gone, or no longer asked about.
    pub(crate) fn sweep(&self) {
        let Some(Ok(entries)) = self.path.parent().map(std::fs::read_dir) else { return };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| *path != self.path) {
            let age =
                |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok()?.elapsed().ok();
            let old = path.extension().is_some_and(|extension| extension == "db")
                && age(&path).is_some_and(|age| age > KEPT);
            // Whoever is at it holds its lock.
            if old && let Ok(Some(_lock)) = Lock::try_acquire(&path.with_extension("lock")) {
                for ending in ["db", "db-wal", "db-shm"] {
                    let _ = std::fs::remove_file(path.with_extension(ending));
                }
            }
        }
    }

    fn lock(&self) -> Option<Lock> {
        Lock::try_acquire(&self.path.with_extension("lock")).ok().flatten()
    }

    fn load(&self, database: &Database) -> Result<Tree, NoIndex> {
        let stored = database.read(db::tree)?.ok_or(NoIndex::Missing)?;
        Tree::decode(&stored).ok_or(NoIndex::Damaged)
    }

    /// Adds what has changed. False when somebody else is at it.
    pub(crate) fn refresh(&self, roots: &Roots, halt: &Halt) -> Result<bool, NoIndex> {
        let database = Database::open(&self.path, db::COMPONENTS)?;
        let Some(_lock) = self.lock() else { return Ok(false) };
        let folders = walk_tree(roots, halt)?;
        let known = if database.read(db::count_segments)? > MOST_SEGMENTS {
            database.write(db::clear)?;
            Tree::new(folders, stamps(roots))
        } else {
            self.load(&database)?.with_folders(folders, stamps(roots))
        };
        let found = Changes { structure: true, files: known.without_entry() };
        self.add(&database, roots, known, &found, halt)?;
        Ok(true)
    }

    /// Reads files and writes them down, then the tree that knows them.
    fn add(
        &self,
        database: &Database,
        roots: &Roots,
        mut known: Tree,
        found: &Changes,
        halt: &Halt,
    ) -> Result<(), NoIndex> {
        let entries = write_segments(database, roots, &known, found, halt)?;
        for ((folder, file), entry) in entries {
            known.entries[folder][file] = Some(entry);
        }
        let kept: Vec<u32> = known.segments();
        let encoded = known.encode();
        database.write(|transaction| {
            db::keep_segments(transaction, &kept)?;
            db::put_tree(transaction, &encoded, &self.rules)
        })?;
        Ok(())
    }
}

fn stamps(roots: &Roots) -> String {
    format!("{:?}", outer_rules(roots))
}

/// Where a file's counts are, by its place in the tree.
type Placed = ((usize, usize), Entry);

/// Reads files on all cores, and writes a segment whenever enough has come together.
fn write_segments(
    database: &Database,
    roots: &Roots,
    known: &Tree,
    found: &Changes,
    halt: &Halt,
) -> Result<Vec<Placed>, NoIndex> {
    let next = AtomicUsize::new(0);
    let (failed, problem) = (AtomicBool::new(false), Mutex::new(None));
    let work = || {
        let mut placed: Vec<Placed> = Vec::new();
        let mut builder = Builder::default();
        let mut pending: Vec<(usize, usize)> = Vec::new();
        let mut bytes = Vec::new();
        let mut flush = |builder: &mut Builder, pending: &mut Vec<(usize, usize)>| {
            let made = std::mem::take(builder).finish();
            match database.write(|transaction| db::put_segment(transaction, &made)) {
                Ok(segment) => {
                    let numbered = pending.drain(..).enumerate();
                    placed
                        .extend(numbered.map(|(number, at)| (at, Entry { segment, number: number as u32 })));
                }
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    problem.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        };
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(folder, file)) = found.files.get(at) else { break };
            if halt.is_due() || failed.load(Ordering::Relaxed) {
                break;
            }
            let place = known.folders[folder].place(file);
            let read = roots.read_into(&place, roots.policy().largest_searched, &mut bytes);
            let is_text = read.is_ok() && !is_binary(&bytes);
            builder.add(is_text.then_some(bytes.as_slice()));
            pending.push((folder, file));
            if builder.is_full() {
                flush(&mut builder, &mut pending);
            }
        }
        if !pending.is_empty() {
            flush(&mut builder, &mut pending);
        }
        placed
    };
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let placed = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    halt.check()?;
    match problem.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error.into()),
        None => Ok(placed),
    }
}

/// The survey of what the index has, and of what has changed since, by reading.
fn look_up(
    database: &Database,
    roots: &Roots,
    known: &Tree,
    found: &Changes,
    question: &Question,
    counter: &Counter,
) -> Result<Survey, NoIndex> {
    let segments = known.segments();
    let mut files: Vec<Option<Surveyed>> = Vec::new();
    // Of each segment the files' lengths, and their numbers in the survey.
    let mut known_segments: BTreeMap<u32, (Vec<u8>, Vec<u32>)> = BTreeMap::new();
    for &segment in &segments {
        let lengths = database.read(|connection| db::lengths(connection, segment))?;
        let nowhere = vec![u32::MAX; segment::files(&lengths)];
        known_segments.insert(segment, (lengths, nowhere));
    }
    let changed: BTreeSet<(usize, usize)> = found.files.iter().copied().collect();
    let mut buffer = Vec::new();
    for (number, folder) in known.folders.iter().enumerate() {
        let way = Way::through(&folder.path);
        for file in 0..folder.files.len() {
            let place = folder.place(file);
            if changed.contains(&(number, file)) {
                files.push(read_one(roots, place, counter, &mut buffer));
                continue;
            }
            let entry = known.entries[number][file].ok_or(NoIndex::Damaged)?;
            let (lengths, numbers) = known_segments.get_mut(&entry.segment).ok_or(NoIndex::Damaged)?;
            let length = segment::length(lengths, entry.number).ok_or(NoIndex::Damaged)?;
            // Not text, or too large.
            let Some(bytes) = length else { continue };
            let class = Class::at(way, &folder.files[file].0);
            numbers[entry.number as usize] = files.len() as u32;
            files.push(Some(Surveyed { place, class, bytes, counts: None, defines: 0 }));
        }
    }
    let mut wanted: Vec<(Key, usize)> = Vec::new();
    for (column, term) in question.terms.iter().enumerate() {
        wanted.push((Key::stem(&term.stem), column));
    }
    for (number, name) in question.names.iter().enumerate() {
        wanted.push((Key::name(&name.text), counter.name_column(number)));
        wanted.push((Key::definition(&name.text), counter.columns() + number));
    }
    for (&segment, (_, numbers)) in &known_segments {
        for (key, column) in &wanted {
            let bucket = database.read(|connection| db::bucket(connection, segment, key.bucket()))?;
            let Some(bucket) = bucket else { continue };
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

fn read_one(roots: &Roots, place: Place, counter: &Counter, bytes: &mut Vec<u8>) -> Option<Surveyed> {
    roots.read_into(&place, roots.policy().largest_searched, bytes).ok()?;
    (!is_binary(bytes)).then(|| Surveyed::by_reading(place, bytes, counter))
}

impl Tree {
    /// These folders, with the entries of files whose stamps are still the same.
    fn with_folders(self, folders: Vec<Folder>, outer_rules: String) -> Tree {
        let mut known = HashMap::new();
        for (folder, entries) in self.folders.iter().zip(&self.entries) {
            for ((name, stamp), entry) in folder.files.iter().zip(entries) {
                known.insert((folder.path.as_str(), name.as_str()), (*stamp, *entry));
            }
        }
        let entries = folders
            .iter()
            .map(|folder| {
                let entry = |(name, stamp): &(String, tamis_workspace::Stamp)| {
                    let (before, entry) = known.get(&(folder.path.as_str(), name.as_str()))?;
                    (before == stamp && *stamp != tamis_workspace::Stamp::UNSURE).then_some(*entry)?
                };
                folder.files.iter().map(entry).collect()
            })
            .collect();
        Tree { folders, entries, outer_rules }
    }
}
