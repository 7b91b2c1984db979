//! The `tmux` program: each instance's agent runs in a session of a server that belongs to the data folder.
//!
//! The server has a socket of its own and no configuration, so nothing of the user's tmux is touched or needed. What runs
//! in a session is given as words, which tmux executes without a shell. Where tmux insists on a shell or on formats, what
//! it gets is spelled so that neither can find anything in it ([`words`]).
//!
//! Deliberately missing: any knowledge of agents. A session is a command that runs, ends, shows a screen and takes a paste.

mod call;
mod ending;
mod text;

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};
use tamis_process::Program;

use crate::{AgentsError, Code, InstanceId, error::Result};

pub(crate) use ending::{SESSION_VARIABLE, mark};
pub use text::plain_text;

/// The size of a screen without a terminal.
const COLUMNS: &str = "200";
const ROWS: &str = "50";

/// How much of what a session showed is kept.
const HISTORY_LINES: &str = "50000";

/// What a new server, and every session of it, is set to. A dead pane stays, and shows how it ended.
const OPTIONS: &[&[&str]] = &[
    &["set-option", "-g", "default-terminal", "screen-256color"],
    &["set-option", "-g", "history-limit", HISTORY_LINES],
    &["set-option", "-g", "status", "off"],
    &["set-option", "-g", "allow-rename", "off"],
    &["set-option", "-g", "set-titles", "off"],
    &["set-option", "-wg", "remain-on-exit", "on"],
];

/// The fields of a line about a pane. None can hold the colon that parts them.
const PANE_FORMAT: &str = "#{session_name}:#{pane_id}:#{pane_dead}:#{pane_dead_status}:#{pane_dead_signal}:#{pane_pid}:\
                           #{session_created}";

/// How long a screen may take to show what was pasted into it.
const PASTE_PATIENCE: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How long tmux may take to learn how a process ended. Sometimes it misses that one has (3.3a does), and learns of it only
/// when another ends; so it is given another.
const SETTLING: Duration = Duration::from_secs(5);
const REMINDER: Duration = Duration::from_millis(100);

/// Gemini CLI takes an Enter within 40 ms of a paste for part of it, and on a busy machine its clock starts late. The other
/// agents need no pause.
const AFTER_PASTE: Duration = Duration::from_millis(300);

/// The sessions of one data folder.
#[derive(Clone, Debug)]
pub struct Tmux {
    server: String,
    deadline: Option<Instant>,
}

/// A session as tmux lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxSession {
    pub id: InstanceId,
    /// Whether what was started in it still runs.
    pub alive: bool,
    /// The code that it ended with; 128 and the signal's number for one that was killed. Not every death leaves one.
    pub exit_code: Option<i32>,
    /// The process that was started in it, which may be dead.
    pub pane_pid: Option<i32>,
    /// Seconds since 1970.
    pub created: i64,
    /// The first pane: a person who looks may have opened others.
    pane: String,
}

impl Tmux {
    /// The sessions of a data folder, whose server is named by the folder's path.
    pub fn for_data_folder(folder: &Path) -> Result<Tmux> {
        let path = folder
            .canonicalize()
            .map_err(|error| AgentsError::file("find the data folder", folder, &error))?;
        let hash = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
        Ok(Tmux { server: format!("tamis-{}", &hash[..8]), deadline: None })
    }

    /// The same sessions for a caller that waits until then.
    pub(crate) fn until(&self, deadline: Instant) -> Tmux {
        Tmux { deadline: Some(deadline), ..self.clone() }
    }

    /// This time limit, or less when the caller waits no longer.
    fn limited(&self, limit: Duration) -> Duration {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.map_or(limit, |left| left.min(limit))
    }

    /// The name of the server's socket.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Starts `command` in a new session. `log`, where there is one, is a command that gets all that the session writes on
    /// its standard input.
    pub fn create(&self, id: &InstanceId, command: &[OsString], log: &[OsString]) -> Result<()> {
        let mut words: Vec<OsString> = vec!["start-server".into()];
        for option in OPTIONS {
            words.push(";".into());
            words.extend(option.iter().map(OsString::from));
        }
        let new = [";", "new-session", "-d", "-s", id.as_str(), "-x", COLUMNS, "-y", ROWS, "--"];
        words.extend(new.map(OsString::from));
        words.extend(command.iter().map(|word| text::argument(word)));
        if !log.is_empty() {
            let target = target(id);
            words.extend([";", "pipe-pane", "-t", &target].map(OsString::from));
            words.push(text::shell_line(log).into());
        }
        call::create(self, id, &words)
    }

    /// Whether the server is there.
    pub fn is_running(&self) -> Result<bool> {
        Ok(call::ask(self, &["list-sessions", "-F", ""])?.is_some())
    }

    /// Every session, with whether its agent lives.
    pub fn sessions(&self) -> Result<Vec<TmuxSession>> {
        let panes = call::ask(self, &["list-panes", "-a", "-F", PANE_FORMAT])?.unwrap_or_default();
        let mut sessions: Vec<TmuxSession> = Vec::new();
        for session in panes.lines().filter_map(read_pane) {
            if !sessions.iter().any(|known| known.id == session.id) {
                sessions.push(session);
            }
        }
        Ok(sessions)
    }

    /// The session of this name.
    pub fn session(&self, id: &InstanceId) -> Result<Option<TmuxSession>> {
        Ok(self.sessions()?.into_iter().find(|session| session.id == *id))
    }

    /// The session, with the code that its agent ended with where there is one. tmux reports an end a moment before it learns
    /// of the code, which it does when it takes leave of the process.
    pub fn settled_session(&self, id: &InstanceId) -> Result<Option<TmuxSession>> {
        let (deadline, mut remind_at) = (Instant::now() + SETTLING, Some(Instant::now() + REMINDER));
        let mut is_settled = false;
        loop {
            let session = self.session(id)?;
            let unsettled = session.as_ref().filter(|it| !it.alive && it.exit_code.is_none());
            let Some(pid) = unsettled.map(|it| it.pane_pid) else { return Ok(session) };
            if is_settled || Instant::now() >= deadline {
                return Ok(session);
            }
            is_settled = pid.and_then(Pid::from_raw).is_none_or(|pid| test_kill_process(pid).is_err());
            if !is_settled {
                std::thread::sleep(LOOK_AGAIN);
            }
            if remind_at.is_some_and(|at| Instant::now() >= at) {
                remind_at = None;
                call::ask(self, &["run-shell", "-b", "true"])?;
            }
        }
    }

    /// Ends a session, and every process that was started in it. One that is not there is ended already; what was left of
    /// it is ended then.
    pub fn end(&self, id: &InstanceId) -> Result<()> {
        ending::end(self, id)
    }

    /// What the session shows and showed, with nothing in it but text. At most the last `lines`.
    pub fn capture(&self, id: &InstanceId, lines: usize) -> Result<String> {
        let TmuxSession { pane, alive, .. } = self.existing(id)?;
        let screen = call::must(self, id, &["capture-pane", "-p", "-J", "-S", "-", "-t", &pane], None)?;
        let screen = plain_text(&screen);
        let mut all: Vec<&str> = screen.trim_end().lines().collect();
        // Below the output, tmux adds when and how it ended.
        if !alive && all.last().is_some_and(|last| last.starts_with("Pane is dead")) {
            all.pop();
            while all.last().is_some_and(|line| line.trim().is_empty()) {
                all.pop();
            }
        }
        Ok(all[all.len().saturating_sub(lines)..].join("\n"))
    }

    /// Pastes a text into a session as a person would, and presses Enter once the text is seen. Only text goes in: nothing in
    /// it can press a key.
    ///
    /// A session that does not show the text is left alone: an agent may be asking whether it may delete something, and Enter
    /// would be an answer.
    pub fn send_message(&self, id: &InstanceId, text: &str) -> Result<()> {
        static MESSAGES: AtomicU64 = AtomicU64::new(0);

        let session = self.existing(id)?;
        if !session.alive {
            let how = session.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
            return Err(AgentsError::new(
                Code::TmuxError,
                format!("the program in session {id} has ended{how}"),
            )
            .suggest(format!("`tamis agents logs {id}` shows its output"))
            .about(id));
        }
        let number = MESSAGES.fetch_add(1, Ordering::Relaxed);
        let buffer = format!("{id}-{}-{number}", std::process::id());
        let text = plain_text(text);
        let pane = session.pane.as_str();
        let shown = || -> Result<usize> {
            let screen = call::must(self, id, &["capture-pane", "-p", "-J", "-t", pane], None)?;
            Ok(text::occurrences(&screen, &text))
        };
        let before = shown()?;
        call::must(self, id, &["load-buffer", "-b", &buffer, "-"], Some(text.as_bytes()))?;
        call::must(self, id, &["paste-buffer", "-p", "-d", "-b", &buffer, "-t", pane], None)?;
        let deadline = Instant::now() + self.limited(PASTE_PATIENCE);
        while shown()? <= before {
            if Instant::now() >= deadline {
                return Err(AgentsError::new(
                    Code::TmuxError,
                    format!("session {id} does not show the message"),
                )
                .suggest(format!("`tamis agents attach {id}` shows what it is waiting for"))
                .about(id));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        std::thread::sleep(AFTER_PASTE);
        call::must(self, id, &["send-keys", "-t", pane, "Enter"], None)?;
        Ok(())
    }

    /// What shows a person the session in their terminal: Ctrl-b d leaves it.
    pub fn attach_command(&self, id: &InstanceId) -> Program {
        // The person's own terminal counts here, but not a tmux that it is in.
        call::program(self).inherit_env(|name| name != "TMUX" && name != "TMUX_PANE").args([
            "attach-session",
            "-t",
            &format!("={id}"),
        ])
    }

    fn existing(&self, id: &InstanceId) -> Result<TmuxSession> {
        self.session(id)?.ok_or_else(|| {
            AgentsError::new(Code::TmuxError, format!("there is no session {id}"))
                .suggest("`tamis agents list` lists the running agents")
                .about(id)
        })
    }
}

/// This session and no other whose name begins alike.
fn target(id: &InstanceId) -> String {
    format!("={id}:")
}

/// A line of [`PANE_FORMAT`]. None for sessions that are not ours, which a person may have made.
fn read_pane(line: &str) -> Option<TmuxSession> {
    let fields: Vec<&str> = line.split(':').collect();
    let [id, pane, dead, status, signal, pid, created] = fields[..] else { return None };
    let killed_by = || signal.parse::<i32>().ok().map(|signal| 128 + signal);
    Some(TmuxSession {
        id: id.parse().ok()?,
        alive: dead != "1",
        exit_code: status.parse().ok().or_else(killed_by).filter(|_| dead == "1"),
        pane_pid: pid.parse().ok(),
        created: created.parse().ok()?,
        pane: pane.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_are_read_as_tmux_tells_them() {
        let read = |line| read_pane(line).map(|it| (it.id.to_string(), it.alive, it.exit_code, it.pane_pid));
        let id = "work-1-a1".to_owned();
        assert_eq!(read("work-1-a1:%3:0:::41:1794754445"), Some((id.clone(), true, None, Some(41))));
        assert_eq!(read("work-1-a1:%3:1:3::41:1794754445"), Some((id.clone(), false, Some(3), Some(41))));
        assert_eq!(read("work-1-a1:%3:1::9:41:1794754445"), Some((id.clone(), false, Some(137), Some(41))));
        assert_eq!(read("work-1-a1:%3:1:::41:1794754445"), Some((id, false, None, Some(41))));
        assert_eq!(read("mine:%3:0:::41:1794754445"), None);
        assert_eq!(read(""), None);
    }
}
