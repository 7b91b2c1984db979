//! Who coordinates: one of several processes, and another when it ends.

use std::sync::Arc;

use serde_json::json;
use tamis_agents::{is_leader_lock_held, lock_holder};
use tamis_coordinator::{AbsentCoordinator, AgentService, AgentServiceSettings, EventQuery, Leadership};
use tamis_store::DataDir;

use crate::shared_folder::{SharedFolder, call, until};

/// A program that another test is just starting has a copy of every lock of this process, until it begins.
async fn free_again(data_dir: &DataDir) {
    until("the leader lock is free", || !is_leader_lock_held(data_dir)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_takes_over_when_the_first_ends() {
    let folder = SharedFolder::new();
    let data_dir = folder.data_dir();
    let (first, second) = (folder.agents(), folder.agents());
    let (say, said) = std::sync::mpsc::channel();
    let teller = |name: &'static str| {
        let say = say.clone();
        move |leadership: &Leadership| say.send((name, leadership.clone())).unwrap()
    };
    let hears = || said.recv_timeout(std::time::Duration::from_secs(300)).unwrap();
    first.lead("http://127.0.0.1:1", teller("first")).unwrap();
    assert!(is_leader_lock_held(&data_dir), "when lead returns");
    assert_eq!(hears(), ("first", Leadership::Leader));
    assert!(first.is_leader());
    second.lead("http://127.0.0.1:2", teller("second")).unwrap();
    let there = lock_holder(&data_dir).unwrap();
    assert_eq!(hears(), ("second", Leadership::Forwarding(there)));
    assert_eq!(lock_holder(&data_dir).unwrap().url, "http://127.0.0.1:1");
    assert!(!second.is_leader());
    tokio::task::block_in_place(|| first.resign());
    assert!(!first.is_leader());
    until("the second's turn", || second.is_leader()).await;
    assert_eq!(hears(), ("second", Leadership::Leader));
    assert_eq!(lock_holder(&data_dir).unwrap().url, "http://127.0.0.1:2");
    tokio::task::block_in_place(|| second.resign());
    free_again(&data_dir).await;
    assert_eq!(lock_holder(&data_dir), None, "the address that is left there is ignored");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_coordinator_verifies_identities() {
    let folder = SharedFolder::new();
    let agents = folder.agents();
    agents.lead("http://127.0.0.1:1", |_| {}).unwrap();
    until("its turn", || agents.is_leader()).await;
    for (tool, arguments) in [
        ("request_review", json!({})),
        ("send_feedback", json!({"feedback": "f", "feedback_type": "needs_work"})),
        ("create_pr", json!({"title": "t", "description": "d"})),
        ("create_issues", json!({"issues": [{"title": "t", "body": "b"}]})),
    ] {
        let (error, is_error) = call(&agents, tool, arguments).await;
        assert_eq!((&error["code"], is_error), (&json!("IDENTITY_REQUIRED"), true), "{tool}: {error}");
    }
    tokio::task::block_in_place(|| agents.resign());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_command_coordinates_only_while_the_leader_lock_is_free() {
    let folder = SharedFolder::new();
    let settings =
        AgentServiceSettings { absent_coordinator: AbsentCoordinator::TakeLock, ..folder.settings() };
    let agents = Arc::new(AgentService::new(settings));
    assert_eq!(agents.gc(true).await.unwrap(), []);
    free_again(&folder.data_dir()).await;
    let mut done = None;
    until("it coordinates", || {
        let work = |_: &_| Ok(is_leader_lock_held(&folder.data_dir()));
        done = tokio::task::block_in_place(|| agents.with_temporary_coordinator(work)).unwrap();
        done.is_some()
    })
    .await;
    assert_eq!(done, Some(true));
    let held = folder.hold_lock().await;
    let done = tokio::task::block_in_place(|| agents.with_temporary_coordinator(|_| Ok(())));
    assert_eq!(done.unwrap(), None);
    drop(held);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_process_writes_another_follows() {
    let folder = SharedFolder::new();
    let (reader, writer) = (folder.agents(), folder.agents());
    let mut follower = reader.follow(Some(0)).await.unwrap();
    for round in 1..=20 {
        let value = (round + 1).to_string();
        tokio::task::block_in_place(|| writer.set_config("review.max_iterations", &value)).unwrap();
        let event = tokio::time::timeout(std::time::Duration::from_secs(60), follower.next());
        assert_eq!(event.await.unwrap().unwrap().seq, round);
    }
    let shown =
        tokio::task::block_in_place(|| reader.events(&EventQuery { after: 18, ..EventQuery::default() }));
    let shown = shown.unwrap();
    assert_eq!((shown.events.len(), shown.last_seq), (2, 20));
    assert!(folder.path().join("data/state.db").exists());
}
