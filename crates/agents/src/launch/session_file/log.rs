//! The log of a session: all that it writes, as it writes it, within a size limit. A screen that is redrawn ten times a second
//! would fill a disk in weeks.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::{AgentsError, error::Result};

/// A log that has grown to this is put aside, in the place of the one that was put aside before it.
const LIMIT: u64 = 4 << 20;

/// Copies `input` to the log until it ends: `tamis __session --log FILE`.
pub fn keep_log(file: &Path, input: impl Read) -> Result<()> {
    keep(file, input, LIMIT).map_err(|error| AgentsError::file("write", file, &error))
}

/// Where a log that has grown too long is put aside.
fn older(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

fn keep(file: &Path, mut input: impl Read, limit: u64) -> io::Result<()> {
    // The agent whose log it is can write to the folder. What it puts in the log's place is not followed elsewhere, and a
    // pipe without a reader is not waited for.
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
    let open = || -> io::Result<File> {
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(flags.cast_signed())
            .open(file)?;
        if log.metadata()?.is_file() { Ok(log) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    };
    let (mut log, mut buffer): (Option<File>, _) = (open().ok(), [0; 8192]);
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        // A full disk must not end the log for good, nor hold up the session, which waits for its reader.
        let written = match log.as_mut() {
            Some(log) => log.write_all(&buffer[..count]).is_ok(),
            None => false,
        };
        let full = log.as_ref().is_some_and(|log| log.metadata().is_ok_and(|about| about.len() >= limit));
        if full {
            let _ = fs::rename(file, older(file));
        }
        if full || !written {
            log = open().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end_and_no_more_than_twice_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.log");
        let text: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
        keep(&file, text.as_slice(), 50_000).unwrap();
        let [last, before] = [fs::read(&file).unwrap(), fs::read(older(&file)).unwrap()];
        assert!(before.len() >= 50_000 && last.len() + before.len() < 2 * (50_000 + 8192));
        assert!(text.ends_with(&[before, last].concat()));
        // It goes on where it was.
        keep(&file, &b"more"[..], 50_000).unwrap();
        assert!(fs::read(&file).unwrap().ends_with(b"more"));
    }

    #[test]
    fn what_was_put_in_its_place_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let [link, pipe, other] = ["link.log", "pipe.log", "other"].map(|name| folder.path().join(name));
        fs::write(&other, "precious").unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        // Its reader would get the log.
        let reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        for file in [&link, &pipe] {
            keep(file, &b"said in the session"[..], 50_000).unwrap();
        }
        assert_eq!(fs::read(&other).unwrap(), b"precious");
        assert_eq!(rustix::io::ioctl_fionread(&reader).unwrap(), 0);
    }
}
