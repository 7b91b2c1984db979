//! Which texts of instances, feedback and events may quote secrets.

use tamis_redact::{Redact, redact_json};

use crate::{AgentEvent, Feedback, Instance, InstanceDetails};

impl Redact for Instance {
    fn redact(&mut self) {
        self.task.redact();
        self.issue_title.redact();
        self.reason.redact();
        redact_arguments(&mut self.choice.args);
    }
}

impl Redact for Feedback {
    fn redact(&mut self) {
        self.feedback.redact();
        self.priority.redact();
        self.actionable_items.redact();
    }
}

impl Redact for InstanceDetails {
    fn redact(&mut self) {
        self.instance.redact();
        self.feedback.redact();
    }
}

impl Redact for AgentEvent {
    fn redact(&mut self) {
        self.detail.redact();
    }
}

/// As JSON, so that the value after `--api-key` is recognised.
fn redact_arguments(arguments: &mut Vec<String>) {
    let redacted = redact_json(std::mem::take(arguments).into(), &[]).into_inner();
    if let serde_json::Value::Array(items) = redacted {
        *arguments = items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_after_an_option_that_announces_a_secret_is_redacted() {
        let mut arguments = ["--model", "m", "--api-key", "Zq7Lk2Xv9Rb4Tn8W"].map(str::to_owned).to_vec();
        redact_arguments(&mut arguments);
        assert_eq!(arguments[..3], ["--model", "m", "--api-key"]);
        assert!(arguments.len() == 4 && !arguments[3].contains("Zq7Lk2"), "{arguments:?}");
    }
}
