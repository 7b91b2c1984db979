//! A repository: where it is, what it has checked out, its branches, commits and remotes.

use std::path::Path;
use std::sync::Arc;

use super::config::ConfigEntry;
use super::discovery::{Place, refuse_links};
use super::view::{Configuration, View};
use super::{Call, Git, failure};
use crate::error::{GitError, GitErrorKind, Result};
use crate::names::{BranchName, Commit};

/// A repository, identified by its main worktree or, if it has none, by the worktree it was found in. Its configuration is that of
/// the moment when it was found.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(super) git: Git,
    pub(super) place: Place,
    pub(super) configuration: Arc<Configuration>,
    view: Arc<View>,
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
        let place = Place::above(folder)?;
        let found = Repository::open(git, main_worktree(&place)?)?;
        if found.resolve("HEAD")?.is_none() && found.any_commit()?.is_none() {
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!("the repository {} has no commit yet", found.folder().display()),
            )
            .hint("create the first commit: git add --all && git commit -m \"First commit\""));
        }
        Ok(found)
    }

    /// The repository at a place, with a private copy of its configuration.
    pub(super) fn open(git: &Git, place: Place) -> Result<Repository> {
        place.check_owner(git)?;
        place.check_links()?;
        let configuration = Configuration::read(&place)?;
        if place.git_dir == place.common_dir
            && let Some(work_tree) = &configuration.work_tree
            && place.git_dir.join(work_tree).canonicalize().ok().as_ref() != Some(&place.folder)
            && place.folder != place.git_dir
        {
            // `core.worktree` can name any folder of the user's.
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!(
                    "the repository of {} has its files in {}",
                    place.folder.display(),
                    work_tree.display()
                ),
            )
            .hint("git config --unset core.worktree"));
        }
        let view = Arc::new(View::create(git, &place.common_dir, &configuration, &[])?);
        let mut opened = Repository { git: git.clone(), place, configuration: Arc::new(configuration), view };
        if opened.configuration.is_partial()
            && let Some(command) = opened.ssh_command()?
        {
            // Whatever git misses it fetches, and no prompt may wait for an answer.
            let ssh = ConfigEntry::new("core", None, "sshcommand", command);
            let view = View::create(git, opened.common_dir(), &opened.configuration, &[ssh])?;
            opened.view = Arc::new(view);
        }
        Ok(opened)
    }

    fn any_commit(&self) -> Result<Option<Commit>> {
        let answer = self.call().args(["rev-list", "--max-count=1", "--branches", "--remotes"]).run()?;
        answer.text().parse().map_or(Ok(None), |commit| Ok(Some(commit)))
    }

    /// The folder in which the repository's own files are.
    pub fn folder(&self) -> &Path {
        &self.place.folder
    }

    /// The folder that all of the repository's worktrees share, which is its identity.
    pub fn common_dir(&self) -> &Path {
        &self.place.common_dir
    }

    pub(super) fn call(&self) -> Call<'_> {
        self.call_at(&self.place.folder, &self.place.git_dir)
    }

    /// A call in a worktree, by its folder and what is its own.
    pub(super) fn call_at(&self, folder: &Path, git_dir: &Path) -> Call<'_> {
        self.git.at(folder, Some(git_dir), self.view.path())
    }

    /// What is checked out in the worktree that a folder is in; None when that has no commit yet.
    pub fn head_in(&self, folder: &Path) -> Result<Option<Head>> {
        let place = Place::above(folder)?;
        if place.common_dir != self.place.common_dir {
            return Ok(None);
        }
        let call = || self.call_at(&place.folder, &place.git_dir);
        let commit = call().args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).answer()?;
        if commit.code != Some(0) {
            return Ok(None);
        }
        let branch = call().args(["symbolic-ref", "--quiet", "HEAD"]).answer()?;
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
            format!(
                "no branch is checked out in {}, and there is no main or master",
                self.folder().display()
            ),
        )
        .hint("check out the branch to start from: git switch BRANCH"))
    }

    /// The branch that a symbolic reference names.
    pub(super) fn symbolic(&self, reference: &str, under: &str) -> Result<Option<BranchName>> {
        let answer = self.call().args(["symbolic-ref", "--quiet", reference]).answer()?;
        let text = answer.text();
        let name = text.strip_prefix(under).filter(|_| answer.code == Some(0));
        Ok(name.and_then(|name| name.parse().ok()))
    }

    /// The commit that a full name stands for.
    pub fn resolve(&self, reference: &str) -> Result<Option<Commit>> {
        resolved(self.call(), reference)
    }

    /// The commit that a name stands for in the worktree that a folder is in: each has a `HEAD` of its own.
    pub fn resolve_in(&self, folder: &Path, reference: &str) -> Result<Option<Commit>> {
        let place = Place::above(folder)?;
        if place.common_dir != self.place.common_dir {
            return Ok(None);
        }
        resolved(self.call_at(&place.folder, &place.git_dir), reference)
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
            let Some(url) = self.urls(name, &[])?.into_iter().next() else { continue };
            remotes.push(Remote { name: name.to_owned(), url, push_urls: self.urls(name, &["--push"])? });
        }
        Ok(remotes)
    }

    /// The addresses of a remote, after git's rules for rewriting them.
    pub(super) fn urls(&self, remote: &str, which: &[&str]) -> Result<Vec<String>> {
        let call = self.call().args(["remote", "get-url", "--all"]).args(which);
        let answer = call.args(["--end-of-options", remote]).answer()?;
        Ok(if answer.code == Some(0) {
            answer.text().lines().map(str::to_owned).collect()
        } else {
            Vec::new()
        })
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
        refuse_links(self.common_dir(), reference)?;
        refuse_links(self.common_dir(), &format!("logs/{reference}"))?;
        self.call()
            .args(["update-ref", "--create-reflog", "-m", why, "--end-of-options", reference, new.as_str()])
            .arg(old.map_or("", Commit::as_str))
            .writes()
            .run()?;
        Ok(())
    }
}

/// The main worktree of the repository of a worktree, where there is one that is still there.
fn main_worktree(found: &Place) -> Result<Place> {
    let Place { git_dir, common_dir, .. } = found;
    let main = common_dir.parent().filter(|_| git_dir != common_dir && common_dir.ends_with(".git"));
    match main {
        Some(folder) if !Configuration::read(found)?.is_bare => Ok(Place {
            folder: folder.to_owned(),
            git_dir: common_dir.clone(),
            common_dir: common_dir.clone(),
        }),
        _ => Ok(found.clone()),
    }
}

/// The commit that a name stands for where the call is made.
fn resolved(call: Call<'_>, reference: &str) -> Result<Option<Commit>> {
    let answer = call
        .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
        .arg(format!("{reference}^{{commit}}"))
        .answer()?;
    match answer.code {
        Some(0) => answer.text().parse().map(Some),
        Some(1) => Ok(None),
        code => Err(failure::of("git rev-parse", &answer.stderr, code)),
    }
}
