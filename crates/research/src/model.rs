//! Roles with a local model: a loop in which the model calls read-only tools, and checks of its answer.
//!
//! Models refuse, hang, invent files, call tools forever, or are not there. Each of these ends in a [`RoleError`] within the
//! role's time and tokens. With `model.use = auto` the deterministic role then answers, in the time reserved for it.
//!
//! Deliberately missing: streaming, sampling parameters, and calls that a model writes into its text: its server reads those.

mod answer;
mod arguments;
mod chat;
mod evidence;
mod prompts;
mod provider;
mod settings;
mod tool_calls;
mod tool_loop;
mod tools;

use std::time::Instant;

use tamis_codebase::StopSignal;

pub use provider::Model;
pub use settings::{ModelLimits, ModelSettings, ModelUse};
pub use tool_loop::ModelTask;

use crate::roles::{self, Job};
use crate::{NoteFact, ResearchFinding, Role, RoleError, RoleErrorKind};

/// The model's share of the remaining time, in per cent; the rest is reserved for the deterministic role. The other roles
/// come after the locator, so it gets less.
fn share(role: Role) -> u32 {
    if role == Role::Locator { 40 } else { 75 }
}

/// Maximum locations that a model gets as hints.
const MAX_HINTS: usize = 12;

/// The result of a role, and what produced it.
#[derive(Debug)]
pub(crate) struct RoleRun {
    pub(crate) result: Result<ResearchFinding, RoleError>,
    /// The model that answered.
    pub(crate) model: Option<String>,
    /// Why the deterministic role answered in place of the model.
    pub(crate) model_error: Option<RoleError>,
}

impl RoleRun {
    pub(crate) fn deterministic(result: Result<ResearchFinding, RoleError>) -> RoleRun {
        RoleRun { result, model: None, model_error: None }
    }
}

/// Runs a role with the model where there is one and it may be used, else without.
pub(crate) fn run_role(role: Role, job: &Job, stop: &StopSignal, model: Option<&Model>) -> RoleRun {
    let without = || RoleRun::deterministic(roles::run(role, job, stop));
    let Some(model) = model else { return without() };
    let always = model.usage() == ModelUse::Always;
    let name = match model.name_for(role, stop) {
        Ok(name) => name,
        Err(error) if always || error.kind == RoleErrorKind::Canceled => {
            return RoleRun::deterministic(Err(error));
        }
        // Most machines have no model.
        Err(_) => return without(),
    };
    let patience = match stop.remaining() {
        Some(left) if !always => stop.child().by(Instant::now() + left * share(role) / 100),
        _ => stop.clone(),
    };
    let error = match run(role, job, &patience, model) {
        Ok(mut finding) => {
            let may_claim_absence = !job.locations.absent.is_empty() || finding.references.is_empty();
            // If the deadline has passed, the answer comes without the note.
            if role != Role::Thoughts
                && may_claim_absence
                && let Ok(Some(note)) = job.locations.not_searched(&job.reader, stop)
            {
                finding.notes.push(note.into());
            }
            return RoleRun { result: Ok(finding), model: Some(name), model_error: None };
        }
        Err(error) => error,
    };
    if always || stop.is_due() || error.kind == RoleErrorKind::Canceled {
        return RoleRun { result: Err(error), model: Some(name), model_error: None };
    }
    tracing::info!(
        "the model's {} failed ({}), the deterministic one answers",
        role.key(),
        error.kind.name()
    );
    let result = roles::run(role, job, stop).map(|mut finding| {
        finding.notes.push(NoteFact::ModelFailed(error.clone()).into());
        finding
    });
    RoleRun { result, model: None, model_error: Some(error) }
}

/// Runs a role with the model alone.
pub(crate) fn run(
    role: Role,
    job: &Job,
    stop: &StopSignal,
    model: &Model,
) -> Result<ResearchFinding, RoleError> {
    let hints: Vec<String> = job.locations.best.iter().take(MAX_HINTS).map(hint).collect();
    let own;
    let (reader, hints) = match (role, &job.thoughts) {
        (Role::Thoughts, Some(thoughts)) => {
            own = job.reader.elsewhere(thoughts.clone(), stop.clone());
            // The locations are of the code, not of the notes.
            (&own, &[][..])
        }
        _ => (job.reader.as_ref(), hints.as_slice()),
    };
    model.answer(&ModelTask { role, question: &job.question.text, reader, hints }, stop)
}

fn hint(location: &crate::locate::Location) -> String {
    let name = location.name().map_or(String::new(), |name| format!(" {name}"));
    format!("{} ({}){name}", location.reference(), location.category.name())
}

#[cfg(test)]
mod tests;
