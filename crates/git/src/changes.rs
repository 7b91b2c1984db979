//! What a branch changes, without our notes: whether anything, whether the same as before, and in a few words.

use super::Repository;
use super::failure::readable;
use crate::error::Result;
use crate::names::Commit;

/// What a prompt or a pull request can use.
const MOST_FILES: usize = 50;
const MOST_SUBJECTS: usize = 50;

/// The same for the same changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkIdentity(pub String);

/// What a branch changes, in figures and subjects. The lists have the first of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSummary {
    pub files: usize,
    pub insertions: u64,
    pub deletions: u64,
    /// The files with their insertions and deletions, which binary files do not have.
    pub changed: Vec<(String, Option<(u64, u64)>)>,
    pub commits: usize,
    /// The commits' first lines, the oldest first, without our own commits.
    pub subjects: Vec<String>,
}

impl Repository {
    /// The changes since the branch left `base`, as git lists them for programs.
    pub(super) fn changes(
        &self,
        base: &Commit,
        tip: &Commit,
        notes: &[String],
        form: &str,
    ) -> Result<super::Answer> {
        let begin = self.merge_base(base, tip)?.unwrap_or_else(|| base.clone());
        self.call()
            .args([
                "diff-tree",
                "-r",
                "-z",
                "--no-renames",
                "--no-ext-diff",
                "--no-textconv",
                "--full-index",
                form,
            ])
            .args(["--ignore-submodules=none", begin.as_str(), tip.as_str(), "--", ":(top)"])
            .args(notes.iter().map(|path| format!(":(top,exclude,literal){path}")))
            .run()
    }

    /// What the branch changes, without the notes at these paths.
    pub fn work_identity(&self, base: &Commit, tip: &Commit, notes: &[String]) -> Result<WorkIdentity> {
        let changes = self.changes(base, tip, notes, "--raw")?;
        Ok(WorkIdentity(blake3::hash(&changes.stdout).to_hex().to_string()))
    }

    pub fn has_changes(&self, base: &Commit, tip: &Commit, notes: &[String]) -> Result<bool> {
        Ok(!self.changes(base, tip, notes, "--raw")?.stdout.is_empty())
    }

    pub fn summary(&self, base: &Commit, tip: &Commit, notes: &[String]) -> Result<ChangeSummary> {
        let mut summary = ChangeSummary::default();
        for line in self.changes(base, tip, notes, "--numstat")?.parts() {
            let line = String::from_utf8_lossy(line);
            let mut fields = line.splitn(3, '\t');
            let (Some(insertions), Some(deletions), Some(path)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let lines = insertions.parse().ok().zip(deletions.parse().ok());
            let (inserted, deleted) = lines.unwrap_or((0, 0));
            summary.files += 1;
            summary.insertions += inserted;
            summary.deletions += deleted;
            if summary.changed.len() < MOST_FILES {
                summary.changed.push((readable(path), lines));
            }
        }
        let range = format!("{base}..{tip}");
        let log = self
            .call()
            .args(["rev-list", "--reverse", "--topo-order", "--no-commit-header", "--format=%ae%x09%s"])
            .args(["--max-count=5000", &range, "--"])
            .run()?;
        for line in log.text().lines() {
            let Some((author, subject)) = line.split_once('\t') else { continue };
            if author == "tamis@tamis.invalid" {
                continue;
            }
            summary.commits += 1;
            if summary.subjects.len() < MOST_SUBJECTS {
                summary.subjects.push(readable(subject));
            }
        }
        Ok(summary)
    }
}
