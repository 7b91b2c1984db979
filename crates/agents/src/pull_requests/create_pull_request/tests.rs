//! Pull requests against a GitHub that misbehaves, with rows and repositories that are real.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use tamis_testkit::{FakeRepository, GithubFault, When, git};

use super::stage::{FAULTS, Place, Stage, call};
use super::*;
use crate::Status;
use crate::instances::records::EventKind;

fn input() -> CreatePullRequest {
    CreatePullRequest {
        title: " Add \"b\" $(touch x) ".to_owned(),
        description: "It was missing.\n\nCloses #7".to_owned(),
        base_branch: None,
    }
}

fn created(stage: &Stage, number: i64) -> PullRequestCreated {
    PullRequestCreated {
        pr_number: Some(number),
        pr_url: Some(stage.github.pull_url(number as u64)),
        branch_name: "tamis/work-7-a1".to_owned(),
        done: Vec::new(),
        left_to_do: Vec::new(),
    }
}

/// The answer where a pull request for this head and base is open already.
fn existing(stage: &Stage, number: i64, base: &str) -> PullRequestCreated {
    PullRequestCreated {
        done: vec![
            "tamis/work-7-a1 was pushed to origin".to_owned(),
            format!(
                "pull request {number} into {base} was already open: it has the new commits, and keeps its title and description"
            ),
        ],
        left_to_do: vec![format!(
            "if its title or description should change: gh pr edit {number} --title TITLE --body TEXT"
        )],
        ..created(stage, number)
    }
}

/// GitHub has one pull request for each head and base.
#[test]
fn another_base_is_another_pull_request_and_the_same_one_is_said_to_be_there() {
    let stage = Stage::new(Place::Github);
    let tool = stage.folder().join("tool");
    git(&tool, &["branch", "develop", "main"]);
    git(&tool, &["push", "-q", "origin", "develop"]);
    let (coding, token) = stage.coding();
    let into = |base: &str, title: &str| CreatePullRequest {
        title: title.to_owned(),
        base_branch: Some(base.to_owned()),
        ..input()
    };
    assert_eq!(stage.create(&token, &into("develop", "one")), Ok(created(&stage, 1)));
    assert_eq!(stage.create(&token, &into("main", "two")), Ok(created(&stage, 2)));
    assert_eq!(stage.create(&token, &into("develop", "three")), Ok(existing(&stage, 1, "develop")));
    let pulls = stage.github.pull_requests();
    let open: Vec<_> = pulls.iter().map(|pull| (pull.base.as_str(), pull.title.as_str())).collect();
    assert_eq!(open, [("develop", "one"), ("main", "two")]);
    // The last one that it got is the one that is followed.
    assert_eq!(stage.coordinator.archive.instance(&coding.id).unwrap().pr_number, Some(1));
    stage.assert_consistent();
}

#[test]
fn a_coding_agents_work_becomes_a_pull_request() {
    let stage = Stage::new(Place::Github);
    let (coding, token) = stage.coding();
    stage.notes(&coding, "# Handle it, @octocat\n\nFixes #1");
    fs::write(coding.worktree.join("scratch.txt"), "untracked").unwrap();
    assert_eq!(stage.create(&token, &input()), Ok(created(&stage, 1)));

    let [pull] = &stage.github.pull_requests()[..] else { panic!("one pull request") };
    assert_eq!((pull.title.as_str(), pull.head.as_str()), ("Add \"b\" $(touch x)", "tamis/work-7-a1"));
    assert_eq!((pull.base.as_str(), pull.open), ("main", true));
    let date: String = Moment::now().to_string().chars().take(10).collect();
    assert_eq!(
        pull.body,
        format!(
            "It was missing.\n\nCloses #7\n\n---\n\n### Reviews\n\n\
             - Review 1 by `review-7-a1-1` on {date}, needs work: `Handle it, @\u{200b}octocat`\n"
        )
    );
    // The notes are out, and what was pushed is what is there.
    let files = git(&stage.bare(), &["ls-tree", "--name-only", "tamis/work-7-a1"]);
    assert_eq!(files, "a.txt\nb.txt");
    assert_eq!(stage.remote_tip(&coding.branch), Some(stage.tip(&coding.branch)));
    assert_eq!(fs::read_to_string(coding.worktree.join("scratch.txt")).unwrap(), "untracked");

    let now = stage.coordinator.archive.instance(&coding.id).unwrap();
    assert_eq!(
        (now.status, now.pr_number, now.pr_url),
        (Status::PrCreated, Some(1), created(&stage, 1).pr_url)
    );
    let events = stage.coordinator.archive.events(0, Some(&coding.id), 100).unwrap();
    let outcomes: Vec<_> =
        events.iter().map(|event| (event.kind, event.status_after, event.success)).collect();
    assert_eq!(
        outcomes[outcomes.len() - 2..],
        [
            (EventKind::StatusChanged, Some(Status::PrCreated), None),
            (EventKind::ToolCalled, None, Some(true))
        ]
    );
    assert_eq!(events.last().unwrap().git_commit, Some(stage.tip(&coding.branch)));
    stage.assert_consistent();

    // More work goes to the same pull request.
    stage.commit(&coding, "c.txt", "three\n");
    assert_eq!(stage.create(&token, &input()), Ok(existing(&stage, 1, "main")));
    assert_eq!(stage.remote_tip(&coding.branch), Some(stage.tip(&coding.branch)));
    assert_eq!(stage.github.pull_requests().len(), 1);
    stage.assert_consistent();
}

#[test]
fn the_token_is_nowhere_but_in_the_requests() {
    let stage = Stage::new(Place::Github);
    let (_, token) = stage.coding();
    stage.create(&token, &input()).unwrap();
    let secret = FakeRepository::default().token;
    let mut command = Command::new("grep");
    let found = command.args(["-rla", "--", &secret]).arg(stage.folder()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[test]
fn a_reviewers_pull_request_approves_of_the_work() {
    let stage = Stage::new(Place::Github);
    let (coding, coding_token) = stage.coding();
    let (reviewer, token) = stage.review(&coding);
    let refused = stage.create(&coding_token, &input()).unwrap_err();
    assert_eq!((refused.code, stage.github.requests().len()), (Code::InvalidState, 0));

    assert_eq!(stage.create(&token, &input()), Ok(created(&stage, 1)));
    assert_eq!((stage.status(&coding), stage.status(&reviewer)), (Status::PrCreated, Status::Terminated));
    let details = stage.coordinator.archive.details(&coding.id).unwrap();
    assert_eq!(
        (details.reviews[0].outcome, details.instance.pr_number),
        (Some(ReviewOutcome::Approved), Some(1))
    );
    let body = &stage.github.pull_requests()[0].body;
    assert!(body.contains("- Review 1 by `review-7-a1-1` on ") && body.ends_with(", approved\n"), "{body}");
    stage.assert_consistent();
    let again = stage.create(&token, &input()).unwrap_err();
    assert_eq!(again.code, Code::InvalidState);
}

/// The coding agent may commit while it waits.
#[test]
fn a_reviewer_approves_only_of_commits_that_it_has_seen() {
    let stage = Stage::new(Place::Github);
    let (coding, _) = stage.coding();
    let (reviewer, token) = stage.review(&coding);
    let reviewed = stage.tip(&coding.branch);
    stage.commit(&coding, "never-reviewed.txt", "new\n");
    let tip = stage.tip(&coding.branch);
    let refused = stage.create(&token, &input()).unwrap_err();
    assert_eq!(refused.code, Code::InvalidState, "{refused:?}");
    assert_eq!(
        refused.suggestions,
        [
            format!("review them first: git diff {} {}", &reviewed[..12], &tip[..12]),
            format!(
                "then check them out (git switch --detach {}) and call create_pull_request again",
                &tip[..12]
            ),
            "or send feedback about them with send_feedback".to_owned(),
        ]
    );
    assert_eq!(
        (refused.details["reviewed_commit"].as_str(), refused.details["branch_commit"].as_str()),
        (Some(&*reviewed), Some(&*tip))
    );
    assert_eq!((stage.github.requests().len(), stage.remote_tip(&coding.branch)), (0, None));
    assert_eq!((stage.status(&coding), stage.status(&reviewer)), (Status::WaitingReview, Status::Started));
    stage.assert_consistent();

    git(&reviewer.worktree, &["switch", "-q", "--detach", &tip]);
    assert_eq!(stage.create(&token, &input()), Ok(created(&stage, 1)));
    assert_eq!(stage.remote_tip(&coding.branch), Some(tip));
}

#[test]
fn a_planning_agents_documents_become_one_too() {
    let stage = Stage::new(Place::Github);
    let id = InstanceId::of_worker(AgentType::Planning, "next year", 1);
    let (planning, token) = stage.instance(&id, AgentType::Planning, "main");
    stage.commit(&planning, "PLAN.md", "# Plan\n");
    let made = stage.create(&token, &input()).unwrap();
    assert_eq!((made.pr_number, made.branch_name.as_str()), (Some(1), "tamis/plan-next-year-a1"));
    assert_eq!(stage.status(&planning), Status::PrCreated);
}

#[test]
fn whatever_github_does_the_state_is_whole_and_the_next_call_goes_on() {
    for (fault, code) in FAULTS {
        let stage = Stage::new(Place::Github);
        let (coding, token) = stage.coding();
        let tip = stage.tip(&coding.branch);
        stage.github.misbehave_on("POST", When::Before, fault.clone(), 1);
        let error = stage.create(&token, &input()).unwrap_err();
        assert_eq!((error.code, error.instance.as_ref()), (code, Some(&coding.id)), "{fault:?}");
        assert_eq!(stage.status(&coding), Status::Started);
        assert_eq!(stage.last_call(), (false, Some(code.to_string())));
        assert_eq!(stage.tip(&coding.branch), tip);
        stage.assert_consistent();
        assert_eq!(stage.create(&token, &input()), Ok(created(&stage, 1)), "{fault:?}");
        assert_eq!((stage.status(&coding), stage.github.pull_requests().len()), (Status::PrCreated, 1));
    }
}

#[test]
fn a_pull_request_whose_answer_is_lost_is_found() {
    for fault in [GithubFault::HalfBody, GithubFault::Status(502), GithubFault::HangUp] {
        let stage = Stage::new(Place::Github);
        let (coding, token) = stage.coding();
        stage.github.misbehave_on("POST", When::After, fault.clone(), 1);
        assert_eq!(stage.create(&token, &input()), Ok(created(&stage, 1)), "{fault:?}");
        assert_eq!((stage.status(&coding), stage.github.pull_requests().len()), (Status::PrCreated, 1));
    }
}

/// GitHub answers the next request to open a pull request so, after it was opened or in place of that, and cannot be asked
/// whether it is there.
fn lose_answer(stage: &Stage, when: When, answer: GithubFault) {
    // None is open before.
    stage.github.misbehave_on("GET", When::Before, GithubFault::Says(200, json!([])), 1);
    stage.github.misbehave_on("POST", when, answer, 1);
    stage.github.misbehave_on("GET", When::Before, GithubFault::Status(401), 1);
}

/// Fails without a request to open anything.
fn fail_early(stage: &Stage) {
    stage.github.misbehave_on("GET", When::Before, GithubFault::Status(401), 1);
}

fn search(stage: &Stage, coding: &Instance) -> Vec<crate::Repair> {
    *stage.coordinator.following.lock() = Following::default();
    let mut findings = Vec::new();
    stage.coordinator.search_for_pull(&coding.id, &mut findings).unwrap();
    findings
}

fn already_exists() -> GithubFault {
    let message = "A pull request already exists for octo-org:tamis/work-7-a1.";
    GithubFault::Says(422, json!({"message": "Validation Failed", "errors": [{"message": message}]}))
}

/// The request arrived and the answer did not, or said that one is there, and GitHub could not be asked any more.
#[test]
fn a_pull_request_that_was_opened_too_late_is_found_by_the_reconciler() {
    for (by_reviewer, answer) in
        [(false, GithubFault::HangUp), (true, GithubFault::HangUp), (true, already_exists())]
    {
        let stage = Stage::new(Place::Github);
        let (coding, mut token) = stage.coding();
        let reviewer = by_reviewer.then(|| stage.review(&coding));
        if let Some((_, reviewers)) = &reviewer {
            token.clone_from(reviewers);
        }
        let before = stage.status(&coding);
        lose_answer(&stage, When::After, answer);
        let with_key = AgentCall { idempotency_key: Some("k"), ..call(&token) };
        stage.coordinator.create_pull_request(&with_key, &input()).unwrap_err();
        assert_eq!((stage.status(&coding), stage.github.pull_requests().len()), (before, 1));
        stage.assert_consistent();

        // As long as GitHub does not answer, nothing changes.
        stage.github.misbehave(GithubFault::Status(401), 1);
        assert_eq!((search(&stage, &coding), stage.status(&coding)), (Vec::new(), before));
        let found = search(&stage, &coding);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].done, "pull request 1 was opened and is recorded");
        let now = stage.coordinator.archive.instance(&coding.id).unwrap();
        assert_eq!((now.status, now.pr_number), (Status::PrCreated, Some(1)));
        if let Some((reviewer, _)) = &reviewer {
            assert_eq!(stage.status(reviewer), Status::Terminated);
        }
        stage.assert_consistent();
        let requests = stage.github.requests().len();
        assert_eq!((search(&stage, &coding), stage.github.requests().len()), (Vec::new(), requests));
        // A retry of the call gets what it came to.
        assert_eq!(stage.coordinator.create_pull_request(&with_key, &input()).unwrap().pr_number, Some(1));
    }
}

/// Whether the retry is refused by GitHub or does not get that far, and whether it repeats the call or is another one.
#[test]
fn a_retry_that_fails_does_not_end_the_search() {
    for key in [Some("k"), None] {
        for refused in [true, false] {
            let stage = Stage::new(Place::Github);
            let (coding, token) = stage.coding();
            let with_key = AgentCall { idempotency_key: key, ..call(&token) };
            lose_answer(&stage, When::After, GithubFault::HangUp);
            stage.coordinator.create_pull_request(&with_key, &input()).unwrap_err();
            if refused {
                stage.github.misbehave_on("GET", When::Before, GithubFault::Says(200, json!([])), 1);
                stage.github.misbehave_on("POST", When::Before, GithubFault::Status(422), 1);
            } else {
                fail_early(&stage);
            }
            stage.coordinator.create_pull_request(&with_key, &input()).unwrap_err();
            assert_eq!(search(&stage, &coding).len(), 1, "{key:?} {refused}");
            assert_eq!((stage.status(&coding), stage.github.pull_requests().len()), (Status::PrCreated, 1));
        }
    }
}

/// A call for another base that fails says nothing about the first one.
#[test]
fn each_base_is_looked_for() {
    let stage = Stage::new(Place::Github);
    let tool = stage.folder().join("tool");
    git(&tool, &["branch", "develop", "main"]);
    git(&tool, &["push", "-q", "origin", "develop"]);
    let (coding, token) = stage.coding();
    lose_answer(&stage, When::After, GithubFault::HangUp);
    stage.create(&token, &input()).unwrap_err();
    fail_early(&stage);
    let develop = CreatePullRequest { base_branch: Some("develop".to_owned()), ..input() };
    stage.create(&token, &develop).unwrap_err();
    assert_eq!(search(&stage, &coding).len(), 1);
    assert_eq!(stage.coordinator.archive.instance(&coding.id).unwrap().pr_number, Some(1));
}

#[test]
fn a_pull_request_is_looked_for_during_an_hour() {
    let stage = Stage::new(Place::Github);
    let (coding, token) = stage.coding();
    lose_answer(&stage, When::Before, GithubFault::HangUp);
    stage.create(&token, &input()).unwrap_err();
    let searches = || {
        let requests = stage.github.requests().len();
        assert_eq!(search(&stage, &coding), []);
        stage.github.requests().len() - requests
    };
    assert_eq!([searches(), searches()], [1, 1]);
    stage.write(|connection| db::begin_operations_earlier(connection, 3_600_001));
    assert_eq!([searches(), searches()], [1, 0], "once more, and then no longer");
}

/// The review that runs is for what has happened since, and its reviewer is at work.
#[test]
fn a_review_ends_with_its_own_reviewers_pull_request_only() {
    let stage = Stage::new(Place::Github);
    let (coding, token) = stage.coding();
    lose_answer(&stage, When::After, GithubFault::HangUp);
    stage.create(&token, &input()).unwrap_err();
    let (reviewer, _) = stage.review(&coding);
    let requests = stage.github.requests().len();
    assert_eq!((search(&stage, &coding), stage.github.requests().len()), (Vec::new(), requests));
    assert_eq!((stage.status(&coding), stage.status(&reviewer)), (Status::WaitingReview, Status::Started));
    stage
        .coordinator
        .write(|connection| {
            db::end_review(connection, &reviewer.id, ReviewOutcome::Feedback)?;
            db::set_status(connection, &reviewer.id, Status::Terminated, None, None)?;
            db::set_status(connection, &coding.id, Status::Started, None, None).map(drop)
        })
        .unwrap();
    assert_eq!((search(&stage, &coding).len(), stage.status(&coding)), (1, Status::PrCreated));
    stage.assert_consistent();
}

#[test]
fn a_pull_request_is_followed_while_another_one_is_looked_for() {
    let stage = Stage::new(Place::Github);
    let tool = stage.folder().join("tool");
    git(&tool, &["branch", "develop", "main"]);
    git(&tool, &["push", "-q", "origin", "develop"]);
    let (coding, token) = stage.coding();
    let develop = CreatePullRequest { base_branch: Some("develop".to_owned()), ..input() };
    stage.create(&token, &develop).unwrap();
    lose_answer(&stage, When::Before, GithubFault::HangUp);
    stage.create(&token, &input()).unwrap_err();
    stage.github.close(1, true);
    let requests = stage.github.requests().len();
    assert_eq!(search(&stage, &coding), []);
    let mut findings = Vec::new();
    stage.coordinator.follow_pull_request(&coding.id, &mut findings).unwrap();
    assert_eq!((findings.len(), stage.status(&coding)), (1, Status::PrMerged));
    assert_eq!(stage.github.requests().len(), requests + 2);
}

/// What GitHub has refused is not looked for.
#[test]
fn a_refused_pull_request_is_not_looked_for() {
    let stage = Stage::new(Place::Github);
    let (coding, token) = stage.coding();
    stage.github.misbehave_on("POST", When::Before, GithubFault::Status(422), 1);
    stage.create(&token, &input()).unwrap_err();
    let requests = stage.github.requests().len();
    let mut findings = Vec::new();
    stage.coordinator.search_for_pull(&coding.id, &mut findings).unwrap();
    assert_eq!((findings, stage.github.requests().len()), (Vec::new(), requests));
}

#[test]
fn silence_is_not_waited_for_longer_than_the_caller_waits() {
    let stage = Stage::new(Place::Github);
    let (coding, token) = stage.coding();
    stage.github.misbehave_on("POST", When::Before, GithubFault::Silence, 1);
    let call = AgentCall { deadline: Instant::now() + Duration::from_secs(5), ..call(&token) };
    let error = stage.coordinator.create_pull_request(&call, &input()).unwrap_err();
    assert!(matches!(error.code, Code::GithubUnavailable | Code::Timeout), "{error:?}");
    assert_eq!(stage.status(&coding), Status::Started);
    stage.assert_consistent();
}

#[test]
fn a_call_that_is_made_again_gets_the_recorded_answer() {
    let stage = Stage::new(Place::Github);
    let (_, token) = stage.coding();
    let call = AgentCall { idempotency_key: Some("k"), ..call(&token) };
    let first = stage.coordinator.create_pull_request(&call, &input()).unwrap();
    let requests = stage.github.requests().len();
    assert_eq!(stage.coordinator.create_pull_request(&call, &input()), Ok(first));
    assert_eq!(stage.github.requests().len(), requests);
}

#[test]
fn what_a_crash_left_is_finished_or_given_up() {
    for (opening, opened) in [(false, false), (true, false), (true, true)] {
        let stage = Stage::new(Place::Github);
        let (coding, _) = stage.coding();
        let (reviewer, token) = stage.review(&coding);
        git(&coding.worktree, &["push", "-q", "origin", &coding.branch]);
        if opened {
            let settings = stage.coordinator.github_settings().unwrap();
            let repository = settings.repository("https://github.com/octo-org/tool").unwrap().unwrap();
            let new = NewPullRequest {
                title: "t".to_owned(),
                head: coding.branch.to_string(),
                base: "main".to_owned(),
                body: String::new(),
            };
            settings.connect(repository).unwrap().create_pull_request(&new).unwrap();
        }
        let plan = json!({"subject": coding.id, "base": "main", "opening": opening});
        stage.write(|connection| {
            db::begin_operation(connection, None, tools::CREATE_PULL_REQUEST, &reviewer.id, &plan).map(drop)
        });
        let stage = stage.coordinate_anew();
        let requests = stage.github.requests().len();
        let findings = stage.coordinator.repair_family(&coding.id).unwrap();
        assert_eq!(findings.len(), 1, "{findings:?}");
        stage.assert_consistent();
        assert_eq!(stage.github.requests().len() - requests, usize::from(opening));
        if opened {
            assert_eq!(
                (stage.status(&coding), stage.status(&reviewer)),
                (Status::PrCreated, Status::Terminated)
            );
            let details = stage.coordinator.archive.details(&coding.id).unwrap();
            assert_eq!(
                (details.reviews[0].outcome, details.instance.pr_number),
                (Some(ReviewOutcome::Approved), Some(1))
            );
        } else {
            assert_eq!(
                (stage.status(&coding), stage.status(&reviewer)),
                (Status::WaitingReview, Status::Started)
            );
            // It may be opened yet, as long as it may be about to be.
            let requests = stage.github.requests().len();
            assert_eq!(search(&stage, &coding), []);
            assert_eq!(stage.github.requests().len() - requests, usize::from(opening));
            assert_eq!(stage.create(&token, &input()), Ok(created(&stage, 1)));
        }
    }
}

#[test]
fn without_github_it_says_what_is_done_and_what_is_left() {
    let stage = Stage::new(Place::Plain);
    let (coding, token) = stage.coding();
    stage.notes(&coding, "Do more");
    let answer = stage.create(&token, &input()).unwrap();
    assert_eq!(
        serde_json::to_value(&answer).unwrap(),
        json!({"pr_number": null, "pr_url": null, "branch_name": "tamis/work-7-a1",
            "done": ["the review notes were removed from the tree", "tamis/work-7-a1 was pushed to origin"],
            "left_to_do": ["request a merge of tamis/work-7-a1 into main where origin is hosted",
                "or merge it yourself: git switch main && git merge --no-ff tamis/work-7-a1 && git push origin main"]})
    );
    assert_eq!(stage.remote_tip(&coding.branch), Some(stage.tip(&coding.branch)));
    assert_eq!((stage.status(&coding), stage.last_call()), (Status::Started, (true, None)));
    assert_eq!(
        stage_reason(&stage, &coding),
        "without a pull request, as there is no GitHub; left to do: request a merge of tamis/work-7-a1 into main where origin \
         is hosted, or merge it yourself: git switch main && git merge --no-ff tamis/work-7-a1 && git push origin main"
    );
    stage.assert_consistent();

    let stage = Stage::new(Place::Nowhere);
    let (coding, _) = stage.coding();
    let (reviewer, token) = stage.review(&coding);
    let answer = stage.create(&token, &input()).unwrap();
    assert_eq!((answer.pr_number, answer.done.len(), answer.left_to_do.len()), (None, 0, 2));
    // The review is over, and the work is back where it belongs.
    assert_eq!((stage.status(&coding), stage.status(&reviewer)), (Status::Started, Status::Terminated));
    let reason = stage_reason(&stage, &coding);
    let words =
        "approved by review-7-a1-1, without a pull request, as there is no GitHub; left to do: merge it: ";
    assert!(reason.starts_with(words), "{reason}");
    stage.assert_consistent();
    assert_eq!(stage.github.requests().len(), 0);
}

fn stage_reason(stage: &Stage, instance: &Instance) -> String {
    stage.coordinator.archive.instance(&instance.id).unwrap().reason.unwrap()
}

#[test]
fn what_cannot_be_pulled_is_refused_before_anything_is_done() {
    let stage = Stage::new(Place::Github);
    let (coding, token) = stage.coding();
    let refused = |input: &CreatePullRequest| stage.create(&token, input).unwrap_err().code;
    for base in ["--upload-pack=x", "a..b", "", "HEAD", "nowhere", "tamis/work-7-a1", "a b", "x\ny", "$(id)"]
    {
        let input = CreatePullRequest { base_branch: Some(base.to_owned()), ..input() };
        assert_eq!(refused(&input), Code::ValidationError, "{base}");
    }
    assert_eq!(refused(&CreatePullRequest { title: "a\nb".to_owned(), ..input() }), Code::ValidationError);
    let long = CreatePullRequest { description: "x".repeat(60_001), ..input() };
    assert_eq!(refused(&long), Code::ValidationError);

    fs::write(coding.worktree.join("a.txt"), "changed\n").unwrap();
    assert_eq!(refused(&input()), Code::UncommittedChanges);
    git(&coding.worktree, &["checkout", "-q", "a.txt"]);
    git(&coding.worktree, &["checkout", "-q", "--detach"]);
    assert_eq!(refused(&input()), Code::WorktreeBusy);
    git(&coding.worktree, &["switch", "-q", &coding.branch]);
    git(&coding.worktree, &["reset", "-q", "--hard", "main"]);
    assert_eq!(refused(&input()), Code::NoChanges);
    assert_eq!(stage.create("tai_nobody", &input()).unwrap_err().code, Code::IdentityRequired);
    assert_eq!((stage.github.requests().len(), stage.remote_tip(&coding.branch)), (0, None));
    assert_eq!(stage.status(&coding), Status::Started);
    stage.assert_consistent();
}

#[test]
fn left_to_itself_it_goes_into_main_wherever_the_work_began() {
    let stage = Stage::new(Place::Github);
    let tool = stage.folder().join("tool");
    git(&tool, &["branch", "develop"]);
    git(&tool, &["push", "-q", "origin", "develop"]);
    for (number, given, base) in [(1, None, "main"), (2, Some("develop"), "develop")] {
        let id = InstanceId::of_worker(AgentType::Coding, "9", number);
        let (coding, token) = stage.instance(&id, AgentType::Coding, "develop");
        stage.commit(&coding, "b.txt", "b\n");
        stage
            .create(&token, &CreatePullRequest { base_branch: given.map(str::to_owned), ..input() })
            .unwrap();
        assert_eq!(stage.github.pull_requests().last().unwrap().base, base);
    }
}

#[test]
fn a_base_that_only_we_have_is_explained() {
    let stage = Stage::new(Place::Github);
    let (_, token) = stage.coding();
    git(&stage.folder().join("tool"), &["branch", "local"]);
    let input = CreatePullRequest { base_branch: Some("local".to_owned()), ..input() };
    let error = stage.create(&token, &input).unwrap_err();
    assert_eq!(error.code, Code::GithubRejected);
    assert!(error.message.contains("PullRequest base invalid"), "{error}");
    assert_eq!(
        error.suggestions,
        ["local was not found on origin: push it, or name another branch with base_branch"]
    );
}

#[test]
fn a_push_that_is_refused_changes_nothing() {
    let stage = Stage::new(Place::Github);
    let (coding, token) = stage.coding();
    // Another clone pushed to the branch.
    git(&stage.folder().join("tool"), &["push", "-q", "origin", "main:refs/heads/tamis/work-7-a1"]);
    let other = git(&coding.worktree, &["commit-tree", "-m", "other", "-p", "main", "main^{tree}"]);
    git(&coding.worktree, &["push", "-q", "origin", &format!("{other}:refs/heads/tamis/work-7-a1")]);
    let error = stage.create(&token, &input()).unwrap_err();
    assert_eq!(error.code, Code::GitError, "{error:?}");
    assert_eq!(stage.remote_tip(&coding.branch), Some(other));
    assert_eq!((stage.status(&coding), stage.github.requests().len()), (Status::Started, 0));
    stage.assert_consistent();
}

#[test]
fn merged_and_closed_pull_requests_are_noticed() {
    for (merged, status) in [(true, Status::PrMerged), (false, Status::PrClosed)] {
        let stage = Stage::new(Place::Github);
        let (coding, token) = stage.coding();
        stage.create(&token, &input()).unwrap();
        let follow = || {
            let mut findings = Vec::new();
            stage.coordinator.follow_pull_request(&coding.id, &mut findings).unwrap();
            findings
        };
        let requests = stage.github.requests().len();
        assert_eq!((follow(), stage.status(&coding)), (Vec::new(), Status::PrCreated));
        stage.github.close(1, merged);
        // Not again so soon.
        assert_eq!((follow().len(), stage.github.requests().len()), (0, requests + 1));
        *stage.coordinator.following.lock() = Following::default();
        assert_eq!((follow().len(), stage.status(&coding)), (1, status));
        stage.assert_consistent();
        assert!(coding.worktree.exists());
    }
}

#[test]
fn a_pull_request_that_is_opened_again_is_followed_for_a_week() {
    let stage = Stage::new(Place::Github);
    let (coding, token) = stage.coding();
    stage.create(&token, &input()).unwrap();
    let look = || {
        *stage.coordinator.following.lock() = Following::default();
        let families = stage.coordinator.read(db::families_to_look_after).unwrap();
        for family in &families {
            stage.coordinator.follow_pull_request(family, &mut Vec::new()).unwrap();
        }
        stage.status(&coding)
    };
    stage.github.close(1, false);
    assert_eq!(look(), Status::PrClosed);
    assert_eq!(look(), Status::PrClosed);
    stage.github.reopen(1);
    assert_eq!(look(), Status::PrCreated);
    stage.github.close(1, false);
    assert_eq!(look(), Status::PrClosed);
    stage.assert_consistent();
    // Long ago.
    stage.write(db::end_all_long_ago);
    let requests = stage.github.requests().len();
    stage.github.close(1, true);
    assert_eq!((look(), stage.github.requests().len()), (Status::PrClosed, requests));
}

#[test]
fn a_github_that_does_not_answer_is_left_alone() {
    let stage = Stage::new(Place::Github);
    let (coding, token) = stage.coding();
    stage.create(&token, &input()).unwrap();
    stage.github.misbehave(GithubFault::Status(500), 3);
    let requests = stage.github.requests().len();
    for _ in 0..3 {
        let mut findings = Vec::new();
        stage.coordinator.follow_pull_request(&coding.id, &mut findings).unwrap();
        assert_eq!((findings, stage.status(&coding)), (Vec::new(), Status::PrCreated));
        stage.coordinator.following.lock().read_at.clear();
    }
    assert_eq!(stage.github.requests().len(), requests + 3);
}
