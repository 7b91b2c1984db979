//! Review notes: a file that comes to a coding branch by git, whatever state its worktree is in.
//!
//! Both commits are made by plumbing, beside every worktree. The first, on the reviewed commit, adds the notes. The second
//! is what the coding branch becomes: the first itself if the branch has not moved since, else a merge of the two, whose
//! tree is the branch's own with the notes in it; no contents are merged, so nothing can conflict. If the branch was
//! rewritten since, a merge would bring the old commits back, and the notes come as a plain commit. Then the branch is
//! fast-forwarded where it is checked out. git touches the notes' path only, and refuses if a changed file is there.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::state::CheckedOut;
use super::trees::{Entry, as_us};
use super::{Repository, Worktree, failure};
use crate::error::{GitError, GitErrorKind, Result};
use crate::names::{BranchName, Commit};

const FIRST_NAME: &str = "REVIEW_FEEDBACK";
/// More than any branch was ever given.
const MOST_NAMES: u32 = 200;
/// How often an agent may commit at the very moment of delivery before we give up.
const MOST_TRIES: u32 = 8;
/// In the message of a commit that brings notes without being a merge: what they were first.
const TRAILER: &str = "Review-Notes";

/// Notes in a tree: where, and which content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewNote {
    pub path: String,
    pub blob: Commit,
}

/// Notes to be committed.
#[derive(Clone, Debug)]
pub struct Notes<'a> {
    pub path: &'a str,
    pub content: &'a str,
    pub message: &'a str,
    /// When, in seconds. The same notes at the same time are the same commit, however often they are made.
    pub at: i64,
    pub reviewed: &'a Commit,
}

/// What became of notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// They are on the branch, by this commit.
    Delivered(Commit),
    /// Another file is in their place: choose another name.
    PathTaken,
}

enum Forward {
    Done,
    /// The branch has moved meanwhile.
    Moved,
    /// git would have to overwrite a file that is not ours.
    InTheWay,
}

impl Repository {
    /// Commits notes on top of the commit that was reviewed. No branch moves.
    pub fn commit_notes(&self, notes: &Notes<'_>) -> Result<(Commit, ReviewNote)> {
        let blob = self.write_blob(notes.content.as_bytes())?;
        let tree = self.tree_with(notes.reviewed, &[(notes.path, Some(&blob))])?;
        let commit = self.commit_tree(&tree, &[notes.reviewed], notes.message, notes.at)?;
        Ok((commit, ReviewNote { path: notes.path.to_owned(), blob }))
    }

    /// Lets a review branch have the notes too, if its agent has left it where it was. Gives whether it does.
    pub fn advance_review_branch(
        &self,
        worktree: &Path,
        branch: &BranchName,
        reviewed: &Commit,
        notes: &Commit,
    ) -> Result<bool> {
        let tip = self.branch_tip(branch)?;
        if tip.as_ref() != Some(reviewed) {
            return Ok(tip.as_ref() == Some(notes));
        }
        let Some(worktree) = self.worktree_if_there(worktree)? else {
            self.update_reference(&branch.reference(), notes, Some(reviewed), "tamis: review notes")?;
            return Ok(true);
        };
        let state = worktree.state()?;
        if state.hindrance(branch).is_some() || !state.conflicts.is_empty() {
            return Ok(false);
        }
        Ok(matches!(worktree.fast_forward(reviewed, notes)?, Forward::Done))
    }

    /// The commit by which notes came to a branch, if they did.
    pub fn delivered_by(&self, tip: &Commit, notes: &Commit, reviewed: &Commit) -> Result<Option<Commit>> {
        if tip == notes {
            return Ok(Some(notes.clone()));
        }
        if self.is_ancestor(notes, tip)? {
            let range = format!("{notes}..{tip}");
            let answer =
                self.call().args(["rev-list", "--parents", "--ancestry-path", &range, "--"]).run()?.text();
            let merge = answer.lines().find(|line| {
                let mut parents = line.split(' ').skip(1);
                parents.next() != Some(notes.as_str()) && parents.any(|parent| parent == notes.as_str())
            });
            let merge = merge.and_then(|line| line.split(' ').next()).map(str::parse).transpose()?;
            return Ok(Some(merge.unwrap_or_else(|| notes.clone())));
        }
        let (grep, range) = (format!("--grep={TRAILER}: {notes}"), format!("{reviewed}..{tip}"));
        let answer =
            self.call().args(["rev-list", "--max-count=1", "--fixed-strings", &grep, &range, "--"]).run()?;
        answer.text().parse().map_or(Ok(None), |commit| Ok(Some(commit)))
    }
}

impl Worktree {
    /// A free path for notes: no other file, folder or link is there, not even an ignored one. Earlier notes of ours are
    /// replaced when they are unchanged; so is a leftover of the very same notes.
    pub fn choose_notes_path(
        &self,
        reviewed: &Commit,
        delivered: &[ReviewNote],
        content: &str,
    ) -> Result<String> {
        let tip = self.head()?;
        for number in 1..=MOST_NAMES {
            let path =
                if number == 1 { format!("{FIRST_NAME}.md") } else { format!("{FIRST_NAME}-{number}.md") };
            let free = |entry: &Entry| match entry {
                Entry::Absent => true,
                Entry::File(blob) => delivered.iter().any(|note| note.path == path && note.blob == *blob),
                Entry::Other => false,
            };
            let at_tip = self.repository.entry(&tip, &path)?;
            if !free(&at_tip) || !free(&self.repository.entry(reviewed, &path)?) || self.has_alike(&path) {
                continue;
            }
            let usable = match self.change_of(&path)?.as_deref() {
                None => true,
                // Deleted, and not yet committed.
                Some("1 .D") => true,
                Some("? " | "! ") => self.is_leftover(&path, content),
                // An interrupted delivery had come as far as the index.
                Some("1 A.") => at_tip == Entry::Absent && self.is_leftover(&path, content),
                Some(_) => false,
            };
            if usable {
                return Ok(path);
            }
        }
        Err(GitError::new(
            GitErrorKind::Failed,
            format!(
                "there are already {MOST_NAMES} files named like {FIRST_NAME}.md in {}",
                self.path().display()
            ),
        )
        .hint("remove the ones that are no longer needed"))
    }

    /// Whether the path and its index differ from the commit: the beginning of git's line about it.
    fn change_of(&self, path: &str) -> Result<Option<String>> {
        let answer = self
            .call()
            .args([
                "status",
                "--porcelain=v2",
                "-z",
                "--no-renames",
                "--untracked-files=all",
                "--ignored=matching",
            ])
            .args(["--ignore-submodules=dirty", "--", path])
            .variable("GIT_LITERAL_PATHSPECS", "1")
            .run()?;
        let line = answer.parts().next().map(|line| String::from_utf8_lossy(line).into_owned());
        let listed = line.map(|line| {
            let end = if line.starts_with(['?', '!']) { 2 } else { 4 };
            line.get(..end).unwrap_or_default().to_owned()
        });
        // An empty folder is nothing to git, and neither is a pipe, a socket or a device.
        let about = std::fs::symlink_metadata(self.path().join(path));
        if about.is_ok_and(|about| !about.is_file() && !about.is_symlink()) {
            return Ok(Some("no file".to_owned()));
        }
        Ok(listed)
    }

    /// Whether a name is there that differs by the case of letters only. Some file systems take the two for one, and git
    /// would overwrite it there.
    fn has_alike(&self, path: &str) -> bool {
        let names = std::fs::read_dir(self.path()).into_iter().flatten().flatten();
        names.map(|entry| entry.file_name()).any(|name| name.eq_ignore_ascii_case(path) && name != path)
    }

    /// Whether a regular file of exactly this content is there.
    fn is_leftover(&self, path: &str, content: &str) -> bool {
        let path = self.path().join(path);
        let regular = std::fs::symlink_metadata(&path).is_ok_and(|about| about.is_file());
        regular && std::fs::read(&path).is_ok_and(|bytes| bytes == content.as_bytes())
    }

    fn head(&self) -> Result<Commit> {
        let answer = self.call().args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).run()?;
        answer.text().parse()
    }

    /// The tip of the branch, if something can be brought to it here.
    fn tip_of(&self, branch: &BranchName) -> Result<Commit> {
        let state = self.state()?;
        if let Some(hindrance) = state.hindrance(branch) {
            return Err(hindrance);
        }
        if let Some(path) = state.conflicts.first() {
            return Err(GitError::new(GitErrorKind::Busy, format!("{path} has an unresolved conflict"))
                .hint("resolve it, run `git add` on the file, and try again"));
        }
        match (state.checked_out, state.head) {
            (CheckedOut::OnBranch(_), Some(tip)) => Ok(tip),
            _ => Err(GitError::new(GitErrorKind::Failed, format!("the branch {branch} has no commit"))),
        }
    }

    /// Brings committed notes to the branch, in the place of any that were `delivered` before. However often it is called,
    /// they come once.
    pub fn merge_notes(
        &self,
        branch: &BranchName,
        notes: &Notes<'_>,
        commit: &Commit,
        delivered: &[ReviewNote],
    ) -> Result<Delivery> {
        let Notes { path, content, at, reviewed, .. } = *notes;
        let Entry::File(blob) = self.repository.entry(commit, path)? else {
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!("the commit {} has no {path}", commit.short()),
            ));
        };
        let ours = |entry: &Entry| match entry {
            Entry::Absent => true,
            Entry::File(there) => {
                *there == blob || delivered.iter().any(|note| note.path == path && note.blob == *there)
            }
            Entry::Other => false,
        };
        for _ in 0..MOST_TRIES {
            let tip = self.tip_of(branch)?;
            if let Some(by) = self.repository.delivered_by(&tip, commit, reviewed)? {
                return Ok(Delivery::Delivered(by));
            }
            if !ours(&self.repository.entry(&tip, path)?) {
                return Ok(Delivery::PathTaken);
            }
            let new = if tip == *reviewed {
                commit.clone()
            } else {
                let tree = self.repository.tree_with(&tip, &[(path, Some(&blob))])?;
                let message = format!("Bring the review notes to {branch}\n\n{TRAILER}: {commit}\n");
                let rewritten = !self.repository.is_ancestor(reviewed, &tip)?;
                let parents = if rewritten { vec![&tip] } else { vec![&tip, commit] };
                self.repository.commit_tree(&tree, &parents, &message, at)?
            };
            if matches!(self.change_of(path)?.as_deref(), Some("? " | "! "))
                && self.is_leftover(path, content)
            {
                // git would not overwrite it, and need not: it is what would be written.
                self.stage(path, Some(&blob))?;
            }
            match self.fast_forward(&tip, &new)? {
                Forward::Done => return Ok(Delivery::Delivered(new)),
                Forward::Moved => {}
                Forward::InTheWay => return Ok(Delivery::PathTaken),
            }
        }
        Err(keeps_moving(branch))
    }

    /// Takes notes out of the branch's tree, by a commit. What was written into such a file and not committed stays
    /// there as an untracked file. None when there is nothing to take out.
    pub fn remove_notes(&self, branch: &BranchName, paths: &[String], at: i64) -> Result<Option<Commit>> {
        let mut last = None;
        for _ in 0..MOST_TRIES {
            let tip = self.tip_of(branch)?;
            let (untouched, touched) = self.notes_there(&tip, paths)?;
            let removing = |paths: &[&str]| {
                let without: Vec<_> = paths.iter().map(|path| (*path, None)).collect();
                let tree = self.repository.tree_with(&tip, &without)?;
                let message = format!("Take the review notes out again\n\n{}\n", paths.join("\n"));
                self.repository.commit_tree(&tree, &[&tip], &message, at)
            };
            if !untouched.is_empty() {
                let new = removing(&untouched)?;
                if let Forward::Done = self.fast_forward(&tip, &new)? {
                    last = Some(new);
                }
            } else if !touched.is_empty() {
                // No fast forward would leave a file there. So only the index forgets it, and then the branch.
                for path in &touched {
                    self.stage(path, None)?;
                }
                let new = removing(&touched)?;
                match self.repository.update_reference(
                    &branch.reference(),
                    &new,
                    Some(&tip),
                    "tamis: without notes",
                ) {
                    Ok(()) => last = Some(new),
                    Err(error) if self.head()? == tip => return Err(error),
                    Err(_) => {}
                }
            } else {
                return Ok(last);
            }
        }
        Err(keeps_moving(branch))
    }

    /// Which of these notes a commit has: those that are in the worktree as they were committed, or not at all, and those
    /// that was changed there.
    fn notes_there<'a>(&self, tip: &Commit, paths: &'a [String]) -> Result<(Vec<&'a str>, Vec<&'a str>)> {
        let (mut untouched, mut touched) = (Vec::new(), Vec::new());
        for path in paths {
            let Entry::File(_) = self.repository.entry(tip, path)? else { continue };
            match self.change_of(path)?.as_deref() {
                None | Some("1 .D") => untouched.push(path.as_str()),
                // Only the index differs from the commit, or only the file does: the file has all there is.
                Some("1 .M" | "1 M." | "1 .T" | "1 T." | "1 D.") => touched.push(path.as_str()),
                Some(_) => {
                    return Err(GitError::new(
                        GitErrorKind::UncommittedChanges,
                        format!("{path} differs between the index and the worktree"),
                    )
                    .hint(format!("stage or discard the change (`git add {path}`) and try again")));
                }
            }
        }
        Ok((untouched, touched))
    }

    /// Sets or removes a path in the index alone.
    fn stage(&self, path: &str, blob: Option<&Commit>) -> Result<()> {
        let call = self.call().writes().arg("update-index").variable("GIT_LITERAL_PATHSPECS", "1");
        match blob {
            Some(blob) => call.args(["--add", "--cacheinfo", &format!("100644,{blob},{path}")]).run()?,
            None => call.args(["--force-remove", "--", path]).run()?,
        };
        Ok(())
    }

    /// Moves the branch that is checked out, and its files, to a commit that follows its tip.
    fn fast_forward(&self, from: &Commit, to: &Commit) -> Result<Forward> {
        let answer = as_us(self.call(), 0)
            .args(["merge", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-stat", "--quiet"])
            .args(["--no-verify-signatures", "--no-edit", to.as_str()])
            .writes()
            .answer()?;
        if answer.code == Some(0) {
            return Ok(Forward::Done);
        }
        if self.head()? != *from || answer.stderr.contains("Not possible to fast-forward") {
            return Ok(Forward::Moved);
        }
        let in_the_way =
            ["would be overwritten", "would be removed", "would lose untracked files", "not uptodate"];
        if in_the_way.iter().any(|sign| answer.stderr.contains(sign)) {
            return Ok(Forward::InTheWay);
        }
        Err(failure::of("git merge", &answer.stderr, answer.code))
    }
}

fn keeps_moving(branch: &BranchName) -> GitError {
    GitError::new(GitErrorKind::Busy, format!("branch {branch} or its notes keep changing"))
        .hint("try again when its agent pauses")
}
