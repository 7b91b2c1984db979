//! The few calls that are needed, each one request that is answered before it returns.

use std::time::Duration;

use serde_json::{Value, json};
use tamis_remote::{Address, JsonAnswer, JsonMethod, JsonRequest, RemoteError};

use super::failure::{self, Failure, Outcome};
use super::{GithubRepository, Token};
use crate::error::Result;
use crate::plain::plain_line;

/// A pull request is told in some 30 KB, of which a list may have a hundred; issues are half of that.
const LARGEST_ANSWER: usize = 8 << 20;

/// How often a question is repeated.
const REPEATS: u32 = 2;

/// GitHub may ask for more patience than anybody who waits for a tool has.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// As many as GitHub lists at once.
const RECENT_ISSUES: usize = 100;

/// A repository on GitHub that can be asked about.
#[derive(Clone, Debug)]
pub struct Github {
    repository: GithubRepository,
    base: Address,
    token: Token,
    timeout: Duration,
    pause: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    pub number: u64,
    pub url: String,
    pub state: PullState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullState {
    Open,
    Closed,
    Merged,
}

/// A pull request to be made, from a branch of the repository to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPullRequest {
    pub title: String,
    pub head: String,
    pub base: String,
    pub body: String,
}

/// The pull request of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    pub pull_request: PullRequest,
    /// Whether it was there before.
    pub existed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    pub number: u64,
    pub url: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIssue {
    pub title: String,
    pub body: String,
    pub labels: Vec<String>,
}

impl Github {
    pub(super) fn new(
        repository: GithubRepository,
        base: Address,
        token: Token,
        timeout: Duration,
        pause: Duration,
    ) -> Github {
        Github { repository, base, token, timeout, pause }
    }

    pub fn repository(&self) -> &GithubRepository {
        &self.repository
    }

    /// The branch that pull requests go to unless another is named.
    pub fn default_branch(&self) -> Result<String> {
        let answer = self.look("")?;
        let repository = self.read::<Value>(&answer)?;
        match repository["default_branch"].as_str() {
            Some(branch) if !branch.is_empty() => Ok(plain_line(branch)),
            _ => Err(self.unreadable("it names no default branch").into()),
        }
    }

    /// The open pull request of a branch.
    pub fn open_pull_request(&self, branch: &str) -> Result<Option<PullRequest>> {
        let owner = self.repository.owner();
        let head = query_value(&format!("{owner}:{branch}"));
        let answer = self.look(&format!("/pulls?state=open&head={head}&per_page=100"))?;
        let listed = self.read::<Vec<Value>>(&answer)?;
        // GitHub lists all of them when it cannot make sense of `head`; so each is looked at.
        let ours = listed.iter().find(|pull| {
            let label = pull["head"]["label"].as_str().and_then(|label| label.split_once(':'));
            label.is_some_and(|(by, named)| by.eq_ignore_ascii_case(owner) && named == branch)
        });
        ours.map(|pull| self.read_pull_request(pull)).transpose().map_err(Failure::into)
    }

    pub fn pull_request(&self, number: u64) -> Result<PullRequest> {
        let answer = self.look(&format!("/pulls/{number}"))?;
        Ok(self.read_pull_request(&self.read(&answer)?)?)
    }

    /// Makes a pull request, asking once.
    pub fn create_pull_request(&self, new: &NewPullRequest) -> Result<PullRequest, Failure> {
        let NewPullRequest { title, head, base, body } = new;
        let answer = self.ask_once(
            JsonMethod::Post,
            "/pulls",
            Some(&json!({"title": title, "head": head, "base": base, "body": body})),
        )?;
        self.read_pull_request(&self.read(&answer)?)
    }

    /// The open pull request of a branch, which is made if there is none. However it fails, calling again makes no second.
    pub fn ensure_pull_request(&self, new: &NewPullRequest) -> Result<Opened> {
        if let Some(pull_request) = self.open_pull_request(&new.head)? {
            return Ok(Opened { pull_request, existed: true });
        }
        let failure = match self.create_pull_request(new) {
            Ok(pull_request) => return Ok(Opened { pull_request, existed: false }),
            Err(failure) => failure,
        };
        if failure.outcome == Outcome::NotDone {
            return Err(failure.into());
        }
        // It was made all the same, or somebody was faster. When that cannot be found out, the first failure is the one to tell.
        match self.open_pull_request(&new.head) {
            Ok(Some(pull_request)) => {
                Ok(Opened { pull_request, existed: failure.outcome == Outcome::Exists })
            }
            _ => Err(failure.into()),
        }
    }

    /// Makes an issue, asking once.
    pub fn create_issue(&self, new: &NewIssue) -> Result<Issue, Failure> {
        let NewIssue { title, body, labels } = new;
        let mut issue = json!({"title": title, "body": body});
        if !labels.is_empty() {
            issue["labels"] = json!(labels);
        }
        let answer = self.ask_once(JsonMethod::Post, "/issues", Some(&issue))?;
        self.read_issue(&self.read(&answer)?)
    }

    /// The issue among the latest that has these words in its text, whoever closed it since.
    pub fn recent_issue(&self, words: &str) -> Result<Option<Issue>> {
        let path = format!("/issues?state=all&sort=created&direction=desc&per_page={RECENT_ISSUES}");
        let answer = self.look(&path)?;
        let listed = self.read::<Vec<Value>>(&answer)?;
        // Pull requests are listed as issues too.
        let ours = listed.iter().find(|issue| {
            issue["pull_request"].is_null() && issue["body"].as_str().is_some_and(|body| body.contains(words))
        });
        ours.map(|issue| self.read_issue(issue)).transpose().map_err(Failure::into)
    }

    /// Asks a question, and again when there is no answer.
    fn look(&self, path: &str) -> Result<JsonAnswer> {
        let mut repeated = 0;
        loop {
            let failure = match self.ask_once(JsonMethod::Get, path, None) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match failure.again {
                Some(pause) if repeated < REPEATS && pause.is_none_or(|pause| pause <= LONGEST_PAUSE) => {
                    repeated += 1;
                    std::thread::sleep(pause.unwrap_or(self.pause * repeated));
                }
                _ => return Err(failure.into()),
            }
        }
    }

    /// Asks once, and gives an answer only when it tells of success.
    fn ask_once(&self, method: JsonMethod, path: &str, body: Option<&Value>) -> Result<JsonAnswer, Failure> {
        let failed = |error: &RemoteError| failure::of_exchange(error, &self.repository, &self.token);
        let (owner, name) = (self.repository.owner(), self.repository.name());
        let address = self.base.below(&format!("repos/{owner}/{name}{path}"));
        let address = address.map_err(|error| failed(&RemoteError::Broken(error.into())))?;
        let request = JsonRequest {
            method,
            address: &address,
            headers: &[
                ("accept", "application/vnd.github+json"),
                ("x-github-api-version", "2022-11-28"),
                ("user-agent", concat!("tamis/", env!("CARGO_PKG_VERSION"))),
            ],
            secret: Some(self.token.secret()),
            body,
            limit: LARGEST_ANSWER,
        };
        let answer = send(&request, self.timeout).map_err(|error| failed(&error))?;
        // What was made is told with 201, and all else that is no failure has a body too.
        match (answer.status, method) {
            (200, JsonMethod::Get) | (201, JsonMethod::Post) => Ok(answer),
            _ if answer.is_success() => {
                Err(self.unreadable(&format!("it answered with status {}", answer.status)))
            }
            _ => Err(failure::of_answer(&answer, &self.repository, &self.token)),
        }
    }

    fn read<T: serde::de::DeserializeOwned>(&self, answer: &JsonAnswer) -> Result<T, Failure> {
        answer.json().map_err(|error| failure::of_exchange(&error, &self.repository, &self.token))
    }

    fn unreadable(&self, why: &str) -> Failure {
        let error = RemoteError::Unreadable(why.to_owned());
        failure::of_exchange(&error, &self.repository, &self.token)
    }

    fn read_pull_request(&self, pull: &Value) -> Result<PullRequest, Failure> {
        let (number, url) = self.read_number_and_url(pull)?;
        let merged = pull["merged"] == true || pull["merged_at"].is_string();
        let state = match pull["state"].as_str() {
            _ if merged => PullState::Merged,
            Some("open") => PullState::Open,
            Some("closed") => PullState::Closed,
            _ => return Err(self.unreadable("a pull request has no state")),
        };
        Ok(PullRequest { number, url, state })
    }

    fn read_issue(&self, issue: &Value) -> Result<Issue, Failure> {
        let (number, url) = self.read_number_and_url(issue)?;
        Ok(Issue { number, url })
    }

    fn read_number_and_url(&self, told: &Value) -> Result<(u64, String), Failure> {
        let url = told["html_url"].as_str().filter(|url| {
            let web = url.starts_with("https://") || url.starts_with("http://");
            web && url.len() <= 2000 && url.bytes().all(|byte| byte.is_ascii_graphic())
        });
        match (told["number"].as_u64(), url) {
            (Some(number), Some(url)) => Ok((number, self.token.scrub(url))),
            _ => Err(self.unreadable("it has no number or no address")),
        }
    }
}

/// Asks, on a runtime of its own: callers are threads that have nothing else to do.
fn send(request: &JsonRequest<'_>, timeout: Duration) -> Result<JsonAnswer, RemoteError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| RemoteError::Broken(error.into()))?;
    let answer = runtime.block_on(request.send(timeout));
    // A look-up of a name that hangs is not waited for.
    runtime.shutdown_background();
    answer
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
