//! Opening files below a folder by the folder's descriptor and plain names only: no link is followed and no `..` leads out,
//! even when another process moves folders at the same time.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// A relative path of plain names, joined by `/`; none when it has a `..`, or is absolute, empty, or not UTF-8.
pub(crate) fn plain_path(path: &Path) -> Option<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_str().filter(|name| !name.contains('\0'))?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!names.is_empty()).then(|| names.join("/"))
}

/// Opens a file or folder below a folder, following no link.
#[cfg(target_os = "linux")]
pub(crate) fn open_below(folder: impl AsFd, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let all = flags | OFlags::RDONLY | OFlags::CLOEXEC;
    match rustix::fs::openat2(&folder, relative, all, Mode::empty(), resolve) {
        // Before Linux 5.6, and in sandboxes without this call.
        Err(Errno::NOSYS | Errno::PERM) => open_step_by_step(folder, relative, flags),
        outcome => outcome,
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open_below(folder: impl AsFd, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_step_by_step(folder, relative, flags)
}

/// The same by opening each folder on the way from the one before.
fn open_step_by_step(folder: impl AsFd, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let base = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut steps = relative.components().filter(|step| *step != Component::CurDir).peekable();
    let mut at: Option<OwnedFd> = None;
    while let Some(step) = steps.next() {
        let Component::Normal(name) = step else { return Err(Errno::XDEV) };
        let flags = if steps.peek().is_none() { base | flags } else { base | OFlags::DIRECTORY };
        let from = at.as_ref().map_or_else(|| folder.as_fd(), AsFd::as_fd);
        at = Some(rustix::fs::openat(from, name, flags, Mode::empty())?);
    }
    match at {
        Some(at) => Ok(at),
        None => rustix::fs::openat(folder.as_fd(), c".", base | flags, Mode::empty()),
    }
}

/// Whether a file is in a file system of the kernel: `/proc` can be mounted anywhere, and has every secret of this process.
#[cfg(target_os = "linux")]
pub(crate) fn is_kernel_file(file: impl AsFd) -> bool {
    const KERNEL: [u64; 6] = [
        0x9fa0,      // proc
        0x6265_6572, // sysfs
        0x6462_6720, // debugfs
        0x7472_6163, // tracefs
        0x7363_6673, // securityfs
        0x0027_e0eb, // cgroup
    ];
    #[allow(clippy::unnecessary_cast, reason = "the type differs between platforms")]
    rustix::fs::fstatfs(file).is_ok_and(|system| KERNEL.contains(&(system.f_type as u64 & 0xffff_ffff)))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_kernel_file(_file: impl AsFd) -> bool {
    false
}

/// Reads all of a regular file of about `size` bytes, but no more than `limit` and one. In as few system calls as possible:
/// over a whole codebase they take most of the time.
pub(crate) fn read_whole(file: impl AsFd, size: u64, limit: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    let enough = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1);
    let size = usize::try_from(size).unwrap_or(usize::MAX).min(enough);
    bytes.reserve(size.saturating_add(1).min(enough));
    loop {
        match rustix::io::read(&file, rustix::buffer::spare_capacity(bytes)) {
            Ok(0) => break,
            Ok(_) if bytes.len() >= enough => break,
            // It has the size that was expected.
            Ok(_) if bytes.len() == size && size > 0 => break,
            Ok(_) if bytes.len() == bytes.capacity() => bytes.reserve(bytes.len().max(1 << 10)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    #[test]
    fn both_implementations_open_the_same_paths() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "inside").unwrap();
        fs::write(folder.path().join("secret"), "outside").unwrap();
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, root.join(at)).unwrap();
        link("../secret", "file-out");
        link("..", "folder-out");
        link("a", "folder-in");
        link("a/b/file", "file-in");
        link("nowhere", "dangling");
        let fd = File::open(&root).unwrap();
        for (path, opens) in [
            ("a/b/file", true),
            ("./a/b/file", true),
            ("a/b", true),
            (".", true),
            ("../secret", false),
            ("a/../../secret", false),
            ("/etc/passwd", false),
            ("file-out", false),
            ("folder-out/secret", false),
            ("folder-in/b/file", false),
            ("file-in", false),
            ("dangling", false),
            ("a/b/file/x", false),
            ("missing", false),
        ] {
            let path = Path::new(path);
            assert_eq!(open_below(&fd, path, OFlags::empty()).is_ok(), opens, "{path:?}");
            assert_eq!(open_step_by_step(&fd, path, OFlags::empty()).is_ok(), opens, "{path:?} by steps");
        }
    }

    #[test]
    fn reads_all_whatever_size_was_expected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for length in [0usize, 1, 31, 4096, 100_000] {
            let content: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            fs::write(&path, &content).unwrap();
            for expected in [0, length as u64, length as u64 + 10] {
                let mut bytes = b"old".to_vec();
                read_whole(File::open(&path).unwrap(), expected, 1 << 20, &mut bytes).unwrap();
                assert!(bytes == content, "{length} expected to be {expected}");
            }
            let mut bytes = Vec::new();
            read_whole(File::open(&path).unwrap(), length as u64, 50, &mut bytes).unwrap();
            assert!(bytes.len() >= length.min(51) && content.starts_with(&bytes), "{length} of at most 50");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_of_the_kernel_are_recognised() {
        assert!(is_kernel_file(File::open("/proc/self/environ").unwrap()));
        assert!(!is_kernel_file(tempfile::tempfile().unwrap()));
    }
}
