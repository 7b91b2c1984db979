//! Runs roles: the built-in ones, or custom roles in their place.

use std::sync::Arc;

use tamis_code_index::Indexer;
use tamis_codebase::StopSignal;

use crate::locate::{Locations, locate};
use crate::model::{Model, RoleRun, run_role};
use crate::roles::Job;
use crate::{BoundedReader, ResearchFinding, Role, RoleError};

/// Replaces the built-in roles. The findings pass through the same pool, limits and synthesis.
pub trait CustomRoles: Send + Sync {
    fn work(&self, task: &RoleTask<'_>) -> Result<ResearchFinding, RoleError>;
}

/// What a custom role gets.
pub struct RoleTask<'a> {
    pub role: Role,
    pub question: &'a str,
    pub reader: &'a BoundedReader,
    pub stop: &'a StopSignal,
}

/// The roles of a researcher.
#[derive(Clone)]
pub(crate) enum RoleRunner {
    /// With the model and the index, where there are any.
    BuiltIn {
        model: Option<Arc<Model>>,
        indexer: Option<Arc<Indexer>>,
    },
    Custom(Arc<dyn CustomRoles>),
}

impl RoleRunner {
    /// Finds the locations where the other roles begin, and makes the locator's finding if it is requested.
    pub(crate) fn locate(
        &self,
        mut job: Job,
        with_finding: bool,
        stop: &StopSignal,
    ) -> Result<(Arc<Locations>, Option<RoleRun>), RoleError> {
        if let RoleRunner::BuiltIn { indexer, .. } = self {
            job.locations = Arc::new(locate(&job.question, &job.reader, indexer.as_deref(), stop)?);
        }
        let run = with_finding.then(|| self.work(Role::Locator, &job, stop));
        // The other roles begin with what the model found.
        if let Some(RoleRun { result: Ok(finding), model: Some(_), .. }) = &run {
            job.locations = Arc::new(job.locations.led_by(&finding.references, &job.reader.roots));
        }
        Ok((job.locations, run))
    }

    /// Runs a role.
    pub(crate) fn work(&self, role: Role, job: &Job, stop: &StopSignal) -> RoleRun {
        match self {
            RoleRunner::BuiltIn { model, .. } => run_role(role, job, stop, model.as_deref()),
            RoleRunner::Custom(roles) => {
                let task = RoleTask { role, question: &job.question.text, reader: &job.reader, stop };
                RoleRun::deterministic(roles.work(&task))
            }
        }
    }
}
