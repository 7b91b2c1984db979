//! Calls of a process that is not the coordinator, with stand-ins for the coordinator.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tamis_coordinator::{AgentService, AgentServiceSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::shared_folder::{SharedFolder, call};

/// The parts of a received request that the tests compare.
#[derive(Clone, Debug, PartialEq)]
struct ReceivedRequest {
    line: String,
    authorization: String,
    key: String,
    body: Value,
}

/// A coordinator that gives these answers, one per request, and records the requests. No answer: it closes the connection.
struct StandIn {
    url: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl StandIn {
    /// `then` is called once a request has come, before it is answered.
    async fn new(answers: Vec<Option<(u16, Value)>>, then: impl Fn() + Send + 'static) -> StandIn {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&requests);
        tokio::spawn(async move {
            for answer in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                let header = |name: &str| {
                    let prefix = format!("{name}: ");
                    head.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_default().to_owned()
                };
                let mut body = vec![0; header("content-length").parse().unwrap()];
                stream.read_exact(&mut body).await.unwrap();
                assert!(header("tamis-time-left-ms").parse::<u64>().unwrap() <= 60_000);
                received.lock().unwrap().push(ReceivedRequest {
                    line: head.lines().next().unwrap().to_owned(),
                    authorization: header("authorization"),
                    key: header("tamis-call"),
                    body: serde_json::from_slice(&body).unwrap(),
                });
                then();
                if let Some((status, body)) = answer {
                    let body = body.to_string();
                    let head = format!("HTTP/1.1 {status} So\r\ncontent-length: {}\r\n\r\n", body.len());
                    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
                }
            }
        });
        StandIn { url, requests }
    }

    fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }
}

fn done() -> Value {
    json!({"review_instance_id": "review-1-a1-1", "session_name": "review-1-a1-1", "worktree_path": "/w",
        "branch_name": "tamis/work-1-a1"})
}

#[tokio::test]
async fn a_call_survives_the_death_of_a_coordinator() {
    let folder = Arc::new(SharedFolder::new());
    let _lock = folder.hold_lock().await;
    let second = StandIn::new(vec![Some((200, done()))], || {}).await;
    let (url, announcing) = (second.url.clone(), Arc::clone(&folder));
    // It dies with the request in its hands, and the second takes over.
    let first = StandIn::new(vec![None], move || announcing.announce(&url)).await;
    folder.announce(&first.url);
    let agents = folder.agents();
    let arguments = json!({"completion_message": "é", "reviewer_prompt": "Mind the tests."});
    assert_eq!(call(&agents, "request_review", arguments).await, (done(), false));
    let requests = first.requests();
    assert_eq!(requests, second.requests(), "the same call with the same key");
    assert_eq!(requests[0].key.len(), 32);
    assert_eq!(
        requests,
        [ReceivedRequest {
            line: "POST /api/call/request_review HTTP/1.1".to_owned(),
            authorization: "Bearer tai_one".to_owned(),
            key: requests[0].key.clone(),
            body: json!({"completion_message": "é", "reviewer_prompt": "Mind the tests."}),
        }]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_done_here_once_this_process_has_taken_over() {
    let folder = SharedFolder::new();
    let lock = Mutex::new(Some(folder.hold_lock().await));
    let first = StandIn::new(vec![None], move || drop(lock.lock().unwrap().take())).await;
    folder.announce(&first.url);
    let agents = folder.agents();
    agents.lead("http://127.0.0.1:1", |_| {}).unwrap();
    let (error, is_error) = call(&agents, "request_review", json!({})).await;
    assert_eq!((&error["code"], is_error), (&json!("IDENTITY_REQUIRED"), true), "{error}");
    assert_eq!((first.requests().len(), agents.is_leader()), (1, true));
    tokio::task::block_in_place(|| agents.resign());
}

#[tokio::test]
async fn answers_of_a_former_coordinator_are_not_used() {
    let folder = Arc::new(SharedFolder::new());
    let _lock = folder.hold_lock().await;
    let second = StandIn::new(vec![Some((200, done())), Some((200, json!([])))], || {}).await;
    let (url, announcing, calls) = (second.url.clone(), Arc::clone(&folder), AtomicUsize::new(0));
    let unavailable = json!({"code": "COORDINATOR_UNAVAILABLE", "message": "not I"});
    let strange = json!({"detail": "no such route"});
    let first = StandIn::new(vec![Some((503, unavailable)), Some((404, strange))], move || {
        if calls.fetch_add(1, Ordering::Relaxed) == 1 {
            announcing.announce(&url);
        }
    });
    let first = first.await;
    folder.announce(&first.url);
    let agents = folder.agents();
    assert_eq!(call(&agents, "request_review", json!({})).await, (done(), false));
    assert_eq!([first.requests(), second.requests()].concat(), vec![second.requests()[0].clone(); 3]);
    // An answer that cannot be understood is one all the same: asking again would not help.
    let (error, is_error) = call(&agents, "request_review", json!({})).await;
    assert_eq!((&error["code"], is_error), (&json!("INTERNAL_ERROR"), true), "{error}");
    assert_eq!(second.requests().len(), 2);
}

#[tokio::test]
async fn an_answered_error_is_passed_on_as_it_is() {
    let folder = SharedFolder::new();
    let _lock = folder.hold_lock().await;
    let error = json!({
        "code": "REVIEW_LIMIT_EXCEEDED",
        "error": "REVIEW_LIMIT_EXCEEDED",
        "message": "Maximum review iterations (3) reached for agent work-123-a1",
        "instance_id": "work-123-a1",
        "tool_name": "request_review",
        "suggestions": ["Create pull request with current work"],
        "current_iteration": 3,
        "max_iterations": 3,
    });
    let coordinator = StandIn::new(vec![Some((409, error.clone()))], || {}).await;
    folder.announce(&coordinator.url);
    assert_eq!(call(&folder.agents(), "request_review", json!({})).await, (error, true));
    assert_eq!(coordinator.requests().len(), 1);
}

#[tokio::test]
async fn a_token_is_sent_to_the_lock_holder_only() {
    let folder = SharedFolder::new();
    drop(folder.hold_lock().await);
    let stranger = StandIn::new(vec![Some((200, done()))], || {}).await;
    folder.announce(&stranger.url);
    let agents = Arc::new(AgentService::new(AgentServiceSettings {
        absence_limit: Duration::ZERO,
        ..folder.settings()
    }));
    let (error, is_error) = call(&agents, "request_review", json!({})).await;
    assert_eq!((&error["code"], is_error), (&json!("COORDINATOR_UNAVAILABLE"), true));
    assert_eq!(error["suggestions"], json!(["start one with `tamis serve`"]));
    assert_eq!(stranger.requests(), []);
}

#[tokio::test]
async fn an_agent_is_not_started_twice() {
    let folder = SharedFolder::new();
    let _lock = folder.hold_lock().await;
    let coordinator = StandIn::new(vec![None, None], || {}).await;
    folder.announce(&coordinator.url);
    let request = json!({"type": "coding", "task": "t", "folder": "there"});
    let failed = folder.agents().start(serde_json::from_value(request).unwrap()).await.unwrap_err();
    assert_eq!(failed.code.as_str(), "COORDINATOR_UNAVAILABLE");
    assert_eq!(failed.suggestions, ["`tamis agents list` shows what exists"]);
    let requests = coordinator.requests();
    assert_eq!((requests.len(), requests[0].line.as_str()), (1, "POST /api/instances HTTP/1.1"));
    let folder = std::env::current_dir().unwrap().join("there");
    assert_eq!(requests[0].body["folder"], folder.to_str().unwrap(), "from where this process runs");
}

#[tokio::test]
async fn requests_of_the_user_carry_the_servers_token() {
    let folder = SharedFolder::new();
    let _lock = folder.hold_lock().await;
    let disposal = json!([{"instance": "work-1-a1", "removed": ["worktree"], "kept": [], "undo": null}]);
    let wrong = json!({"error": {"code": "wrong_token", "message": "wrong_token", "hint": "…"}});
    let coordinator = StandIn::new(vec![Some((200, disposal)), Some((401, wrong))], || {}).await;
    folder.announce(&coordinator.url);
    let settings = AgentServiceSettings { token: Some("0123456789abcdef".to_owned()), ..folder.settings() };
    let agents = Arc::new(AgentService::new(settings));
    let cleaned = agents.gc(true).await.unwrap();
    assert_eq!((cleaned.len(), cleaned[0].instance.as_str()), (1, "work-1-a1"));
    let requests = coordinator.requests();
    assert_eq!(requests[0].line, "POST /api/gc?dry_run=true HTTP/1.1");
    assert_eq!(requests[0].authorization, "Bearer 0123456789abcdef");
    let refused = agents.gc(false).await.unwrap_err();
    assert_eq!(refused.code.as_str(), "PERMISSION_DENIED");
    assert!(refused.suggestions[0].contains("`tamis token`"), "{refused:?}");
}
