//! A model server that plays a script, on a port of 127.0.0.1 that the system chooses.
//!
//! It keeps no place in the script: each request carries the whole conversation, so the number of tool results in it
//! says which step is next. An agent that repeats a request gets the same answer, and requests that offer no scripted
//! tool (titles, summaries, routing) get the final text without disturbing anything.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::Request as HttpRequest;
use axum::response::Response;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::script::{FINAL_TEXT, History, Step, ToolResult};
use crate::wire::{Reply, ToolName, Wire};

/// A request that the model received.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Null where there was none, a string where it was not JSON.
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
    script: Mutex<Vec<Step>>,
    requests: Mutex<Vec<Request>>,
    failure: Mutex<Option<String>>,
}

impl ScriptedModel {
    /// Starts a model that speaks `wire` and plays `script`. `spell` turns a tool's own name into the one that the
    /// agent offers to the model.
    pub fn start(
        wire: Wire,
        spell: impl Fn(&str) -> ToolName + Send + Sync + 'static,
        script: Vec<Step>,
    ) -> Self {
        let shared = Arc::new(Shared {
            wire,
            spell: Box::new(spell),
            script: Mutex::new(script),
            requests: Mutex::default(),
            failure: Mutex::default(),
        });
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_io().build().expect("a runtime");
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { address, shared, runtime: Some(runtime) }
    }

    /// `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// The answers to the script's calls, from the request that holds the most of them.
    pub fn results(&self) -> Vec<ToolResult> {
        let requests = lock(&self.shared.requests);
        let all = requests.iter().map(|request| self.shared.wire.results(&request.body));
        all.max_by_key(Vec::len).unwrap_or_default()
    }

    /// The tools offered to the model, over all requests.
    pub fn offered(&self) -> BTreeSet<ToolName> {
        let requests = lock(&self.shared.requests);
        requests.iter().flat_map(|request| self.shared.wire.offered(&request.body)).collect()
    }

    /// The panic of a step, where there was one.
    pub fn failure(&self) -> Option<String> {
        lock(&self.shared.failure).clone()
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
    lock(&shared.requests).push(Request {
        method: head.method.to_string(),
        path: path.clone(),
        body: body.clone(),
    });
    match shared.wire.side_answer(&head.method, &path, &body) {
        Some(response) => response,
        None => shared.wire.respond(&path, &body, &shared.next_reply(&body)),
    }
}

impl Shared {
    fn next_reply(&self, body: &Value) -> Reply {
        let results = self.wire.results(body);
        let script = lock(&self.script);
        let Some(Step::Call { tool, arguments }) = script.get(results.len()) else {
            return Reply::Text(FINAL_TEXT.to_owned());
        };
        let tool = (self.spell)(tool);
        if !self.wire.offered(body).contains(&tool) {
            return Reply::Text(FINAL_TEXT.to_owned());
        }
        let history = History { request: body, results: &results };
        match catch_unwind(AssertUnwindSafe(|| arguments(&history))) {
            Ok(arguments) => Reply::Call { tool, arguments, number: results.len() + 1 },
            Err(panic) => {
                let words = panic.downcast_ref::<String>().map(String::as_str);
                let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                let message = format!("step {} of the script: {words}", results.len() + 1);
                lock(&self.failure).get_or_insert(message);
                Reply::Text(FINAL_TEXT.to_owned())
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use serde_json::json;

    use super::*;

    /// Asks for a turn of chat with the results so far, and tells the model's message.
    fn ask(model: &ScriptedModel, results: &[&str]) -> Value {
        let messages: Vec<Value> =
            results.iter().map(|text| json!({"role": "tool", "content": text})).collect();
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
    fn plays_each_step_on_the_results_before_it() {
        let script = vec![
            Step::call("add", |_| json!({"a": 1})),
            Step::call("add", |history| json!({"a": history.results[0].json()["sum"]})),
        ];
        let model = ScriptedModel::start(Wire::Chat, |tool| ToolName::plain(format!("x_{tool}")), script);
        assert_eq!(call(&ask(&model, &[])), (&json!("x_add"), &json!(r#"{"a":1}"#)));
        assert_eq!(call(&ask(&model, &[r#"{"sum": 3}"#])), (&json!("x_add"), &json!(r#"{"a":3}"#)));
        assert_eq!(ask(&model, &[r#"{"sum": 3}"#, "{}"])["content"], FINAL_TEXT);
        assert_eq!((model.requests().len(), model.results().len(), model.failure()), (3, 2, None));
    }

    #[test]
    fn ends_the_conversation_when_a_step_panics() {
        let script = vec![Step::call("add", |history| history.results[7].json())];
        let model = ScriptedModel::start(Wire::Chat, |tool| ToolName::plain(format!("x_{tool}")), script);
        assert_eq!(ask(&model, &[])["content"], FINAL_TEXT);
        let failure = model.failure().expect("a failure");
        assert!(failure.starts_with("step 1 of the script: index out of bounds"), "{failure}");
    }

    #[test]
    fn leaves_conversations_without_the_tool_alone() {
        let script = vec![Step::call("subtract", |_| json!({}))];
        let model = ScriptedModel::start(Wire::Chat, |tool| ToolName::plain(tool), script);
        assert_eq!(ask(&model, &[])["content"], FINAL_TEXT);
        assert_eq!(model.offered(), BTreeSet::from([ToolName::plain("x_add")]));
    }
}
