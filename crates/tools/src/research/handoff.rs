//! What the two tools for handoffs share.

use std::path::Path;

use tamis_research::{ArtifactError, Researcher, ResumeError, ResumedHandoff};

use super::failure::{artifact_failed, not_resumed};
use crate::Failure;

/// Reads a handoff, the latest unless named.
pub(crate) fn read(researcher: &Researcher, name: Option<&str>) -> Result<ResumedHandoff, Failure> {
    researcher.resume_handoff(name).map_err(not_read)
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
