//! A background thread that writes, so that callers wait neither for the disk nor for a lock.
//!
//! Nothing is opened before the first job. All queued jobs go into one short transaction. A locked database is retried; jobs
//! that fail for another reason are dropped, counted and logged: this is for records whose loss is better than a delay.
//!
//! Only the thread logs, because callers must not wait for a reader of the log either.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use rusqlite::Transaction;

use crate::database::{Database, LOCK_TIMEOUT};
use crate::error::StoreError;
use crate::migrate::Component;

/// Something to write, in a transaction that other jobs share. It must not commit or roll back, and is run again when the
/// transaction fails.
pub type WriteJob = Box<dyn Fn(&Transaction<'_>) -> rusqlite::Result<()> + Send>;

/// Jobs that may wait. At some hundred bytes each, a stuck database costs little memory.
const QUEUE_LIMIT: usize = 4096;
/// Jobs in one transaction, so that other processes can write in between.
const BATCH_LIMIT: usize = 512;
/// How long dropping a writer waits for what is still queued.
const DROP_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait before trying again to open a database that could not be opened.
const REOPEN_AFTER: Duration = Duration::from_secs(1);
/// The pause between attempts at a locked database, where SQLite itself did not wait.
const LOCKED_PAUSE: Duration = Duration::from_millis(20);

/// The background writer of one database.
pub struct Writer {
    shared: Arc<Shared>,
}

/// The numbers of jobs so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterProgress {
    pub submitted: u64,
    /// In the database, visible to every process.
    pub committed: u64,
    /// Refused by a full queue, or failed.
    pub lost: u64,
}

impl WriterProgress {
    pub fn pending(&self) -> u64 {
        self.submitted - self.committed - self.lost
    }
}

struct Shared {
    path: PathBuf,
    components: &'static [Component],
    lock_timeout: Duration,
    state: Mutex<State>,
    /// Notified when a job comes and when the writer closes.
    work: Condvar,
    /// Notified when a batch is done.
    done: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<WriteJob>,
    progress: WriterProgress,
    problem: Option<String>,
    started: bool,
    closing: bool,
    /// A flush timed out, so dropping does not wait again.
    has_timed_out: bool,
}

impl Writer {
    /// A writer for the database at `path`. Starts no thread and opens no file before the first job.
    pub fn new(path: PathBuf, components: &'static [Component]) -> Writer {
        Writer::with_lock_timeout(path, components, LOCK_TIMEOUT)
    }

    /// A writer that logs a locked database and tries again after `lock_timeout`.
    pub fn with_lock_timeout(
        path: PathBuf,
        components: &'static [Component],
        lock_timeout: Duration,
    ) -> Writer {
        let shared = Shared {
            path,
            components,
            lock_timeout,
            state: Mutex::default(),
            work: Condvar::new(),
            done: Condvar::new(),
        };
        Writer { shared: Arc::new(shared) }
    }

    /// Queues `job` without waiting; when the queue is full, the job is dropped and counted.
    pub fn submit(&self, job: WriteJob) {
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
    pub fn flush(&self, timeout: Duration) -> WriterProgress {
        let deadline = Instant::now().checked_add(timeout);
        let mut state = self.shared.lock();
        let target = state.progress.submitted;
        while state.progress.committed + state.progress.lost < target {
            let left =
                deadline.map_or(timeout, |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                state.has_timed_out = true;
                break;
            }
            self.shared.done.wait_for(&mut state, left);
        }
        state.progress
    }

    /// Why writing fails at present. `None` before the first attempt.
    pub fn problem(&self) -> Option<String> {
        self.shared.lock().problem.clone()
    }

    pub fn has_problem(&self) -> bool {
        self.shared.lock().problem.is_some()
    }

    pub fn progress(&self) -> WriterProgress {
        self.shared.lock().progress
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let has_timed_out = {
            let mut state = self.shared.lock();
            state.closing = true;
            state.has_timed_out
        };
        self.shared.work.notify_one();
        if !has_timed_out {
            self.flush(DROP_TIMEOUT);
        }
    }
}

/// The result of a batch.
#[derive(Default)]
struct BatchResult {
    committed: u64,
    lost: u64,
    /// Jobs to try again.
    retry: Vec<WriteJob>,
    /// The first error.
    error: Option<StoreError>,
}

impl BatchResult {
    fn failed(batch: Vec<WriteJob>, error: StoreError) -> BatchResult {
        let (lost, retry) = match error {
            StoreError::Locked { .. } => (0, batch),
            _ => (batch.len() as u64, Vec::new()),
        };
        BatchResult { lost, retry, error: Some(error), ..BatchResult::default() }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The thread's main loop, which ends when the writer is closed and the queue empty.
    fn run(&self) {
        let mut database = None;
        let mut not_before: Option<Instant> = None;
        let mut lost_and_logged = 0;
        while let Some(batch) = self.next_batch() {
            database = database.filter(Database::is_same_file);
            if database.is_none() && not_before.is_some_and(|instant| Instant::now() < instant) {
                self.lock().progress.lost += batch.len() as u64;
                self.done.notify_all();
                continue;
            }
            let opened = match database.take() {
                Some(database) => Ok(database),
                None => Database::open_within(&self.path, self.components, self.lock_timeout),
            };
            let written = match opened {
                Ok(opened) => write(database.insert(opened), batch),
                Err(error) => {
                    let locked = matches!(error, StoreError::Locked { .. });
                    not_before = (!locked).then(|| Instant::now() + REOPEN_AFTER);
                    BatchResult::failed(batch, error)
                }
            };
            let locked = !written.retry.is_empty();
            self.finish(written, &mut lost_and_logged);
            if locked {
                thread::sleep(LOCKED_PAUSE);
            }
        }
    }

    fn next_batch(&self) -> Option<Vec<WriteJob>> {
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

    /// Counts, queues the jobs to try again, notifies callers of `flush`, and logs changes.
    fn finish(&self, result: BatchResult, lost_and_logged: &mut u64) {
        let BatchResult { committed, mut lost, retry, error } = result;
        let problem = error.map(|error| error.describe());
        let mut state = self.lock();
        if state.closing {
            // The writer is closing and does not wait for the lock any more.
            lost += retry.len() as u64;
        } else {
            retry.into_iter().rev().for_each(|job| state.queue.push_front(job));
        }
        state.progress.committed += committed;
        state.progress.lost += lost;
        let lost = state.progress.lost;
        let has_changed = state.problem != problem;
        state.problem.clone_from(&problem);
        drop(state);
        self.done.notify_all();
        match problem {
            Some(problem) if has_changed => tracing::warn!(lost, problem, "cannot write the database"),
            None if has_changed => tracing::info!(lost, "the database can be written again"),
            // Once per doubling, so that a full queue does not fill the log.
            _ if lost > *lost_and_logged * 2 => tracing::warn!(lost, "records were lost"),
            _ => return,
        }
        *lost_and_logged = lost;
    }
}

/// Writes the jobs in one transaction, or one by one when a job fails.
fn write(database: &Database, mut batch: Vec<WriteJob>) -> BatchResult {
    match transact(database, &batch) {
        Ok(()) => BatchResult { committed: batch.len() as u64, ..BatchResult::default() },
        Err(StoreError::Sql { .. } | StoreError::Panicked { .. }) if batch.len() > 1 => {
            let mut written = BatchResult::default();
            for index in 0..batch.len() {
                match transact(database, &batch[index..=index]) {
                    Ok(()) => written.committed += 1,
                    Err(error @ StoreError::Locked { .. }) => {
                        return BatchResult { retry: batch.split_off(index), error: Some(error), ..written };
                    }
                    Err(error) => {
                        written.lost += 1;
                        written.error.get_or_insert(error);
                    }
                }
            }
            written
        }
        Err(error) => BatchResult::failed(batch, error),
    }
}

fn transact(database: &Database, jobs: &[WriteJob]) -> Result<(), StoreError> {
    let work = || database.write(|transaction| jobs.iter().try_for_each(|job| job(transaction)));
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(StoreError::Panicked { path: database.path().to_owned() }))
}
