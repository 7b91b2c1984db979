//! The client's end: our output, which several threads write to.

use std::io::{self, BufRead, Write};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::lines::read_rest;

/// Writes whole lines, one after the other. A client that does not read makes all of them wait, and so the servers.
pub(crate) struct ClientOutput {
    output: Mutex<Box<dyn Write + Send>>,
    /// Cancelled when the client has closed our output.
    pub(crate) closed: CancellationToken,
}

impl ClientOutput {
    pub(crate) fn new(output: impl Write + Send + 'static) -> ClientOutput {
        ClientOutput { output: Mutex::new(Box::new(output)), closed: CancellationToken::new() }
    }

    /// Writes a line, which ends with its newline.
    pub(crate) fn write(&self, line: &[u8]) {
        let mut output = self.output.lock();
        let written = output.write_all(line).and_then(|()| output.flush());
        self.note(written);
    }

    /// Writes a message of ours.
    pub(crate) fn write_message(&self, mut message: String) {
        message.push('\n');
        self.write(message.as_bytes());
    }

    /// Writes a line that is too long to be held.
    pub(crate) fn write_long(&self, beginning: &[u8], rest: &mut impl BufRead) -> io::Result<()> {
        let mut output = self.output.lock();
        let mut written = output.write_all(beginning);
        let read = read_rest(rest, |part| {
            if written.is_ok() {
                written = output.write_all(part);
            }
            Ok(())
        });
        written = written.and_then(|()| output.flush());
        drop(output);
        self.note(written);
        read
    }

    fn note(&self, written: io::Result<()>) {
        if let Err(error) = written
            && !self.closed.is_cancelled()
        {
            tracing::debug!(%error, "the client closed our output");
            self.closed.cancel();
        }
    }
}
