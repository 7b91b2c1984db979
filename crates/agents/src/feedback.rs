//! A review agent says what it thinks.

use crate::error::Result;
use crate::{AgentsError, Call, Code, Coordinator, FeedbackSent, SendFeedback};

impl Coordinator {
    /// The contract's `send_feedback`.
    pub fn send_feedback(&self, call: &Call<'_>, input: &SendFeedback) -> Result<FeedbackSent> {
        let _ = (call, input);
        Err(AgentsError::new(Code::InternalError, "not there yet"))
    }
}
