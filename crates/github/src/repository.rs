//! Which repository on GitHub a remote's URL names.
//!
//! The URL comes from a repository's configuration, so anything may stand in it. What names a repository becomes part of
//! paths of the API, and is taken only where it can be nothing else. A user name or password in it is never kept.

use std::fmt;

use crate::error::Result;
use crate::{GithubError, GithubErrorKind};

pub(super) const GITHUB: &str = "github.com";

/// Other names of the same host.
const ALSO_GITHUB: [&str; 2] = ["www.github.com", "ssh.github.com"];

const SCHEMES: [&str; 6] = ["https", "http", "ssh", "git", "git+ssh", "ssh+git"];

const LONGEST_NAME: usize = 100;

/// A repository on GitHub or on a host of GitHub Enterprise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GithubRepository {
    host: String,
    owner: String,
    name: String,
}

impl GithubRepository {
    /// In lower case, without a port.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn owner(&self) -> &str {
        &self.owner
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a remote's URL leads to the same host.
    pub(super) fn is_at(&self, remote: &str) -> bool {
        RemoteUrl::parse(remote).is_some_and(|url| url.host == self.host)
    }
}

impl fmt::Display for GithubRepository {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{} on {}", self.owner, self.name, self.host)
    }
}

/// The parts of a remote's URL that matter here. Who logs in, with what, and at which port, does not.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RemoteUrl<'a> {
    pub(super) host: String,
    pub(super) path: &'a str,
}

impl RemoteUrl<'_> {
    /// None for an address without a host, such as a folder.
    pub(super) fn parse(text: &str) -> Option<RemoteUrl<'_>> {
        let (authority, path) = match text.split_once("://") {
            Some((scheme, rest)) => {
                if !SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) {
                    return None;
                }
                rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()))
            }
            // As scp writes it: `user@host:path`. A slash before the colon makes it a folder.
            None => text.split_once(':').filter(|(before, _)| !before.contains('/'))?,
        };
        let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = match host_and_port.strip_prefix('[') {
            Some(rest) => rest.split_once(']')?.0,
            None => host_and_port.split(':').next().unwrap_or_default(),
        };
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        (!host.is_empty()).then_some(RemoteUrl { host, path })
    }
}

/// The repository that a remote's URL names, where its host is one of GitHub's.
pub(super) fn named_by(remote: &str, is_github: impl Fn(&str) -> bool) -> Result<Option<GithubRepository>> {
    let Some(url) = RemoteUrl::parse(remote) else { return Ok(None) };
    let host = if ALSO_GITHUB.contains(&url.host.as_str()) { GITHUB.to_owned() } else { url.host };
    if !is_github(&host) {
        return Ok(None);
    }
    let path = url.path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    match path.split_once('/') {
        Some((owner, name)) if is_owner(owner) && is_name(name) => {
            Ok(Some(GithubRepository { host, owner: owner.to_owned(), name: name.to_owned() }))
        }
        // The path is not quoted: what is odd about it may be a secret at the wrong place.
        _ => Err(GithubError::new(
            GithubErrorKind::Invalid,
            format!("the remote is on {host}, but its URL does not end in OWNER/NAME"),
        )
        .hint(format!("git remote set-url origin https://{host}/OWNER/NAME.git"))),
    }
}

fn is_owner(owner: &str) -> bool {
    let sound = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    (1..=LONGEST_NAME).contains(&owner.len()) && !owner.starts_with('-') && owner.chars().all(sound)
}

fn is_name(name: &str) -> bool {
    let sound = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    (1..=LONGEST_NAME).contains(&name.len()) && !matches!(name, "." | "..") && name.chars().all(sound)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn repository(remote: &str) -> Result<Option<(String, String, String)>> {
        let found = named_by(remote, |host| host == GITHUB || host == "ghe.example")?;
        Ok(found.map(|it| (it.host, it.owner, it.name)))
    }

    #[test]
    fn a_repository_is_known_however_its_remote_is_written() {
        for remote in [
            "https://github.com/octo-org/a.tool",
            "https://github.com/octo-org/a.tool.git",
            "https://github.com/octo-org/a.tool.git/",
            "https://github.com:443//octo-org/a.tool/",
            "HTTPS://GitHub.com/octo-org/a.tool",
            "http://www.github.com/octo-org/a.tool",
            "https://somebody:gho_secret@github.com/octo-org/a.tool.git",
            "https://x-access-token@github.com./octo-org/a.tool.git",
            "git@github.com:octo-org/a.tool.git",
            "git@github.com:/octo-org/a.tool",
            "github.com:octo-org/a.tool/",
            "org-12@github.com:octo-org/a.tool.git",
            "ssh://git@github.com/octo-org/a.tool.git",
            "ssh://git@github.com:22/octo-org/a.tool",
            "ssh://git@ssh.github.com:443/octo-org/a.tool.git",
            "git+ssh://git@github.com/octo-org/a.tool",
            "git://github.com/octo-org/a.tool.git",
        ] {
            let found = repository(remote).unwrap_or_else(|error| panic!("{remote}: {error}"));
            assert_eq!(found, Some((GITHUB.into(), "octo-org".into(), "a.tool".into())), "{remote}");
        }
        let enterprise = Some(("ghe.example".into(), "a_b".into(), "_".into()));
        assert_eq!(repository("ssh://git@ghe.example:2222/a_b/_.git").unwrap(), enterprise);
    }

    #[test]
    fn other_remotes_are_plain_ones() {
        for remote in [
            "",
            "/srv/git/octo/tool.git",
            "../tool.git",
            "./a:b",
            "file:///srv/github.com/octo/tool",
            "https://gitlab.com/octo/tool",
            "https://github.com.evil.example/octo/tool",
            "https://evilgithub.com/octo/tool",
            "https://github.com@evil.example/octo/tool",
            "https://github.com:x@evil.example/octo/tool",
            "https://evil.example#@github.com/octo/tool",
            "https://evil.example?@github.com/octo/tool",
            "https://evil.example\\@github.com/octo/tool",
            "git@gist.github.com:octo/tool.git",
            "ext::sh -c github.com:octo/tool",
            "ftp://github.com/octo/tool",
            "https:///octo/tool",
            "ssh://[::1]:22/octo/tool",
        ] {
            assert_eq!(repository(remote), Ok(None), "{remote}");
        }
    }

    #[test]
    fn hostile_names_are_refused_and_not_repeated() {
        for path in [
            "",
            "octo",
            "octo/",
            "octo/tool/more",
            "octo/..",
            "../tool",
            "octo/.",
            "octo/.git",
            "octo/tool?x=1",
            "octo/tool#x",
            "octo/a%2fb",
            "octo%2ftool",
            "octo/to ol",
            "octo/tool\n",
            "octo/\u{1b}[31m",
            "-octo/tool",
            "octo/tö",
            "octo\\tool",
            "o.o/tool",
        ] {
            for before in ["https://me:hunter2@github.com/", "git@github.com:"] {
                let error = repository(&format!("{before}{path}")).expect_err(path);
                assert_eq!(error.kind, GithubErrorKind::Invalid, "{path}");
                assert!(!error.message.contains("hunter2") && !error.message.contains("ool"), "{error}");
            }
        }
        let long = "x".repeat(101);
        assert!(repository(&format!("https://github.com/octo/{long}")).is_err());
    }

    proptest! {
        #[test]
        fn whatever_stands_in_a_url_its_names_stay_in_their_place(remote in "(https://|git@)?(github\\.com)?[:/].{0,30}") {
            if let Ok(Some((_, owner, name))) = repository(&remote) {
                for part in [owner, name] {
                    prop_assert!(part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)));
                    prop_assert!(part != "." && part != "..");
                }
            }
        }
    }
}
