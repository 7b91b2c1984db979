//! The token that GitHub wants to see, and what else may know one: the gh program.

use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tamis_http::BearerSecret;

/// The gh program reads a file, or asks the system's keyring.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often to look whether it has ended.
const LOOK: Duration = Duration::from_millis(2);

const LONGEST_TOKEN: usize = 4096;

/// What is left in place of a token.
const HIDDEN: &str = "[token]";

/// A token. No text is made of it; it can only be taken out of one.
#[derive(Clone)]
pub struct Token {
    text: String,
    secret: BearerSecret,
}

impl Token {
    /// None when it is empty, or no token could look like it.
    pub fn new(text: &str) -> Option<Token> {
        let text = text.trim();
        if text.len() > LONGEST_TOKEN || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        Some(Token { text: text.to_owned(), secret: BearerSecret::new(text)? })
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

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token(…)")
    }
}

/// The token that the gh program has for a host, if it is there, is logged in and answers in time.
pub(super) fn of_gh(program: &OsStr, host: &str) -> Option<Token> {
    let spawned = Command::new(program)
        .args(["auth", "token", "--hostname", host])
        .env("GH_PROMPT_DISABLED", "1")
        .env("GH_NO_UPDATE_NOTIFIER", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            tracing::debug!(%error, "the gh program cannot be asked for a token");
            return None;
        }
    };
    let end = Instant::now() + PATIENCE;
    let (send, said) = channel();
    if let Some(pipe) = child.stdout.take() {
        // On a thread of its own, which a process that keeps the pipe open may hold up as long as it likes.
        std::thread::spawn(move || {
            let mut text = String::new();
            let read = pipe.take(LONGEST_TOKEN as u64 + 2).read_to_string(&mut text);
            let _ = send.send(read.is_ok().then_some(text));
        });
    }
    let text = said.recv_timeout(PATIENCE).ok().flatten();
    let succeeded = text.is_some() && ends_well(&mut child, end);
    if !succeeded {
        tracing::debug!("the gh program has no token for this host, or did not tell it in time");
        // Nobody has collected it before the wait, so the number is still its own.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        let _ = child.wait();
    }
    text.filter(|_| succeeded).and_then(|text| Token::new(&text))
}

/// Whether it ends in time, and says that all went well. It has closed its output, so there is little to wait for.
fn ends_well(child: &mut Child, end: Instant) -> bool {
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < end => std::thread::sleep(LOOK),
            Ok(status) => return status.is_some_and(|status| status.success()),
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

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
        let token = Token::new(" gho_abc\n").unwrap();
        assert_eq!(format!("{token:?}"), "Token(…)");
        assert_eq!(token.scrub("a gho_abc, and gho_abcgho_abc"), "a [token], and [token][token]");
        let long = "x".repeat(LONGEST_TOKEN + 1);
        for wrong in ["", " ", "a b", "a\nb", "é", "\u{1b}", &long] {
            assert!(Token::new(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn the_gh_program_is_asked_for_the_host() {
        let folder = tempfile::tempdir().unwrap();
        let gh = program(folder.path(), r#"echo "gho_$#_$1_$2_$3_$4"; cat"#);
        let token = of_gh(gh.as_os_str(), "ghe.example").unwrap();
        assert_eq!(token.text, "gho_4_auth_token_--hostname_ghe.example");
    }

    #[test]
    fn a_gh_program_that_knows_nothing_gives_no_token() {
        let folder = tempfile::tempdir().unwrap();
        assert!(of_gh(folder.path().join("none").as_os_str(), "h").is_none());
        for script in [
            "exit 0",
            "echo gho_x; exit 1",
            "echo no oauth token found for h",
            "printf '\\377'",
            "exec yes",
            "exec 1>&-; kill -9 $$",
        ] {
            assert!(of_gh(program(folder.path(), script).as_os_str(), "h").is_none(), "{script}");
        }
    }
}
