//! What every research tool does: takes the researcher, runs on a blocking thread, and stops on cancellation.

use std::sync::Arc;

use tamis_codebase::Halt;
use tamis_redact::Redacted;
use tamis_research::{ResearchProgress, ResearchReport, ResearchRequest, Researcher, Role, RoleErrorKind};

use super::failure::{no_roots, research_failure, saturated};
use crate::services::blocking;
use crate::{Context, Failure, ProgressUpdate};

/// The researcher of this process, or why there is none.
pub struct Research {
    researcher: Result<Arc<Researcher>, String>,
}

impl Research {
    pub fn new(researcher: Arc<Researcher>) -> Research {
        Research { researcher: Ok(researcher) }
    }

    /// The other tools of the process still work; the research tools return the reason.
    pub fn unusable(why: String) -> Research {
        Research { researcher: Err(why) }
    }

    pub(crate) fn researcher(&self) -> Result<&Arc<Researcher>, Failure> {
        self.researcher.as_ref().map_err(|why| no_roots(why))
    }
}

/// The researcher of this process.
pub(crate) fn researcher(context: &Context) -> Result<Arc<Researcher>, Failure> {
    match context.services.research() {
        Some(research) => research.researcher().cloned(),
        None => Err(Failure::internal("research is not served here")),
    }
}

/// Runs one role, or all that the question needs.
pub(crate) async fn answer(
    role: Option<Role>,
    request: ResearchRequest,
    context: Context,
) -> Result<Redacted<ResearchReport>, Failure> {
    let progress = context.progress.clone();
    let halt = Halt::on(context.cancellation.clone());
    let report = blocking_with(&context, move |researcher| {
        let report_progress = |step: ResearchProgress| progress.report(update(step));
        let report = match role {
            Some(role) => researcher.ask_role(role, &request, &halt, &report_progress),
            None => researcher.research(&request, &halt, &report_progress),
        };
        report.map_err(research_failure)
    })
    .await?;
    let errors: Vec<_> = report.outcomes().map(|(_, outcome)| outcome.result.as_ref().err()).collect();
    let is_rejected = |error: &Option<&tamis_research::RoleError>| {
        error.is_some_and(|error| error.kind == RoleErrorKind::Saturated)
    };
    // A report with no outcome but that is an error.
    if !errors.is_empty() && errors.iter().all(is_rejected) {
        return Err(saturated(errors[0].map_or("", |error| error.message.as_str())));
    }
    Ok(report)
}

/// Runs blocking work away from the threads that serve connections, until it ends or is cancelled.
pub(crate) async fn blocking_with<T: Send + 'static>(
    context: &Context,
    work: impl FnOnce(&Researcher) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let researcher = researcher(context)?;
    let cancellation = context.cancellation.clone();
    let working = blocking(move || work(&researcher));
    tokio::select! {
        outcome = working => if cancellation.is_cancelled() { Err(Failure::Cancelled) } else { outcome? },
        () = cancellation.cancelled() => Err(Failure::Cancelled),
    }
}

fn update(step: ResearchProgress) -> ProgressUpdate {
    ProgressUpdate { done: step.done as f64, total: Some(step.total as f64), message: Some(step.message) }
}
