//! The file that feedback arrives as: structured, and text alone.

use std::fmt::Write as _;

use crate::instances::records::Feedback;

/// The file's content.
pub(super) fn render(feedback: &Feedback) -> String {
    let mut page = format!(
        "# Review {iteration} of {coding}\n\n- Reviewer: {review}\n- Type: {kind}\n",
        iteration = feedback.review_iteration,
        coding = feedback.coding_instance,
        review = feedback.review_instance,
        kind = feedback.feedback_type,
    );
    if let Some(priority) = &feedback.priority {
        let _ = writeln!(page, "- Priority: {}", one_line(priority));
    }
    let _ = write!(page, "\n## Feedback\n\n{}\n", visible(&feedback.feedback).trim_end());
    if !feedback.actionable_items.is_empty() {
        page.push_str("\n## To do\n\n");
        for item in &feedback.actionable_items {
            let _ = writeln!(page, "- [ ] {}", one_line(item));
        }
    }
    page
}

/// An item of a list stays one, whatever is in it.
fn one_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with control characters spelled out: a terminal that shows the file does not act on them.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            '\r' if letters.peek() == Some(&'\n') => {}
            letter if letter.is_control() => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(letter));
            }
            // They turn the text around them, so that it reads as something else.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(letter));
            }
            letter => shown.push(letter),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instances::records::Moment;
    use crate::{AgentType, FeedbackType, InstanceId};

    fn feedback(text: &str, priority: Option<&str>, items: &[&str]) -> Feedback {
        let coding = InstanceId::of_worker(AgentType::Coding, "123", 1);
        Feedback {
            id: "fb_1".to_owned(),
            review_instance: coding.of_review(2),
            coding_instance: coding,
            review_iteration: 2,
            feedback: text.to_owned(),
            feedback_type: FeedbackType::NeedsWork,
            priority: priority.map(str::to_owned),
            actionable_items: items.iter().map(|item| (*item).to_owned()).collect(),
            digest: String::new(),
            path: String::new(),
            blob: None,
            git_commit_hash: None,
            created_at: Moment(0),
            delivered_at: None,
            told_at: None,
        }
    }

    #[test]
    fn the_file_has_all_that_was_said() {
        let text = "Two things:\r\n\n\tcode\u{1b}[31m red\n";
        let page = render(&feedback(text, Some("high\nest"), &["Test\nit", "Name it"]));
        assert_eq!(
            page,
            "# Review 2 of work-123-a1\n\n- Reviewer: review-123-a1-2\n- Type: needs_work\n- Priority: high est\n\n\
             ## Feedback\n\nTwo things:\n\n\tcode\\u{1b}[31m red\n\n## To do\n\n- [ ] Test it\n- [ ] Name it\n"
        );
        assert_eq!(
            render(&feedback("Fine.", None, &[])),
            "# Review 2 of work-123-a1\n\n- Reviewer: review-123-a1-2\n- Type: needs_work\n\n## Feedback\n\nFine.\n"
        );
    }

    proptest! {
        #[test]
        fn no_control_character_gets_into_the_file(text in any::<String>(), item in any::<String>()) {
            let page = render(&feedback(&text, Some(&item), &[&item]));
            prop_assert!(page.chars().all(|letter| !letter.is_control() || letter == '\n' || letter == '\t'));
            prop_assert_eq!(page.lines().filter(|line| line.starts_with("- Priority: ")).count() >= 1, true);
        }
    }
}
