//! Names of journaled operations: the contract's tools, and starting an agent.

pub(crate) const START: &str = "start";
pub(crate) const REQUEST_REVIEW: &str = "request_review";
pub(crate) const SEND_FEEDBACK: &str = "send_feedback";
pub(crate) const CREATE_PULL_REQUEST: &str = "create_pull_request";
pub(crate) const CREATE_ISSUES: &str = "create_issues";
