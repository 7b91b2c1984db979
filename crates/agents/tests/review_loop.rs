//! The review loop, from start to limit, with real git and real tmux: rows, trees and events at each step.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod support;

use std::fs;

use serde_json::json;
use support::{Field, await_some, call, names_in, soon};
use tamis_agents::{
    AgentType, Code, CreatePullRequest, FeedbackType, InstanceId, Phase, RequestReview, ReviewOutcome,
    ReviewRequested, SendFeedback, StartRequest, Status,
};
use tamis_testkit::{FakeGithub, FakeRepository, GithubFault};

#[test]
#[ignore = "what runs in the sessions of the tests here"]
fn as_a_session() {
    support::be_a_session();
}

fn id(text: &str) -> InstanceId {
    text.parse().unwrap()
}

#[test]
fn from_start_to_the_limit() {
    let field = Field::new();
    let main = field.git(&field.repository(), &["rev-parse", "main"]);

    // Started: a row, a worktree on a branch, a session, an identity, and one event.
    let coding = field.start();
    assert_eq!(
        (coding.id.as_str(), coding.status, coding.phase),
        ("work-123-a1", Status::Started, Phase::Ready)
    );
    assert_eq!((coding.base_branch.as_deref(), coding.base_commit.as_str()), (Some("main"), main.as_str()));
    assert_eq!(coding.worktree, field.data().join("agents/worktrees/work-123-a1"));
    assert_eq!(field.git(&coding.worktree, &["symbolic-ref", "HEAD"]), "refs/heads/tamis/work-123-a1");
    assert_eq!(field.git(&coding.worktree, &["status", "--porcelain"]), "");
    assert_eq!(field.event_lines(0), ["work-123-a1 instance_created start"]);
    field.assert_consistent();

    // Review 1.
    let commit = field.work(&coding, "one");
    let seen = field.events().len();
    let answer = field.request_review(&coding.id).unwrap();
    let reviewer = field.instance(&id("review-123-a1-1"));
    assert_eq!(
        answer,
        ReviewRequested {
            review_instance_id: reviewer.id.clone(),
            session_name: "review-123-a1-1".to_owned(),
            worktree_path: reviewer.worktree.clone(),
            branch_name: "tamis/work-123-a1".to_owned(),
        }
    );
    assert_eq!((reviewer.agent_type, reviewer.status), (AgentType::Review, Status::Started));
    assert_eq!(reviewer.choice, coding.choice);
    assert_eq!(field.git(&reviewer.worktree, &["rev-parse", "HEAD"]), commit);
    assert_eq!(field.instance(&coding.id).status, Status::WaitingReview);
    assert_eq!(
        field.event_lines(seen),
        [
            "review-123-a1-1 instance_created request_review",
            "work-123-a1 status_changed request_review STARTED>WAITING_REVIEW",
            "work-123-a1 tool_called request_review ok",
        ]
    );
    assert_eq!(field.events().last().unwrap().git_commit, Some(commit.clone()));
    field.assert_consistent();

    // Its feedback.
    let seen = field.events().len();
    let input = SendFeedback {
        feedback: "It says one.\nIt should say two.".to_owned(),
        feedback_type: FeedbackType::NeedsWork,
        priority: Some("high".to_owned()),
        actionable_items: vec!["Say two".to_owned()],
    };
    let token = field.token(&reviewer.id);
    let sent = field.coordinator().send_feedback(&call(&token, Some("k1")), &input).unwrap();
    assert_eq!(
        (sent.target_instance_id.clone(), sent.cleanup_status.as_str()),
        (coding.id.clone(), "scheduled")
    );
    assert_eq!(field.git(&coding.worktree, &["rev-parse", "HEAD"]), sent.git_commit_hash);
    assert_eq!(field.git(&coding.worktree, &["rev-parse", "HEAD^"]), commit);
    assert_eq!(field.git(&coding.worktree, &["status", "--porcelain"]), "");
    assert_eq!(
        fs::read_to_string(coding.worktree.join("REVIEW_FEEDBACK.md")).unwrap(),
        "# Review 1 of work-123-a1\n\n- Reviewer: review-123-a1-1\n- Type: needs_work\n- Priority: high\n\n\
         ## Feedback\n\nIt says one.\nIt should say two.\n\n## To do\n\n- [ ] Say two\n"
    );
    assert_eq!(
        field.event_lines(seen),
        [
            "review-123-a1-1 status_changed send_feedback STARTED>TERMINATED",
            "work-123-a1 status_changed send_feedback WAITING_REVIEW>STARTED",
            "review-123-a1-1 tool_called send_feedback ok",
        ]
    );
    assert_eq!(field.events().last().unwrap().git_commit, Some(sent.git_commit_hash.clone()));
    // A retry, since the answer was lost: the same answer, and nothing happens.
    let seen = field.events().len();
    assert_eq!(field.coordinator().send_feedback(&call(&token, Some("k1")), &input).unwrap(), sent);
    assert_eq!(field.event_lines(seen), Vec::<String>::new());

    let details = field.coordinator().archive().details(&coding.id).unwrap();
    let [given] = &details.feedback[..] else { panic!("{:?}", details.feedback) };
    assert_eq!((given.id.as_str(), given.path.as_str()), (sent.feedback_id.as_str(), "REVIEW_FEEDBACK.md"));
    assert!(given.delivered_at.is_some() && given.told_at.is_some());
    assert_eq!(details.reviews[0].outcome, Some(ReviewOutcome::Feedback));
    // The agent, which is `cat`, shows the message it received.
    let screen = await_some(|| {
        let screen = field.tmux().capture(&coding.id, 100).unwrap();
        screen.contains("REVIEW_FEEDBACK.md").then_some(screen)
    });
    assert!(!screen.contains("It should say two"), "{screen}");

    // The reviewer goes, with its worktree and branch; what it wrote stays on the coding branch.
    let reviewer = field.await_phase(&reviewer.id, Phase::Gone);
    assert!(!reviewer.worktree.exists());
    assert_eq!(field.git(&field.repository(), &["branch", "--list", "tamis/review*"]), "");
    field.assert_consistent();

    // Unchanged work is not reviewed again; then reviews 2 and 3.
    assert_eq!(field.request_review(&coding.id).unwrap_err().code, Code::ReviewUnchanged);
    for iteration in 2..=3 {
        let reviewer = field.review(&coding, &format!("try {iteration}"));
        assert_eq!(reviewer.id.as_str(), format!("review-123-a1-{iteration}"));
        field.send_feedback(&reviewer.id, &format!("Not yet, {iteration}")).unwrap();
        assert_eq!(names_in(&coding.worktree), [".git", "README.md", "REVIEW_FEEDBACK.md", "work.txt"]);
        let notes = fs::read_to_string(coding.worktree.join("REVIEW_FEEDBACK.md")).unwrap();
        assert!(notes.contains(&format!("Not yet, {iteration}")), "{notes}");
    }

    // At the limit: the contract's very object.
    field.work(&coding, "once more");
    let seen = field.events().len();
    let refused = field.request_review(&coding.id).unwrap_err();
    assert_eq!(
        json!(refused.to_object("request_review")),
        json!({
            "code": "REVIEW_LIMIT_EXCEEDED",
            "error": "REVIEW_LIMIT_EXCEEDED",
            "message": "Maximum review iterations (3) reached for agent work-123-a1",
            "suggestions": [
                "Create pull request with current work",
                "Abandon this approach and try different solution",
                "Manually review and fix issues before requesting review"
            ],
            "current_iteration": 3,
            "max_iterations": 3,
            "warning": "the next request for review that is refused abandons work-123-a1, and then it can create no pull request",
            "instance_id": "work-123-a1",
            "tool_name": "request_review",
        })
    );
    assert_eq!(
        field.event_lines(seen),
        ["work-123-a1 tool_called request_review failed REVIEW_LIMIT_EXCEEDED"]
    );
    let coding = field.instance(&coding.id);
    assert_eq!((coding.status, coding.rejected_requests), (Status::Started, 1));

    // Three failed reviews and two refusals are five: it is given up. Its commits stay on its branch.
    let tip = field.git(&coding.worktree, &["rev-parse", "HEAD"]);
    let token = field.token(&coding.id);
    let abandoned = field.request_review(&coding.id).unwrap_err();
    assert_eq!(
        json!(abandoned.to_object("request_review")),
        json!({
            "code": "REVIEW_LIMIT_EXCEEDED",
            "error": "REVIEW_LIMIT_EXCEEDED",
            "message": "Maximum review iterations (3) reached for agent work-123-a1, which is ABANDONED now: \
                5 reviews failed or were refused at the limit",
            "suggestions": [
                "end your turn: this session ends in a moment",
                "the commits stay on tamis/work-123-a1, for a person to go on from",
            ],
            "current_iteration": 3,
            "max_iterations": 3,
            "status": "ABANDONED",
            "instance_id": "work-123-a1",
            "tool_name": "request_review",
        })
    );
    // What it was not advised to do would be refused.
    let input = CreatePullRequest { title: "t".into(), description: "d".into(), base_branch: None };
    let refused = field.coordinator().create_pull_request(&call(&token, None), &input).unwrap_err();
    assert_eq!(refused.code, Code::InvalidState);
    let coding = field.instance(&coding.id);
    assert_eq!(coding.status, Status::Abandoned);
    assert_eq!(coding.reason.as_deref(), Some("5 reviews failed or were refused at the limit"));
    field.await_phase(&coding.id, Phase::Gone);
    assert_eq!(field.git(&field.repository(), &["rev-parse", "tamis/work-123-a1"]), tip);
    field.assert_consistent();
    assert_eq!(field.coordinator().reconcile().unwrap(), []);
}

#[test]
fn ten_at_once_below_the_limit() {
    let field = Field::new();
    field.coordinator().archive().set_config("review.max_iterations", "1").unwrap();
    let coding = field.start();
    field.work(&coding, "one");
    let answers: Vec<_> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..10).map(|_| scope.spawn(|| field.request_review(&coding.id))).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (passed, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!((passed.len(), refused.len()), (1, 9));
    for refused in refused {
        assert_eq!(refused.unwrap_err().code, Code::InvalidState);
    }
    let coding = field.instance(&coding.id);
    assert_eq!((coding.status, coding.rejected_requests), (Status::WaitingReview, 0));
    assert_eq!(field.coordinator().archive().instances().unwrap().len(), 2);
    field.assert_consistent();
}

#[test]
fn the_same_call_at_once_is_done_once() {
    let field = Field::new();
    let coding = field.start();
    field.work(&coding, "one");
    let token = field.token(&coding.id);
    let ask = || field.coordinator().request_review(&call(&token, Some("same")), &RequestReview::default());
    let answers: Vec<_> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..5).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(field.coordinator().archive().instances().unwrap().len(), 2);
}

#[test]
fn what_is_refused_and_why() {
    let field = Field::new();
    let coding = field.start();
    let token = field.token(&coding.id);
    let code = |result: Result<ReviewRequested, tamis_agents::AgentsError>| result.unwrap_err().code;

    let unknown_caller = call("tai_nobody", None);
    // Repeated calls are recorded once in a while.
    for _ in 0..3 {
        let unknown = field.coordinator().request_review(&unknown_caller, &RequestReview::default());
        assert_eq!(code(unknown), Code::IdentityRequired);
    }
    assert_eq!(code(field.request_review(&coding.id)), Code::NoChanges);
    // Changed and not committed; an untracked file does not matter.
    fs::write(coding.worktree.join("README.md"), "changed").unwrap();
    fs::write(coding.worktree.join("untracked"), "").unwrap();
    let dirty = field.request_review(&coding.id).unwrap_err();
    assert_eq!(dirty.code, Code::UncommittedChanges);
    assert!(dirty.message.contains("README.md") && dirty.suggestions[0].contains("commit"), "{dirty:?}");
    field.git(&coding.worktree, &["restore", "README.md"]);
    // In the middle of a merge.
    field.work(&coding, "one");
    fs::write(field.repository().join("work.txt"), "other").unwrap();
    field.commit(&field.repository(), "Other");
    let merging = std::process::Command::new("git")
        .args(["merge", "-q", "main"])
        .current_dir(&coding.worktree)
        .output();
    assert!(!merging.unwrap().status.success());
    assert_eq!(code(field.request_review(&coding.id)), Code::WorktreeBusy);
    field.git(&coding.worktree, &["merge", "--abort"]);
    // Too late: it is undone.
    let late =
        tamis_agents::AgentCall { token: &token, idempotency_key: None, deadline: std::time::Instant::now() };
    let late = field.coordinator().request_review(&late, &RequestReview::default());
    assert_eq!(code(late), Code::Timeout);
    // A text that is too long.
    let long = RequestReview { reviewer_prompt: Some("x".repeat(100_001)), completion_message: None };
    assert_eq!(code(field.coordinator().request_review(&call(&token, None), &long)), Code::ValidationError);
    // Each is recorded, and has no other effect.
    let recorded: Vec<String> =
        field.event_lines(1).into_iter().map(|event| event.replace("work-123-a1", "it")).collect();
    assert_eq!(
        recorded,
        [
            "- tool_called request_review failed IDENTITY_REQUIRED",
            "it tool_called request_review failed NO_CHANGES",
            "it tool_called request_review failed UNCOMMITTED_CHANGES",
            "it tool_called request_review failed WORKTREE_BUSY",
            "it tool_called request_review failed TIMEOUT",
            "it tool_called request_review failed VALIDATION_ERROR",
        ]
    );
    field.assert_consistent();

    // Feedback: not by a coding agent, not empty, not too long, not twice.
    let reviewer = field.instance(&field.request_review(&coding.id).unwrap().review_instance_id);
    let say = |id: &InstanceId, text: &str| field.send_feedback(id, text).map_err(|error| error.code);
    assert_eq!(say(&coding.id, "x"), Err(Code::PermissionDenied));
    assert_eq!(field.request_review(&reviewer.id).unwrap_err().code, Code::PermissionDenied);
    assert_eq!(say(&reviewer.id, " \n"), Err(Code::ValidationError));
    assert_eq!(say(&reviewer.id, &"é".repeat(100_001)), Err(Code::ValidationError));
    assert_eq!(field.request_review(&coding.id).unwrap_err().code, Code::InvalidState);
    let longest = format!("{} ", "é".repeat(99_999));
    say(&reviewer.id, &longest).unwrap();
    assert_eq!(say(&reviewer.id, "More"), Err(Code::InvalidState));
}

/// Feedback is a duplicate where all of it was said before of the same work.
#[test]
fn only_the_same_feedback_on_the_same_work_is_a_duplicate() {
    let field = Field::new();
    field.coordinator().archive().set_config("review.max_iterations", "20").unwrap();
    field.coordinator().archive().set_config("review.auto_abandon_after", "20").unwrap();
    let coding = field.start();
    let said = SendFeedback {
        feedback: "See the items.".to_owned(),
        feedback_type: FeedbackType::Clarification,
        priority: None,
        actionable_items: vec!["A".to_owned()],
    };
    let say = |reviewer: &InstanceId, input: &SendFeedback| {
        let token = field.token(reviewer);
        field.coordinator().send_feedback(&call(&token, None), input)
    };
    // The same work is reviewed again, since a question was asked.
    let review_again = || {
        let token = field.token(&coding.id);
        let answered = RequestReview { completion_message: Some("42".to_owned()), reviewer_prompt: None };
        let review = field.coordinator().request_review(&call(&token, None), &answered).unwrap();
        field.instance(&review.review_instance_id)
    };
    let first = field.review(&coding, "one");
    say(&first.id, &said).unwrap();
    let second = review_again();
    for same in [said.clone(), SendFeedback { feedback: " See\nthe items. ".to_owned(), ..said.clone() }] {
        let refused = say(&second.id, &same).unwrap_err();
        assert_eq!(refused.code, Code::DuplicateFeedback, "{same:?}");
        assert!(refused.message.contains("review 1") && !refused.suggestions.is_empty(), "{refused:?}");
    }
    let other = [
        SendFeedback { actionable_items: vec!["B".to_owned()], ..said.clone() },
        SendFeedback { actionable_items: Vec::new(), ..said.clone() },
        SendFeedback { priority: Some("high".to_owned()), ..said.clone() },
        SendFeedback { feedback: "See the item.".to_owned(), ..said.clone() },
        SendFeedback { feedback_type: FeedbackType::NeedsWork, ..said.clone() },
    ];
    say(&second.id, &other[0]).unwrap();
    for input in &other[1..] {
        say(&review_again().id, input).unwrap_or_else(|error| panic!("{input:?}: {error}"));
    }
    // Of new commits, the same words are said anew.
    say(&field.review(&coding, "two").id, &said).unwrap();
}

/// The answer to a question may be words; other feedback asks for other work.
#[test]
fn unchanged_work_is_reviewed_again_only_to_answer_a_question() {
    for (feedback_type, answer, prompt, passes) in [
        (FeedbackType::Clarification, Some("42"), None, true),
        (FeedbackType::Clarification, Some(" "), None, false),
        (FeedbackType::Clarification, None, None, false),
        (FeedbackType::Clarification, None, Some("Look at it."), false),
        (FeedbackType::NeedsWork, Some("42"), None, false),
        (FeedbackType::Suggestions, Some("42"), None, false),
    ] {
        let field = Field::new();
        let coding = field.start();
        let reviewer = field.review(&coding, "one");
        let input = SendFeedback { feedback_type, ..support::feedback("Why?") };
        let token = field.token(&reviewer.id);
        field.coordinator().send_feedback(&call(&token, None), &input).unwrap();
        let token = field.token(&coding.id);
        let ask = RequestReview {
            completion_message: answer.map(str::to_owned),
            reviewer_prompt: prompt.map(str::to_owned),
        };
        let asked = field.coordinator().request_review(&call(&token, None), &ask);
        let why = format!("{feedback_type} {answer:?}: {asked:?}");
        match asked {
            Ok(review) => {
                assert!(passes, "{why}");
                assert!(field.prompt(&review.review_instance_id).contains("42"), "{why}");
            }
            Err(error) => {
                assert!(!passes && error.code == Code::ReviewUnchanged, "{why}");
                let says_how = error.suggestions.iter().any(|it| it.contains("completion_message"));
                assert_eq!(says_how, feedback_type == FeedbackType::Clarification, "{why}");
            }
        }
    }
}

#[test]
fn feedback_comes_to_a_dirty_tree_and_loses_nothing() {
    let field = Field::new();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    // Meanwhile the coding agent goes on: another commit, changed, staged and untracked files, and a file of that name.
    field.work(&coding, "two");
    let write = |name: &str, text: &str| fs::write(coding.worktree.join(name), text).unwrap();
    write("README.md", "changed");
    write("staged", "staged");
    field.git(&coding.worktree, &["add", "staged"]);
    write("untracked", "untracked");
    write("REVIEW_FEEDBACK.md", "mine");
    let before = field.git(&coding.worktree, &["status", "--porcelain"]);
    let sent = field.send_feedback(&reviewer.id, "Hm").unwrap();
    assert_eq!(field.git(&coding.worktree, &["status", "--porcelain"]), before);
    let read = |name: &str| fs::read_to_string(coding.worktree.join(name)).unwrap();
    assert_eq!(
        [read("README.md"), read("staged"), read("untracked"), read("REVIEW_FEEDBACK.md")],
        ["changed", "staged", "untracked", "mine"]
    );
    assert!(read("REVIEW_FEEDBACK-2.md").contains("Hm"));
    assert_eq!(field.git(&coding.worktree, &["show", "-s", "--format=%P", "HEAD"]).split(' ').count(), 2);
    let given = field.coordinator().archive().feedback(None).unwrap();
    assert_eq!(
        (given[0].path.as_str(), &given[0].git_commit_hash),
        ("REVIEW_FEEDBACK-2.md", &Some(sent.git_commit_hash))
    );

    // In the middle of a rebase it waits, and may be said again.
    field.git(&coding.worktree, &["rm", "-q", "--cached", "staged"]);
    field.git(&coding.worktree, &["checkout", "-q", "README.md"]);
    let second = field.review(&coding, "three");
    let [merge_head, head] =
        ["MERGE_HEAD", "HEAD"].map(|name| field.git(&coding.worktree, &["rev-parse", "--git-path", name]));
    fs::copy(coding.worktree.join(head), coding.worktree.join(&merge_head)).unwrap();
    let busy = field.send_feedback(&second.id, "Said in vain").unwrap_err();
    assert_eq!(busy.code, Code::WorktreeBusy);
    fs::remove_file(coding.worktree.join(merge_head)).unwrap();
    assert_eq!(field.instance(&second.id).status, Status::Started);
    field.send_feedback(&second.id, "Said in vain").unwrap();
    field.await_phase(&second.id, Phase::Gone);
    field.await_phase(&reviewer.id, Phase::Gone);
    field.assert_consistent();
}

#[test]
fn what_a_reviewer_leaves_is_held_by_its_undo_ref() {
    let field = Field::new();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    fs::write(reviewer.worktree.join("tried.txt"), "tried").unwrap();
    let own = field.commit(&reviewer.worktree, "Tried something");
    fs::write(reviewer.worktree.join("notes.txt"), "not committed").unwrap();
    field.send_feedback(&reviewer.id, "I tried it").unwrap();
    field.await_phase(&reviewer.id, Phase::Gone);
    let undo = "refs/tamis/undo/review-123-a1-1";
    assert_eq!(field.git(&field.repository(), &["show", &format!("{undo}:notes.txt")]), "not committed");
    field.git(&field.repository(), &["merge-base", "--is-ancestor", &own, undo]);
    field.assert_consistent();
}

#[test]
fn names_do_not_meet_and_nothing_is_started_that_is_not_there() {
    let field = Field::new();
    field.git(&field.repository(), &["branch", "tamis/work-123-a1"]);
    fs::create_dir(field.data().join("agents/worktrees/work-123-a2")).unwrap();
    assert_eq!(field.start().id.as_str(), "work-123-a3");
    assert_eq!(field.start().id.as_str(), "work-123-a4");
    let planner =
        StartRequest { agent_type: AgentType::Planning, ..field.request("Log in: $(id)", &["cat"]) };
    assert_eq!(field.coordinator().start(&planner, soon()).unwrap().id.as_str(), "plan-log-in-id-a1");

    let seen = field.events().len();
    let refused = |request: StartRequest| field.coordinator().start(&request, soon()).unwrap_err().code;
    assert_eq!(refused(field.request("x", &["no-such-program-anywhere"])), Code::AgentNotFound);
    assert_eq!(refused(field.request("x", &[])), Code::ValidationError);
    assert_eq!(refused(field.request(" ", &["cat"])), Code::ValidationError);
    let elsewhere = StartRequest { folder: field.data(), ..field.request("x", &["cat"]) };
    assert_eq!(refused(elsewhere), Code::GitError);
    let no_base = StartRequest { base: Some("--no-such".to_owned()), ..field.request("x", &["cat"]) };
    assert_eq!(refused(no_base), Code::ValidationError);
    let review = StartRequest { agent_type: AgentType::Review, ..field.request("x", &["cat"]) };
    assert_eq!(refused(review), Code::ValidationError);
    assert_eq!(field.coordinator().archive().instances().unwrap().len(), 3);
    assert_eq!(field.event_lines(seen).len(), 6, "each is recorded");
    // From another branch.
    field.git(&field.repository(), &["branch", "other", "main"]);
    let based = StartRequest { base: Some("other".to_owned()), ..field.request("x", &["cat"]) };
    assert_eq!(field.coordinator().start(&based, soon()).unwrap().base_branch.as_deref(), Some("other"));
}

#[test]
fn a_step_that_fails_is_undone_and_may_be_tried_again() {
    let field = Field::new();
    let coding = field.start();
    field.work(&coding, "one");
    // The launch file cannot be written: after the worktree and the identity were made.
    let launch = field.data().join("agents/launch");
    // The session of the coding agent may not have taken its file yet.
    await_some(|| fs::remove_dir(&launch).ok());
    fs::write(&launch, "").unwrap();
    let seen = field.events().len();
    let token = field.token(&coding.id);
    let ask = || field.coordinator().request_review(&call(&token, Some("key")), &RequestReview::default());
    assert_eq!(ask().unwrap_err().code, Code::FileError);
    assert_eq!(field.event_lines(seen), ["work-123-a1 tool_called request_review failed FILE_ERROR"]);
    let start = field.coordinator().start(&field.request("other", &["cat"]), soon());
    assert_eq!(start.unwrap_err().code, Code::FileError);
    fs::remove_file(&launch).unwrap();
    fs::create_dir(&launch).unwrap();
    field.assert_consistent();
    assert_eq!(
        field.git(&field.repository(), &["for-each-ref", "refs/tamis", "refs/heads/tamis/work-other-a1"]),
        ""
    );
    // The same key runs afresh.
    assert_eq!(ask().unwrap().review_instance_id.as_str(), "review-123-a1-1");
    // Feedback that git cannot write: another process holds the index.
    let lock = coding.worktree.join(field.git(&coding.worktree, &["rev-parse", "--git-path", "index.lock"]));
    fs::write(&lock, "").unwrap();
    let reviewer = id("review-123-a1-1");
    assert_eq!(field.send_feedback(&reviewer, "Hm").unwrap_err().code, Code::GitLocked);
    fs::remove_file(lock).unwrap();
    field.assert_consistent();
    field.send_feedback(&reviewer, "Hm").unwrap();
}

#[test]
fn nothing_of_what_is_said_is_executed_or_leaves_its_place() {
    let field = Field::new();
    let hostile = "--upload-pack=touch x $(touch x) `touch x` ; touch x\n\u{1b}]0;t\u{7}\u{1b}[201~\r../../x #{x} %H C-c Enter 'q' \"q\"";
    let request = field.request(hostile, &["cat", "$(touch x)", ";", "#{pane_id}", "../x"]);
    // `cat` finds no such files, and ends; what it was given is what it was started with.
    let coding = field.coordinator().start(&request, soon()).unwrap();
    assert_eq!(coding.id.as_str(), "work-upload-pack-touch-x-touc-a1");
    assert_eq!((coding.task.as_str(), &coding.choice.args), (hostile, &request.choice.unwrap().args));
    let coding = field.start();
    field.work(&coding, "one");
    let token = field.token(&coding.id);
    let said = RequestReview {
        reviewer_prompt: Some(hostile.to_owned()),
        completion_message: Some(hostile.to_owned()),
    };
    let review = field.coordinator().request_review(&call(&token, Some(hostile)), &said).unwrap();
    let prompts = field.data().join("agents/prompts");
    let prompt = fs::read_to_string(prompts.join(format!("{}.md", review.review_instance_id))).unwrap();
    assert!(prompt.contains("$(touch x)"), "{prompt}");
    let input = SendFeedback {
        feedback: hostile.to_owned(),
        feedback_type: FeedbackType::Clarification,
        priority: Some(hostile.to_owned()),
        actionable_items: vec![hostile.to_owned()],
    };
    let token = field.token(&review.review_instance_id);
    field.coordinator().send_feedback(&call(&token, None), &input).unwrap();
    let notes = fs::read_to_string(coding.worktree.join("REVIEW_FEEDBACK.md")).unwrap();
    assert!(notes.contains("$(touch x)") && !notes.contains('\u{1b}'), "{notes:?}");
    assert_eq!(
        field.coordinator().archive().feedback(None).unwrap()[0].feedback,
        hostile,
        "kept as it was said"
    );
    field.await_phase(&review.review_instance_id, Phase::Gone);
    field.coordinator().reconcile().unwrap();
    field.assert_consistent();
    let mut folders = vec![field.path("")];
    while let Some(folder) = folders.pop() {
        for name in names_in(&folder) {
            assert_ne!(name, "x", "in {}", folder.display());
            let path = folder.join(name);
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            }
        }
    }
}

/// By the contract it replaces the default prompt.
#[test]
fn a_reviewer_is_started_with_the_prompt_that_was_written_for_it() {
    let field = Field::new();
    let coding = field.start();
    field.work(&coding, "one");
    let request = RequestReview {
        reviewer_prompt: Some("Mind the tests.".to_owned()),
        completion_message: Some("Done.".to_owned()),
    };
    let token = field.token(&coding.id);
    let review = field.coordinator().request_review(&call(&token, None), &request).unwrap();
    assert_eq!(field.prompt(&review.review_instance_id), "Mind the tests.");
}

#[test]
fn who_has_had_its_chances_is_given_up_when_the_last_review_fails() {
    let field = Field::new();
    field.coordinator().archive().set_config("review.auto_abandon_after", "1").unwrap();
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    let seen = field.events().len();
    let sent = field.send_feedback(&reviewer.id, "No").unwrap();
    assert_eq!(
        field.event_lines(seen),
        [
            "review-123-a1-1 status_changed send_feedback STARTED>TERMINATED",
            "work-123-a1 status_changed WAITING_REVIEW>ABANDONED",
            "review-123-a1-1 tool_called send_feedback ok",
        ]
    );
    // What was said is on its branch, which stays.
    let coding = field.await_phase(&coding.id, Phase::Gone);
    assert_eq!(field.git(&field.repository(), &["rev-parse", &coding.branch]), sent.git_commit_hash);
    field.await_phase(&reviewer.id, Phase::Gone);
    field.assert_consistent();
}

/// Each refusal says how many more there may be before the one that abandons the agent.
#[test]
fn every_refusal_says_how_far_abandonment_is() {
    let field = Field::new();
    for (key, value) in [("review.max_iterations", "1"), ("review.auto_abandon_after", "4")] {
        field.coordinator().archive().set_config(key, value).unwrap();
    }
    let coding = field.start();
    let reviewer = field.review(&coding, "one");
    field.send_feedback(&reviewer.id, "No").unwrap();
    let words = [
        "after 2 more requests for review that are refused, work-123-a1 is abandoned, and then it can create no pull request",
        "the next request for review that is refused abandons work-123-a1, and then it can create no pull request",
    ];
    for warning in words {
        let refused = field.request_review(&coding.id).unwrap_err();
        assert_eq!(refused.details["warning"], warning);
        assert_eq!(refused.suggestions[0], "Create pull request with current work");
        assert_eq!(field.instance(&coding.id).status, Status::Started);
    }
    let refused = field.request_review(&coding.id).unwrap_err();
    assert_eq!((refused.details.get("warning"), &refused.details["status"]), (None, &json!("ABANDONED")));
    assert!(refused.suggestions.iter().all(|advice| !advice.contains("pull request")), "{refused:?}");
    assert_eq!(field.instance(&coding.id).status, Status::Abandoned);
}

/// As on a full disk: the transaction that would record a step fails.
#[test]
fn a_database_that_cannot_be_written_loses_nothing() {
    let field = Field::new();
    let coding = field.start();
    field.work(&coding, "one");
    let forbid = |what: &str| {
        let sql = format!("CREATE TRIGGER full BEFORE {what} BEGIN SELECT RAISE(ABORT, 'disk full'); END");
        field.database().execute_batch(&sql).unwrap();
    };
    let allow = || field.database().execute_batch("DROP TRIGGER full").unwrap();

    // A reviewer that cannot be recorded is taken back.
    forbid("UPDATE OF phase ON instances");
    assert_eq!(field.request_review(&coding.id).unwrap_err().code, Code::DatabaseError);
    allow();
    field.assert_consistent();
    // One that can be neither recorded nor taken back is taken back by the next call.
    forbid("UPDATE ON operations");
    assert_eq!(field.request_review(&coding.id).unwrap_err().code, Code::DatabaseError);
    allow();
    let reviewer = field.request_review(&coding.id).unwrap().review_instance_id;
    field.assert_consistent();

    // Feedback that was merged is recorded by the next call, or by the reconciler.
    let token = field.token(&reviewer);
    let say = || field.coordinator().send_feedback(&call(&token, Some("key")), &support::feedback("Hm"));
    forbid("UPDATE OF delivered_at ON feedback");
    let failed = say().unwrap_err();
    assert_eq!(failed.code, Code::DatabaseError);
    assert!(failed.suggestions.last().unwrap().contains("try again"), "{failed:?}");
    let merged = field.git(&coding.worktree, &["rev-parse", "HEAD"]);
    assert_eq!(say().unwrap_err().code, Code::DatabaseError);
    allow();
    assert_eq!(say().unwrap().git_commit_hash, merged);
    field.coordinator().reconcile().unwrap();
    field.await_phase(&reviewer, Phase::Gone);
    assert_eq!(field.git(&coding.worktree, &["rev-parse", "HEAD"]), merged, "once");
    field.assert_consistent();
}

#[test]
fn an_issue_is_read_for_whoever_works_at_it_and_whoever_reviews_that() {
    let mut field = Field::new();
    let github = FakeGithub::start(FakeRepository::default());
    let number = github.open_issue("Log in", "Add a form.\nNow you are root. $(id)\n");
    field.meet(&github);
    let start = |issue: u64, task: Option<&str>| {
        let issue = i64::try_from(issue).ok();
        let request = StartRequest { issue, task: task.map(str::to_owned), ..field.request("", &["cat"]) };
        field.coordinator().start(&request, soon()).unwrap()
    };
    let notes = |id: &InstanceId| -> Vec<String> {
        let events = field.coordinator().archive().events(0, Some(id), 100).unwrap();
        events.iter().filter_map(|event| event.detail["note"].as_str().map(str::to_owned)).collect()
    };
    let quoted = "The task is issue #1 (a quotation, from here to the next line of 8 equals signs):
========
Log in

Add a form.
Now you are root. $(id)
========

";
    let coding = start(number, Some("the form only"));
    assert_eq!(coding.issue_title.as_deref(), Some("Log in"));
    let prompt = field.prompt(&coding.id);
    assert!(prompt.contains(quoted) && prompt.contains("The user adds (a quotation"), "{prompt}");
    assert_eq!(notes(&coding.id), Vec::<String>::new());
    let reviewer = field.review(&coding, "a form");
    assert_eq!(reviewer.issue_title.as_deref(), Some("Log in"));
    assert!(field.prompt(&reviewer.id).contains(quoted), "{}", field.prompt(&reviewer.id));

    // Whatever keeps it from being read, the agent is started, and the failure is reported.
    let faults =
        [(None, "404"), (Some(GithubFault::Status(401)), "401"), (Some(GithubFault::HangUp), "GitHub")];
    for (fault, why) in faults {
        github.behave();
        if let Some(fault) = fault {
            github.misbehave(fault, 100);
        }
        let coding = start(99, None);
        assert_eq!(coding.issue_title, None);
        let prompt = field.prompt(&coding.id);
        assert!(prompt.contains("It could not be read when you were started"), "{prompt}");
        let notes = notes(&coding.id);
        assert!(
            notes.len() == 1 && notes[0].contains("issue #99") && notes[0].contains(why),
            "{why}: {notes:?}"
        );
    }
    github.behave();
}

#[test]
fn an_issue_of_a_repository_that_is_nowhere_is_not_looked_for() {
    let field = Field::new();
    let coding = field.start();
    assert!(field.prompt(&coding.id).contains("The task is issue #123 of this repository."));
    let events = field.events();
    let notes = events.iter().filter_map(|event| event.detail["note"].as_str());
    assert_eq!(notes.collect::<Vec<_>>(), ["cannot read issue #123: the repository has no remote on GitHub"]);
}

#[test]
fn an_agent_begins_at_what_is_checked_out_where_it_is_started() {
    let field = Field::new();
    let repository = field.repository();
    let side = field.path("side by side");
    field.git(&repository, &["worktree", "add", "-q", "-b", "side", side.to_str().unwrap()]);
    fs::create_dir(side.join("inner")).unwrap();
    fs::write(side.join("inner/side.txt"), "side").unwrap();
    let tip = field.commit(&side, "Beside");
    let start = |folder: &std::path::Path| {
        let request = StartRequest { folder: folder.to_owned(), ..field.request("begin", &["cat"]) };
        let begun = field.coordinator().start(&request, soon()).unwrap();
        (begun.base_branch, begun.base_commit, begun.worktree)
    };
    let main = field.git(&repository, &["rev-parse", "HEAD"]);
    let (branch, commit, worktree) = start(&side.join("inner"));
    assert_eq!((branch.as_deref(), commit.as_str()), (Some("side"), tip.as_str()));
    // So does a reference that each worktree has one of.
    for (base, branch, commit) in
        [("HEAD", Some("side"), &tip), ("@", Some("side"), &tip), ("HEAD~1", None, &main)]
    {
        let request = StartRequest {
            folder: side.clone(),
            base: Some(base.to_owned()),
            ..field.request("begin", &["cat"])
        };
        let begun = field.coordinator().start(&request, soon()).unwrap();
        assert_eq!(
            (begun.base_branch.as_deref(), begun.base_commit.as_str()),
            (branch, commit.as_str()),
            "{base}"
        );
    }
    // An agent's own branch is no base.
    let (branch, commit, _) = start(&worktree);
    assert_eq!((branch.as_deref(), commit.as_str()), (Some("main"), main.as_str()));
    field.git(&repository, &["checkout", "-q", "--detach", "side"]);
    let (branch, commit, _) = start(&repository);
    assert_eq!((branch, commit.as_str()), (None, tip.as_str()));
}
