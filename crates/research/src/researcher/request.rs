//! One request under way.
//!
//! Whoever asks waits here, outside of the pool; the roles are tasks in it. However a task ends, it has an outcome in the
//! report: in time, out of time, cancelled, turned away by a full queue, or by a defect of ours.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tamis_codebase::{Halt, RootError};

use super::task::{ProgressReporter, RunningTask, milliseconds};
use super::{MAX_QUESTION_LENGTH, ResearchError, ResearchProgress, ResearchRequest, Researcher, shown};
use crate::locate::Locations;
use crate::question::Question;
use crate::role_runner::{Done, RoleContext, RoleRunner};
use crate::synthesis::{fit, missing_role, synthesise};
use crate::{
    BoundedReader, ReadBudget, ResearchLimits, ResearchReport, Role, RoleError, RoleErrorKind, RoleOutcome,
    RoleTiming, RunRecord, bounds, write_artifact,
};

/// How often somebody who waits for roles looks whether they are still wanted.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Characters of a keyword that are told.
const KEYWORD: usize = 60;
/// Of what went wrong.
const MESSAGE: usize = 300;
const MAX_KEYWORDS: usize = 12;

/// A request, and what has come of it so far.
pub(super) struct RequestRun<'a> {
    researcher: &'a Researcher,
    context: RoleContext,
    budget: Arc<ReadBudget>,
    limits: ResearchLimits,
    halt: Halt,
    begun: Instant,
    report: ResearchReport,
    /// Of the roots, in words.
    gone: Vec<String>,
    progress: ProgressReporter<'a>,
}

fn missing_root(path: &Path) -> String {
    bounds::short(&format!("{} is gone, and was not searched.", path.display()), MESSAGE)
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
        // A server outlives what it looks into: a folder that is gone must not pass for one in which nothing is found.
        let (there, gone) = settings.roots.anew();
        if let (true, Some(path)) = (there.is_empty(), gone.first()) {
            let cause = std::io::ErrorKind::NotFound.into();
            return Err(RootError::Unreadable { path: path.clone(), cause }.into());
        }
        let roots = match request.roots.as_slice() {
            [] => there,
            some => there.narrowed(some)?,
        };
        let gone: Vec<String> = match request.roots.as_slice() {
            [] => gone.iter().map(|path| missing_root(path)).collect(),
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
            run: RunRecord { limits, partial: gone.clone(), ..RunRecord::default() },
            artifact_path: None,
        };
        let context = RoleContext {
            question: Arc::new(Question::new(&request.question)),
            reader: Arc::new(BoundedReader::new(roots, Arc::clone(&budget), halt.clone())),
            // Whoever names folders wants nothing from elsewhere.
            thoughts: settings.thoughts.clone().filter(|_| request.roots.is_empty()),
            indexer: researcher.indexer.clone(),
        };
        let progress = ProgressReporter::new(progress);
        Ok(RequestRun { researcher, context, budget, limits, halt, begun, report, gone, progress })
    }

    /// All roles that the question calls for, and one answer of them.
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
        let remarks = self.remarks();
        let outcomes: Vec<_> = self.report.outcomes().collect();
        self.report.synthesis = Some(synthesise(&outcomes, &remarks));
        self.count();
        if artifact {
            self.write_artifact();
        }
        self.finish()
    }

    /// Persists the answer, unless whoever wanted it has left.
    fn write_artifact(&mut self) {
        if self.halt.token().is_cancelled() {
            return;
        }
        self.progress.report("writing the artifact".to_owned());
        match write_artifact(&self.researcher.settings.artifacts, &self.report, Timestamp::now()) {
            Ok(path) => self.report.artifact_path = Some(path.to_string_lossy().into_owned()),
            Err(error) => self.report.run.partial.push(bounds::short(&error.to_string(), MESSAGE)),
        }
    }

    fn count(&mut self) {
        self.report.run.used = self.budget.used();
        self.report.run.elapsed_ms = milliseconds(self.begun.elapsed());
    }

    /// One role, and what it goes by.
    pub(super) fn ask_role(mut self, role: Role) -> ResearchReport {
        self.progress.total = if role == Role::Locator { 2 } else { 4 };
        let locations = self.locate(role == Role::Locator);
        if role != Role::Locator {
            self.run_in_parallel(&[role], locations);
        }
        let remarks = self.remarks();
        if let Some(Ok(finding)) = self.outcome(role).as_mut().map(|outcome| &mut outcome.result)
            && !remarks.is_empty()
        {
            let before = finding.notes.take().map(|notes| format!(" {notes}")).unwrap_or_default();
            finding.notes = Some(format!("{}{before}", remarks.join(" ")));
        }
        self.finish()
    }

    fn finish(mut self) -> ResearchReport {
        self.count();
        fit(&mut self.report, self.limits.max_tokens);
        self.report
    }

    /// What no role says of itself: folders that are gone, and what the limits kept from being read.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.gone.clone();
        remarks.extend(self.limited());
        remarks
    }

    /// Unless a role has said so itself.
    fn limited(&self) -> Option<String> {
        let told = self.report.outcomes().any(|(_, outcome)| {
            let notes = outcome.result.as_ref().ok().and_then(|finding| finding.notes.as_ref());
            notes.is_some_and(|notes| notes.contains("limit"))
        });
        if !self.budget.used().limited || told {
            return None;
        }
        Some(format!(
            "Reading was stopped by the limits of {} files and {} bytes, so results may be truncated.",
            self.limits.max_files_read, self.limits.max_bytes_read
        ))
    }

    /// The map that the others go by, if there is one. What the locator says of it is told when it is wanted, and when it
    /// failed.
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
                let done = wanted.then(|| Done::plainly(Err(error.clone())));
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

    /// Runs roles at once, as far as there are workers, and takes their outcomes as they come.
    fn run_in_parallel(&mut self, roles: &[Role], locations: Result<Arc<Locations>, RoleError>) {
        let (over, ended) = channel();
        let mut running: Vec<Option<RunningTask<Done>>> = Vec::new();
        // Before any of them begins to read.
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
                // They go by what the locator finds.
                Err(error) => RunningTask::rejected(role, error.clone()),
            }));
        }
        drop(over);
        while running.iter().any(Option::is_some) {
            let next = match ended.recv_timeout(POLL_INTERVAL) {
                Ok(number) => vec![number],
                Err(RecvTimeoutError::Timeout) if !self.halt.is_due() => continue,
                // Nobody is left to wait for, or nothing to wait for.
                Err(_) => (0..running.len()).collect(),
            };
            for number in next {
                if let Some(task) = running[number].take() {
                    let role = task.role;
                    let (result, timing) = task.wait();
                    let done = result.unwrap_or_else(|error| Done::plainly(Err(error)));
                    self.record(role, done, timing);
                }
            }
        }
        // What is told of them is in the order of the roles, not of their ends.
        let order = |text: &String| Role::ALL.iter().position(|role| text.starts_with(role.key()));
        self.report.run.partial.sort_by_key(order);
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

    /// Puts an outcome into the report, with what it says of the run.
    fn record(&mut self, role: Role, done: Done, timing: RoleTiming) {
        let result = done.result.map(bounds::finding).map_err(bounds::error);
        let run = &mut self.report.run;
        run.model = match (run.model.take(), done.model) {
            (Some(known), Some(name)) if !known.split(", ").any(|one| one == name) => {
                Some(format!("{known}, {name}"))
            }
            (known, name) => known.or(name),
        };
        if let Some(error) = done.instead.map(bounds::error) {
            run.partial.push(format!(
                "{} was done without the model: {}",
                role.key(),
                missing_role(role, &error).trim_start_matches(role.key()).trim_start()
            ));
        }
        let told = match &result {
            Ok(finding) => format!("{} ended: {} references", role.key(), finding.references.len()),
            Err(error) => {
                run.partial.push(missing_role(role, error));
                if error.kind == RoleErrorKind::Timeout {
                    run.timeouts.push(role);
                }
                format!("{} ended: {}", role.key(), error.kind.name())
            }
        };
        *self.outcome(role) = Some(RoleOutcome { result, timing });
        self.progress.report(told);
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
