//! Who does the work of a role: the roles that are built in, or whoever stands in for them.

use std::sync::Arc;

use tamis_codebase::{Halt, Roots};

use crate::index::Shelf;
use crate::map::Map;
use crate::model::{Model, run_role};
use crate::question::Question;
use crate::roles::{self, Job};
use crate::{Fault, Finding, Role, View};

/// Stands in for the roles. What it says goes the same way as what they say: through the pool, the limits and the synthesis.
pub trait StandIn: Send + Sync {
    fn work(&self, assignment: &Assignment<'_>) -> Result<Finding, Fault>;
}

/// What a stand-in is asked.
pub struct Assignment<'a> {
    pub role: Role,
    pub question: &'a str,
    pub view: &'a View,
    pub halt: &'a Halt,
}

/// Whoever works in a researcher's pool.
#[derive(Clone)]
pub(crate) enum Crew {
    /// With the model, where there is one.
    BuiltIn(Option<Arc<Model>>),
    StandIn(Arc<dyn StandIn>),
}

/// What all roles of a request are told.
#[derive(Clone)]
pub(crate) struct Brief {
    pub(crate) question: Arc<Question>,
    pub(crate) view: Arc<View>,
    pub(crate) thoughts: Option<Roots>,
    pub(crate) shelf: Option<Arc<Shelf>>,
}

/// What came of a task.
pub(crate) struct Done {
    pub(crate) result: Result<Finding, Fault>,
    /// The model that did it.
    pub(crate) model: Option<String>,
    /// Why no model did it, though one was asked.
    pub(crate) instead: Option<Fault>,
}

impl Brief {
    fn job(&self, map: Arc<Map>) -> Job {
        Job {
            question: Arc::clone(&self.question),
            view: Arc::clone(&self.view),
            map,
            thoughts: self.thoughts.clone(),
        }
    }
}

impl Crew {
    /// Makes the map that the others go by, and says what is on it, unless nobody wants to hear that.
    pub(crate) fn locate(
        &self,
        brief: &Brief,
        wanted: bool,
        halt: &Halt,
    ) -> Result<(Arc<Map>, Option<Done>), Fault> {
        match self {
            Crew::StandIn(stand_in) => {
                let done =
                    wanted.then(|| Done::plainly(stand_in.work(&brief.assignment(Role::Locator, halt))));
                Ok((Arc::default(), done))
            }
            Crew::BuiltIn(_) => {
                let mut map = Arc::new(roles::locator::locate(
                    &brief.question,
                    &brief.view,
                    brief.shelf.as_ref(),
                    halt,
                )?);
                let done = wanted.then(|| self.work(Role::Locator, brief, &map, halt));
                // What a model found is where the others should look first.
                if let Some(Done { result: Ok(finding), model: Some(_), .. }) = &done {
                    map = Arc::new(map.led_by(&finding.references, &brief.view.roots));
                }
                Ok((map, done))
            }
        }
    }

    /// Does the work of one of the others.
    pub(crate) fn work(&self, role: Role, brief: &Brief, map: &Arc<Map>, halt: &Halt) -> Done {
        match self {
            Crew::StandIn(stand_in) => Done::plainly(stand_in.work(&brief.assignment(role, halt))),
            Crew::BuiltIn(model) => {
                let run = run_role(role, &brief.job(Arc::clone(map)), halt, model.as_deref());
                Done { result: run.result, model: run.model, instead: run.instead_of }
            }
        }
    }
}

impl Done {
    pub(crate) fn plainly(result: Result<Finding, Fault>) -> Done {
        Done { result, model: None, instead: None }
    }
}

impl Brief {
    fn assignment<'a>(&'a self, role: Role, halt: &'a Halt) -> Assignment<'a> {
        Assignment { role, question: &self.question.text, view: &self.view, halt }
    }
}
