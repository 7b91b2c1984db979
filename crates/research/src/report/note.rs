//! Notes: what a reader must know about an answer beside the answer, each a fact with its sentence.
//!
//! Decisions look at the fact. The words for each fact are here and nowhere else.

use std::fmt::Display;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use crate::bounds::cut;
use crate::{Reference, ResearchLimits, Role, RoleError, RoleErrorKind};

/// Words of the question that are listed as being in no file.
const MAX_WORDS: usize = 6;
/// Characters of the reason for which a role failed.
const MAX_REASON_LENGTH: usize = 160;

/// A fact, and the sentence for it. In JSON it is the sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportNote {
    pub fact: NoteFact,
    pub text: String,
}

/// What a note states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoteFact {
    /// The limits of the request left files unread.
    ReadLimits { files: u64, bytes: u64 },
    /// Words and names of the question that no file has.
    InNoFile(Vec<String>),
    /// Names of the question that a search for them did not find.
    NamesNotFound(Vec<String>),
    /// Files that were not searched for what was not found: the first of them with the reason, and the number of the others.
    NotSearched { files: Vec<(String, &'static str)>, more: usize },
    /// What is defined under almost the same name.
    SimilarNames(Vec<(String, Reference)>),
    /// Names whose users were searched for only near the definition.
    UsersNearby(Vec<String>),
    /// A root that does not exist.
    RootGone(PathBuf),
    /// A role that has no finding.
    RoleFailed(Role, RoleError),
    /// A role that answered without its model, which failed.
    WithoutModel(Role, RoleError),
    /// The same, in that role's own finding.
    ModelFailed(RoleError),
    /// A model that had to answer before it was done, and why.
    EarlyAnswer(String),
    /// References of a model's answer to files that do not exist.
    DroppedReferences(usize),
    /// Findings of a model's answer that cite such files.
    DroppedFindings(usize),
    /// References and findings beyond the number that is shown, and texts that were cut.
    LeftOut { references: usize, findings: usize, cut: usize },
    /// Only one place is an example.
    OneExample,
    /// The artifact could not be written.
    NoArtifact(String),
    /// The report was cut to its limit of tokens.
    Truncated { max_tokens: u64 },
    /// The notes of one role, in the synthesis.
    OfRole(Role, Vec<NoteFact>),
    /// A model's own words.
    Text(String),
}

impl From<NoteFact> for ReportNote {
    fn from(fact: NoteFact) -> ReportNote {
        ReportNote { text: fact.render(), fact }
    }
}

impl NoteFact {
    pub(crate) fn read_limits(limits: ResearchLimits) -> NoteFact {
        NoteFact::ReadLimits { files: limits.max_files_read, bytes: limits.max_bytes_read }
    }

    /// The role that a note in the run's record is about.
    pub(crate) fn role(&self) -> Option<Role> {
        match self {
            NoteFact::RoleFailed(role, _) | NoteFact::WithoutModel(role, _) => Some(*role),
            _ => None,
        }
    }

    fn render(&self) -> String {
        match self {
            NoteFact::ReadLimits { files, bytes } => {
                format!(
                    "The limits of {files} files and {bytes} bytes were reached, so results may be truncated."
                )
            }
            NoteFact::InNoFile(words) => {
                let words = words.iter().take(MAX_WORDS).map(|word| format!("`{word}`"));
                format!("Not in any file: {}.", list(words))
            }
            NoteFact::NamesNotFound(names) => format!("Not found in any file: {}.", list(names)),
            NoteFact::NotSearched { files, more } => {
                let files = list(files.iter().map(|(path, reason)| format!("{path} ({reason})")));
                let more = if *more > 0 { format!(" and {more} more") } else { String::new() };
                format!("Not searched: {files}{more}.")
            }
            NoteFact::SimilarNames(names) => {
                let names = names.iter().map(|(name, place)| format!("`{name}` ({place})"));
                format!("Defined under a similar name: {}.", list(names))
            }
            NoteFact::UsersNearby(names) => {
                format!(
                    "Users of {} were searched for only near the definition: there are too many files.",
                    list(names)
                )
            }
            NoteFact::RootGone(path) => format!("{} does not exist and was not searched.", path.display()),
            NoteFact::RoleFailed(role, error) => format!("{} {}", role.key(), failure(error)),
            NoteFact::WithoutModel(role, error) => {
                format!("{} was done without the model: {}", role.key(), failure(error))
            }
            NoteFact::ModelFailed(error) => {
                format!("Found without the model, which failed ({}: {error}).", error.kind.name())
            }
            NoteFact::EarlyAnswer(reason) => format!("The model had to answer early: {reason}."),
            NoteFact::DroppedReferences(1) => {
                "1 reference to a file that does not exist was left out.".to_owned()
            }
            NoteFact::DroppedReferences(count) => {
                format!("{count} references to files that do not exist were left out.")
            }
            NoteFact::DroppedFindings(1) => "1 finding that cites such a file was left out.".to_owned(),
            NoteFact::DroppedFindings(count) => {
                format!("{count} findings that cite such files were left out.")
            }
            NoteFact::LeftOut { references, findings, cut } => {
                let of = |count: usize, one: &str| match count {
                    0 => None,
                    1 => Some(format!("1 {one}")),
                    count => Some(format!("{count} {one}s")),
                };
                let be = |count: usize| if count == 1 { "was" } else { "were" };
                let more = [of(*references, "more reference"), of(*findings, "more finding")];
                let more = more.into_iter().flatten().collect::<Vec<_>>().join(" and ");
                let more = Some(more).filter(|more| !more.is_empty());
                let more = more.map(|more| format!("{more} {} left out.", be(references + findings)));
                let cut = of(*cut, "text").map(|texts| format!("{texts} {} cut.", be(*cut)));
                more.into_iter().chain(cut).collect::<Vec<_>>().join(" ")
            }
            NoteFact::OneExample => "Only one example was found.".to_owned(),
            NoteFact::NoArtifact(reason) | NoteFact::Text(reason) => reason.clone(),
            NoteFact::Truncated { max_tokens } => {
                format!("Truncated to the limit of {max_tokens} tokens; set a higher maxTokens for the rest.")
            }
            NoteFact::OfRole(role, facts) => {
                let sentences: Vec<String> = facts.iter().map(NoteFact::render).collect();
                format!("{}: {}", role.key(), sentences.join(" "))
            }
        }
    }
}

fn failure(error: &RoleError) -> String {
    let ended = match error.kind {
        RoleErrorKind::Timeout => "ran out of time",
        RoleErrorKind::Canceled => "was cancelled",
        _ => "failed",
    };
    let message = cut(&error.message, MAX_REASON_LENGTH);
    format!("{ended} ({}: {}).", error.kind.name(), message.trim_end_matches('.'))
}

fn list(items: impl IntoIterator<Item = impl Display>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

impl Serialize for ReportNote {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// The notes as one text.
pub fn joined(notes: &[ReportNote]) -> String {
    notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Notes as the contract has them: one text, or null.
pub(super) fn serialize_joined<S: Serializer>(
    notes: &[ReportNote],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if notes.is_empty() {
        return serializer.serialize_none();
    }
    serializer.serialize_str(&joined(notes))
}

/// Cuts notes to this many characters in all. The first that does not fit is cut, and the rest are dropped.
pub(crate) fn cut_notes(notes: &mut Vec<ReportNote>, most: usize) -> bool {
    let mut left = most;
    for at in 0..notes.len() {
        let separator = usize::from(at > 0);
        let length = notes[at].text.chars().count() + separator;
        if length <= left {
            left -= length;
            continue;
        }
        if left > separator {
            notes[at].text = cut(&notes[at].text, left - separator).into_owned();
            notes.truncate(at + 1);
        } else {
            notes.truncate(at);
        }
        return true;
    }
    false
}
