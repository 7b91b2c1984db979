//! Faults that are not deaths: a locked index, worktrees that vanish, a full disk, a GitHub that misbehaves.

use std::fs;

use serde_json::{Value, json};
use tamis_testkit::{GithubFault, When};

use crate::fixture::{Answer, FaultFixture};

fn refusal(answer: Answer) -> Value {
    match answer {
        Answer::Refused(error) => error,
        other => panic!("{other:?}"),
    }
}

fn done(answer: Answer) -> Value {
    match answer {
        Answer::Done(value) => value,
        other => panic!("{other:?}"),
    }
}

fn reviewed() -> (FaultFixture, String, String) {
    let mut fixture = FaultFixture::new();
    fixture.serve(None);
    let id = fixture.start();
    fixture.commit(&id, "work.txt", "first\n");
    fixture.request_review(&id);
    let reviewer = fixture.reviewer_of(&id);
    (fixture, id, reviewer)
}

#[test]
fn a_locked_index_is_told_of_and_nothing_is_changed() {
    let (mut fixture, id, reviewer) = reviewed();
    fixture.make_a_mess(&id);
    let index = fixture.git(&fixture.worktree(&id), &["rev-parse", "--git-path", "index.lock"]);
    let lock = fixture.worktree(&id).join(index);
    fs::write(&lock, "").unwrap();
    let before = fixture.git(&fixture.worktree(&id), &["rev-parse", "HEAD"]);
    let error = refusal(fixture.call(&reviewer, "send_feedback", &crate::feedback(), "one"));
    assert_eq!(error["code"], "GIT_LOCKED", "{error}");
    assert_eq!(fixture.git(&fixture.worktree(&id), &["rev-parse", "HEAD"]), before);
    assert!(lock.exists(), "the lock of another process is not removed");
    assert_eq!(fixture.instance(&id)["status"], "WAITING_REVIEW");
    fixture.expect_consistency("with a locked index");
    fs::remove_file(&lock).unwrap();
    done(fixture.call(&reviewer, "send_feedback", &crate::feedback(), "two"));
    fixture.expect_consistency("once the lock is gone");
}

#[test]
fn a_vanished_worktree_ends_its_instance_and_keeps_its_branch() {
    let (mut fixture, id, reviewer) = reviewed();
    let commit = fixture.git(&fixture.worktree(&id), &["rev-parse", "HEAD"]);
    fs::remove_dir_all(fixture.worktree(&id)).unwrap();
    let error = refusal(fixture.call(&reviewer, "send_feedback", &crate::feedback(), "one"));
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
    fixture.end_server();
    fixture.serve(None);
    fixture.expect_consistency("without the coder's worktree");
    let instance = fixture.instance(&id);
    assert_eq!(instance["status"], "TERMINATED", "{instance}");
    assert!(fixture.is_ancestor(&commit, &id));
}

#[test]
fn a_vanished_worktree_of_a_reviewer_sets_its_coder_free() {
    let (mut fixture, id, reviewer) = reviewed();
    fs::remove_dir_all(fixture.worktree(&reviewer)).unwrap();
    fixture.end_server();
    fixture.serve(None);
    fixture.expect_consistency("without the reviewer's worktree");
    assert_eq!(fixture.instance(&id)["status"], "STARTED");
    assert_eq!(fixture.instance(&reviewer)["status"], "TERMINATED");
}

#[test]
fn agents_get_no_token_of_github() {
    let mut fixture = FaultFixture::new();
    fixture.serve(None);
    let id = fixture.start();
    let pid = fixture.tmux(&["list-panes", "-t", &format!("={id}:"), "-F", "#{pane_pid}"]).unwrap();
    let environment =
        || String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/environ")).unwrap()).into_owned();
    // It begins as our own program, which then becomes the agent.
    crate::common::eventually("the agent runs", || environment().contains(&format!("TAMIS_INSTANCE={id}")));
    let environment = environment();
    assert!(!environment.contains("dummy-token"), "{environment}");
    let global = fixture.tmux(&["show-environment", "-g"]).unwrap();
    assert!(!global.contains("dummy-token"), "{global}");
    done(
        fixture
            .call(&id, "create_pull_request", &json!({"title": "x", "description": "y"}), "k")
            .or_commit(&mut fixture, &id),
    );
    for place in ["state.db", "state.db-wal", "agents"] {
        assert_no_token(&fixture.data().join(place));
    }
}

impl Answer {
    /// Without a commit there is nothing to pull; makes one, and asks again.
    fn or_commit(self, fixture: &mut FaultFixture, id: &str) -> Answer {
        let error = refusal(self);
        assert_eq!(error["code"], "NO_CHANGES", "{error}");
        fixture.commit(id, "work.txt", "first\n");
        fixture.call(id, "create_pull_request", &json!({"title": "x", "description": "y"}), "again")
    }
}

fn assert_no_token(path: &std::path::Path) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            assert_no_token(&entry.unwrap().path());
        }
    } else if let Ok(bytes) = fs::read(path) {
        let found = bytes.windows(11).any(|window| window == b"dummy-token");
        assert!(!found, "{} has the token", path.display());
    }
}

#[test]
fn a_github_that_misbehaves_changes_nothing_and_asking_again_makes_one_pull_request() {
    use GithubFault::{HalfBody, HangUp, NotJson, Status};
    let faults = [
        (Status(401), "GITHUB_UNAUTHORIZED"),
        (Status(403), "GITHUB_FORBIDDEN"),
        (Status(422), "GITHUB_REJECTED"),
        (Status(500), "GITHUB_UNAVAILABLE"),
        (HalfBody, "GITHUB_UNAVAILABLE"),
        (NotJson, "GITHUB_UNAVAILABLE"),
        (HangUp, "GITHUB_UNAVAILABLE"),
    ];
    let mut fixture = FaultFixture::new();
    fixture.serve(None);
    let id = fixture.start();
    fixture.commit(&id, "work.txt", "first\n");
    for (number, (fault, code)) in faults.into_iter().enumerate() {
        // Every request from now on, so that looking again does not help.
        fixture.github().misbehave(fault.clone(), 100);
        let answer = fixture.call(&id, "create_pull_request", &crate::pull_request(), &format!("k{number}"));
        let error = refusal(answer);
        assert_eq!(error["code"], code, "{fault:?}: {error}");
        fixture.github().behave();
        assert_eq!(fixture.instance(&id)["status"], "STARTED", "{fault:?}");
        fixture.expect_consistency(&format!("after {fault:?}"));
    }
    // The request arrives, its answer does not: the pull request that is there is found.
    fixture.github().misbehave_on("POST", When::After, HalfBody, 1);
    let made = done(fixture.call(&id, "create_pull_request", &crate::pull_request(), "last"));
    assert_eq!(made["pr_number"], fixture.github().pull_requests()[0].number);
    assert_eq!(fixture.github().pull_requests().len(), 1);
    assert_eq!(fixture.instance(&id)["status"], "PR_CREATED");
    fixture.expect_consistency("after all");
}

#[test]
fn a_github_that_says_nothing_is_not_waited_for_for_ever() {
    let mut fixture = FaultFixture::new();
    fixture.tool_timeout_ms = Some(3000);
    fixture.serve(None);
    let id = fixture.start();
    fixture.commit(&id, "work.txt", "first\n");
    fixture.github().misbehave(GithubFault::Silence, 100);
    let error = refusal(fixture.call(&id, "create_pull_request", &crate::pull_request(), "one"));
    assert!(["TIMEOUT", "GITHUB_UNAVAILABLE"].contains(&error["code"].as_str().unwrap()), "{error}");
    fixture.github().behave();
    fixture.github().release();
    assert_eq!(fixture.instance(&id)["status"], "STARTED");
    fixture.expect_consistency("after the silence");
    done(fixture.call(&id, "create_pull_request", &crate::pull_request(), "two"));
}
