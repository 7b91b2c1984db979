//! GitHub: which repository a remote names, the token, and the few calls that are needed.
//!
//! Entry points: [`GithubSettings::repository`] names the repository of a remote, [`GithubSettings::connect`] finds the token
//! and gives a [`Github`] with the calls.
//!
//! Reads are retried; writes are sent once. When it is unclear whether a write was done, its [outcome](WriteOutcome) is
//! `Unclear`, and the caller looks.
//!
//! Never: the token in a text, at another address than the configured one, or after a redirect. GitHub's own messages are
//! bounded, and lose the token and control characters.

mod client;
mod error;
mod failure;
mod repository;
#[cfg(test)]
mod tests;
mod token;
mod values;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use tamis_http::HttpUrl;

use error::Result;

pub use client::Github;
pub use error::{GithubError, GithubErrorKind};
pub use failure::{GithubFailure, WriteOutcome};
pub use repository::GithubRepository;
pub use token::GithubToken;
pub use values::{Issue, IssueText, NewIssue, NewPullRequest, Opened, PullRequest, PullState};

/// How GitHub is reached.
#[derive(Clone, Debug)]
pub struct GithubSettings {
    /// Where its API is, whatever the remote's host: `github.url`, or `GITHUB_API_URL` as in Actions.
    pub url: Option<HttpUrl>,
    /// A host of GitHub Enterprise beside github.com, with its port where it has one: `GH_HOST`.
    pub enterprise_host: Option<String>,
    /// `GITHUB_TOKEN`. Without it, the token is read from [the gh program](Self::gh).
    pub token: Option<GithubToken>,
    pub gh: OsString,
    /// The time limit of one request.
    pub timeout: Duration,
    /// When the caller stops waiting: for the token, for every request, and for every pause before a retry.
    pub deadline: Option<Instant>,
    /// How long to wait before a read is retried, unless GitHub names a time.
    pub pause: Duration,
}

impl Default for GithubSettings {
    fn default() -> GithubSettings {
        GithubSettings {
            url: None,
            enterprise_host: None,
            token: None,
            gh: "gh".into(),
            timeout: Duration::from_secs(15),
            deadline: None,
            pause: Duration::from_millis(300),
        }
    }
}

impl GithubSettings {
    /// The repository on GitHub that a remote's URL names; none for a remote that is elsewhere.
    pub fn repository(&self, remote: &str) -> Result<Option<GithubRepository>> {
        repository::named_by(remote, |host| self.is_github(host))
    }

    /// Finds the token, for which it may run the gh program.
    pub fn connect(&self, repository: GithubRepository) -> Result<Github> {
        let base = self.base(&repository)?;
        let token = match &self.token {
            Some(token) => token.clone(),
            None => token::of_gh(&self.gh, repository.host(), self.time_left())
                .ok_or_else(|| failure::no_token(repository.host()))?,
        };
        Ok(Github { repository, base, token, settings: self.clone() })
    }

    /// How long the next request may take.
    fn time_left(&self) -> Duration {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.map_or(self.timeout, |left| left.min(self.timeout))
    }

    fn is_github(&self, host: &str) -> bool {
        let configured = self.url.as_ref().is_some_and(|url| {
            let at = url.host();
            at.eq_ignore_ascii_case(host)
                || at.strip_prefix("api.").is_some_and(|rest| rest.eq_ignore_ascii_case(host))
        });
        let enterprise = self.enterprise_host.as_deref().map(without_port);
        configured || host == repository::GITHUB || enterprise.is_some_and(|it| it.eq_ignore_ascii_case(host))
    }

    /// What the paths of the API begin with.
    fn base(&self, repository: &GithubRepository) -> Result<HttpUrl> {
        let invalid = |url: &str, why: &dyn std::fmt::Display| {
            GithubError::new(GithubErrorKind::Invalid, format!("cannot use `{url}` for GitHub: {why}"))
                .hint("set github.url to the URL of its API, such as https://github.example/api/v3")
        };
        let base = match &self.url {
            Some(url) => url.clone(),
            None => {
                let enterprise = self.enterprise_host.as_deref();
                let host = enterprise
                    .filter(|host| without_port(host).eq_ignore_ascii_case(repository.host()))
                    .unwrap_or(repository.host());
                let url = match host {
                    host if host == repository::GITHUB || host.ends_with(".ghe.com") => {
                        format!("https://api.{host}")
                    }
                    host => format!("https://{host}/api/v3"),
                };
                url.parse().map_err(|error| invalid(&url, &error))?
            }
        };
        if !base.is_private() {
            return Err(invalid(&base.to_string(), &"the token would be sent unencrypted"));
        }
        if base.to_string().contains('?') {
            return Err(invalid(&base.to_string(), &"it contains a query"));
        }
        Ok(base)
    }
}

fn without_port(host: &str) -> &str {
    host.rsplit_once(':').map_or(host, |(host, _)| host)
}
