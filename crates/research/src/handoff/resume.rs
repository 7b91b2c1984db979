//! Resumes a handoff: finds it, reads it, and checks which references still hold.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use tamis_codebase::{AccessError, EntryKind, Policy, RootError, Roots, list};
use tamis_redact::Redacted;

use super::memo::parse;
use crate::{Handoff, Reference};

/// No memo is that long.
const LARGEST: u64 = 1 << 20;
/// Files that long are not looked at to count their lines.
const LARGEST_REFERRED: u64 = 16 << 20;
const MAX_LISTED: usize = 100_000;
const MAX_OFFERED: usize = 20;

/// A handoff that was found. In JSON it is the handoff with its path and its stale references.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumedHandoff {
    pub path: PathBuf,
    pub handoff: Redacted<Handoff>,
    /// Its references, in their order.
    pub references: Vec<(Reference, ReferenceState)>,
}

impl Serialize for ResumedHandoff {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Stale<'a> {
            reference: &'a Reference,
            standing: ReferenceState,
        }
        let stale = self.references.iter().filter(|(_, state)| *state != ReferenceState::Unchanged);
        let stale: Vec<Stale<'_>> =
            stale.map(|(reference, state)| Stale { reference, standing: *state }).collect();
        let handoff = &self.handoff;
        let mut out = serializer.serialize_struct("ResumedHandoff", 9)?;
        out.serialize_field("artifactPath", &self.path.to_string_lossy())?;
        out.serialize_field("written", &handoff.written.map(|time| time.to_string()))?;
        out.serialize_field("question", &handoff.question)?;
        out.serialize_field("summary", &handoff.summary)?;
        out.serialize_field("key_findings", &handoff.key_findings)?;
        out.serialize_field("references", &handoff.references)?;
        out.serialize_field("stale", &stale)?;
        out.serialize_field("constraints", &handoff.constraints)?;
        out.serialize_field("notes", &handoff.notes)?;
        out.end()
    }
}

/// The state of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ReferenceState {
    /// The file is as it was.
    Unchanged,
    /// It was written to since: the line may be another one.
    Changed,
    /// The file exists, and no longer has the line.
    LineGone,
    /// There is no such file in the roots, or it may not be read.
    Missing,
}

/// Why no handoff was resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    #[error("no handoff in `{}`", .root.display())]
    NoneThere { root: PathBuf },
    #[error("no handoff `{requested}`; available: {}", offered(.available))]
    NotFound { requested: String, available: Vec<String> },
    #[error("`{requested}` matches several handoffs: {}", offered(.available))]
    Ambiguous { requested: String, available: Vec<String> },
    #[error("`{requested}` is outside the artifacts folder")]
    Outside { requested: String },
    #[error("`{name}` is not a handoff: it has none of the sections")]
    NotAHandoff { name: String },
    #[error("cannot read `{name}`: {cause}")]
    Unreadable { name: String, cause: AccessError },
    #[error("artifacts folder `{}` is a symbolic link", .root.display())]
    Link { root: PathBuf },
    #[error("cannot read the artifacts folder: {0}")]
    Folder(#[source] RootError),
}

fn offered(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_OFFERED).map(String::as_str).collect();
    let more = names.len().saturating_sub(MAX_OFFERED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The names of all memos in the folder for artifacts, latest first.
pub fn list_handoffs(root: &Path) -> Result<Vec<String>, ResumeError> {
    match open(root)? {
        Some(folder) => Ok(names(&folder)),
        None => Ok(Vec::new()),
    }
}

/// A handoff in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct HandoffSummary {
    /// The name of its file, by which it is read.
    pub name: String,
    pub question: Redacted,
    pub written: Option<Timestamp>,
    pub references: usize,
}

/// The latest handoffs in the folder for artifacts, the last first. What is not a handoff is left out.
pub(crate) fn latest_handoffs(root: &Path, limit: usize) -> Result<Vec<HandoffSummary>, ResumeError> {
    let Some(folder) = open(root)? else { return Ok(Vec::new()) };
    let summary = |name: String| {
        let place = tamis_codebase::RootedPath { root: 0, path: name.clone() };
        let handoff = parse(&folder.read_text(&place, LARGEST).ok()?)?.tidy();
        let (written, references) = (handoff.written, handoff.references.len());
        Some(HandoffSummary { name, question: handoff.question.into(), written, references })
    };
    Ok(names(&folder).into_iter().filter_map(summary).take(limit).collect())
}

/// Reads a handoff: the one at a path or of a name in the folder for artifacts, or the latest one; and looks in `roots` for
/// what it refers to.
pub fn resume_handoff(
    root: &Path,
    requested: Option<&str>,
    roots: &Roots,
) -> Result<ResumedHandoff, ResumeError> {
    let none_there = || ResumeError::NoneThere { root: root.to_owned() };
    let folder = open(root)?.ok_or_else(none_there)?;
    let available = names(&folder);
    let name = match requested.map(str::trim).filter(|requested| !requested.is_empty()) {
        None => available.first().ok_or_else(none_there)?.clone(),
        Some(requested) => choose(&folder, requested, available)?,
    };
    let place = tamis_codebase::RootedPath { root: 0, path: name.clone() };
    let memo = folder
        .read_text(&place, LARGEST)
        .map_err(|cause| ResumeError::Unreadable { name: name.clone(), cause })?;
    // People edit memos, so the text is redacted again.
    let mut handoff = parse(&memo).ok_or_else(|| ResumeError::NotAHandoff { name: name.clone() })?.tidy();
    let mut references = Vec::new();
    for reference in &mut handoff.references {
        let standing = standing(roots, reference, handoff.written);
        if standing == ReferenceState::Missing {
            // Then it is not the path of a file, and may be anything.
            *reference = Reference::from(Redacted::from(reference.as_str()).into_inner());
        }
        references.push((reference.clone(), standing));
    }
    let path = folder.paths().next().unwrap_or(root).join(&name);
    Ok(ResumedHandoff { path, handoff: Redacted::new(handoff), references })
}

/// The folder for artifacts, if there is one.
fn open(root: &Path) -> Result<Option<Roots>, ResumeError> {
    match root.symlink_metadata() {
        Err(_) => return Ok(None),
        // Nothing was written there either.
        Ok(metadata) if metadata.is_symlink() => return Err(ResumeError::Link { root: root.to_owned() }),
        Ok(_) => {}
    }
    Roots::open(&[root.to_owned()], Policy::standard()).map(Some).map_err(ResumeError::Folder)
}

fn names(folder: &Roots) -> Vec<String> {
    let entries = list(folder, "", MAX_LISTED).map(|listing| listing.entries).unwrap_or_default();
    let is_memo = |name: &str| name.ends_with(".md") && !name.starts_with('.');
    let files = entries.into_iter().filter(|entry| matches!(entry.kind, EntryKind::File { .. }));
    let mut names: Vec<String> = files.map(|entry| entry.name).filter(|name| is_memo(name)).collect();
    names.reverse();
    names
}

/// What is meant: a path in the folder, a name with or without its ending, or a part of only one.
fn choose(folder: &Roots, requested: &str, available: Vec<String>) -> Result<String, ResumeError> {
    let requested_path = Path::new(requested);
    let resolved = requested_path.is_absolute().then(|| requested_path.canonicalize().ok()).flatten();
    let meant = [Some(requested_path), resolved.as_deref()];
    let places: Vec<_> = meant
        .into_iter()
        .flatten()
        .filter_map(Path::to_str)
        .flat_map(|path| folder.places_of(path))
        .collect();
    if places.is_empty() {
        return Err(ResumeError::Outside { requested: requested.to_owned() });
    }
    for place in &places {
        for name in [place.path.clone(), format!("{}.md", place.path)] {
            if available.contains(&name)
                || folder.open_file(&tamis_codebase::RootedPath { root: 0, path: name.clone() }).is_ok()
            {
                return Ok(name);
            }
        }
    }
    let mut like: Vec<String> = available.iter().filter(|name| name.contains(requested)).cloned().collect();
    match like.len() {
        0 if available.is_empty() => Err(ResumeError::NoneThere {
            root: folder.paths().next().map(Path::to_owned).unwrap_or_default(),
        }),
        0 => Err(ResumeError::NotFound { requested: requested.to_owned(), available }),
        1 => Ok(like.remove(0)),
        _ => Err(ResumeError::Ambiguous { requested: requested.to_owned(), available: like }),
    }
}

/// Looks for a reference in the roots.
fn standing(roots: &Roots, reference: &Reference, written: Option<Timestamp>) -> ReferenceState {
    let (path, line) = reference.split();
    // A name may end like a line number.
    for (path, line) in [(path, line), (reference.as_str(), None)] {
        for place in roots.places_of(path) {
            let Ok(file) = roots.open_file(&place) else { continue };
            let changed = file.metadata().and_then(|metadata| metadata.modified()).ok();
            let changed = changed.and_then(|time| Timestamp::try_from(time).ok());
            let is_changed = changed.zip(written).is_none_or(|(changed, written)| changed > written);
            let standing = if is_changed { ReferenceState::Changed } else { ReferenceState::Unchanged };
            let Some(line) = line else { return standing };
            // A memo written by hand may name a line that never existed.
            let mut bytes = Vec::new();
            let counted = roots.read_into(&place, LARGEST_REFERRED, &mut bytes).is_ok();
            let lines = memchr::memchr_iter(b'\n', &bytes).count() + usize::from(!bytes.ends_with(b"\n"));
            return if counted && line > lines { ReferenceState::LineGone } else { standing };
        }
    }
    ReferenceState::Missing
}
