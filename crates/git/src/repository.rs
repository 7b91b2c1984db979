//! A repository: where it is, what it has checked out, its branches, commits and remotes.

use std::path::{Path, PathBuf};

use super::{Call, Git, failure};
use crate::error::{GitError, GitErrorKind, Result};
use crate::names::{BranchName, Commit};

/// A repository, by its main worktree; where there is none, by the worktree in which it was found.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(super) git: Git,
    folder: PathBuf,
    common_dir: PathBuf,
}

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub commit: Commit,
    /// None when the commit itself is checked out.
    pub branch: Option<BranchName>,
}

/// A remote, with the addresses that git would use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    pub name: String,
    pub url: String,
    pub push_urls: Vec<String>,
}

impl Repository {
    /// The repository that a folder is in. It has to have a commit.
    pub fn find(git: &Git, folder: &Path) -> Result<Repository> {
        let folder =
            folder.canonicalize().map_err(|error| GitError::file("find the folder", folder, &error))?;
        let answer = git
            .at(&folder)
            .args(["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"])
            .answer()?;
        if answer.code != Some(0) {
            return Err(none_here(&folder, &answer.stderr, answer.code));
        }
        let text = answer.text();
        let Some((toplevel, common_dir)) = text.split_once('\n') else {
            return Err(GitError::new(GitErrorKind::Failed, format!("git rev-parse answered {text:?}")));
        };
        let common_dir = canonical(Path::new(common_dir))?;
        let toplevel = canonical(Path::new(toplevel))?;
        if !folder.starts_with(&toplevel) {
            // `core.worktree` can name any folder of the user's.
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!("the repository of {} has its files in {}", folder.display(), toplevel.display()),
            )
            .hint("git config --unset core.worktree"));
        }
        let mut found = Repository { git: git.clone(), folder: toplevel, common_dir };
        if let Some(main) = found.main_worktree()? {
            found.folder = main;
        }
        if found.resolve("HEAD")?.is_none() && found.any_commit()?.is_none() {
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!("the repository {} has no commit yet", found.folder.display()),
            )
            .hint("commit something first: git add --all && git commit -m \"First commit\""));
        }
        Ok(found)
    }

    /// The main worktree, where the repository has one that is still there.
    fn main_worktree(&self) -> Result<Option<PathBuf>> {
        let registered = self.worktrees()?;
        let main = registered.into_iter().find(|worktree| worktree.main && !worktree.bare);
        Ok(main.and_then(|main| main.path.canonicalize().ok()).filter(|path| path.is_dir()))
    }

    fn any_commit(&self) -> Result<Option<Commit>> {
        let answer = self.call().args(["rev-list", "--max-count=1", "--branches", "--remotes"]).run()?;
        answer.text().parse().map_or(Ok(None), |commit| Ok(Some(commit)))
    }

    /// The folder in which the repository's own files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder that all of the repository's worktrees share, which is its identity.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    pub(super) fn call(&self) -> Call<'_> {
        self.git.at(&self.folder)
    }

    pub(super) fn call_in(&self, folder: &Path) -> Call<'_> {
        self.git.at(folder).not_above(folder)
    }

    /// What is checked out in the worktree that a folder is in; None when that has no commit yet.
    pub fn head_in(&self, folder: &Path) -> Result<Option<Head>> {
        let commit =
            self.git.at(folder).args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).answer()?;
        if commit.code != Some(0) {
            return Ok(None);
        }
        let branch = self.git.at(folder).args(["symbolic-ref", "--quiet", "HEAD"]).answer()?;
        let name = branch.text();
        let name = name.strip_prefix("refs/heads/").filter(|_| branch.code == Some(0));
        Ok(Some(Head { commit: commit.text().parse()?, branch: name.and_then(|name| name.parse().ok()) }))
    }

    /// What a new branch begins at and is compared with: the branch that is checked out, else that of the remote, else
    /// `main` or `master`.
    pub fn default_base(&self) -> Result<(BranchName, Commit)> {
        let mut candidates = Vec::new();
        candidates.extend(self.symbolic("HEAD", "refs/heads/")?.filter(|branch| !branch.is_ours()));
        candidates.extend(self.symbolic("refs/remotes/origin/HEAD", "refs/remotes/origin/")?);
        candidates.extend(["main".parse()?, "master".parse()?]);
        for branch in candidates {
            if let Some(tip) = self.branch_tip(&branch)? {
                return Ok((branch, tip));
            }
        }
        Err(GitError::new(
            GitErrorKind::Failed,
            format!("no branch is checked out in {}, and there is no main or master", self.folder.display()),
        )
        .hint("check out the branch to begin from: git switch BRANCH"))
    }

    /// The branch that a symbolic reference names.
    fn symbolic(&self, reference: &str, under: &str) -> Result<Option<BranchName>> {
        let answer = self.call().args(["symbolic-ref", "--quiet", reference]).answer()?;
        let text = answer.text();
        let name = text.strip_prefix(under).filter(|_| answer.code == Some(0));
        Ok(name.and_then(|name| name.parse().ok()))
    }

    /// The commit that a full name stands for.
    pub fn resolve(&self, reference: &str) -> Result<Option<Commit>> {
        let answer = self
            .call()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{reference}^{{commit}}"))
            .answer()?;
        match answer.code {
            Some(0) => answer.text().parse().map(Some),
            Some(1) => Ok(None),
            code => Err(failure::of("git rev-parse", &answer.stderr, code)),
        }
    }

    pub fn branch_tip(&self, branch: &BranchName) -> Result<Option<Commit>> {
        self.resolve(&branch.reference())
    }

    /// Where a remote's branch was at the last fetch or push.
    pub fn remote_tip(&self, remote: &Remote, branch: &BranchName) -> Result<Option<Commit>> {
        self.resolve(&format!("refs/remotes/{}/{branch}", remote.name))
    }

    pub fn is_ancestor(&self, ancestor: &Commit, of: &Commit) -> Result<bool> {
        self.call().args(["merge-base", "--is-ancestor", ancestor.as_str(), of.as_str()]).succeeds()
    }

    /// Where two lines of work parted; None when they never met.
    pub fn merge_base(&self, one: &Commit, other: &Commit) -> Result<Option<Commit>> {
        let answer = self.call().args(["merge-base", one.as_str(), other.as_str()]).answer()?;
        match answer.code {
            Some(0) => answer.text().parse().map(Some),
            Some(1) => Ok(None),
            code => Err(failure::of("git merge-base", &answer.stderr, code)),
        }
    }

    /// Those whose names can be given to git.
    pub fn remotes(&self) -> Result<Vec<Remote>> {
        let names = self.call().arg("remote").run()?.text();
        let mut remotes = Vec::new();
        for name in names.lines().filter(|name| !name.is_empty() && !name.starts_with('-')) {
            let urls = |which: &[&str]| -> Result<Vec<String>> {
                let call = self.call().args(["remote", "get-url", "--all"]).args(which);
                let answer = call.args(["--end-of-options", name]).answer()?;
                Ok(if answer.code == Some(0) {
                    answer.text().lines().map(str::to_owned).collect()
                } else {
                    Vec::new()
                })
            };
            let Some(url) = urls(&[])?.into_iter().next() else { continue };
            remotes.push(Remote { name: name.to_owned(), url, push_urls: urls(&["--push"])? });
        }
        Ok(remotes)
    }

    /// Whether commits made here would have an author.
    pub fn has_identity(&self) -> Result<bool> {
        for key in ["user.name", "user.email"] {
            let answer = self.call().args(["config", "--get", key]).answer()?;
            if answer.code != Some(0) || answer.text().trim().is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves a reference, if it is where it is thought to be; `None` for one that is not there.
    pub(super) fn update_reference(
        &self,
        reference: &str,
        new: &Commit,
        old: Option<&Commit>,
        why: &str,
    ) -> Result<()> {
        self.call()
            .args(["update-ref", "--create-reflog", "-m", why, "--end-of-options", reference, new.as_str()])
            .arg(old.map_or("", Commit::as_str))
            .writes()
            .run()?;
        Ok(())
    }
}

fn canonical(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|error| GitError::file("find", path, &error))
}

fn none_here(folder: &Path, stderr: &str, code: Option<i32>) -> GitError {
    let folder = folder.display();
    if stderr.contains("not a git repository") {
        return GitError::new(GitErrorKind::Failed, format!("{folder} is in no git repository")).hint(
            "go to a repository, or make one: git init && git add --all && git commit -m \"First commit\"",
        );
    }
    if stderr.contains("must be run in a work tree") || stderr.contains("cannot use bare repository") {
        return GitError::new(
            GitErrorKind::Failed,
            format!("{folder} is a bare repository, which has no files"),
        )
        .hint("go to one of its worktrees, or make one: git worktree add ../main main");
    }
    failure::of("git rev-parse", stderr, code)
}
