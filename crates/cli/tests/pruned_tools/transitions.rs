//! The contract's table of transitions: each row happens, and nothing else does.

use std::collections::BTreeSet;

use serde_json::json;
use tamis_tools::request::{Event, State, TRANSITIONS};

use crate::ending::hang_up_while_answering;
use crate::http_pruner::{HttpPruner, Manners};
use crate::server::{Place, eventually, ways};

/// What each row of the table of transitions is called in the diagnostics.
fn row(from: State, event: Event, to: State) -> (String, String, String) {
    (from.name().to_owned(), event.description().to_owned(), to.name().to_owned())
}

/// Goes through every row of the table with one server after another, and through nothing else.
#[test]
fn every_transition_happens() {
    let place = Place::new();
    place.write("text.txt", "one\n");
    place.write("large.txt", "x".repeat(8 << 20));
    let pruner = HttpPruner::start(Manners::json(&json!({"text": "PRUNED"})));
    let mut log = Vec::new();

    let with_question = |path: &str| json!({"file_path": path, "context_focus_question": "q"});
    let mut server = place.serve_with(&pruner.url);
    server.refused("{");
    server.call("read", json!({"file_path": 5}));
    server.text("read", json!({"file_path": "missing"}));
    server.text("read", json!({"file_path": "text.txt"}));
    server.text("read", with_question("text.txt"));
    server.text("grep", json!({"pattern": "nothing", "context_focus_question": "q"}));
    // Cancelled: ended without an answer.
    let id =
        server.ask("tools/call", json!({"name": "bash", "arguments": {"command": "touch begun; sleep 600"}}));
    eventually("it has begun", || place.path().join("begun").exists());
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    server.ways();
    log.push(server.leave().1);

    let mut server = place.serve();
    server.text("read", with_question("text.txt"));
    server.ways();
    log.push(server.leave().1);

    let mut server = place.serve_with(&HttpPruner::refusing_url());
    server.text("read", with_question("text.txt"));
    server.ways();
    log.push(server.leave().1);

    // A client that hangs up in the middle of an answer, raw or pruned.
    let large = HttpPruner::start(Manners::json(&json!({"text": "y".repeat(8 << 20)})));
    for arguments in [json!({"file_path": "large.txt"}), with_question("large.txt")] {
        log.push(hang_up_while_answering(&place, &large.url, &arguments));
    }

    let mut seen = BTreeSet::new();
    for log in &log {
        for line in log {
            let Some((_, said)) = line.split_once("tamis_tools::request: ") else { continue };
            let Some((from, rest)) = said.split_once(" -> ") else { continue };
            let (to, rest) = rest.split_once(" (").unwrap();
            let words = rest.split([')', ':']).next().unwrap();
            seen.insert((from.to_owned(), words.to_owned(), to.to_owned()));
        }
        assert!(ways(log).values().all(|way| way[0] == "req:received"), "{log:#?}");
    }
    let mut table: BTreeSet<_> =
        TRANSITIONS.iter().map(|transition| row(transition.from, transition.event, transition.to)).collect();
    table.insert(row(State::ExecutingTool, Event::Unhandled, State::InternalError));
    assert_eq!(seen, table);
}
