//! The connections of all listeners: who has a place, who holds memory, and who is dropped when either runs out.
//!
//! Places and memory are divided between callers that have shown the token or an identity and all others, so the others
//! cannot crowd them out. Within each half, a connection that makes no progress is dropped for one that does: nothing waits
//! for a client that does not send or read.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Connections that have shown neither token nor identity, whether they are in use or not.
const MAX_ANONYMOUS: usize = 640;
/// Of those, the ones with a request. The others wait for one, so there is always one that can be dropped for a new one.
const MAX_ANONYMOUS_BUSY: usize = 320;
/// Connections that have shown the token or an identity.
const MAX_TRUSTED: usize = 128;

/// How long a new connection is not dropped for another: the first request of an honest client follows at once, but on a
/// busy machine not within a few milliseconds.
const GRACE: Duration = Duration::from_millis(250);

/// Bodies and answers up to this size are not counted: all of them together take a few megabytes.
pub(crate) const UNCOUNTED: usize = 64 << 10;

/// The connections of a server.
#[derive(Clone)]
pub(crate) struct Connections {
    shared: Arc<Shared>,
}

struct Shared {
    table: Mutex<Table>,
    /// Notified when memory is given back.
    freed: Notify,
    /// Of anonymous and of trusted connections each.
    max_bytes: usize,
}

#[derive(Default)]
struct Table {
    /// Counts changes, as a clock that orders them.
    ticks: u64,
    entries: HashMap<u64, Entry>,
}

struct Entry {
    opened: Instant,
    phase: Phase,
    is_trusted: bool,
    /// When the client last made progress, in ticks.
    active: u64,
    /// Memory that counts.
    bytes: usize,
    /// Its client has sent nothing that is still to be read. Until the first look, a request may be waiting in the socket.
    is_silent: bool,
    /// The whole answer was handed to the connection, which may still have to write it.
    is_answered: bool,
    dropped: CancellationToken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// For a request, or for the rest of its headers.
    Waiting,
    /// Of a body.
    Receiving,
    /// The client can do nothing.
    Working,
    /// Of an answer.
    Sending,
    /// To be closed.
    Dropped,
}

/// The place of one connection, which is free once all clones are gone.
#[derive(Clone)]
pub(crate) struct Connection {
    place: Arc<Place>,
}

struct Place {
    id: u64,
    connections: Connections,
    dropped: CancellationToken,
}

impl Connections {
    /// With that much memory for anonymous connections, and as much for trusted ones.
    pub(crate) fn new(max_bytes: usize) -> Connections {
        let shared = Shared { table: Mutex::default(), freed: Notify::new(), max_bytes };
        Connections { shared: Arc::new(shared) }
    }

    /// Reserves a place for a new connection. If all are taken, the connection that has waited longest for a request is dropped, or
    /// the new one waits until an idle one is old enough to be dropped.
    pub(crate) async fn open(&self) -> Connection {
        let came = Instant::now();
        while !self.has_place() && came.elapsed() < GRACE {
            tokio::time::sleep(GRACE / 50).await;
        }
        self.add()
    }

    fn has_place(&self) -> bool {
        let mut table = self.table();
        let may_go = |entry: &Entry| !entry.is_trusted && entry.is_idle() && entry.opened.elapsed() >= GRACE;
        table.count(|entry| !entry.is_trusted) < MAX_ANONYMOUS || table.drop_one("idle", may_go)
    }

    fn add(&self) -> Connection {
        let mut table = self.table();
        let (id, dropped) = (table.tick(), CancellationToken::new());
        let entry = Entry {
            opened: Instant::now(),
            phase: Phase::Waiting,
            is_trusted: false,
            active: id,
            bytes: 0,
            is_silent: false,
            is_answered: false,
            dropped: dropped.clone(),
        };
        table.entries.insert(id, entry);
        Connection { place: Arc::new(Place { id, connections: self.clone(), dropped }) }
    }

    /// Drops a connection that waits for a request: the system has no more descriptors.
    pub(crate) fn drop_idle(&self) {
        self.table().drop_one("idle", Entry::is_idle);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.shared.table.lock()
    }
}

impl Entry {
    fn is_idle(&self) -> bool {
        self.phase == Phase::Waiting && self.is_silent
    }
}

impl Table {
    fn tick(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }

    fn count(&self, which: impl Fn(&Entry) -> bool) -> usize {
        self.entries.values().filter(|entry| entry.phase != Phase::Dropped && which(entry)).count()
    }

    fn bytes(&self, is_trusted: bool) -> usize {
        let same = self.entries.values().filter(|entry| entry.is_trusted == is_trusted);
        same.map(|entry| entry.bytes).sum()
    }

    /// Drops the connection, among these, whose client has made no progress for the longest time.
    fn drop_one(&mut self, why: &str, which: impl Fn(&Entry) -> bool) -> bool {
        let among = self.entries.values_mut().filter(|entry| entry.phase != Phase::Dropped && which(entry));
        let Some(entry) = among.min_by_key(|entry| entry.active) else { return false };
        tracing::debug!(why, "dropping a connection for another");
        entry.phase = Phase::Dropped;
        // Counted as free at once: it is freed as soon as the connection's task runs.
        entry.bytes = 0;
        entry.dropped.cancel();
        true
    }
}

impl Connection {
    /// A place outside of any limit, for a request that came by no connection.
    pub(crate) fn detached() -> Connection {
        Connections::new(usize::MAX).add()
    }

    /// Returns when the connection is to be closed for another.
    pub(crate) async fn dropped(&self) {
        self.place.dropped.cancelled().await;
    }

    pub(crate) fn phase(&self) -> Phase {
        let table = self.place.connections.table();
        table.entries.get(&self.place.id).map_or(Phase::Dropped, |entry| entry.phase)
    }

    /// The client has sent or read something.
    pub(crate) fn made_progress(&self) {
        self.update(|_| ());
    }

    /// Everything that the client has sent was read, and it is no request yet.
    pub(crate) fn fell_silent(&self) {
        let mut table = self.place.connections.table();
        if let Some(entry) = table.entries.get_mut(&self.place.id) {
            entry.is_silent = true;
        }
    }

    /// A request has come.
    pub(crate) fn begin(&self) {
        self.update(|entry| entry.phase = Phase::Receiving);
    }

    /// Takes a place for the request, among those of trusted callers if it is from one. False if there is none.
    pub(crate) fn admit(&self, is_trusted: bool) -> bool {
        self.update(|entry| entry.is_trusted = is_trusted);
        let mut table = self.place.connections.table();
        if !is_trusted {
            let busy = table.count(|entry| !entry.is_trusted && entry.phase != Phase::Waiting);
            return busy <= MAX_ANONYMOUS_BUSY;
        }
        while table.count(|entry| entry.is_trusted) > MAX_TRUSTED {
            if !table.drop_one("idle", |entry| entry.is_trusted && entry.is_idle()) {
                return false;
            }
        }
        true
    }

    /// Takes memory for a body that is now this large, from a connection that makes no progress if need be; else waits.
    pub(crate) async fn receive(&self, bytes: usize) {
        self.made_progress();
        let counted = bytes.saturating_sub(UNCOUNTED);
        loop {
            // Before the check, so that no notification is missed.
            let freed = self.place.connections.shared.freed.notified();
            if counted == 0 || self.take(counted) {
                return;
            }
            freed.await;
        }
    }

    fn take(&self, counted: usize) -> bool {
        let shared = &self.place.connections.shared;
        let mut table = shared.table.lock();
        let Some(own) = table.entries.get(&self.place.id) else { return false };
        let (is_trusted, active, more) = (own.is_trusted, own.active, counted.saturating_sub(own.bytes));
        while table.bytes(is_trusted).saturating_add(more) > shared.max_bytes {
            let stalls = |entry: &Entry| {
                let waits_for_client = matches!(entry.phase, Phase::Receiving | Phase::Sending);
                entry.is_trusted == is_trusted && waits_for_client && entry.bytes > 0 && entry.active < active
            };
            if !table.drop_one("stalled", stalls) {
                return false;
            }
        }
        if let Some(own) = table.entries.get_mut(&self.place.id) {
            own.bytes = counted;
        }
        true
    }

    /// The body is complete.
    pub(crate) fn work(&self) {
        self.update(|entry| entry.phase = Phase::Working);
    }

    /// An answer of this size is to be sent; its memory is counted instead of the body's.
    fn send(&self, bytes: usize) {
        self.update(|entry| {
            (entry.phase, entry.bytes, entry.is_answered) = (Phase::Sending, 0, false);
        });
        self.place.connections.shared.freed.notify_waiters();
        // It exists already, so it is kept even where no other can be dropped for it.
        let counted = bytes.saturating_sub(UNCOUNTED);
        if counted > 0 && !self.take(counted) {
            self.update(|entry| entry.bytes = counted);
        }
    }

    /// Everything that was handed to the connection is written.
    pub(crate) fn flushed(&self) {
        let is_over = self.update(|entry| {
            let is_over = entry.phase == Phase::Sending && entry.is_answered;
            if is_over {
                (entry.phase, entry.bytes) = (Phase::Waiting, 0);
            }
            is_over
        });
        if is_over {
            self.place.connections.shared.freed.notify_waiters();
        }
    }

    fn update<T>(&self, change: impl FnOnce(&mut Entry) -> T) -> T {
        let mut table = self.place.connections.table();
        let tick = table.tick();
        let entry = table.entries.get_mut(&self.place.id).expect("an entry is removed with its place");
        entry.active = tick;
        let phase = entry.phase;
        let result = change(entry);
        if phase == Phase::Dropped {
            entry.phase = phase;
        }
        result
    }

    /// The answer, watched until it is written.
    pub(crate) fn answer(&self, response: axum::response::Response) -> axum::response::Response {
        if response.status() == axum::http::StatusCode::SWITCHING_PROTOCOLS {
            self.work();
            return response;
        }
        let size = response.body().size_hint().exact().unwrap_or(0);
        self.send(usize::try_from(size).unwrap_or(usize::MAX));
        response.map(|inner| Body::new(WatchedBody { inner, connection: self.clone() }))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.table().entries.remove(&self.id);
        self.connections.shared.freed.notify_waiters();
    }
}

/// An answer's body, which reports when all of it was taken.
struct WatchedBody {
    inner: Body,
    connection: Connection,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(task)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        self.connection.update(|entry| entry.is_answered = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_is_not_dropped_before_its_request_can_come() {
        let connections = Connections::new(1 << 20);
        let mut open = Vec::new();
        for _ in 0..MAX_ANONYMOUS {
            open.push(connections.open().await);
            open.last().unwrap().fell_silent();
        }
        let begun = Instant::now();
        let another = connections.open().await;
        assert!(begun.elapsed() >= GRACE, "it waited for one that could be dropped");
        assert_eq!((open[0].phase(), open[1].phase()), (Phase::Dropped, Phase::Waiting));
        another.fell_silent();
        // All others are old enough by now, so each place is free at once.
        for place in open.iter_mut().skip(1) {
            let begun = Instant::now();
            let next = connections.open().await;
            assert_eq!((begun.elapsed(), place.phase()), (Duration::ZERO, Phase::Dropped));
            *place = next;
        }
        assert_eq!(another.phase(), Phase::Waiting);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_whose_request_has_come_keeps_its_place() {
        let connections = Connections::new(1 << 20);
        let mut open = Vec::new();
        for number in 0..MAX_ANONYMOUS {
            open.push(connections.open().await);
            if number == 0 { open[0].begin() } else { open[number].fell_silent() }
        }
        let _another = connections.open().await;
        assert_eq!((open[0].phase(), open[1].phase()), (Phase::Receiving, Phase::Dropped));
    }
}
