//! One request: runs the roles and builds the report.
//!
//! The caller blocks here, outside the pool, and only roles are tasks in it, so tasks cannot deadlock. However a task ends,
//! it has an outcome in the report: ok, out of time, cancelled, rejected by a full queue, or failed by a bug.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tamis_codebase::{Halt, RootError};

use super::task::{ProgressReporter, RunningTask, milliseconds};
use super::{MAX_QUESTION_LENGTH, ResearchError, ResearchProgress, ResearchRequest, Researcher, shown};
use crate::locate::Locations;
use crate::model::RoleRun;
use crate::question::Question;
use crate::role_runner::{RoleContext, RoleRunner};
use crate::synthesis::{fit, synthesise};
use crate::{
    BoundedReader, NoteFact, ReadBudget, ReportNote, ResearchLimits, ResearchReport, Role, RoleError,
    RoleErrorKind, RoleOutcome, RoleTiming, RunRecord, bounds, write_artifact,
};

/// How often the caller checks for cancellation while it waits.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Characters of a keyword in the record.
const KEYWORD: usize = 60;
/// Characters of a note in the record.
const MESSAGE: usize = 300;
const MAX_KEYWORDS: usize = 12;

/// A request and its report so far.
pub(super) struct RequestRun<'a> {
    researcher: &'a Researcher,
    context: RoleContext,
    budget: Arc<ReadBudget>,
    limits: ResearchLimits,
    halt: Halt,
    begun: Instant,
    report: ResearchReport,
    /// Roots that no longer exist.
    gone: Vec<ReportNote>,
    progress: ProgressReporter<'a>,
}

/// A note in the run's record, without secrets.
fn bounded(fact: NoteFact) -> ReportNote {
    let note = ReportNote::from(fact);
    ReportNote { text: bounds::short(&note.text, MESSAGE), ..note }
}

impl<'a> RequestRun<'a> {
    pub(super) fn start(
        researcher: &'a Researcher,
        request: &ResearchRequest,
        halt: &Halt,
        progress: &'a (dyn Fn(ResearchProgress) + Sync),
    ) -> Result<RequestRun<'a>, ResearchError> {
        let begun = Instant::now();
        if request.question.trim().is_empty() {
            return Err(ResearchError::NoQuestion);
        }
        let length = request.question.chars().count();
        if length > MAX_QUESTION_LENGTH {
            return Err(ResearchError::LongQuestion { length, most: MAX_QUESTION_LENGTH });
        }
        let settings = &researcher.settings;
        // A server may outlive its roots: a folder that is gone must not look like one in which nothing is found.
        let (there, gone) = settings.roots.anew();
        if let (true, Some(path)) = (there.is_empty(), gone.first()) {
            let cause = std::io::ErrorKind::NotFound.into();
            return Err(RootError::Unreadable { path: path.clone(), cause }.into());
        }
        let roots = match request.roots.as_slice() {
            [] => there,
            some => there.narrowed(some)?,
        };
        let gone: Vec<ReportNote> = match request.roots.as_slice() {
            [] => gone.into_iter().map(|path| bounded(NoteFact::RootGone(path))).collect(),
            _ => Vec::new(),
        };
        let limits = settings.limits.with(request.constraints);
        let halt = halt.child().by(begun + limits.deadline);
        let budget = Arc::new(ReadBudget::of(limits));
        let report = ResearchReport {
            question: bounds::short(&request.question, MAX_QUESTION_LENGTH),
            roots_searched: shown(&roots),
            locator: None,
            analyzer: None,
            patterns: None,
            thoughts: None,
            synthesis: None,
            run: RunRecord { partial: gone.clone(), ..RunRecord::new(limits) },
            artifact_path: None,
        };
        let context = RoleContext {
            question: Arc::new(Question::new(&request.question)),
            reader: Arc::new(BoundedReader::new(roots, Arc::clone(&budget), halt.clone())),
            // A call that names folders gets nothing from elsewhere.
            thoughts: settings.thoughts.clone().filter(|_| request.roots.is_empty()),
            indexer: researcher.indexer.clone(),
        };
        let progress = ProgressReporter::new(progress);
        Ok(RequestRun { researcher, context, budget, limits, halt, begun, report, gone, progress })
    }

    /// Runs all roles that the question needs, and the synthesis.
    pub(super) fn research(mut self, artifact: bool) -> ResearchReport {
        let mut others = vec![Role::Analyzer];
        if self.context.question.wants_examples {
            others.push(Role::Patterns);
        }
        if let Some(thoughts) = &self.context.thoughts {
            others.push(Role::Thoughts);
            self.report.roots_searched.extend(shown(thoughts));
        }
        self.progress.total = 2 * (others.len() as u64 + 1) + 1 + u64::from(artifact);
        let locations = self.locate(true);
        self.run_in_parallel(&others, locations);
        self.progress.report("putting the answer together".to_owned());
        let notes = self.run_notes();
        let outcomes: Vec<_> = self.report.outcomes().collect();
        self.report.synthesis = Some(synthesise(&outcomes, &notes));
        self.count();
        if artifact {
            self.write_artifact();
        }
        self.finish()
    }

    /// Writes the artifact, unless the request was cancelled.
    fn write_artifact(&mut self) {
        if self.halt.token().is_cancelled() {
            return;
        }
        self.progress.report("writing the artifact".to_owned());
        match write_artifact(&self.researcher.settings.artifacts, &self.report, Timestamp::now()) {
            Ok(path) => self.report.artifact_path = Some(path.to_string_lossy().into_owned()),
            Err(error) => self.report.run.partial.push(bounded(NoteFact::NoArtifact(error.to_string()))),
        }
    }

    fn count(&mut self) {
        self.report.run.used = self.budget.used();
        self.report.run.elapsed_ms = milliseconds(self.begun.elapsed());
    }

    /// Runs one role, after the locator.
    pub(super) fn ask_role(mut self, role: Role) -> ResearchReport {
        self.progress.total = if role == Role::Locator { 2 } else { 4 };
        let locations = self.locate(role == Role::Locator);
        if role != Role::Locator {
            self.run_in_parallel(&[role], locations);
        }
        let notes = self.run_notes();
        if let Some(Ok(finding)) = self.outcome(role).as_mut().map(|outcome| &mut outcome.result) {
            finding.notes.splice(0..0, notes);
        }
        self.finish()
    }

    fn finish(mut self) -> ResearchReport {
        self.count();
        fit(&mut self.report, self.limits.max_tokens);
        self.report
    }

    /// Notes of the run: roots that are gone, and that the limits left files unread, unless a role has that note.
    fn run_notes(&self) -> Vec<ReportNote> {
        let limits = NoteFact::read_limits(self.limits);
        let mut findings = self.report.outcomes().filter_map(|(_, outcome)| outcome.result.as_ref().ok());
        let is_noted = findings.any(|finding| finding.notes.iter().any(|note| note.fact == limits));
        let mut notes = self.gone.clone();
        if self.budget.used().limited && !is_noted {
            notes.push(limits.into());
        }
        notes
    }

    /// The locations where the other roles begin. The locator's outcome is recorded when it is wanted, and when it failed.
    fn locate(&mut self, wanted: bool) -> Result<Arc<Locations>, RoleError> {
        self.report.run.roles.push(Role::Locator);
        self.progress.report("locator begins".to_owned());
        let (over, _ended) = channel();
        let context = self.context.clone();
        let running =
            self.spawn(Role::Locator, 0, &over, move |runner, halt| runner.locate(&context, wanted, halt));
        let (result, timing) = running.wait();
        let (locations, done) = match result {
            Ok((locations, done)) => (Ok(locations), done),
            Err(error) => {
                let done = wanted.then(|| RoleRun::deterministic(Err(error.clone())));
                (Err(error), done)
            }
        };
        if let Ok(locations) = &locations {
            self.report.run.files_scanned = locations.files_scanned;
            let words = locations.keywords.iter().take(MAX_KEYWORDS);
            self.report.run.keywords = words.map(|word| bounds::short(word, KEYWORD)).collect();
        }
        match done {
            Some(done) => self.record(Role::Locator, done, timing),
            None => self.progress.report("locator ended".to_owned()),
        }
        locations
    }

    /// Runs roles in parallel, as far as there are workers, and records their outcomes as they come.
    fn run_in_parallel(&mut self, roles: &[Role], locations: Result<Arc<Locations>, RoleError>) {
        let (over, ended) = channel();
        let mut running: Vec<Option<RunningTask<RoleRun>>> = Vec::new();
        // Divided before any role begins to read.
        let shares: Vec<_> =
            (0..roles.len()).map(|number| Arc::new(self.context.reader.share(number, roles.len()))).collect();
        for (number, &role) in roles.iter().enumerate() {
            self.report.run.roles.push(role);
            self.progress.report(format!("{} begins", role.key()));
            running.push(Some(match &locations {
                Ok(locations) => {
                    let (mut context, locations) = (self.context.clone(), Arc::clone(locations));
                    context.reader = Arc::clone(&shares[number]);
                    self.spawn(role, number, &over, move |runner, halt| {
                        Ok(runner.work(role, &context, &locations, halt))
                    })
                }
                // They need what the locator finds.
                Err(error) => RunningTask::rejected(role, error.clone()),
            }));
        }
        drop(over);
        while running.iter().any(Option::is_some) {
            let next = match ended.recv_timeout(POLL_INTERVAL) {
                Ok(number) => vec![number],
                Err(RecvTimeoutError::Timeout) if !self.halt.is_due() => continue,
                // All tasks have ended, or time is up.
                Err(_) => (0..running.len()).collect(),
            };
            for number in next {
                if let Some(task) = running[number].take() {
                    let role = task.role;
                    let (result, timing) = task.wait();
                    let done = result.unwrap_or_else(|error| RoleRun::deterministic(Err(error)));
                    self.record(role, done, timing);
                }
            }
        }
        // In the order of the roles, not in the order in which they ended.
        self.report.run.partial.sort_by_key(|note| note.fact.role());
        self.report.run.timeouts.sort();
    }

    fn spawn<T: Send + 'static>(
        &mut self,
        role: Role,
        number: usize,
        over: &Sender<usize>,
        task: impl FnOnce(&RoleRunner, &Halt) -> Result<T, RoleError> + Send + 'static,
    ) -> RunningTask<T> {
        let (runner, pool, halt) = (self.researcher.runner.clone(), &self.researcher.pool, self.halt.clone());
        let running = RunningTask::begin(role, number, over, |ending| {
            let submitted = pool.submit(halt, move |halt| {
                let _ending = ending;
                task(&runner, halt)
            });
            submitted.map_err(|full| RoleError::new(RoleErrorKind::Saturated, full.to_string()))
        });
        self.report.run.tasks_spawned += u64::from(running.is_spawned());
        running
    }

    /// Records an outcome in the report.
    fn record(&mut self, role: Role, done: RoleRun, timing: RoleTiming) {
        let result = done.result.map(bounds::finding).map_err(bounds::error);
        let run = &mut self.report.run;
        run.models.extend(done.model.filter(|name| !run.models.contains(name)));
        if let Some(error) = done.model_error.map(bounds::error) {
            run.partial.push(NoteFact::WithoutModel(role, error).into());
        }
        let message = match &result {
            Ok(finding) => format!("{} ended: {} references", role.key(), finding.references.len()),
            Err(error) => {
                run.partial.push(NoteFact::RoleFailed(role, error.clone()).into());
                if error.kind == RoleErrorKind::Timeout {
                    run.timeouts.push(role);
                }
                format!("{} ended: {}", role.key(), error.kind.name())
            }
        };
        *self.outcome(role) = Some(RoleOutcome { result, timing });
        self.progress.report(message);
    }

    fn outcome(&mut self, role: Role) -> &mut Option<RoleOutcome> {
        match role {
            Role::Locator => &mut self.report.locator,
            Role::Analyzer => &mut self.report.analyzer,
            Role::Patterns => &mut self.report.patterns,
            Role::Thoughts => &mut self.report.thoughts,
        }
    }
}
