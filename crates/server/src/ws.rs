//! `GET /ws`: the events of agents as they are written.
//!
//! Each message is a JSON object. The first is `{"type":"hello","last_seq":…,"after":…}`, then one for each event after that
//! number, in order. A client that reconnects with `?after=` and the number of the last event that it got misses nothing
//! and gets nothing twice. What clients send is ignored, except for pings and the close.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Extension, Query, State};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use tamis_agents::{AgentsError, Code};
use tamis_coordinator::EventFollower;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::Served;
use crate::api::{ApiError, agents, valid_query};

/// Maximum number of followers: each costs a task, and reads the tables for itself.
const MOST_FOLLOWERS: u32 = 64;

/// Maximum size of a message from a client.
const LARGEST_MESSAGE: usize = 4096;

/// How often a client is pinged, and how long it may be silent.
const PING_EVERY: Duration = Duration::from_secs(20);
const LONGEST_SILENCE: Duration = Duration::from_secs(65);

/// Time limit of the close message. A client that has stopped reading must not delay the server's end.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// The followers of all listeners.
#[derive(Clone)]
pub(crate) struct Followers {
    permits: Arc<Semaphore>,
    ending: CancellationToken,
}

impl Default for Followers {
    fn default() -> Followers {
        Followers {
            permits: Arc::new(Semaphore::new(MOST_FOLLOWERS as usize)),
            ending: CancellationToken::new(),
        }
    }
}

impl Followers {
    /// A place for one more.
    pub(crate) fn admit(&self) -> Result<OwnedSemaphorePermit, AgentsError> {
        Arc::clone(&self.permits).try_acquire_owned().map_err(|_| {
            let full = format!("too many followers of events: {MOST_FOLLOWERS}");
            AgentsError::new(Code::CoordinatorUnavailable, full)
        })
    }

    /// Returns when the server ends, also in the middle of a message to a client that does not read.
    pub(crate) async fn ending(&self) -> WebSocketClose {
        self.ending.cancelled().await;
        Some((close_code::AWAY, "the server is shutting down"))
    }

    /// Closes all of them.
    pub(crate) fn end(&self) {
        self.ending.cancel();
    }

    /// Waits until they are closed.
    pub(crate) async fn all_gone(&self) {
        // Never closed, so that it cannot fail.
        let _ = self.permits.acquire_many(MOST_FOLLOWERS).await;
    }
}

/// The close code and reason; None for a client that closed by itself.
pub(crate) type WebSocketClose = Option<(u16, &'static str)>;

/// The pings of one client.
pub(crate) struct Heartbeat {
    pings: Interval,
    heard: Instant,
}

impl Heartbeat {
    pub(crate) fn new() -> Heartbeat {
        let mut pings = tokio::time::interval_at(Instant::now() + PING_EVERY, PING_EVERY);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Heartbeat { pings, heard: Instant::now() }
    }

    /// The client has sent something.
    pub(crate) fn note_message(&mut self) {
        self.heard = Instant::now();
    }

    /// Waits until the next ping is due. Cancel-safe.
    pub(crate) async fn due(&mut self) {
        self.pings.tick().await;
    }

    /// Pings, unless the client has been silent for too long.
    pub(crate) async fn ping(&self, socket: &mut WebSocket) -> Result<(), WebSocketClose> {
        if self.heard.elapsed() > LONGEST_SILENCE {
            return Err(Some((close_code::AWAY, "no response to pings")));
        }
        socket.send(Message::Ping(Vec::new().into())).await.map_err(|_| None)
    }
}

/// The connection, with the limits of all followers.
pub(crate) fn limited(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade.max_message_size(LARGEST_MESSAGE).max_frame_size(LARGEST_MESSAGE)
}

/// Ends a connection, unless the client has.
pub(crate) async fn close(mut socket: WebSocket, close: WebSocketClose) {
    if let Some((code, reason)) = close {
        let close = socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() })));
        // It may have gone already.
        let _ = tokio::time::timeout(CLOSE_LIMIT, close).await;
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FollowQuery {
    after: Option<i64>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ServerMessage<E> {
    Hello { last_seq: i64, after: i64 },
    Event(E),
}

pub(crate) async fn follow(
    State(served): State<Served>,
    Extension(followers): Extension<Followers>,
    parsed: Result<Query<FollowQuery>, QueryRejection>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let after = valid_query(parsed)?.after.map(|after| after.max(0));
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return Ok(rejection.into_response()),
    };
    let permit = followers.admit()?;
    let mut follower = agents(&served)?.follow(after).await?;
    let last_seq = follower.last_seq().await?;
    Ok(limited(upgrade).on_upgrade(move |mut socket| async move {
        let closed = tokio::select! {
            closed = followers.ending() => closed,
            closed = send_events(&mut socket, &mut follower, last_seq) => closed,
        };
        close(socket, closed).await;
        drop(permit);
    }))
}

async fn send_events(socket: &mut WebSocket, follower: &mut EventFollower, last_seq: i64) -> WebSocketClose {
    let hello = ServerMessage::<()>::Hello { last_seq, after: follower.after() };
    socket.send(text(&hello)?).await.ok()?;
    let mut heartbeat = Heartbeat::new();
    loop {
        tokio::select! {
            received = socket.recv() => match received {
                Some(Ok(Message::Close(_))) | Some(Err(_)) | None => return None,
                Some(Ok(_)) => heartbeat.note_message(),
            },
            event = follower.next() => match event {
                Ok(event) => socket.send(text(&ServerMessage::Event(event))?).await.ok()?,
                Err(error) => return unreadable(&error),
            },
            () = heartbeat.due() => if let Err(closed) = heartbeat.ping(socket).await {
                return closed;
            },
        }
    }
}

/// The close for events that cannot be read.
pub(crate) fn unreadable(error: &AgentsError) -> WebSocketClose {
    tracing::error!(%error, "cannot read events");
    Some((close_code::ERROR, "cannot read the events"))
}

pub(crate) fn text(message: &impl Serialize) -> Option<Message> {
    let text = serde_json::to_string(message)
        .inspect_err(|error| tracing::error!(%error, "cannot serialise an event"));
    Some(Message::Text(text.ok()?.into()))
}
