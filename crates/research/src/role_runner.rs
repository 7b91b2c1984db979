//! Who does the work of a role: the roles that are built in, or whoever stands in for them.

use std::sync::Arc;

use tamis_codebase::{Halt, Roots};

use crate::locate::{Locations, locate};
use crate::model::{Model, run_role};
use crate::question::Question;
use crate::roles::Job;
use crate::{BoundedReader, ResearchFinding, Role, RoleError};
use tamis_code_index::Indexer;

/// Stands in for the roles. What it says goes the same way as what they say: through the pool, the limits and the synthesis.
pub trait CustomRoles: Send + Sync {
    fn work(&self, task: &RoleTask<'_>) -> Result<ResearchFinding, RoleError>;
}

/// What a stand-in is asked.
pub struct RoleTask<'a> {
    pub role: Role,
    pub question: &'a str,
    pub reader: &'a BoundedReader,
    pub halt: &'a Halt,
}

/// Whoever works in a researcher's pool.
#[derive(Clone)]
pub(crate) enum RoleRunner {
    /// With the model, where there is one.
    BuiltIn(Option<Arc<Model>>),
    CustomRoles(Arc<dyn CustomRoles>),
}

/// What all roles of a request are told.
#[derive(Clone)]
pub(crate) struct RoleContext {
    pub(crate) question: Arc<Question>,
    pub(crate) reader: Arc<BoundedReader>,
    pub(crate) thoughts: Option<Roots>,
    pub(crate) indexer: Option<Arc<Indexer>>,
}

/// What came of a task.
pub(crate) struct Done {
    pub(crate) result: Result<ResearchFinding, RoleError>,
    /// The model that did it.
    pub(crate) model: Option<String>,
    /// Why no model did it, though one was asked.
    pub(crate) instead: Option<RoleError>,
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
    /// Makes the map that the others go by, and says what is on it, unless nobody wants to hear that.
    pub(crate) fn locate(
        &self,
        context: &RoleContext,
        wanted: bool,
        halt: &Halt,
    ) -> Result<(Arc<Locations>, Option<Done>), RoleError> {
        match self {
            RoleRunner::CustomRoles(stand_in) => {
                let done = wanted.then(|| Done::plainly(stand_in.work(&context.task(Role::Locator, halt))));
                Ok((Arc::default(), done))
            }
            RoleRunner::BuiltIn(_) => {
                let mut locations =
                    Arc::new(locate(&context.question, &context.reader, context.indexer.as_ref(), halt)?);
                let done = wanted.then(|| self.work(Role::Locator, context, &locations, halt));
                // What a model found is where the others should look first.
                if let Some(Done { result: Ok(finding), model: Some(_), .. }) = &done {
                    locations = Arc::new(locations.led_by(&finding.references, &context.reader.roots));
                }
                Ok((locations, done))
            }
        }
    }

    /// Does the work of one of the others.
    pub(crate) fn work(
        &self,
        role: Role,
        context: &RoleContext,
        locations: &Arc<Locations>,
        halt: &Halt,
    ) -> Done {
        match self {
            RoleRunner::CustomRoles(stand_in) => Done::plainly(stand_in.work(&context.task(role, halt))),
            RoleRunner::BuiltIn(model) => {
                let run = run_role(role, &context.job(Arc::clone(locations)), halt, model.as_deref());
                Done { result: run.result, model: run.model, instead: run.instead_of }
            }
        }
    }
}

impl Done {
    pub(crate) fn plainly(result: Result<ResearchFinding, RoleError>) -> Done {
        Done { result, model: None, instead: None }
    }
}

impl RoleContext {
    fn task<'a>(&'a self, role: Role, halt: &'a Halt) -> RoleTask<'a> {
        RoleTask { role, question: &self.question.text, reader: &self.reader, halt }
    }
}
