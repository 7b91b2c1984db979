//! One request: runs the roles and builds the report.
//!
//! The caller blocks here, outside the pool, and only roles are tasks in it, so tasks cannot deadlock. However a task ends,
//! it has an outcome in the report: ok, out of time, cancelled, rejected by a full queue, or failed by a bug.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tamis_codebase::{RootError, StopSignal};

use super::{
    MAX_QUESTION_LENGTH, ResearchError, ResearchProgress, ResearchRequest, ResearchStep, Researcher, shown,
};
use crate::model::RoleRun;
use crate::question::Question;
use crate::role_runner::RoleRunner;
use crate::roles::Job;
use crate::roles::locator::further_passages;
use crate::synthesis::{add_passages, fit, synthesise};
use crate::worker_pool::next_result;
use crate::{
    BoundedReader, NoteFact, ReadBudget, ReportNote, ResearchReport, Role, RoleError, RoleErrorKind,
    RoleOutcome, RoleTiming, RunRecord, bounds, write_artifact,
};

/// Characters of a keyword in the record.
const KEYWORD: usize = 60;
/// Characters of a note in the record.
const MESSAGE: usize = 300;
const MAX_KEYWORDS: usize = 12;

/// A request and its report so far.
pub(super) struct RequestRun<'a> {
    researcher: &'a Researcher,
    job: Job,
    stop: StopSignal,
    begun: Instant,
    report: ResearchReport,
    /// Roots that do not exist.
    gone: Vec<ReportNote>,
    progress: &'a (dyn Fn(ResearchProgress) + Sync),
    steps_done: u64,
    steps: u64,
}

/// When a task was started.
#[derive(Clone, Copy)]
struct Start {
    at: Timestamp,
    clock: Instant,
}

impl Start {
    fn now() -> Start {
        Start { at: Timestamp::now(), clock: Instant::now() }
    }

    fn until(self, end: Instant) -> RoleTiming {
        let elapsed_ms = milliseconds(end.saturating_duration_since(self.clock));
        RoleTiming { started_at: self.at.as_millisecond(), elapsed_ms }
    }
}

/// The result of a task, and when it ended.
type Ended<T> = (Role, Result<T, RoleError>, Instant);

/// A note in the run's record, without secrets.
fn bounded(fact: NoteFact) -> ReportNote {
    let note = ReportNote::from(fact);
    ReportNote { text: bounds::short(&note.text, MESSAGE), ..note }
}

impl<'a> RequestRun<'a> {
    pub(super) fn start(
        researcher: &'a Researcher,
        request: &ResearchRequest,
        stop: &StopSignal,
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
        let (there, gone) = settings.roots.reopened();
        if let (true, Some(path)) = (there.is_empty(), gone.first()) {
            let cause = std::io::ErrorKind::NotFound.into();
            return Err(RootError::Unreadable { path: path.clone(), cause }.into());
        }
        let roots = match request.roots.as_slice() {
            [] => there,
            some => there.narrowed(some)?,
        };
        let gone: Vec<ReportNote> = match request.roots.as_slice() {
            [] => {
                let gone = gone.into_iter().chain(researcher.missing.iter().cloned());
                gone.map(|path| bounded(NoteFact::RootGone(path))).collect()
            }
            _ => Vec::new(),
        };
        let limits = settings.limits.with(request.constraints);
        let stop = stop.child().by(begun + limits.deadline);
        let report = ResearchReport {
            question: bounds::short(&request.question, MAX_QUESTION_LENGTH),
            roots_searched: shown(&roots),
            roles: BTreeMap::new(),
            synthesis: None,
            run: RunRecord { partial: gone.clone(), ..RunRecord::new(limits) },
            artifact_path: None,
        };
        let job = Job {
            question: Arc::new(Question::new(&request.question)),
            reader: Arc::new(BoundedReader::new(roots, Arc::new(ReadBudget::of(limits)), stop.clone())),
            // A call that names folders gets nothing from elsewhere.
            thoughts: settings.thoughts.clone().filter(|_| request.roots.is_empty()),
            locations: Arc::default(),
            alone: request.role.is_some(),
        };
        Ok(RequestRun { researcher, job, stop, begun, report, gone, progress, steps_done: 0, steps: 0 })
    }

    /// Runs all roles that the question needs, and the synthesis.
    pub(super) fn research(mut self, artifact: bool) -> ResearchReport {
        let mut others = vec![Role::Analyzer];
        if self.job.question.wants_examples {
            others.push(Role::Patterns);
        }
        if let Some(thoughts) = &self.job.thoughts {
            others.push(Role::Thoughts);
            self.report.roots_searched.extend(shown(thoughts));
        }
        self.steps = 2 * (others.len() as u64 + 1) + 1 + u64::from(artifact);
        let located = self.locate(true);
        self.run_in_parallel(&others, located);
        self.report_progress(ResearchStep::Composing, "composing the answer".to_owned());
        let notes = self.run_notes();
        let mut answer = synthesise(&self.report.roles, &notes);
        add_passages(&mut answer, further_passages(&self.job.locations));
        self.report.synthesis = Some(answer);
        self.count();
        if artifact {
            self.write_artifact();
        }
        self.finish()
    }

    /// Writes the artifact, unless the request was cancelled.
    fn write_artifact(&mut self) {
        if self.stop.token().is_cancelled() {
            return;
        }
        self.report_progress(ResearchStep::Writing, "writing the artifact".to_owned());
        match write_artifact(&self.researcher.settings.artifacts, &self.report, Timestamp::now()) {
            Ok(path) => self.report.artifact_path = Some(path.to_string_lossy().into_owned()),
            Err(error) => self.report.run.partial.push(bounded(NoteFact::NoArtifact(error.to_string()))),
        }
    }

    fn count(&mut self) {
        self.report.run.used = self.job.reader.budget.used();
        self.report.run.elapsed_ms = milliseconds(self.begun.elapsed());
    }

    /// Runs one role, after the locator.
    pub(super) fn ask_role(mut self, role: Role) -> ResearchReport {
        self.steps = if role == Role::Locator { 2 } else { 4 };
        let located = self.locate(role == Role::Locator);
        if role != Role::Locator {
            self.run_in_parallel(&[role], located);
        }
        let notes = self.run_notes();
        if let Some(Ok(finding)) = self.report.roles.get_mut(&role).map(|outcome| &mut outcome.result) {
            finding.notes.splice(0..0, notes);
        }
        self.finish()
    }

    fn finish(mut self) -> ResearchReport {
        self.count();
        let max_tokens = self.report.run.limits.max_tokens;
        fit(&mut self.report, max_tokens);
        self.report
    }

    /// Notes of the run: roots that are gone, and that the limits left files unread, unless a role has that note.
    fn run_notes(&self) -> Vec<ReportNote> {
        let limits = NoteFact::read_limits(self.report.run.limits);
        let mut findings = self.report.roles.values().filter_map(|outcome| outcome.result.as_ref().ok());
        let is_noted = findings.any(|finding| finding.notes.iter().any(|note| note.fact == limits));
        let mut notes = self.gone.clone();
        if self.job.reader.budget.used().limited && !is_noted {
            notes.push(limits.into());
        }
        notes
    }

    /// Finds the locations where the other roles begin, and records the locator's outcome if it is requested.
    fn locate(&mut self, with_finding: bool) -> Result<(), RoleError> {
        self.report.run.roles.push(Role::Locator);
        self.report_progress(ResearchStep::Began(Role::Locator), "locator begins".to_owned());
        let (job, start) = (self.job.clone(), Start::now());
        let (send, ended) = channel();
        self.spawn(Role::Locator, &send, move |runner, stop| runner.locate(job, with_finding, stop));
        let (result, end) = match next_result(&ended, &self.stop) {
            Ok((_, result, end)) => (result, end),
            Err(error) => (Err(error), Instant::now()),
        };
        let (located, run) = match result {
            Ok((locations, run)) => {
                self.report.run.files_scanned = locations.files_scanned;
                let words = locations.keywords.iter().take(MAX_KEYWORDS);
                self.report.run.keywords = words.map(|word| bounds::short(word, KEYWORD)).collect();
                self.job.locations = locations;
                (Ok(()), run)
            }
            Err(error) => {
                let run = with_finding.then(|| RoleRun::deterministic(Err(error.clone())));
                (Err(error), run)
            }
        };
        match run {
            Some(run) => self.record(Role::Locator, run, start.until(end)),
            None => {
                self.report_progress(ResearchStep::Ended(Role::Locator), "locator ended".to_owned());
            }
        }
        located
    }

    /// Runs roles in parallel, as far as there are workers, and records their outcomes as they come.
    fn run_in_parallel(&mut self, roles: &[Role], located: Result<(), RoleError>) {
        let (send, ended) = channel();
        let mut running: BTreeMap<Role, Start> = BTreeMap::new();
        // Divided before any role begins to read.
        let shares: Vec<_> =
            (0..roles.len()).map(|number| Arc::new(self.job.reader.share(number, roles.len()))).collect();
        for (&role, reader) in roles.iter().zip(shares) {
            self.report.run.roles.push(role);
            self.report_progress(ResearchStep::Began(role), format!("{} begins", role.key()));
            running.insert(role, Start::now());
            match &located {
                Ok(()) => {
                    let job = Job { reader, ..self.job.clone() };
                    self.spawn(role, &send, move |runner, stop| Ok(runner.work(role, &job, stop)));
                }
                // They need what the locator finds.
                Err(error) => send_ended(&send, role, Err(error.clone())),
            }
        }
        while !running.is_empty() {
            let all_ended = match next_result(&ended, &self.stop) {
                Ok(ended) => vec![ended],
                // Time is up for those that are left.
                Err(error) => {
                    running.keys().map(|role| (*role, Err(error.clone()), Instant::now())).collect()
                }
            };
            for (role, result, end) in all_ended {
                let run = result.unwrap_or_else(|error| RoleRun::deterministic(Err(error)));
                if let Some(start) = running.remove(&role) {
                    self.record(role, run, start.until(end));
                }
            }
        }
        // In the order of the roles, not in the order in which they ended.
        self.report.run.partial.sort_by_key(|note| note.fact.role());
        self.report.run.timeouts.sort();
    }

    /// Submits a task, whose result is sent, even if it is rejected.
    fn spawn<T: Send + 'static>(
        &mut self,
        role: Role,
        send: &Sender<Ended<T>>,
        task: impl FnOnce(&RoleRunner, &StopSignal) -> Result<T, RoleError> + Send + 'static,
    ) {
        let (runner, done) = (self.researcher.runner.clone(), send.clone());
        let submitted = self.researcher.pool().submit(
            self.stop.clone(),
            move |stop| task(&runner, stop),
            move |result| send_ended(&done, role, result),
        );
        match submitted {
            Ok(()) => self.report.run.tasks_spawned += 1,
            Err(full) => {
                let error = RoleError::new(RoleErrorKind::Saturated, full.to_string());
                send_ended(send, role, Err(error));
            }
        }
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
        self.report.roles.insert(role, RoleOutcome { result, timing });
        self.report_progress(ResearchStep::Ended(role), message);
    }

    fn report_progress(&mut self, step: ResearchStep, message: String) {
        self.steps_done += 1;
        let (done, total) = (self.steps_done, self.steps.max(self.steps_done));
        (self.progress)(ResearchProgress { done, total, step, message });
    }
}

fn send_ended<T>(send: &Sender<Ended<T>>, role: Role, result: Result<T, RoleError>) {
    // The caller may have stopped waiting.
    let _ = send.send((role, result, Instant::now()));
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
