//! Which texts of instances, feedback and events may quote secrets.

use std::path::PathBuf;

use tamis_redact::{Redact, Redacted, redact_json};

use crate::{AgentEvent, Disposal, Feedback, Instance, InstanceDetails, Repair};

impl Redact for Instance {
    fn redact(&mut self) {
        self.task.redact();
        self.issue_title.redact();
        self.reason.redact();
        self.pr_url.redact();
        // A name with a mark in it would be none.
        self.base_branch.take_if(|branch| {
            let name = branch.to_string();
            Redacted::from(name.as_str()).as_str() != name
        });
        redact_path(&mut self.repository);
        redact_path(&mut self.worktree);
        redact_arguments(&mut self.choice.args);
    }
}

impl Redact for Feedback {
    fn redact(&mut self) {
        self.feedback.redact();
        self.priority.redact();
        self.actionable_items.redact();
        self.path.redact();
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

impl Redact for Disposal {
    fn redact(&mut self) {
        self.removed.redact();
        self.kept.redact();
    }
}

impl Redact for Repair {
    fn redact(&mut self) {
        self.found.redact();
        self.done.redact();
    }
}

/// A path that is no text is kept: it cannot be shown as one.
fn redact_path(path: &mut PathBuf) {
    if let Some(text) = path.to_str() {
        *path = Redacted::from(text).into_inner().into();
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
    fn paths_and_texts_of_a_clean_up_are_redacted() {
        let token = format!("ghp_{}", "a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f");
        let mut path = PathBuf::from(format!("/work/{token}/repository"));
        redact_path(&mut path);
        assert_eq!(path, PathBuf::from("/work/[redacted:github-token]/repository"));
        let mut repair =
            Repair { instance: None, found: format!("a worktree at /work/{token}"), done: token.clone() };
        repair.redact();
        assert!(!repair.found.contains(&token) && !repair.done.contains(&token), "{repair:?}");
    }

    #[test]
    fn the_value_after_an_option_that_announces_a_secret_is_redacted() {
        let mut arguments = ["--model", "m", "--api-key", "Zq7Lk2Xv9Rb4Tn8W"].map(str::to_owned).to_vec();
        redact_arguments(&mut arguments);
        assert_eq!(arguments[..3], ["--model", "m", "--api-key"]);
        assert!(arguments.len() == 4 && !arguments[3].contains("Zq7Lk2"), "{arguments:?}");
    }
}
