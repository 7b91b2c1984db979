//! What agents are told first.

use crate::error::Result;
use crate::records::{Instance, Review};
use crate::{Coordinator, RequestReview};

impl Coordinator {
    pub(crate) fn work_prompt(&self, instance: &Instance) -> Result<String> {
        Ok(instance.task.clone())
    }

    pub(crate) fn review_prompt(
        &self,
        reviewer: &Instance,
        coding: &Instance,
        review: &Review,
        input: &RequestReview,
    ) -> Result<String> {
        let _ = (coding, review, input);
        Ok(reviewer.task.clone())
    }
}
