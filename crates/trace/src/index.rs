//! Bringing the index up to date with the logs: only what is new is read, by as many threads as there are cores, and one
//! writer keeps what they give.

mod log;
mod session;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::SystemTime;

use tamis_codebase::{cores, in_parallel};
use tamis_logs::discovery::{DiscoveredLogs, LogSource, LogStamp};
use tamis_logs::event::Millis;
use tamis_redact::Redacted;
use tamis_store::rusqlite::{self, Connection};
use tamis_store::{Database, StoreError};

use crate::db::{self, BlockRow};
use crate::indexed_log::IndexedLog;
use crate::request_owners;
use crate::segment::COLUMNS;
use crate::summary::Turn;
use log::{Known, Outcome};
use session::put_session;

/// Bytes of logs that one transaction covers at most: others may write in between, and what is done is kept.
const BATCH: u64 = 512 << 20;
/// Messages that may wait for the writer; a block's is ten kilobytes.
const WAITING: usize = 256;

/// How far indexing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexProgress {
    pub logs: u64,
    pub bytes: u64,
    pub total_bytes: u64,
}

/// What bringing the index up to date came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexRefresh {
    /// Logs there are.
    pub logs: u64,
    /// Of them, read now, in whole or in part.
    pub read: u64,
    pub removed: u64,
    pub bytes: u64,
    /// Places that could not be read.
    pub problems: Vec<Redacted>,
}

/// What the reading of a log gives, while it goes on.
enum Message {
    /// Everything known of the log is replaced.
    Anew,
    /// Blocks from this number on are replaced.
    Begin {
        first_block: u64,
    },
    Block(BlockRow),
    Turns(Vec<Turn>),
    /// Bytes that were read since the last message.
    Read(u64),
    Done(Box<Outcome>),
}

struct Job<'a> {
    source: &'a LogSource,
    log: Option<IndexedLog>,
}

/// Brings the index up to date with what was found. `watch` is called at each step and may cancel it.
pub(crate) fn refresh(
    database: &Database,
    found: DiscoveredLogs,
    watch: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
) -> Result<IndexRefresh, StoreError> {
    let mut known: HashMap<(String, String), IndexedLog> = database
        .read(db::logs)?
        .into_iter()
        .map(|log| ((log.source.path.clone(), log.source.part.clone()), log))
        .collect();
    let mut jobs = Vec::new();
    for source in &found.sources {
        let log = known.remove(&(source.path.clone(), source.part.clone()));
        if log.as_ref().is_none_or(|log| log.source.stamp != source.stamp) {
            jobs.push(Job { source, log });
        }
    }
    let mut refreshed = IndexRefresh {
        logs: found.sources.len() as u64,
        read: jobs.len() as u64,
        removed: known.len() as u64,
        problems: found.problems.into_iter().map(Redacted::from).collect(),
        bytes: 0,
    };
    if jobs.is_empty() && known.is_empty() {
        if database.read(db::done)?.is_none() {
            database.write(|transaction| db::put_done(transaction, now()))?;
        }
        return Ok(refreshed);
    }
    if !known.is_empty() {
        database
            .write(|transaction| known.values().try_for_each(|log| db::remove_log(transaction, log.id)))?;
    }
    // The largest first, so that no thread is left alone with it at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(job.source.stamp.size));
    refreshed.bytes = run(database, &jobs, watch)?;
    database.write(|transaction| {
        request_owners::subtract_inherited(transaction)?;
        db::spread_roots(transaction)?;
        db::put_done(transaction, now())
    })?;
    // Listing is served; what only searching needs comes after.
    database.write(|transaction| db::gather(transaction))?;
    Ok(refreshed)
}

fn now() -> Millis {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_millis() as Millis)
}

/// Reads all jobs and writes what they give. Returns the bytes that were read.
fn run(
    database: &Database,
    jobs: &[Job<'_>],
    watch: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
) -> Result<u64, StoreError> {
    let stop = AtomicBool::new(false);
    let left = |job: &Job<'_>| {
        let had = job.log.as_ref().map_or(0, |log| log.read_to);
        if job.source.stamp.size >= had { job.source.stamp.size - had } else { job.source.stamp.size }
    };
    let mut progress = IndexProgress { total_bytes: jobs.iter().map(left).sum(), ..IndexProgress::default() };
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        let stop = &stop;
        scope.spawn(move || {
            in_parallel(jobs, cores(), |jobs| {
                for (number, job) in jobs {
                    if stop.load(Ordering::Relaxed)
                        || read_job(database, number, job, &sender, stop).is_none()
                    {
                        break;
                    }
                }
            });
        });
        let mut ids: Vec<Option<i64>> = jobs.iter().map(|job| job.log.as_ref().map(|log| log.id)).collect();
        let mut report = |progress| {
            if watch(progress).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let written = write_all(database, jobs, &receiver, &mut ids, &mut progress, &mut report);
        // Readers that still want to send learn that the writer is gone.
        stop.store(true, Ordering::Relaxed);
        drop(receiver);
        written
    })?;
    Ok(progress.bytes)
}

/// Passes on to the writer what the reading of one job gives.
struct Sink<'a> {
    job: usize,
    sender: &'a SyncSender<(usize, Message)>,
    stop: &'a AtomicBool,
}

impl Sink<'_> {
    fn send(&self, message: Message) {
        if self.sender.send((self.job, message)).is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Reports bytes that were read. Breaking ends the reading and discards it.
    fn progress(&self, bytes: u64) -> ControlFlow<()> {
        self.send(Message::Read(bytes));
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn read_job(
    database: &Database,
    number: usize,
    job: &Job<'_>,
    sender: &SyncSender<(usize, Message)>,
    stop: &AtomicBool,
) -> Option<()> {
    let known = job.log.as_ref().and_then(|log| {
        let look = |connection: &Connection| -> rusqlite::Result<Option<Known>> {
            let Some(session) = db::session_of_log(connection, log.id)? else { return Ok(None) };
            let mut summary = session.summary;
            summary.account = db::account_of(connection, log.id)?;
            Ok(Some(Known { log: log.clone(), summary, last_block: db::last_block(connection, log.id)? }))
        };
        database.read_on_new_connection(look).ok().flatten()
    });
    let sink = Sink { job: number, sender, stop };
    let outcome = log::read(job.source, known, &sink)?;
    sink.send(Message::Done(Box::new(outcome)));
    Some(())
}

fn write_all(
    database: &Database,
    jobs: &[Job<'_>],
    receiver: &Receiver<(usize, Message)>,
    ids: &mut [Option<i64>],
    progress: &mut IndexProgress,
    report: &mut dyn FnMut(IndexProgress),
) -> Result<(), StoreError> {
    let mut open = true;
    while open {
        let until = progress.bytes + BATCH;
        database.write(|transaction| {
            // Blocks wait until there are enough for a segment, so that their filters are written once.
            let mut waiting = Vec::with_capacity(COLUMNS);
            while progress.bytes < until {
                let Ok((job, message)) = receiver.recv() else {
                    open = false;
                    break;
                };
                write(transaction, jobs, ids, progress, &mut waiting, job, message)?;
                report(*progress);
            }
            db::put_blocks(transaction, &waiting)
        })?;
    }
    Ok(())
}

fn write(
    connection: &Connection,
    jobs: &[Job<'_>],
    ids: &mut [Option<i64>],
    progress: &mut IndexProgress,
    waiting: &mut Vec<(i64, BlockRow)>,
    job: usize,
    message: Message,
) -> rusqlite::Result<()> {
    let mut log_id = || id_of(connection, jobs, ids, job);
    match message {
        Message::Anew => {
            let log = log_id()?;
            db::remove_blocks(connection, log, 0)?;
            db::remove_turns(connection, log)
        }
        Message::Begin { first_block } => db::remove_blocks(connection, log_id()?, first_block),
        Message::Block(block) => {
            waiting.push((log_id()?, block));
            if waiting.len() == COLUMNS {
                db::put_blocks(connection, waiting)?;
                waiting.clear();
            }
            Ok(())
        }
        Message::Turns(turns) => {
            let log = log_id()?;
            turns.iter().try_for_each(|turn| db::put_turn(connection, log, turn))
        }
        Message::Read(bytes) => {
            progress.bytes += bytes;
            Ok(())
        }
        Message::Done(outcome) => {
            progress.logs += 1;
            let Outcome { mut log, summary } = *outcome;
            if summary.events == 0 && log.problem.is_none() && !summary.unrecognised.is_empty() {
                // There is no session to count it in, and it must not go unreported.
                let what: Vec<String> =
                    summary.unrecognised.iter().map(|(what, count)| format!("{what} ({count})")).collect();
                log.problem = Some(format!("no record was recognised: {}", what.join(", ")));
            }
            let id = db::put_log(connection, &log)?;
            put_session(connection, id, &log, summary)
        }
    }
}

/// A log's id, made when it is needed. Its stamp is none that a file has, so a reading that never ends is done again.
fn id_of(
    connection: &Connection,
    jobs: &[Job<'_>],
    ids: &mut [Option<i64>],
    job: usize,
) -> rusqlite::Result<i64> {
    if let Some(id) = ids[job] {
        return Ok(id);
    }
    let stamp = LogStamp { size: 0, changed: -1, file: 0 };
    let mut log = IndexedLog::new(LogSource { stamp, ..jobs[job].source.clone() });
    log.problem = Some("it was not read to its end".to_owned());
    let id = db::put_log(connection, &log)?;
    ids[job] = Some(id);
    Ok(id)
}
