//! Roles with a local model: a loop in which the model calls read-only tools, and an answer that is checked before anybody
//! sees it.
//!
//! Models fail in every way there is: they refuse, hang, make up files, call tools for ever, and are not there. Each of these
//! ends in a [`Fault`] within the time and tokens that the role has; what then happens is `model.use`'s to say: as a rule the
//! deterministic role answers instead, in the time that was kept back for it.
//!
//! Deliberately missing: streaming, sampling parameters, and calls that a model writes into its text: its server reads those.

mod agent;
mod answer;
mod arguments;
mod desk;
mod evidence;
mod prompts;
mod provider;
mod settings;
mod tools;

use std::time::Instant;

use tamis_codebase::Halt;

pub use agent::ModelTask;
pub use provider::Model;
pub use settings::{Effort, ModelSettings, ModelUse};

use crate::roles::{self, Job};
use crate::{Fault, FaultKind, Finding, Role};

/// The model's share of the time that is left, in per cent; the rest is for the deterministic role, should it be needed. The
/// other roles come after the locator, so it leaves them some.
fn share(role: Role) -> u32 {
    if role == Role::Locator { 40 } else { 75 }
}

/// How many places of the map a model is told of.
const MOST_HINTS: usize = 12;

/// What came of a role, and who did it.
#[derive(Debug)]
pub(crate) struct RoleRun {
    pub(crate) result: Result<Finding, Fault>,
    /// The model whose answer it is.
    pub(crate) model: Option<String>,
    /// Why the deterministic role answered in the model's place.
    pub(crate) instead_of: Option<Fault>,
}

impl RoleRun {
    fn deterministic(result: Result<Finding, Fault>) -> RoleRun {
        RoleRun { result, model: None, instead_of: None }
    }
}

/// Runs a role by the model where there is one and it may be used, and without it where not.
pub(crate) fn run_role(role: Role, job: &Job, halt: &Halt, model: Option<&Model>) -> RoleRun {
    let without = || RoleRun::deterministic(roles::run(role, job, halt));
    let Some(model) = model.filter(|model| model.usage() != ModelUse::Never) else { return without() };
    let always = model.usage() == ModelUse::Always;
    let name = match model.name_for(role, halt) {
        Ok(name) => name,
        Err(fault) if always || fault.kind == FaultKind::Canceled => {
            return RoleRun::deterministic(Err(fault));
        }
        // That there is no model is how most people have it.
        Err(_) => return without(),
    };
    let patience = match halt.remaining() {
        Some(left) if !always => halt.child().by(Instant::now() + left * share(role) / 100),
        _ => halt.clone(),
    };
    let fault = match run(role, job, &patience, model) {
        Ok(finding) => return RoleRun { result: Ok(finding), model: Some(name), instead_of: None },
        Err(fault) => fault,
    };
    if always || halt.is_due() || fault.kind == FaultKind::Canceled {
        return RoleRun { result: Err(fault), model: Some(name), instead_of: None };
    }
    tracing::info!(
        "the model's {} failed ({}), the deterministic one answers",
        role.key(),
        fault.kind.name()
    );
    let result = roles::run(role, job, halt).map(|finding| mention(finding, &fault));
    RoleRun { result, model: None, instead_of: Some(fault) }
}

/// Runs a role by the model alone.
pub(crate) fn run(role: Role, job: &Job, halt: &Halt, model: &Model) -> Result<Finding, Fault> {
    let hints: Vec<String> = job.map.spots.iter().take(MOST_HINTS).map(hint).collect();
    let own;
    let (view, hints) = match (role, &job.thoughts) {
        (Role::Thoughts, Some(thoughts)) => {
            own = job.view.elsewhere(thoughts.clone(), halt.clone());
            // The map is one of the code.
            (&own, &[][..])
        }
        _ => (job.view.as_ref(), hints.as_slice()),
    };
    model.answer(&ModelTask { role, question: &job.question.text, view, hints }, halt)
}

fn hint(spot: &crate::map::Spot) -> String {
    let mut text = spot.place.path.clone();
    if let Some(line) = spot.line {
        text.push_str(&format!(":{line}"));
    }
    text.push_str(&format!(" ({})", spot.category.name()));
    if let Some(name) = &spot.name {
        text.push_str(&format!(" {name}"));
    }
    text
}

fn mention(mut finding: Finding, fault: &Fault) -> Finding {
    let told = format!("found without the model, which failed ({}: {fault})", fault.kind.name());
    finding.notes = Some(match finding.notes {
        Some(notes) => format!("{notes} {told}"),
        None => told,
    });
    finding
}

#[cfg(test)]
mod tests;
