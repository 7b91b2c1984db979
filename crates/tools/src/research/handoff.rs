//! What the two tools for handoffs share.

use std::path::Path;

use serde::Serialize;
use tamis_research::{ArtifactError, Reference, ReferenceState, Researcher, ResumeError, resume_handoff};

use super::failure::{artifact_failed, not_resumed};
use crate::Failure;

/// A handoff as stored, with the state of its references.
#[derive(Serialize)]
pub(crate) struct HandoffOutput {
    #[serde(rename = "artifactPath")]
    path: String,
    /// Null in a memo written by hand.
    written: Option<String>,
    question: String,
    summary: String,
    key_findings: Vec<String>,
    references: Vec<Reference>,
    /// References whose files have changed since, or are gone.
    stale: Vec<Stale>,
    constraints: Vec<String>,
    notes: Option<String>,
}

#[derive(Serialize)]
struct Stale {
    reference: Reference,
    standing: ReferenceState,
}

/// Reads a handoff, the latest unless named.
pub(crate) fn read(researcher: &Researcher, wanted: Option<&str>) -> Result<HandoffOutput, Failure> {
    let settings = researcher.settings();
    let resumed = resume_handoff(&settings.artifacts, wanted, &settings.roots.anew().0).map_err(not_read)?;
    let handoff = resumed.handoff.into_inner();
    let stale = resumed.references.into_iter().filter(|(_, standing)| *standing != ReferenceState::Unchanged);
    Ok(HandoffOutput {
        path: resumed.path.to_string_lossy().into_owned(),
        written: handoff.written.map(|time| time.to_string()),
        question: handoff.question,
        summary: handoff.summary,
        key_findings: handoff.key_findings,
        references: handoff.references,
        stale: stale.map(|(reference, standing)| Stale { reference, standing }).collect(),
        constraints: handoff.constraints,
        notes: handoff.notes,
    })
}

pub(crate) fn not_written(error: ArtifactError) -> Failure {
    artifact_failed(&error.to_string(), error.hint())
}

fn not_read(error: ResumeError) -> Failure {
    let message = error.to_string();
    match error {
        ResumeError::NoneThere { .. } => not_resumed("handoff_not_found", message, &[]),
        ResumeError::NotFound { available, .. } => not_resumed("handoff_not_found", message, &available),
        ResumeError::Ambiguous { available, .. } => not_resumed("ambiguous_handoff", message, &available),
        ResumeError::Outside { .. } => not_resumed("outside_roots", message, &[]),
        ResumeError::NotAHandoff { .. } => not_resumed("not_a_handoff", message, &[]),
        ResumeError::Unreadable { .. } | ResumeError::Folder(_) | ResumeError::Link { .. } => {
            not_resumed("handoff_unreadable", message, &[])
        }
    }
}

/// The name of an artifact, by which it is read back.
pub(crate) fn name_of(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}
