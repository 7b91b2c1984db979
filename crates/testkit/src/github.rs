//! A fake GitHub with one repository, on a free port of 127.0.0.1.
//!
//! It checks every field and header of every request, and records a complaint about what GitHub would refuse or silently
//! ignore; a test with a complaint fails. Otherwise it answers as the real API does, and fails on command. Silence lasts until
//! the test ends it or the client disconnects, so no test waits for time to pass.

mod api;
mod check;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use serde_json::Value;

use crate::http::{self, Held, HttpRequest, Listening};

const PATIENCE: Duration = Duration::from_secs(60);

/// The only repository.
#[derive(Clone, Debug)]
pub struct FakeRepository {
    pub owner: String,
    pub name: String,
    /// The only token that is accepted.
    pub token: String,
    pub default_branch: String,
    /// A bare repository. If set, a pull request's branches must exist in it and differ.
    pub git: Option<PathBuf>,
}

impl Default for FakeRepository {
    fn default() -> FakeRepository {
        FakeRepository {
            owner: "octo-org".to_owned(),
            name: "tool".to_owned(),
            token: "ghp_0123456789abcdefghijklmnopqrstuvwxyz".to_owned(),
            default_branch: "main".to_owned(),
            git: None,
        }
    }
}

/// How a request fails.
#[derive(Clone, Debug)]
pub enum GithubFault {
    /// No answer until the test releases it; then the connection is closed.
    Silence,
    HangUp,
    /// An answer that is cut off in the middle.
    HalfBody,
    /// An HTML page, as proxies send it.
    NotJson,
    /// A failure in GitHub's form.
    Status(u16),
    /// A rate limit with this status, and the seconds to wait.
    RateLimit(u16, Option<u64>),
    /// A redirect to this URL.
    Redirect(String),
    /// This status and body.
    Says(u16, Value),
}

/// Whether the request fails before or after it took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Before,
    After,
}

/// A received request.
#[derive(Clone, Debug)]
pub struct GithubRequest {
    pub method: String,
    /// With its query.
    pub path: String,
    pub body: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FakePullRequest {
    pub number: u64,
    pub title: String,
    pub head: String,
    pub base: String,
    pub body: String,
    pub open: bool,
    pub merged: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FakeIssue {
    pub number: u64,
    pub title: String,
    pub body: String,
    pub labels: Vec<String>,
}

/// A running GitHub. Dropping it ends it, and fails the test if a request was malformed.
pub struct FakeGithub {
    shared: Arc<Shared>,
    listening: Listening,
}

struct Shared {
    repository: FakeRepository,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    pulls: Vec<FakePullRequest>,
    issues: Vec<FakeIssue>,
    requests: Vec<GithubRequest>,
    complaints: Vec<String>,
    faults: VecDeque<(Option<&'static str>, When, GithubFault)>,
    hung_up: usize,
    released: bool,
    closed: bool,
}

impl FakeGithub {
    pub fn start(repository: FakeRepository) -> FakeGithub {
        let shared = Arc::new(Shared { repository, state: Mutex::default(), changed: Condvar::new() });
        let serving = Arc::clone(&shared);
        let listening = Listening::start(move |stream, address| serving.serve(stream, address));
        FakeGithub { shared, listening }
    }

    /// `http://127.0.0.1:<port>/api/v3`, as on GitHub Enterprise.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.listening.address, api::PREFIX)
    }

    /// `http://127.0.0.1:<port>/<owner>/<name>/pull/<number>`.
    pub fn pull_url(&self, number: u64) -> String {
        api::web_url(&self.shared.repository, self.listening.address, "pull", number)
    }

    /// `http://127.0.0.1:<port>/<owner>/<name>/issues/<number>`.
    pub fn issue_url(&self, number: u64) -> String {
        api::web_url(&self.shared.repository, self.listening.address, "issues", number)
    }

    /// The next `times` requests fail before they take effect.
    pub fn misbehave(&self, fault: GithubFault, times: usize) {
        self.plan(None, When::Before, fault, times);
    }

    /// The next `times` requests of a method fail, before or after they took effect.
    pub fn misbehave_on(&self, method: &'static str, when: When, fault: GithubFault, times: usize) {
        self.plan(Some(method), when, fault, times);
    }

    fn plan(&self, method: Option<&'static str>, when: When, fault: GithubFault, times: usize) {
        self.shared.state.lock().faults.extend(std::iter::repeat_n((method, when, fault), times));
    }

    /// Cancels all planned failures.
    pub fn behave(&self) {
        self.shared.state.lock().faults.clear();
    }

    /// Releases silent answers, and those to come.
    pub fn release(&self) {
        self.shared.state.lock().released = true;
    }

    /// Waits until `count` clients disconnected from a silent GitHub.
    pub fn wait_for_hang_ups(&self, count: usize) {
        let mut state = self.shared.state.lock();
        self.shared.changed.wait_while_for(&mut state, |state| state.hung_up < count, PATIENCE);
        assert!(state.hung_up >= count, "{count} clients did not disconnect");
    }

    /// All requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<GithubRequest> {
        self.shared.state.lock().requests.clone()
    }

    pub fn pull_requests(&self) -> Vec<FakePullRequest> {
        self.shared.state.lock().pulls.clone()
    }

    pub fn issues(&self) -> Vec<FakeIssue> {
        self.shared.state.lock().issues.clone()
    }

    /// Opens an issue, as a user does on the website, and returns its number.
    pub fn open_issue(&self, title: &str, body: &str) -> u64 {
        let mut state = self.shared.state.lock();
        let number = api::next_number(&state);
        let (title, body) = (title.to_owned(), body.to_owned());
        state.issues.push(FakeIssue { number, title, body, labels: Vec::new() });
        number
    }

    /// Closes or merges a pull request, as a user does on the website.
    pub fn close(&self, number: u64, merged: bool) {
        let mut state = self.shared.state.lock();
        let pull = state.pulls.iter_mut().find(|pull| pull.number == number).expect("a pull request");
        (pull.open, pull.merged) = (false, merged);
    }

    /// Reopens a closed pull request.
    pub fn reopen(&self, number: u64) {
        let mut state = self.shared.state.lock();
        let pull = state.pulls.iter_mut().find(|pull| pull.number == number).expect("a pull request");
        pull.open = true;
    }

    /// The errors in requests so far.
    pub fn complaints(&self) -> Vec<String> {
        self.shared.state.lock().complaints.clone()
    }

    /// Fails unless every request was well-formed.
    pub fn assert_clean(&self) {
        assert_eq!(self.complaints(), Vec::<String>::new(), "requests that GitHub would not understand");
    }
}

impl Drop for FakeGithub {
    fn drop(&mut self) {
        self.shared.state.lock().closed = true;
        // A failed test has panicked already.
        if !std::thread::panicking() {
            self.assert_clean();
        }
    }
}

/// An answer.
struct Reply {
    status: u16,
    body: Value,
}

impl Shared {
    fn serve(&self, mut stream: TcpStream, address: SocketAddr) {
        let Some(request) = http::read_request(&mut stream) else { return };
        let (reply, fault) = self.take(&request, address);
        match fault {
            None => http::respond(&mut stream, reply.status, &[], &reply.body.to_string()),
            Some(fault) => self.fail(&mut stream, fault, &reply),
        }
        http::hang_up(&stream);
    }

    /// Records the request, checks it, and executes it unless it is to fail before that.
    fn take(&self, request: &HttpRequest, address: SocketAddr) -> (Reply, Option<GithubFault>) {
        let mut state = self.state.lock();
        let complaints = check::complaints(request, &self.repository, address);
        state.complaints.extend(complaints);
        let HttpRequest { method, path, body, .. } = request;
        state.requests.push(GithubRequest { method: method.clone(), path: path.clone(), body: body.clone() });
        let planned = state.faults.iter().position(|(on, ..)| on.is_none_or(|on| on == method.as_str()));
        let planned = planned.and_then(|place| state.faults.remove(place));
        let reply = match &planned {
            Some((_, When::Before, _)) => {
                Reply { status: 200, body: serde_json::json!({"message": "never read to its end"}) }
            }
            _ => api::answer(request, &self.repository, &mut state, address),
        };
        (reply, planned.map(|(_, _, fault)| fault))
    }

    fn fail(&self, stream: &mut TcpStream, fault: GithubFault, reply: &Reply) {
        let failure = |message: &str| api::failure(message).to_string();
        match fault {
            GithubFault::Silence => {
                let held = http::hold(stream, || {
                    let state = self.state.lock();
                    (state.released || state.closed).then_some(Held::Closed)
                });
                if held == Held::HungUp {
                    self.state.lock().hung_up += 1;
                    self.changed.notify_all();
                }
            }
            GithubFault::HangUp => {}
            GithubFault::HalfBody => http::respond_half(stream, reply.status, &reply.body.to_string()),
            GithubFault::NotJson => http::respond(stream, reply.status, &[], "<html>Unicorn!</html>"),
            GithubFault::Status(status) => {
                let message = match status {
                    401 => "Bad credentials",
                    403 => "Resource not accessible by personal access token",
                    404 => "Not Found",
                    422 => "Validation Failed",
                    _ => "Server Error",
                };
                http::respond(stream, status, &[("x-ratelimit-remaining", "4999")], &failure(message));
            }
            GithubFault::RateLimit(status, after) => {
                let after = after.map(|seconds| seconds.to_string());
                let mut headers = vec![("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1")];
                headers.extend(after.as_deref().map(|after| ("retry-after", after)));
                http::respond(stream, status, &headers, &failure("API rate limit exceeded"));
            }
            GithubFault::Redirect(to) => {
                http::respond(stream, 307, &[("location", &to)], &failure("Moved Permanently"));
            }
            GithubFault::Says(status, body) => http::respond(stream, status, &[], &body.to_string()),
        }
    }
}
