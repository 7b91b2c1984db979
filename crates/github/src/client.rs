//! The few calls that are needed, each one request that is answered before it returns.

use std::time::Duration;

use serde_json::{Value, json};
use tamis_http::{HttpError, HttpMethod, HttpUrl, JsonRequest, JsonResponse};

use super::failure::{self, GithubFailure, WriteOutcome};
use super::values::{Issue, IssueText, NewIssue, NewPullRequest, Opened, PullRequest};
use super::{GithubRepository, GithubSettings, GithubToken};
use crate::error::Result;
use tamis_git::Credential;
use tamis_text::plain::plain_line;

/// A pull request has some 30 KB, and a list up to a hundred; issues have half of that.
const LARGEST_ANSWER: usize = 8 << 20;

/// How often a read is retried.
const RETRIES: u32 = 2;

/// GitHub may name a longer time than the caller of a tool waits.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// As many as GitHub lists at once.
const RECENT_ISSUES: usize = 100;

/// A repository on GitHub, with the token for it.
#[derive(Clone, Debug)]
pub struct Github {
    pub(super) repository: GithubRepository,
    pub(super) base: HttpUrl,
    pub(super) token: GithubToken,
    pub(super) settings: GithubSettings,
}

impl Github {
    /// What a push to this address needs: the token, if the address is of the same host and encrypted.
    pub fn credential_for(&self, url: &str) -> Option<Credential> {
        let (host, at) = (self.repository.host(), self.base.host());
        let for_host = at.eq_ignore_ascii_case(host) || at.strip_prefix("api.") == Some(host);
        let to_host = self.repository.is_at(url);
        let authority = url.strip_prefix("https://")?.split('/').next()?.rsplit('@').next()?;
        (for_host && to_host).then(|| Credential {
            origin: format!("https://{authority}/"),
            user: "x-access-token".to_owned(),
            secret: self.token.reveal().to_owned(),
        })
    }

    /// The branch that pull requests go to unless another is named.
    pub fn default_branch(&self) -> Result<String> {
        let answer = self.look("")?;
        let repository = self.read(&answer)?;
        match repository["default_branch"].as_str() {
            Some(branch) if !branch.is_empty() => Ok(plain_line(branch)),
            _ => Err(self.unreadable("it does not name a default branch").into()),
        }
    }

    /// The open pull request of a branch into a base. GitHub has at most one of each pair.
    pub fn open_pull_request(&self, branch: &str, base: &str) -> Result<Option<PullRequest>> {
        let owner = self.repository.owner();
        let head = query_value(&format!("{owner}:{branch}"));
        let into = query_value(base);
        let answer = self.look(&format!("/pulls?state=open&head={head}&base={into}&per_page=100"))?;
        let listed = self.read_list(&answer)?;
        // GitHub lists all of them when it cannot make sense of `head`; so each is looked at.
        let ours = listed.iter().find(|pull| {
            let label = pull["head"]["label"].as_str().and_then(|label| label.split_once(':'));
            let is_head = label.is_some_and(|(by, named)| by.eq_ignore_ascii_case(owner) && named == branch);
            is_head && pull["base"]["ref"] == base
        });
        ours.map(|pull| self.read_pull_request(pull)).transpose().map_err(GithubFailure::into)
    }

    pub fn pull_request(&self, number: u64) -> Result<PullRequest> {
        let answer = self.look(&format!("/pulls/{number}"))?;
        Ok(self.read_pull_request(&self.read(&answer)?)?)
    }

    /// Makes a pull request, with one request.
    pub fn create_pull_request(&self, new: &NewPullRequest) -> Result<PullRequest, GithubFailure> {
        let NewPullRequest { title, head, base, body } = new;
        let answer = self.send_once(
            HttpMethod::Post,
            "/pulls",
            Some(&json!({"title": title, "head": head, "base": base, "body": body})),
        )?;
        let read = PullRequest::read_new(&self.read(&answer)?).map_err(|why| self.unreadable(why))?;
        Ok(self.without_token(read))
    }

    /// Finds the open pull request of a branch into a base, or opens one. Retries never open a second one. After a failure whose
    /// outcome is unclear, one may be open.
    pub fn ensure_pull_request(&self, new: &NewPullRequest) -> Result<Opened, GithubFailure> {
        let open = self.open_pull_request(&new.head, &new.base).map_err(GithubFailure::of_read)?;
        if let Some(pull_request) = open {
            return Ok(Opened { pull_request, existed: true });
        }
        let failure = match self.create_pull_request(new) {
            Ok(pull_request) => return Ok(Opened { pull_request, existed: false }),
            Err(failure) => failure,
        };
        if failure.outcome == WriteOutcome::NotDone {
            return Err(failure);
        }
        // It was made all the same, or by another process. If that cannot be found out, the first failure is the one to report.
        match self.open_pull_request(&new.head, &new.base) {
            Ok(Some(pull_request)) => {
                Ok(Opened { pull_request, existed: failure.outcome == WriteOutcome::Exists })
            }
            _ => Err(failure),
        }
    }

    /// Makes an issue, with one request.
    pub fn create_issue(&self, new: &NewIssue) -> Result<Issue, GithubFailure> {
        let NewIssue { title, body, labels } = new;
        let mut issue = json!({"title": title, "body": body});
        if !labels.is_empty() {
            issue["labels"] = json!(labels);
        }
        let answer = self.send_once(HttpMethod::Post, "/issues", Some(&issue))?;
        self.read_issue(&self.read(&answer)?)
    }

    /// The text of an issue.
    pub fn issue(&self, number: u64) -> Result<IssueText> {
        let answer = self.look(&format!("/issues/{number}"))?;
        Ok(IssueText::read(&self.read(&answer)?).map_err(|why| self.unreadable(why))?)
    }

    /// The issue among the latest, open or closed, that has these words in its text.
    pub fn recent_issue(&self, words: &str) -> Result<Option<Issue>> {
        let path = format!("/issues?state=all&sort=created&direction=desc&per_page={RECENT_ISSUES}");
        let answer = self.look(&path)?;
        let listed = self.read_list(&answer)?;
        // Pull requests are listed as issues too.
        let ours = listed.iter().find(|issue| {
            issue["pull_request"].is_null() && issue["body"].as_str().is_some_and(|body| body.contains(words))
        });
        ours.map(|issue| self.read_issue(issue)).transpose().map_err(GithubFailure::into)
    }

    /// Reads, with retries as long as there is time for them.
    fn look(&self, path: &str) -> Result<JsonResponse> {
        let mut retried = 0;
        loop {
            let failure = match self.send_once(HttpMethod::Get, path, None) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let Some(pause) = failure.again.filter(|_| retried < RETRIES) else { return Err(failure.into()) };
            retried += 1;
            let pause = pause.unwrap_or(self.settings.pause * retried);
            if pause > LONGEST_PAUSE || pause >= self.settings.time_left() {
                return Err(failure.into());
            }
            std::thread::sleep(pause);
        }
    }

    /// Sends a request once. Only a success is an answer.
    fn send_once(
        &self,
        method: HttpMethod,
        path: &str,
        body: Option<&Value>,
    ) -> Result<JsonResponse, GithubFailure> {
        let failed = |error: &HttpError| failure::of_exchange(error, &self.repository, &self.token);
        let (owner, name) = (self.repository.owner(), self.repository.name());
        let url = self.base.join(&format!("repos/{owner}/{name}{path}"));
        let url = url.map_err(|error| failed(&HttpError::Broken(error.into())))?;
        let request = JsonRequest {
            method,
            url: &url,
            headers: &[
                ("accept", "application/vnd.github+json"),
                ("x-github-api-version", "2022-11-28"),
                ("user-agent", concat!("tamis/", env!("CARGO_PKG_VERSION"))),
            ],
            secret: Some(self.token.secret()),
            body: body.map(Value::to_string),
            max_bytes: LARGEST_ANSWER,
            max_failure_bytes: LARGEST_ANSWER,
        };
        let limit = self.settings.time_left();
        if limit.is_zero() {
            return Err(failure::out_of_time(&self.repository));
        }
        let answer = request.send_blocking(limit).map_err(|error| failed(&error))?;
        // A creation has status 201; other successes have no use here.
        let wanted = if method == HttpMethod::Post { 201 } else { 200 };
        match answer.status {
            status if status == wanted => Ok(answer),
            status if answer.is_success() => {
                Err(self.unreadable(&format!("its status is {status}, and not {wanted}")))
            }
            _ => Err(failure::of_answer(&answer, &self.repository, &self.token)),
        }
    }

    fn read(&self, answer: &JsonResponse) -> Result<Value, GithubFailure> {
        answer.json().map_err(|error| failure::of_exchange(&error, &self.repository, &self.token))
    }

    fn read_list(&self, answer: &JsonResponse) -> Result<Vec<Value>, GithubFailure> {
        match self.read(answer)? {
            Value::Array(listed) if listed.iter().all(Value::is_object) => Ok(listed),
            Value::Array(_) => Err(self.unreadable("it is not a list of objects")),
            _ => Err(self.unreadable("it is not a list")),
        }
    }

    fn unreadable(&self, why: &str) -> GithubFailure {
        failure::unusable(why, &self.repository)
    }

    fn read_pull_request(&self, pull: &Value) -> Result<PullRequest, GithubFailure> {
        let read = PullRequest::read(pull).map_err(|why| self.unreadable(why))?;
        Ok(self.without_token(read))
    }

    fn without_token(&self, read: PullRequest) -> PullRequest {
        PullRequest { url: self.token.scrub(&read.url), ..read }
    }

    fn read_issue(&self, issue: &Value) -> Result<Issue, GithubFailure> {
        let read = Issue::read(issue).map_err(|why| self.unreadable(why))?;
        Ok(Issue { url: self.token.scrub(&read.url), ..read })
    }
}

/// A text as the value of a query.
fn query_value(text: &str) -> String {
    use std::fmt::Write;

    let mut value = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            value.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(value, "%{byte:02X}");
        }
    }
    value
}
