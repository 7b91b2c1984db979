//! A program on a pseudo-terminal: its stdin, stdout and stderr are one, as when a person starts it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Stdio};

/// What a person sees, and the exit code.
pub struct Screen {
    pub text: String,
    pub code: Option<i32>,
}

/// Runs a command on a terminal of 80 columns and types `input`, which must end it or not be needed.
pub fn on_terminal(command: &mut Command, input: &[u8]) -> Screen {
    let (mut terminal, program_side) = open();
    let [stdin, stdout, stderr] = [0; 3].map(|_| Stdio::from(program_side.try_clone().unwrap()));
    if !command.get_envs().any(|(name, _)| name == "TERM") {
        command.env("TERM", "xterm");
    }
    let mut child = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap();
    // The command holds copies, which would keep the terminal open.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    drop(program_side);
    terminal.write_all(input).unwrap();
    let mut bytes = Vec::new();
    let mut block = [0; 4096];
    // On Linux, the end of the last program on it is an error of the terminal.
    while let Ok(count @ 1..) = terminal.read(&mut block) {
        bytes.extend_from_slice(&block[..count]);
    }
    let code = child.wait().unwrap().code();
    Screen { text: String::from_utf8_lossy(&bytes).replace("\r\n", "\n"), code }
}

/// Both ends of a new terminal: ours, and the program's.
fn open() -> (File, OwnedFd) {
    let (mut ours, mut programs) = (0, 0);
    let size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    #[allow(unsafe_code, reason = "there is no safe interface without another dependency")]
    // SAFETY: the pointers are to integers and a size that live during the call; null means the defaults.
    let opened = unsafe {
        libc::openpty(
            &raw mut ours,
            &raw mut programs,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            (&raw const size).cast_mut(),
        )
    };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    #[allow(unsafe_code, reason = "the descriptors come from a system call")]
    // SAFETY: both are open, and nothing else owns them.
    unsafe {
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(programs))
    }
}
