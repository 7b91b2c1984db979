//! Writes artifacts: memos on disk, only on request.
//!
//! A memo appears whole or not at all, for its owner's eyes only, under a name that did not exist before. Nothing is ever
//! overwritten, and no link is written through.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tamis_redact::Redacted;
use tamis_store::{create_private_dir, private_file};

use super::memo::render;
use crate::{Handoff, Reference, ResearchReport};

/// How often another name is tried.
const MAX_NAMES: usize = 100;
const MAX_SLUG_LENGTH: usize = 48;

/// Why there is no artifact.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    #[error("artifacts folder `{}` is a symbolic link", .root.display())]
    Link { root: PathBuf },
    #[error("cannot write an artifact to `{}`: {cause}", .root.display())]
    Failed { root: PathBuf, cause: io::Error },
}

impl ArtifactError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            ArtifactError::Link { .. } => "set the artifacts folder to the target of the link",
            ArtifactError::Failed { .. } => "set the artifacts folder to one that is writable",
        }
    }
}

/// Writes the memo of a report and returns its path.
pub fn write_artifact(
    root: &Path,
    report: &ResearchReport,
    now: Timestamp,
) -> Result<PathBuf, ArtifactError> {
    write(root, &Redacted::new(Handoff { written: Some(now), ..Handoff::of(report) }), now)
}

/// Writes a caller's handoff and returns its path. Unlike those of a report its references are unchecked, so they are redacted.
pub fn write_handoff(root: &Path, handoff: Handoff, now: Timestamp) -> Result<PathBuf, ArtifactError> {
    let redacted = |reference: &Reference| Reference::from(Redacted::from(reference.as_str()).into_inner());
    let references = handoff.references.iter().map(redacted).collect();
    write(root, &Redacted::new(Handoff { written: Some(now), references, ..handoff }), now)
}

fn write(root: &Path, handoff: &Redacted<Handoff>, now: Timestamp) -> Result<PathBuf, ArtifactError> {
    let failed = |cause| ArtifactError::Failed { root: root.to_owned(), cause };
    let memo = render(handoff);
    create_private_dir(root).map_err(failed)?;
    // A codebase may come with a link where its owner wants memos.
    let metadata = root.symlink_metadata().map_err(failed)?;
    if metadata.is_symlink() {
        return Err(ArtifactError::Link { root: root.to_owned() });
    }
    let folder = root.canonicalize().map_err(failed)?;
    let stem = name_of(&handoff.question, &memo, now);
    for number in 1..=MAX_NAMES {
        let again = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{again}.md"));
        match write_new(&path, memo.as_bytes()) {
            Ok(()) => return Ok(path),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(failed(cause)),
        }
    }
    Err(failed(io::ErrorKind::AlreadyExists.into()))
}

/// When, what about, and a few letters of a hash: in the order of their names memos are in the order of time.
fn name_of(question: &str, memo: &str, now: Timestamp) -> String {
    let date = now.strftime("%Y%m%d-%H%M%S");
    let milliseconds = now.as_millisecond().rem_euclid(1000);
    let hash = blake3::hash(memo.as_bytes()).to_hex();
    format!("{date}-{milliseconds:03}-{}-{}", slug(question), &hash.as_str()[..8])
}

/// Words of a question that is redacted already, as part of a file's name.
fn slug(question: &str) -> String {
    let mut slug = String::new();
    for word in question.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if slug.len() + word.len() >= MAX_SLUG_LENGTH {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    if slug.is_empty() { "handoff".to_owned() } else { slug }
}

/// Makes a file with these bytes at once, if there is nothing of that name, not even a link.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
    let write = |path: &Path| -> io::Result<()> {
        let mut file = private_file().write(true).create_new(true).open(path)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        if written.is_err() {
            let _ = fs::remove_file(path);
        }
        written
    };
    write(&unfinished)?;
    let linked = fs::hard_link(&unfinished, path);
    let _ = fs::remove_file(&unfinished);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // Some disks know no second name for a file.
            write(path)
        }
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_memo_is_about() {
        for (question, name) in [
            ("Where is `parse_config` defined?", "where-is-parse-config-defined"),
            ("../../etc/passwd", "etc-passwd"),
            ("", "handoff"),
            ("日本語", "handoff"),
            (&"long ".repeat(40), "long-long-long-long-long-long-long-long-long"),
        ] {
            assert_eq!(slug(question), name);
        }
        let now = "2026-01-02T03:04:05.006Z".parse().unwrap();
        assert!(name_of("A b", "memo", now).starts_with("20260102-030405-006-a-b-"));
    }
}
