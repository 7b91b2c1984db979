//! Runs roles: the built-in ones, or custom roles in their place.

use std::sync::Arc;

use tamis_codebase::{Halt, Roots};

use crate::locate::{Locations, locate};
use crate::model::{Model, RoleRun, run_role};
use crate::question::Question;
use crate::roles::Job;
use crate::{BoundedReader, ResearchFinding, Role, RoleError};
use tamis_code_index::Indexer;

/// Replaces the built-in roles. The findings pass through the same pool, limits and synthesis.
pub trait CustomRoles: Send + Sync {
    fn work(&self, task: &RoleTask<'_>) -> Result<ResearchFinding, RoleError>;
}

/// What a custom role gets.
pub struct RoleTask<'a> {
    pub role: Role,
    pub question: &'a str,
    pub reader: &'a BoundedReader,
    pub halt: &'a Halt,
}

/// The roles of a researcher.
#[derive(Clone)]
pub(crate) enum RoleRunner {
    /// With the model, where there is one.
    BuiltIn(Option<Arc<Model>>),
    CustomRoles(Arc<dyn CustomRoles>),
}

/// What all roles of a request share.
#[derive(Clone)]
pub(crate) struct RoleContext {
    pub(crate) question: Arc<Question>,
    pub(crate) reader: Arc<BoundedReader>,
    pub(crate) thoughts: Option<Roots>,
    pub(crate) indexer: Option<Arc<Indexer>>,
}

impl RoleContext {
    fn job(&self, locations: Arc<Locations>) -> Job {
        Job {
            question: Arc::clone(&self.question),
            reader: Arc::clone(&self.reader),
            locations,
            thoughts: self.thoughts.clone(),
        }
    }
}

impl RoleRunner {
    /// Finds the locations where the other roles begin, and makes the locator's finding if it is wanted.
    pub(crate) fn locate(
        &self,
        context: &RoleContext,
        wanted: bool,
        halt: &Halt,
    ) -> Result<(Arc<Locations>, Option<RoleRun>), RoleError> {
        match self {
            RoleRunner::CustomRoles(stand_in) => {
                let done =
                    wanted.then(|| RoleRun::deterministic(stand_in.work(&context.task(Role::Locator, halt))));
                Ok((Arc::default(), done))
            }
            RoleRunner::BuiltIn(_) => {
                let mut locations =
                    Arc::new(locate(&context.question, &context.reader, context.indexer.as_ref(), halt)?);
                let done = wanted.then(|| self.work(Role::Locator, context, &locations, halt));
                // The other roles begin with what the model found.
                if let Some(RoleRun { result: Ok(finding), model: Some(_), .. }) = &done {
                    locations = Arc::new(locations.led_by(&finding.references, &context.reader.roots));
                }
                Ok((locations, done))
            }
        }
    }

    /// Runs a role.
    pub(crate) fn work(
        &self,
        role: Role,
        context: &RoleContext,
        locations: &Arc<Locations>,
        halt: &Halt,
    ) -> RoleRun {
        match self {
            RoleRunner::CustomRoles(stand_in) => {
                RoleRun::deterministic(stand_in.work(&context.task(role, halt)))
            }
            RoleRunner::BuiltIn(model) => {
                run_role(role, &context.job(Arc::clone(locations)), halt, model.as_deref())
            }
        }
    }
}

impl RoleContext {
    fn task<'a>(&'a self, role: Role, halt: &'a Halt) -> RoleTask<'a> {
        RoleTask { role, question: &self.question.text, reader: &self.reader, halt }
    }
}
