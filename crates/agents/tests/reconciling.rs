//! What died, vanished or was left behind is found, reported and repaired.

// Fault points are in debug builds only.
#![cfg(debug_assertions)]
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod support;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use support::{Field, await_some, call, feedback, soon};
use tamis_agents::faults::{Point, die_at};
use tamis_agents::{
    AgentCall, Code, CreatePullRequest, EventKind, Instance, Phase, Repair, RequestReview, ReviewOutcome,
    Status,
};
use tamis_testkit::{FakeGithub, FakeRepository, GithubFault, When};

#[test]
#[ignore = "what runs in the sessions of the tests here"]
fn as_a_session() {
    support::be_a_session();
}

/// Reconciles, and checks that nothing is left to do.
#[track_caller]
fn reconcile(field: &Field) -> Vec<Repair> {
    let findings = field.coordinator().reconcile().unwrap();
    let repairs = field.events().iter().filter(|event| event.kind == EventKind::Repaired).count();
    assert!(repairs >= findings.len(), "{findings:?}");
    field.assert_consistent();
    assert_eq!(field.coordinator().reconcile().unwrap(), [], "it is repaired");
    findings
}

/// Ends what runs in a session from outside.
fn kill_agent(field: &Field, instance: &Instance) {
    let session = field.tmux().session(&instance.id).unwrap().unwrap();
    let pid = session.pane_pid.unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    await_some(|| (!field.tmux().session(&instance.id).unwrap().unwrap().alive).then_some(()));
}

#[test]
fn a_coding_agent_that_ends_is_terminated_and_its_worktree_stays() {
    let field = Field::new();
    let quits = field.coordinator().start(&field.request("quits", &["sh", "-c", "exit 3"]), soon()).unwrap();
    await_some(|| {
        field.tmux().session(&quits.id).unwrap().is_none_or(|session| !session.alive).then_some(())
    });
    assert_eq!(
        field.coordinator().dead().unwrap(),
        std::slice::from_ref(&quits.id),
        "it is seen at a glance"
    );
    let findings = reconcile(&field);
    assert_eq!(field.coordinator().dead().unwrap(), []);
    let quits = field.instance(&quits.id);
    assert_eq!((quits.status, quits.phase, quits.exit_code), (Status::Terminated, Phase::Kept, Some(3)));
    assert_eq!(quits.reason.as_deref(), Some("its agent exited with code 3"));
    assert_eq!(findings[0].found, format!("{} was STARTED, but its agent exited with code 3", quits.id));

    // One that waits for a review takes its reviewer with it.
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    kill_agent(&field, &coding);
    reconcile(&field);
    assert_eq!(field.instance(&coding.id).status, Status::Terminated);
    let reviewer = field.instance(&reviewer.id);
    assert_eq!((reviewer.status, reviewer.phase), (Status::Terminated, Phase::Gone));
    assert_eq!(reviewer.reason.as_deref(), Some("work-123-a1 is over"));
}

#[test]
fn feedback_arrives_though_the_coding_agent_has_died() {
    let field = Field::new();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    kill_agent(&field, &coding);
    let sent = field.send_feedback(&reviewer.id, "Hm").unwrap();
    assert_eq!(field.git(&coding.worktree, &["rev-parse", "HEAD"]), sent.git_commit_hash);
    let coding = field.instance(&coding.id);
    assert_eq!((coding.status, coding.phase), (Status::Terminated, Phase::Kept));
    field.await_phase(&reviewer.id, Phase::Gone);
    field.assert_consistent();
}

#[test]
fn a_reviewer_that_goes_without_a_word_frees_the_coding_agent() {
    let field = Field::new();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    kill_agent(&field, &reviewer);
    reconcile(&field);
    assert_eq!(field.instance(&coding.id).status, Status::Started);
    let reviewer = field.instance(&reviewer.id);
    assert_eq!((reviewer.status, reviewer.phase), (Status::Terminated, Phase::Gone));
    let reviews = field.coordinator().archive().details(&coding.id).unwrap().reviews;
    assert_eq!(reviews[0].outcome, Some(ReviewOutcome::Ended));
    await_some(|| field.tmux().capture(&coding.id, 50).unwrap().contains("without feedback").then_some(()));
    // The same work may be reviewed, since no review was done.
    assert_eq!(field.request_review(&coding.id).unwrap().review_instance_id.as_str(), "review-123-a1-2");
}

/// The reviewer's call was interrupted, or GitHub's answer to it was lost.
#[test]
fn a_coding_agent_hears_of_its_reviewers_pull_request_that_is_found_later() {
    for interrupted in [true, false] {
        let mut field = Field::new();
        let bare = field.path("origin.git");
        field.git(&field.path("."), &["init", "-q", "--bare", "-b", "main", "origin.git"]);
        let github =
            FakeGithub::start(FakeRepository { git: Some(bare.clone()), ..FakeRepository::default() });
        field.meet(&github);
        field.git(&field.repository(), &["config", "remote.origin.pushurl", bare.to_str().unwrap()]);
        field.git(&field.repository(), &["push", "-q", "origin", "main"]);
        let coding = field.start();
        let reviewer = field.review(&coding, "one");
        let token = field.token(&reviewer.id);
        let input = CreatePullRequest {
            title: "One".to_owned(),
            description: "It was missing.".to_owned(),
            base_branch: None,
        };
        let create = || field.coordinator().create_pull_request(&call(&token, None), &input);
        if interrupted {
            die_at(Point::PullOpened);
            catch_unwind(AssertUnwindSafe(create)).unwrap_err();
        } else {
            // None is open before, and it cannot be asked whether it is there afterwards.
            github.misbehave_on("GET", When::Before, GithubFault::Says(200, serde_json::json!([])), 1);
            github.misbehave_on("POST", When::After, GithubFault::HangUp, 1);
            github.misbehave_on("GET", When::Before, GithubFault::Status(401), 1);
            create().unwrap_err();
        }
        assert_eq!(field.instance(&coding.id).status, Status::WaitingReview);
        field.coordinator().reconcile().unwrap();
        let coding = field.instance(&coding.id);
        assert_eq!((coding.status, coding.pr_number), (Status::PrCreated, Some(1)), "{interrupted}");
        await_some(|| {
            field.tmux().capture(&coding.id, 50).unwrap().contains("reviewer approved").then_some(())
        });
        field.coordinator().reconcile().unwrap();
        assert_eq!(field.instance(&reviewer.id).phase, Phase::Gone);
        field.assert_consistent();
    }
}

#[test]
fn a_review_that_takes_too_long_is_ended() {
    let field = Field::new();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    assert_eq!(field.coordinator().reconcile().unwrap(), []);
    let back = |hours: i64| {
        let sql = "UPDATE instance_relationships SET created_at = created_at - ?1 * 3600000";
        field.database().execute(sql, [hours]).unwrap();
    };
    back(23);
    assert_eq!(field.coordinator().reconcile().unwrap(), []);
    back(1);
    let findings = reconcile(&field);
    assert_eq!(findings[0].found, "the review took more than 24 hours");
    assert_eq!(field.instance(&coding.id).status, Status::Started);
    assert_eq!(field.instance(&reviewer.id).phase, Phase::Gone);
    let reviews = field.coordinator().archive().details(&coding.id).unwrap().reviews;
    assert_eq!(reviews[0].outcome, Some(ReviewOutcome::TimedOut));
}

#[test]
fn all_sessions_gone_at_once() {
    let field = Field::new();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    let other = field.start();
    field.kill_tmux();
    reconcile(&field);
    for (id, phase) in [(&coding.id, Phase::Kept), (&reviewer.id, Phase::Gone), (&other.id, Phase::Kept)] {
        let instance = field.instance(id);
        assert_eq!((instance.status, instance.phase), (Status::Terminated, phase), "{id}");
    }
    assert_eq!(field.instance(&coding.id).reason.as_deref(), Some("its session is gone"));
}

#[test]
fn worktrees_and_branches_that_vanish() {
    let field = Field::new();
    let [lost, renamed, detached] = [(); 3].map(|()| field.start());
    let tip = field.work(&lost, "one");
    fs::remove_dir_all(&lost.worktree).unwrap();
    let kept = field.work(&renamed, "two");
    field.git(&renamed.worktree, &["branch", "-m", "mine"]);
    field.git(&detached.worktree, &["checkout", "-q", "--detach"]);
    field.git(&field.repository(), &["branch", "-q", "-D", &detached.branch]);
    reconcile(&field);
    let lost = field.instance(&lost.id);
    assert_eq!((lost.status, lost.phase), (Status::Terminated, Phase::Gone));
    assert_eq!(lost.reason.as_deref(), Some("its worktree is gone"));
    assert_eq!(field.git(&field.repository(), &["rev-parse", &lost.branch]), tip, "its branch stays");
    for (instance, commit) in [(&renamed, &kept), (&detached, &detached.base_commit.to_string())] {
        assert_eq!(field.instance(&instance.id).status, Status::Started);
        assert_eq!(
            field.git(&field.repository(), &["rev-parse", &instance.branch]),
            *commit,
            "it is made again"
        );
    }
}

#[test]
fn strays_are_ended_and_folders_of_nobody_are_left() {
    let field = Field::new();
    let coding = field.start();
    let stray = "work-nobody-a1".parse().unwrap();
    field.tmux().create(&stray, &["cat".into()], &[]).unwrap();
    let agents = field.data().join("agents");
    fs::write(agents.join("identities/work-nobody-a2"), "").unwrap();
    let folder = agents.join("worktrees/somebodys");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("work"), "precious").unwrap();
    let findings = field.coordinator().reconcile().unwrap();
    let found: Vec<&str> = findings.iter().map(|finding| finding.found.as_str()).collect();
    assert_eq!(
        found,
        [
            "session work-nobody-a1 was running without a live instance",
            "files of work-nobody-a2 were left behind after it ended",
            &format!("{} does not belong to any instance", folder.display()),
        ]
    );
    assert_eq!(fs::read_to_string(folder.join("work")).unwrap(), "precious");
    // It is shown each time, and in the events once.
    let seen = field.events().len();
    assert_eq!(field.coordinator().reconcile().unwrap().len(), 1);
    assert_eq!(field.events().len(), seen);
    fs::remove_dir_all(&folder).unwrap();
    field.assert_consistent();
    assert!(field.tmux().session(&coding.id).unwrap().unwrap().alive);
}

/// What must hold once a crash of the coordinator was repaired: the call that died can be made again.
#[test]
fn a_crash_anywhere_in_starting_is_repaired() {
    for point in points("start.") {
        let mut field = Field::new();
        let died = dies(point, || drop(field.coordinator().start(&field.request("x", &["cat"]), soon())));
        assert!(died, "{point}");
        field.next_coordinator();
        field.coordinator().reconcile().unwrap();
        field.assert_consistent();
        let forward = matches!(point, Point::StartSessionCreated | Point::StartRecorded);
        let instances = field.coordinator().archive().instances().unwrap();
        assert_eq!(instances.len(), usize::from(forward), "{point}");
        if !forward {
            assert_eq!(
                field.git(&field.repository(), &["for-each-ref", "refs/heads/tamis", "refs/tamis"]),
                ""
            );
        }
        let next = field.coordinator().start(&field.request("x", &["cat"]), soon()).unwrap();
        assert_eq!(next.id.as_str(), if forward { "work-x-a2" } else { "work-x-a1" }, "{point}");
    }
}

#[test]
fn a_crash_anywhere_in_asking_for_review_is_repaired() {
    for point in points("request_review.") {
        let mut field = Field::new();
        let coding = field.start();
        field.work(&coding, "one");
        let token = field.token(&coding.id);
        let key = Some("the same");
        let died = dies(point, || {
            drop(field.coordinator().request_review(&call(&token, key), &RequestReview::default()));
        });
        assert!(died, "{point}");
        field.next_coordinator();
        field.coordinator().reconcile().unwrap();
        field.assert_consistent();
        let forward = matches!(point, Point::ReviewSessionCreated | Point::ReviewRecorded);
        let status = if forward { Status::WaitingReview } else { Status::Started };
        assert_eq!(field.instance(&coding.id).status, status, "{point}");
        // A retry gets the result, or does the work now.
        let seen = field.coordinator().archive().instances().unwrap().len();
        let again =
            field.coordinator().request_review(&call(&token, key), &RequestReview::default()).unwrap();
        assert_eq!(again.review_instance_id.as_str(), "review-123-a1-1");
        let now = field.coordinator().archive().instances().unwrap().len();
        assert_eq!((seen, now), (if forward { 2 } else { 1 }, 2), "{point}");
        field.send_feedback(&again.review_instance_id, "Hm").unwrap();
        field.await_phase(&again.review_instance_id, Phase::Gone);
        field.assert_consistent();
    }
}

#[test]
fn a_crash_anywhere_in_feedback_is_repaired() {
    for point in points("send_feedback.") {
        let mut field = Field::new();
        let coding = field.start();
        let reviewer = field.review(&coding, "one");
        let moved = field.work(&coding, "two");
        let token = field.token(&reviewer.id);
        let key = Some("the same");
        let died = dies(point, || {
            drop(field.coordinator().send_feedback(&call(&token, key), &feedback("Hm")));
        });
        let after_the_answer = matches!(point, Point::FeedbackSessionEnded | Point::FeedbackCleanedUp);
        assert_eq!(died, !after_the_answer, "{point}");
        field.next_coordinator();
        if after_the_answer {
            die_at(point);
        }
        let died = catch_unwind(AssertUnwindSafe(|| field.coordinator().reconcile())).is_err();
        assert_eq!(died, after_the_answer, "{point}");
        field.next_coordinator();
        field.coordinator().reconcile().unwrap();
        field.assert_consistent();

        // It has arrived, once, and the agent was notified.
        let given = field.coordinator().archive().feedback(None).unwrap();
        let [given] = &given[..] else { panic!("{point}: {given:?}") };
        assert!(given.delivered_at.is_some() && given.told_at.is_some(), "{point}: {given:?}");
        assert_eq!(field.git(&coding.worktree, &["rev-parse", "HEAD^1"]), moved, "{point}");
        assert_eq!(Some(field.git(&coding.worktree, &["rev-parse", "HEAD"])), given.git_commit_hash);
        assert_eq!(field.git(&coding.worktree, &["status", "--porcelain"]), "");
        assert!(fs::read_to_string(coding.worktree.join("REVIEW_FEEDBACK.md")).unwrap().contains("Hm"));
        assert_eq!(field.instance(&coding.id).status, Status::Started);
        assert_eq!(field.instance(&reviewer.id).phase, Phase::Gone);
        let again = field.coordinator().send_feedback(&call(&token, key), &feedback("Hm")).unwrap();
        assert_eq!(again.feedback_id, given.id, "{point}");
    }
}

#[test]
fn what_a_crash_left_is_repaired_by_the_next_call_too() {
    let field = Field::new();
    let coding = field.start();
    field.work(&coding, "one");
    let token = field.token(&coding.id);
    for key in ["one", "two"] {
        let ask = || field.coordinator().request_review(&call(&token, Some(key)), &RequestReview::default());
        if key == "one" {
            assert!(dies(Point::ReviewWorktreeAdded, || drop(ask())));
        } else {
            ask().unwrap();
        }
    }
    field.assert_consistent();
    assert_eq!(field.coordinator().reconcile().unwrap(), []);
}

#[test]
fn a_pull_request_outlives_its_agent() {
    let field = Field::new();
    let [coding, other] = [(); 2].map(|()| field.start());
    let sql = "UPDATE instances SET status = 'PR_CREATED', pr_number = 7, pr_url = 'http://127.0.0.1:1/7'";
    field.database().execute(sql, []).unwrap();
    kill_agent(&field, &coding);
    fs::remove_dir_all(&other.worktree).unwrap();
    let findings = field.coordinator().reconcile().unwrap();
    assert_eq!(findings.len(), 2, "{findings:?}");
    let [coding, other] = [&coding.id, &other.id].map(|id| field.instance(id));
    assert_eq!((coding.status, coding.phase), (Status::PrCreated, Phase::Kept));
    assert_eq!((other.status, other.phase), (Status::PrCreated, Phase::Gone));
    assert_eq!(field.tmux().sessions().unwrap(), []);
    assert_eq!(field.coordinator().reconcile().unwrap(), []);
    assert_eq!(field.coordinator().gc(false).unwrap(), [], "the work is not over");
}

/// A concurrent reconciliation does not report work in progress as a fault.
#[test]
fn reconciling_all_the_time_disturbs_nobody() {
    let field = Field::new();
    let over = AtomicBool::new(false);
    let findings = std::thread::scope(|scope| {
        let reconciling = scope.spawn(|| {
            let mut findings = Vec::new();
            while !over.load(Ordering::Relaxed) {
                findings.extend(field.coordinator().reconcile().unwrap());
            }
            findings
        });
        let working = [(); 2].map(|()| {
            scope.spawn(|| {
                let coding = field.start();
                for iteration in 1..=2 {
                    let reviewer = field.review(&coding, &format!("{iteration}"));
                    field.send_feedback(&reviewer.id, &format!("Not yet, {iteration}")).unwrap();
                    field.await_phase(&reviewer.id, Phase::Gone);
                }
                field.coordinator().stop(&coding.id).unwrap()
            })
        });
        let stopped = working.map(|thread| thread.join());
        over.store(true, Ordering::Relaxed);
        let findings = reconciling.join().unwrap();
        for instance in stopped {
            assert_eq!(instance.unwrap().phase, Phase::Kept);
        }
        findings
    });
    // It may be the one that cleans up when a reviewer has had its time.
    let faults: Vec<_> = findings.iter().filter(|it| !it.found.ends_with("was not cleaned up")).collect();
    assert!(faults.is_empty(), "{faults:?}");
    field.assert_consistent();
}

/// However soon the time is over, all of it is done or nothing.
#[test]
fn what_takes_too_long_is_undone() {
    let field = Field::new();
    let coding = field.start();
    field.work(&coding, "one");
    let token = field.token(&coding.id);
    for milliseconds in [5, 20, 40, 60, 80, 120, 160, 240] {
        let call = |token| AgentCall {
            token,
            idempotency_key: None,
            deadline: Instant::now() + Duration::from_millis(milliseconds),
        };
        match field.coordinator().request_review(&call(&token), &RequestReview::default()) {
            // On a fast machine there was time for all the reviews that may be.
            Err(error) if error.code == Code::ReviewLimitExceeded => break,
            Err(error) => {
                assert_eq!(error.code, Code::Timeout);
                assert_eq!(field.instance(&coding.id).status, Status::Started);
            }
            Ok(review) => {
                let reviewer = field.token(&review.review_instance_id);
                let said =
                    field.coordinator().send_feedback(&call(&reviewer), &feedback(&milliseconds.to_string()));
                if let Err(error) = said {
                    assert_eq!(error.code, Code::Timeout);
                    field.coordinator().stop(&review.review_instance_id).unwrap();
                }
                field.await_phase(&review.review_instance_id, Phase::Gone);
                field.work(&coding, &format!("after {milliseconds}"));
            }
        }
        field.assert_consistent();
    }
}

fn points(prefix: &str) -> impl Iterator<Item = Point> {
    Point::ALL.iter().copied().filter(move |point| point.as_str().starts_with(prefix))
}

/// Whether the work died at this point.
fn dies(point: Point, work: impl FnOnce()) -> bool {
    die_at(point);
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(()) => false,
        Err(cause) => {
            assert_eq!(cause.downcast_ref(), Some(&point), "it died of something else");
            true
        }
    }
}
