use proptest::prelude::*;

use super::*;
use crate::AgentType;

fn coding() -> InstanceId {
    InstanceId::of_worker(AgentType::Coding, "123", 1)
}

fn task() -> Task {
    Task {
        issue: Some(TaskIssue {
            number: 123,
            text: Some(IssueText {
                title: "Log in".to_owned(),
                text: "Add a form.\n========\n# not a heading\n".to_owned(),
            }),
        }),
        text: String::new(),
    }
}

fn repository() -> RepositoryFacts {
    RepositoryFacts {
        name: "shop".to_owned(),
        base_branch: "main".to_owned(),
        branch: "tamis/work-123-a1".to_owned(),
        summary: "Rust; tests: `cargo test`.\n".to_owned(),
    }
}

fn history() -> Vec<PastReview> {
    let feedback = (1..=8).map(|line| format!("line {line}\n\n")).collect();
    vec![
        PastReview { iteration: 1, feedback_type: Some(FeedbackType::NeedsWork), feedback },
        PastReview { iteration: 2, feedback_type: None, feedback: String::new() },
    ]
}

const BEGINNING: &str = "for the repository shop, whose base branch is main.\nRust; tests: `cargo test`.\n";

const TASK: &str = "The task is issue #123 (a quotation, from here to the next line of 9 equals signs):
=========
Log in

Add a form.
========
# not a heading
=========

";

const HISTORY: &str =
    "The reviews so far, each with the first lines of its feedback (a quotation, from here to the next \
line of \
8 equals signs):
========
Review 1: needs_work
  line 1
  line 2
  line 3
  line 4
  line 5
  line 6
  …
Review 2: no feedback
========

";

#[test]
fn a_coding_agent_is_told_who_it_is_what_to_do_and_when_to_call() {
    let (id, task, repository, history) = (coding(), task(), repository(), history());
    let prompt =
        PromptSubject { id: &id, task: &task, repository: &repository, history: &history, max_reviews: 3 };
    let expected = format!(
        "You are work-123-a1, a coding agent {BEGINNING}\
You work in this folder, your own git worktree on branch tamis/work-123-a1. Leave other branches and worktrees alone.

{TASK}{HISTORY}Steps:
1. Do the task, and commit your work on this branch with git. Uncommitted work is not reviewed.
2. Call the tool `request_review` of the MCP server `tamis`. A review agent then reviews your commits. End your turn and \
wait: you will be notified in this session when there is feedback. Do not ask for it, and do not change anything in the \
meantime.
3. Feedback is a commit on this branch: read REVIEW_FEEDBACK.md (or the file that the notification names), address what is \
right in it, commit, and call `request_review` again. Do not change the file itself; it is removed later.
4. You may request 3 reviews. When `request_review` reports that the limit is reached, or you are notified that the work is \
approved, call `create_pull_request` with a title and a description; it pushes the branch and opens a pull request into \
main. Do not push or open pull requests in any other way.
If a tool returns an error, read its `suggestions`.
"
    );
    assert_eq!(work_prompt(&prompt), expected);
}

#[test]
fn a_review_agent_is_told_what_to_look_at_and_not_to_touch_it() {
    let (coding, task, repository) = (coding(), task(), repository());
    let id = coding.of_review(2);
    let subject =
        PromptSubject { id: &id, task: &task, repository: &repository, history: &[], max_reviews: 3 };
    let work = ReviewedWork {
        coding: &coding,
        commit: "abc123",
        iteration: 2,
        completion_message: Some("Done."),
        reviewer_prompt: None,
    };
    let expected = format!(
        "You are review-123-a1-2, a review agent {BEGINNING}\
You review the work of work-123-a1 on branch tamis/work-123-a1, at commit abc123. This is review 2 of at most 3. This folder \
is your own git worktree with that commit checked out.

{TASK}work-123-a1 describes its work (a quotation, from here to the next line of 8 equals signs):
========
Done.
========

Steps:
1. Read the change with `git diff main...HEAD` and `git log main..HEAD`, read the code around it, and run the tests if there \
are any. Judge whether it completes the task, is correct, and is ready to be merged.
2. Do not change, add or commit anything: what you write here is discarded.
3. If something needs to change, call the tool `send_feedback` of the MCP server `tamis` once, with all your feedback: \
`feedback_type` is `needs_work`, `suggestions` or `clarification`; name files and lines, and put each required change in \
`actionable_items`. This ends your session.
4. If the work is good, call `create_pull_request` with a title and a description instead; it opens a pull request from \
tamis/work-123-a1 into main and ends the review.
If a tool returns an error, read its `suggestions`.
"
    );
    assert_eq!(review_prompt(&subject, &work), expected);
    // A prompt that the coding agent wrote takes its place, as it was written; one that says nothing does not.
    for (prompt, expected) in [
        ("Mind the tests.", "Mind the tests."),
        (
            "  You are a pirate.\n\n=========\n- read `src`\n",
            "  You are a pirate.\n\n=========\n- read `src`\n",
        ),
        ("Mind the tests.\u{1b}[31m\r\n\tAll of them.\u{7}", "Mind the tests.\n\tAll of them."),
        ("", expected.as_str()),
        (" \n\t", expected.as_str()),
    ] {
        let work = ReviewedWork { reviewer_prompt: Some(prompt), ..work.clone() };
        assert_eq!(review_prompt(&subject, &work), expected, "{prompt:?}");
    }
}

#[test]
fn a_planning_agent_is_told_to_make_issues() {
    let id = InstanceId::of_worker(AgentType::Planning, "login", 1);
    let task = Task { text: "Plan the log in.".to_owned(), ..Task::default() };
    let repository =
        RepositoryFacts { branch: id.branch().to_string(), summary: String::new(), ..repository() };
    let expected = "\
You are plan-login-a1, a planning agent for the repository shop, whose base branch is main.
You work in this folder, your own git worktree on branch tamis/plan-login-a1. Leave other branches and worktrees alone.

The task (a quotation, from here to the next line of 8 equals signs):
========
Plan the log in.
========

Steps:
1. Read what the repository contains about it, and make a plan: parts that can be done and reviewed separately, in the \
required order. Do not write code.
2. Call the tool `create_issues` of the MCP server `tamis` with an issue for each part: a title, and a body that says what \
must be true when it is done.
3. If the plan is a document of the repository, commit it on this branch and call `create_pull_request` with a title and a \
description; it opens a pull request into main. Do not push in any other way.
If a tool returns an error, read its `suggestions`.
";
    let subject =
        PromptSubject { id: &id, task: &task, repository: &repository, history: &[], max_reviews: 3 };
    assert_eq!(planning_prompt(&subject), expected);
}

#[test]
fn an_issue_that_could_not_be_read_is_said_not_to_be_known() {
    let mut text = String::new();
    let issue = Some(TaskIssue { number: 7, text: None });
    add_task(&mut text, &Task { issue, text: "Only the form.\n".to_owned() });
    assert_eq!(
        text,
        "The task is issue #7 of this repository. It could not be read when you were started: read it yourself if you can. \
Do not guess: if you cannot find out what the task is, say so and end your turn.

The user adds (a quotation, from here to the next line of 8 equals signs):
========
Only the form.
========

"
    );
}

proptest! {
    /// Whatever a text is, what stands outside its marks is what would stand there with another.
    #[test]
    fn no_text_gets_out_of_its_quotation(words in "(=|\n|a|\u{1b}|\r| ){0,60}|.{0,60}") {
        let mut text = String::new();
        add_quoted(&mut text, "It", &words);
        let lines: Vec<&str> = text.split('\n').collect();
        let mark = lines[1];
        prop_assert!(mark.len() >= 8 && mark.bytes().all(|byte| byte == b'='));
        let marks = lines.iter().enumerate().filter(|(_, line)| line.trim() == mark).map(|(at, _)| at);
        prop_assert_eq!(marks.collect::<Vec<_>>(), vec![1, lines.len() - 3]);
        let end = format!("\n{mark}\n\n");
        prop_assert!(text.ends_with(&end));
    }

    #[test]
    fn no_name_begins_a_line(name in "(\n|\r|a| |\u{2028}|\u{1b}){0,20}") {
        let breaks = ['\n', '\r', '\u{2028}'];
        prop_assert!(!one_line(&name).contains(breaks));
    }
}

#[test]
fn a_base_other_than_main_is_named_in_the_prompt() {
    let with =
        |base: &str| target(&RepositoryFacts { base_branch: base.to_owned(), ..RepositoryFacts::default() });
    let plain = ("main".to_owned(), "a title and a description".to_owned());
    assert_eq!(with("main"), plain);
    assert_eq!(with("0123456789012345678901234567890123456789"), plain);
    assert_eq!(
        with("develop"),
        ("develop".to_owned(), "a title, a description and `base_branch` develop".to_owned())
    );
}
