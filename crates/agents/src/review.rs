//! The review loop: requesting a review, giving feedback, and the prompts of agents.

pub(crate) mod prompt_facts;
pub(crate) mod prompts;
pub(crate) mod request_review;
pub(crate) mod send_feedback;
