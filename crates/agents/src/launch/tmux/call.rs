//! One call of the `tmux` program: bounded in time, with nothing secret in its environment, and its messages turned into errors.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use tamis_process::{Program, ProgramError};

use super::{Tmux, target};
use crate::{AgentsError, Code, InstanceId, error::Result};

/// How long tmux may take for anything; it answers in milliseconds, and on a busy machine in less than this.
const LIMIT: Duration = Duration::from_secs(30);

/// How long a server may be coming or going before that is a failure.
const RACE_LIMIT: Duration = Duration::from_secs(20);
const RACE_PAUSE: Duration = Duration::from_millis(15);

/// What the server, which outlives the process that started it, needs of an environment. All its sessions inherit it.
const ENVIRONMENT: &[&str] =
    &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TMUX_TMPDIR", "USER"];

/// The messages of tmux when there is no server, with the end of the line where that matters.
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
    /// The first line of its error output.
    complaint: String,
}

/// `tmux` with the data folder's server, and no command yet.
pub(super) fn program(tmux: &Tmux) -> Program {
    Program::new("tmux").args(["-u", "-L", &tmux.server, "-f", "/dev/null"])
}

/// Runs a query. None when there is no server.
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
            return Err(AgentsError::new(Code::TmuxError, format!("session {id} already exists"))
                .suggest(format!("`tamis agents stop {id}` ends it"))
                .about(id));
        }
        if !answer.tells_of_no_server()
            || begun.elapsed() > RACE_LIMIT
            || tmux.limited(RACE_PAUSE) < RACE_PAUSE
        {
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
    let complaint = if complaint.is_empty() { "no message" } else { complaint };
    AgentsError::new(Code::TmuxError, format!("tmux {doing}: {complaint}"))
}

fn call(tmux: &Tmux, words: &[impl AsRef<OsStr>], input: Option<&[u8]>) -> Result<Answer> {
    let mut program = program(tmux)
        .args(words)
        .inherit_env(|name| ENVIRONMENT.iter().any(|allowed| name == *allowed))
        .time_limit(tmux.limited(LIMIT));
    if let Some(input) = input {
        program = program.stdin(input);
    }
    let output = program.run().map_err(|error| failed_to_run(tmux, error))?;
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let complaint = super::plain_text(stderr.lines().next().unwrap_or_default());
    Ok(Answer { succeeded: output.status.success(), stdout: stdout.into_owned(), complaint })
}

fn failed_to_run(tmux: &Tmux, error: ProgramError) -> AgentsError {
    match error {
        ProgramError::Start { cause, .. } if cause.kind() == ErrorKind::NotFound => {
            AgentsError::new(Code::TmuxError, "cannot find tmux on PATH; agents run in it")
                .suggest("install it: `apt install tmux` or `brew install tmux`")
        }
        ProgramError::TimedOut { limit } => {
            let seconds = limit.as_secs_f32();
            AgentsError::new(Code::TmuxError, format!("tmux did not respond for {seconds:.1} seconds"))
                .suggest(format!("`tmux -L {} kill-server` ends all its sessions", tmux.server))
        }
        error => AgentsError::new(Code::TmuxError, format!("cannot run tmux: {error}")),
    }
}
