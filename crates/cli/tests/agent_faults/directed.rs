//! Faults that are not deaths: a locked index, worktrees that vanish, a full disk, a GitHub that misbehaves.

use std::fs;

use serde_json::{Value, json};
use tamis_testkit::{GithubFault, When};

use crate::crew::{Answer, Crew};

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

fn reviewed() -> (Crew, String, String) {
    let mut crew = Crew::new();
    crew.serve(None);
    let id = crew.start();
    crew.commit(&id, "work.txt", "first\n");
    crew.request_review(&id);
    let reviewer = crew.reviewer_of(&id);
    (crew, id, reviewer)
}

#[test]
fn a_locked_index_is_told_of_and_nothing_is_changed() {
    let (mut crew, id, reviewer) = reviewed();
    crew.make_a_mess(&id);
    let index = crew.git(&crew.worktree(&id), &["rev-parse", "--git-path", "index.lock"]);
    let lock = crew.worktree(&id).join(index);
    fs::write(&lock, "").unwrap();
    let before = crew.git(&crew.worktree(&id), &["rev-parse", "HEAD"]);
    let error = refusal(crew.call(&reviewer, "send_feedback", &crate::feedback(), "one"));
    assert_eq!(error["code"], "GIT_LOCKED", "{error}");
    assert_eq!(crew.git(&crew.worktree(&id), &["rev-parse", "HEAD"]), before);
    assert!(lock.exists(), "somebody's lock is not ours to remove");
    assert_eq!(crew.instance(&id)["status"], "WAITING_REVIEW");
    crew.expect_consistency("with a locked index");
    fs::remove_file(&lock).unwrap();
    done(crew.call(&reviewer, "send_feedback", &crate::feedback(), "two"));
    crew.expect_consistency("once the lock is gone");
}

#[test]
fn a_vanished_worktree_ends_its_instance_and_keeps_its_branch() {
    let (mut crew, id, reviewer) = reviewed();
    let commit = crew.git(&crew.worktree(&id), &["rev-parse", "HEAD"]);
    fs::remove_dir_all(crew.worktree(&id)).unwrap();
    let error = refusal(crew.call(&reviewer, "send_feedback", &crate::feedback(), "one"));
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
    crew.end_server();
    crew.serve(None);
    crew.expect_consistency("without the coder's worktree");
    let instance = crew.instance(&id);
    assert_eq!(instance["status"], "TERMINATED", "{instance}");
    assert!(crew.is_ancestor(&commit, &id));
}

#[test]
fn a_vanished_worktree_of_a_reviewer_sets_its_coder_free() {
    let (mut crew, id, reviewer) = reviewed();
    fs::remove_dir_all(crew.worktree(&reviewer)).unwrap();
    crew.end_server();
    crew.serve(None);
    crew.expect_consistency("without the reviewer's worktree");
    assert_eq!(crew.instance(&id)["status"], "STARTED");
    assert_eq!(crew.instance(&reviewer)["status"], "TERMINATED");
}

#[test]
fn agents_get_no_token_of_github() {
    let mut crew = Crew::new();
    crew.serve(None);
    let id = crew.start();
    let pid = crew.tmux(&["list-panes", "-t", &format!("={id}:"), "-F", "#{pane_pid}"]).unwrap();
    let environment =
        || String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/environ")).unwrap()).into_owned();
    // It begins as our own program, which then becomes the agent.
    crate::common::eventually("the agent runs", || environment().contains(&format!("TAMIS_INSTANCE={id}")));
    let environment = environment();
    assert!(!environment.contains("dummy-token"), "{environment}");
    let global = crew.tmux(&["show-environment", "-g"]).unwrap();
    assert!(!global.contains("dummy-token"), "{global}");
    done(
        crew.call(&id, "create_pull_request", &json!({"title": "x", "description": "y"}), "k")
            .or_commit(&mut crew, &id),
    );
    for place in ["state.db", "state.db-wal", "agents"] {
        assert_no_token(&crew.data().join(place));
    }
}

impl Answer {
    /// Without a commit there is nothing to pull; makes one, and asks again.
    fn or_commit(self, crew: &mut Crew, id: &str) -> Answer {
        let error = refusal(self);
        assert_eq!(error["code"], "NO_CHANGES", "{error}");
        crew.commit(id, "work.txt", "first\n");
        crew.call(id, "create_pull_request", &json!({"title": "x", "description": "y"}), "again")
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
    let mut crew = Crew::new();
    crew.serve(None);
    let id = crew.start();
    crew.commit(&id, "work.txt", "first\n");
    for (number, (fault, code)) in faults.into_iter().enumerate() {
        // Every request from now on, so that looking again does not help.
        crew.github().misbehave(fault.clone(), 100);
        let answer = crew.call(&id, "create_pull_request", &crate::pull_request(), &format!("k{number}"));
        let error = refusal(answer);
        assert_eq!(error["code"], code, "{fault:?}: {error}");
        crew.github().behave();
        assert_eq!(crew.instance(&id)["status"], "STARTED", "{fault:?}");
        crew.expect_consistency(&format!("after {fault:?}"));
    }
    // The request arrives, its answer does not: the pull request that is there is found.
    crew.github().misbehave_on("POST", When::After, HalfBody, 1);
    let made = done(crew.call(&id, "create_pull_request", &crate::pull_request(), "last"));
    assert_eq!(made["pr_number"], crew.github().pull_requests()[0].number);
    assert_eq!(crew.github().pull_requests().len(), 1);
    assert_eq!(crew.instance(&id)["status"], "PR_CREATED");
    crew.expect_consistency("after all");
}

#[test]
fn a_github_that_says_nothing_is_not_waited_for_for_ever() {
    let mut crew = Crew::new();
    crew.tool_timeout_ms = Some(3000);
    crew.serve(None);
    let id = crew.start();
    crew.commit(&id, "work.txt", "first\n");
    crew.github().misbehave(GithubFault::Silence, 100);
    let error = refusal(crew.call(&id, "create_pull_request", &crate::pull_request(), "one"));
    assert!(["TIMEOUT", "GITHUB_UNAVAILABLE"].contains(&error["code"].as_str().unwrap()), "{error}");
    crew.github().behave();
    crew.github().release();
    assert_eq!(crew.instance(&id)["status"], "STARTED");
    crew.expect_consistency("after the silence");
    done(crew.call(&id, "create_pull_request", &crate::pull_request(), "two"));
}
