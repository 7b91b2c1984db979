//! The folders that may be read, and the one way into them.
//!
//! A file is opened from its root's descriptor, in one step that follows no link and climbs out of nothing. So it does not
//! matter what was checked before or who moves folders about meanwhile: what opens lies below the root.
//!
//! Links are never followed, as ripgrep does not either. What they point to inside a root is found where it lies.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use crate::Policy;

/// Folders that may be read. Cheap to clone.
#[derive(Clone)]
pub struct Roots {
    roots: Arc<[Root]>,
    policy: Arc<Policy>,
}

/// One of them.
struct Root {
    /// Absolute, without links.
    path: PathBuf,
    folder: OwnedFd,
}

/// A file by its root's number and its path from there, with `/` between names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub root: usize,
    pub path: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.path)
    }
}

/// Why a folder cannot be a root.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("{} is no folder that can be read: {cause}", .path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("{} belongs to the system and cannot be a root", .path.display())]
    System { path: PathBuf },
    #[error("{} lies outside of the roots", .path.display())]
    Outside { path: PathBuf },
    #[error("{} may not be read: it is where secrets are kept", .path.display())]
    Denied { path: PathBuf },
}

/// Why a file below a root was not read.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("{path:?} lies outside of the roots, or behind a link")]
    Outside { path: String },
    #[error("{path:?} may not be read: secrets are kept there")]
    Denied { path: String },
    #[error("{path:?} is no file")]
    NotAFile { path: String },
    #[error("{path:?} has {bytes} bytes, which is more than the {limit} that may be read")]
    TooLarge { path: String, bytes: u64, limit: u64 },
    #[error("{path:?} is not text")]
    Binary { path: String },
    #[error("{path:?} cannot be read: {cause}")]
    System { path: String, cause: io::Error },
}

/// Where the operating system lives; a question about it is not one about a codebase.
const SYSTEM: [&str; 9] = ["/bin", "/boot", "/dev", "/etc", "/proc", "/run", "/sbin", "/sys", "/lib"];

impl Roots {
    /// These folders. Each is looked at once, here; what is put in its place later is not it.
    pub fn open(folders: &[PathBuf], policy: Policy) -> Result<Roots, RootError> {
        let mut roots: Vec<Root> = Vec::new();
        for folder in folders {
            let root = Root::open(folder)?;
            if !roots.iter().any(|known| known.path == root.path) {
                roots.push(root);
            }
        }
        Ok(Roots { roots: roots.into(), policy: Arc::new(policy) })
    }

    /// Only these folders, each of which must be a root or lie in one. Relative ones are looked for in each root.
    pub fn narrowed(&self, folders: &[PathBuf]) -> Result<Roots, RootError> {
        let mut roots: Vec<Root> = Vec::new();
        for folder in folders {
            let root = self.within(folder)?;
            if !roots.iter().any(|known| known.path == root.path) {
                roots.push(root);
            }
        }
        Ok(Roots { roots: roots.into(), policy: Arc::clone(&self.policy) })
    }

    fn within(&self, folder: &Path) -> Result<Root, RootError> {
        let outside = || RootError::Outside { path: folder.to_owned() };
        let candidates: Vec<PathBuf> = if folder.is_absolute() {
            vec![folder.to_owned()]
        } else {
            self.roots.iter().map(|root| root.path.join(folder)).collect()
        };
        // Whether something is there is told only of what lies in a root.
        let found = candidates.iter().filter_map(|path| path.canonicalize().ok()).find_map(|path| {
            let root = self.roots.iter().find(|root| path.starts_with(&root.path))?;
            let relative = path.strip_prefix(&root.path).ok()?.to_owned();
            Some((root, path, relative))
        });
        let (root, path, relative) = found.ok_or_else(outside)?;
        if relative.as_os_str().is_empty() {
            return root.again();
        }
        if self.policy.denies(&relative) {
            return Err(RootError::Denied { path });
        }
        let folder = open_below(root.folder.as_fd(), &relative, OFlags::DIRECTORY).map_err(|_| outside())?;
        Ok(Root { path, folder })
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Absolute paths, in the order in which they were given.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    pub fn len(&self) -> usize {
        self.roots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    pub(crate) fn folder(&self, root: usize) -> &Path {
        &self.roots[root].path
    }

    /// The places that a path may mean: relative to a root, or absolute and below one. Nothing is looked at.
    pub fn places_of(&self, path: &str) -> Vec<Place> {
        let given = Path::new(path);
        let mut places = Vec::new();
        for (number, root) in self.roots.iter().enumerate() {
            let relative =
                if given.is_absolute() { given.strip_prefix(&root.path).ok() } else { Some(given) };
            if let Some(path) = relative.and_then(plain) {
                places.push(Place { root: number, path });
            }
        }
        places
    }

    /// A regular file of a root, opened. Never waits for a writer.
    pub fn open_file(&self, place: &Place) -> Result<File, AccessError> {
        let shown = || place.path.clone();
        let relative = Path::new(&place.path);
        let root = self.roots.get(place.root).filter(|_| plain(relative).is_some());
        let Some(root) = root else { return Err(AccessError::Outside { path: shown() }) };
        if self.policy.denies(relative) {
            return Err(AccessError::Denied { path: shown() });
        }
        let file = open_below(root.folder.as_fd(), relative, OFlags::NONBLOCK | OFlags::NOCTTY)
            .map_err(|cause| refused(place, cause))?;
        let file = File::from(file);
        let metadata = file.metadata().map_err(|cause| AccessError::System { path: shown(), cause })?;
        if !metadata.is_file() {
            return Err(AccessError::NotAFile { path: shown() });
        }
        Ok(file)
    }

    /// The bytes of a file that has no more than `limit`, into a buffer that is emptied first.
    pub fn read_into(&self, place: &Place, limit: u64, bytes: &mut Vec<u8>) -> Result<(), AccessError> {
        let failed = |cause| AccessError::System { path: place.path.clone(), cause };
        let file = self.open_file(place)?;
        let size = file.metadata().map_err(failed)?.len();
        let too_large = |bytes| AccessError::TooLarge { path: place.path.clone(), bytes, limit };
        if size > limit {
            return Err(too_large(size));
        }
        bytes.clear();
        bytes.reserve(usize::try_from(size).unwrap_or(0) + 1);
        file.take(limit + 1).read_to_end(bytes).map_err(failed)?;
        if bytes.len() as u64 > limit {
            return Err(too_large(bytes.len() as u64));
        }
        Ok(())
    }

    /// The text of a file that has no more than `limit` bytes; what is not UTF-8 in it is replaced.
    pub fn read_text(&self, place: &Place, limit: u64) -> Result<String, AccessError> {
        let mut bytes = Vec::new();
        self.read_into(place, limit, &mut bytes)?;
        if crate::is_binary(&bytes) {
            return Err(AccessError::Binary { path: place.path.clone() });
        }
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

impl Root {
    fn open(folder: &Path) -> Result<Root, RootError> {
        let unreadable = |cause| RootError::Unreadable { path: folder.to_owned(), cause };
        let path = folder.canonicalize().map_err(unreadable)?;
        if path.parent().is_none() || SYSTEM.iter().any(|system| path.starts_with(system)) {
            return Err(RootError::System { path });
        }
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NOFOLLOW;
        let folder =
            rustix::fs::open(&path, flags, Mode::empty()).map_err(|cause| unreadable(cause.into()))?;
        Ok(Root { path, folder })
    }

    fn again(&self) -> Result<Root, RootError> {
        let unreadable = |cause| RootError::Unreadable { path: self.path.clone(), cause };
        let folder = self.folder.try_clone().map_err(unreadable)?;
        Ok(Root { path: self.path.clone(), folder })
    }
}

/// A relative path of plain names, joined by `/`; none when it climbs, is absolute or not UTF-8.
fn plain(path: &Path) -> Option<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!names.is_empty()).then(|| names.join("/"))
}

fn refused(place: &Place, cause: io::Error) -> AccessError {
    use rustix::io::Errno;

    let path = place.path.clone();
    match Errno::from_io_error(&cause) {
        Some(Errno::LOOP | Errno::XDEV | Errno::NOTDIR) => AccessError::Outside { path },
        Some(Errno::NXIO) => AccessError::NotAFile { path },
        _ => AccessError::System { path, cause },
    }
}

/// Opens what lies below a folder, following no link on the way.
#[cfg(target_os = "linux")]
fn open_below(folder: impl AsFd, relative: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    use rustix::io::Errno;

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let all = flags | OFlags::RDONLY | OFlags::CLOEXEC;
    match rustix::fs::openat2(&folder, relative, all, Mode::empty(), resolve) {
        // Before Linux 5.6, and in sandboxes that do not know the call.
        Err(Errno::NOSYS | Errno::PERM) => open_step_by_step(folder, relative, flags),
        outcome => Ok(outcome?),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_below(folder: impl AsFd, relative: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    open_step_by_step(folder, relative, flags)
}

/// The same by opening each folder on the way from the one before.
fn open_step_by_step(folder: impl AsFd, relative: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let steps: Vec<_> = relative.components().collect();
    let careful = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut at: Option<OwnedFd> = None;
    for (number, step) in steps.iter().enumerate() {
        let Component::Normal(name) = step else { return Err(rustix::io::Errno::XDEV.into()) };
        let flags = if number + 1 == steps.len() { careful | flags } else { careful | OFlags::DIRECTORY };
        let from = at.as_ref().map_or_else(|| folder.as_fd(), AsFd::as_fd);
        at = Some(rustix::fs::openat(from, *name, flags, Mode::empty())?);
    }
    at.ok_or_else(|| rustix::io::Errno::NOENT.into())
}
