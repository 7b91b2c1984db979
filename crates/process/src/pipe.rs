//! Our end of a pipe that a program writes to, read without blocking.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

/// Minimum size of a read, and what a pipe holds by default.
pub(crate) const CHUNK: usize = 64 << 10;

/// How much a pipe should hold: a program that writes much then seldom waits for us.
#[cfg(target_os = "linux")]
const WIDE: usize = 1 << 20;

/// More in a row than the widest pipe holds. A background process that never stops writing must not keep us reading.
const MAX_READS: usize = 1024;

pub(crate) struct Pipe {
    /// None once it is closed.
    source: Option<File>,
    pub(crate) bytes: Vec<u8>,
}

impl Pipe {
    pub(crate) fn new(source: Option<impl Into<OwnedFd>>) -> io::Result<Pipe> {
        let source = source.map(|source| File::from(source.into()));
        if let Some(source) = &source {
            rustix::io::ioctl_fionbio(source, true)?;
            // Each user has a limited number of wide pipes; narrow ones do as well, more slowly.
            #[cfg(target_os = "linux")]
            let _ = rustix::pipe::fcntl_setpipe_size(source, WIDE);
        }
        Ok(Pipe { source, bytes: Vec::new() })
    }

    pub(crate) fn source(&self) -> Option<&File> {
        self.source.as_ref()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.source.is_none()
    }

    /// Reads what there is, and returns how much that was. Stops when there are more than `enough` bytes.
    pub(crate) fn read(&mut self, enough: usize) -> io::Result<usize> {
        let before = self.bytes.len();
        for _ in 0..MAX_READS {
            let Some(source) = &self.source else { break };
            self.bytes.reserve(CHUNK);
            match rustix::io::read(source, rustix::buffer::spare_capacity(&mut self.bytes)) {
                Ok(0) => self.source = None,
                Ok(_) if self.bytes.len() > enough => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.bytes.len() - before)
    }
}
