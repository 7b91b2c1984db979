//! Everything dies at every step: tamis itself, tmux, the agents. Afterwards the tables, the sessions, the worktrees and
//! the branches agree with each other, no commit and no uncommitted byte is lost, and the work can go on.
//!
//! A run takes one fault of a list, in an order that a seed decides: every death at every named point, and as many in which
//! tamis is killed at any moment after it was called, in the middle of a git or a tmux. `TAMIS_FAULT_RUNS` says how many runs
//! there are (20), `TAMIS_FAULT_SEED` in which order. The points are in debug builds only, and so is this.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

#[path = "../common/mod.rs"]
mod common;
mod consistency;
mod deadline;
mod directed;
mod fixture;
mod full_disk;
mod hostile;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tamis_agents::faults::Point;

use fixture::{Answer, FaultFixture};

/// Who dies when a point is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Tamis,
    Tmux,
    Coder,
    Reviewer,
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    /// A process is killed when a point is reached.
    At { point: Point, victim: Victim },
    /// tamis is killed this long after a tool was called, at whatever point. What it has started goes on without it.
    After { tool: &'static str, moment: Duration },
}

/// The tools that are interrupted at any moment, and within how many milliseconds: the feedback's reviewer is ended two
/// seconds after the answer.
const INTERRUPTED: &[(&str, u64)] = &[
    ("start", 1200),
    ("request_review", 1500),
    ("send_feedback", 3500),
    ("create_pull_request", 1500),
    ("gc", 800),
];

/// Every fault that there is at a point.
fn faults() -> Vec<Fault> {
    let mut faults = Vec::new();
    for &point in Point::ALL {
        for victim in [Victim::Tamis, Victim::Tmux, Victim::Coder, Victim::Reviewer] {
            // A process that does not run yet cannot be killed.
            let runs_no_agent = ["start.", "gc."].iter().any(|tool| point.as_str().starts_with(tool));
            let there = match victim {
                Victim::Coder => !runs_no_agent,
                Victim::Reviewer => point.as_str().starts_with("send_feedback."),
                Victim::Tamis | Victim::Tmux => true,
            };
            if there {
                faults.push(Fault::At { point, victim });
            }
        }
    }
    faults
}

/// This many faults at random moments.
fn interruptions(count: usize, random: &mut Random) -> Vec<Fault> {
    let interruption = |number: usize| {
        let (tool, within) = INTERRUPTED[number % INTERRUPTED.len()];
        // Most of what can be interrupted is done soon, so half of them come within a third of the time.
        let within = if random.below(2) == 0 { within } else { within / 3 };
        Fault::After { tool, moment: Duration::from_millis(random.below(within)) }
    };
    (0..count).map(interruption).collect()
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The same numbers for the same seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, usize::try_from(self.below(last as u64 + 1)).unwrap());
        }
    }
}

#[test]
fn whatever_dies_the_state_is_repaired_and_no_work_is_lost() {
    if !cfg!(debug_assertions) {
        panic!("fault points are in debug builds only: run this without --release");
    }
    let (runs, seed) = (number("TAMIS_FAULT_RUNS", 20), number("TAMIS_FAULT_SEED", 1) as u64);
    let mut list = Vec::new();
    for round in 0.. {
        let (mut all, mut random) = (faults(), Random::new(seed + round));
        all.extend(interruptions(all.len(), &mut random));
        random.shuffle(&mut all);
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

/// One run: work up to the fault, the fault, the repair, and the rest of the work.
fn suffer(fault: Fault) {
    let tool = match fault {
        Fault::At { point, .. } => point.as_str().split_once('.').unwrap().0,
        Fault::After { tool, .. } => tool,
    };
    let kills_tamis = matches!(fault, Fault::After { .. } | Fault::At { victim: Victim::Tamis, .. });
    let mut fixture = FaultFixture::new();
    let hold = fixture.folder().join("held");
    let fault_setting = match fault {
        Fault::At { point, victim: Victim::Tamis } => Some(format!("{point}=kill")),
        Fault::At { point, .. } => Some(format!("{point}=hold:{}", hold.display())),
        Fault::After { .. } => None,
    };

    // Up to the call everything is as usual.
    let mut coder = None;
    if tool != "start" {
        fixture.serve(None);
        let id = fixture.start();
        fixture.commit(&id, "work.txt", "first\n");
        match tool {
            "send_feedback" => {
                fixture.request_review(&id);
                fixture.make_a_mess(&id);
            }
            // With notes of a review to take out, and a file that git does not know.
            "create_pull_request" => {
                fixture.request_review(&id);
                fixture.call(&fixture.reviewer_of(&id), "send_feedback", &feedback(), "before");
                fixture.leave_untracked(&id, "scratch.txt");
                let reviewer = fixture.reviewer_of(&id);
                common::eventually("the reviewer is gone", || fixture.instance(&reviewer)["phase"] == "gone");
            }
            "gc" => prepare_gc(&mut fixture, &id),
            _ => {}
        }
        fixture.end_server();
        coder = Some(id);
    }

    fixture.serve(fault_setting.as_deref());
    let reviewer = coder.as_ref().map(|id| fixture.reviewer_of(id));
    let call = || match tool {
        "start" => fixture.try_start(),
        "request_review" => fixture.call(coder.as_ref().unwrap(), tool, &json!({}), "key-1"),
        "send_feedback" => fixture.call(reviewer.as_ref().unwrap(), tool, &feedback(), "key-1"),
        "create_pull_request" => fixture.call(coder.as_ref().unwrap(), tool, &pull_request(), "key-1"),
        "gc" => fixture.rest("POST", "/api/gc", &Value::Null),
        other => panic!("no such tool: {other}"),
    };
    let first = std::thread::scope(|scope| {
        let called = scope.spawn(call);
        let (point, victim) = match fault {
            Fault::After { moment, .. } => {
                // Nothing is waited for: this is the moment.
                std::thread::sleep(moment);
                fixture.kill_server();
                fixture.wait_for_death();
                return called.join().unwrap();
            }
            Fault::At { point, victim } => (point, victim),
        };
        if victim == Victim::Tamis {
            fixture.wait_for_death();
            let answer = called.join().unwrap();
            // What comes after the answer is done in the background.
            let after = [Point::FeedbackSessionEnded, Point::FeedbackCleanedUp].contains(&point);
            assert_eq!(matches!(answer, Answer::Done(_)), after, "{answer:?}");
            return answer;
        }
        // Some points come after the answer, in the background.
        common::eventually("the point is reached", || hold.exists());
        match victim {
            Victim::Tmux => fixture.kill_tmux(),
            Victim::Coder => fixture.kill_agent(coder.as_ref().unwrap()),
            Victim::Reviewer => fixture.kill_agent(reviewer.as_ref().unwrap()),
            Victim::Tamis => unreachable!(),
        }
        std::fs::remove_file(&hold).unwrap();
        called.join().unwrap()
    });

    // The next coordinator repairs it.
    fixture.end_server();
    fixture.serve(None);
    fixture.expect_consistency(&format!("after {fault:?}"));

    // The one who called asks again, as the forwarder does, and the work goes on where its agent lives.
    let Some(id) = coder else {
        if let Answer::Done(started) = first {
            assert_eq!(
                fixture.instance(started["id"].as_str().unwrap())["created_at"],
                started["created_at"]
            );
        }
        let again = fixture.start();
        assert_eq!(fixture.instance(&again)["status"], "STARTED");
        fixture.expect_consistency("after starting again");
        return;
    };
    if tool == "gc" {
        return check_gc(&fixture, &id);
    }
    let lives = fixture.instance(&id)["status"] != "TERMINATED";
    let may_end = matches!(fault, Fault::At { victim: Victim::Tmux | Victim::Coder, .. });
    assert!(lives || may_end, "{fault:?} ended {id}");
    let caller = if tool == "send_feedback" { reviewer.unwrap() } else { id.clone() };
    let again = match tool {
        "send_feedback" => fixture.call(&caller, tool, &feedback(), "key-1"),
        "request_review" => fixture.call(&caller, tool, &json!({}), "key-1"),
        _ => fixture.call(&caller, tool, &pull_request(), "key-1"),
    };
    match again {
        Answer::Done(value) => {
            check_result(&fixture, tool, &value);
            if let Answer::Done(first) = first {
                assert_eq!(value, first, "the answer that was given is given again");
            }
        }
        Answer::Refused(error) => {
            let code = error["code"].as_str().unwrap_or_default();
            // Only because the agent that it would be for is dead.
            let excused = !kills_tamis && ["INVALID_STATE", "IDENTITY_REQUIRED"].contains(&code);
            assert!(excused, "{fault:?}, then repeated: {error}");
        }
        Answer::None => panic!("no answer after the repair"),
    }
    fixture.expect_consistency("after asking again");
}

/// Agents that are over: one whose work is merged, one with commits of its own, and one with files that are nowhere else.
fn prepare_gc(fixture: &mut FaultFixture, merged: &str) {
    fixture.git(&fixture.project(), &["merge", "--quiet", &format!("tamis/{merged}")]);
    let [own, messy] = [(); 2].map(|()| fixture.start());
    fixture.commit(&own, "own.txt", "own\n");
    fixture.commit(&messy, "own.txt", "messy\n");
    fixture.make_a_mess(&messy);
    fixture.leave_untracked(&own, "kept.txt");
    // Settings of the repository hide those files from git.
    let project = fixture.project();
    std::fs::write(project.join(".git/info/exclude"), "*\n").unwrap();
    fixture.git(&project, &["config", "status.showUntrackedFiles", "no"]);
    for id in [merged, &own, &messy] {
        fixture.rest("POST", &format!("/api/instances/{id}/stop"), &Value::Null);
    }
}

/// The next clean-up finishes the first, and still takes nothing that is nowhere else.
fn check_gc(fixture: &FaultFixture, merged: &str) {
    let again = fixture.rest("POST", "/api/gc", &Value::Null);
    assert!(matches!(again, Answer::Done(_)), "{again:?}");
    fixture.expect_consistency("after cleaning up again");
    assert_eq!(fixture.instance(merged)["phase"], "gone");
    for other in ["work-7-a2", "work-7-a3"] {
        assert_eq!(fixture.instance(other)["phase"], "kept", "{other}");
    }
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

fn check_result(fixture: &FaultFixture, tool: &str, value: &Value) {
    match tool {
        "request_review" => {
            let review = value["review_instance_id"].as_str().unwrap();
            assert_eq!(fixture.instance(review)["type"], "review");
        }
        "send_feedback" => {
            let target = value["target_instance_id"].as_str().unwrap();
            let commit = value["git_commit_hash"].as_str().unwrap();
            assert!(fixture.is_ancestor(commit, target), "{commit} is in the branch of {target}");
        }
        _ => assert_eq!(value["branch_name"], format!("tamis/{}", "work-7-a1")),
    }
}
