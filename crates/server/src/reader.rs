//! Noticing that nobody reads our answers any more.
//!
//! A client that closes our input may still want what is under way; one that has died has closed our output too, and
//! wants nothing. The system tells the second at once, to whoever waits for it.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::oneshot;

/// Watches an output for as long as this lives.
pub(crate) struct ReaderWatch {
    /// Its end is what the thread takes for ours.
    _alive: PipeWriter,
    pub(crate) gone: oneshot::Receiver<()>,
}

impl ReaderWatch {
    pub(crate) fn new(output: impl AsFd) -> io::Result<ReaderWatch> {
        let output = output.as_fd().try_clone_to_owned()?;
        let (ended, alive) = io::pipe()?;
        let (tell, gone) = oneshot::channel();
        std::thread::Builder::new().name("reader-watch".into()).spawn(move || {
            if is_gone(&output, &ended) {
                // Nobody may be waiting for it.
                let _ = tell.send(());
            }
        })?;
        Ok(ReaderWatch { _alive: alive, gone })
    }
}

/// Waits until the output's reader has gone, or we have ended. Asked for no event, `poll` tells only of hang-ups and
/// errors; of files and terminals it tells nothing.
fn is_gone(output: &OwnedFd, ended: &PipeReader) -> bool {
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
