//! The page's live connection, over real connections and logs that are written meanwhile.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;
#[path = "common/socket.rs"]
mod socket;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use common::{DoorFixture, TOKEN, insert_event, sign_in, within};
use jiff::Timestamp;
use serde_json::{Value, json};
use socket::{Frame, Socket, TEXT};
use tamis_sieve::{Caller, PruneOptions, PruneRequest};
use tamis_text::TextKind;
use tamis_tools::Registry;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const SESSION: &str = "11111111-0000-4000-8000-000000000001";

struct Running {
    address: SocketAddr,
    shutdown: CancellationToken,
    ended: JoinHandle<()>,
}

async fn run(fixture: &DoorFixture) -> Running {
    let bound = tamis_server::bind("127.0.0.1", 0).await.unwrap();
    let (address, door, shutdown) = (bound.address, fixture.door(), CancellationToken::new());
    let token = shutdown.clone();
    let ended = tokio::spawn(async move { tamis_server::serve(&door, vec![bound], token).await });
    Running { address, shutdown, ended }
}

/// Connects and says what it has; the first message is the greeting.
async fn follow(running: &Running, events_after: Option<i64>, calls_since: Option<i64>) -> Socket {
    let bearer = format!("Bearer {TOKEN}");
    let mut socket =
        Socket::open(running.address, "/api/page/live", &[("authorization", &bearer)]).await.unwrap();
    let follow = json!({"type": "follow", "events_after": events_after, "calls_since": calls_since});
    socket.send(TEXT, follow.to_string().as_bytes()).await;
    assert_eq!(socket.json().await["type"], "hello");
    socket
}

fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Appends calls with their results.
fn append(fixture: &DoorFixture, numbers: std::ops::Range<u64>) {
    let folder = fixture.logs().join("-work-shop");
    fs::create_dir_all(&folder).unwrap();
    let mut lines = String::new();
    for number in numbers {
        let record = |kind: &str, content: Value| {
            json!({
                "type": kind, "sessionId": SESSION, "uuid": format!("{kind}{number}"), "cwd": "/work/shop",
                "version": "2.0.0", "timestamp": Timestamp::now().to_string(),
                "message": {"role": kind, "id": format!("m{number}"), "model": "claude-opus-4-1", "content": [content]},
            })
        };
        let id = format!("c{number}");
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("step {number}")}});
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": "done"});
        lines.push_str(&format!("{}\n{}\n", record("assistant", call), record("user", result)));
    }
    let path = folder.join(format!("{SESSION}.jsonl"));
    fs::OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(lines.as_bytes()).unwrap();
}

/// How often each step's call and result arrived, until the last has; and whether a gap was sent.
async fn steps(socket: &mut Socket, last: u64, seen: &mut BTreeMap<(String, bool), u32>) -> bool {
    let mut gap = false;
    let end = (format!("step {last}"), true);
    while !seen.contains_key(&end) && !gap {
        let message = within("the next message", socket.json()).await;
        match message["type"].as_str().unwrap() {
            "call" => {
                let step = message["argument"].as_str().unwrap().to_owned();
                *seen.entry((step, message["is_result"].as_bool().unwrap())).or_default() += 1;
            }
            "gap" => gap = true,
            _ => {}
        }
    }
    gap
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_missed_while_the_server_was_away_is_made_up_for_once() {
    let fixture = DoorFixture::with_logs(Registry::all());
    let running = run(&fixture).await;
    let mut socket = follow(&running, None, None).await;
    append(&fixture, 0..3);
    let mut seen = BTreeMap::new();
    assert!(!steps(&mut socket, 2, &mut seen).await);
    running.shutdown.cancel();
    running.ended.await.unwrap();
    drop(socket);

    append(&fixture, 3..6);
    let last = now();
    let running = run(&fixture).await;
    let mut again = follow(&running, None, Some(last - 120_000)).await;
    append(&fixture, 6..9);
    let mut missed = BTreeMap::new();
    assert!(!steps(&mut again, 8, &mut missed).await);
    let expected: BTreeMap<_, _> = (0..9)
        .flat_map(|number| [false, true].map(|is_result| ((format!("step {number}"), is_result), 1)))
        .collect();
    assert_eq!(missed, expected, "each once");
    running.shutdown.cancel();
    running.ended.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_events_a_second_arrive_all() {
    let fixture = DoorFixture::with_logs(Registry::all());
    let running = run(&fixture).await;
    let mut sockets = [follow(&running, None, None).await, follow(&running, None, None).await];
    let begun = Instant::now();
    let writer = async {
        // 25 calls with their results each 50 ms.
        for step in 0..200_u64 {
            append(&fixture, step * 25..(step + 1) * 25);
            tokio::time::sleep(
                (begun + Duration::from_millis(50) * (step as u32 + 1))
                    .saturating_duration_since(Instant::now()),
            )
            .await;
        }
    };
    let [one, other] = &mut sockets;
    let reader = async |socket: &mut Socket| {
        let mut seen = BTreeMap::new();
        let gap = steps(socket, 4999, &mut seen).await;
        (gap, seen.len(), seen.values().all(|times| *times == 1))
    };
    let ((), one, other) = tokio::join!(writer, reader(one), reader(other));
    for (gap, many, once) in [one, other] {
        assert!(once, "none twice");
        assert!(gap || many == 10_000, "all or a gap: {many}");
    }
    running.shutdown.cancel();
    running.ended.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_prunes_is_announced() {
    let fixture = DoorFixture::new(Registry::all());
    let running = run(&fixture).await;
    let mut socket = follow(&running, None, None).await;
    let ledger = fixture.sieve();
    let text = "a line that says little\n".repeat(200);
    let request = PruneRequest {
        text: &text,
        goal: "anything",
        kind: TextKind::Logs,
        options: PruneOptions::default(),
        shown: &[],
    };
    ledger.prune(&request, &Caller::default(), &|| false);
    assert_eq!(ledger.flush(Duration::from_secs(60)), 0);
    // The list is only asked for when it is said to have changed.
    loop {
        let message = within("the announcement", socket.json()).await;
        assert_eq!(message, json!({"type": "prune"}));
        let request = Request::builder()
            .uri("/api/page/prunes")
            .header("host", "127.0.0.1:3001")
            .header("authorization", format!("Bearer {TOKEN}"));
        let (status, list) = common::text(fixture.send(request.body(Body::empty()).unwrap()).await).await;
        assert_eq!(status, StatusCode::OK, "{list}");
        if serde_json::from_str::<Value>(&list).unwrap()["total"] == 1 {
            break;
        }
    }
    running.shutdown.cancel();
    running.ended.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_agents_are_followed_from_the_last_that_the_page_has() {
    let fixture = DoorFixture::new(Registry::all());
    let tables = fixture.tables();
    for number in 1..=3 {
        insert_event(&tables, None, &json!({"number": number}));
    }
    let running = run(&fixture).await;
    let mut socket = follow(&running, Some(1), None).await;
    for number in 2..=3 {
        let mut event = socket.json().await;
        // Sent when the connection begins to follow what is pruned.
        while event["type"] == "prune" {
            event = socket.json().await;
        }
        assert_eq!((&event["type"], &event["seq"]), (&json!("event"), &json!(number)));
    }
    running.shutdown.cancel();
    running.ended.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_user_and_the_page_connect() {
    let fixture = DoorFixture::new(Registry::all());
    let cookie = sign_in(&fixture.door()).await;
    let running = run(&fixture).await;
    let refused = [
        vec![],
        vec![("authorization", "Bearer wrong")],
        vec![("cookie", "tamis_page_3001=1.2")],
        vec![("cookie", cookie.as_str()), ("origin", "http://evil.example")],
        vec![("host", "evil.example")],
    ];
    for headers in refused {
        let refusal = Socket::open(running.address, "/api/page/live", &headers).await.err();
        assert!(refusal.is_some_and(|(status, _)| [401, 403, 421].contains(&status)), "{headers:?}");
    }
    let bearer = format!("Bearer {TOKEN}");
    let mut socket =
        Socket::open(running.address, "/api/page/live", &[("authorization", &bearer)]).await.unwrap();
    socket.send(TEXT, br#"{"type":"other"}"#).await;
    assert_eq!(socket.next().await, Frame::Close(1008));
    running.shutdown.cancel();
    running.ended.await.unwrap();
}
