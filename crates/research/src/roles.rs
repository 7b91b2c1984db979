//! The roles without a model. Each is one function from a [`Job`] to a [`Finding`]; none of them prints, writes or guesses, and
//! the same files give the same finding.

pub(crate) mod analyzer;
mod asked;
mod code;
mod definitions;
pub(crate) mod locator;
pub(crate) mod patterns;
mod places;
mod survey;
#[cfg(test)]
mod tests;
pub(crate) mod thoughts;
mod wording;

use std::sync::Arc;

use tamis_codebase::{Halt, Roots};

use crate::map::Map;
use crate::question::Question;
use crate::{Fault, Finding, Role, View};

/// What a role is given.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) question: Arc<Question>,
    pub(crate) view: Arc<View>,
    /// What the locator found: the others go by it.
    pub(crate) map: Arc<Map>,
    /// Where notes of former work lie, if anywhere.
    pub(crate) thoughts: Option<Roots>,
}

/// Runs a role, but for the locator, which makes the map that a job has.
pub(crate) fn run(role: Role, job: &Job, halt: &Halt) -> Result<Finding, Fault> {
    match role {
        Role::Locator => Ok(locator::finding(&job.question, &job.view, &job.map)),
        Role::Analyzer => analyzer::run(job, halt),
        Role::Patterns => patterns::run(job, halt),
        Role::Thoughts => thoughts::run(job, halt),
    }
}
