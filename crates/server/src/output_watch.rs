//! Detects that the client has closed our output.
//!
//! A client that closes our input may still wait for running calls; one that has died has closed our output too, and waits
//! for nothing. `poll` reports the second at once.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::oneshot;

/// Watches an output until dropped.
pub(crate) struct OutputWatch {
    /// The thread ends when this is closed.
    _alive: PipeWriter,
    pub(crate) closed: oneshot::Receiver<()>,
}

impl OutputWatch {
    pub(crate) fn new(output: impl AsFd) -> io::Result<OutputWatch> {
        let output = output.as_fd().try_clone_to_owned()?;
        let (ended, alive) = io::pipe()?;
        let (notify, closed) = oneshot::channel();
        std::thread::Builder::new().name("output-watch".into()).spawn(move || {
            if wait_until_closed(&output, &ended) {
                // The receiver may be gone.
                let _ = notify.send(());
            }
        })?;
        Ok(OutputWatch { _alive: alive, closed })
    }
}

/// Waits until the output's reader is gone (true) or the watch is dropped. Without requested events `poll` reports only
/// hang-ups and errors, and for files and terminals nothing.
fn wait_until_closed(output: &OwnedFd, ended: &PipeReader) -> bool {
    let mut both = [PollFd::new(output, PollFlags::empty()), PollFd::new(ended, PollFlags::IN)];
    loop {
        match poll(&mut both, None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
            Ok(_) if !both[1].revents().is_empty() => return false,
            Ok(_) if both[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => return true,
            Ok(_) => {}
        }
    }
}
