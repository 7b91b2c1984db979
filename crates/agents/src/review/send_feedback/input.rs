//! Limits of the input of `send_feedback`.

use crate::error::Result;
use crate::{AgentsError, Code, SendFeedback};

const LONGEST_FEEDBACK: usize = 100_000;
const LONGEST_PRIORITY: usize = 100;
const MOST_ITEMS: usize = 200;
const LONGEST_ITEM: usize = 5_000;

pub(super) fn check(input: &SendFeedback) -> Result<()> {
    let length = input.feedback.chars().count();
    let refused = |message: String| Err(AgentsError::new(Code::ValidationError, message));
    if input.feedback.trim().is_empty() {
        return refused("feedback is empty".to_owned());
    }
    if length > LONGEST_FEEDBACK {
        return refused(format!("feedback has {length} characters; it may have at most {LONGEST_FEEDBACK}"));
    }
    if input.priority.as_ref().is_some_and(|priority| priority.chars().count() > LONGEST_PRIORITY) {
        return refused(format!("priority has more than {LONGEST_PRIORITY} characters"));
    }
    if input.actionable_items.len() > MOST_ITEMS {
        return refused(format!("actionable_items has more than {MOST_ITEMS} entries"));
    }
    if input.actionable_items.iter().any(|item| item.chars().count() > LONGEST_ITEM) {
        return refused(format!("one of actionable_items has more than {LONGEST_ITEM} characters"));
    }
    Ok(())
}
