//! The entry point: past sessions as one collection, whose index is brought up to date on request.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tamis_logs::discovery::{self, LogLocations};
use tamis_logs::event::{EventKind, LogEvent};
use tamis_store::{DataDir, Database, Lock, StoreError};

use crate::accounting::{CountedRequest, UsageAccount};
use crate::block_events;
use crate::call_stats::CallCounter;
use crate::db::{self, Blocks};
use crate::error::TraceError;
use crate::event_details::EventDetails;
use crate::index::{self, IndexProgress, IndexRefresh};
use crate::index_files::remove_outdated;
use crate::indexed_log::IndexedLog;
use crate::request_owners::RequestOwners;
use crate::session::Session;
use crate::summary::Turn;

/// How often a process that waits for another's indexing checks again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Past sessions of the clients' logs.
pub struct Trace {
    locations: LogLocations,
    data_dir: DataDir,
    database: Mutex<Option<Arc<Database>>>,
    /// The connection that indexes, so that reading does not wait for it.
    writer: Mutex<Option<Arc<Database>>>,
    /// When the logs were last checked, and how often anything was new.
    looked: Mutex<(Option<Instant>, u64)>,
    blocks: Mutex<Option<(Generation, Arc<Blocks>)>>,
    owners: Mutex<Option<(Generation, Arc<RequestOwners>)>>,
    pub(crate) calls: CallCounter,
}

/// The state of the index: how often this process brought something new, and SQLite's count of what others did.
pub(crate) type Generation = (u64, i64);

impl Trace {
    pub fn new(locations: LogLocations, data_dir: DataDir) -> Trace {
        Trace {
            calls: CallCounter::new(data_dir.state_db()),
            locations,
            data_dir,
            database: Mutex::new(None),
            writer: Mutex::new(None),
            looked: Mutex::new((None, 0)),
            blocks: Mutex::new(None),
            owners: Mutex::new(None),
        }
    }

    pub fn locations(&self) -> &LogLocations {
        &self.locations
    }

    /// The index's file.
    pub fn index_path(&self) -> std::path::PathBuf {
        self.data_dir.root().join(format!("trace-v{}.db", db::VERSION))
    }

    pub(crate) fn index_folder(&self) -> &std::path::Path {
        self.data_dir.root()
    }

    /// Deletes the index and builds it again.
    pub fn rebuild(
        &self,
        watch: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<IndexRefresh, TraceError> {
        let database = self.database()?;
        database.write(|transaction| db::clear(transaction))?;
        self.refresh(watch)
    }

    /// The index, opened at first use, and again when its file was removed or replaced. A damaged index is deleted, since it
    /// can be rebuilt from the logs.
    pub(crate) fn database(&self) -> Result<Arc<Database>, TraceError> {
        let mut known = self.database.lock();
        match known.as_ref() {
            Some(database) if database.is_same_file() => return Ok(Arc::clone(database)),
            // Its logs have other numbers, so nothing that is remembered holds.
            Some(_) => {
                let mut looked = self.looked.lock();
                *looked = (None, looked.1 + 1);
            }
            None => {}
        }
        let path = self.index_path();
        let opened = match Database::open(&path, db::COMPONENTS) {
            Err(StoreError::Corrupt { .. }) => {
                self.erase()?;
                Database::open(&path, db::COMPONENTS)
            }
            opened => opened,
        }?;
        Ok(Arc::clone(known.insert(Arc::new(opened))))
    }

    /// A second connection to the index.
    fn writer(&self) -> Result<Arc<Database>, TraceError> {
        // The first one has checked the file.
        self.database()?;
        let mut known = self.writer.lock();
        if let Some(database) = known.as_ref().filter(|database| database.is_same_file()) {
            return Ok(Arc::clone(database));
        }
        let opened = Database::open(&self.index_path(), db::COMPONENTS)?;
        Ok(Arc::clone(known.insert(Arc::new(opened))))
    }

    fn erase(&self) -> Result<(), TraceError> {
        let path = self.index_path();
        for suffix in ["", "-wal", "-shm"] {
            let mut name = path.clone().into_os_string();
            name.push(suffix);
            match std::fs::remove_file(&name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(TraceError::DataDir { path: name.into(), source: error });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Brings the index up to date, unless that was done less than `age` ago.
    pub fn refresh_if_older(
        &self,
        age: Duration,
        watch: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<(), TraceError> {
        let (looked, _) = *self.looked.lock();
        if looked.is_none_or(|looked| looked.elapsed() >= age) {
            self.refresh(watch)?;
        }
        Ok(())
    }

    /// Brings the index up to date with the logs. If another process is doing so, the existing index is used; only while the
    /// first index is being built does this wait for it.
    pub fn refresh(
        &self,
        watch: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<IndexRefresh, TraceError> {
        let folder = |source| TraceError::DataDir { path: self.data_dir.root().to_owned(), source };
        self.data_dir.create().map_err(folder)?;
        let database = self.writer()?;
        let lock = loop {
            if let Some(lock) = Lock::try_acquire(&self.data_dir.root().join("trace.lock")).map_err(folder)? {
                break lock;
            }
            if database.read(db::done)?.is_some() {
                return Ok(IndexRefresh::default());
            }
            if watch(IndexProgress::default()).is_break() {
                return Err(TraceError::Cancelled);
            }
            std::thread::sleep(LOOK_AGAIN);
        };
        let mut broken_off = false;
        let refreshed = index::refresh(&database, discovery::discover(&self.locations), &mut |progress| {
            let flow = watch(progress);
            broken_off |= flow.is_break();
            flow
        })?;
        if self.looked.lock().0.is_none() {
            remove_outdated(self.data_dir.root());
        }
        drop(lock);
        if broken_off {
            return Err(TraceError::Cancelled);
        }
        let mut looked = self.looked.lock();
        looked.0 = Some(Instant::now());
        looked.1 += u64::from(refreshed.read + refreshed.removed > 0);
        Ok(refreshed)
    }

    /// Changes whenever this or another process changes the index.
    pub(crate) fn generation(&self) -> Result<Generation, TraceError> {
        let own = self.looked.lock().1;
        Ok((own, self.database()?.read(db::data_version)?))
    }

    /// The blocks of all logs, which every search looks through.
    pub(crate) fn blocks(&self) -> Result<Arc<Blocks>, TraceError> {
        let generation = self.generation()?;
        let mut known = self.blocks.lock();
        if let Some((_, blocks)) = known.as_ref().filter(|(of, _)| *of == generation) {
            return Ok(Arc::clone(blocks));
        }
        let blocks = Arc::new(self.database()?.read(|connection| db::blocks_with_filters(connection, None))?);
        *known = Some((generation, Arc::clone(&blocks)));
        Ok(blocks)
    }

    /// Which log counts each request.
    pub(crate) fn owners(&self) -> Result<Arc<RequestOwners>, TraceError> {
        let generation = self.generation()?;
        let mut known = self.owners.lock();
        if let Some((_, owners)) = known.as_ref().filter(|(of, _)| *of == generation) {
            return Ok(Arc::clone(owners));
        }
        let owners = Arc::new(self.database()?.read(RequestOwners::read)?);
        *known = Some((generation, Arc::clone(&owners)));
        Ok(owners)
    }

    /// A session's turns from this one on.
    pub fn turns(&self, session: &Session, from: u64, most: usize) -> Result<Vec<Turn>, TraceError> {
        let mut turns = self.database()?.read(|connection| db::turns(connection, session.log, from, most))?;
        // A session counts no request that an earlier one counts, so its turns do not either.
        for request in self.inherited_requests(session)? {
            let turn =
                request.turn.and_then(|number| turns.binary_search_by_key(&number, |turn| turn.number).ok());
            if let Some(turn) = turn {
                turns[turn].tokens = turns[turn].tokens.minus(request.tokens);
            }
        }
        Ok(turns)
    }

    /// The requests of a session's log that an earlier log counts.
    pub(crate) fn inherited_requests(&self, session: &Session) -> Result<Vec<CountedRequest>, TraceError> {
        if session.inherited.is_zero() {
            return Ok(Vec::new());
        }
        let owners = self.owners()?;
        let mut requests = self.account(session)?.requests().to_vec();
        requests.retain(|request| !owners.counts(session.log, request.key));
        Ok(requests)
    }

    /// What a session's log reports of tokens, each request once.
    pub fn account(&self, session: &Session) -> Result<UsageAccount, TraceError> {
        Ok(self.database()?.read(|connection| db::account_of(connection, session.log))?)
    }

    /// A session's events from this one on, as the log has them, until `visit` breaks. They are not redacted.
    pub fn events(
        &self,
        session: &Session,
        from: u64,
        visit: &mut dyn FnMut(u64, &LogEvent<'_>) -> ControlFlow<()>,
    ) -> Result<(), TraceError> {
        let (log, blocks) = self.database()?.read(|connection| {
            let log = db::log_of(connection, session.log)?;
            Ok((log, db::blocks(connection, session.log, from)?))
        })?;
        let log = log.ok_or_else(|| TraceError::NoSuchSession { id: session.id.clone() })?;
        let failed = |source| TraceError::Log { path: log.source.path.clone(), source };
        let _ = block_events::read_blocks(&log, &blocks, &mut |number, event, _| {
            if number < from { ControlFlow::Continue(()) } else { visit(number, event) }
        })
        .map_err(failed)?;
        Ok(())
    }

    /// The events in some ranges, given in order, as the log has them. Only the blocks that have them are read.
    pub fn events_in(
        &self,
        session: &Session,
        ranges: &[Range<u64>],
        visit: &mut dyn FnMut(u64, &LogEvent<'_>),
    ) -> Result<(), TraceError> {
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok(()) };
        let (log, mut blocks) = self.database()?.read(|connection| {
            let log = db::log_of(connection, session.log)?;
            Ok((log, db::blocks(connection, session.log, first.start)?))
        })?;
        let log = log.ok_or_else(|| TraceError::NoSuchSession { id: session.id.clone() })?;
        let overlapping = |from: u64, end: u64| {
            let next = ranges.partition_point(|range| range.end <= from);
            ranges.get(next).is_some_and(|range| range.start < end)
        };
        blocks.retain(|block| overlapping(block.first_event, block.first_event + block.events));
        let failed = |source| TraceError::Log { path: log.source.path.clone(), source };
        let _ = block_events::read_blocks(&log, &blocks, &mut |number, event, _| {
            if overlapping(number, number + 1) {
                visit(number, event);
            }
            if number + 1 >= last.end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .map_err(failed)?;
        Ok(())
    }

    /// The events of one kind in a range, as they may be shown, until `visit` breaks. Cancelled as soon as `broken_off` returns
    /// true.
    pub fn events_of_kind(
        &self,
        session: &Session,
        range: Range<u64>,
        kind: EventKind,
        broken_off: &dyn Fn() -> bool,
        visit: &mut dyn FnMut(u64, &EventDetails) -> ControlFlow<()>,
    ) -> Result<(), TraceError> {
        let mut cancelled = false;
        self.events(session, range.start, &mut |number, event| {
            cancelled = broken_off();
            match number >= range.end || cancelled {
                true => ControlFlow::Break(()),
                false if event.kind() == kind => visit(number, &EventDetails::of(event)),
                false => ControlFlow::Continue(()),
            }
        })?;
        if cancelled { Err(TraceError::Cancelled) } else { Ok(()) }
    }

    /// One event.
    pub fn event(&self, session: &Session, index: u64) -> Result<EventDetails, TraceError> {
        let most = session.summary.events.checked_sub(1);
        if most.is_none_or(|most| index > most) {
            return Err(TraceError::NoSuchEvent { session: self.short_id(&session.id)?, index, most });
        }
        let mut seen = None;
        self.events(session, index, &mut |_, event| {
            seen = Some(EventDetails::of(event));
            ControlFlow::Break(())
        })?;
        seen.ok_or_else(|| TraceError::Changed { path: session.id.clone() })
    }

    /// Every log, and how far it is indexed.
    pub fn logs(&self) -> Result<Vec<IndexedLog>, TraceError> {
        Ok(self.database()?.read(db::logs)?)
    }
}
