//! The events of agents as they come, over a real connection.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;
#[path = "common/socket.rs"]
mod socket;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use common::{DoorFixture, TOKEN, insert_event, insert_instance, within};
use serde_json::{Value, json};
use socket::{Frame, Socket, TEXT};
use tamis_tools::Registry;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

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

async fn open(running: &Running, path: &str) -> Socket {
    let bearer = format!("Bearer {TOKEN}");
    Socket::open(running.address, path, &[("authorization", &bearer)]).await.unwrap()
}

fn fixture() -> DoorFixture {
    DoorFixture::new(Registry::all())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_new_is_told_unless_more_is_asked_for() {
    let fixture = fixture();
    let tables = fixture.tables();
    insert_instance(&tables, "work-1-a1", "WAITING_REVIEW", "t");
    for number in 1..=3 {
        insert_event(&tables, None, &json!({"number": number}));
    }
    let running = run(&fixture).await;
    let mut new = open(&running, "/ws").await;
    assert_eq!(new.json().await, json!({"type": "hello", "last_seq": 3, "after": 3}));
    let mut all = open(&running, "/ws?after=0").await;
    assert_eq!(all.json().await, json!({"type": "hello", "last_seq": 3, "after": 0}));
    for number in 1..=3 {
        let event = all.json().await;
        assert_eq!((&event["seq"], &event["detail"]), (&json!(number), &json!({"number": number})));
    }
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    insert_event(
        &tables,
        Some("work-1-a1"),
        &json!({"message": format!("it said {secret}"), secret: 1, "password": ["tr0ub4dor&3x"]}),
    );
    for socket in [&mut new, &mut all] {
        assert_eq!(
            within("the event", socket.json()).await,
            json!({
                "type": "event",
                "seq": 4,
                "at": "1970-01-01T00:00:02.000Z",
                "kind": "status_changed",
                "instance_id": "work-1-a1",
                "tool_name": null,
                "success": null,
                "status_before": "STARTED",
                "status_after": "WAITING_REVIEW",
                "git_commit": null,
                "error_code": null,
                "detail": {
                    "message": "it said [redacted:github-token]",
                    "[redacted:github-token]": 1,
                    "password": ["[redacted:password]"],
                },
            })
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_misses_nothing_and_gets_nothing_twice() {
    const EVENTS: i64 = 1000;
    let fixture = fixture();
    let tables = fixture.tables();
    let running = run(&fixture).await;
    let mut seen = Vec::new();
    let mut socket = open(&running, "/ws?after=0").await;
    assert_eq!(socket.json().await["type"], "hello");
    let writer = std::thread::spawn(move || {
        for number in 1..=EVENTS {
            insert_event(&tables, None, &json!({"number": number}));
        }
    });
    while seen.len() < EVENTS as usize {
        // At other places each time, and now and then before anything was read.
        if seen.len() % 131 == 130 || seen.len() == 500 {
            drop(socket);
            let last = seen.last().copied().unwrap_or(0);
            drop(open(&running, &format!("/ws?after={last}")).await);
            socket = open(&running, &format!("/ws?after={last}")).await;
            let hello = within("the hello", socket.json()).await;
            assert_eq!((&hello["type"], &hello["after"]), (&json!("hello"), &json!(last)));
        }
        let event = within("the event", socket.json()).await;
        assert_eq!(event["seq"], event["detail"]["number"], "{event}");
        seen.push(event["seq"].as_i64().unwrap());
    }
    writer.join().unwrap();
    assert_eq!(seen, (1..=EVENTS).collect::<Vec<i64>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_user_follows() {
    let fixture = fixture();
    let running = run(&fixture).await;
    let bearer = format!("Bearer {TOKEN}");
    let (evil, own) = ("http://evil.example", format!("http://{}", running.address));
    for (path, headers, wanted) in [
        ("/ws", vec![], 401),
        ("/ws", vec![("authorization", "Bearer tai_x")], 401),
        ("/ws", vec![("authorization", "Bearer wrong")], 401),
        ("/ws", vec![("authorization", bearer.as_str()), ("origin", evil)], 403),
        ("/ws", vec![("authorization", bearer.as_str()), ("host", "evil.example")], 403),
        ("/ws?after=x", vec![("authorization", bearer.as_str())], 400),
        ("/ws?before=1", vec![("authorization", bearer.as_str())], 400),
        ("/ws?after=-5", vec![("authorization", bearer.as_str())], 101),
        ("/ws", vec![("authorization", bearer.as_str()), ("origin", own.as_str())], 101),
    ] {
        let status = match Socket::open(running.address, path, &headers).await {
            Ok(_) => 101,
            Err((status, _)) => status,
        };
        assert_eq!(status, wanted, "{path} {headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_clients_send_is_not_read() {
    let fixture = fixture();
    let tables = fixture.tables();
    let running = run(&fixture).await;
    let mut socket = open(&running, "/ws").await;
    let mut large = open(&running, "/ws").await;
    assert_eq!(socket.json().await, large.json().await);
    socket.send(TEXT, b"{\"type\":\"event\"}").await;
    large.send(TEXT, &[b'x'; 100_000]).await;
    assert_eq!(within("the end", large.next()).await, Frame::End);
    insert_event(&tables, None, &json!({}));
    assert_eq!(within("the event", socket.json()).await["seq"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_is_told_and_waited_for() {
    let fixture = fixture();
    let running = run(&fixture).await;
    let mut socket = open(&running, "/ws").await;
    assert_eq!(socket.json().await["type"], "hello");
    running.shutdown.cancel();
    assert_eq!(within("the close", socket.next()).await, Frame::Close(1001));
    within("the end", running.ended).await.unwrap();
    assert_eq!(within("the end", socket.next()).await, Frame::End);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_for_what_is_to_come_misses_nothing_of_it() {
    let fixture = fixture();
    let tables = fixture.tables();
    insert_event(&tables, None, &json!({}));
    let running = run(&fixture).await;
    // The tables were made anew since it was there last.
    let mut socket = open(&running, "/ws?after=9223372036854775807").await;
    assert_eq!(socket.json().await, json!({"type": "hello", "last_seq": 1, "after": 1}));
    insert_event(&tables, None, &json!({}));
    assert_eq!(within("the event", socket.json()).await["seq"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_who_does_not_read_holds_up_nobody() {
    let fixture = fixture();
    let tables = fixture.tables();
    // More than the system keeps for a connection.
    for _ in 0..100 {
        insert_event(&tables, None, &json!({"message": "x ".repeat(100_000)}));
    }
    let running = run(&fixture).await;
    let stuck = open(&running, "/ws?after=0").await;
    let mut reading = open(&running, "/ws").await;
    assert_eq!(reading.json().await["type"], "hello");
    insert_event(&tables, None, &json!({}));
    assert_eq!(within("the event", reading.json()).await["seq"], 101);
    running.shutdown.cancel();
    assert_eq!(within("the close", reading.next()).await, Frame::Close(1001));
    within("the end", running.ended).await.unwrap();
    drop(stuck);
}

/// How soon an event of another connection is told: `cargo test -p tamis-server --test events -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn how_soon_events_are_told() {
    let fixture = fixture();
    let tables = fixture.tables();
    let running = run(&fixture).await;
    let mut socket = open(&running, "/ws").await;
    socket.json().await;
    let mut took: Vec<Duration> = Vec::new();
    for number in 0..300_u64 {
        // At all times within the interval at which the database is asked.
        tokio::time::sleep(Duration::from_millis(number * 7 % 50)).await;
        insert_event(&tables, None, &json!({}));
        let written = Instant::now();
        let _: Value = socket.json().await;
        took.push(written.elapsed());
    }
    took.sort();
    println!("median {:?}, 99 % {:?}, most {:?}", took[150], took[297], took[299]);
}
