//! Reading a whole file without ever blocking on a writer.
//!
//! Opening a FIFO waits for a writer, reading a terminal waits for a person, and opening some devices has an effect. So the
//! file's type is checked first, the file is opened without waiting, and the type is checked again. The null device, to which
//! disabled configuration files are often linked, is read as what it is: empty.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use tamis_process::errno_text;

/// Larger files are refused: no model reads them, and the contents would be held in memory several times.
pub const LARGEST_FILE: u64 = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// As Node writes it, which the contract of `read` comes from.
    #[error("{}, {action} '{path}'", errno_text(.cause))]
    System { action: &'static str, path: String, cause: io::Error },
    #[error("'{path}' is {kind}, not a file")]
    NotAFile { path: String, kind: &'static str },
    #[error("'{path}' is larger than {} MiB; read a part of it with `head`, `tail`, `sed -n` or `grep`", .limit >> 20)]
    TooLarge { path: String, limit: u64 },
}

/// Reads a regular file of at most [`LARGEST_FILE`] bytes, or the null device. Blocks only as long as the disk does.
pub fn read_file(path: &Path) -> Result<Vec<u8>, ReadError> {
    read_up_to(path, LARGEST_FILE)
}

fn read_up_to(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let failed = |action| move |cause| ReadError::System { action, path: shown(path), cause };
    check(path, &std::fs::metadata(path).map_err(failed("open"))?, limit)?;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file =
        OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path).map_err(failed("open"))?;
    // Another file may have been put in its place.
    let metadata = file.metadata().map_err(failed("stat"))?;
    check(path, &metadata, limit)?;
    let bytes = contents(&file, &metadata, limit).map_err(failed("read"))?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLarge { path: shown(path), limit });
    }
    Ok(bytes)
}

/// Reads at most one byte more than `limit`: a file may grow in the meantime, and those in /proc report no size.
fn contents(file: &File, metadata: &Metadata, limit: u64) -> io::Result<Vec<u8>> {
    let expected = usize::try_from(metadata.size().min(limit)).unwrap_or_default();
    let mut bytes = Vec::new();
    // One byte more, so that the end is found without reallocating.
    bytes.try_reserve_exact(expected + 1).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn check(path: &Path, metadata: &Metadata, limit: u64) -> Result<(), ReadError> {
    let kind = metadata.file_type();
    let path = || shown(path);
    let not_a_file = |kind| Err(ReadError::NotAFile { path: path(), kind });
    match kind {
        _ if kind.is_dir() => {
            Err(ReadError::System { action: "read", path: path(), cause: rustix::io::Errno::ISDIR.into() })
        }
        _ if kind.is_fifo() => not_a_file("a FIFO"),
        _ if kind.is_socket() => not_a_file("a socket"),
        _ if is_null_device(metadata) => Ok(()),
        _ if kind.is_char_device() => not_a_file("a character device"),
        _ if kind.is_block_device() => not_a_file("a block device"),
        _ if metadata.size() > limit => Err(ReadError::TooLarge { path: path(), limit }),
        _ => Ok(()),
    }
}

fn is_null_device(metadata: &Metadata) -> bool {
    metadata.file_type().is_char_device()
        && std::fs::metadata("/dev/null")
            .is_ok_and(|null| null.file_type().is_char_device() && null.rdev() == metadata.rdev())
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::net::UnixListener;

    use proptest::prelude::*;

    use super::*;

    fn error_text(path: impl AsRef<Path>) -> String {
        read_file(path.as_ref()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_a_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (fifo, socket, link) = (at("fifo"), at("socket"), at("link"));
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
        let _listener = UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::symlink(&fifo, &link).unwrap();
        let name = |path: &Path| path.display().to_string();
        assert_eq!(error_text(&fifo), format!("'{}' is a FIFO, not a file", name(&fifo)));
        assert_eq!(error_text(&link), format!("'{}' is a FIFO, not a file", name(&link)));
        assert_eq!(error_text(&socket), format!("'{}' is a socket, not a file", name(&socket)));
        for device in ["/dev/zero", "/dev/full", "/dev/random", "/dev/tty"] {
            assert_eq!(error_text(device), format!("'{device}' is a character device, not a file"));
        }
        assert_eq!(error_text("/"), "EISDIR: illegal operation on a directory, read '/'");
    }

    #[test]
    fn what_is_empty_reads_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("empty"), "").unwrap();
        std::os::unix::fs::symlink("/dev/null", at("disabled")).unwrap();
        std::os::unix::fs::symlink(at("empty"), at("link")).unwrap();
        fs::hard_link(at("empty"), at("hard")).unwrap();
        for path in [at("empty"), at("disabled"), at("link"), at("hard"), "/dev/null".into()] {
            assert_eq!(read_file(&path).unwrap(), b"", "{}", path.display());
        }
    }

    #[test]
    fn errors_read_as_in_node() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        assert_eq!(
            error_text(&missing),
            format!("ENOENT: no such file or directory, open '{}'", missing.display())
        );
        fs::write(folder.path().join("file"), "").unwrap();
        let below = folder.path().join("file/below");
        assert_eq!(error_text(&below), format!("ENOTDIR: not a directory, open '{}'", below.display()));
        let long = folder.path().join("x".repeat(300));
        assert!(
            error_text(&long).starts_with("ENAMETOOLONG: name too long, open '"),
            "{}",
            error_text(&long)
        );
        assert!(error_text("a\0b").contains("NUL"), "{}", error_text("a\0b"));
    }

    #[test]
    fn a_huge_file_is_refused_without_reading_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("huge");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(
            error_text(&path),
            format!(
                "'{}' is larger than 64 MiB; read a part of it with `head`, `tail`, `sed -n` or `grep`",
                path.display()
            )
        );
    }

    #[test]
    fn the_limit_is_exact() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_up_to(&path, 5).unwrap(), b"12345");
        assert!(matches!(read_up_to(&path, 4), Err(ReadError::TooLarge { limit: 4, .. })));
        // A file that is larger than its reported size is noticed too: files in /proc report 0.
        #[cfg(target_os = "linux")]
        {
            let path = Path::new("/proc/self/status");
            assert!(read_file(path).unwrap().starts_with(b"Name:"));
            assert!(matches!(read_up_to(path, 4), Err(ReadError::TooLarge { .. })));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_returned(bytes: Vec<u8>) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            fs::write(&path, &bytes).unwrap();
            prop_assert_eq!(read_file(&path).unwrap(), bytes);
        }
    }
}
