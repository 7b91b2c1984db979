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
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::Served;
use crate::api::{ApiError, agents, valid_query};

/// Maximum number of followers: each costs a task, and reads the tables for itself.
const MOST_FOLLOWERS: u32 = 64;

/// Maximum size of a message from a client, all of which are ignored.
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
    let Ok(permit) = Arc::clone(&followers.permits).try_acquire_owned() else {
        let full = format!("too many followers of events: {MOST_FOLLOWERS}");
        return Err(AgentsError::new(Code::CoordinatorUnavailable, full).into());
    };
    let follower = agents(&served)?.follow(after).await?;
    let last_seq = follower.last_seq().await?;
    let upgrade = upgrade.max_message_size(LARGEST_MESSAGE).max_frame_size(LARGEST_MESSAGE);
    Ok(upgrade.on_upgrade(move |socket| serve_client(socket, follower, last_seq, followers.ending, permit)))
}

/// Sends events to a client until it closes, or the server ends.
async fn serve_client(
    mut socket: WebSocket,
    mut follower: EventFollower,
    last_seq: i64,
    ending: CancellationToken,
    _permit: OwnedSemaphorePermit,
) {
    let close = tokio::select! {
        // Also in the middle of a message to a client that does not read.
        () = ending.cancelled() => Some((close_code::AWAY, "the server is shutting down")),
        close = send_events(&mut socket, &mut follower, last_seq) => close,
    };
    if let Some((code, reason)) = close {
        let close = socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() })));
        // It may have gone already.
        let _ = tokio::time::timeout(CLOSE_LIMIT, close).await;
    }
}

/// Answers the close code and reason; None for a client that closed by itself.
async fn send_events(
    socket: &mut WebSocket,
    follower: &mut EventFollower,
    last_seq: i64,
) -> Option<(u16, &'static str)> {
    let hello = ServerMessage::<()>::Hello { last_seq, after: follower.after() };
    socket.send(text(&hello)?).await.ok()?;
    let mut pings = tokio::time::interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heard = Instant::now();
    loop {
        tokio::select! {
            received = socket.recv() => match received {
                Some(Ok(Message::Close(_))) | Some(Err(_)) | None => return None,
                Some(Ok(_)) => heard = Instant::now(),
            },
            event = follower.next() => match event {
                Ok(event) => socket.send(text(&ServerMessage::Event(event))?).await.ok()?,
                Err(error) => {
                    tracing::error!(%error, "cannot read events");
                    return Some((close_code::ERROR, "cannot read the events"));
                }
            },
            _ = pings.tick() => {
                if heard.elapsed() > LONGEST_SILENCE {
                    return Some((close_code::AWAY, "no response to pings"));
                }
                socket.send(Message::Ping(Vec::new().into())).await.ok()?;
            }
        }
    }
}

fn text(message: &impl Serialize) -> Option<Message> {
    let text = serde_json::to_string(message)
        .inspect_err(|error| tracing::error!(%error, "cannot serialise an event"));
    Some(Message::Text(text.ok()?.into()))
}
