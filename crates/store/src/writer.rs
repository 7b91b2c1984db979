//! One thread that writes, so that nobody who has something to write down waits for the disk or for a lock.
//!
//! Nothing is opened before the first job comes. Whatever is queued goes into one short transaction. A job that
//! cannot be written is lost, counted and logged: this is for records whose loss is better than a delay.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Transaction, TransactionBehavior};

use crate::database::{Database, LOCK_PATIENCE, is_busy};
use crate::error::StoreError;
use crate::migrate::Component;

/// Something to write, inside a transaction that others may share. It must not commit or roll back.
pub type Job = Box<dyn FnOnce(&Transaction<'_>) -> rusqlite::Result<()> + Send>;

/// Jobs that may wait. At some hundred bytes each, a stuck database costs little memory.
const QUEUE_LIMIT: usize = 4096;
/// Jobs in one transaction, so that other processes get their turn.
const BATCH_LIMIT: usize = 512;
/// How long dropping a writer waits for what is still queued.
const DROP_PATIENCE: Duration = Duration::from_secs(2);
/// A database that could not be opened is not tried again before this has passed.
const REOPEN_AFTER: Duration = Duration::from_secs(1);

/// The way to the writing thread of one database.
pub struct Writer {
    shared: Arc<Shared>,
}

/// What became of the jobs submitted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub submitted: u64,
    /// In the database, visible to every process.
    pub committed: u64,
    /// Refused by a full queue, or failed.
    pub lost: u64,
}

impl Progress {
    pub fn pending(&self) -> u64 {
        self.submitted - self.committed - self.lost
    }
}

struct Shared {
    path: PathBuf,
    components: &'static [Component],
    patience: Duration,
    state: Mutex<State>,
    /// Told when a job comes, and when the writer closes.
    work: Condvar,
    /// Told when a batch is done.
    done: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    progress: Progress,
    problem: Option<String>,
    started: bool,
    closing: bool,
}

impl Writer {
    /// A writer for the database at `path`. Cheap: neither thread nor file before the first job.
    pub fn new(path: PathBuf, components: &'static [Component]) -> Writer {
        Writer::with_patience(path, components, LOCK_PATIENCE)
    }

    /// A writer that gives up on a locked database after `patience`.
    pub fn with_patience(path: PathBuf, components: &'static [Component], patience: Duration) -> Writer {
        let shared = Shared {
            path,
            components,
            patience,
            state: Mutex::default(),
            work: Condvar::new(),
            done: Condvar::new(),
        };
        Writer { shared: Arc::new(shared) }
    }

    /// Queues `job`. Never waits: when the queue is full, the job is lost and counted.
    pub fn submit(&self, job: Job) {
        let mut state = self.shared.lock();
        state.progress.submitted += 1;
        if state.closing || state.queue.len() >= QUEUE_LIMIT {
            state.progress.lost += 1;
            let lost = state.progress.lost;
            drop(state);
            // Once per doubling: a full queue should not fill the log as well.
            if lost.is_power_of_two() {
                tracing::warn!(lost, "a record was dropped: the queue of the database is full");
            }
            return;
        }
        state.queue.push_back(job);
        if !state.started {
            state.started = true;
            let shared = Arc::clone(&self.shared);
            if let Err(error) = thread::Builder::new().name("tamis-writer".into()).spawn(move || shared.run())
            {
                state.started = false;
                state.progress.lost += state.queue.len() as u64;
                state.queue.clear();
                state.problem = Some(format!("cannot start the writing thread: {error}"));
            }
        }
        self.shared.work.notify_one();
    }

    /// Waits until everything submitted before is written or lost, at most `timeout`.
    pub fn flush(&self, timeout: Duration) -> Progress {
        let deadline = Instant::now().checked_add(timeout);
        let mut state = self.shared.lock();
        let target = state.progress.submitted;
        while state.progress.committed + state.progress.lost < target {
            let left =
                deadline.map_or(timeout, |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            state = self.shared.done.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.progress
    }

    /// Writes what is queued, waiting at most `timeout`, and takes no more.
    pub fn close(&self, timeout: Duration) -> Progress {
        self.shared.lock().closing = true;
        self.shared.work.notify_one();
        self.flush(timeout)
    }

    /// Why writing does not work at present, as far as is known. `None` before anything was tried.
    pub fn problem(&self) -> Option<String> {
        self.shared.lock().problem.clone()
    }

    pub fn has_problem(&self) -> bool {
        self.shared.lock().problem.is_some()
    }

    pub fn progress(&self) -> Progress {
        self.shared.lock().progress
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close(DROP_PATIENCE);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: ends when the writer closed and nothing is queued.
    fn run(&self) {
        let mut database = None;
        let mut not_before: Option<Instant> = None;
        while let Some(batch) = self.next_batch() {
            let jobs = batch.len() as u64;
            let written = match &mut database {
                Some(database) if still_there(database) => write(database, batch),
                slot => {
                    *slot = None;
                    if not_before.is_some_and(|instant| Instant::now() < instant) {
                        self.finish(0, jobs, None);
                        continue;
                    }
                    match Database::open_within(&self.path, self.components, self.patience) {
                        Ok(opened) => write(slot.insert(opened), batch),
                        Err(error) => {
                            not_before = Some(Instant::now() + REOPEN_AFTER);
                            Err(error)
                        }
                    }
                }
            };
            match written {
                Ok(committed) => self.finish(committed, jobs - committed, Some(Ok(()))),
                Err(error) => self.finish(0, jobs, Some(Err(error.describe()))),
            }
        }
    }

    fn next_batch(&self) -> Option<Vec<Job>> {
        let mut state = self.lock();
        while state.queue.is_empty() {
            if state.closing {
                return None;
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let size = state.queue.len().min(BATCH_LIMIT);
        Some(state.queue.drain(..size).collect())
    }

    fn finish(&self, committed: u64, lost: u64, outcome: Option<Result<(), String>>) {
        let mut state = self.lock();
        state.progress.committed += committed;
        state.progress.lost += lost;
        match outcome {
            Some(Ok(())) => state.problem = None,
            Some(Err(problem)) => {
                tracing::warn!(lost, problem, "records were lost: the database cannot be written");
                state.problem = Some(problem);
            }
            None => {}
        }
        self.done.notify_all();
    }
}

/// Whether the file is still the one that was opened. Someone may have removed the folder, and SQLite would go on
/// writing to a file without a name.
#[cfg(unix)]
fn still_there(database: &Database) -> bool {
    database.is_same_file()
}

#[cfg(not(unix))]
fn still_there(_database: &Database) -> bool {
    true
}

/// Writes the jobs in one transaction; gives how many of them are in it.
fn write(database: &Database, batch: Vec<Job>) -> Result<u64, StoreError> {
    let mut connection = database.connection();
    let sql = |error| StoreError::of(database.path(), error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
    let mut committed = 0;
    for job in batch {
        transaction.execute_batch("SAVEPOINT job").map_err(sql)?;
        let outcome = catch_unwind(AssertUnwindSafe(|| job(&transaction)));
        if matches!(outcome, Ok(Ok(()))) {
            committed += 1;
        } else {
            match outcome {
                Ok(Err(error)) => tracing::warn!(%error, "a record could not be written"),
                _ => tracing::warn!("writing a record panicked"),
            }
            // When SQLite itself gave up the transaction (the disk is full), this fails, and all of it is lost.
            transaction.execute_batch("ROLLBACK TO job").map_err(sql)?;
        }
        transaction.execute_batch("RELEASE job").map_err(sql)?;
    }
    // Only without WAL can a commit meet a lock; the transaction stays open, so it can be asked again.
    for _ in 0..3 {
        match transaction.execute_batch("COMMIT") {
            Ok(()) => return Ok(committed),
            Err(error) if is_busy(&error) => {}
            Err(error) => return Err(sql(error)),
        }
    }
    transaction.commit().map_err(sql)?;
    Ok(committed)
}
