//! Pushing one branch to a remote: exactly that branch, never by force, with a credential that goes to one host only.

use std::ffi::OsString;
use std::fmt;

use super::address::{RemoteAddress, local_repository};
use super::config::ConfigEntry;
use super::discovery::refuse_links;
use super::view::{Configuration, View};
use super::{Remote, Repository, failure, trust};
use crate::error::{GitError, GitErrorKind, Result};
use crate::names::{BranchName, Commit};

/// A name and a secret for one host. They are never shown, and never among a program's arguments.
#[derive(Clone)]
pub struct Credential {
    /// The beginning of the addresses that may have it: `https://github.com/`.
    pub origin: String,
    pub user: String,
    pub secret: String,
}

impl fmt::Debug for Credential {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Credential for {}", self.origin)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The remote had no such branch.
    New,
    Forwarded,
    /// It was there already.
    UpToDate,
}

/// How a local remote receives: the option for git, and what has to be there meanwhile.
struct Receiver {
    option: OsString,
    _view: View,
}

/// A word for a POSIX shell.
fn shell_word(text: &std::ffi::OsStr) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut word = vec![b'\''];
    for byte in text.as_bytes() {
        match byte {
            b'\'' => word.extend_from_slice(b"'\\''"),
            byte => word.push(*byte),
        }
    }
    word.push(b'\'');
    OsString::from_vec(word)
}

impl Repository {
    /// Pushes a branch to the branch of the same name.
    pub fn push(
        &self,
        remote: &Remote,
        branch: &BranchName,
        credential: Option<&Credential>,
    ) -> Result<Pushed> {
        self.push_as(remote, branch, &branch.reference(), credential)
    }

    /// Pushes a commit of a branch to the branch of the same name, even if the branch has others by now.
    pub fn push_commit(
        &self,
        remote: &Remote,
        branch: &BranchName,
        commit: &Commit,
        credential: Option<&Credential>,
    ) -> Result<Pushed> {
        self.push_as(remote, branch, commit.as_str(), credential)
    }

    fn push_as(
        &self,
        remote: &Remote,
        branch: &BranchName,
        source: &str,
        credential: Option<&Credential>,
    ) -> Result<Pushed> {
        let addresses = self.push_addresses(remote)?;
        let receiver = match addresses.as_slice() {
            [RemoteAddress::Local(path)] => Some(self.receiver(remote, path)?),
            _ => None,
        };
        let reference = branch.reference();
        let tracking = format!("refs/remotes/{}/{branch}", remote.name);
        refuse_links(self.common_dir(), &tracking)?;
        refuse_links(self.common_dir(), &format!("logs/{tracking}"))?;
        let protocols: Vec<&str> = addresses
            .iter()
            .map(|address| match address {
                RemoteAddress::Local(_) => "file",
                RemoteAddress::Network(protocol) => protocol,
            })
            .collect();
        let view = credential.map(|credential| self.view_with(credential)).transpose()?;
        let mut call = self
            .call()
            .args(["push", "--porcelain", "--no-verify", "--no-recurse-submodules", "--no-follow-tags"])
            .args(["--no-signed", "--no-force-with-lease"])
            .arg(
                receiver
                    .as_ref()
                    .map_or("--receive-pack=git-receive-pack".into(), |receiver| receiver.option.clone()),
            )
            .arg("--")
            .arg(&remote.name)
            .arg(format!("{source}:{reference}"))
            .variable("GIT_ALLOW_PROTOCOL", protocols.join(":"))
            .sends();
        if receiver.is_some() {
            // A fetch from this machine would run in another repository, with its configuration.
            call = call.variable("GIT_NO_LAZY_FETCH", "1");
        }
        if let Some(command) = self.ssh_command()? {
            call = call.variable("GIT_SSH_COMMAND", command);
        }
        if let Some(view) = &view {
            call = call.with_view(view);
        }
        let answer = call.answer()?;
        let text = answer.text();
        let line = text.lines().find(|line| line.contains(&format!("\t{source}:{reference}\t")));
        match (answer.code, line.and_then(|line| line.chars().next())) {
            (Some(0), Some('*')) => Ok(Pushed::New),
            (Some(0), Some('=')) => Ok(Pushed::UpToDate),
            (Some(0), _) => Ok(Pushed::Forwarded),
            (_, Some('!')) => Err(rejected(remote, branch, line.unwrap_or_default(), &answer.stderr)),
            (code, _) => {
                let failed = unreachable(remote, credential, failure::of("git push", &answer.stderr, code));
                Err(self.explain(failed))
            }
        }
    }

    /// The addresses that git would push to, each judged.
    fn push_addresses(&self, remote: &Remote) -> Result<Vec<RemoteAddress>> {
        let urls = self.urls(&remote.name, &["--push"])?;
        if urls.is_empty() || urls != remote.push_urls {
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!("the addresses of the remote {} have changed", remote.name),
            )
            .hint("call again"));
        }
        if self.configuration.is_foreign(&remote.name) {
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!(
                    "the remote {} is reached through a program of the repository's choice, which is not run",
                    remote.name
                ),
            )
            .hint(format!("git config --unset remote.{}.vcs", remote.name)));
        }
        let addresses = urls.iter().map(|url| RemoteAddress::parse(url)).collect::<Result<Vec<_>>>()?;
        if addresses.len() > 1 && addresses.iter().any(|address| matches!(address, RemoteAddress::Local(_))) {
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!(
                    "the remote {} has several addresses, and one of them is on this machine",
                    remote.name
                ),
            )
            .hint(format!("give it one: git remote set-url --push {} URL", remote.name)));
        }
        Ok(addresses)
    }

    /// Has a repository of this machine receive a push: without its hooks, and with a private copy of its configuration.
    fn receiver(&self, remote: &Remote, path: &std::path::Path) -> Result<Receiver> {
        let place = local_repository(path, self.folder())?;
        let worktrees = self.worktrees()?;
        let own = worktrees.iter().filter_map(|worktree| worktree.path.canonicalize().ok());
        let own = own.chain([self.folder().to_owned(), self.common_dir().to_owned()]);
        if own.into_iter().any(|own| place.git_dir.starts_with(&own) || place.common_dir.starts_with(&own)) {
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!("remote {} points into the repository itself and is not trusted", remote.name),
            )
            .hint(format!("point it elsewhere: git remote set-url {} URL", remote.name)));
        }
        place.check_owner(&self.git)?;
        place.check_links()?;
        let configuration = Configuration::read(&place)?;
        let is_bare = if configuration.is_bare { "true" } else { "false" };
        let is_bare = ConfigEntry::new("core", None, "bare", is_bare);
        let view = View::create(&self.git, &place.common_dir, &configuration, &[is_bare])?;
        // git gives this to a shell, and adds the path as it found it, which is not looked at.
        let mut option = OsString::from("--receive-pack=exec env GIT_COMMON_DIR=");
        option.push(shell_word(view.path().as_os_str()));
        option.push(" git receive-pack ");
        option.push(shell_word(place.git_dir.as_os_str()));
        option.push(" ; :");
        Ok(Receiver { option, _view: view })
    }

    /// A private configuration with a credential in it: no list of processes shows it, and no child inherits it.
    fn view_with(&self, credential: &Credential) -> Result<View> {
        self.refuse_loosened(credential)?;
        let pair = base64(format!("{}:{}", credential.user, credential.secret).as_bytes());
        let header = format!("Authorization: Basic {pair}");
        let more = [
            ConfigEntry::new("http", Some(&credential.origin), "extraheader", &header),
            ConfigEntry::new("credential", None, "helper", ""),
            // After a redirect, the header would go to another server.
            ConfigEntry::new("http", None, "followredirects", "false"),
        ];
        View::create(&self.git, self.common_dir(), &self.configuration, &more)
    }

    /// The command for ssh, unless the user has one.
    pub(super) fn ssh_command(&self) -> Result<Option<&'static str>> {
        let is_set = ["GIT_SSH", "GIT_SSH_COMMAND"].iter().any(|name| std::env::var_os(name).is_some());
        let answer = self.call().args(["config", "--get", "core.sshCommand"]).answer()?;
        Ok((!is_set && answer.text().is_empty()).then_some(trust::SSH))
    }

    /// Adds what of the repository's configuration could have made a difference.
    fn explain(&self, failed: GitError) -> GitError {
        let unused = &self.configuration.unused_for_remotes;
        if unused.is_empty() {
            return failed;
        }
        failed.hint(format!(
            "what the repository itself has for {} is not used; if it is needed, set it for yourself: git config --global …",
            unused.join(", ")
        ))
    }

    fn refuse_loosened(&self, credential: &Credential) -> Result<()> {
        let loosened = &self.configuration.loosening;
        if loosened.is_empty() {
            return Ok(());
        }
        Err(GitError::new(
            GitErrorKind::Failed,
            format!(
                "the repository's configuration changes which servers are trusted ({}), so the token for {} is not sent",
                loosened.join(", "),
                credential.origin
            ),
        )
        .hint("if this is intended, set it in your user configuration: git config --global …"))
    }
}

fn rejected(remote: &Remote, branch: &BranchName, line: &str, stderr: &str) -> GitError {
    let remote = &remote.name;
    if line.contains("non-fast-forward") || line.contains("fetch first") || line.contains("[rejected]") {
        return GitError::new(
            GitErrorKind::Failed,
            format!(
                "{remote} has commits on {branch} that this repository does not have, so the push was refused"
            ),
        )
        .hint(format!("pull them and try again: git pull --no-rebase {remote} {branch}"));
    }
    let reason = line.rsplit('\t').next().unwrap_or_default();
    let message = failure::readable(stderr);
    GitError::new(
        GitErrorKind::Failed,
        format!("{remote} refused {branch}: {}\n{message}", failure::readable(reason)),
    )
}

fn unreachable(remote: &Remote, credential: Option<&Credential>, mut failed: GitError) -> GitError {
    if let Some(credential) = credential {
        let pair = base64(format!("{}:{}", credential.user, credential.secret).as_bytes());
        for secret in [credential.secret.as_str(), pair.as_str()].iter().filter(|secret| !secret.is_empty()) {
            failed.message = failed.message.replace(secret, "…");
        }
    }
    if ["error: 301", "error: 302", "error: 307", "error: 308"]
        .iter()
        .any(|sign| failed.message.contains(sign))
    {
        let name = &remote.name;
        return failed.hint(format!("it has moved; give it its new address: git remote set-url {name} URL"));
    }
    let refused =
        ["could not read Username", "Authentication failed", "Permission denied", "returned error: 403"];
    if refused.iter().any(|sign| failed.message.contains(sign)) {
        return failed.hint(format!("check that you can push there: git push --dry-run {}", remote.name));
    }
    failed
}

/// As RFC 4648 has it.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(group >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_as_the_standard_has_it() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(super::base64(plain.as_bytes()), coded);
        }
    }
}
