//! One thread that writes, so that nobody who has something to write down waits for the disk or for a lock.
//!
//! Nothing is opened before the first job comes. Whatever is queued goes into one short transaction. What meets a
//! lock waits for its end. What cannot be written for another reason is lost, counted and logged: this is for
//! records whose loss is better than a delay.
//!
//! Only the thread logs: whoever submits must not wait for a reader of the log either.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use rusqlite::Transaction;

use crate::database::{Database, LOCK_PATIENCE};
use crate::error::StoreError;
use crate::migrate::Component;

/// Something to write, inside a transaction that others may share. It must not commit or roll back, and is run again
/// when that transaction came to nothing.
pub type Job = Box<dyn Fn(&Transaction<'_>) -> rusqlite::Result<()> + Send>;

/// Jobs that may wait. At some hundred bytes each, a stuck database costs little memory.
const QUEUE_LIMIT: usize = 4096;
/// Jobs in one transaction, so that other processes get their turn.
const BATCH_LIMIT: usize = 512;
/// How long dropping a writer waits for what is still queued.
const DROP_PATIENCE: Duration = Duration::from_secs(2);
/// A database that could not be opened is not tried again before this has passed.
const REOPEN_AFTER: Duration = Duration::from_secs(1);
/// Between attempts at a locked database, where SQLite itself did not wait.
const LOCKED_PAUSE: Duration = Duration::from_millis(20);

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
    /// A flush waited in vain, so dropping does not wait once more.
    given_up: bool,
}

impl Writer {
    /// A writer for the database at `path`. Cheap: neither thread nor file before the first job.
    pub fn new(path: PathBuf, components: &'static [Component]) -> Writer {
        Writer::with_patience(path, components, LOCK_PATIENCE)
    }

    /// A writer that asks a locked database again after `patience`, and says so.
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
        if state.queue.len() >= QUEUE_LIMIT {
            state.progress.lost += 1;
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
                state.given_up = true;
                break;
            }
            self.shared.done.wait_for(&mut state, left);
        }
        state.progress
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
        let given_up = {
            let mut state = self.shared.lock();
            state.closing = true;
            state.given_up
        };
        self.shared.work.notify_one();
        if !given_up {
            self.flush(DROP_PATIENCE);
        }
    }
}

/// What became of a batch.
#[derive(Default)]
struct Written {
    committed: u64,
    lost: u64,
    /// To be tried again.
    left: Vec<Job>,
    /// The first that went wrong.
    error: Option<StoreError>,
}

impl Written {
    fn failed(batch: Vec<Job>, error: StoreError) -> Written {
        let (lost, left) = match error {
            StoreError::Locked { .. } => (0, batch),
            _ => (batch.len() as u64, Vec::new()),
        };
        Written { lost, left, error: Some(error), ..Written::default() }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The thread: ends when the writer closed and nothing is queued.
    fn run(&self) {
        let mut database = None;
        let mut not_before: Option<Instant> = None;
        let mut lost_and_told = 0;
        while let Some(batch) = self.next_batch() {
            database = database.filter(Database::is_same_file);
            if database.is_none() && not_before.is_some_and(|instant| Instant::now() < instant) {
                self.lock().progress.lost += batch.len() as u64;
                self.done.notify_all();
                continue;
            }
            let opened = match database.take() {
                Some(database) => Ok(database),
                None => Database::open_within(&self.path, self.components, self.patience),
            };
            let written = match opened {
                Ok(opened) => write(database.insert(opened), batch),
                Err(error) => {
                    let locked = matches!(error, StoreError::Locked { .. });
                    not_before = (!locked).then(|| Instant::now() + REOPEN_AFTER);
                    Written::failed(batch, error)
                }
            };
            let locked = !written.left.is_empty();
            self.finish(written, &mut lost_and_told);
            if locked {
                thread::sleep(LOCKED_PAUSE);
            }
        }
    }

    fn next_batch(&self) -> Option<Vec<Job>> {
        let mut state = self.lock();
        while state.queue.is_empty() {
            if state.closing {
                return None;
            }
            self.work.wait(&mut state);
        }
        let size = state.queue.len().min(BATCH_LIMIT);
        Some(state.queue.drain(..size).collect())
    }

    /// Counts, puts back what is left, and tells whoever waits; then logs, when there is news.
    fn finish(&self, written: Written, lost_and_told: &mut u64) {
        let Written { committed, mut lost, left, error } = written;
        let problem = error.map(|error| error.describe());
        let mut state = self.lock();
        if state.closing {
            // Nobody waits any longer for the lock to go.
            lost += left.len() as u64;
        } else {
            left.into_iter().rev().for_each(|job| state.queue.push_front(job));
        }
        state.progress.committed += committed;
        state.progress.lost += lost;
        let lost = state.progress.lost;
        let news = state.problem != problem;
        state.problem.clone_from(&problem);
        drop(state);
        self.done.notify_all();
        match problem {
            Some(problem) if news => tracing::warn!(lost, problem, "the database cannot be written"),
            None if news => tracing::info!(lost, "the database can be written again"),
            // Once per doubling: a full queue should not fill the log as well.
            _ if lost > *lost_and_told * 2 => tracing::warn!(lost, "records were lost"),
            _ => return,
        }
        *lost_and_told = lost;
    }
}

/// Writes the jobs in one transaction, or one by one when some of them are at fault.
fn write(database: &Database, mut batch: Vec<Job>) -> Written {
    match transact(database, &batch) {
        Ok(()) => Written { committed: batch.len() as u64, ..Written::default() },
        Err(StoreError::Sql { .. } | StoreError::Panicked { .. }) if batch.len() > 1 => {
            let mut written = Written::default();
            for index in 0..batch.len() {
                match transact(database, &batch[index..=index]) {
                    Ok(()) => written.committed += 1,
                    Err(error @ StoreError::Locked { .. }) => {
                        return Written { left: batch.split_off(index), error: Some(error), ..written };
                    }
                    Err(error) => {
                        written.lost += 1;
                        written.error.get_or_insert(error);
                    }
                }
            }
            written
        }
        Err(error) => Written::failed(batch, error),
    }
}

fn transact(database: &Database, jobs: &[Job]) -> Result<(), StoreError> {
    let work = || database.write(|transaction| jobs.iter().try_for_each(|job| job(transaction)));
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(StoreError::Panicked { path: database.path().to_owned() }))
}
