//! The token for GitHub, from the settings or from the gh program.

use std::ffi::OsStr;
use std::fmt;
use std::time::Duration;

use tamis_http::BearerSecret;
use tamis_process::Program;

/// The gh program reads a file, or the system's keyring.
const TIME_LIMIT: Duration = Duration::from_secs(5);

const LONGEST_TOKEN: usize = 4096;

/// What is left in place of a token.
const HIDDEN: &str = "[token]";

/// A token. No text is made of it; it can only be taken out of one.
#[derive(Clone)]
pub struct GithubToken {
    text: String,
    secret: BearerSecret,
}

impl GithubToken {
    /// None when it is empty, or no token could look like it.
    pub fn new(text: &str) -> Option<GithubToken> {
        let text = text.trim();
        if text.len() > LONGEST_TOKEN || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        Some(GithubToken { text: text.to_owned(), secret: BearerSecret::new(text)? })
    }

    pub(super) fn secret(&self) -> &BearerSecret {
        &self.secret
    }

    /// The token itself, for git.
    pub(super) fn reveal(&self) -> &str {
        &self.text
    }

    /// The text without the token.
    pub fn scrub(&self, text: &str) -> String {
        text.replace(&self.text, HIDDEN)
    }
}

impl fmt::Debug for GithubToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("GithubToken(…)")
    }
}

/// What gh needs to find its configuration and the keyring. It has no use for tokens: those of the environment are known.
const GH_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "TMPDIR",
    "GH_CONFIG_DIR",
    "GH_HOST",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

fn is_for_gh(name: &OsStr) -> bool {
    GH_VARIABLES.iter().any(|known| *known == name)
}

/// The token that the gh program has for a host, if it is there, is logged in and answers in time.
pub(super) fn of_gh(program: &OsStr, host: &str, limit: Duration) -> Option<GithubToken> {
    let output = Program::new(program)
        .args(["auth", "token", "--hostname", host])
        .inherit_env(is_for_gh)
        .env("GH_PROMPT_DISABLED", "1")
        .env("GH_NO_UPDATE_NOTIFIER", "1")
        .time_limit(limit.min(TIME_LIMIT))
        // The token, and the end of its line.
        .max_output(LONGEST_TOKEN + 2)
        .max_stderr(0)
        .run();
    match output {
        Ok(output) if output.status.success() => GithubToken::new(str::from_utf8(&output.stdout).ok()?),
        Ok(_) => {
            tracing::debug!("`gh` has no token for this host");
            None
        }
        Err(error) => {
            tracing::debug!(%error, "`gh` returned no token");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::*;

    /// A shell writes it: were the file open for writing here, a child of another test could hold it open, and what is
    /// open for writing cannot be run.
    fn program(folder: &Path, script: &str) -> PathBuf {
        let path = folder.join("gh");
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod 700 "$1""#, "sh"]);
        assert!(shell.arg(&path).arg(script).status().unwrap().success());
        path
    }

    #[test]
    fn a_token_is_never_shown() {
        let token = GithubToken::new(" gho_abc\n").unwrap();
        assert_eq!(format!("{token:?}"), "GithubToken(…)");
        assert_eq!(token.scrub("a gho_abc, and gho_abcgho_abc"), "a [token], and [token][token]");
        let long = "x".repeat(LONGEST_TOKEN + 1);
        for wrong in ["", " ", "a b", "a\nb", "é", "\u{1b}", &long] {
            assert!(GithubToken::new(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn the_gh_program_is_asked_for_the_host() {
        let folder = tempfile::tempdir().unwrap();
        let gh = program(folder.path(), r#"echo "gho_$#_$1_$2_$3_$4"; cat"#);
        let token = of_gh(gh.as_os_str(), "ghe.example", TIME_LIMIT).unwrap();
        assert_eq!(token.text, "gho_4_auth_token_--hostname_ghe.example");
    }

    #[test]
    fn a_gh_program_that_knows_nothing_gives_no_token() {
        let folder = tempfile::tempdir().unwrap();
        assert!(of_gh(folder.path().join("none").as_os_str(), "h", TIME_LIMIT).is_none());
        for script in [
            "exit 0",
            "echo gho_x; exit 1",
            "echo no oauth token found for h",
            "printf '\\377'",
            "exec yes",
            "exec 1>&-; kill -9 $$",
        ] {
            assert!(of_gh(program(folder.path(), script).as_os_str(), "h", TIME_LIMIT).is_none(), "{script}");
        }
    }
}
