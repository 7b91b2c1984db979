//! A chat model server that fails on command, on a free port of 127.0.0.1.
//!
//! It plays a list of steps, one for each requested turn: answers and calls, but also failures, half answers, bytes that are
//! not HTTP, and silence. Silence lasts until the test ends it or the client disconnects, so no test waits for time to pass.

use std::collections::VecDeque;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde_json::{Value, json};

use crate::ModelRequest;
use crate::http::{self, Held, Listening};

/// How long a test waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the server does when a turn is requested.
#[derive(Clone, Debug)]
pub enum ChatStep {
    /// Answers with this text.
    Say(String),
    /// Refuses to answer, for this reason.
    Refuse(String),
    /// Calls these tools with these arguments.
    Call(Vec<(String, Value)>),
    /// Answers with this message.
    Message(Value),
    /// Answers with this body instead of a turn.
    Body(String),
    /// Fails with a status and this message.
    Fail(u16, String),
    /// Writes these bytes without an HTTP head, then disconnects.
    Raw(Vec<u8>),
    /// Disconnects in the middle of the answer.
    HangUp,
    /// Is silent until released, then takes the step, unless the client disconnects first.
    Hold(Box<ChatStep>),
}

impl ChatStep {
    pub fn say(text: impl ToString) -> ChatStep {
        ChatStep::Say(text.to_string())
    }

    pub fn call(tool: &str, arguments: Value) -> ChatStep {
        ChatStep::Call(vec![(tool.to_owned(), arguments)])
    }

    pub fn held(self) -> ChatStep {
        ChatStep::Hold(Box::new(self))
    }
}

/// A running server. Dropping it ends it.
pub struct ChatServer {
    shared: Arc<Shared>,
    listening: Listening,
}

struct Shared {
    /// What `GET …/models` answers.
    models: ChatStep,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    steps: VecDeque<ChatStep>,
    /// The step after all others.
    for_ever: Option<ChatStep>,
    requests: Vec<ModelRequest>,
    in_flight: usize,
    most_in_flight: usize,
    hung_up: usize,
    released: bool,
    closed: bool,
}

impl ChatServer {
    /// Takes these steps, and fails after the last of them. It lists the model `scripted` after one for embeddings.
    pub fn start(steps: Vec<ChatStep>) -> ChatServer {
        ChatServer::with_models(&["text-embedding-nomic", "scripted"], steps, None)
    }

    /// Takes these steps, and then `for_ever` again and again.
    pub fn endless(steps: Vec<ChatStep>, for_ever: ChatStep) -> ChatServer {
        ChatServer::with_models(&["scripted"], steps, Some(for_ever))
    }

    pub fn with_models(models: &[&str], steps: Vec<ChatStep>, for_ever: Option<ChatStep>) -> ChatServer {
        let models: Vec<Value> = models.iter().map(|id| json!({"id": id, "object": "model"})).collect();
        let listing = json!({"object": "list", "data": models}).to_string();
        ChatServer::listing(ChatStep::Body(listing), steps, for_ever)
    }

    /// Takes the step `models` when its models are listed.
    pub fn listing(models: ChatStep, steps: Vec<ChatStep>, for_ever: Option<ChatStep>) -> ChatServer {
        let state = State { steps: steps.into(), for_ever, ..State::default() };
        let shared = Arc::new(Shared { models, state: Mutex::new(state), changed: Condvar::new() });
        let serving = Arc::clone(&shared);
        ChatServer { shared, listening: Listening::start(move |stream, _| serving.serve(stream)) }
    }

    /// `http://127.0.0.1:<port>/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.listening.address)
    }

    /// The requests for turns so far, in order of arrival.
    pub fn turns(&self) -> Vec<Value> {
        let state = self.shared.state.lock();
        state.requests.iter().filter(|request| request.method == "POST").map(|r| r.body.clone()).collect()
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.state.lock().requests.clone()
    }

    /// Releases held steps, and those to come.
    pub fn release(&self) {
        self.shared.state.lock().released = true;
        self.shared.changed.notify_all();
    }

    /// Waits until `count` turns were requested.
    pub fn wait_for_turns(&self, count: usize) {
        assert!(self.turns_come(count, PATIENCE), "{count} turns were not requested");
    }

    /// Whether `count` turns are requested within a time.
    pub fn turns_come(&self, count: usize, patience: Duration) -> bool {
        self.shared.wait(patience, |state| {
            state.requests.iter().filter(|request| request.method == "POST").count() >= count
        })
    }

    /// Waits until `count` clients disconnected from a silent server.
    pub fn wait_for_hang_ups(&self, count: usize) {
        assert!(
            self.shared.wait(PATIENCE, |state| state.hung_up >= count),
            "{count} clients did not disconnect"
        );
    }

    /// The largest number of turns at the same time.
    pub fn most_in_flight(&self) -> usize {
        self.shared.state.lock().most_in_flight
    }
}

impl Drop for ChatServer {
    fn drop(&mut self) {
        self.shared.state.lock().closed = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn wait(&self, patience: Duration, done: impl Fn(&State) -> bool) -> bool {
        let end = Instant::now() + patience;
        let mut state = self.state.lock();
        while !done(&state) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.changed.wait_for(&mut state, left);
        }
        true
    }

    fn serve(&self, mut stream: TcpStream) {
        let Some(request) = http::read_request(&mut stream) else { return };
        let request = ModelRequest { method: request.method, path: request.path, body: request.body };
        let asks_for_turn = request.method == "POST";
        let mut state = self.state.lock();
        state.requests.push(request);
        let mut step = self.models.clone();
        if asks_for_turn {
            state.in_flight += 1;
            state.most_in_flight = state.most_in_flight.max(state.in_flight);
            let over = ChatStep::Fail(500, "the script is over".to_owned());
            step = state.steps.pop_front().or_else(|| state.for_ever.clone()).unwrap_or(over);
        }
        drop(state);
        self.changed.notify_all();
        let mut wanted = true;
        while let (true, ChatStep::Hold(then)) = (wanted, &step) {
            wanted = self.hold(&mut stream);
            step = then.as_ref().clone();
        }
        // The next request may come as soon as this one is answered.
        self.state.lock().in_flight -= usize::from(asks_for_turn);
        if wanted {
            take(&mut stream, step);
        }
        http::hang_up(&stream);
    }

    /// Waits to be released; returns false when the client disconnects or the server ends.
    fn hold(&self, stream: &mut TcpStream) -> bool {
        let held = http::hold(stream, || {
            let state = self.state.lock();
            let ended = if state.released { Held::Released } else { Held::Closed };
            (state.released || state.closed).then_some(ended)
        });
        if held == Held::HungUp {
            self.state.lock().hung_up += 1;
            self.changed.notify_all();
        }
        held == Held::Released
    }
}

fn take(stream: &mut TcpStream, step: ChatStep) {
    let say =
        |stream: &mut TcpStream, message: Value| http::respond(stream, 200, &[], &turn(&message).to_string());
    match step {
        ChatStep::Say(text) => say(stream, json!({"role": "assistant", "content": text})),
        ChatStep::Refuse(why) => {
            say(stream, json!({"role": "assistant", "content": null, "refusal": why}));
        }
        ChatStep::Message(message) => say(stream, message),
        ChatStep::Call(calls) => {
            let calls: Vec<Value> = calls
                .into_iter()
                .enumerate()
                .map(|(number, (name, arguments))| {
                    let function = json!({"name": name, "arguments": arguments.to_string()});
                    json!({"id": format!("call_{number}"), "type": "function", "function": function})
                })
                .collect();
            say(stream, json!({"role": "assistant", "content": null, "tool_calls": calls}));
        }
        ChatStep::Body(body) => http::respond(stream, 200, &[], &body),
        ChatStep::Fail(status, message) => {
            http::respond(stream, status, &[], &json!({"error": {"message": message}}).to_string());
        }
        ChatStep::Raw(bytes) => {
            let _ = stream.write_all(&bytes);
        }
        ChatStep::HangUp => {
            let body = turn(&json!({"content": "never read to its end"})).to_string();
            http::respond_half(stream, 200, &body);
        }
        // Already released.
        ChatStep::Hold(then) => take(stream, *then),
    }
}

fn turn(message: &Value) -> Value {
    json!({"id": "x", "object": "chat.completion", "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}})
}
