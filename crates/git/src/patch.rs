//! What changed between two commits, line by line, for a person to read.

use super::failure::readable;
use super::{ChangeSummary, Repository};
use crate::error::{GitErrorKind, Result};
use crate::names::Commit;

/// What a person can read: more files or lines are counted only.
const MOST_FILES: usize = 50;
const MOST_LINES: u64 = 4000;

/// The changes between two commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    pub summary: ChangeSummary,
    /// The files of which the lines are shown.
    pub files: Vec<FilePatch>,
}

/// The changes of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePatch {
    pub path: String,
    /// None for a binary file.
    pub lines: Option<(u64, u64)>,
    pub kind: PatchKind,
    pub hunks: Vec<PatchHunk>,
    /// Whether there are more lines than these.
    pub is_cut: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PatchKind {
    Added,
    Deleted,
    #[default]
    Modified,
}

/// Lines that follow each other, with a few unchanged ones around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchHunk {
    /// The first line before and after.
    pub old_start: u64,
    pub new_start: u64,
    /// The function or heading that it is in, as git finds it.
    pub context: String,
    pub lines: Vec<PatchLine>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchLine {
    /// `+` for an added line, `-` for a removed one, a space for one that stays.
    pub sign: char,
    pub text: String,
}

impl PatchKind {
    pub fn as_str(self) -> &'static str {
        match self {
            PatchKind::Added => "added",
            PatchKind::Deleted => "deleted",
            PatchKind::Modified => "modified",
        }
    }
}

impl Repository {
    /// What changed from one commit to another, without the notes at these paths. Of many files or lines, the first are shown, and
    /// none if they are too large together. Lines are not shortened: callers redact them first.
    pub fn patch(&self, from: &Commit, to: &Commit, notes: &[String]) -> Result<Patch> {
        let summary = self.summary(from, to, notes)?;
        let mut lines = 0;
        let shown = summary.changed.iter().take(MOST_FILES).take_while(|(_, changed)| {
            let before = lines;
            lines += changed.map_or(0, |(inserted, deleted)| inserted + deleted);
            before == 0 || lines <= MOST_LINES
        });
        let shown = shown.count();
        let mut files: Vec<FilePatch> = summary.changed[..shown]
            .iter()
            .map(|(path, lines)| FilePatch { path: path.clone(), lines: *lines, ..FilePatch::default() })
            .collect();
        if shown > 0 {
            let begin = self.merge_base(from, to)?.unwrap_or_else(|| from.clone());
            let answer = self
                .call()
                .args([
                    "diff-tree",
                    "-r",
                    "-p",
                    "--no-renames",
                    "--no-ext-diff",
                    "--no-textconv",
                    "--no-color",
                ])
                .args(["--unified=3", "--ignore-submodules=none", begin.as_str(), to.as_str(), "--"])
                .args(self.shown_paths(&begin, to, notes, shown)?)
                .run();
            match answer {
                Ok(answer) => read_patch(&String::from_utf8_lossy(&answer.stdout), &mut files),
                Err(error) if error.kind == GitErrorKind::TooMuchOutput => {
                    files.iter_mut().for_each(|file| file.is_cut = file.lines.is_some());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Patch { summary, files })
    }

    /// The first changed paths as pathspecs. The summary's are for people, and may lack control characters.
    fn shown_paths(
        &self,
        from: &Commit,
        to: &Commit,
        notes: &[String],
        most: usize,
    ) -> Result<Vec<std::ffi::OsString>> {
        use std::os::unix::ffi::OsStringExt;
        let names = self.changes(from, to, notes, "--name-only")?;
        let specs = names.parts().take(most).map(|path| [b":(top,literal)", path].concat());
        Ok(specs.map(std::ffi::OsString::from_vec).collect())
    }
}

/// Fills in the files, which git prints in the order of its lists. A line of content never begins with `diff`, and git quotes line
/// breaks in paths. A file that becomes a link, or the reverse, is printed twice: deleted, then added.
fn read_patch(patch: &str, files: &mut [FilePatch]) {
    let mut files = files.iter_mut();
    let mut file: Option<&mut FilePatch> = None;
    let (mut last_name, mut is_header) = ("", false);
    let mut left = MOST_LINES * 4;
    for line in patch.split('\n') {
        if let Some(name) = line.strip_prefix("diff --git ") {
            if file.is_none() || name != last_name {
                file = files.next();
            } else if let Some(file) = &mut file {
                file.kind = PatchKind::Modified;
            }
            (last_name, is_header) = (name, true);
            continue;
        }
        let Some(file) = &mut file else { continue };
        if let Some(header) = line.strip_prefix("@@ -") {
            file.hunks.extend(read_hunk(header));
            is_header = false;
            continue;
        }
        if is_header {
            let kind = match line {
                line if line.starts_with("new file mode ") => PatchKind::Added,
                line if line.starts_with("deleted file mode ") => PatchKind::Deleted,
                _ => continue,
            };
            if file.hunks.is_empty() {
                file.kind = kind;
            }
            continue;
        }
        let Some(hunk) = file.hunks.last_mut() else { continue };
        let Some(sign @ (' ' | '+' | '-')) = line.chars().next() else { continue };
        if left == 0 {
            file.is_cut = true;
            continue;
        }
        left -= 1;
        hunk.lines.push(PatchLine { sign, text: line[1..].to_owned() });
    }
}

/// `12,5 +13,6 @@ fn parse`.
fn read_hunk(header: &str) -> Option<PatchHunk> {
    let (places, context) = header.split_once(" @@")?;
    let (old, new) = places.split_once(" +")?;
    let start = |place: &str| place.split(',').next().and_then(|number| number.parse().ok());
    Some(PatchHunk {
        old_start: start(old)?,
        new_start: start(new)?,
        context: readable(context.trim()),
        lines: Vec::new(),
    })
}
