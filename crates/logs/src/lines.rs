//! The lines of a log, in chunks of bounded size, from any place in it on.
//!
//! A log may be anything: half written, of one line without end, compressed to expand without end, changed while it is
//! read. What is given is always whole lines, at most [`LONGEST_LINE`] each; what is left out is reported.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use memchr::{memchr, memrchr};

/// About how much is read, and indexed, at once.
pub const CHUNK: usize = 256 * 1024;
/// Longer lines are passed over. A record with a few screenshots has some megabytes.
pub const LONGEST_LINE: usize = 32 * 1024 * 1024;
/// A compressed log that expands to more is read up to here.
const MOST_EXPANDED: u64 = 2 << 30;
/// And one that expands by more than this factor, once it is past [`PLAIN_START`], is a bomb.
const MOST_EXPANSION: u64 = 2000;
const PLAIN_START: u64 = 64 << 20;
/// Of what a compressed log may ask for memory: 32 MiB.
const LARGEST_WINDOW_LOG: u32 = 25;

/// Part of a log.
#[derive(Debug, PartialEq, Eq)]
pub enum Chunk<'a> {
    /// Whole lines with their line breaks; only a log's very last may lack it.
    Lines { at: u64, bytes: &'a [u8] },
    /// A line that is too long.
    TooLong { at: u64, length: u64 },
}

/// Where a log's bytes come from.
enum Bytes {
    Plain(File),
    Compressed {
        decoder: Box<zstd::stream::read::Decoder<'static, io::BufReader<File>>>,
        size: u64,
        given: u64,
    },
}

/// A log that is being read.
pub struct LogLines {
    bytes: Bytes,
    /// Where in the log the buffer begins.
    at: u64,
    buffer: Vec<u8>,
    /// Of the buffer, what the caller has had.
    had: usize,
    ended: bool,
}

impl LogLines {
    /// Opens a log to read it from `start` on, which must be the beginning of a line.
    pub fn open(path: &Path, compressed: bool, start: u64) -> io::Result<LogLines> {
        let mut file = open_regular(path)?;
        let bytes = if compressed {
            let size = file.metadata()?.len();
            let mut decoder = zstd::stream::read::Decoder::new(file)?;
            decoder.window_log_max(LARGEST_WINDOW_LOG)?;
            Bytes::Compressed { decoder: Box::new(decoder), size, given: 0 }
        } else {
            file.seek(SeekFrom::Start(start))?;
            Bytes::Plain(file)
        };
        let mut lines = LogLines { bytes, at: start, buffer: Vec::new(), had: 0, ended: false };
        if compressed {
            lines.pass_over(start)?;
        }
        Ok(lines)
    }

    fn pass_over(&mut self, mut length: u64) -> io::Result<()> {
        let mut scratch = vec![0; CHUNK];
        while length > 0 {
            let step = scratch.len().min(usize::try_from(length).unwrap_or(usize::MAX));
            match self.bytes.read(&mut scratch[..step])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => length -= read as u64,
            }
        }
        Ok(())
    }

    /// The next lines that end before `end`. `None` when there are no more; then [`LogLines::pending`] is what is left.
    pub fn next(&mut self, end: u64) -> io::Result<Option<Chunk<'_>>> {
        self.buffer.drain(..self.had);
        self.at += self.had as u64;
        self.had = 0;
        loop {
            if self.buffer.len() >= CHUNK || self.ended {
                // Whether a line is too long must not depend on where the reading began.
                let first = self.buffer.get(..=LONGEST_LINE).map(|long| memchr(b'\n', long));
                if first == Some(None) {
                    return self.skip_line(end).map(Some);
                }
                if let Some(last) = memrchr(b'\n', &self.buffer) {
                    self.had = last + 1;
                    return Ok(Some(Chunk::Lines { at: self.at, bytes: &self.buffer[..self.had] }));
                }
            }
            if self.ended {
                break;
            }
            self.fill(end)?;
        }
        let last = self.buffer.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.buffer);
        if !last.is_empty() && serde_json::from_slice::<serde::de::IgnoredAny>(last).is_ok() {
            self.had = self.buffer.len();
            return Ok(Some(Chunk::Lines { at: self.at, bytes: &self.buffer }));
        }
        Ok(None)
    }

    /// Bytes of a last line that is not whole yet.
    pub fn pending(&self) -> u64 {
        (self.buffer.len() - self.had) as u64
    }

    /// Reads another chunk, or less when `end` is nearer.
    fn fill(&mut self, end: u64) -> io::Result<()> {
        let held = self.buffer.len();
        let left = end.saturating_sub(self.at + held as u64);
        let room = CHUNK.min(usize::try_from(left).unwrap_or(CHUNK));
        self.buffer.resize(held + room, 0);
        let read = if room == 0 { Ok(0) } else { self.bytes.read(&mut self.buffer[held..]) };
        self.buffer.truncate(held + read.as_ref().map_or(0, |read| *read));
        self.ended = read? == 0;
        Ok(())
    }

    /// Passes over a line whose beginning fills the buffer. Only its length is kept.
    fn skip_line(&mut self, end: u64) -> io::Result<Chunk<'_>> {
        let at = self.at;
        let mut length = 0;
        loop {
            if let Some(first) = memchr(b'\n', &self.buffer) {
                length += first as u64 + 1;
                self.buffer.drain(..=first);
                break;
            }
            length += self.buffer.len() as u64;
            self.buffer.clear();
            if self.ended {
                break;
            }
            self.at = at + length;
            self.fill(end)?;
        }
        self.buffer.shrink_to(CHUNK * 2);
        self.at = at + length;
        Ok(Chunk::TooLong { at, length })
    }
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Bytes::Plain(file) => file.read(buffer),
            Bytes::Compressed { decoder, size, given } => {
                let read = decoder.read(buffer)?;
                *given += read as u64;
                let bomb = *given > PLAIN_START && *given / MOST_EXPANSION > *size;
                if bomb || *given > MOST_EXPANDED {
                    let why = format!("it expands to more than {given} bytes from {size}");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
                Ok(read)
            }
        }
    }
}

/// Opens a file to read it, and nothing that would make us wait for a writer.
pub fn open_regular(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &[u8], compressed: bool) -> (Vec<u8>, Vec<(u64, u64)>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let bytes = if compressed { zstd::encode_all(content, 3).unwrap() } else { content.to_vec() };
        std::fs::write(&path, bytes).unwrap();
        let mut lines = LogLines::open(&path, compressed, 0).unwrap();
        let (mut all, mut long, mut next) = (Vec::new(), Vec::new(), 0);
        while let Some(chunk) = lines.next(u64::MAX).unwrap() {
            match chunk {
                Chunk::Lines { at, bytes } => {
                    assert_eq!(at, next);
                    next += bytes.len() as u64;
                    all.extend_from_slice(bytes);
                }
                Chunk::TooLong { at, length } => {
                    assert_eq!(at, next);
                    next += length;
                    long.push((at, length));
                }
            }
        }
        (all, long, lines.pending())
    }

    #[test]
    fn lines_come_whole_and_a_torn_end_waits() {
        let line = format!("{{\"a\":\"{}\"}}\n", "x".repeat(70_000));
        let text = line.repeat(20);
        for compressed in [false, true] {
            assert_eq!(read(text.as_bytes(), compressed), (text.clone().into_bytes(), vec![], 0));
            let torn = format!("{text}{{\"a\":");
            assert_eq!(read(torn.as_bytes(), compressed), (text.clone().into_bytes(), vec![], 5));
            let unended = text.trim_end();
            assert_eq!(read(unended.as_bytes(), compressed), (unended.as_bytes().to_vec(), vec![], 0));
        }
        assert_eq!(read(b"", false), (vec![], vec![], 0));
    }

    #[test]
    fn a_line_without_end_is_passed_over() {
        let long = LONGEST_LINE as u64 + 5_000_000;
        let text = [b"1\n".to_vec(), vec![b'x'; long as usize], b"\n2\n3".to_vec()].concat();
        assert_eq!(read(&text, false), (b"1\n2\n3".to_vec(), vec![(2, long + 1)], 0));
        // Compressed this is a bomb only when it goes on; here it is just long.
        assert_eq!(read(&text, true), (b"1\n2\n3".to_vec(), vec![(2, long + 1)], 0));
        assert_eq!(read(&text[..text.len() - 4], false), (b"1\n".to_vec(), vec![(2, long)], 0));
    }

    #[test]
    fn a_line_is_too_long_whatever_the_start_of_reading() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        for (length, too_long) in
            [(LONGEST_LINE, false), (LONGEST_LINE + 1, true), (LONGEST_LINE + CHUNK / 2, true)]
        {
            for before in [2, CHUNK / 3, CHUNK - 1] {
                let text = [vec![b'1'; before], vec![b'\n'], vec![b'x'; length], b"\n2\n".to_vec()].concat();
                std::fs::write(&path, text).unwrap();
                for start in [0, before as u64 + 1] {
                    let mut lines = LogLines::open(&path, false, start).unwrap();
                    let mut long = false;
                    while let Some(chunk) = lines.next(u64::MAX).unwrap() {
                        long |= matches!(chunk, Chunk::TooLong { .. });
                    }
                    assert_eq!(long, too_long, "{length} after {before}, from {start}");
                }
            }
        }
    }

    #[test]
    fn a_bomb_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.zst");
        let mut encoder = zstd::Encoder::new(File::create(&path).unwrap(), 1).unwrap();
        for _ in 0..512 {
            io::Write::write_all(&mut encoder, &vec![b'\n'; 1 << 20]).unwrap();
        }
        encoder.finish().unwrap();
        let mut lines = LogLines::open(&path, true, 0).unwrap();
        let error = loop {
            match lines.next(u64::MAX) {
                Ok(chunk) => assert!(chunk.is_some(), "it was read to its end"),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("expands"), "{error}");
    }
}
