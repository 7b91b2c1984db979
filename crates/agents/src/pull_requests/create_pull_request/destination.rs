//! Where a pull request goes: the remote, GitHub if it is there, and the branch.

use std::time::Instant;

use crate::error::Result;
use crate::instances::records::Instance;
use crate::{AgentsError, Code, Coordinator};
use tamis_git::{BranchName, Commit, Credential, Remote, Repository};
use tamis_github::{Github, GithubSettings, GithubToken};

pub(super) struct Destination {
    pub(super) base: BranchName,
    pub(super) base_commit: Commit,
    /// Whether the base was seen on the remote.
    base_is_there: bool,
    pub(super) remote: Option<Remote>,
    pub(super) github: Option<Github>,
    pub(super) credential: Option<Credential>,
}

impl Coordinator {
    /// How GitHub is reached.
    pub(crate) fn github_settings(&self) -> Result<GithubSettings> {
        let url = self.settings.github_url.as_deref().filter(|url| !url.trim().is_empty());
        let url = url.map(str::parse).transpose().map_err(|error| {
            AgentsError::new(Code::ValidationError, format!("github.url is not a valid URL: {error}"))
                .suggest("set it to the URL of GitHub's API, such as https://github.example/api/v3")
        })?;
        Ok(GithubSettings {
            url,
            // The gh program's own variable, by which it knows the same host.
            enterprise_host: std::env::var("GH_HOST").ok().filter(|host| !host.is_empty()),
            token: self.settings.github_token.as_deref().and_then(GithubToken::new),
            ..GithubSettings::default()
        })
    }

    /// The remote that work goes to, and GitHub if that is where it is.
    pub(crate) fn github_of(
        &self,
        repository: &Repository,
        deadline: Instant,
    ) -> Result<(Option<Remote>, Option<Github>)> {
        let mut settings = self.github_settings()?;
        settings.deadline = Some(deadline);
        let remotes = repository.remotes()?;
        let Some(remote) = remotes.iter().find(|remote| remote.name == "origin").or(remotes.first()) else {
            return Ok((None, None));
        };
        let github = match settings.repository(&remote.url)? {
            Some(repository) => Some(settings.connect(repository)?),
            None => None,
        };
        Ok((Some(remote.clone()), github))
    }

    pub(super) fn destination(
        &self,
        repository: &Repository,
        subject: &Instance,
        requested: Option<&str>,
        deadline: Instant,
    ) -> Result<Destination> {
        // Parsed first, since it costs nothing.
        let requested = requested.map(str::parse::<BranchName>).transpose()?;
        let (remote, github) = self.github_of(repository, deadline)?;
        let main = match requested {
            Some(_) => None,
            None => main_branch(repository, remote.as_ref())?,
        };
        let base = match (requested.or(main), &subject.base_branch, &github) {
            (Some(base), ..) => base,
            (None, Some(base), _) => base.clone(),
            (None, None, Some(github)) => github.default_branch()?.parse()?,
            (None, None, None) => repository.default_base()?.0,
        };
        if base == subject.branch {
            let message = format!("{base} is the branch itself, which cannot be merged into itself");
            return Err(AgentsError::new(Code::ValidationError, message));
        }
        let there = match &remote {
            Some(remote) => repository.remote_tip(remote, &base)?,
            None => None,
        };
        let base_is_there = there.is_some();
        let base_commit = match there {
            Some(commit) => Some(commit),
            None => repository.branch_tip(&base)?,
        };
        let Some(base_commit) = base_commit else {
            let fetch = remote.as_ref().map_or("origin", |remote| remote.name.as_str());
            return Err(AgentsError::new(
                Code::ValidationError,
                format!("there is no branch {base} to merge into"),
            )
            .suggest("`git branch --all` lists the known branches")
            .suggest(format!("if it exists on the remote: git fetch {fetch}")));
        };
        let credential = github.as_ref().zip(remote.as_ref()).and_then(|(github, remote)| {
            let [url] = &remote.push_urls[..] else { return None };
            github.credential_for(url)
        });
        Ok(Destination { base, base_commit, base_is_there, remote, github, credential })
    }
}

/// The default base of the contract, where there is such a branch. Agents whose work began elsewhere are prompted to name
/// their base.
fn main_branch(repository: &Repository, remote: Option<&Remote>) -> Result<Option<BranchName>> {
    let main: BranchName = "main".parse()?;
    let on_remote = match remote {
        Some(remote) => repository.remote_tip(remote, &main)?,
        None => None,
    };
    let there = on_remote.is_some() || repository.branch_tip(&main)?.is_some();
    Ok(there.then_some(main))
}

impl Destination {
    /// Adds to GitHub's error what is known here.
    pub(super) fn explain(&self, error: AgentsError) -> AgentsError {
        match &self.remote {
            Some(remote) if error.code == Code::GithubRejected && !self.base_is_there => {
                error.suggest(format!(
                    "{} was not found on {}: push it, or name another branch with base_branch",
                    self.base, remote.name
                ))
            }
            _ => error,
        }
    }
}
