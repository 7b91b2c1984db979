//! Something to be done by whoever coordinates: here if it is this process, else there, over HTTP.
//!
//! A coordinator may die in the middle. Then the errand is run again with whoever comes after it, with the same key, so
//! that what was done is not done twice.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tamis_agents::{AgentsError, Code, Coordinator, is_coordinated, whereabouts};
use tamis_http::{BearerSecret, HttpError, HttpMethod, HttpUrl, JsonRequest};

use super::Agents;
use super::wire::read_error;

/// How soon to look again when nobody answers.
pub(super) const NEXT_LOOK: Duration = Duration::from_millis(100);

/// A coordinator whose own time is up needs a little more to say so.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Answers are a few lines; a clean-up's may have a few for every instance.
const LARGEST_ANSWER: usize = 16 << 20;

/// Beside an error after which it may have been done all the same.
const UNKNOWN_OUTCOME: &str = "outcome_unknown";

/// Whether nobody was there to do it, so that it may be asked of whoever comes next.
pub fn was_not_done(error: &AgentsError) -> bool {
    error.code == Code::CoordinatorUnavailable && !error.details.contains_key(UNKNOWN_OUTCOME)
}

/// What is asked of whoever coordinates, where that is another process.
pub(super) struct Errand {
    pub(super) method: HttpMethod,
    /// Below the server's address.
    pub(super) path: String,
    pub(super) secret: Option<BearerSecret>,
    pub(super) key: String,
    pub(super) body: Option<Value>,
    pub(super) deadline: Instant,
    /// Whether it may be run again when it is not known what became of it: the key, or what it is, sees to it that it is
    /// done once.
    pub(super) is_repeatable: bool,
}

/// What came of an attempt, unless it failed for good.
enum Attempt {
    Answered(Value),
    /// Nobody is there, or nobody who coordinates.
    Absent(String),
    /// Somebody was, and went away before an answer.
    Died(String),
}

impl Agents {
    /// Runs an errand: `here` does it in this process.
    pub(super) async fn run<T: DeserializeOwned + Send + 'static>(
        self: &Arc<Self>,
        errand: &Errand,
        here: impl FnOnce(&Coordinator) -> Result<T, AgentsError> + Send + 'static,
    ) -> Result<T, AgentsError> {
        let mut missed_since = Instant::now();
        loop {
            if let Some(coordinator) = self.here() {
                let agents = Arc::clone(self);
                return blocking(move || {
                    let outcome = here(&coordinator);
                    agents.ring();
                    outcome
                })
                .await;
            }
            let why = match self.there(errand).await? {
                Attempt::Answered(answer) => return serde_json::from_value(answer).map_err(unreadable),
                Attempt::Absent(why) => why,
                Attempt::Died(why) if errand.is_repeatable => why,
                Attempt::Died(why) => return Err(cut_off(&why)),
            };
            // Somebody is there, who repairs before answering, or finishes what is under way before ending.
            if is_coordinated(&self.settings.coordinator.data_dir) {
                missed_since = Instant::now();
            }
            if Instant::now() >= errand.deadline {
                return Err(late(&why));
            }
            if missed_since.elapsed() >= self.settings.patience {
                return Err(nobody_coordinates(&why));
            }
            tokio::time::sleep(NEXT_LOOK).await;
        }
    }

    /// One attempt with another process.
    async fn there(&self, errand: &Errand) -> Result<Attempt, AgentsError> {
        let Some(other) = whereabouts(&self.settings.coordinator.data_dir) else {
            return Ok(Attempt::Absent("there is nobody in this data folder who does".to_owned()));
        };
        let url = other.url.parse::<HttpUrl>().and_then(|url| url.join(&errand.path));
        let url = match url {
            Ok(url) => url,
            Err(error) => return Ok(Attempt::Absent(format!("{} is not a URL: {error}", other.url))),
        };
        let left = errand.deadline.saturating_duration_since(Instant::now());
        let left_ms = left.as_millis().to_string();
        let headers = [("tamis-call", errand.key.as_str()), ("tamis-time-left-ms", left_ms.as_str())];
        let request = JsonRequest {
            method: errand.method,
            url: &url,
            headers: &headers,
            secret: errand.secret.as_ref(),
            body: errand.body.as_ref().map(Value::to_string),
            max_bytes: LARGEST_ANSWER,
            max_failure_bytes: LARGEST_ANSWER,
        };
        match request.send(left + LAST_WORDS).await {
            Ok(answer) => understood(&other.url, answer.status, answer.json().ok()),
            Err(HttpError::Timeout(_)) => Err(late(&format!("the coordinator at {} is silent", other.url))),
            Err(error @ (HttpError::Broken(_) | HttpError::CutShort)) => {
                Ok(Attempt::Died(format!("the coordinator at {} went away: {error}", other.url)))
            }
            Err(error) => {
                Ok(Attempt::Absent(format!("the coordinator at {} does not answer: {error}", other.url)))
            }
        }
    }
}

/// What an answer means: done, failed, or that this is not whom to ask.
fn understood(url: &str, status: u16, body: Option<Value>) -> Result<Attempt, AgentsError> {
    match (status, body) {
        (200..300, Some(body)) => Ok(Attempt::Answered(body)),
        (401, Some(body)) if read_error(body.clone()).is_none() => {
            Err(AgentsError::new(Code::PermissionDenied, format!("the coordinator at {url} wants its token"))
                .suggest("`tamis token` prints it; TAMIS_TOKEN must be the same for both"))
        }
        (_, body) => match body.and_then(read_error) {
            Some(error) if error.code == Code::CoordinatorUnavailable => Ok(Attempt::Absent(error.message)),
            Some(error) => Err(error),
            None => {
                Ok(Attempt::Absent(format!("what is at {url} is no coordinator, by its status {status}")))
            }
        },
    }
}

/// Runs what blocks away from the threads that serve connections. It goes on to its end whoever still waits for it.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AgentsError> + Send + 'static,
) -> Result<T, AgentsError> {
    // A panic's own words may quote what was read.
    let panicked = |_| AgentsError::new(Code::InternalError, "the tool panicked");
    tokio::task::spawn_blocking(work).await.map_err(panicked)?
}

fn unreadable(error: serde_json::Error) -> AgentsError {
    AgentsError::new(Code::InternalError, format!("the coordinator's answer cannot be understood: {error}"))
        .suggest("use the same version of tamis for both: `tamis --version`")
}

fn cut_off(why: &str) -> AgentsError {
    AgentsError::new(Code::CoordinatorUnavailable, format!("it is not known whether it was done: {why}"))
        .suggest("`tamis agents list` shows what there is")
        .detail(UNKNOWN_OUTCOME, true)
}

fn late(why: &str) -> AgentsError {
    AgentsError::new(Code::Timeout, format!("there is no answer in time: {why}"))
        .suggest("`tamis agents show` says how far it has come")
}

pub(super) fn nobody_coordinates(why: &str) -> AgentsError {
    AgentsError::new(Code::CoordinatorUnavailable, format!("nobody coordinates agents: {why}"))
        .suggest("`tamis serve` does, as long as it runs")
}
