//! Everything dies at every step: tamis itself, tmux, the agents. Afterwards the tables, the sessions, the worktrees and
//! the branches agree with each other, no commit and no uncommitted byte is lost, and the work can go on.
//!
//! A run takes one fault of the list of all of them, in an order that a seed decides. `TAMIS_FAULT_RUNS` says how many there
//! are (20), `TAMIS_FAULT_SEED` in which order.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

#[path = "../common/mod.rs"]
mod common;
mod consistency;
mod crew;
mod directed;
mod hostile;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tamis_agents::faults::Point;

use crew::{Answer, Crew};

/// Who dies when a point is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Tamis,
    Tmux,
    Coder,
    Reviewer,
}

#[derive(Clone, Copy, Debug)]
struct Fault {
    point: Point,
    victim: Victim,
}

/// Every fault there is.
fn faults() -> Vec<Fault> {
    let mut faults = Vec::new();
    for &point in Point::ALL {
        for victim in [Victim::Tamis, Victim::Tmux, Victim::Coder, Victim::Reviewer] {
            // Whoever is not there yet cannot die.
            let is_start = point.as_str().starts_with("start.");
            let there = match victim {
                Victim::Coder => !is_start,
                Victim::Reviewer => point.as_str().starts_with("send_feedback."),
                Victim::Tamis | Victim::Tmux => true,
            };
            if there {
                faults.push(Fault { point, victim });
            }
        }
    }
    faults
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The same order for the same seed.
fn shuffle<T>(list: &mut [T], seed: u64) {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for last in (1..list.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let place = usize::try_from(state % (last as u64 + 1)).unwrap();
        list.swap(last, place);
    }
}

#[test]
fn whatever_dies_the_state_is_repaired_and_no_work_is_lost() {
    let (runs, seed) = (number("TAMIS_FAULT_RUNS", 20), number("TAMIS_FAULT_SEED", 1) as u64);
    let mut list = Vec::new();
    for round in 0.. {
        let mut all = faults();
        shuffle(&mut all, seed + round);
        list.extend(all);
        if list.len() >= runs {
            break;
        }
    }
    list.truncate(runs);
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    // Most of a run is waiting for git, tmux and the ends of processes.
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(fault) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let run = std::panic::AssertUnwindSafe(|| suffer(*fault));
                    if std::panic::catch_unwind(run).is_err() {
                        failures.lock().unwrap().push(format!("{fault:?}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "of {runs} runs with seed {seed} these failed: {failures:#?}");
}

/// One run: work up to the point, the fault, the repair, and the rest of the work.
fn suffer(fault: Fault) {
    let point = fault.point.as_str();
    let (tool, _) = point.split_once('.').unwrap();
    let mut crew = Crew::new();
    let hold = crew.folder().join("held");
    let action =
        if fault.victim == Victim::Tamis { "kill".to_owned() } else { format!("hold:{}", hold.display()) };
    let asked = format!("{point}={action}");

    // Up to the point everything is as usual.
    let mut coder = None;
    if tool != "start" {
        crew.serve(None);
        let id = crew.start();
        crew.commit(&id, "work.txt", "first\n");
        if tool == "send_feedback" {
            crew.request_review(&id);
            crew.make_a_mess(&id);
        }
        crew.end_server();
        coder = Some(id);
    }

    crew.serve(Some(&asked));
    let reviewer = coder.as_ref().map(|id| crew.reviewer_of(id));
    let call = || match tool {
        "start" => crew.try_start(),
        "request_review" => crew.call(coder.as_ref().unwrap(), tool, &json!({}), "key-1"),
        "send_feedback" => crew.call(reviewer.as_ref().unwrap(), tool, &feedback(), "key-1"),
        "create_pull_request" => crew.call(coder.as_ref().unwrap(), tool, &pull_request(), "key-1"),
        other => panic!("no such tool: {other}"),
    };
    std::thread::scope(|scope| {
        let called = scope.spawn(call);
        if fault.victim == Victim::Tamis {
            crew.wait_for_death();
            let answer = called.join().unwrap();
            // What comes after the answer is done in the background.
            let after = [Point::FeedbackSessionEnded, Point::FeedbackCleanedUp].contains(&fault.point);
            assert_eq!(matches!(answer, Answer::Done(_)), after, "{answer:?}");
            return;
        }
        // Some points come after the answer, in the background.
        common::eventually("the point is reached", || hold.exists());
        match fault.victim {
            Victim::Tmux => crew.kill_tmux(),
            Victim::Coder => crew.kill_agent(coder.as_ref().unwrap()),
            Victim::Reviewer => crew.kill_agent(reviewer.as_ref().unwrap()),
            Victim::Tamis => unreachable!(),
        }
        std::fs::remove_file(&hold).unwrap();
        drop(called.join().unwrap());
    });

    // Whoever coordinates next repairs it.
    crew.end_server();
    crew.serve(None);
    crew.expect_consistency(&format!("after {fault:?}"));

    // The one who called asks again, as the forwarder does, and the work goes on where its agent lives.
    let Some(id) = coder else {
        let again = crew.start();
        assert_eq!(crew.instance(&again)["status"], "STARTED");
        crew.expect_consistency("after starting again");
        return;
    };
    let lives = crew.instance(&id)["status"] != "TERMINATED";
    assert!(lives || matches!(fault.victim, Victim::Tmux | Victim::Coder), "{fault:?} ended {id}");
    let caller = if tool == "send_feedback" { reviewer.unwrap() } else { id.clone() };
    let again = match tool {
        "send_feedback" => crew.call(&caller, tool, &feedback(), "key-1"),
        "request_review" => crew.call(&caller, tool, &json!({}), "key-1"),
        _ => crew.call(&caller, tool, &pull_request(), "key-1"),
    };
    match again {
        Answer::Done(value) => check_result(&crew, tool, &value),
        Answer::Refused(error) => {
            let code = error["code"].as_str().unwrap_or_default();
            // Only because the agent that it would be for is dead.
            let excused =
                fault.victim != Victim::Tamis && ["INVALID_STATE", "IDENTITY_REQUIRED"].contains(&code);
            assert!(excused, "{fault:?}, then asked again: {error}");
        }
        Answer::None => panic!("no answer after the repair"),
    }
    crew.expect_consistency("after asking again");
}

fn feedback() -> Value {
    json!({
        "feedback": "Handle the empty list.\n$(touch pwned) `touch pwned`; --upload-pack=touch",
        "feedback_type": "needs_work",
        "actionable_items": ["a test for it"],
    })
}

fn pull_request() -> Value {
    json!({"title": "The work", "description": "What it does."})
}

fn check_result(crew: &Crew, tool: &str, value: &Value) {
    match tool {
        "request_review" => {
            let review = value["review_instance_id"].as_str().unwrap();
            assert_eq!(crew.instance(review)["type"], "review");
        }
        "send_feedback" => {
            let target = value["target_instance_id"].as_str().unwrap();
            let commit = value["git_commit_hash"].as_str().unwrap();
            assert!(crew.is_ancestor(commit, target), "{commit} is in the branch of {target}");
        }
        _ => assert_eq!(value["branch_name"], format!("tamis/{}", "work-7-a1")),
    }
}
