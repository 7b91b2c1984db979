//! `GET /ws`: the events of agents as they come.
//!
//! Each message is a JSON object. The first is `{"type":"hello","last_seq":…,"after":…}`, then one for each event after that
//! number, in order. A client that comes back with `?after=` and the number of the last event that it saw misses nothing
//! and gets nothing twice. What clients send is not read, but for pings and the close.

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

/// More than this are turned away: each costs a task, and reads the tables for itself.
const MOST_FOLLOWERS: u32 = 64;

/// Nothing that a client sends means anything, so nothing of it need be large.
const LARGEST_MESSAGE: usize = 4096;

/// How often a client is asked whether it is still there, and how long it may not answer.
const PING_EVERY: Duration = Duration::from_secs(20);
const LONGEST_SILENCE: Duration = Duration::from_secs(65);

/// How long a client may take for the goodbye. One that has stopped reading must not hold up the server's end.
const GOODBYE: Duration = Duration::from_secs(2);

/// Those who follow the events, through whichever listener.
#[derive(Clone)]
pub(crate) struct Followers {
    places: Arc<Semaphore>,
    ending: CancellationToken,
}

impl Default for Followers {
    fn default() -> Followers {
        Followers {
            places: Arc::new(Semaphore::new(MOST_FOLLOWERS as usize)),
            ending: CancellationToken::new(),
        }
    }
}

impl Followers {
    /// Tells all of them that it is over.
    pub(crate) fn end(&self) {
        self.ending.cancel();
    }

    /// Waits until they have gone.
    pub(crate) async fn all_gone(&self) {
        // Never closed, so that it cannot fail.
        let _ = self.places.acquire_many(MOST_FOLLOWERS).await;
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct From {
    after: Option<i64>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Told<E> {
    Hello { last_seq: i64, after: i64 },
    Event(E),
}

pub(crate) async fn follow(
    State(served): State<Served>,
    Extension(followers): Extension<Followers>,
    from: Result<Query<From>, QueryRejection>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let after = valid_query(from)?.after.map(|after| after.max(0));
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return Ok(rejection.into_response()),
    };
    let Ok(place) = Arc::clone(&followers.places).try_acquire_owned() else {
        let full = format!("{MOST_FOLLOWERS} follow the events already");
        return Err(AgentsError::new(Code::CoordinatorUnavailable, full).into());
    };
    let follower = agents(&served)?.follow(after).await?;
    let last_seq = follower.last_seq().await?;
    let upgrade = upgrade.max_message_size(LARGEST_MESSAGE).max_frame_size(LARGEST_MESSAGE);
    Ok(upgrade.on_upgrade(move |socket| tell(socket, follower, last_seq, followers.ending, place)))
}

/// Tells a client everything until it goes, or we do.
async fn tell(
    mut socket: WebSocket,
    mut follower: EventFollower,
    last_seq: i64,
    ending: CancellationToken,
    _place: OwnedSemaphorePermit,
) {
    let goodbye = tokio::select! {
        // Also in the middle of a message to a client that does not read.
        () = ending.cancelled() => Some((close_code::AWAY, "the server ends")),
        goodbye = tell_until(&mut socket, &mut follower, last_seq) => goodbye,
    };
    if let Some((code, reason)) = goodbye {
        let close = socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() })));
        // It may have gone already.
        let _ = tokio::time::timeout(GOODBYE, close).await;
    }
}

/// With what to say at the end; nothing to a client that went by itself.
async fn tell_until(
    socket: &mut WebSocket,
    follower: &mut EventFollower,
    last_seq: i64,
) -> Option<(u16, &'static str)> {
    let hello = Told::<()>::Hello { last_seq, after: follower.after() };
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
                Ok(event) => socket.send(text(&Told::Event(event))?).await.ok()?,
                Err(error) => {
                    tracing::error!(%error, "the events cannot be read");
                    return Some((close_code::ERROR, "the events cannot be read"));
                }
            },
            _ = pings.tick() => {
                if heard.elapsed() > LONGEST_SILENCE {
                    return Some((close_code::AWAY, "no answer to pings"));
                }
                socket.send(Message::Ping(Vec::new().into())).await.ok()?;
            }
        }
    }
}

fn text(told: &impl Serialize) -> Option<Message> {
    let text =
        serde_json::to_string(told).inspect_err(|error| tracing::error!(%error, "an event is no JSON"));
    Some(Message::Text(text.ok()?.into()))
}
