//! The server of the local model: whether it is up, which models it has, and how many requests it takes at a time.
//!
//! Callers are plain threads. Each waits for the answer, the cancellation or the deadline; unless the answer is first, the
//! connection is closed at once, so that the server can stop computing.

use std::future::{Future, pending};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tamis_codebase::{StopSignal, Stopped};
use tamis_http::HttpError;
use tamis_redact::Redacted;
use tokio::sync::Semaphore;

use super::chat::{ChatAnswer, ChatClient, ChatError, ChatRequest, ListedModel};
use super::{ModelLimits, ModelSettings, ModelUse};
use crate::{Role, RoleError, RoleErrorKind};

/// A local model, or the address where one may be. Any number of threads may use it.
pub struct Model {
    settings: ModelSettings,
    client: ChatClient,
    permits: Semaphore,
    known: Mutex<Option<Known>>,
}

/// What is known about the server.
struct Known {
    since: Instant,
    listed: Result<Vec<ListedModel>, RoleError>,
}

/// Parts of names of models that do not chat.
const NO_CHAT: [&str; 6] = ["embed", "rerank", "bge-", "minilm", "whisper", "clip-vit"];

/// Statuses worth a retry: too many requests, and a model that is still loading.
const PASSING: [u16; 2] = [429, 503];

/// The waits before each retry.
const WAITS: [Duration; 2] = [Duration::from_millis(250), Duration::from_millis(1000)];

impl Model {
    pub fn new(settings: ModelSettings) -> Model {
        let client = ChatClient::new(settings.url.clone(), settings.key.clone());
        let permits = Semaphore::new(settings.concurrent.clamp(1, Semaphore::MAX_PERMITS));
        Model { settings, client, permits, known: Mutex::default() }
    }

    pub fn usage(&self) -> ModelUse {
        self.settings.usage
    }

    pub fn limits(&self) -> ModelLimits {
        self.settings.limits
    }

    /// The model for a role, if the server is up and has one.
    pub fn name_for(&self, role: Role, stop: &StopSignal) -> Result<String, RoleError> {
        let listed = self.listed(stop)?;
        let settings = &self.settings;
        if let Some(name) = settings.role_names.get(&role).or(settings.name.as_ref()) {
            return Ok(name.clone());
        }
        let chats = |model: &&ListedModel| {
            let id = model.id.to_lowercase();
            let kind = model.kind.as_deref().unwrap_or_default();
            !id.is_empty() && !kind.contains("embed") && !NO_CHAT.iter().any(|word| id.contains(word))
        };
        listed.iter().find(chats).map(|model| model.id.clone()).ok_or_else(|| {
            let message = format!("{} has no model that chats; load one, or name one", settings.url);
            RoleError::new(RoleErrorKind::ProviderUnavailable, message)
        })
    }

    /// The server's models, cached for a while. Callers that come meanwhile wait for the same request.
    fn listed(&self, stop: &StopSignal) -> Result<Vec<ListedModel>, RoleError> {
        let mut known = self.known.lock();
        // A server that is computing for another caller is up, though it may not answer the probe in time.
        let at_work = self.permits.available_permits() < self.settings.concurrent;
        if let Some(Known { since, listed }) = known.as_ref()
            && (since.elapsed() < self.settings.remembered || (listed.is_ok() && at_work))
        {
            return listed.clone();
        }
        let outcome = wait(stop, async {
            match self.client.models(self.settings.probe_timeout).await {
                // It cannot list its models, and need not where a name is configured.
                Err(ChatError::Status { status: 404 | 405 | 501, .. }) if self.settings.name.is_some() => {
                    Ok(Vec::new())
                }
                Err(error) => {
                    let message = format!("no model at {}: {error}", self.settings.url);
                    Err(RoleError::new(
                        RoleErrorKind::ProviderUnavailable,
                        Redacted::from(message).into_inner(),
                    ))
                }
                Ok(listed) => Ok(listed),
            }
        });
        // That this request ran out of time says nothing about the next one.
        if !matches!(&outcome, Err(error) if error.kind != RoleErrorKind::ProviderUnavailable) {
            *known = Some(Known { since: Instant::now(), listed: outcome.clone() });
        }
        outcome
    }

    /// Takes one turn when a permit is free.
    pub(super) fn chat(&self, request: &ChatRequest<'_>, stop: &StopSignal) -> Result<ChatAnswer, RoleError> {
        let outcome = wait(stop, async {
            let mut waits = WAITS.iter();
            loop {
                let permit = self.permits.acquire().await;
                let outcome = self.client.chat(request, self.settings.turn_timeout).await;
                drop(permit);
                let passing =
                    matches!(&outcome, Err(ChatError::Status { status, .. }) if PASSING.contains(status));
                match waits.next().filter(|_| passing) {
                    Some(time) => tokio::time::sleep(*time).await,
                    None => return outcome.map_err(error_of),
                }
            }
        });
        if matches!(&outcome, Err(error) if error.kind == RoleErrorKind::ProviderUnavailable) {
            *self.known.lock() = None;
        }
        outcome
    }
}

fn error_of(error: ChatError) -> RoleError {
    let kind = match &error {
        ChatError::Http(HttpError::Timeout(_)) => RoleErrorKind::Timeout,
        ChatError::Http(HttpError::Connect { .. }) => RoleErrorKind::ProviderUnavailable,
        // Servers have no code for it, only words.
        ChatError::Status { message: Some(message), .. } if message.contains("context") => {
            RoleErrorKind::ContextTooLong
        }
        _ => RoleErrorKind::ProviderError,
    };
    // A server's message may contain anything.
    RoleError::new(kind, Redacted::from(format!("the model's server failed: {error}")).into_inner())
}

/// Waits for the work, the cancellation or the deadline, whichever comes first.
fn wait<T>(stop: &StopSignal, work: impl Future<Output = Result<T, RoleError>>) -> Result<T, RoleError> {
    stop.check()?;
    let outcome = tamis_http::block_on(async {
        let deadline = async {
            match stop.deadline() {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stop.token().cancelled() => Err(Stopped::Cancelled.into()),
            () = deadline => Err(Stopped::OutOfTime.into()),
            outcome = work => outcome,
        }
    });
    outcome.unwrap_or_else(|error| Err(RoleError::new(RoleErrorKind::Internal, error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_went_away_is_looked_for_again() {
        // A port in use, so that no other process takes it meanwhile, and on which nothing listens.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let url = format!("http://{}/v1", taken.local_addr().unwrap()).parse().unwrap();
        let model = Model::new(ModelSettings::at(url, ModelUse::Auto, 1));
        let listed = ListedModel { id: "gone".into(), kind: None };
        *model.known.lock() = Some(Known { since: Instant::now(), listed: Ok(vec![listed]) });
        assert_eq!(model.name_for(Role::Locator, &StopSignal::never()), Ok("gone".to_owned()));
        let request =
            ChatRequest { model: "gone", messages: &[], tools: &[], max_tokens: 1, temperature: 0.0 };
        let error = model.chat(&request, &StopSignal::never()).unwrap_err();
        assert_eq!(error.kind, RoleErrorKind::ProviderUnavailable);
        let error = model.name_for(Role::Locator, &StopSignal::never()).unwrap_err();
        assert!(error.message.starts_with("no model at http://127.0.0.1:"), "{error}");
    }
}
