//! A pruner somewhere else.

use std::time::Duration;

use serde::Serialize;

use crate::exchange::{Question, ask};
use crate::{Address, RemoteError, answer};

/// An answer may be this much larger than the question: swe-pruner tells a score for every token.
const ANSWER_PER_QUESTION: usize = 16;

/// What any answer may have, however short the question was …
const SMALLEST_LIMIT: usize = 16 << 20;

/// … and what none may exceed, however long it was: all of it is held in memory.
const LARGEST_LIMIT: usize = 256 << 20;

/// A pruner that is asked over HTTP.
#[derive(Clone, Debug)]
pub struct RemotePruner {
    address: Address,
    timeout: Duration,
}

#[derive(Serialize)]
struct Job<'a> {
    code: &'a str,
    query: &'a str,
}

impl RemotePruner {
    pub fn new(address: Address, timeout: Duration) -> RemotePruner {
        RemotePruner { address, timeout }
    }

    /// What of `code` the pruner would keep for `query`. Both go out as they are.
    pub async fn prune(&self, code: &str, query: &str) -> Result<String, RemoteError> {
        let job =
            serde_json::to_vec(&Job { code, query }).map_err(|error| RemoteError::Broken(error.into()))?;
        let limit = largest_answer(job.len());
        let answer = ask(Question::new(&self.address, Some(job), limit), self.timeout).await?;
        if !answer.status.is_success() {
            return Err(RemoteError::Status(answer.status.as_u16()));
        }
        answer::pruned_text(&answer.body)
    }
}

/// How many bytes the answer to a question of this many may have.
fn largest_answer(question: usize) -> usize {
    question.saturating_mul(ANSWER_PER_QUESTION).clamp(SMALLEST_LIMIT, LARGEST_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_bounded_whatever_the_question() {
        for (question, answer) in
            [(0, 16 << 20), (2 << 20, 32 << 20), (200 << 20, 256 << 20), (usize::MAX, 256 << 20)]
        {
            assert_eq!(largest_answer(question), answer, "{question}");
        }
    }
}
