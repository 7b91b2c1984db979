//! The index of a set of roots: how often each file has each word and name, and what it defines. It replaces reading
//! everything, and gives the same counts.
//! Before it is used, every folder's and file's stamp is compared ([`tamis_codebase::changes`]);
//! files that changed are read instead of looked up, and when files came or went the tree is walked again. The process that gets
//! the lock adds what changed as a new segment; the others only read. It may be deleted at any time.
//!
//! ```text
//! tree      folders, their files, and of each file: its stamp, and where its counts are (segment, number)
//! segments  some thousand files each: for each file how many bytes it has; counts by hash of word, in buckets
//! ```

mod codec;
mod db;
mod lookup;
mod segment;
mod tree;
mod write;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tamis_codebase::{Changes, Roots, StopSignal, Stopped, changes, outer_rules, tree as walk_tree};
use tamis_store::rusqlite::{self, Connection};
use tamis_store::{Database, Lock, StoreError, create_private_dir};

use crate::indexer::IndexUse;
use crate::survey::FileCounts;
use crate::word_counter::WordCounter;
use lookup::look_up;
use tree::Tree;
use write::write_segments;

/// From this number of files on, a question takes a fifth less with the index, and a dozen questions pay for building it. Below a
/// hundred files it takes as long as reading them.
const LARGE: usize = 300;
/// When more has changed, reading everything is as fast.
const MAX_CHANGED_SHARE: usize = 5;
/// How long an index without changes is kept. It is rebuilt when needed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// With more added segments than this, the index is rebuilt.
const MAX_ADDED: usize = 96;

/// The index of one root.
pub(crate) struct Index {
    /// The path of its database.
    path: PathBuf,
    /// The rules that it was built by: other rules have another index.
    rules: String,
}

/// Why the index cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    #[error("there is none")]
    Missing,
    #[error("too much has changed")]
    Outdated,
    #[error(transparent)]
    Stopped(#[from] Stopped),
    #[error("{}", .0.describe())]
    Store(#[from] StoreError),
    #[error(transparent)]
    Query(#[from] rusqlite::Error),
    #[error("{} cannot be used: {cause}", .path.display())]
    Folder { path: PathBuf, cause: std::io::Error },
    #[error("it is damaged")]
    Damaged,
}

impl Index {
    /// The index of these roots in a folder of indexes.
    pub(crate) fn of(folder: &Path, roots: &Roots) -> Index {
        // Another version of this program may skip other files.
        let rules = format!("{}\n{}", env!("CARGO_PKG_VERSION"), roots.fingerprint());
        let name = format!("{:016x}.db", tamis_text::interner::hash(rules.as_bytes()));
        Index { path: folder.join(format!("v{}", db::VERSION)).join(name), rules }
    }

    /// Whether roots of this many files are worth an index.
    pub(crate) fn is_worth(used: IndexUse, files: usize) -> bool {
        match used {
            IndexUse::Large => files >= LARGE,
            IndexUse::Always => true,
        }
    }

    /// The survey from the index, and whether something has changed, so that [`Index::refresh`] is due.
    pub(crate) fn survey(
        &self,
        roots: &Roots,
        counter: &WordCounter,
        stop: &StopSignal,
    ) -> Result<(Vec<FileCounts>, bool), IndexError> {
        if !self.path.exists() {
            return Err(IndexError::Missing);
        }
        let database = Database::open(&self.path, db::COMPONENTS)?;
        database.read(|connection| Ok(self.survey_at(connection, roots, counter, stop)))?
    }

    fn survey_at(
        &self,
        connection: &Connection,
        roots: &Roots,
        counter: &WordCounter,
        stop: &StopSignal,
    ) -> Result<(Vec<FileCounts>, bool), IndexError> {
        // Another process may write meanwhile: one transaction sees one state.
        let moment = connection.unchecked_transaction()?;
        let mut known = self.load(&moment)?;
        let outer_rules = outer_rules(roots);
        let mut found = changes(roots, &known.folders, stop)?;
        if found.structure || outer_rules.as_ref() != Some(&known.outer_rules) {
            known = known.with_folders(walk_tree(roots, stop)?, outer_rules.unwrap_or_default());
            found = Changes { structure: true, files: Vec::new() };
        }
        found.files.extend(known.without_entry());
        found.files.sort_unstable();
        found.files.dedup();
        if found.files.len() * MAX_CHANGED_SHARE > known.files()
            && found.files.len() > LARGE / MAX_CHANGED_SHARE
        {
            return Err(IndexError::Outdated);
        }
        let survey = look_up(&moment, &known, &found.files, roots, counter, stop)?;
        Ok((survey, found.structure || !found.files.is_empty()))
    }

    /// Builds it from scratch. False when another process holds the lock.
    pub(crate) fn build(&self, roots: &Roots, stop: &StopSignal) -> Result<bool, IndexError> {
        let Some(_lock) = self.lock()? else { return Ok(false) };
        let database = match Database::open(&self.path, db::COMPONENTS) {
            Err(StoreError::Corrupt { .. } | StoreError::NewerSchema { .. }) => {
                remove(&self.path);
                Database::open(&self.path, db::COMPONENTS)
            }
            outcome => outcome,
        }?;
        let cleared = database.write(db::clear);
        let database = match cleared {
            Err(StoreError::Corrupt { .. }) => {
                drop(database);
                remove(&self.path);
                Database::open(&self.path, db::COMPONENTS)?
            }
            outcome => outcome.map(|()| database)?,
        };
        // Read first, so that later changes are noticed.
        let outer_rules = outer_rules(roots).unwrap_or_default();
        let known = Tree::new(walk_tree(roots, stop)?, outer_rules);
        self.write(&database, roots, known, false, stop)?;
        Ok(true)
    }

    /// Removes other indexes that have not changed for long.
    pub(crate) fn sweep(&self) {
        let Some(Ok(entries)) = self.path.parent().map(std::fs::read_dir) else { return };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| *path != self.path) {
            let age =
                |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok()?.elapsed().ok();
            let old = path.extension().is_some_and(|extension| extension == "db")
                && age(&path).is_some_and(|age| age > KEPT);
            // A process that uses it holds its lock.
            if old && let Ok(Some(_lock)) = Lock::try_acquire(&path.with_extension("lock")) {
                remove(&path);
            }
        }
    }

    /// Taken before anything is opened, since its holder may remove the database.
    fn lock(&self) -> Result<Option<Lock>, IndexError> {
        let acquire = || {
            self.path.parent().map_or(Ok(()), create_private_dir)?;
            Lock::try_acquire(&self.path.with_extension("lock"))
        };
        acquire().map_err(|cause| IndexError::Folder { path: self.path.clone(), cause })
    }

    fn load(&self, connection: &Connection) -> Result<Tree, IndexError> {
        let stored = db::tree(connection, &self.rules)?.ok_or(IndexError::Missing)?;
        Tree::decode(&stored).ok_or(IndexError::Damaged)
    }

    /// Adds what has changed. False when another process holds the lock.
    pub(crate) fn refresh(&self, roots: &Roots, stop: &StopSignal) -> Result<bool, IndexError> {
        let Some(_lock) = self.lock()? else { return Ok(false) };
        let database = Database::open(&self.path, db::COMPONENTS)?;
        let outer_rules = outer_rules(roots).unwrap_or_default();
        let folders = walk_tree(roots, stop)?;
        let added = database.read(db::count_added)? <= MAX_ADDED;
        let known = if added {
            let before = database.read(|connection| Ok(self.load(connection)))??;
            before.with_folders(folders, outer_rules)
        } else {
            database.write(db::clear)?;
            Tree::new(folders, outer_rules)
        };
        self.write(&database, roots, known, added, stop)?;
        Ok(true)
    }

    /// Counts the files without counts, then stores the tree.
    fn write(
        &self,
        database: &Database,
        roots: &Roots,
        mut known: Tree,
        added: bool,
        stop: &StopSignal,
    ) -> Result<(), IndexError> {
        for ((folder, file), entry) in write_segments(database, roots, &known, added, stop)? {
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

/// Removes a database, which other processes may still read.
fn remove(path: &Path) {
    for ending in ["db", "db-wal", "db-shm"] {
        // A file that stays is found damaged and removed next time.
        let _ = std::fs::remove_file(path.with_extension(ending));
    }
}
