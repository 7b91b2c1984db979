//! What is not trusted: a repository's own configuration, wherever it would have git run a program.
//!
//! Reading configuration runs nothing. So each call first reads what counts in its folder, and overrides for itself every
//! key of the repository's that names a program: with the user's own value where there is one, else with one that does no
//! harm. It is read anew for each call and in its very folder, since a repository can include a file for one branch or one
//! worktree only.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

use super::{Call, Intent, failure};
use crate::error::Result;

/// For every call, whatever the configuration has.
const ALWAYS: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("sequence.editor", "true"),
    ("color.ui", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("push.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("merge.verifySignatures", "false"),
    ("merge.autoStash", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    // It would have a push run the other side's program for fetching, too.
    ("push.negotiate", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.ext.allow", "never"),
    // A folder in a tree that looks like a repository is none.
    ("safe.bareRepository", "explicit"),
    // It would hide what was changed.
    ("core.ignoreStat", "false"),
];

/// Keys that name programs, by section and variable whatever is between them, and what each is set to instead.
const RUNS: &[(&str, &str, &str)] = &[
    ("core", "sshcommand", SSH),
    ("core", "askpass", ""),
    ("core", "gitproxy", ""),
    ("core", "alternaterefscommand", ""),
    ("diff", "external", ""),
    ("diff", "command", ""),
    ("diff", "textconv", ""),
    ("filter", "clean", ""),
    ("filter", "smudge", ""),
    ("filter", "process", ""),
    ("filter", "required", "false"),
    ("gpg", "program", "false"),
    ("gpg", "defaultkeycommand", "false"),
    ("hook", "command", "true"),
    ("hook", "enabled", "false"),
    ("interactive", "difffilter", ""),
    ("merge", "driver", "false"),
    ("remote", "vcs", ""),
    ("submodule", "update", "none"),
    ("trailer", "cmd", "true"),
    ("trailer", "command", "true"),
    ("uploadpack", "packobjectshook", ""),
    // Options for a merge, among them a strategy, which is a program.
    ("branch", "mergeoptions", ""),
];

/// The program for fetching, of which the first that is named counts, so that it cannot be overridden. In a partial clone,
/// git fetches whatever it misses. With such a key in the repository's own configuration it does not.
const FETCHES: (&str, &str) = ("remote", "uploadpack");

/// The program for pushing, which is the same. It can be given as an argument.
pub(super) const RECEIVES: &str = "--receive-pack=git-receive-pack";

/// There is no user to answer a prompt.
const SSH: &str = "ssh -o BatchMode=yes";

/// Keys that decide whom a secured connection trusts. With one of them from a repository, no credential is sent.
const SECURES: &[&str] = &[
    "sslverify",
    "sslcainfo",
    "sslcapath",
    "sslbackend",
    "sslcert",
    "sslkey",
    "curloptresolve",
    "pinnedpubkey",
    "proxysslcainfo",
    "schannelcheckrevoke",
    "schannelusesslcainfo",
];

/// The user's own settings, which their environment may hold: all other `GIT_…` is of another git, and would lead ours
/// to another repository.
const KEPT: &[&str] = &[
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
];

pub(super) const VARIABLES: &[(&str, &str)] = &[
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GIT_PROXY_COMMAND", ""),
    ("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

/// Whether git inherits a variable. `LANGUAGE` would translate its messages in spite of `LC_ALL`.
pub(super) fn is_allowed_variable(name: &OsStr) -> bool {
    let is_git = name.as_encoded_bytes().starts_with(b"GIT_");
    name != "LANGUAGE" && (!is_git || KEPT.iter().any(|kept| name == *kept))
}

/// A key and what it is set to. Either may be of any bytes: a filter's name is.
pub(super) type Setting = (OsString, OsString);

/// One line of configuration, and whether it is the repository's.
#[derive(Debug)]
struct Entry {
    own: bool,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Entry {
    fn section_and_variable(&self) -> Option<(&str, &str)> {
        let section = self.key.split(|byte| *byte == b'.').next()?;
        let variable = self.key.rsplit(|byte| *byte == b'.').next()?;
        Some((str::from_utf8(section).ok()?, str::from_utf8(variable).ok()?))
    }

    fn setting(&self, value: Vec<u8>) -> Setting {
        (OsString::from_vec(self.key.clone()), OsString::from_vec(value))
    }

    fn is_helper(&self) -> bool {
        self.section_and_variable() == Some(("credential", "helper"))
    }
}

fn read(call: &Call<'_>) -> Result<Vec<Entry>> {
    let arguments = ["config", "--list", "--includes", "--show-scope", "--null"].map(OsString::from);
    let answer = call.start(&arguments, &Precautions { settings: always(), variables: &[] })?;
    if answer.code != Some(0) {
        return Err(failure::of("git config", &answer.stderr, answer.code));
    }
    let mut parts = answer.stdout.split(|byte| *byte == 0);
    let mut entries = Vec::new();
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let end = entry.iter().position(|byte| *byte == b'\n').unwrap_or(entry.len());
        let (key, value) = (entry[..end].to_vec(), entry.get(end + 1..).unwrap_or_default().to_vec());
        if scope != b"command" {
            entries.push(Entry { own: !matches!(scope, b"system" | b"global"), key, value });
        }
    }
    Ok(entries)
}

fn always() -> Vec<Setting> {
    ALWAYS.iter().map(|(key, value)| (key.into(), value.into())).collect()
}

/// What a call in a repository is given.
#[derive(Debug)]
pub(super) struct Precautions {
    pub(super) settings: Vec<Setting>,
    pub(super) variables: &'static [(&'static str, &'static str)],
}

/// What keeps git from fetching: the second is for versions that do not know the first.
const NO_FETCHING: &[(&str, &str)] = &[("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")];

pub(super) fn of_repository(call: &Call<'_>) -> Result<Precautions> {
    let entries = read(call)?;
    let mut settings = always();
    let fetches = |entry: &Entry| entry.own && entry.section_and_variable() == Some(FETCHES);
    let variables = match (entries.iter().any(fetches), call.intent) {
        (false, _) => &[],
        (true, Intent::Pushes) => &NO_FETCHING[..1],
        (true, Intent::Reads | Intent::Writes) => NO_FETCHING,
    };
    let mut asks_us = true;
    for entry in &entries {
        let Some((section, variable)) = entry.section_and_variable() else { continue };
        asks_us &= (section, variable) != ("core", "sshcommand");
        let instead = RUNS.iter().find(|(s, v, _)| (*s, *v) == (section, variable));
        let Some((_, _, harmless)) = instead.filter(|_| entry.own) else { continue };
        let users = entries.iter().rfind(|other| !other.own && other.key == entry.key);
        let value = users.map_or_else(|| harmless.as_bytes().to_vec(), |users| users.value.clone());
        settings.push(entry.setting(value));
        if section == "hook" && users.is_none() {
            let name = &entry.key[..entry.key.len() - variable.len()];
            settings.push((OsString::from_vec([name, b"enabled"].concat()), "false".into()));
        }
    }
    if asks_us && std::env::var_os("GIT_SSH").is_none() {
        settings.push(("core.sshCommand".into(), SSH.into()));
    }
    if entries.iter().any(|entry| entry.own && entry.is_helper()) {
        // They are a list, which an empty one begins anew.
        settings.push(("credential.helper".into(), OsString::new()));
        let users = entries.iter().filter(|entry| !entry.own && entry.is_helper());
        settings.extend(users.map(|entry| entry.setting(entry.value.clone())));
    }
    Ok(Precautions { settings, variables })
}

/// Which keys of the repository's own would change whom a secured connection trusts.
pub(super) fn loosened(call: &Call<'_>) -> Result<Vec<String>> {
    let loosens = |entry: &Entry| {
        entry.own
            && entry.section_and_variable().is_some_and(|(section, variable)| {
                section == "http" && (SECURES.contains(&variable) || variable.starts_with("ssl"))
            })
    };
    let keys = read(call)?.into_iter().filter(loosens);
    Ok(keys.map(|entry| String::from_utf8_lossy(&entry.key).into_owned()).collect())
}
