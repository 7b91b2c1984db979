//! What an instance changed in its repository, and what abandoning it would leave.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use tamis_agents::{AbandonPreview, InstanceId, WorkDiff, WorkReader};
use tamis_redact::Redacted;

use super::details::found;
use super::parse_id;
use crate::{Dashboard, PageError};

/// Time limit of each call of git, since a person waits.
const GIT_LIMIT: Duration = Duration::from_secs(20);

/// Characters of a line and of a commit's first line. They are redacted before they are shortened: part of a secret is no secret
/// to the rules.
const LONGEST_LINE: usize = 1000;
const LONGEST_SUBJECT: usize = 200;

/// Paths that are listed of many.
const MOST_PATHS: usize = 20;

/// Which changes of an instance.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentDiffQuery {
    /// Those after this review, up to the next one; all since the beginning without it.
    pub after: Option<u32>,
}

/// What changed between two commits, without the files that feedback arrived as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageDiff {
    pub from: String,
    pub to: String,
    pub files_changed: usize,
    pub insertions: u64,
    pub deletions: u64,
    pub commits: usize,
    /// The commits' first lines, oldest first; the first of many.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub subjects: Vec<Redacted>,
    /// The first of many.
    pub files: Vec<PageDiffFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageDiffFile {
    #[cfg_attr(test, ts(as = "String"))]
    pub path: Redacted,
    #[cfg_attr(test, ts(type = "'added' | 'deleted' | 'modified'"))]
    pub kind: &'static str,
    /// None for a binary file.
    pub insertions: Option<u64>,
    pub deletions: Option<u64>,
    pub hunks: Vec<PageDiffHunk>,
    /// Whether there are more lines than these.
    pub is_cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageDiffHunk {
    pub old_start: u64,
    pub new_start: u64,
    #[cfg_attr(test, ts(as = "String"))]
    pub context: Redacted,
    pub lines: Vec<PageDiffLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageDiffLine {
    #[cfg_attr(test, ts(type = "'+' | '-' | ' '"))]
    pub sign: char,
    #[cfg_attr(test, ts(as = "String"))]
    pub text: Redacted,
}

/// What abandoning an instance would remove and keep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageAbandon {
    /// Files with changes that no commit has.
    pub uncommitted: usize,
    /// The first of them.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub uncommitted_paths: Vec<Redacted>,
    /// Commits that no remote and no branch of the user's has.
    pub unpushed: u64,
    /// Whatever else is nowhere else, in words.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub others: Vec<Redacted>,
    pub worktree_stays: bool,
    pub branch_stays: bool,
    /// Files and folders that git ignores, which go with the worktree and into no reference.
    pub ignored: usize,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub ignored_paths: Vec<Redacted>,
    /// The reference from which what is removed can be restored.
    #[cfg_attr(test, ts(as = "String"))]
    pub undo: Redacted,
    /// A reviewer that ends with it.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub reviewer: Option<InstanceId>,
}

impl Dashboard {
    pub fn agent_diff(&self, id: &str, query: &AgentDiffQuery) -> Result<PageDiff, PageError> {
        let id = parse_id(id)?;
        self.read_work(|reader| reader.diff(&id, query.after)).map(PageDiff::new)
    }

    pub fn agent_abandon(&self, id: &str) -> Result<PageAbandon, PageError> {
        let id = parse_id(id)?;
        let details = self.agent_service()?.archive()?.details(&id).map_err(found)?;
        let mut running = details.reviews.into_iter().filter(|review| review.outcome.is_none());
        let reviewer =
            running.find(|review| review.parent_instance == id).map(|review| review.child_instance);
        let preview = self.read_work(|reader| reader.abandon_preview(&id))?;
        Ok(PageAbandon::new(preview, reviewer))
    }

    fn read_work<T>(
        &self,
        read: impl FnOnce(WorkReader<'_>) -> tamis_agents::Result<T>,
    ) -> Result<T, PageError> {
        let service = self.agent_service()?;
        let archive = service.archive()?;
        let data_dir = &service.settings().coordinator.data_dir;
        read(WorkReader::new(&archive, data_dir, GIT_LIMIT)).map_err(found)
    }
}

impl PageDiff {
    fn new(WorkDiff { from, to, patch }: WorkDiff) -> PageDiff {
        let files = patch.files.into_iter().map(|file| {
            let hunks = file.hunks.into_iter().map(|hunk| {
                // As one text, so that a secret of several lines is recognised.
                let texts: Vec<&str> = hunk.lines.iter().map(|line| line.text.as_str()).collect();
                let redacted = Redacted::from(texts.join("\n"));
                let lines = hunk.lines.iter().zip(redacted.split('\n'));
                PageDiffHunk {
                    old_start: hunk.old_start,
                    new_start: hunk.new_start,
                    context: hunk.context.into(),
                    lines: lines
                        .map(|(line, text)| PageDiffLine {
                            sign: line.sign,
                            text: shortened(text, LONGEST_LINE),
                        })
                        .collect(),
                }
            });
            PageDiffFile {
                path: file.path.into(),
                kind: file.kind.as_str(),
                insertions: file.lines.map(|(inserted, _)| inserted),
                deletions: file.lines.map(|(_, deleted)| deleted),
                hunks: hunks.collect(),
                is_cut: file.is_cut,
            }
        });
        PageDiff {
            from: from.as_str().to_owned(),
            to: to.as_str().to_owned(),
            files_changed: patch.summary.files,
            insertions: patch.summary.insertions,
            deletions: patch.summary.deletions,
            commits: patch.summary.commits,
            files: files.collect(),
            subjects: patch
                .summary
                .subjects
                .into_iter()
                .map(|subject| shortened(&Redacted::from(subject), LONGEST_SUBJECT))
                .collect(),
        }
    }
}

fn shortened(text: &str, most: usize) -> Redacted {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

impl PageAbandon {
    fn new(preview: AbandonPreview, reviewer: Option<InstanceId>) -> PageAbandon {
        let first = |paths: &[String]| {
            paths.iter().take(MOST_PATHS).map(|path| Redacted::from(path.as_str())).collect::<Vec<_>>()
        };
        PageAbandon {
            uncommitted: preview.uncommitted.len(),
            uncommitted_paths: first(&preview.uncommitted),
            unpushed: preview.unpushed,
            worktree_stays: preview.worktree_stays,
            branch_stays: preview.branch_stays,
            ignored: preview.ignored.len(),
            ignored_paths: first(&preview.ignored),
            others: preview.others.into_iter().map(Redacted::from).collect(),
            undo: preview.undo.into(),
            reviewer,
        }
    }
}

#[cfg(test)]
mod tests {
    use tamis_git::{ChangeSummary, Commit, FilePatch, Patch, PatchHunk, PatchLine};

    use super::*;

    #[test]
    fn a_secret_at_the_end_of_what_is_shown_is_hidden() {
        let token = format!("ghp_{}", "aB3dE5fG7h".repeat(4).split_at(36).0);
        for (most, cut) in
            [(LONGEST_LINE, 1), (LONGEST_LINE, 39), (LONGEST_SUBJECT, 1), (LONGEST_SUBJECT, 20)]
        {
            let filler = " ".repeat(most - token.len() + cut);
            let text = format!("{filler}{token} and more");
            let hunk = PatchHunk {
                lines: vec![PatchLine { sign: '+', text: text.clone() }],
                ..PatchHunk::default()
            };
            let patch = Patch {
                summary: ChangeSummary { subjects: vec![text], ..ChangeSummary::default() },
                files: vec![FilePatch { hunks: vec![hunk], ..FilePatch::default() }],
            };
            let commit = || "0123456789012345678901234567890123456789".parse::<Commit>().expect("a commit");
            let diff = PageDiff::new(WorkDiff { from: commit(), to: commit(), patch });
            let shown = format!("{}{}", diff.files[0].hunks[0].lines[0].text, diff.subjects[0]);
            assert!(!shown.contains(&token[..8]), "{shown}");
        }
    }
}
