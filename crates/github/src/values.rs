//! What GitHub is told and tells: as much of it as is needed here.

use serde_json::Value;

use tamis_text::plain::{plain_line, plain_text, shortened};

const LONGEST_URL: usize = 2000;

/// As long as GitHub lets them be.
const LONGEST_TITLE: usize = 256;
const LONGEST_TEXT: usize = 65_536;

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

/// What somebody wrote in an issue. Anybody may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueText {
    pub title: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIssue {
    pub title: String,
    pub body: String,
    pub labels: Vec<String>,
}

impl PullRequest {
    pub(super) fn read(told: &Value) -> Result<PullRequest, &'static str> {
        let (number, url) = number_and_url(told)?;
        // Only one that was asked for alone says `merged`.
        let merged = told["merged"] == true || told["merged_at"].is_string();
        let state = match told["state"].as_str() {
            _ if merged => PullState::Merged,
            Some("open") => PullState::Open,
            Some("closed") => PullState::Closed,
            _ => return Err("a pull request has no state"),
        };
        Ok(PullRequest { number, url, state })
    }
}

impl Issue {
    pub(super) fn read(told: &Value) -> Result<Issue, &'static str> {
        let (number, url) = number_and_url(told)?;
        Ok(Issue { number, url })
    }
}

impl IssueText {
    pub(super) fn read(told: &Value) -> Result<IssueText, &'static str> {
        let title = told["title"].as_str().ok_or("it has no title")?;
        // An issue without a text has none, and not an empty one.
        let text = told["body"].as_str().unwrap_or_default();
        Ok(IssueText {
            title: shortened(&plain_line(title), LONGEST_TITLE),
            text: shortened(plain_text(text).trim(), LONGEST_TEXT),
        })
    }
}

fn number_and_url(told: &Value) -> Result<(u64, String), &'static str> {
    let number = told["number"].as_u64().ok_or("it has no number")?;
    let url = told["html_url"].as_str().filter(|url| {
        let web = url.starts_with("https://") || url.starts_with("http://");
        web && url.len() <= LONGEST_URL && url.bytes().all(|byte| byte.is_ascii_graphic())
    });
    Ok((number, url.ok_or("it has no address")?.to_owned()))
}
