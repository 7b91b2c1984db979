//! No work is lost, whichever process dies; and what does not belong to any instance is not kept forever.

// Fault points are in debug builds only.
#![cfg(debug_assertions)]
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod support;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use support::{Field, await_some, call, names_in, soon};
use tamis_agents::faults::{Point, die_at};
use tamis_agents::{Code, EventKind, Instance, Phase, RequestReview, Status};

#[test]
#[ignore = "what runs in the sessions of the tests here"]
fn as_a_session() {
    support::be_a_session();
}

/// Lets something die at a point, as a coordinator does that is killed.
fn dies(point: Point, work: impl FnOnce()) {
    die_at(point);
    assert!(catch_unwind(AssertUnwindSafe(work)).is_err(), "{point}");
}

fn end_session(field: &Field, name: &str) {
    field.tmux().end(&name.parse().unwrap()).unwrap();
}

/// What each call was given and what came of it, even if another coordinator finished it.
#[test]
fn the_audit_trail_holds_inputs_and_results() {
    let mut field = Field::new();
    let coding = field.start();
    field.work(&coding, "one");
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let input = RequestReview {
        reviewer_prompt: Some("Mind the tests.".to_owned()),
        completion_message: Some(format!("Done with {secret}.")),
    };
    let token = field.token(&coding.id);
    dies(Point::ReviewSessionCreated, || {
        drop(field.coordinator().request_review(&call(&token, None), &input));
    });
    field.next_coordinator();
    field.coordinator().reconcile().unwrap();
    let last_call = |field: &Field| {
        let called = field.events().into_iter().rfind(|event| event.kind == EventKind::ToolCalled).unwrap();
        (called.tool_name.unwrap(), called.success.unwrap(), called.detail)
    };
    let (tool, success, detail) = last_call(&field);
    assert_eq!((tool.as_str(), success), ("request_review", true));
    assert_eq!(detail["input"]["reviewer_prompt"], "Mind the tests.");
    let message = detail["input"]["completion_message"].as_str().unwrap();
    assert!(message.starts_with("Done with [redacted") && !message.contains(secret), "{message}");
    assert_eq!(detail["result"]["review_instance_id"], "review-123-a1-1");

    let refused = field.coordinator().request_review(&call(&token, None), &input).unwrap_err();
    let (_, success, detail) = last_call(&field);
    assert_eq!((success, &detail["message"]), (false, &refused.message.as_str().into()));
    let commit = field.git(&coding.worktree, &["rev-parse", "HEAD"]);
    assert_eq!(
        (&detail["branch"], &detail["commit"]),
        (&"tamis/work-123-a1".into(), &commit.as_str().into())
    );
    assert_eq!(detail["input"]["reviewer_prompt"], "Mind the tests.");

    let sent = field.send_feedback(&"review-123-a1-1".parse().unwrap(), "Not yet").unwrap();
    let (tool, _, detail) = last_call(&field);
    assert_eq!(
        (tool.as_str(), &detail["input"]["feedback"], &detail["result"]["feedback_id"]),
        ("send_feedback", &"Not yet".into(), &sent.feedback_id.as_str().into())
    );
    assert!(!serde_json::to_string(&field.events()).unwrap().contains(secret));

    // A caller that shows no identity is in it too, once for each tool and minute.
    for _ in 0..3 {
        field.coordinator().request_review(&call("tai_nobody", None), &input).unwrap_err();
        field.coordinator().send_feedback(&call("", None), &support::feedback("x")).unwrap_err();
    }
    let strangers: Vec<_> = field.events().into_iter().filter(|event| event.instance_id.is_none()).collect();
    let strangers: Vec<_> =
        strangers.iter().map(|event| (event.tool_name.as_deref().unwrap(), &event.detail["input"])).collect();
    assert_eq!(
        strangers.iter().map(|(tool, _)| *tool).collect::<Vec<_>>(),
        ["request_review", "send_feedback"]
    );
    assert_eq!(strangers[1].1["feedback"], "x");
}

/// Whichever step fails: refused at once, refused where it counts, or undone.
#[test]
fn failures_say_what_was_checked_out() {
    let field = Field::new();
    field.coordinator().archive().set_config("review.max_iterations", "1").unwrap();
    let coding = field.start();
    let failed = |branch: Option<&str>| {
        let event = field.events().pop().unwrap();
        let commit = field.git(&coding.worktree, &["rev-parse", "HEAD"]);
        assert_eq!(event.success, Some(false), "{event:?}");
        assert_eq!(event.detail["branch"].as_str(), branch, "{event:?}");
        assert_eq!(event.detail["commit"], commit.as_str(), "{event:?}");
        event.error_code.unwrap()
    };
    let branch = Some("tamis/work-123-a1");
    field.request_review(&coding.id).unwrap_err();
    assert_eq!(failed(branch), "NO_CHANGES");
    field.work(&coding, "one");
    field.git(&coding.worktree, &["checkout", "-q", "--detach"]);
    field.request_review(&coding.id).unwrap_err();
    assert_eq!(failed(None), "WORKTREE_BUSY");
    field.git(&coding.worktree, &["switch", "-q", "-c", "mine"]);
    field.request_review(&coding.id).unwrap_err();
    assert_eq!(failed(Some("mine")), "WORKTREE_BUSY");
    field.git(&coding.worktree, &["switch", "-q", "tamis/work-123-a1"]);
    // Undone, after something was made.
    let launch = field.data().join("agents/launch");
    await_some(|| fs::remove_dir(&launch).ok());
    fs::write(&launch, "").unwrap();
    field.request_review(&coding.id).unwrap_err();
    assert_eq!(failed(branch), "FILE_ERROR");
    fs::remove_file(&launch).unwrap();
    fs::create_dir(&launch).unwrap();
    let reviewer = field.review(&coding, "two");
    field.send_feedback(&reviewer.id, "No").unwrap();
    field.request_review(&coding.id).unwrap_err();
    assert_eq!(failed(branch), "REVIEW_LIMIT_EXCEEDED");
}

#[test]
fn an_agent_that_worked_while_nobody_coordinated_keeps_its_work_though_it_is_dead() {
    let mut field = Field::new();
    let request = field.request("x", &["cat"]);
    dies(Point::StartSessionCreated, || drop(field.coordinator().start(&request, soon())));
    // It runs for an hour without a coordinator, and then the machine is switched off.
    let worktree = field.data().join("agents/worktrees/work-x-a1");
    fs::write(worktree.join("work.txt"), "done").unwrap();
    let commit = field.commit(&worktree, "An hour of work");
    fs::write(worktree.join("open.txt"), "not committed").unwrap();
    end_session(&field, "work-x-a1");
    field.next_coordinator();
    field.coordinator().reconcile().unwrap();
    let found = field.instance(&"work-x-a1".parse().unwrap());
    assert_eq!((found.status, found.phase), (Status::Terminated, Phase::Kept));
    assert_eq!(fs::read_to_string(worktree.join("open.txt")).unwrap(), "not committed");
    assert_eq!(field.git(&worktree, &["rev-parse", "HEAD"]), commit);
    field.assert_consistent();
}

#[test]
fn what_no_ref_can_hold_of_a_reviewer_that_came_to_nothing_stays() {
    let mut field = Field::new();
    let coding = field.start();
    field.work(&coding, "one");
    dies(Point::ReviewSessionCreated, || drop(field.request_review(&coding.id)));
    let worktree = field.data().join("agents/worktrees/review-123-a1-1");
    let inner = worktree.join("inner");
    fs::create_dir(&inner).unwrap();
    field.git(&inner, &["init", "--quiet"]);
    fs::write(inner.join("found.txt"), "a bug").unwrap();
    field.commit(&inner, "Found");
    end_session(&field, "review-123-a1-1");
    field.next_coordinator();
    field.coordinator().reconcile().unwrap();
    assert_eq!(fs::read_to_string(inner.join("found.txt")).unwrap(), "a bug");
    let reviewer = field.instance(&"review-123-a1-1".parse().unwrap());
    assert_eq!((reviewer.status, reviewer.phase), (Status::Terminated, Phase::Kept));
    assert_eq!(field.instance(&coding.id).status, Status::Started);
    field.assert_consistent();
    assert_eq!(field.request_review(&coding.id).unwrap().review_instance_id.as_str(), "review-123-a1-2");
}

#[test]
fn a_worktree_that_somebody_has_locked_stays() {
    let field = Field::new();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    fs::write(reviewer.worktree.join("notes.txt"), "mine").unwrap();
    let path = reviewer.worktree.to_str().unwrap();
    field.git(&field.repository(), &["worktree", "lock", "--reason", "I look at it", path]);
    field.send_feedback(&reviewer.id, "Hm").unwrap();
    let reviewer = field.await_phase(&reviewer.id, Phase::Kept);
    assert_eq!(fs::read_to_string(reviewer.worktree.join("notes.txt")).unwrap(), "mine");
    field.assert_consistent();
    let kept = field.coordinator().gc(false).unwrap();
    assert_eq!(kept[0].kept, [format!("{path} stays: it is locked: I look at it")]);
    field.git(&field.repository(), &["worktree", "unlock", path]);
    assert_eq!(field.coordinator().gc(false).unwrap()[0].kept, [] as [&str; 0]);
    assert_eq!(field.instance(&reviewer.id).phase, Phase::Gone);
}

#[test]
fn what_git_ignores_is_told_of_and_a_repository_among_it_stays() {
    let field = Field::new();
    let [plain, cloned] = [(); 2].map(|()| field.start());
    for instance in [&plain, &cloned] {
        fs::write(instance.worktree.join(".gitignore"), "build/\n.env\n").unwrap();
        field.commit(&instance.worktree, "Ignore");
        fs::create_dir(instance.worktree.join("build")).unwrap();
        fs::write(instance.worktree.join("build/out"), "made").unwrap();
        fs::write(instance.worktree.join(".env"), "A=B").unwrap();
    }
    let inner = cloned.worktree.join("build/deep/clone");
    fs::create_dir_all(&inner).unwrap();
    field.git(&inner, &["init", "--quiet"]);
    fs::write(inner.join("patch"), "a mend").unwrap();
    field.commit(&inner, "A mend of a dependency");
    for instance in [&plain, &cloned] {
        field.coordinator().stop(&instance.id).unwrap();
    }
    let disposals = field.coordinator().gc(false).unwrap();
    let worktree = |instance: &Instance| format!("worktree {}", instance.worktree.display());
    assert_eq!(disposals[0].removed, [format!("{}, with ignored files: .env, build/", worktree(&plain))]);
    assert!(
        disposals[1].kept[0].starts_with(&format!(
            "{} stays: it has a separate repository, build/deep/clone, with work that exists nowhere else",
            worktree(&cloned)
        )),
        "{disposals:?}"
    );
    assert_eq!(fs::read_to_string(inner.join("patch")).unwrap(), "a mend");
}

#[test]
fn the_same_refusal_counts_once_however_often_it_is_asked_for() {
    let field = Field::new();
    field.coordinator().archive().set_config("review.max_iterations", "1").unwrap();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    field.send_feedback(&reviewer.id, "Hm").unwrap();
    field.work(&coding, "two");
    let token = field.token(&coding.id);
    let ask = |key| field.coordinator().request_review(&call(&token, Some(key)), &RequestReview::default());
    let seen = field.events().len();
    let first = ask("one").unwrap_err();
    assert_eq!(first.code, Code::ReviewLimitExceeded);
    // The answer was lost, and the forwarder asks again.
    for _ in 0..5 {
        assert_eq!(ask("one").unwrap_err(), first);
    }
    assert_eq!(field.instance(&coding.id).rejected_requests, 1);
    assert_eq!(
        field.event_lines(seen),
        ["work-123-a1 tool_called request_review failed REVIEW_LIMIT_EXCEEDED"]
    );
    // Another call is another request.
    assert_eq!(ask("two").unwrap_err().code, Code::ReviewLimitExceeded);
    assert_eq!(field.instance(&coding.id).rejected_requests, 2);
    field.await_phase(&reviewer.id, Phase::Gone);
    field.assert_consistent();
}

#[test]
fn a_reviewer_that_cannot_be_cleaned_up_keeps_nobody_from_being_told() {
    let field = Field::new();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    // A git process was killed while it held the undo ref.
    let lock = field.repository().join(".git/refs/tamis/undo/review-123-a1-1.lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    field.send_feedback(&reviewer.id, "Hm").unwrap();
    field.database().execute("UPDATE feedback SET told_at = NULL", []).unwrap();
    // Its time to read the answer is over at once with the coordinator.
    let mut field = field;
    field.next_coordinator();
    let findings = field.coordinator().reconcile().unwrap();
    assert!(findings.iter().any(|finding| finding.found.contains(".lock")), "{findings:?}");
    assert!(findings.iter().any(|finding| finding.found.ends_with("was not notified of feedback")));
    assert_eq!(field.instance(&reviewer.id).phase, Phase::Ending);
    fs::remove_file(&lock).unwrap();
    field.coordinator().reconcile().unwrap();
    assert_eq!(field.instance(&reviewer.id).phase, Phase::Gone);
    field.assert_consistent();
}

/// The worktree is gone by then, which showed whose the branch is.
#[test]
fn the_undoing_of_a_review_that_was_interrupted_is_finished() {
    let mut field = Field::new();
    let coding = field.start();
    field.work(&coding, "one");
    dies(Point::ReviewWorktreeAdded, || drop(field.request_review(&coding.id)));
    let reviewer = field.instance(&"review-123-a1-1".parse().unwrap());
    fs::write(reviewer.worktree.join("notes.txt"), "mine").unwrap();
    let commit = field.commit(&reviewer.worktree, "Notes");
    // What keeps git from deleting the branch, as a crash would.
    let lock = field.repository().join(".git/refs/heads/tamis/review-123-a1-1.lock");
    fs::write(&lock, "").unwrap();
    field.next_coordinator();
    field.coordinator().reconcile().unwrap();
    let branches = || field.git(&field.repository(), &["branch", "--list", "tamis/review-*"]);
    assert_eq!((reviewer.worktree.exists(), branches().is_empty()), (false, false));
    fs::remove_file(&lock).unwrap();
    field.coordinator().reconcile().unwrap();
    assert_eq!(branches(), "");
    let holds = ["merge-base", "--is-ancestor", commit.trim(), "refs/tamis/undo/review-123-a1-1"];
    field.git(&field.repository(), &holds);
    assert_eq!(field.request_review(&coding.id).unwrap().review_instance_id, reviewer.id);
    field.assert_consistent();
}

#[test]
fn what_was_begun_in_a_repository_that_is_gone_is_taken_back() {
    let mut field = Field::new();
    let request = field.request("x", &["cat"]);
    dies(Point::StartWorktreeAdded, || drop(field.coordinator().start(&request, soon())));
    fs::rename(field.repository().join(".git"), field.path("elsewhere")).unwrap();
    field.next_coordinator();
    field.coordinator().reconcile().unwrap();
    assert_eq!(field.coordinator().archive().instances().unwrap(), []);
    let begun = "SELECT COUNT(*) FROM operations WHERE state = 'begun'";
    assert_eq!(field.database().query_row(begun, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    assert_eq!(names_in(&field.data().join("agents/worktrees")), ["work-x-a1"], "it is reported, and stays");
}

#[test]
fn the_past_is_forgotten_in_time() {
    let mut field = Field::new();
    let [gone, kept, live] = [(); 3].map(|()| field.start());
    for instance in [&gone, &kept, &live] {
        field.work(instance, "one");
        await_some(|| field.data().join(format!("agents/logs/{}.log", instance.id)).exists().then_some(()));
    }
    field.coordinator().abandon(&gone.id, None).unwrap();
    field.coordinator().stop(&kept.id).unwrap();
    let logs = field.data().join("agents/logs");
    fs::write(logs.join(format!("{}.log.1", gone.id)), "older").unwrap();
    let operations = || {
        let database = field.database();
        let mut statement = database.prepare("SELECT instance_id FROM operations ORDER BY id").unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>()
    };
    let all = [&gone, &kept, &live].map(|instance| instance.id.to_string());
    field.coordinator().reconcile().unwrap();
    assert_eq!(operations(), all, "nothing is old yet");
    assert_eq!(names_in(&logs).len(), 4);

    let day = 24 * 60 * 60 * 1000;
    let age = |days: i64| {
        let database = field.database();
        database.execute("UPDATE operations SET ended_at = ended_at - ?1", [days * day]).unwrap();
        database
            .execute(
                "UPDATE instances SET ended_at = ended_at - ?1, updated_at = updated_at - ?1",
                [days * day],
            )
            .unwrap();
    };
    age(31);
    field.coordinator().reconcile().unwrap();
    assert_eq!(names_in(&logs).len(), 4, "it is looked for once an hour");
    field.next_coordinator();
    field.coordinator().reconcile().unwrap();
    let names = [&kept, &live].map(|instance| format!("{}.log", instance.id));
    assert_eq!(names_in(&field.data().join("agents/logs")), names);
    let count = |field: &Field| {
        field.database().query_row("SELECT COUNT(*) FROM operations", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(count(&field), 3);
    let sixty = 60 * day;
    field.database().execute("UPDATE operations SET ended_at = ended_at - ?1", [sixty]).unwrap();
    field.next_coordinator();
    field.coordinator().reconcile().unwrap();
    assert_eq!(count(&field), 1, "what an agent at work has done is remembered");
    field.assert_consistent();
}

#[test]
fn a_review_that_began_by_a_clock_that_was_ahead_is_late_in_time() {
    let field = Field::new();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    let hour = 60 * 60 * 1000;
    let shift = |hours: i64| {
        let sql = "UPDATE instance_relationships SET created_at = created_at + ?1";
        field.database().execute(sql, [hours * hour]).unwrap();
    };
    shift(24 * 365);
    assert_eq!(field.coordinator().reconcile().unwrap(), []);
    shift(-25);
    field.coordinator().reconcile().unwrap();
    assert_eq!(field.instance(&reviewer.id).reason.as_deref(), Some("the review took more than 24 hours"));
    assert_eq!(field.instance(&coding.id).status, Status::Started);
    field.assert_consistent();
}

#[test]
fn a_reviewers_worktree_goes_with_submodules_unless_somebody_worked_there() {
    let field = Field::new();
    let library = field.path("library");
    fs::create_dir(&library).unwrap();
    field.git(&library, &["init", "--quiet"]);
    fs::write(library.join("l"), "l").unwrap();
    field.commit(&library, "A library");
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.to_str().unwrap()];
    field.git(&field.repository(), &add);
    field.commit(&field.repository(), "With a library");
    let update = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"];
    let coding = field.start();
    for (name, phase) in [("one", Phase::Gone), ("two", Phase::Kept)] {
        let reviewer = field.review(&coding, name);
        field.git(&reviewer.worktree, &update);
        if phase == Phase::Kept {
            fs::write(reviewer.worktree.join("library/l"), "changed").unwrap();
        }
        field.send_feedback(&reviewer.id, name).unwrap();
        await_some(|| (field.instance(&reviewer.id).phase > Phase::Ending).then_some(()));
        assert_eq!(field.instance(&reviewer.id).phase, phase);
    }
    field.assert_consistent();
}
