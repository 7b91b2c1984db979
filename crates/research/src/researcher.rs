//! The way of a question: locate, analyse, find patterns, put together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tamis_workspace::{Halt, RootError, Roots};

use crate::question::Question;
use crate::roles::{self, Job};
use crate::{
    Allowance, Constraints, Fault, FaultKind, Limits, Outcome, Pool, Report, Role, RunRecord, Timing, View,
};

/// How a researcher is set up.
pub struct Settings {
    pub roots: Roots,
    /// Notes of former work; the role for them is there only when these are.
    pub thoughts: Option<Roots>,
    /// Where artifacts are written.
    pub artifacts: PathBuf,
    /// What a request may take unless it says otherwise.
    pub limits: Limits,
    pub workers: usize,
    pub most_waiting: usize,
}

/// Answers questions. One a process; any number of threads may ask.
pub struct Researcher {
    settings: Settings,
    pool: Pool,
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
    #[error(transparent)]
    Root(#[from] RootError),
}

/// How far a request is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub done: u64,
    pub total: u64,
    pub message: String,
}

impl Researcher {
    pub fn new(settings: Settings) -> Researcher {
        let pool = Pool::new(settings.workers, settings.most_waiting);
        Researcher { settings, pool }
    }

    /// Where it may look.
    pub fn roots(&self) -> Vec<String> {
        self.settings.roots.paths().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// Answers a question by all roles that it calls for.
    pub fn research(
        &self,
        request: &Request,
        halt: &Halt,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Report, ResearchError> {
        self.ask(request, None, halt, progress)
    }

    /// Asks one role; the locator goes before the others.
    pub fn ask_role(
        &self,
        role: Role,
        request: &Request,
        halt: &Halt,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Report, ResearchError> {
        self.ask(request, Some(role), halt, progress)
    }

    fn ask(
        &self,
        request: &Request,
        only: Option<Role>,
        halt: &Halt,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Report, ResearchError> {
        let begun = Instant::now();
        if request.question.trim().is_empty() {
            return Err(ResearchError::NoQuestion);
        }
        let roots = match request.roots.as_slice() {
            [] => self.settings.roots.clone(),
            some => self.settings.roots.narrowed(some)?,
        };
        let limits = self.settings.limits.with(request.constraints);
        let halt = halt.child().by(begun + limits.deadline);
        let question = Arc::new(Question::new(&request.question));
        let allowance = Arc::new(Allowance::of(limits));
        let view = Arc::new(View::new(roots, Arc::clone(&allowance), halt.clone()));
        let mut report = Report {
            question: request.question.clone(),
            roots_searched: view.roots.paths().map(|path| path.to_string_lossy().into_owned()).collect(),
            locator: None,
            analyzer: None,
            patterns: None,
            thoughts: None,
            synthesis: None,
            run: RunRecord { limits, ..RunRecord::default() },
            artifact_path: None,
        };
        progress(Progress { done: 0, total: 2, message: "locating".to_owned() });
        let (located, timing) = {
            let (question, view) = (Arc::clone(&question), Arc::clone(&view));
            self.timed(&halt, move |halt| roles::locator::locate(&question, &view, halt))
        };
        let result = match located {
            Err(fault) => Err(fault),
            Ok(map) => {
                report.run.files_scanned = map.files_scanned;
                report.run.keywords.clone_from(&map.keywords);
                let thoughts = self.settings.thoughts.clone();
                let job = Job { question, view, map: Arc::new(map), thoughts };
                if only.is_none_or(|role| role == Role::Analyzer) {
                    let job = job.clone();
                    let (result, timing) =
                        self.timed(&halt, move |halt| roles::run(Role::Analyzer, &job, halt));
                    report.analyzer = Some(Outcome { result, timing });
                }
                roles::run(Role::Locator, &job, &halt)
            }
        };
        report.locator = Some(Outcome { result, timing });
        report.run.used = allowance.used();
        report.run.elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(report)
    }

    fn timed<T: Send + 'static>(
        &self,
        halt: &Halt,
        task: impl FnOnce(&Halt) -> Result<T, Fault> + Send + 'static,
    ) -> (Result<T, Fault>, Timing) {
        let begun = Instant::now();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let result = match self.pool.submit(halt.clone(), task) {
            Ok(ticket) => ticket.wait(),
            Err(saturated) => Err(Fault::new(FaultKind::Saturated, saturated.to_string())),
        };
        let timing = Timing {
            started_at: i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            elapsed_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        (result, timing)
    }
}
