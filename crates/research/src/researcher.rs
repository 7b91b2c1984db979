//! The entry point: locate, analyse, find patterns, synthesise.

mod request;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use tamis_code_index::{IndexSettings, Indexer};
use tamis_codebase::{RootError, Roots, StopSignal};
use tamis_redact::Redacted;

use crate::handoff::latest_handoffs;
use crate::reference_lines::read_reference;
use crate::role_runner::{CustomRoles, RoleRunner};
use crate::{
    ArtifactError, Handoff, HandoffSummary, Model, Reference, ReferenceError, ReferenceLines,
    ResearchConstraints, ResearchLimits, ResearchReport, ResumeError, ResumedHandoff, Role, WorkerPool,
    resume_handoff, write_handoff,
};
use request::RequestRun;

/// Settings of a researcher.
pub struct ResearchSettings {
    pub roots: Roots,
    /// Notes from earlier work; without them the thoughts role does not run.
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
    /// Folders that were to be searched and did not exist when it was set up.
    missing: Vec<PathBuf>,
    /// Started with the first request.
    pool: OnceLock<WorkerPool>,
}

/// A question and its constraints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResearchRequest {
    pub question: String,
    /// Search only these; all roots when empty.
    pub roots: Vec<PathBuf>,
    /// Run this role alone; the locator runs before the others. Without it, all that the question needs, and a synthesis.
    pub role: Option<Role>,
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
    pub step: ResearchStep,
    pub message: String,
}

/// What a request has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResearchStep {
    Began(Role),
    Ended(Role),
    Composing,
    Writing,
}

/// Maximum characters of a question.
const MAX_QUESTION_LENGTH: usize = 4000;

impl Researcher {
    pub fn new(settings: ResearchSettings) -> Researcher {
        let model = settings.model.clone();
        let indexer = settings.index.clone().map(|settings| Arc::new(Indexer::new(settings)));
        Researcher::of(settings, RoleRunner::BuiltIn { model, indexer })
    }

    /// The same with custom roles.
    pub fn with_custom_roles(settings: ResearchSettings, roles: Arc<dyn CustomRoles>) -> Researcher {
        Researcher::of(settings, RoleRunner::Custom(roles))
    }

    fn of(settings: ResearchSettings, runner: RoleRunner) -> Researcher {
        Researcher { settings, runner, missing: Vec::new(), pool: OnceLock::new() }
    }

    /// The same, which names these folders in its answers as not searched.
    pub fn with_missing(self, missing: Vec<PathBuf>) -> Researcher {
        Researcher { missing, ..self }
    }

    /// Waits for a running index update, at most this long. For processes that are about to end.
    pub fn wait_for_index(&self, patience: Duration) {
        if let RoleRunner::BuiltIn { indexer: Some(indexer), .. } = &self.runner {
            indexer.wait(patience);
        }
    }

    fn pool(&self) -> &WorkerPool {
        self.pool.get_or_init(|| WorkerPool::new(self.settings.workers, self.settings.most_waiting))
    }

    /// The roots it may search.
    pub fn roots(&self) -> Vec<String> {
        shown(&self.settings.roots)
    }

    /// Answers a question.
    pub fn research(
        &self,
        request: &ResearchRequest,
        stop: &StopSignal,
        progress: &(dyn Fn(ResearchProgress) + Sync),
    ) -> Result<Redacted<ResearchReport>, ResearchError> {
        let run = RequestRun::start(self, request, stop, progress)?;
        Ok(Redacted::new(match request.role {
            Some(role) => run.ask_role(role),
            None => run.research(request.artifact),
        }))
    }

    /// Writes a caller's handoff, with the roots and limits as its constraints, and returns its path.
    pub fn write_handoff(&self, handoff: Handoff) -> Result<PathBuf, ArtifactError> {
        let mut constraints: Vec<String> =
            self.roots().into_iter().map(|root| format!("root: {root}")).collect();
        constraints.push(self.settings.limits.render());
        constraints.push("timeouts: none".to_owned());
        write_handoff(&self.settings.artifacts, Handoff { constraints, ..handoff }, Timestamp::now())
    }

    /// The latest handoffs, the last first. What is not a handoff is left out.
    pub fn latest_handoffs(&self, limit: usize) -> Result<Vec<HandoffSummary>, ResumeError> {
        latest_handoffs(&self.settings.artifacts, limit)
    }

    /// The folder of memos and handoffs.
    pub fn artifacts(&self) -> &Path {
        &self.settings.artifacts
    }

    /// The lines of a reference of a report for these roots (all roots if there are none), with some lines around them.
    pub fn reference_lines(
        &self,
        reference: &Reference,
        roots: &[PathBuf],
        around: usize,
    ) -> Result<ReferenceLines, ReferenceError> {
        let all = [Some(&self.settings.roots), self.settings.thoughts.as_ref()];
        let mut outcome = Err(ReferenceError::NotFound { reference: reference.to_string() });
        for all in all.into_iter().flatten() {
            // A server may outlive its roots.
            let all = all.reopened().0;
            // A report for all roots lists the roots of notes too, which are not among the others.
            let some: Vec<PathBuf> =
                roots.iter().filter(|root| all.narrowed(&[(*root).clone()]).is_ok()).cloned().collect();
            if some.is_empty() != roots.is_empty() {
                continue;
            }
            let all = if some.is_empty() { all } else { all.narrowed(&some)? };
            match read_reference(&all, reference, around) {
                Err(ReferenceError::NotFound { .. }) => {}
                found => return found,
            }
            outcome = Err(ReferenceError::NotFound { reference: reference.to_string() });
        }
        outcome
    }

    /// Reads a handoff by its path or name, or the latest one.
    pub fn resume_handoff(&self, name: Option<&str>) -> Result<ResumedHandoff, ResumeError> {
        // A server may outlive its roots.
        resume_handoff(&self.settings.artifacts, name, &self.settings.roots.reopened().0)
    }
}

fn shown(roots: &Roots) -> Vec<String> {
    roots.paths().map(|path| path.to_string_lossy().into_owned()).collect()
}
