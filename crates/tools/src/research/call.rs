//! What every research tool does: takes the researcher, runs on a blocking thread, and stops on cancellation.

use std::sync::Arc;

use tamis_codebase::StopSignal;
use tamis_redact::Redacted;
use tamis_research::{
    ResearchProgress, ResearchReport, ResearchRequest, Researcher, RoleErrorKind, RoleOutcome,
};

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

    /// The researcher; the failure says why there is none.
    pub fn researcher(&self) -> Result<&Arc<Researcher>, Failure> {
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

/// Answers a question.
pub(crate) async fn answer(
    request: ResearchRequest,
    context: Context,
) -> Result<Redacted<ResearchReport>, Failure> {
    let progress = context.progress.clone();
    let stop = StopSignal::on(context.cancellation.clone());
    let researcher = researcher(&context)?;
    // A cancelled request ends at once, and its report says so to a caller that still listens.
    let report = blocking(move || {
        let report_progress = |step: ResearchProgress| {
            let (done, total) = (step.done as f64, Some(step.total as f64));
            progress.report(ProgressUpdate { done, total, message: Some(step.message) });
        };
        researcher.research(&request, &stop, &report_progress).map_err(research_failure)
    })
    .await??;
    let rejected = |outcome: &RoleOutcome| match &outcome.result {
        Err(error) if error.kind == RoleErrorKind::Saturated => Some(error.message.clone()),
        _ => None,
    };
    // A report with no outcome but that is an error.
    match report.roles.values().map(rejected).collect::<Option<Vec<_>>>().as_deref() {
        Some([why, ..]) => Err(saturated(why)),
        _ => Ok(report),
    }
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
