//! Lines of any length: those that fit into memory as a whole, longer ones in pieces.

use std::io::{self, BufRead};

/// Longer messages are passed on in pieces, unread.
pub(crate) const MAX_LINE_BYTES: usize = 16 << 20;

/// What [`read_line`] has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadLine {
    /// The line with its newline; at the end of the input there may be none.
    Whole,
    /// The beginning of a line that is too long: [`read_rest`] has the rest.
    Beginning,
}

/// Reads the next line into `line`, which is emptied first. None at the end of the input.
pub(crate) fn read_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    limit: usize,
) -> io::Result<Option<ReadLine>> {
    line.clear();
    // A large message should not keep its memory for good.
    line.shrink_to(64 << 10);
    loop {
        let available = fill(input)?;
        if available.is_empty() {
            return Ok((!line.is_empty()).then_some(ReadLine::Whole));
        }
        let newline = newline_in(available);
        let used = newline.map_or(available.len(), |at| at + 1);
        line.extend_from_slice(&available[..used]);
        input.consume(used);
        if newline.is_some() {
            return Ok(Some(ReadLine::Whole));
        }
        if line.len() > limit {
            return Ok(Some(ReadLine::Beginning));
        }
    }
}

/// Passes the rest of a line on to `write`, with its newline.
pub(crate) fn read_rest(
    input: &mut impl BufRead,
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    loop {
        let available = fill(input)?;
        let newline = newline_in(available);
        let used = newline.map_or(available.len(), |at| at + 1);
        write(&available[..used])?;
        let at_end = newline.is_some() || available.is_empty();
        input.consume(used);
        if at_end {
            return Ok(());
        }
    }
}

fn newline_in(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', bytes)
}

fn fill(input: &mut impl BufRead) -> io::Result<&[u8]> {
    loop {
        match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    // What is buffered; a second call reads nothing more.
    input.fill_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_read_once() {
        let text = &b"one\n\nlonger than ten\r\nx"[..];
        let mut input = io::BufReader::with_capacity(3, text);
        let (mut line, mut read, mut all) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(kind) = read_line(&mut input, &mut line, 10).unwrap() {
            read.push(kind);
            all.extend_from_slice(&line);
            if kind == ReadLine::Beginning {
                read_rest(&mut input, |rest| {
                    all.extend_from_slice(rest);
                    Ok(())
                })
                .unwrap();
            }
        }
        let whole = ReadLine::Whole;
        assert_eq!(read, [whole, whole, ReadLine::Beginning, whole]);
        assert_eq!(all, text);
    }
}
