//! A pager for long output, as git has it: only if stdout is a terminal, started by the first output, waited for at the end.
//!
//! While it runs, notes go through it too, because it has the screen. Its exit code is not ours.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tamis_clients::find_program;
use tamis_config::PAGER_VARIABLE;

use crate::style;

/// Variables that name a pager, the first that is set; an empty one means none.
const VARIABLES: [&str; 2] = [PAGER_VARIABLE, "PAGER"];
const DEFAULT: &str = "less";
/// Options of pagers that git sets too: a short text is only printed, colours are shown, the screen is kept.
const OPTIONS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

static PAGER: Mutex<State> = Mutex::new(State::NotStarted);

enum State {
    NotStarted,
    /// Output goes to stdout.
    Off,
    Running(Child),
}

/// Turns the pager off: for output that is watched as it comes.
pub(crate) fn turn_off() {
    let mut state = lock();
    if matches!(*state, State::NotStarted) {
        *state = State::Off;
    }
}

/// Writes output to the pager, which the first call starts. Returns false if no pager is used.
pub(crate) fn write(bytes: &[u8]) -> io::Result<bool> {
    let mut state = lock();
    if matches!(*state, State::NotStarted) {
        *state = start().map_or(State::Off, State::Running);
    }
    pass_on(&mut state, bytes)
}

/// Writes a note to the pager, if one runs and shares the screen with stderr.
pub(crate) fn write_note(text: &str) -> bool {
    io::stderr().is_terminal() && pass_on(&mut lock(), text.as_bytes()).unwrap_or(false)
}

/// Waits until the user has left the pager.
pub(crate) fn finish() {
    let state = std::mem::replace(&mut *lock(), State::Off);
    if let State::Running(mut pager) = state {
        drop(pager.stdin.take());
        let _ = pager.wait();
    }
}

fn pass_on(state: &mut State, bytes: &[u8]) -> io::Result<bool> {
    let State::Running(pager) = state else { return Ok(false) };
    if let Some(stdin) = &mut pager.stdin {
        match stdin.write_all(bytes) {
            // The user has left it: the rest is not shown, and the command ends as it would have.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => drop(pager.stdin.take()),
            written => written?,
        }
    }
    Ok(true)
}

fn start() -> Option<Child> {
    if !io::stdout().is_terminal() || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb") {
        return None;
    }
    let named = VARIABLES.iter().find_map(|name| std::env::var(name).ok());
    let line = named.as_deref().unwrap_or(DEFAULT).trim();
    let mut words = line.split_whitespace();
    let program = words.next()?;
    if line == "cat" {
        return None;
    }
    let mut command = if line.contains(|letter: char| "|&;<>()$`\\\"'*?[#~=%".contains(letter)) {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]);
        shell
    } else {
        // A shell would report a missing program after it has swallowed the output.
        if !program.contains('/') && find_program(program, std::env::var_os("PATH").as_deref()).is_none() {
            if named.is_some() {
                let warning = style::note(format!("warning: cannot find the pager `{program}`\n"));
                let _ = io::stderr().lock().write_all(warning.as_bytes());
            }
            return None;
        }
        let mut plain = Command::new(program);
        plain.args(words);
        plain
    };
    command.stdin(Stdio::piped());
    for (name, value) in OPTIONS {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let pager = command.spawn().ok()?;
    ignore_interrupts();
    Some(pager)
}

/// Ctrl-C is for the pager, which decides itself whether it ends; leaving first would give the terminal to two programs.
fn ignore_interrupts() {
    #[allow(unsafe_code, reason = "there is no safe interface")]
    // SAFETY: it sets the action for a signal to a constant, and runs no code in a handler.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
    }
}

fn lock() -> MutexGuard<'static, State> {
    PAGER.lock().unwrap_or_else(PoisonError::into_inner)
}
