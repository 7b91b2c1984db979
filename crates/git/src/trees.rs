//! Trees and commits, written to the object database only: no worktree is touched.

use super::{Call, Repository};
use crate::error::Result;
use crate::names::Commit;

/// What a tree has at a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Absent,
    File(Commit),
    /// A folder, a link or a submodule.
    Other,
}

impl Repository {
    pub(super) fn entry(&self, commit: &Commit, path: &str) -> Result<Entry> {
        let answer = self
            .call()
            .args(["ls-tree", "-z", "--full-tree", commit.as_str(), "--", path])
            .variable("GIT_LITERAL_PATHSPECS", "1")
            .run()?;
        let Some(line) = answer.parts().next() else { return Ok(Entry::Absent) };
        let line = String::from_utf8_lossy(line);
        let mut fields = line.split([' ', '\t']);
        match (fields.next(), fields.next(), fields.next()) {
            (Some("100644" | "100755"), Some("blob"), Some(blob)) => Ok(Entry::File(blob.parse()?)),
            _ => Ok(Entry::Other),
        }
    }

    /// Writes a content as it is, whatever filters there are.
    pub(super) fn write_blob(&self, content: &[u8]) -> Result<Commit> {
        self.call().args(["hash-object", "-w", "--stdin"]).stdin(content).writes().run()?.text().parse()
    }

    /// The tree of a commit with some paths set to a content, or taken out.
    pub(super) fn tree_with(&self, commit: &Commit, paths: &[(&str, Option<&Commit>)]) -> Result<Commit> {
        let index = self.git.scratch_file("index")?;
        let call =
            |arguments: &[&str]| self.call().variable("GIT_INDEX_FILE", &index.0).args(arguments).writes();
        call(&["read-tree", commit.as_str()]).run()?;
        let mut lines = Vec::new();
        for (path, blob) in paths {
            let (mode, blob) = match blob {
                Some(blob) => ("100644", blob.as_str()),
                None => ("0", commit.as_str()),
            };
            lines.extend_from_slice(format!("{mode} {blob}\t{path}\0").as_bytes());
        }
        call(&["update-index", "-z", "--index-info"]).stdin(lines).run()?;
        call(&["write-tree"]).run()?.text().parse()
    }

    /// A commit by us, of a tree that is there.
    pub(super) fn commit_tree(
        &self,
        tree: &Commit,
        parents: &[&Commit],
        message: &str,
        at: i64,
    ) -> Result<Commit> {
        let mut call = as_us(self.call(), at).args(["commit-tree", tree.as_str()]);
        for parent in parents {
            call = call.args(["-p", parent.as_str()]);
        }
        call.setting("i18n.commitEncoding", "UTF-8").stdin(message).writes().run()?.text().parse()
    }
}

/// With us as author and committer.
pub(super) fn as_us(call: Call<'_>, at: i64) -> Call<'_> {
    let call = call
        .variable("GIT_AUTHOR_NAME", "tamis")
        .variable("GIT_AUTHOR_EMAIL", "tamis@tamis.invalid")
        .variable("GIT_COMMITTER_NAME", "tamis")
        .variable("GIT_COMMITTER_EMAIL", "tamis@tamis.invalid");
    if at == 0 {
        return call;
    }
    let at = format!("@{at} +0000");
    call.variable("GIT_AUTHOR_DATE", &at).variable("GIT_COMMITTER_DATE", &at)
}
