//! A coding agent asks for a review.

use crate::error::Result;
use crate::{AgentsError, Call, Code, Coordinator, RequestReview, ReviewRequested};

impl Coordinator {
    /// The contract's `request_review`.
    pub fn request_review(&self, call: &Call<'_>, input: &RequestReview) -> Result<ReviewRequested> {
        let _ = (call, input);
        Err(AgentsError::new(Code::InternalError, "not there yet"))
    }
}
