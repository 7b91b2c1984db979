//! What every git is started with: settings that count whatever the user has configured, and an environment by allow-list.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::config::ConfigEntry;

/// The private configuration ends with these, so they count before the user's own.
const ALWAYS: &[(&str, &str, &str)] = &[
    ("core", "bare", "false"),
    ("core", "hookspath", "/dev/null"),
    ("core", "fsmonitor", "false"),
    ("core", "untrackedcache", "false"),
    ("core", "pager", "cat"),
    ("core", "editor", "true"),
    ("sequence", "editor", "true"),
    ("color", "ui", "false"),
    ("commit", "gpgsign", "false"),
    ("tag", "gpgsign", "false"),
    ("push", "gpgsign", "false"),
    ("log", "showsignature", "false"),
    ("merge", "verifysignatures", "false"),
    ("merge", "autostash", "false"),
    ("submodule", "recurse", "false"),
    ("fetch", "recursesubmodules", "false"),
    ("push", "recursesubmodules", "no"),
    // It would have a push run the other side's program for fetching, too.
    ("push", "negotiate", "false"),
    ("gc", "auto", "0"),
    ("maintenance", "auto", "false"),
    ("receive", "autogc", "false"),
    ("receive", "updateserverinfo", "false"),
    // These would hide what was changed, or which commits there are.
    ("core", "ignorestat", "false"),
    ("core", "checkstat", "default"),
    ("core", "trustctime", "true"),
    ("core", "commitgraph", "false"),
    ("status", "showuntrackedfiles", "normal"),
];

/// The settings of every private configuration. Those of the file system are looked up in the folder, which is on the file
/// system of the worktrees that tamis makes.
pub(crate) fn settings(folder: &Path) -> Vec<ConfigEntry> {
    let entry = |section: &str, variable: &str, value: &str| ConfigEntry::new(section, None, variable, value);
    let mut settings: Vec<ConfigEntry> = ALWAYS.iter().map(|(s, v, value)| entry(s, v, value)).collect();
    let flag = |is: bool| if is { "true" } else { "false" };
    settings.push(entry("core", "ignorecase", flag(ignores_case(folder))));
    settings.push(entry("core", "filemode", flag(keeps_modes(folder))));
    settings
}

/// Whether names that differ by case only are the same file: the folder is there by its own name only.
fn ignores_case(folder: &Path) -> bool {
    let name = folder.file_name().map(OsStr::to_ascii_uppercase);
    name.filter(|name| Some(name.as_os_str()) != folder.file_name())
        .is_some_and(|name| folder.with_file_name(name).symlink_metadata().is_ok())
}

/// Whether a file can be made executable, and not.
fn keeps_modes(folder: &Path) -> bool {
    let mode = |path: &Path| std::fs::metadata(path).map(|about| about.permissions().mode() & 0o111);
    let probe = folder.join("mode");
    let kept = || {
        std::fs::write(&probe, "")?;
        let plain = mode(&probe)?;
        std::fs::set_permissions(&probe, std::fs::Permissions::from_mode(0o700))?;
        Ok::<_, std::io::Error>(plain == 0 && mode(&probe)? != 0)
    };
    let kept = kept().unwrap_or(true);
    let _ = std::fs::remove_file(&probe);
    kept
}

/// There is no user to answer a prompt.
pub(crate) const SSH: &str = "ssh -o BatchMode=yes";

/// The protocols of lazy fetches. Not `file`: git would run in another repository of this machine, with its configuration.
pub(crate) const PROTOCOLS: &str = "git:http:https:ssh";

/// What git, and the user's own programs that it starts, need of our environment: who and where the user is, their
/// agents for keys and passwords, proxies, certificates, and their settings for git. No token is among them.
const INHERITED: &[&str] = &[
    "ALL_PROXY",
    "CURL_CA_BUNDLE",
    "DBUS_SESSION_BUS_ADDRESS",
    "DYLD_LIBRARY_PATH",
    "GH_CONFIG_DIR",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GNUPGHOME",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "KRB5CCNAME",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "NIX_SSL_CERT_FILE",
    "NO_PROXY",
    "PATH",
    "SECURITYSESSIONID",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SUDO_UID",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GIT_PROXY_COMMAND", ""),
    ("GIT_ALLOW_PROTOCOL", PROTOCOLS),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    // Proofs are about the true commits.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // Logs of references have no text of the repository's choice.
    ("GIT_COMMITTER_NAME", "tamis"),
    ("GIT_COMMITTER_EMAIL", "tamis@tamis.invalid"),
    ("LC_ALL", "C"),
];

/// Whether git inherits a variable.
pub(crate) fn is_inherited(name: &OsStr) -> bool {
    INHERITED.iter().any(|inherited| name == *inherited)
}
