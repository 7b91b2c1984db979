//! Pull requests and issues: as much of them as is needed here.

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

/// The text of an issue, which anyone may have written.
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
    /// One that was made just now. It is open, even where the answer does not say so.
    pub(super) fn read_new(json: &Value) -> Result<PullRequest, &'static str> {
        if json.is_object() && json["state"].is_null() {
            let (number, url) = number_and_url(json)?;
            return Ok(PullRequest { number, url, state: PullState::Open });
        }
        PullRequest::read(json)
    }

    pub(super) fn read(json: &Value) -> Result<PullRequest, &'static str> {
        let (number, url) = number_and_url(json)?;
        // Only a pull request that is read alone has `merged`.
        let merged = json["merged"] == true || json["merged_at"].is_string();
        let state = match json["state"].as_str() {
            _ if merged => PullState::Merged,
            Some("open") => PullState::Open,
            Some("closed") => PullState::Closed,
            None => return Err("it has no state"),
            Some(_) => return Err("its state is neither open nor closed"),
        };
        Ok(PullRequest { number, url, state })
    }
}

impl Issue {
    pub(super) fn read(json: &Value) -> Result<Issue, &'static str> {
        let (number, url) = number_and_url(json)?;
        Ok(Issue { number, url })
    }
}

impl IssueText {
    pub(super) fn read(json: &Value) -> Result<IssueText, &'static str> {
        let title = json["title"].as_str().ok_or("it has no title")?;
        // An issue without a text has none, and not an empty one.
        let text = json["body"].as_str().unwrap_or_default();
        Ok(IssueText {
            title: shortened(&plain_line(title), LONGEST_TITLE),
            text: shortened(plain_text(text).trim(), LONGEST_TEXT),
        })
    }
}

fn number_and_url(json: &Value) -> Result<(u64, String), &'static str> {
    if !json.is_object() {
        return Err("it is not an object");
    }
    let number = json["number"].as_u64().ok_or("it has no valid number")?;
    let url = json["html_url"].as_str().filter(|url| {
        let web = url.starts_with("https://") || url.starts_with("http://");
        web && url.len() <= LONGEST_URL && url.bytes().all(|byte| byte.is_ascii_graphic())
    });
    Ok((number, url.ok_or("it has no valid html_url")?.to_owned()))
}
