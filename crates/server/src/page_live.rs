//! The page's live connection, `/api/page/live`: events of agents, tool calls of all sessions, and rows of the page Now.
//!
//! One thread follows the sessions for all connections, and another the ledger of prunes. They start with the first and end with the
//! last. A client that reads too slowly loses messages and is sent a `gap`, at which it loads what it shows again.

use std::collections::HashSet;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tamis_agents::AgentsError;
use tamis_coordinator::{AgentService, EventFollower};
use tamis_dashboard::{Dashboard, LiveCall, LiveMessage, LiveSink, MissedCalls, PageError};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

use crate::api::ApiError;
use crate::page::PageState;
use crate::ws::{self, Followers, Heartbeat, WebSocketClose, limited, text};

/// Messages that a client may be behind.
const BEHIND: usize = 8192;

/// The thread that follows the sessions, while any client is connected.
#[derive(Clone, Default)]
pub(crate) struct LiveFeed(Arc<Mutex<Weak<Following>>>);

struct Following {
    sender: broadcast::Sender<Live>,
    is_ready: watch::Receiver<bool>,
    is_ended: Arc<AtomicBool>,
}

/// A message, serialised once for all clients.
#[derive(Clone)]
struct Live {
    message: Message,
    /// Of a call, what identifies it.
    call: Option<(String, u64)>,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::Relaxed);
    }
}

impl LiveFeed {
    fn join(&self, dashboard: &Arc<Dashboard>) -> Arc<Following> {
        let mut current = self.0.lock();
        // The thread drops its end when it ends, also when it panics: then another one starts.
        if let Some(following) = current.upgrade().filter(|it| it.is_ready.has_changed().is_ok()) {
            return following;
        }
        let (sender, _) = broadcast::channel(BEHIND);
        let (ready, is_ready) = watch::channel(false);
        let is_ended = Arc::new(AtomicBool::new(false));
        let following =
            Arc::new(Following { sender: sender.clone(), is_ready, is_ended: Arc::clone(&is_ended) });
        // Clients wait only until the sessions are followed.
        type Follow = fn(&Dashboard, &LiveSink<'_>);
        let follow_sessions: Follow = Dashboard::follow_sessions;
        for (name, follow, ready) in
            [("live", follow_sessions, Some(ready)), ("live-prunes", Dashboard::follow_prunes, None)]
        {
            let (dashboard, sender, is_ended) =
                (Arc::clone(dashboard), sender.clone(), Arc::clone(&is_ended));
            let run = move || {
                let send = |message: LiveMessage| {
                    let call = match &message {
                        LiveMessage::Call(call) => Some(identity(call)),
                        _ => None,
                    };
                    // Sending fails only if no client is connected.
                    let _ = text(&message).map(|message| sender.send(Live { message, call }));
                };
                let ready = || {
                    if let Some(ready) = &ready {
                        ready.send_replace(true);
                    }
                };
                let is_ended = || is_ended.load(Ordering::Relaxed);
                follow(&dashboard, &LiveSink { ready: &ready, send: &send, is_ended: &is_ended });
            };
            if let Err(error) = thread::Builder::new().name(name.into()).spawn(run) {
                tracing::error!(%error, name, "cannot start a thread of the live connection");
            }
        }
        *current = Arc::downgrade(&following);
        following
    }
}

fn identity(call: &LiveCall) -> (String, u64) {
    (call.session.clone(), call.event)
}

/// The first message of a client: what it has.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ClientMessage {
    Follow { events_after: Option<i64>, calls_since: Option<i64> },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AgentMessage<E> {
    Event(E),
}

pub(crate) async fn connect(
    State(state): State<PageState>,
    Extension(followers): Extension<Followers>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return Ok(rejection.into_response()),
    };
    let permit = followers.admit()?;
    Ok(limited(upgrade).on_upgrade(move |mut socket| async move {
        let closed = tokio::select! {
            closed = followers.ending() => closed,
            closed = serve(&mut socket, &state) => closed,
        };
        ws::close(socket, closed).await;
        drop(permit);
    }))
}

async fn serve(socket: &mut WebSocket, state: &PageState) -> WebSocketClose {
    let mut heartbeat = Heartbeat::new();
    let (events_after, calls_since) = loop {
        tokio::select! {
            received = socket.recv() => match received {
                Some(Ok(Message::Close(_))) | Some(Err(_)) | None => return None,
                Some(Ok(Message::Text(sent))) => match serde_json::from_str(&sent) {
                    Ok(ClientMessage::Follow { events_after, calls_since }) => break (events_after, calls_since),
                    Err(_) => return Some((close_code::POLICY, "expected a message of type follow")),
                },
                Some(Ok(_)) => heartbeat.note_message(),
            },
            () = heartbeat.due() => if let Err(closed) = heartbeat.ping(socket).await {
                return closed;
            },
        }
    };
    let agents = match follow_agents(state.agents.as_ref(), events_after).await {
        Ok(agents) => agents,
        Err(error) => return ws::unreadable(&error),
    };
    let (last_event, follower) = agents.unzip();
    socket.send(text(&state.dashboard.hello(last_event))?).await.ok()?;
    follow(socket, state, heartbeat, follower, calls_since).await
}

async fn follow_agents(
    agents: Option<&Arc<AgentService>>,
    after: Option<i64>,
) -> Result<Option<(i64, EventFollower)>, AgentsError> {
    let Some(agents) = agents else { return Ok(None) };
    let follower = agents.follow(after.map(|after| after.max(0))).await?;
    Ok(Some((follower.last_seq().await?, follower)))
}

async fn follow(
    socket: &mut WebSocket,
    state: &PageState,
    mut heartbeat: Heartbeat,
    mut follower: Option<EventFollower>,
    calls_since: Option<i64>,
) -> WebSocketClose {
    // Before the missed calls are read, so that none is between them and what follows.
    let following = state.live.join(&state.dashboard);
    let mut live = following.sender.subscribe();
    let mut missed = Some(missed_calls(state, following.is_ready.clone(), calls_since));
    let mut sent: HashSet<(String, u64)> = HashSet::new();
    let mut is_ready = following.is_ready.clone();
    loop {
        tokio::select! {
            // It fails once the thread has ended, so the client must connect again.
            () = ended(&mut is_ready) => return Some((close_code::ERROR, "cannot follow sessions")),
            received = socket.recv() => match received {
                Some(Ok(Message::Close(_))) | Some(Err(_)) | None => return None,
                Some(Ok(_)) => heartbeat.note_message(),
            },
            event = next_event(follower.as_mut()) => match event {
                Ok(event) => socket.send(text(&AgentMessage::Event(event))?).await.ok()?,
                Err(error) => return ws::unreadable(&error),
            },
            read = read_missed(&mut missed) => {
                missed = None;
                if read.is_cut {
                    socket.send(text(&LiveMessage::Gap)?).await.ok()?;
                }
                for call in read.calls {
                    sent.insert(identity(&call));
                    socket.send(text(&LiveMessage::Call(call))?).await.ok()?;
                }
                // What was pruned before this connection is in no message.
                socket.send(text(&LiveMessage::Prune)?).await.ok()?;
            },
            // What comes meanwhile waits, so that calls arrive in order.
            received = live.recv(), if missed.is_none() => match received {
                Ok(Live { call: Some(call), .. }) if sent.remove(&call) => {}
                Ok(Live { message, .. }) => socket.send(message).await.ok()?,
                Err(RecvError::Lagged(_)) => socket.send(text(&LiveMessage::Gap)?).await.ok()?,
                Err(RecvError::Closed) => return Some((close_code::ERROR, "cannot follow sessions")),
            },
            () = heartbeat.due() => if let Err(closed) = heartbeat.ping(socket).await {
                return closed;
            },
        }
    }
}

/// Returns when the thread that follows the sessions has ended.
async fn ended(is_ready: &mut watch::Receiver<bool>) {
    while is_ready.changed().await.is_ok() {}
}

async fn next_event(follower: Option<&mut EventFollower>) -> Result<impl Serialize + use<>, AgentsError> {
    match follower {
        Some(follower) => follower.next().await,
        None => pending().await,
    }
}

/// Reads the calls that the client missed, once everything later is sent.
fn missed_calls(
    state: &PageState,
    mut is_ready: watch::Receiver<bool>,
    since: Option<i64>,
) -> JoinHandle<Result<MissedCalls, PageError>> {
    let dashboard = Arc::clone(&state.dashboard);
    tokio::spawn(async move {
        // An error means that the thread has ended; the connection does then too.
        let _ = is_ready.wait_for(|ready| *ready).await;
        let read = tokio::task::spawn_blocking(move || dashboard.missed_calls(since)).await;
        read.unwrap_or_else(|_| Ok(MissedCalls { is_cut: true, ..MissedCalls::default() }))
    })
}

async fn read_missed(missed: &mut Option<JoinHandle<Result<MissedCalls, PageError>>>) -> MissedCalls {
    let Some(reading) = missed else { return pending().await };
    match reading.await {
        Ok(Ok(read)) => read,
        failed => {
            tracing::warn!(?failed, "cannot read missed calls");
            MissedCalls { is_cut: true, ..MissedCalls::default() }
        }
    }
}
