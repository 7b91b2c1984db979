//! Input of a command, read up to a limit: what is piped into it may have no end.

use std::io::{self, IsTerminal, Read};

use crate::print;

/// Larger inputs are not held in memory.
pub(crate) const MAX_INPUT_BYTES: usize = 64 << 20;

/// What was read.
pub(crate) enum Input {
    Whole(Vec<u8>),
    /// Its beginning; the source has the rest.
    Beginning(Vec<u8>),
}

pub(crate) fn read(source: &mut impl Read, most: usize) -> io::Result<Input> {
    let mut bytes = Vec::new();
    source.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() > most { Input::Beginning(bytes) } else { Input::Whole(bytes) })
}

/// Says that the command waits for input, if it would otherwise seem to hang.
pub(crate) fn announce_stdin() {
    if io::stdin().is_terminal() {
        print::note("reading from stdin; Ctrl-D ends the text");
    }
}

/// Reads stdin as a whole.
pub(crate) fn stdin() -> io::Result<Vec<u8>> {
    announce_stdin();
    match read(&mut io::stdin().lock(), MAX_INPUT_BYTES)? {
        Input::Whole(bytes) => Ok(bytes),
        Input::Beginning(_) => Err(io::Error::new(io::ErrorKind::FileTooLarge, "stdin has more than 64 MiB")),
    }
}
