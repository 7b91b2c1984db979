//! The way of a question: locate, analyse, find patterns, put together.

mod desk;
mod running;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tamis_codebase::{Halt, RootError, Roots};

use crate::crew::{Crew, StandIn};
use crate::index::Shelf;
use crate::{Constraints, IndexSettings, Limits, Model, Pool, Report, Role};
use desk::Desk;

/// How a researcher is set up.
pub struct Settings {
    pub roots: Roots,
    /// Notes of former work; the role for them is there only when these are.
    pub thoughts: Option<Roots>,
    /// Where artifacts are written.
    pub artifacts: PathBuf,
    /// What a request may take unless it says otherwise.
    pub limits: Limits,
    /// The local model; without one the roles are deterministic.
    pub model: Option<Arc<Model>>,
    /// Without them everything is read for every question.
    pub index: Option<IndexSettings>,
    pub workers: usize,
    pub most_waiting: usize,
}

/// Answers questions. One a process; any number of threads may ask.
pub struct Researcher {
    settings: Settings,
    crew: Crew,
    shelf: Option<Arc<Shelf>>,
    /// A process that is never asked has no workers.
    pool: LazyLock<Pool, Box<dyn FnOnce() -> Pool + Send + Sync>>,
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    pub question: String,
    /// Only these; all roots when empty.
    pub roots: Vec<PathBuf>,
    pub constraints: Constraints,
    pub artifact: bool,
}

/// Why there is no report at all. What goes wrong in a role is in the report.
#[derive(Debug, thiserror::Error)]
pub enum ResearchError {
    #[error("the question is empty")]
    NoQuestion,
    #[error("the question has {length} characters, and {most} at most are read")]
    LongQuestion { length: usize, most: usize },
    #[error(transparent)]
    Root(#[from] RootError),
}

/// How far a request is. `done` grows with every report of one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub done: u64,
    pub total: u64,
    pub message: String,
}

/// Longer questions are texts.
const LONGEST_QUESTION: usize = 4000;

impl Researcher {
    pub fn new(settings: Settings) -> Researcher {
        let model = settings.model.clone();
        Researcher::of(settings, Crew::BuiltIn(model))
    }

    /// The same with others in place of the roles.
    pub fn with_stand_in(settings: Settings, stand_in: Arc<dyn StandIn>) -> Researcher {
        Researcher::of(settings, Crew::StandIn(stand_in))
    }

    fn of(settings: Settings, crew: Crew) -> Researcher {
        let shelf = settings.index.clone().map(|settings| Arc::new(Shelf::new(settings)));
        let (workers, most_waiting) = (settings.workers, settings.most_waiting);
        let pool = LazyLock::new(Box::new(move || Pool::new(workers, most_waiting)) as Box<_>);
        Researcher { shelf, settings, crew, pool }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Waits for an index that is being brought up to date, but no longer than that. For processes that are about to end.
    pub fn wait_for_index(&self, patience: Duration) {
        if let Some(shelf) = &self.shelf {
            shelf.wait(patience);
        }
    }

    /// Where it may look.
    pub fn roots(&self) -> Vec<String> {
        shown(&self.settings.roots)
    }

    /// Answers a question by all roles that it calls for.
    pub fn research(
        &self,
        request: &Request,
        halt: &Halt,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Report, ResearchError> {
        Ok(Desk::set(self, request, halt, progress)?.research(request.artifact))
    }

    /// Asks one role; the locator goes before the others.
    pub fn ask_role(
        &self,
        role: Role,
        request: &Request,
        halt: &Halt,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Report, ResearchError> {
        Ok(Desk::set(self, request, halt, progress)?.ask_role(role))
    }
}

fn shown(roots: &Roots) -> Vec<String> {
    roots.paths().map(|path| path.to_string_lossy().into_owned()).collect()
}
