//! The way of a question: locate, analyse, find patterns, put together.

mod request;
mod task;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tamis_code_index::{IndexSettings, Indexer};
use tamis_codebase::{Halt, RootError, Roots};

use crate::role_runner::{CustomRoles, RoleRunner};
use crate::{Model, ResearchConstraints, ResearchLimits, ResearchReport, Role, WorkerPool};
use request::RequestRun;

/// How a researcher is set up.
pub struct ResearchSettings {
    pub roots: Roots,
    /// Notes of former work; the role for them is there only when these are.
    pub thoughts: Option<Roots>,
    /// Where artifacts are written.
    pub artifacts: PathBuf,
    /// What a request may take unless it says otherwise.
    pub limits: ResearchLimits,
    /// The local model; without one the roles are deterministic.
    pub model: Option<Arc<Model>>,
    /// Without them everything is read for every question.
    pub index: Option<IndexSettings>,
    pub workers: usize,
    pub most_waiting: usize,
}

/// Answers questions. One a process; any number of threads may ask.
pub struct Researcher {
    settings: ResearchSettings,
    runner: RoleRunner,
    indexer: Option<Arc<Indexer>>,
    /// A process that is never asked has no workers.
    pool: LazyLock<WorkerPool, Box<dyn FnOnce() -> WorkerPool + Send + Sync>>,
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResearchRequest {
    pub question: String,
    /// Only these; all roots when empty.
    pub roots: Vec<PathBuf>,
    pub constraints: ResearchConstraints,
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
pub struct ResearchProgress {
    pub done: u64,
    pub total: u64,
    pub message: String,
}

/// Longer questions are texts.
const MAX_QUESTION_LENGTH: usize = 4000;

impl Researcher {
    pub fn new(settings: ResearchSettings) -> Researcher {
        let model = settings.model.clone();
        Researcher::of(settings, RoleRunner::BuiltIn(model))
    }

    /// The same with others in place of the roles.
    pub fn with_custom_roles(settings: ResearchSettings, stand_in: Arc<dyn CustomRoles>) -> Researcher {
        Researcher::of(settings, RoleRunner::CustomRoles(stand_in))
    }

    fn of(settings: ResearchSettings, runner: RoleRunner) -> Researcher {
        let indexer = settings.index.clone().map(|settings| Arc::new(Indexer::new(settings)));
        let (workers, most_waiting) = (settings.workers, settings.most_waiting);
        let pool = LazyLock::new(Box::new(move || WorkerPool::new(workers, most_waiting)) as Box<_>);
        Researcher { indexer, settings, runner, pool }
    }

    pub fn settings(&self) -> &ResearchSettings {
        &self.settings
    }

    /// Waits for an index that is being brought up to date, but no longer than that. For processes that are about to end.
    pub fn wait_for_index(&self, patience: Duration) {
        if let Some(indexer) = &self.indexer {
            indexer.wait(patience);
        }
    }

    /// Where it may look.
    pub fn roots(&self) -> Vec<String> {
        shown(&self.settings.roots)
    }

    /// Answers a question by all roles that it calls for.
    pub fn research(
        &self,
        request: &ResearchRequest,
        halt: &Halt,
        progress: &(dyn Fn(ResearchProgress) + Sync),
    ) -> Result<ResearchReport, ResearchError> {
        Ok(RequestRun::start(self, request, halt, progress)?.research(request.artifact))
    }

    /// Asks one role; the locator goes before the others.
    pub fn ask_role(
        &self,
        role: Role,
        request: &ResearchRequest,
        halt: &Halt,
        progress: &(dyn Fn(ResearchProgress) + Sync),
    ) -> Result<ResearchReport, ResearchError> {
        Ok(RequestRun::start(self, request, halt, progress)?.ask_role(role))
    }
}

fn shown(roots: &Roots) -> Vec<String> {
    roots.paths().map(|path| path.to_string_lossy().into_owned()).collect()
}
