//! The prompts that agents are started with: who they are, what there is to do, and which tools to call when.
//!
//! Every prompt names the instance first: `You are work-123-a1`. Texts of users and of other agents stand between marks that
//! do not occur in them, and are marked as quotations. The exception is a reviewer's prompt that the coding agent wrote: by the
//! contract it is the whole prompt.

use std::fmt::Write as _;

use crate::{FeedbackType, InstanceId};
use tamis_github::IssueText;

/// How much of each earlier feedback is repeated; all of it is in the repository.
const FEEDBACK_LINES: usize = 6;
const FEEDBACK_LINE_LETTERS: usize = 200;

/// What there is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Task {
    /// What the user wrote. May be empty where there is an issue.
    pub(crate) text: String,
    pub(crate) issue: Option<TaskIssue>,
}

/// An issue that is the task, or what the task is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskIssue {
    pub(crate) number: u64,
    /// None: it could not be read.
    pub(crate) text: Option<IssueText>,
}

/// What is known of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RepositoryFacts {
    /// As a person calls it.
    pub(crate) name: String,
    pub(crate) base_branch: String,
    /// The branch of the work: the coding agent's.
    pub(crate) branch: String,
    /// What else is worth knowing, in a few lines of ours: the language, how tests are run. Empty: nothing.
    pub(crate) summary: String,
}

/// A review that has been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastReview {
    pub(crate) iteration: u32,
    /// None for one that ended without feedback.
    pub(crate) feedback_type: Option<FeedbackType>,
    pub(crate) feedback: String,
}

/// What every prompt is about.
#[derive(Clone, Debug)]
pub(crate) struct PromptSubject<'a> {
    pub(crate) id: &'a InstanceId,
    pub(crate) task: &'a Task,
    pub(crate) repository: &'a RepositoryFacts,
    pub(crate) history: &'a [PastReview],
    /// How many reviews the coding agent may ask for.
    pub(crate) max_reviews: u32,
}

/// What a review agent's prompt has besides.
#[derive(Clone, Debug)]
pub(crate) struct ReviewedWork<'a> {
    /// Whose work it looks at.
    pub(crate) coding: &'a InstanceId,
    /// The commit that is reviewed.
    pub(crate) commit: &'a str,
    pub(crate) iteration: u32,
    /// The coding agent's summary of its work.
    pub(crate) completion_message: Option<&'a str>,
    /// The prompt that the coding agent wrote for its reviewer. It takes the place of the default one.
    pub(crate) reviewer_prompt: Option<&'a str>,
}

/// The coding agent's prompt: the contract's `generateWorkPrompt`.
pub(crate) fn work_prompt(subject: &PromptSubject<'_>) -> String {
    let PromptSubject { id, task, repository, history, max_reviews } = subject;
    let mut text = beginning(id, "a coding agent", repository);
    add_worktree(&mut text, repository);
    add_task(&mut text, task);
    add_history(&mut text, history);
    let (base, words) = target(repository);
    let _ = write!(
        text,
        "Steps:\n\
         1. Do the task, and commit your work on this branch with git. Uncommitted work is not reviewed.\n\
         2. Call the tool `request_review` of the MCP server `tamis`. A review agent then reviews your commits. End your \
         turn and wait: you will be notified in this session when there is feedback. Do not ask for it, and do not change \
         anything in the meantime.\n\
         3. Feedback is a commit on this branch: read REVIEW_FEEDBACK.md (or the file that the notification names), address \
         what is right in it, commit, and call `request_review` again. Do not change the file itself; it is removed later.\n\
         4. You may request {max_reviews} reviews. When `request_review` reports that the limit is reached, or you are \
         notified that the work is approved, call `create_pull_request` with {words}; it pushes the branch and opens a pull \
         request into {base}. Do not push or open pull requests in any other way.\n\
         If a tool returns an error, read its `suggestions`.\n"
    );
    text
}

/// The review agent's prompt: the one that the coding agent wrote for it, or else the contract's `generateReviewPrompt`.
pub(crate) fn review_prompt(subject: &PromptSubject<'_>, work: &ReviewedWork<'_>) -> String {
    let PromptSubject { id, task, repository, history, max_reviews } = subject;
    let ReviewedWork { coding, commit, iteration, completion_message, reviewer_prompt } = work;
    if let Some(prompt) = reviewer_prompt.filter(|prompt| !prompt.trim().is_empty()) {
        return crate::plain_text(prompt);
    }
    let mut text = beginning(id, "a review agent", repository);
    let (base, branch) = (one_line(&repository.base_branch), one_line(&repository.branch));
    let _ = writeln!(
        text,
        "You review the work of {coding} on branch {branch}, at commit {}. This is review {iteration} of at most \
         {max_reviews}. This folder is your own git worktree with that commit checked out.\n",
        one_line(commit)
    );
    add_task(&mut text, task);
    add_history(&mut text, history);
    if let Some(message) = completion_message {
        add_quoted(&mut text, &format!("{coding} describes its work"), message);
    }
    let (into, words) = target(repository);
    let _ = write!(
        text,
        "Steps:\n\
         1. Read the change with `git diff {base}...HEAD` and `git log {base}..HEAD`, read the code around it, and run the \
         tests if there are any. Judge whether it completes the task, is correct, and is ready to be merged.\n\
         2. Do not change, add or commit anything: what you write here is discarded.\n\
         3. If something needs to change, call the tool `send_feedback` of the MCP server `tamis` once, with all your \
         feedback: `feedback_type` is `needs_work`, `suggestions` or `clarification`; name files and lines, and put each \
         required change in `actionable_items`. This ends your session.\n\
         4. If the work is good, call `create_pull_request` with {words} instead; it opens a pull request from {branch} into \
         {into} and ends the review.\n\
         If a tool returns an error, read its `suggestions`.\n"
    );
    text
}

pub(crate) fn planning_prompt(subject: &PromptSubject<'_>) -> String {
    let PromptSubject { id, task, repository, .. } = subject;
    let mut text = beginning(id, "a planning agent", repository);
    add_worktree(&mut text, repository);
    add_task(&mut text, task);
    let (base, words) = target(repository);
    let _ = write!(
        text,
        "Steps:\n\
         1. Read what the repository contains about it, and make a plan: parts that can be done and reviewed separately, in \
         the required order. Do not write code.\n\
         2. Call the tool `create_issues` of the MCP server `tamis` with an issue for each part: a title, and a body that \
         says what must be true when it is done.\n\
         3. If the plan is a document of the repository, commit it on this branch and call `create_pull_request` with {words}; \
         it opens a pull request into {base}. Do not push in any other way.\n\
         If a tool returns an error, read its `suggestions`.\n"
    );
    text
}

fn beginning(id: &InstanceId, what: &str, repository: &RepositoryFacts) -> String {
    let (name, base) = (one_line(&repository.name), one_line(&repository.base_branch));
    let mut text = format!("You are {id}, {what} for the repository {name}, whose base branch is {base}.\n");
    if !repository.summary.trim().is_empty() {
        let _ = writeln!(text, "{}", repository.summary.trim());
    }
    text
}

fn add_worktree(text: &mut String, repository: &RepositoryFacts) {
    let _ = writeln!(
        text,
        "You work in this folder, your own git worktree on branch {}. Leave other branches and worktrees alone.\n",
        one_line(&repository.branch)
    );
}

/// What a pull request is pulled into, and what `create_pull_request` needs for that: by default it takes main, as
/// the contract has it. An agent that started from a commit without a branch uses main too.
fn target(repository: &RepositoryFacts) -> (String, String) {
    const MAIN: &str = "main";
    let base = one_line(&repository.base_branch);
    let is_commit = base.len() >= 40 && base.bytes().all(|byte| byte.is_ascii_hexdigit());
    if base == MAIN || is_commit {
        return (MAIN.to_owned(), "a title and a description".to_owned());
    }
    let words = format!("a title, a description and `base_branch` {base}");
    (base, words)
}

fn add_task(text: &mut String, task: &Task) {
    match &task.issue {
        None => return add_quoted(text, "The task", task.text.trim()),
        Some(TaskIssue { number, text: Some(IssueText { title, text: words }) }) => {
            let words = format!("{}\n\n{}", one_line(title), words.trim());
            add_quoted(text, &format!("The task is issue #{number}"), &words);
        }
        Some(TaskIssue { number, text: None }) => {
            let _ = writeln!(
                text,
                "The task is issue #{number} of this repository. It could not be read when you were started: read it \
         yourself if you can. Do not guess: if you cannot find out what the task is, say so and end your turn.\n"
            );
        }
    }
    if !task.text.trim().is_empty() {
        add_quoted(text, "The user adds", task.text.trim());
    }
}

fn add_history(text: &mut String, history: &[PastReview]) {
    if history.is_empty() {
        return;
    }
    let mut words = String::new();
    for review in history {
        let how = review.feedback_type.map_or("no feedback", FeedbackType::as_str);
        let _ = writeln!(words, "Review {}: {how}", review.iteration);
        let lines = review.feedback.lines().filter(|line| !line.trim().is_empty());
        for line in lines.clone().take(FEEDBACK_LINES) {
            let short: String = line.chars().take(FEEDBACK_LINE_LETTERS).collect();
            let _ = writeln!(words, "  {short}{}", if short.len() < line.len() { "…" } else { "" });
        }
        if lines.count() > FEEDBACK_LINES {
            words.push_str("  …\n");
        }
    }
    add_quoted(text, "The reviews so far, each with the first lines of its feedback", words.trim_end());
}

/// Adds text of others, between marks that are not in it.
fn add_quoted(text: &mut String, what: &str, words: &str) {
    let words = crate::plain_text(words);
    let longest = words.split(|letter| letter != '=').map(str::len).max();
    let mark = "=".repeat(longest.unwrap_or_default().max(7) + 1);
    let _ = writeln!(
        text,
        "{what} (a quotation, from here to the next line of {} equals signs):\n{mark}\n{}\n{mark}\n",
        mark.len(),
        words.trim_end()
    );
}

/// A name that must not begin a line of its own.
fn one_line(name: &str) -> String {
    let name = crate::plain_text(name);
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
