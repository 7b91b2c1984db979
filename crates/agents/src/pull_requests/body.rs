//! The text of a pull request: the agent's description, and a summary of the reviews, both redacted.
//!
//! Feedback is quoted as plain text. A body is more than what is shown: it notifies whom it mentions,
//! closes issues, and becomes the message of the commit when it is merged. So words of feedback that would do any of it are
//! taken apart by a space of no width, which neither GitHub nor git reads past.

use crate::instances::records::{Feedback, Moment, Review, ReviewOutcome};
use crate::{FeedbackType, InstanceId};
use tamis_redact::Redacted;
use tamis_text::plain::{plain_line, plain_text, shortened};

/// What GitHub takes, in characters.
pub(crate) const LONGEST_BODY: usize = 65_536;

/// As much of a review's first line as is quoted.
const LONGEST_LINE: usize = 160;

const SEPARATOR: &str = "\n\n---\n\n### Reviews\n\n";

/// One review, in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReviewSummary {
    pub(crate) iteration: u32,
    pub(crate) reviewer: InstanceId,
    pub(crate) verdict: Verdict,
    /// The feedback, of which the first line is quoted.
    pub(crate) feedback: Option<String>,
    pub(crate) at: Moment,
}

/// What came of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Feedback(FeedbackType),
    Ended(ReviewOutcome),
    UnderWay,
}

impl ReviewSummary {
    /// The reviews of a coding agent's work, in order, with their feedback.
    pub(crate) fn of(reviews: &[Review], feedback: &[Feedback]) -> Vec<ReviewSummary> {
        let summary = |review: &Review| {
            let given = feedback.iter().find(|feedback| {
                feedback.review_instance == review.child_instance && feedback.delivered_at.is_some()
            });
            let verdict = match (given, review.outcome) {
                (Some(feedback), _) => Verdict::Feedback(feedback.feedback_type),
                (None, Some(outcome)) => Verdict::Ended(outcome),
                (None, None) => Verdict::UnderWay,
            };
            ReviewSummary {
                iteration: review.review_iteration,
                reviewer: review.child_instance.clone(),
                verdict,
                feedback: given.map(|feedback| feedback.feedback.clone()),
                at: given
                    .map(|feedback| feedback.created_at)
                    .or(review.ended_at)
                    .unwrap_or(review.created_at),
            }
        };
        reviews.iter().map(summary).collect()
    }

    fn line(&self) -> String {
        let ReviewSummary { iteration, reviewer, verdict, feedback, at } = self;
        let date: String = at.to_string().chars().take_while(|&letter| letter != 'T').collect();
        let quote = feedback.as_deref().and_then(quote).map_or(String::new(), |quote| format!(": {quote}"));
        format!("- Review {iteration} by `{reviewer}` on {date}, {}{quote}\n", verdict.in_words())
    }
}

impl Verdict {
    fn in_words(self) -> &'static str {
        match self {
            Verdict::Feedback(FeedbackType::NeedsWork) => "needs work",
            Verdict::Feedback(FeedbackType::Suggestions) => "suggestions",
            Verdict::Feedback(FeedbackType::Clarification) => "a question",
            Verdict::Ended(ReviewOutcome::Feedback) => "feedback",
            Verdict::Ended(ReviewOutcome::Approved) => "approved",
            Verdict::Ended(ReviewOutcome::Ended) => "ended without feedback",
            Verdict::Ended(ReviewOutcome::TimedOut) => "ended by the time limit",
            Verdict::UnderWay => "under way",
        }
    }
}

/// The description, and a summary of the reviews. Where they do not fit, the first reviews are left out, with a note.
pub(crate) fn pull_request_body(description: &str, history: &[ReviewSummary]) -> String {
    let description = Redacted::from(plain_text(description).trim_end());
    let description = closed(&description);
    if history.is_empty() {
        return shortened(&description, LONGEST_BODY);
    }
    let omitted = |count: usize| format!("- {count} earlier reviews\n");
    let mut left = LONGEST_BODY.saturating_sub(SEPARATOR.len() + omitted(history.len()).len());
    let mut lines = Vec::new();
    let description = shortened(&description, left);
    left -= description.chars().count();
    for summary in history.iter().rev() {
        let line = summary.line();
        let length = line.chars().count();
        if length > left {
            break;
        }
        left -= length;
        lines.push(line);
    }
    let earlier = history.len() - lines.len();
    if earlier > 0 {
        lines.push(omitted(earlier));
    }
    lines.reverse();
    format!("{description}{SEPARATOR}{}", lines.concat())
}

/// The first line with a word, as a span of code: none of its characters has a meaning there.
fn quote(feedback: &str) -> Option<String> {
    let feedback = Redacted::from(feedback);
    let line = feedback.lines().map(plain_line).find(|line| line.contains(char::is_alphanumeric))?;
    let line = line.trim_start_matches(['#', '>', '-', '*', ' ']).replace('`', "'");
    let words = shortened(&line.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_LINE);
    Some(format!("`{}`", taken_apart(&words)))
}

/// With a space of no width wherever something would be mentioned, referred to or skipped.
fn taken_apart(words: &str) -> String {
    const NOTHING: char = '\u{200b}';
    let mut apart = String::new();
    for letter in words.chars() {
        // `GH-1`, `https://…/issues/1`.
        let referring = letter.is_ascii_digit() && apart.to_ascii_lowercase().ends_with("gh-")
            || letter == '/' && apart.ends_with(':');
        if referring {
            apart.push(NOTHING);
        }
        apart.push(letter);
        if matches!(letter, '@' | '#' | '[') {
            apart.push(NOTHING);
        }
    }
    apart
}

/// The text with what it leaves open closed, so that it does not swallow what follows: a comment, or a code block.
fn closed(text: &str) -> String {
    let mut fence: Option<&str> = None;
    for line in text.lines().map(str::trim_start) {
        let marks = ["```", "~~~"].into_iter().find(|marks| line.starts_with(marks));
        let run = marks.map(|marks| &line[..line.len() - line.trim_start_matches(&marks[..1]).len()]);
        fence = match (fence, run) {
            (None, run) => run,
            (Some(open), Some(run)) if run.starts_with(open) && line[run.len()..].trim().is_empty() => None,
            (open, _) => open,
        };
    }
    let mut closed = text.to_owned();
    if let Some(fence) = fence {
        closed = format!("{closed}\n{fence}");
    }
    if closed.rfind("<!--").is_some_and(|open| !closed[open..].contains("-->")) {
        closed.push_str("\n-->");
    }
    closed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::AgentType;

    fn summary(iteration: u32, verdict: Verdict, feedback: Option<&str>) -> ReviewSummary {
        let reviewer = InstanceId::of_worker(AgentType::Coding, "7", 1).of_review(iteration);
        let at = Moment(1_768_000_000_000);
        ReviewSummary { iteration, reviewer, verdict, feedback: feedback.map(str::to_owned), at }
    }

    #[test]
    fn no_secret_goes_into_a_body() {
        let token = format!("ghp_{}", "a8Kd0sQ2mX7vB4nZ1cL6pR9tY3wE5uJ0hG2f");
        let feedback = format!("The token {token} is in the log");
        let history = [summary(1, Verdict::Feedback(FeedbackType::NeedsWork), Some(&feedback))];
        let body = pull_request_body(&format!("Uses {token}."), &history);
        assert!(!body.contains("a8Kd") && body.matches("redacted").count() == 2, "{body}");
    }

    #[test]
    fn a_body_tells_of_the_work_and_of_its_reviews() {
        let history = [
            summary(
                1,
                Verdict::Feedback(FeedbackType::NeedsWork),
                Some("\n## Handle   `empty` input\nand more"),
            ),
            summary(2, Verdict::Ended(ReviewOutcome::TimedOut), None),
            summary(3, Verdict::Ended(ReviewOutcome::Approved), None),
        ];
        assert_eq!(
            pull_request_body("Reads it.\r\n\r\nCloses #7\n", &history),
            "Reads it.\n\nCloses #7\n\n---\n\n### Reviews\n\n\
             - Review 1 by `review-7-a1-1` on 2026-01-09, needs work: `Handle 'empty' input`\n\
             - Review 2 by `review-7-a1-2` on 2026-01-09, ended by the time limit\n\
             - Review 3 by `review-7-a1-3` on 2026-01-09, approved\n"
        );
        assert_eq!(pull_request_body("a\u{1b}[1mb\0", &[]), "a[1mb");
    }

    #[test]
    fn feedback_notifies_no_user_and_closes_no_issue() {
        for (said, quoted) in [
            ("ask @octocat", "`ask @\u{200b}octocat`"),
            ("Fixes #12, closes octo/tool#3", "`Fixes #\u{200b}12, closes octo/tool#\u{200b}3`"),
            ("resolves GH-4 and gh-5", "`resolves GH-\u{200b}4 and gh-\u{200b}5`"),
            ("fixed https://h/o/n/issues/1", "`fixed https:\u{200b}//h/o/n/issues/1`"),
            ("[skip ci] x", "`[\u{200b}skip ci] x`"),
            ("<script>alert(1)</script>", "`<script>alert(1)</script>`"),
            ("<!-- <b>x", "`<!-- <b>x`"),
            ("a ``` b", "`a ''' b`"),
            ("> - # quoted", "`quoted`"),
            ("…\n\u{202e}***\n\n1st", "`1st`"),
        ] {
            assert_eq!(quote(said).as_deref(), Some(quoted), "{said}");
        }
        assert_eq!((quote(""), quote("\n --- \n")), (None, None));
        assert_eq!(quote(&"x".repeat(999)).unwrap().chars().count(), LONGEST_LINE + 2);
    }

    #[test]
    fn a_description_hides_no_review() {
        for (description, is_closed) in [
            ("a\n```rust\nx", "a\n```rust\nx\n```"),
            ("~~~~\n~~~", "~~~~\n~~~\n~~~~"),
            ("```\nx\n```", "```\nx\n```"),
            ("a <!-- b", "a <!-- b\n-->"),
            ("a <!-- b --> c", "a <!-- b --> c"),
        ] {
            assert_eq!(closed(description), is_closed);
        }
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_said_to_be() {
        let history: Vec<_> =
            (1..=9).map(|it| summary(it, Verdict::Ended(ReviewOutcome::Ended), None)).collect();
        let body = pull_request_body(&"d".repeat(LONGEST_BODY - 140), &history);
        assert!(body.chars().count() <= LONGEST_BODY);
        assert!(body.ends_with(
            "- 8 earlier reviews\n- Review 9 by `review-7-a1-9` on 2026-01-09, ended without feedback\n"
        ));
        let body = pull_request_body(&"é".repeat(2 * LONGEST_BODY), &history);
        assert_eq!(body.chars().count(), LONGEST_BODY);
        assert!(body.contains("…\n\n---"), "{}", &body[body.len() - 99..]);
        assert!(body.ends_with("- 9 earlier reviews\n"));
        assert_eq!(pull_request_body(&"é".repeat(2 * LONGEST_BODY), &[]).chars().count(), LONGEST_BODY);
    }

    proptest! {
        #[test]
        fn whatever_was_said_it_stays_in_its_line(said in "\\PC{0,40}[@#`\\[<\\n]{1,9}\\PC{0,40}", text in ".{0,99}") {
            let verdict = Verdict::Feedback(FeedbackType::Suggestions);
            let body = pull_request_body(&text, &[summary(1, verdict, Some(&said))]);
            let (_, reviews) = body.rsplit_once(SEPARATOR).unwrap();
            prop_assert_eq!(reviews.lines().count(), 1);
            let quoted = reviews.split_once("suggestions").unwrap().1;
            prop_assert!(matches!(quoted.matches('`').count(), 0 | 2), "{}", quoted);
            for mark in ['@', '#', '['] {
                prop_assert!(quoted.split(mark).skip(1).all(|rest| rest.starts_with('\u{200b}')), "{}", quoted);
            }
        }
    }
}
