//! Roles with a local model: a loop in which the model calls read-only tools, and an answer that is checked before anybody
//! sees it.
//!
//! Models fail in every way there is: they refuse, hang, make up files, call tools for ever, and are not there. Each of these
//! ends in a [`RoleError`] within the time and tokens that the role has; what then happens is `model.use`'s to say: as a rule the
//! deterministic role answers instead, in the time that was kept back for it.
//!
//! Deliberately missing: streaming, sampling parameters, and calls that a model writes into its text: its server reads those.

mod answer;
mod arguments;
mod evidence;
mod prompts;
mod provider;
mod settings;
mod tool_calls;
mod tool_loop;
mod tools;

use std::time::Instant;

use tamis_codebase::Halt;

pub use provider::Model;
pub use settings::{ModelLimits, ModelSettings, ModelUse};
pub use tool_loop::ModelTask;

use crate::roles::{self, Job};
use crate::{ResearchFinding, Role, RoleError, RoleErrorKind};

/// The model's share of the time that is left, in per cent; the rest is for the deterministic role, should it be needed. The
/// other roles come after the locator, so it leaves them some.
fn share(role: Role) -> u32 {
    if role == Role::Locator { 40 } else { 75 }
}

/// How many places of the map a model is told of.
const MAX_HINTS: usize = 12;

/// What came of a role, and who did it.
#[derive(Debug)]
pub(crate) struct RoleRun {
    pub(crate) result: Result<ResearchFinding, RoleError>,
    /// The model whose answer it is.
    pub(crate) model: Option<String>,
    /// Why the deterministic role answered in the model's place.
    pub(crate) instead_of: Option<RoleError>,
}

impl RoleRun {
    fn deterministic(result: Result<ResearchFinding, RoleError>) -> RoleRun {
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
        Err(error) if always || error.kind == RoleErrorKind::Canceled => {
            return RoleRun::deterministic(Err(error));
        }
        // That there is no model is how most people have it.
        Err(_) => return without(),
    };
    let patience = match halt.remaining() {
        Some(left) if !always => halt.child().by(Instant::now() + left * share(role) / 100),
        _ => halt.clone(),
    };
    let error = match run(role, job, &patience, model) {
        Ok(finding) => return RoleRun { result: Ok(finding), model: Some(name), instead_of: None },
        Err(error) => error,
    };
    if always || halt.is_due() || error.kind == RoleErrorKind::Canceled {
        return RoleRun { result: Err(error), model: Some(name), instead_of: None };
    }
    tracing::info!(
        "the model's {} failed ({}), the deterministic one answers",
        role.key(),
        error.kind.name()
    );
    let result = roles::run(role, job, halt).map(|finding| mention(finding, &error));
    RoleRun { result, model: None, instead_of: Some(error) }
}

/// Runs a role by the model alone.
pub(crate) fn run(role: Role, job: &Job, halt: &Halt, model: &Model) -> Result<ResearchFinding, RoleError> {
    let hints: Vec<String> = job.locations.best.iter().take(MAX_HINTS).map(hint).collect();
    let own;
    let (reader, hints) = match (role, &job.thoughts) {
        (Role::Thoughts, Some(thoughts)) => {
            own = job.reader.elsewhere(thoughts.clone(), halt.clone());
            // The map is one of the code.
            (&own, &[][..])
        }
        _ => (job.reader.as_ref(), hints.as_slice()),
    };
    model.answer(&ModelTask { role, question: &job.question.text, reader, hints }, halt)
}

fn hint(location: &crate::locate::Location) -> String {
    let mut text = location.place.path.clone();
    if let Some(line) = location.line {
        text.push_str(&format!(":{line}"));
    }
    text.push_str(&format!(" ({})", location.category.name()));
    if let Some(name) = &location.name {
        text.push_str(&format!(" {name}"));
    }
    text
}

fn mention(mut finding: ResearchFinding, error: &RoleError) -> ResearchFinding {
    let added = format!("found without the model, which failed ({}: {error})", error.kind.name());
    finding.notes = Some(match finding.notes {
        Some(notes) => format!("{notes} {added}"),
        None => added,
    });
    finding
}

#[cfg(test)]
mod tests;
