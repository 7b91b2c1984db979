//! The address of a remote, read as git reads it.

use std::path::{Path, PathBuf};

use crate::discovery::{Place, canonical};
use crate::error::{GitError, GitErrorKind, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RemoteAddress {
    /// A folder of this machine.
    Local(PathBuf),
    /// Another machine, by one of the protocols that git has built in.
    Network(&'static str),
}

const NETWORK: &[(&str, &str)] = &[
    ("https", "https"),
    ("http", "http"),
    ("ssh", "ssh"),
    ("git+ssh", "ssh"),
    ("ssh+git", "ssh"),
    ("git", "git"),
];

impl RemoteAddress {
    /// Judges an address as git would use it, after all its rules for rewriting.
    pub(crate) fn parse(url: &str) -> Result<RemoteAddress> {
        let refused = |why: &str| {
            let message = format!("the remote's address is not used: {why}");
            Err(GitError::new(GitErrorKind::Failed, message)
                .hint("give it another: git remote set-url NAME URL"))
        };
        if url.is_empty() || url.chars().any(char::is_control) {
            return refused("it is empty, or has control characters");
        }
        let helper = url.split_once("::").map(|(name, _)| name);
        if helper
            .is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        {
            return refused("it names a program");
        }
        if let Some((scheme, rest)) = url.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) {
            if scheme == "file" {
                let path = if rest.starts_with('/') { rest.to_owned() } else { format!("//{rest}") };
                return Ok(RemoteAddress::Local(percent_decoded(&path)));
            }
            let Some((_, protocol)) = NETWORK.iter().find(|(name, _)| *name == scheme) else {
                return refused("its protocol is not one of git's own");
            };
            let authority = &rest[..rest.find('/').unwrap_or(rest.len())];
            // curl reads the others, and gives none of them to a program.
            if !protocol.starts_with("http") && !is_plain_host(authority) {
                return refused("its host or user has unusual characters");
            }
            return Ok(RemoteAddress::Network(protocol));
        }
        let colon = url.find(':');
        match colon {
            // As scp writes it.
            Some(colon) if !url[..colon].contains('/') => {
                let end = if url.starts_with('[') || url.contains("@[") {
                    url.find(']').map_or(colon, |at| at + 1)
                } else {
                    colon
                };
                if is_plain_host(&url[..end]) {
                    Ok(RemoteAddress::Network("ssh"))
                } else {
                    refused("its host or user has unusual characters")
                }
            }
            _ if url.starts_with('~') => refused("it begins with `~`"),
            _ => Ok(RemoteAddress::Local(PathBuf::from(url))),
        }
    }
}

fn is_scheme(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) && !text.is_empty()
}

/// Nothing that a shell, ssh or its configuration could take for something else.
fn is_plain_host(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@:[]+".contains(&byte);
    !text.is_empty()
        && text.bytes().all(plain)
        && text.split(['@', ':', '[']).all(|part| !part.starts_with('-'))
}

/// As git decodes addresses: `%00` stays.
fn percent_decoded(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).and_then(|pair| str::from_utf8(pair).ok());
        let value = digits.filter(|pair| pair.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let value = value.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|value| *value != 0);
        match value.filter(|_| bytes[at] == b'%') {
            Some(value) => {
                decoded.push(value);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(decoded))
}

/// The repository that git would find for a local address, seen from a folder.
pub(crate) fn local_repository(path: &Path, from: &Path) -> Result<Place> {
    let path = from.join(path);
    let text = path.as_os_str().to_string_lossy();
    let text = text.trim_end_matches('/');
    for ending in ["/.git", "", ".git/.git", ".git"] {
        let mut candidate = path.clone().into_os_string();
        if text.len() < candidate.len() {
            candidate = text.into();
        }
        candidate.push(ending);
        let candidate = PathBuf::from(candidate);
        let Ok(about) = candidate.metadata() else { continue };
        if about.is_file() {
            // A bundle is no repository.
            match candidate.parent().filter(|_| candidate.file_name() == Some(".git".as_ref())) {
                Some(folder) => return Place::at(folder),
                None => break,
            }
        }
        let git_dir = canonical(&candidate)?;
        if let Ok(place) = Place::of_git_dir(git_dir.clone(), git_dir) {
            return Ok(place);
        }
    }
    Err(GitError::new(GitErrorKind::Failed, format!("there is no repository at {}", path.display())))
}
