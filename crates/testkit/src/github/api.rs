//! GitHub's answers.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{FakeIssue, FakePullRequest, FakeRepository, Reply, State};
use crate::http::HttpRequest;

pub(super) const PREFIX: &str = "/api/v3";

/// In characters.
const LONGEST_TITLE: usize = 256;
const LONGEST_BODY: usize = 65_536;

pub(super) fn answer(
    request: &HttpRequest,
    repository: &FakeRepository,
    state: &mut State,
    address: SocketAddr,
) -> Reply {
    let authorization = request.headers.iter().find(|(name, _)| name == "authorization");
    match authorization {
        None => return reply(401, failure("Requires authentication")),
        Some((_, value)) if *value != format!("Bearer {}", repository.token) => {
            return reply(401, failure("Bad credentials"));
        }
        Some(_) => {}
    }
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let Some(below) = below_repository(path, repository) else { return reply(404, failure("Not Found")) };
    let render = Render { repository, address };
    let parameter = |name: &str| parameters(query).find(|(other, _)| other == name).map(|(_, value)| value);
    match (request.method.as_str(), below) {
        ("GET", "") => {
            let full_name = format!("{}/{}", repository.owner, repository.name);
            reply(200, json!({"full_name": full_name, "default_branch": repository.default_branch}))
        }
        ("GET", "/pulls") => {
            let (head, base) = (parameter("head"), parameter("base"));
            let requested_state = parameter("state").unwrap_or_else(|| "open".to_owned());
            let listed = state.pulls.iter().rev().filter(|pull| {
                let in_state = requested_state == "all" || (requested_state == "open") == pull.open;
                let label = format!("{}:{}", repository.owner, pull.head);
                // GitHub ignores a `head` without a colon.
                let of_head = head.as_ref().is_none_or(|head| !head.contains(':') || *head == label);
                in_state && of_head && base.as_ref().is_none_or(|base| *base == pull.base)
            });
            reply(200, listed.map(|pull| render.pull_request(pull, false)).collect())
        }
        ("GET", "/issues") => {
            let pulls = state.pulls.iter().map(|pull| (pull.number, render.pull_as_issue(pull)));
            let issues = state.issues.iter().map(|issue| (issue.number, render.issue(issue)));
            let mut all: Vec<(u64, Value)> = pulls.chain(issues).collect();
            all.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
            let count = parameter("per_page").and_then(|count| count.parse().ok()).unwrap_or(30);
            reply(200, all.into_iter().take(count).map(|(_, json)| json).collect())
        }
        ("POST", "/pulls") => create_pull(&request.body, state, &render),
        ("POST", "/issues") => create_issue(&request.body, state, &render),
        ("GET", below) => {
            let number = |kind: &str| below.strip_prefix(kind).and_then(|number| number.parse::<u64>().ok());
            let pull = state.pulls.iter().find(|pull| Some(pull.number) == number("/pulls/"));
            let issue = state.issues.iter().find(|issue| Some(issue.number) == number("/issues/"));
            let found = pull.map(|pull| render.pull_request(pull, true));
            let found = found.or_else(|| issue.map(|issue| render.issue(issue)));
            found.map_or(reply(404, failure("Not Found")), |found| reply(200, found))
        }
        _ => reply(404, failure("Not Found")),
    }
}

fn create_pull(body: &Value, state: &mut State, render: &Render<'_>) -> Reply {
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let owner = format!("{}:", render.repository.owner);
    let head = text("head");
    let head = head.strip_prefix(&owner).unwrap_or(&head).to_owned();
    let pull = FakePullRequest {
        number: next_number(state),
        title: text("title"),
        head,
        base: text("base"),
        body: text("body"),
        open: true,
        merged: false,
    };
    let mut errors = text_errors("PullRequest", &pull.title, &pull.body);
    if let Some(git) = &render.repository.git {
        for (field, branch) in [("base", &pull.base), ("head", &pull.head)] {
            if !run_git(git, &["show-ref", "--verify", "--quiet", &format!("refs/heads/{branch}")]).0 {
                errors.push(json!({"resource": "PullRequest", "field": field, "code": "invalid"}));
            }
        }
        let range = format!("refs/heads/{}..refs/heads/{}", pull.base, pull.head);
        if errors.is_empty() && run_git(git, &["rev-list", "--count", &range, "--"]).1.trim() == "0" {
            let message = format!("No commits between {} and {}", pull.base, pull.head);
            errors.push(json!({"resource": "PullRequest", "code": "custom", "message": message}));
        }
    }
    if state.pulls.iter().any(|other| other.open && (&other.head, &other.base) == (&pull.head, &pull.base)) {
        let message = format!("A pull request already exists for {owner}{}.", pull.head);
        errors.push(json!({"resource": "PullRequest", "code": "custom", "message": message}));
    }
    if !errors.is_empty() {
        return invalid(errors);
    }
    let answer = render.pull_request(&pull, true);
    state.pulls.push(pull);
    reply(201, answer)
}

fn create_issue(body: &Value, state: &mut State, render: &Render<'_>) -> Reply {
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let labels = body["labels"].as_array().into_iter().flatten();
    let issue = FakeIssue {
        number: next_number(state),
        title: text("title"),
        body: text("body"),
        labels: labels.filter_map(|label| label.as_str().map(str::to_owned)).collect(),
    };
    let errors = text_errors("Issue", &issue.title, &issue.body);
    if !errors.is_empty() {
        return invalid(errors);
    }
    let answer = render.issue(&issue);
    state.issues.push(issue);
    reply(201, answer)
}

/// Issues and pull requests share their numbers.
pub(super) fn next_number(state: &State) -> u64 {
    let all = state.pulls.iter().map(|pull| pull.number).chain(state.issues.iter().map(|issue| issue.number));
    all.max().unwrap_or(0) + 1
}

fn text_errors(resource: &str, title: &str, body: &str) -> Vec<Value> {
    let mut errors = Vec::new();
    let mut wrong = |field: &str, code: &str, message: &str| {
        errors.push(json!({"resource": resource, "field": field, "code": code, "message": message}));
    };
    if title.trim().is_empty() {
        wrong("title", "missing_field", "title can't be blank");
    }
    if title.chars().count() > LONGEST_TITLE {
        wrong("title", "custom", "title is too long (maximum is 256 characters)");
    }
    if body.chars().count() > LONGEST_BODY {
        wrong("body", "custom", "body is too long (maximum is 65536 characters)");
    }
    errors
}

/// Renders pull requests and issues as GitHub does.
struct Render<'a> {
    repository: &'a FakeRepository,
    address: SocketAddr,
}

impl Render<'_> {
    fn pull_request(&self, pull: &FakePullRequest, alone: bool) -> Value {
        let owner = &self.repository.owner;
        let end = |branch: &str| {
            let full_name = format!("{owner}/{}", self.repository.name);
            json!({"label": format!("{owner}:{branch}"), "ref": branch, "user": {"login": owner},
                "repo": {"full_name": full_name}})
        };
        let mut json = json!({
            "number": pull.number,
            "html_url": web_url(self.repository, self.address, "pull", pull.number),
            "state": if pull.open { "open" } else { "closed" },
            "title": pull.title,
            "body": pull.body,
            "user": {"login": "a-bot"},
            "draft": false,
            "merged_at": pull.merged.then_some("2026-01-02T03:04:05Z"),
            "head": end(&pull.head),
            "base": end(&pull.base),
        });
        if alone {
            json["merged"] = json!(pull.merged);
        }
        json
    }

    fn issue(&self, issue: &FakeIssue) -> Value {
        let labels: Vec<Value> = issue.labels.iter().map(|name| json!({"name": name})).collect();
        json!({
            "number": issue.number,
            "html_url": web_url(self.repository, self.address, "issues", issue.number),
            "state": "open",
            "title": issue.title,
            "body": issue.body,
            "user": {"login": "a-bot"},
            "labels": labels,
        })
    }

    fn pull_as_issue(&self, pull: &FakePullRequest) -> Value {
        let mut json = self.pull_request(pull, false);
        json["pull_request"] = json!({"html_url": json["html_url"]});
        json
    }
}

pub(super) fn web_url(repository: &FakeRepository, address: SocketAddr, kind: &str, number: u64) -> String {
    format!("http://{address}/{}/{}/{kind}/{number}", repository.owner, repository.name)
}

/// The path below the repository; none for another repository.
pub(super) fn below_repository<'a>(path: &'a str, repository: &FakeRepository) -> Option<&'a str> {
    let start = format!("{PREFIX}/repos/{}/{}", repository.owner, repository.name);
    path.strip_prefix(&start).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The parameters of a query, decoded.
pub(super) fn parameters(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter(|part| !part.is_empty()).map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (decoded(name), decoded(value))
    })
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let (byte, read) = match (first, code.and_then(|code| u8::from_str_radix(code, 16).ok())) {
            (b'%', Some(byte)) => (byte, 2),
            (b'+', _) => (b' ', 0),
            _ => (first, 0),
        };
        bytes.push(byte);
        rest = &after[read..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn reply(status: u16, body: Value) -> Reply {
    Reply { status, body }
}

pub(super) fn failure(message: &str) -> Value {
    json!({"message": message, "documentation_url": "https://docs.github.com/rest"})
}

fn invalid(errors: Vec<Value>) -> Reply {
    let mut body = failure("Validation Failed");
    body["errors"] = json!(errors);
    reply(422, body)
}

/// Whether git succeeds, and its output.
fn run_git(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let mut git = Command::new("git");
    git.arg("--git-dir").arg(folder).args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    let output = git.output().expect("git runs");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}
