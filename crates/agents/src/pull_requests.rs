//! Pull requests and issues on GitHub.

pub(crate) mod body;
pub(crate) mod create_issues;
pub(crate) mod create_pull_request;
