//! One call of the `tmux` program: bounded in time, with nothing secret in its environment, and its words told as errors.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::{Tmux, target};
use crate::{AgentsError, Code, InstanceId, error::Result};

/// How long tmux may take for anything; it answers in milliseconds, and on a busy machine in less than this.
const LIMIT: Duration = Duration::from_secs(30);

/// How long a server may be coming or going before that is a failure.
const RACE_LIMIT: Duration = Duration::from_secs(20);
const RACE_PAUSE: Duration = Duration::from_millis(15);

/// What the server, which outlives whoever started it, needs of an environment. It passes it on to all its sessions.
const ENVIRONMENT: &[&str] =
    &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TMUX_TMPDIR", "USER"];

/// What tmux says when there is no server, with the end of the line where that matters.
const NO_SERVER: &[(&str, &str)] = &[
    ("no server running on", ""),
    ("error connecting to", "(No such file or directory)"),
    ("error connecting to", "(Connection refused)"),
    // It goes, or comes, at the moment of the call.
    ("server exited", ""),
    ("lost server", ""),
    // Its last session has just ended, and it has not noticed yet.
    ("no current target", ""),
    ("no sessions", ""),
];

/// What came of a call.
struct Answer {
    succeeded: bool,
    stdout: String,
    /// The first line of what it said went wrong.
    complaint: String,
}

/// `tmux` with the data folder's server, and none of the words yet.
pub(super) fn command(tmux: &Tmux) -> Command {
    let mut command = Command::new("tmux");
    command.env_clear();
    command.envs(ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.args(["-u", "-L", &tmux.server, "-f", "/dev/null"]);
    command
}

/// Asks something. None when there is no server.
pub(super) fn ask(tmux: &Tmux, words: &[&str]) -> Result<Option<String>> {
    let answer = call(tmux, words, None)?;
    if answer.succeeded {
        return Ok(Some(answer.stdout));
    }
    if answer.tells_of_no_server() {
        return Ok(None);
    }
    Err(failed(words[0], &answer.complaint))
}

/// Does something to a session that must be there.
pub(super) fn must(tmux: &Tmux, id: &InstanceId, words: &[&str], input: Option<&[u8]>) -> Result<String> {
    let answer = call(tmux, words, input)?;
    if answer.succeeded {
        return Ok(answer.stdout);
    }
    Err(failed(words[0], &answer.complaint).about(id))
}

/// Creates a session. A server that is just coming or going is tried again.
pub(super) fn create(tmux: &Tmux, id: &InstanceId, words: &[OsString]) -> Result<()> {
    let begun = Instant::now();
    loop {
        let answer = call(tmux, words, None)?;
        if answer.succeeded {
            return Ok(());
        }
        if answer.complaint.starts_with("duplicate session") {
            return Err(AgentsError::new(Code::TmuxError, format!("a session {id} is there already"))
                .suggest(format!("`tamis agents stop {id}` ends it"))
                .about(id));
        }
        if !answer.tells_of_no_server() || begun.elapsed() > RACE_LIMIT {
            return Err(failed("new-session", &answer.complaint).about(id));
        }
        // The server may have done it, and its answer been lost.
        if call(tmux, &["has-session", "-t", &target(id)], None)?.succeeded {
            return Ok(());
        }
        std::thread::sleep(RACE_PAUSE);
    }
}

/// Ends a session. One that is not there has ended.
pub(super) fn kill_session(tmux: &Tmux, id: &InstanceId) -> Result<()> {
    let answer = call(tmux, &["kill-session", "-t", &format!("={id}")], None)?;
    let gone =
        answer.succeeded || answer.tells_of_no_server() || answer.complaint.starts_with("can't find session");
    if gone { Ok(()) } else { Err(failed("kill-session", &answer.complaint).about(id)) }
}

impl Answer {
    fn tells_of_no_server(&self) -> bool {
        let complaint = self.complaint.trim_end();
        NO_SERVER.iter().any(|(start, end)| complaint.starts_with(start) && complaint.ends_with(end))
    }
}

fn failed(doing: &str, complaint: &str) -> AgentsError {
    let complaint = if complaint.is_empty() { "it does not say why" } else { complaint };
    AgentsError::new(Code::TmuxError, format!("tmux {doing}: {complaint}"))
}

fn call(tmux: &Tmux, words: &[impl AsRef<OsStr>], input: Option<&[u8]>) -> Result<Answer> {
    let mut command = command(tmux);
    command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.spawn().map_err(|error| not_started(&error))?;
    let (send, ended) = channel();
    for (number, pipe) in
        [child.stdout.take().map(boxed), child.stderr.take().map(boxed)].into_iter().enumerate()
    {
        let send = send.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            let _ = send.send((number, bytes));
        });
    }
    if let (Some(input), Some(mut pipe)) = (input, child.stdin.take()) {
        let input = input.to_owned();
        // One that does not read to the end says itself what went wrong.
        std::thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let deadline = Instant::now() + LIMIT;
    let mut said = [Vec::new(), Vec::new()];
    for _ in 0..2 {
        match ended.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok((number, bytes)) => said[number] = bytes,
            Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                let seconds = LIMIT.as_secs();
                return Err(AgentsError::new(
                    Code::TmuxError,
                    format!("tmux gave no answer for {seconds} seconds"),
                )
                .suggest(format!("`tmux -L {} kill-server` ends all its sessions", tmux.server)));
            }
        }
    }
    let status = child.wait().map_err(|error| not_started(&error))?;
    let [stdout, stderr] = said.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let complaint = super::plain_text(stderr.lines().next().unwrap_or_default());
    Ok(Answer { succeeded: status.success(), stdout, complaint })
}

fn boxed(pipe: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(pipe)
}

fn not_started(error: &std::io::Error) -> AgentsError {
    if error.kind() == ErrorKind::NotFound {
        return AgentsError::new(Code::TmuxError, "there is no tmux on PATH, in which agents run")
            .suggest("install it: `apt install tmux` or `brew install tmux`");
    }
    AgentsError::new(Code::TmuxError, format!("cannot run tmux: {error}"))
}
