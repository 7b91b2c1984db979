//! The roles without a model. Each is one function from a [`Job`] to a [`ResearchFinding`]; none of them prints, writes or guesses, and
//! the same files give the same finding.

pub(crate) mod analyzer;
mod code_lines;
mod definitions;
mod format;
mod locator;
mod name_search;
mod paths;
pub(crate) mod patterns;
#[cfg(test)]
mod tests;
pub(crate) mod thoughts;

use std::sync::Arc;

use tamis_codebase::{Halt, Roots};

use crate::locate::Locations;
use crate::question::Question;
use crate::{BoundedReader, ResearchFinding, Role, RoleError};

/// What a role is given.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) question: Arc<Question>,
    pub(crate) reader: Arc<BoundedReader>,
    /// What the locator found: the others go by it.
    pub(crate) locations: Arc<Locations>,
    /// Where notes of former work lie, if anywhere.
    pub(crate) thoughts: Option<Roots>,
}

/// Runs a role, but for the locator, which makes the map that a job has.
pub(crate) fn run(role: Role, job: &Job, halt: &Halt) -> Result<ResearchFinding, RoleError> {
    match role {
        Role::Locator => Ok(locator::finding(&job.question, &job.reader, &job.locations)),
        Role::Analyzer => analyzer::run(job, halt),
        Role::Patterns => patterns::run(job, halt),
        Role::Thoughts => thoughts::run(job, halt),
    }
}
