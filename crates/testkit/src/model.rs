//! A model server that plays a script, on a free port of 127.0.0.1.
//!
//! It keeps no position in the script: each request contains the whole conversation, so the number of tool results in it
//! determines the next step. A client that repeats a request gets the same answer, and requests without the scripted tool
//! (titles, summaries, routing) get the final text.
//!
//! Several clients may share one model. Each conversation is then recognised by a marker in its user's messages, and has its
//! own script.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::Request as HttpRequest;
use axum::response::Response;
use parking_lot::{Condvar, Mutex};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::script::{FINAL_TEXT, ScriptHistory, ScriptStep, StepArguments, ToolResult};
use crate::wire::{Reply, ReportedUsage, ToolName, Wire, scripted};

/// How long to wait for an expected request.
const PATIENCE: Duration = Duration::from_secs(180);

/// The delay before a client whose MCP servers are not ready is answered.
const PAUSE: Duration = Duration::from_millis(100);

/// A request that the model received.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    pub method: String,
    pub path: String,
    /// Null if there was none, a string if it was not JSON.
    pub body: Value,
}

/// A running model server. Dropping it ends it.
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
}

struct Shared {
    wire: Wire,
    spell: Box<dyn Fn(&str) -> ToolName + Send + Sync>,
    scripts: Mutex<Vec<Script>>,
    requests: Mutex<Vec<ModelRequest>>,
    arrived: Condvar,
    failure: Mutex<Option<String>>,
    counts_tokens: AtomicBool,
}

/// The steps of one conversation.
struct Script {
    /// A text in its user's messages. Empty matches every conversation.
    marker: String,
    steps: Vec<ScriptStep>,
}

impl ScriptedModel {
    /// Starts a model with the wire format `wire` that plays `script`. `spell` turns a tool's own name into the one that the
    /// client offers to the model.
    pub fn start(
        wire: Wire,
        spell: impl Fn(&str) -> ToolName + Send + Sync + 'static,
        script: Vec<ScriptStep>,
    ) -> Self {
        Self::start_many(wire, spell, vec![(String::new(), script)])
    }

    /// The same with a script for each conversation, recognised by a marker: words of its user that are in no other. A
    /// conversation without a marker gets the final text.
    ///
    /// Claude Code may take its first turn before its servers are ready; it is then told to search for the tool until they
    /// are.
    pub fn start_many(
        wire: Wire,
        spell: impl Fn(&str) -> ToolName + Send + Sync + 'static,
        scripts: Vec<(String, Vec<ScriptStep>)>,
    ) -> Self {
        let scripts = scripts.into_iter().map(|(marker, steps)| Script { marker, steps }).collect();
        let shared = Arc::new(Shared {
            wire,
            spell: Box::new(spell),
            scripts: Mutex::new(scripts),
            requests: Mutex::default(),
            arrived: Condvar::new(),
            failure: Mutex::default(),
            counts_tokens: AtomicBool::new(false),
        });
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { address, shared, runtime: Some(runtime) }
    }

    /// From now on, reports tokens by the size of each request, and not the same for all.
    pub fn count_tokens(&self) {
        self.shared.counts_tokens.store(true, Ordering::Relaxed);
    }

    /// `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.requests.lock().clone()
    }

    /// The results of the script's calls, from the request with the most of them.
    pub fn results(&self) -> Vec<ToolResult> {
        self.results_of("")
    }

    /// The same for the conversation with this marker.
    pub fn results_of(&self, marker: &str) -> Vec<ToolResult> {
        let requests = self.shared.requests.lock();
        let own = requests.iter().filter(|request| self.shared.wire.is_said(&request.body, marker));
        let all = own.map(|request| self.shared.wire.results(&request.body));
        all.max_by_key(Vec::len).unwrap_or_default()
    }

    /// Waits until a user message of the conversation with this marker contains `words`, and returns the number of the
    /// script's calls with a result by then.
    #[track_caller]
    pub fn await_words(&self, marker: &str, words: &str) -> usize {
        self.await_request(words, |wire, body| {
            (wire.is_said(body, marker) && wire.is_said(body, words)).then(|| wire.results(body).len())
        })
    }

    /// Waits until the conversation with this marker has the results of `count` of the script's calls.
    #[track_caller]
    pub fn await_results(&self, marker: &str, count: usize) -> Vec<ToolResult> {
        self.await_request(&format!("{count} results"), |wire, body| {
            let results = wire.results(body);
            (wire.is_said(body, marker) && results.len() >= count).then_some(results)
        })
    }

    #[track_caller]
    fn await_request<T>(&self, awaited: &str, look: impl Fn(Wire, &Value) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        let mut requests = self.shared.requests.lock();
        loop {
            if let Some(found) = requests.iter().find_map(|request| look(self.shared.wire, &request.body)) {
                return found;
            }
            let failure = self.failure();
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && failure.is_none(),
                "{awaited:?} is in none of {} requests; script: {failure:?}; offered: {:#?}",
                requests.len(),
                requests.last().map(|request| self.shared.wire.offered(&request.body)),
            );
            self.shared.arrived.wait_for(&mut requests, left);
        }
    }

    /// The tools offered to the model, over all requests.
    pub fn offered(&self) -> BTreeSet<ToolName> {
        let requests = self.shared.requests.lock();
        requests.iter().flat_map(|request| self.shared.wire.offered(&request.body)).collect()
    }

    /// The panic of a step, if any.
    pub fn failure(&self) -> Option<String> {
        self.shared.failure.lock().clone()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: HttpRequest<Body>) -> Response {
    let (head, body) = request.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let body = match serde_json::from_slice(&bytes) {
        Ok(body) => body,
        Err(_) if bytes.is_empty() => Value::Null,
        Err(_) => Value::String(String::from_utf8_lossy(&bytes).into_owned()),
    };
    let path = head.uri.path().to_owned();
    shared.requests.lock().push(ModelRequest {
        method: head.method.to_string(),
        path: path.clone(),
        body: body.clone(),
    });
    shared.arrived.notify_all();
    if let Some(response) = shared.wire.side_answer(&head.method, &path, &body) {
        return response;
    }
    let reply = match shared.next_reply(&body) {
        Next::Reply(reply) => reply,
        Next::NotOffered(tool) => match shared.wire.waiting_call(&body, &tool) {
            Some(waiting) => {
                tokio::time::sleep(PAUSE).await;
                waiting
            }
            None => Reply::Text(FINAL_TEXT.to_owned()),
        },
    };
    let usage = match shared.counts_tokens.load(Ordering::Relaxed) {
        true => ReportedUsage::of_request(&body),
        false => ReportedUsage::FIXED,
    };
    shared.wire.respond(&path, &body, &reply, usage)
}

/// The answer to a request.
enum Next {
    Reply(Reply),
    /// The script needs a tool that the client does not offer, or not yet.
    NotOffered(ToolName),
}

impl Shared {
    fn next_reply(&self, body: &Value) -> Next {
        let results = self.wire.results(body);
        let scripts = self.scripts.lock();
        let script = scripts.iter().find(|script| self.wire.is_said(body, &script.marker));
        let Some((tool, arguments)) = script.and_then(|script| self.next_call(script, body, results.len()))
        else {
            return Next::Reply(Reply::Text(FINAL_TEXT.to_owned()));
        };
        if !self.wire.offered(body).contains(&tool) {
            // A client that does not share the model offers all its tools from the start.
            let shares = script.is_some_and(|script| !script.marker.is_empty());
            return if shares {
                Next::NotOffered(tool)
            } else {
                Next::Reply(Reply::Text(FINAL_TEXT.to_owned()))
            };
        }
        let history = ScriptHistory { request: body, results: &results };
        let number = results.len() + 1;
        Next::Reply(match catch_unwind(AssertUnwindSafe(|| arguments(&history))) {
            Ok(arguments) => Reply::Call { tool, arguments, label: scripted(number) },
            Err(panic) => {
                let words = panic.downcast_ref::<String>().map(String::as_str);
                let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                let message = format!("step {number} of the script: {words}");
                self.failure.lock().get_or_insert(message);
                self.arrived.notify_all();
                Reply::Text(FINAL_TEXT.to_owned())
            }
        })
    }

    /// The next call of a conversation with `results` results; none where it ends a turn.
    fn next_call<'a>(
        &self,
        script: &'a Script,
        body: &Value,
        results: usize,
    ) -> Option<(ToolName, &'a StepArguments)> {
        let mut answered = results;
        for step in &script.steps {
            match step {
                ScriptStep::Call { .. } | ScriptStep::CallOwn { .. } if answered > 0 => answered -= 1,
                ScriptStep::Call { tool, arguments } => return Some(((self.spell)(tool), arguments)),
                ScriptStep::CallOwn { tool, arguments } => {
                    return Some((ToolName::plain((*tool).to_owned()), arguments));
                }
                ScriptStep::AwaitWords(words) if self.wire.is_said(body, words) => {}
                ScriptStep::AwaitWords(_) => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use serde_json::json;

    use super::*;

    /// Requests a turn of chat with the results so far, and returns the model's message.
    fn ask(model: &ScriptedModel, results: &[&str]) -> Value {
        let messages: Vec<Value> =
            results.iter().map(|text| json!({"role": "tool", "content": text})).collect();
        ask_with(model, &messages)
    }

    fn ask_with(model: &ScriptedModel, messages: &[Value]) -> Value {
        let tools = json!([{"type": "function", "function": {"name": "x_add"}}]);
        let body = json!({"model": "m", "tools": tools, "messages": messages}).to_string();
        let mut stream = TcpStream::connect(model.address).expect("a connection");
        let head = format!("POST /v1/chat HTTP/1.0\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        let body: Value = serde_json::from_str(body).expect("JSON");
        body["choices"][0]["message"].clone()
    }

    fn call(message: &Value) -> (&Value, &Value) {
        let function = &message["tool_calls"][0]["function"];
        (&function["name"], &function["arguments"])
    }

    #[test]
    fn each_step_gets_the_results_before_it() {
        let script = vec![
            ScriptStep::call("add", |_| json!({"a": 1})),
            ScriptStep::call("add", |history| json!({"a": history.results[0].json()["sum"]})),
        ];
        let model = ScriptedModel::start(Wire::Chat, |tool| ToolName::plain(format!("x_{tool}")), script);
        assert_eq!(call(&ask(&model, &[])), (&json!("x_add"), &json!(r#"{"a":1}"#)));
        assert_eq!(call(&ask(&model, &[r#"{"sum": 3}"#])), (&json!("x_add"), &json!(r#"{"a":3}"#)));
        assert_eq!(ask(&model, &[r#"{"sum": 3}"#, "{}"])["content"], FINAL_TEXT);
        assert_eq!((model.requests().len(), model.results().len(), model.failure()), (3, 2, None));
    }

    #[test]
    fn a_panic_in_a_step_ends_the_conversation() {
        let script = vec![ScriptStep::call("add", |history| history.results[7].json())];
        let model = ScriptedModel::start(Wire::Chat, |tool| ToolName::plain(format!("x_{tool}")), script);
        assert_eq!(ask(&model, &[])["content"], FINAL_TEXT);
        let failure = model.failure().expect("a failure");
        assert!(failure.starts_with("step 1 of the script: index out of bounds"), "{failure}");
    }

    #[test]
    fn each_conversation_has_its_script_and_waits_for_its_user() {
        let coder = vec![
            ScriptStep::call("add", |_| json!({"a": 1})),
            ScriptStep::await_words("Feedback 1"),
            ScriptStep::call("add", |_| json!({"a": 2})),
        ];
        let reviewer = vec![ScriptStep::call("add", |_| json!({"a": 3}))];
        let scripts = vec![("You are c1".to_owned(), coder), ("You are r1".to_owned(), reviewer)];
        let model =
            ScriptedModel::start_many(Wire::Chat, |tool| ToolName::plain(format!("x_{tool}")), scripts);
        let user = |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text}]});
        let result = json!({"role": "tool", "content": "Feedback 1 will come"});
        let reply = |messages: &[Value]| {
            let message = ask_with(&model, messages);
            message["content"]
                .as_str()
                .unwrap_or(message["tool_calls"][0]["function"]["arguments"].as_str().unwrap_or(""))
                .to_owned()
        };
        let [c1, r1, feedback] =
            ["Hello. You are c1.", "You are r1, of c1.", "Feedback 1 is there."].map(user);
        assert_eq!(reply(std::slice::from_ref(&r1)), r#"{"a":3}"#);
        assert_eq!(reply(std::slice::from_ref(&c1)), r#"{"a":1}"#);
        assert_eq!(reply(&[c1.clone(), result.clone()]), FINAL_TEXT);
        assert_eq!(reply(&[c1.clone(), result.clone(), feedback.clone()]), r#"{"a":2}"#);
        assert_eq!(reply(&[c1, result.clone(), feedback, result.clone()]), FINAL_TEXT);
        assert_eq!(reply(&[r1, result]), FINAL_TEXT);
        assert_eq!(reply(&[user("You are c2")]), FINAL_TEXT);
        assert_eq!(
            (model.await_words("You are c1", "Feedback 1"), model.results_of("You are r1").len()),
            (1, 1)
        );
        assert_eq!(model.await_results("You are c1", 2).len(), 2);
    }

    #[test]
    fn conversations_without_the_tool_get_the_final_text() {
        let script = vec![ScriptStep::call("subtract", |_| json!({}))];
        let model = ScriptedModel::start(Wire::Chat, |tool| ToolName::plain(tool), script);
        assert_eq!(ask(&model, &[])["content"], FINAL_TEXT);
        assert_eq!(model.offered(), BTreeSet::from([ToolName::plain("x_add")]));
    }
}
