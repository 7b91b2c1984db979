//! The way in: past sessions as one collection, brought up to date when it is asked.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tamis_store::{DataDir, Database, Lock, StoreError};

use crate::accounting::UsageAccount;
use crate::call_stats::CallCounter;
use crate::db::{self, Blocks, SessionRow};
use crate::error::TraceError;
use crate::event_details::EventDetails;
use crate::index::{self, IndexProgress, IndexRefresh};
use crate::reading;
use crate::search::Cache;
use crate::summary::{SessionSummary, Turn};
use tamis_logs::discovery::{self, LogLocations};
use tamis_logs::event::{EventKind, EventStream, LogEvent, Millis, Provider};
use tamis_logs::usage::Tokens;

/// Letters of the shortest id in lists.
const SHORT_ID: usize = 8;
/// How many sessions an ambiguous prefix names.
const MOST_NAMED: usize = 20;
/// How deep subagents of subagents are followed.
const DEEPEST_FAMILY: usize = 6;
/// How often whoever waits for another's indexing looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Past sessions of the clients' logs.
pub struct Trace {
    locations: LogLocations,
    data_dir: DataDir,
    database: Mutex<Option<Arc<Database>>>,
    /// When the logs were last looked at, and how often anything was new.
    looked: Mutex<(Option<Instant>, u64)>,
    pub(crate) cache: Cache,
    blocks: Mutex<Option<(Generation, Arc<Blocks>)>>,
    pub(crate) uses: CallCounter,
}

/// The state of the index: how often this process brought something new, and SQLite's count of what others did.
pub(crate) type Generation = (u64, i64);

/// A session, as a list tells of it.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) log: i64,
    /// Unique; the client's own id, but for copies.
    pub id: String,
    pub native_id: String,
    pub provider: Provider,
    /// SHA-256 of the root's path; empty when the log does not tell.
    pub project: String,
    pub root: Option<String>,
    pub parent: Option<String>,
    /// `subagent` or `fork`, where there is a parent.
    pub relation: Option<String>,
    pub started: Option<Millis>,
    pub ended: Option<Millis>,
    /// What its own log counts, less what it inherited.
    pub own_tokens: u64,
    /// What an earlier log counts already.
    pub inherited: Tokens,
    pub summary: SessionSummary,
}

/// A project, with what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    pub hash: String,
    pub root: Option<String>,
    pub sessions: u64,
    pub last_activity: Option<Millis>,
}

impl Project {
    /// The hash by which the project in this folder goes.
    pub fn hash_of(root: &str) -> String {
        index::hash(root)
    }
}

/// Which sessions are wanted.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    pub provider: Option<Provider>,
    /// The beginning of a project's hash.
    pub project: Option<String>,
    pub since: Option<Millis>,
    pub until: Option<Millis>,
    pub least_tokens: Option<u64>,
    pub most_tokens: Option<u64>,
    /// Subagents' sessions are listed with their parents unless they are asked for.
    pub with_subagents: bool,
}

impl SessionFilter {
    pub(crate) fn wanted<'a>(&'a self, after: Option<(Millis, &'a str)>) -> db::Wanted<'a> {
        db::Wanted {
            provider: self.provider.map(Provider::name),
            project: self.project.as_deref(),
            since: self.since,
            until: self.until,
            least_tokens: self.least_tokens,
            most_tokens: self.most_tokens,
            only_roots: !self.with_subagents,
            after,
        }
    }
}

/// A log and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogState {
    pub(crate) id: i64,
    pub path: String,
    pub part: String,
    pub provider: Option<Provider>,
    pub size: u64,
    pub read_to: u64,
    /// Bytes of a last line that is not whole yet.
    pub pending: u64,
    pub problem: Option<String>,
}

impl Trace {
    pub fn new(locations: LogLocations, data_dir: DataDir) -> Trace {
        Trace {
            uses: CallCounter::new(data_dir.state_db()),
            locations,
            data_dir,
            database: Mutex::new(None),
            looked: Mutex::new((None, 0)),
            cache: Cache::default(),
            blocks: Mutex::new(None),
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

    /// Throws the index away and builds it anew.
    pub fn rebuild(
        &self,
        watch: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<IndexRefresh, TraceError> {
        let database = self.database()?;
        database.write(|transaction| db::clear(transaction))?;
        self.refresh(watch)
    }

    /// The index, opened when it is first asked for, and again when its file was removed or replaced. A damaged one is thrown
    /// away: it can be had again.
    pub(crate) fn database(&self) -> Result<Arc<Database>, TraceError> {
        let mut known = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref() {
            Some(database) if database.is_same_file() => return Ok(Arc::clone(database)),
            // Its logs have other numbers, so nothing that is remembered holds.
            Some(_) => {
                let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
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
        let (looked, _) = *self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.is_none_or(|looked| looked.elapsed() >= age) {
            self.refresh(watch)?;
        }
        Ok(())
    }

    /// Brings the index up to date with the logs. Where another process is at it, what exists is used; only the very first
    /// time is there nothing to use, and it is waited for.
    pub fn refresh(
        &self,
        watch: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<IndexRefresh, TraceError> {
        let folder = |source| TraceError::DataDir { path: self.data_dir.root().to_owned(), source };
        self.data_dir.create().map_err(folder)?;
        let database = self.database()?;
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
        drop(lock);
        if broken_off {
            return Err(TraceError::Cancelled);
        }
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.0 = Some(Instant::now());
        looked.1 += u64::from(refreshed.read + refreshed.removed > 0);
        Ok(refreshed)
    }

    /// Changes whenever anything in the index has, whoever did it.
    pub(crate) fn generation(&self) -> Result<Generation, TraceError> {
        let own = self.looked.lock().unwrap_or_else(PoisonError::into_inner).1;
        Ok((own, self.database()?.read(db::data_version)?))
    }

    /// The blocks of all logs, which every search looks through.
    pub(crate) fn blocks(&self) -> Result<Arc<Blocks>, TraceError> {
        let generation = self.generation()?;
        let mut known = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, blocks)) = known.as_ref().filter(|(of, _)| *of == generation) {
            return Ok(Arc::clone(blocks));
        }
        let blocks = Arc::new(self.database()?.read(|connection| db::blocks_with_letters(connection, None))?);
        *known = Some((generation, Arc::clone(&blocks)));
        Ok(blocks)
    }

    /// Sessions, the latest first, after the one that a page ended with.
    pub fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<(Millis, &str)>,
        most: usize,
    ) -> Result<Vec<Session>, TraceError> {
        let wanted = filter.wanted(after);
        let rows = self.database()?.read(|connection| db::sessions(connection, &wanted, most))?;
        Ok(rows.into_iter().map(Session::of).collect())
    }

    /// The session whose id begins so.
    pub fn session(&self, prefix: &str) -> Result<Session, TraceError> {
        let missing = || TraceError::NoSuchSession { id: prefix.to_owned() };
        if prefix.is_empty() {
            return Err(missing());
        }
        let mut rows = self
            .database()?
            .read(|connection| db::sessions_with_prefix(connection, prefix, MOST_NAMED + 1))?;
        if let Some(index) = rows.iter().position(|row| row.id == prefix) {
            return Ok(Session::of(rows.swap_remove(index)));
        }
        // A copy's id is that of its original and more, so the original would never be told by less than all of its id.
        let copies = |id: &str| rows.iter().filter(|row| is_copy(&row.id, id)).count();
        if let Some(index) =
            rows.iter().position(|row| copies(&row.id) + 1 == rows.len() && rows.len() <= MOST_NAMED)
        {
            return Ok(Session::of(rows.swap_remove(index)));
        }
        match rows.len() {
            0 => Err(missing()),
            1 => Ok(Session::of(rows.remove(0))),
            _ => {
                let more = rows.len() > MOST_NAMED;
                rows.truncate(MOST_NAMED);
                let matches: Result<Vec<String>, TraceError> =
                    rows.iter().map(|row| self.short_id(&row.id)).collect();
                Err(TraceError::Ambiguous { prefix: prefix.to_owned(), matches: matches?, more })
            }
        }
    }

    /// The shortest beginning of an id that only it has, of eight characters or more.
    pub fn short_id(&self, id: &str) -> Result<String, TraceError> {
        let neighbours = self.database()?.read(|connection| db::neighbours(connection, id))?;
        let shared =
            |other: &String| id.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
        let needed = neighbours.iter().flatten().map(|other| shared(other) + 1).max().unwrap_or(0);
        Ok(id.chars().take(needed.max(SHORT_ID)).collect())
    }

    /// The subagents and forks of a session, with theirs.
    pub fn family(&self, session: &Session) -> Result<Vec<Session>, TraceError> {
        let mut family: Vec<Session> = Vec::new();
        // Logs may name each other for their parents.
        let mut known = HashSet::from([session.log]);
        let mut parents = vec![session.native_id.clone()];
        for _ in 0..DEEPEST_FAMILY {
            let mut next = Vec::new();
            for parent in parents {
                for row in self.database()?.read(|connection| db::children(connection, &parent))? {
                    if known.insert(row.log) {
                        next.push(row.native.clone());
                        family.push(Session::of(row));
                    }
                }
            }
            parents = next;
        }
        Ok(family)
    }

    /// What a session used, its subagents included: they are billed.
    pub fn tokens_with_subagents(&self, session: &Session) -> Result<u64, TraceError> {
        let subagents = self.subagents(session)?;
        Ok(subagents.iter().fold(session.own_tokens, |sum, child| sum.saturating_add(child.own_tokens)))
    }

    /// The subagents of a session, with theirs.
    pub fn subagents(&self, session: &Session) -> Result<Vec<Session>, TraceError> {
        let mut family = self.family(session)?;
        family.retain(|child| child.relation.as_deref() == Some("subagent"));
        Ok(family)
    }

    pub fn projects(&self) -> Result<Vec<Project>, TraceError> {
        let rows = self.database()?.read(db::projects)?;
        let project = |(hash, root, sessions, last): db::ProjectRow| Project {
            hash,
            root,
            sessions,
            last_activity: Some(last).filter(|last| *last > 0),
        };
        Ok(rows.into_iter().map(project).collect())
    }

    /// A session's turns from this one on.
    pub fn turns(&self, session: &Session, from: u64, most: usize) -> Result<Vec<Turn>, TraceError> {
        Ok(self.database()?.read(|connection| db::turns(connection, session.log, from, most))?)
    }

    /// What a session's log reports of tokens, each request once.
    pub fn account(&self, session: &Session) -> Result<UsageAccount, TraceError> {
        Ok(self.database()?.read(|connection| db::account_of(connection, session.log))?)
    }

    /// A session's events from this one on, until `visit` breaks it off.
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
        let _ = reading::read_blocks(&log, &blocks, &mut |number, event, _| {
            if number < from { ControlFlow::Continue(()) } else { visit(number, event) }
        })
        .map_err(failed)?;
        Ok(())
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

    /// Every log, and what became of it.
    pub fn logs(&self) -> Result<Vec<LogState>, TraceError> {
        let mut logs: Vec<LogState> = self
            .database()?
            .read(db::logs)?
            .into_iter()
            .map(|log| LogState {
                id: log.id,
                provider: log.format.provider(),
                size: log.source.stamp.size,
                path: log.source.path,
                part: log.source.part,
                read_to: log.read_to,
                pending: log.pending,
                problem: log.problem,
            })
            .collect();
        logs.sort_by(|one, other| (&one.path, &one.part).cmp(&(&other.path, &other.part)));
        Ok(logs)
    }
}

/// Whether this is the id of a second log of that session.
fn is_copy(id: &str, of: &str) -> bool {
    id.strip_prefix(of).is_some_and(|rest| rest.starts_with('~'))
}

impl LogState {
    /// The file, and which of several sessions there.
    pub fn name(&self) -> String {
        if self.part.is_empty() { self.path.clone() } else { format!("{}#{}", self.path, self.part) }
    }
}

impl Session {
    pub(crate) fn of(row: SessionRow) -> Session {
        Session {
            log: row.log,
            id: row.id,
            native_id: row.native,
            provider: row.provider,
            project: row.project,
            root: row.root,
            parent: row.parent,
            relation: row.relation,
            started: row.summary.started,
            ended: row.summary.ended,
            own_tokens: row.tokens,
            inherited: row.inherited,
            summary: row.summary,
        }
    }

    /// Which conversation this is, as a whole.
    pub fn stream(&self) -> EventStream {
        if self.relation.as_deref() == Some("subagent") { EventStream::Subagent } else { EventStream::Main }
    }

    /// How many events of a kind it has.
    pub fn count(&self, kind: EventKind) -> u64 {
        self.summary.count(kind)
    }

    /// Whoever comes first counts a request that several logs tell of; the same order as the index's.
    pub(crate) fn by_beginning(&self) -> (Millis, bool, Millis, &str) {
        let started = self.started.unwrap_or(0);
        (started, self.relation.is_some(), self.ended.unwrap_or(started), &self.id)
    }

    /// The place of this session in lists.
    pub fn place(&self) -> (Millis, &str) {
        (self.started.unwrap_or(0), &self.id)
    }
}
