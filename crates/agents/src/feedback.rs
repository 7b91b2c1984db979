//! A review agent says what it thinks.
//!
//! It arrives by git: a commit with a file of notes, brought to the coding agent's branch where it is checked out. Up to
//! that moment everything can be taken back; after it everything is finished, if need be by whoever coordinates next.

mod document;

use serde::{Deserialize, Serialize};
use tamis_store::rusqlite::Connection;

use crate::error::Result;
use crate::faults::{Point, reach};
use crate::git::{BranchName, Commit, Delivery, Note, Repository};
use crate::operations::{Caller, finish, tell_success};
use crate::records::{Feedback, Instance, Moment, Operation, OperationState, Outcome, Phase, Review};
use crate::review::abandon_if_hopeless;
use crate::{
    AgentType, AgentsError, Call, Code, Coordinator, FeedbackSent, InstanceId, SendFeedback, Status, db, tools,
};

const LONGEST_FEEDBACK: usize = 100_000;
const LONGEST_PRIORITY: usize = 100;
const MOST_ITEMS: usize = 200;
const LONGEST_ITEM: usize = 5_000;

/// What the operation needs to be finished by somebody else.
#[derive(Debug, Serialize, Deserialize)]
struct Plan {
    feedback: String,
    coding: InstanceId,
    /// Set once the notes are committed on the review branch.
    notes: Option<Note>,
}

impl Coordinator {
    /// The contract's `send_feedback`.
    pub fn send_feedback(&self, call: &Call<'_>, input: &SendFeedback) -> Result<FeedbackSent> {
        self.answer(tools::SEND_FEEDBACK, call, |caller| {
            caller.must_be(&[AgentType::Review])?;
            check(input)?;
            self.deliver(caller, input)
        })
    }

    fn deliver(&self, caller: &Caller<'_>, input: &SendFeedback) -> Result<FeedbackSent> {
        let (feedback, mut plan, operation) = self.reserve_feedback(caller, input)?;
        reach(Point::FeedbackReserved);
        let steps = || {
            caller.in_time()?;
            let coding = self.archive.instance(&plan.coding)?;
            let delivery = self.bring(&coding, &caller.instance, &feedback, operation, &mut plan, &|| caller.in_time())?;
            Ok((coding, delivery))
        };
        let (coding, delivery) = { let mut steps = steps; steps() }.inspect_err(|error| {
            if let Err(error) = self.undo_feedback(&feedback.id, operation, Some((caller, error))) {
                tracing::warn!("feedback {} is taken back later: {error}", feedback.id);
            }
        })?;
        let answer = self.record_feedback(&feedback, &delivery, operation, Some(caller))?;
        reach(Point::FeedbackRecorded);
        self.after_feedback(&feedback.id, &coding);
        self.let_go(&caller.instance.id);
        Ok(answer)
    }
}
