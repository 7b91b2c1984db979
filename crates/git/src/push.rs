//! Pushing one branch to a remote: exactly that branch, never by force, with a credential that goes to one host only.

use std::fmt;
use std::path::Path;

use super::{Remote, Repository, failure, trust};
use crate::error::{GitError, GitErrorKind, Result};
use crate::names::BranchName;

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

impl Repository {
    /// Pushes a branch to the branch of the same name.
    pub fn push(
        &self,
        remote: &Remote,
        branch: &BranchName,
        credential: Option<&Credential>,
    ) -> Result<Pushed> {
        for url in &remote.push_urls {
            self.refuse_inner_repository(remote, url)?;
        }
        let reference = branch.reference();
        let mut call = self
            .call()
            .args(["push", "--porcelain", "--no-verify", "--no-recurse-submodules", "--no-follow-tags"])
            .args(["--no-signed", "--no-force-with-lease", trust::RECEIVES, "--"])
            .arg(&remote.name)
            .arg(format!("{reference}:{reference}"))
            .pushes();
        if let Some(credential) = credential {
            self.refuse_loosened(credential)?;
            let pair = base64(format!("{}:{}", credential.user, credential.secret).as_bytes());
            call = call
                .setting(
                    format!("http.{}.extraHeader", credential.origin),
                    format!("Authorization: Basic {pair}"),
                )
                .setting("credential.helper", "");
        }
        let answer = call.answer()?;
        let text = answer.text();
        let line = text.lines().find(|line| line.contains(&format!("\t{reference}:{reference}\t")));
        match (answer.code, line.and_then(|line| line.chars().next())) {
            (Some(0), Some('*')) => Ok(Pushed::New),
            (Some(0), Some('=')) => Ok(Pushed::UpToDate),
            (Some(0), _) => Ok(Pushed::Forwarded),
            (_, Some('!')) => Err(rejected(remote, branch, line.unwrap_or_default(), &answer.stderr)),
            (code, _) => Err(unreachable(remote, credential, failure::of("git push", &answer.stderr, code))),
        }
    }

    /// A repository within the repository came with it, and so did its hooks, which a push would run.
    fn refuse_inner_repository(&self, remote: &Remote, url: &str) -> Result<()> {
        let path = url.strip_prefix("file://").unwrap_or(url);
        let Ok(path) = self.folder().join(Path::new(path)).canonicalize() else { return Ok(()) };
        if path.starts_with(self.folder()) || path.starts_with(self.common_dir()) {
            return Err(GitError::new(
                GitErrorKind::Failed,
                format!("the remote {} is inside the repository itself, and is not trusted", remote.name),
            )
            .hint(format!("give it an address outside: git remote set-url {} URL", remote.name)));
        }
        Ok(())
    }

    fn refuse_loosened(&self, credential: &Credential) -> Result<()> {
        let loosened = trust::loosened(&self.call())?;
        if loosened.is_empty() {
            return Ok(());
        }
        Err(GitError::new(
            GitErrorKind::Failed,
            format!(
                "the repository's own configuration changes whom secured connections trust ({}), so the token for {} is not sent",
                loosened.join(", "),
                credential.origin
            ),
        )
        .hint("if it has to be so, set it in your own configuration: git config --global …"))
    }
}

fn rejected(remote: &Remote, branch: &BranchName, line: &str, stderr: &str) -> GitError {
    let remote = &remote.name;
    if line.contains("non-fast-forward") || line.contains("fetch first") || line.contains("[rejected]") {
        return GitError::new(
            GitErrorKind::Failed,
            format!("{remote} has commits on {branch} that are not here, so the push was refused"),
        )
        .hint(format!("bring them in, and call again: git pull --no-rebase {remote} {branch}"));
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
    let refused =
        ["could not read Username", "Authentication failed", "Permission denied", "returned error: 403"];
    if refused.iter().any(|sign| failed.message.contains(sign)) {
        return failed.hint(format!("see that you may push there: git push --dry-run {}", remote.name));
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
