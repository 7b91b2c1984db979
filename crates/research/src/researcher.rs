//! The entry point: locate, analyse, find patterns, synthesise.

mod request;
mod task;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tamis_code_index::{IndexSettings, Indexer};
use tamis_codebase::{Halt, RootError, Roots};
use tamis_redact::Redacted;

use crate::role_runner::{CustomRoles, RoleRunner};
use crate::{Model, ResearchConstraints, ResearchLimits, ResearchReport, Role, WorkerPool};
use request::RequestRun;

/// Settings of a researcher.
pub struct ResearchSettings {
    pub roots: Roots,
    /// Notes of former work; without them there is no role for notes.
    pub thoughts: Option<Roots>,
    /// Where artifacts are written.
    pub artifacts: PathBuf,
    /// The limits of a request unless it sets its own.
    pub limits: ResearchLimits,
    /// The local model; without one the roles are deterministic.
    pub model: Option<Arc<Model>>,
    /// Without an index every question scans all files.
    pub index: Option<IndexSettings>,
    pub workers: usize,
    pub most_waiting: usize,
}

/// Answers questions. One per process, shared by all threads.
pub struct Researcher {
    settings: ResearchSettings,
    runner: RoleRunner,
    indexer: Option<Arc<Indexer>>,
    /// Started with the first request.
    pool: LazyLock<WorkerPool, Box<dyn FnOnce() -> WorkerPool + Send + Sync>>,
}

/// A question and its constraints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResearchRequest {
    pub question: String,
    /// Search only these; all roots when empty.
    pub roots: Vec<PathBuf>,
    pub constraints: ResearchConstraints,
    pub artifact: bool,
}

/// Why there is no report. Errors of roles are in the report.
#[derive(Debug, thiserror::Error)]
pub enum ResearchError {
    #[error("the question is empty")]
    NoQuestion,
    #[error("the question has {length} characters; the maximum is {most}")]
    LongQuestion { length: usize, most: usize },
    #[error(transparent)]
    Root(#[from] RootError),
}

/// Progress of a request. `done` grows with every update.
#[derive(Clone, Debug, PartialEq)]
pub struct ResearchProgress {
    pub done: u64,
    pub total: u64,
    pub message: String,
}

/// Maximum characters of a question.
const MAX_QUESTION_LENGTH: usize = 4000;

impl Researcher {
    pub fn new(settings: ResearchSettings) -> Researcher {
        let model = settings.model.clone();
        Researcher::of(settings, RoleRunner::BuiltIn(model))
    }

    /// The same with custom roles.
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

    /// Waits for a running index update, at most this long. For processes that are about to end.
    pub fn wait_for_index(&self, patience: Duration) {
        if let Some(indexer) = &self.indexer {
            indexer.wait(patience);
        }
    }

    /// The roots it may search.
    pub fn roots(&self) -> Vec<String> {
        shown(&self.settings.roots)
    }

    /// Answers a question with all roles that it needs.
    pub fn research(
        &self,
        request: &ResearchRequest,
        halt: &Halt,
        progress: &(dyn Fn(ResearchProgress) + Sync),
    ) -> Result<Redacted<ResearchReport>, ResearchError> {
        Ok(Redacted::new(RequestRun::start(self, request, halt, progress)?.research(request.artifact)))
    }

    /// Runs one role; the locator runs before the others.
    pub fn ask_role(
        &self,
        role: Role,
        request: &ResearchRequest,
        halt: &Halt,
        progress: &(dyn Fn(ResearchProgress) + Sync),
    ) -> Result<Redacted<ResearchReport>, ResearchError> {
        Ok(Redacted::new(RequestRun::start(self, request, halt, progress)?.ask_role(role)))
    }
}

fn shown(roots: &Roots) -> Vec<String> {
    roots.paths().map(|path| path.to_string_lossy().into_owned()).collect()
}
