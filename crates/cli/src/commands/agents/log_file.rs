//! The log that is kept of a session, while it is written and put aside when it has grown too long.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tamis_agents::plain_text;

/// A line that is longer is shown before it ends.
const LONGEST_LINE: usize = 64 * 1024;

/// A log, read on from where the last reading ended.
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
}

impl LogFile {
    /// None when there is none.
    pub(super) fn open(path: &Path) -> io::Result<Option<LogFile>> {
        Ok(opened(path)?.map(|file| LogFile { path: path.to_owned(), file }))
    }

    /// All that is kept: what was put aside, and what was written since.
    pub(super) fn whole(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut aside = self.path.clone().into_os_string();
        aside.push(".1");
        if let Some(mut aside) = opened(Path::new(&aside))? {
            aside.read_to_end(&mut bytes)?;
        }
        bytes.extend(self.more()?);
        Ok(bytes)
    }

    /// What was written since the last time.
    pub(super) fn more(&mut self) -> io::Result<Vec<u8>> {
        // Before the end is read, or what is written between the two would be lost.
        let next = opened(&self.path)?;
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        if let Some(mut next) = next
            && next.metadata()?.ino() != self.file.metadata()?.ino()
        {
            next.read_to_end(&mut bytes)?;
            self.file = next;
        }
        Ok(bytes)
    }
}

fn opened(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The lines of a log as they come, without what a terminal obeys. An escape sequence may come in two parts, so a line is
/// returned when it ends.
#[derive(Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    pub(super) fn of(&mut self, bytes: &[u8]) -> Vec<String> {
        self.pending.extend_from_slice(bytes);
        let ended =
            self.pending.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |end| end + 1);
        let ended = if self.pending.len() - ended > LONGEST_LINE { self.pending.len() } else { ended };
        lines(&self.pending.drain(..ended).collect::<Vec<u8>>())
    }

    /// What has come and not ended.
    pub(super) fn rest(&mut self) -> Vec<String> {
        lines(&std::mem::take(&mut self.pending))
    }
}

/// A screen that is drawn has far more empty lines than others.
fn lines(text: &[u8]) -> Vec<String> {
    let text = plain_text(&String::from_utf8_lossy(text));
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lines_are_told_when_they_end_without_what_a_terminal_obeys() {
        let mut lines = Lines::default();
        assert_eq!(lines.of(b"one\r\n\x1b[3"), ["one"]);
        assert_eq!(lines.of(b"1mtwo"), Vec::<String>::new());
        assert_eq!(lines.of(b"\x1b[0m\n\n  \nthree\xff"), ["two"]);
        assert_eq!(lines.rest(), ["three\u{fffd}"]);
        assert_eq!(lines.of(&[b'x'; LONGEST_LINE + 1]).len(), 1);
    }

    #[test]
    fn a_log_that_is_put_aside_is_read_on() {
        let folder = tempfile::tempdir().unwrap();
        let (path, aside) = (folder.path().join("x.log"), folder.path().join("x.log.1"));
        assert!(LogFile::open(&path).unwrap().is_none());
        fs::write(&path, "b").unwrap();
        fs::write(&aside, "a").unwrap();
        let mut log = LogFile::open(&path).unwrap().unwrap();
        assert_eq!(log.whole().unwrap(), b"ab");
        assert_eq!(log.more().unwrap(), b"");
        fs::write(&path, "bc").unwrap();
        fs::rename(&path, &aside).unwrap();
        assert_eq!(log.more().unwrap(), b"c", "while there is no new one");
        fs::write(&path, "d").unwrap();
        assert_eq!(log.more().unwrap(), b"d");
    }
}
