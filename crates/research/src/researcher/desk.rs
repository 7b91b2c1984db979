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

use super::running::{Running, Steps, milliseconds};
use super::{LONGEST_QUESTION, Progress, Request, ResearchError, Researcher, shown};
use crate::crew::{Brief, Crew, Done};
use crate::map::Map;
use crate::question::Question;
use crate::synthesis::{fit, missing_role, synthesise};
use crate::{
    Allowance, Fault, FaultKind, Limits, Outcome, Report, Role, RunRecord, Timing, View, bounds,
    write_artifact,
};

/// How often somebody who waits for roles looks whether they are still wanted.
const LOOK: Duration = Duration::from_millis(20);
/// Characters of a keyword that are told.
const KEYWORD: usize = 60;
/// Of what went wrong.
const MESSAGE: usize = 300;
const MOST_KEYWORDS: usize = 12;

/// A request, and what has come of it so far.
pub(super) struct Desk<'a> {
    researcher: &'a Researcher,
    brief: Brief,
    allowance: Arc<Allowance>,
    limits: Limits,
    halt: Halt,
    begun: Instant,
    report: Report,
    /// Of the roots, in words.
    gone: Vec<String>,
    steps: Steps<'a>,
}

fn missing_root(path: &Path) -> String {
    bounds::short(&format!("{} is gone, and was not searched.", path.display()), MESSAGE)
}

impl<'a> Desk<'a> {
    pub(super) fn set(
        researcher: &'a Researcher,
        request: &Request,
        halt: &Halt,
        progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Result<Desk<'a>, ResearchError> {
        let begun = Instant::now();
        if request.question.trim().is_empty() {
            return Err(ResearchError::NoQuestion);
        }
        let length = request.question.chars().count();
        if length > LONGEST_QUESTION {
            return Err(ResearchError::LongQuestion { length, most: LONGEST_QUESTION });
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
        let allowance = Arc::new(Allowance::of(limits));
        let report = Report {
            question: bounds::short(&request.question, LONGEST_QUESTION),
            roots_searched: shown(&roots),
            locator: None,
            analyzer: None,
            patterns: None,
            thoughts: None,
            synthesis: None,
            run: RunRecord { limits, partial: gone.clone(), ..RunRecord::default() },
            artifact_path: None,
        };
        let brief = Brief {
            question: Arc::new(Question::new(&request.question)),
            view: Arc::new(View::new(roots, Arc::clone(&allowance), halt.clone())),
            // Whoever names folders wants nothing from elsewhere.
            thoughts: settings.thoughts.clone().filter(|_| request.roots.is_empty()),
            shelf: researcher.shelf.clone(),
        };
        let steps = Steps::new(progress);
        Ok(Desk { researcher, brief, allowance, limits, halt, begun, report, gone, steps })
    }

    /// All roles that the question calls for, and one answer of them.
    pub(super) fn research(mut self, artifact: bool) -> Report {
        let mut others = vec![Role::Analyzer];
        if self.brief.question.wants_examples {
            others.push(Role::Patterns);
        }
        if let Some(thoughts) = &self.brief.thoughts {
            others.push(Role::Thoughts);
            self.report.roots_searched.extend(shown(thoughts));
        }
        self.steps.total = 2 * (others.len() as u64 + 1) + 1 + u64::from(artifact);
        let map = self.locate(true);
        self.run_beside_each_other(&others, map);
        self.steps.tell("putting the answer together".to_owned());
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
        self.steps.tell("writing the artifact".to_owned());
        match write_artifact(&self.researcher.settings.artifacts, &self.report, Timestamp::now()) {
            Ok(path) => self.report.artifact_path = Some(path.to_string_lossy().into_owned()),
            Err(error) => self.report.run.partial.push(bounds::short(&error.to_string(), MESSAGE)),
        }
    }

    fn count(&mut self) {
        self.report.run.used = self.allowance.used();
        self.report.run.elapsed_ms = milliseconds(self.begun.elapsed());
    }

    /// One role, and what it goes by.
    pub(super) fn ask_role(mut self, role: Role) -> Report {
        self.steps.total = if role == Role::Locator { 2 } else { 4 };
        let map = self.locate(role == Role::Locator);
        if role != Role::Locator {
            self.run_beside_each_other(&[role], map);
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

    fn finish(mut self) -> Report {
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
        if !self.allowance.used().limited || told {
            return None;
        }
        Some(format!(
            "Reading was stopped by the limits of {} files and {} bytes, so results may be truncated.",
            self.limits.max_files_read, self.limits.max_bytes_read
        ))
    }

    /// The map that the others go by, if there is one. What the locator says of it is told when it is wanted, and when it
    /// failed.
    fn locate(&mut self, wanted: bool) -> Result<Arc<Map>, Fault> {
        self.report.run.roles.push(Role::Locator);
        self.steps.tell("locator begins".to_owned());
        let (over, _ended) = channel();
        let brief = self.brief.clone();
        let running =
            self.spawn(Role::Locator, 0, &over, move |crew, halt| crew.locate(&brief, wanted, halt));
        let (result, timing) = running.wait();
        let (map, done) = match result {
            Ok((map, done)) => (Ok(map), done),
            Err(fault) => {
                let done = wanted.then(|| Done::plainly(Err(fault.clone())));
                (Err(fault), done)
            }
        };
        if let Ok(map) = &map {
            self.report.run.files_scanned = map.files_scanned;
            let words = map.keywords.iter().take(MOST_KEYWORDS);
            self.report.run.keywords = words.map(|word| bounds::short(word, KEYWORD)).collect();
        }
        match done {
            Some(done) => self.record(Role::Locator, done, timing),
            None => self.steps.tell("locator ended".to_owned()),
        }
        map
    }

    /// Runs roles at once, as far as there are workers, and takes their outcomes as they come.
    fn run_beside_each_other(&mut self, roles: &[Role], map: Result<Arc<Map>, Fault>) {
        let (over, ended) = channel();
        let mut running: Vec<Option<Running<Done>>> = Vec::new();
        // Before any of them begins to read.
        let shares: Vec<_> =
            (0..roles.len()).map(|number| Arc::new(self.brief.view.share(number, roles.len()))).collect();
        for (number, &role) in roles.iter().enumerate() {
            self.report.run.roles.push(role);
            self.steps.tell(format!("{} begins", role.key()));
            running.push(Some(match &map {
                Ok(map) => {
                    let (mut brief, map) = (self.brief.clone(), Arc::clone(map));
                    brief.view = Arc::clone(&shares[number]);
                    self.spawn(role, number, &over, move |crew, halt| Ok(crew.work(role, &brief, &map, halt)))
                }
                // They go by what the locator finds.
                Err(fault) => Running::turned_away(role, fault.clone()),
            }));
        }
        drop(over);
        while running.iter().any(Option::is_some) {
            let next = match ended.recv_timeout(LOOK) {
                Ok(number) => vec![number],
                Err(RecvTimeoutError::Timeout) if !self.halt.is_due() => continue,
                // Nobody is left to wait for, or nothing to wait for.
                Err(_) => (0..running.len()).collect(),
            };
            for number in next {
                if let Some(task) = running[number].take() {
                    let role = task.role;
                    let (result, timing) = task.wait();
                    let done = result.unwrap_or_else(|fault| Done::plainly(Err(fault)));
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
        task: impl FnOnce(&Crew, &Halt) -> Result<T, Fault> + Send + 'static,
    ) -> Running<T> {
        let (crew, pool, halt) = (self.researcher.crew.clone(), &self.researcher.pool, self.halt.clone());
        let running = Running::begin(role, number, over, |ending| {
            let submitted = pool.submit(halt, move |halt| {
                let _ending = ending;
                task(&crew, halt)
            });
            submitted.map_err(|full| Fault::new(FaultKind::Saturated, full.to_string()))
        });
        self.report.run.tasks_spawned += u64::from(running.is_spawned());
        running
    }

    /// Puts an outcome into the report, with what it says of the run.
    fn record(&mut self, role: Role, done: Done, timing: Timing) {
        let result = done.result.map(bounds::finding).map_err(bounds::fault);
        let run = &mut self.report.run;
        run.model = match (run.model.take(), done.model) {
            (Some(known), Some(name)) if !known.split(", ").any(|one| one == name) => {
                Some(format!("{known}, {name}"))
            }
            (known, name) => known.or(name),
        };
        if let Some(fault) = done.instead.map(bounds::fault) {
            run.partial.push(format!(
                "{} was done without the model: {}",
                role.key(),
                missing_role(role, &fault).trim_start_matches(role.key()).trim_start()
            ));
        }
        let told = match &result {
            Ok(finding) => format!("{} ended: {} references", role.key(), finding.references.len()),
            Err(fault) => {
                run.partial.push(missing_role(role, fault));
                if fault.kind == FaultKind::Timeout {
                    run.timeouts.push(role);
                }
                format!("{} ended: {}", role.key(), fault.kind.name())
            }
        };
        *self.outcome(role) = Some(Outcome { result, timing });
        self.steps.tell(told);
    }

    fn outcome(&mut self, role: Role) -> &mut Option<Outcome> {
        match role {
            Role::Locator => &mut self.report.locator,
            Role::Analyzer => &mut self.report.analyzer,
            Role::Patterns => &mut self.report.patterns,
            Role::Thoughts => &mut self.report.thoughts,
        }
    }
}
