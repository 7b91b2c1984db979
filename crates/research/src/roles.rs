//! The roles without a model. Each is one function from a [`Job`] to a [`ResearchFinding`]; the same files give the same finding.

pub(crate) mod analyzer;
mod format;
pub(crate) mod locator;
mod name_search;
mod paths;
pub(crate) mod patterns;
#[cfg(test)]
mod tests;
pub(crate) mod thoughts;

use std::sync::Arc;

use tamis_codebase::{Roots, StopSignal};

use crate::locate::Locations;
use crate::question::Question;
use crate::{BoundedReader, ResearchFinding, Role, RoleError};

/// What a role is given.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) question: Arc<Question>,
    pub(crate) reader: Arc<BoundedReader>,
    /// What the locator found: the other roles begin there.
    pub(crate) locations: Arc<Locations>,
    /// The root of notes of former work, if configured.
    pub(crate) thoughts: Option<Roots>,
    /// Whether one role makes the whole report.
    pub(crate) alone: bool,
}

/// Runs a role on the locations of a job.
pub(crate) fn run(role: Role, job: &Job, stop: &StopSignal) -> Result<ResearchFinding, RoleError> {
    match role {
        Role::Locator => locator::run(job, stop),
        Role::Analyzer => analyzer::run(job, stop),
        Role::Patterns => patterns::run(job, stop),
        Role::Thoughts => thoughts::run(job, stop),
    }
}
