//! Which texts of instances, feedback and events may quote secrets.

use tamis_redact::Redact;

use crate::{AgentEvent, Feedback, Instance, InstanceDetails};

impl Redact for Instance {
    fn redact(&mut self) {
        self.task.redact();
        self.issue_title.redact();
        self.reason.redact();
        self.choice.args.redact();
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
