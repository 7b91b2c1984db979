//! The folders that may be read. All access to their files goes through here.
//!
//! Everything is listed and opened from its root's descriptor, in one step that follows no link and no `..`. So it does not
//! matter what was checked before, or that another process moves folders: what is opened is below the root.
//!
//! Links are never followed, as by ripgrep. Their targets inside a root are found at their own paths.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::errors::{open_error, open_folder_error};
use crate::open::{is_kernel_file, open_below, plain_path, read_whole};
use crate::policy::RootContext;
use crate::system_folders::is_system;
use crate::{AccessError, Policy, RootError};

/// Folders that may be read. Cheap to clone.
#[derive(Clone)]
pub struct Roots {
    roots: Arc<[Root]>,
    policy: Arc<Policy>,
}

pub(crate) struct Root {
    /// Absolute, without links.
    pub(crate) path: PathBuf,
    /// The root that it was narrowed from; itself when it was not.
    pub(crate) top: PathBuf,
    context: RootContext,
    folder: OwnedFd,
    device: u64,
}

/// A file, by the index of its root and its path from there, with `/` between names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RootedPath {
    pub root: usize,
    pub path: String,
}

impl std::fmt::Display for RootedPath {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.path)
    }
}

impl Roots {
    /// Opens these folders. A folder that is put in the place of one later is not read, until [`reopened`](Self::reopened).
    pub fn open(folders: &[PathBuf], policy: Policy) -> Result<Roots, RootError> {
        let mut roots: Vec<Root> = Vec::new();
        for folder in folders {
            let root = Root::open(folder, &policy)?;
            if !roots.iter().any(|known| known.path == root.path) {
                roots.push(root);
            }
        }
        Ok(Roots { roots: roots.into(), policy: Arc::new(policy) })
    }

    /// Opens the same folders again, for processes that run long: one that was deleted and recreated (a fresh clone) is read
    /// again. The second list has those that are gone, or are not folders any more.
    pub fn reopened(&self) -> (Roots, Vec<PathBuf>) {
        let mut gone = Vec::new();
        let mut roots = Vec::new();
        for root in self.roots.iter() {
            match root.reopened(&self.policy) {
                Ok(root) => roots.push(root),
                Err(_) => gone.push(root.path.clone()),
            }
        }
        (Roots { roots: roots.into(), policy: Arc::clone(&self.policy) }, gone)
    }

    /// Only these folders, each of which must be a root or be in one. Relative ones are looked up in each root.
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
        // Resolved only to find the path; opening it follows no link.
        let found = candidates.iter().filter_map(|path| path.canonicalize().ok()).find_map(|path| {
            let holds = |root: &&Root| path.starts_with(&root.path);
            let root = self.roots.iter().filter(holds).max_by_key(|root| root.path.as_os_str().len())?;
            let relative = path.strip_prefix(&root.path).ok()?.to_owned();
            Some((root, path, relative))
        });
        let (root, path, relative) = found.ok_or_else(outside)?;
        if relative.as_os_str().is_empty() {
            return root.again();
        }
        if self.policy.denies(&root.context, &relative) {
            return Err(RootError::Denied { path: folder.to_owned() });
        }
        let opened = open_below(root.folder.as_fd(), &relative, OFlags::DIRECTORY).map_err(|_| outside())?;
        Root::of(path, root.top.clone(), opened).map_err(|_| outside())
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Absolute paths, in the order given.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// A text that changes when other files may be part of the roots.
    pub fn fingerprint(&self) -> String {
        let roots: Vec<_> = self.roots.iter().map(|root| (&root.path, &root.top)).collect();
        format!("{}\n{roots:?}", self.policy.fingerprint())
    }

    pub fn len(&self) -> usize {
        self.roots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    pub(crate) fn all(&self) -> &[Root] {
        &self.roots
    }

    /// The path of a place with as much of its root's path as tells the roots apart, for a path that several of them have.
    pub fn labelled(&self, place: &RootedPath) -> String {
        match self.label(place.root) {
            Some(label) => format!("{}/{}", label.display(), place.path),
            None => place.path.clone(),
        }
    }

    /// The shortest end of a root's path that no other root's path ends with.
    fn label(&self, root: usize) -> Option<&Path> {
        let path = &self.roots.get(root)?.path;
        let is_alone = |end: &&Path| {
            let others = self.roots.iter().enumerate().filter(|(number, _)| *number != root);
            !end.as_os_str().is_empty() && !others.into_iter().any(|(_, other)| other.path.ends_with(end))
        };
        let starts = path.ancestors().skip(1).filter_map(|above| path.strip_prefix(above).ok());
        starts.into_iter().find(is_alone)
    }

    /// The places that a path may refer to: relative to a root, [labelled](Roots::labelled), or absolute and below one. No file
    /// is accessed.
    pub fn places_of(&self, path: &str) -> Vec<RootedPath> {
        let given = Path::new(path);
        let mut places = Vec::new();
        for number in (0..self.roots.len()).filter(|_| self.roots.len() > 1) {
            let below = self.label(number).and_then(|label| given.strip_prefix(label).ok());
            places.extend(below.and_then(plain_path).map(|path| RootedPath { root: number, path }));
        }
        for (number, root) in self.roots.iter().enumerate() {
            let relative =
                if given.is_absolute() { given.strip_prefix(&root.path).ok() } else { Some(given) };
            if let Some(path) = relative.and_then(plain_path) {
                places.push(RootedPath { root: number, path });
            }
        }
        places
    }

    /// Opens a regular file. Never waits for a writer.
    pub fn open_file(&self, place: &RootedPath) -> Result<File, AccessError> {
        self.check(place)?;
        Ok(self.open_found(place)?.0)
    }

    /// Reads a file of at most `limit` bytes into a buffer, which is emptied first.
    pub fn read_into(&self, place: &RootedPath, limit: u64, bytes: &mut Vec<u8>) -> Result<(), AccessError> {
        self.check(place)?;
        self.read_found(place, limit, bytes)
    }

    /// Reads a text file of at most `limit` bytes; what is not UTF-8 is replaced.
    pub fn read_text(&self, place: &RootedPath, limit: u64) -> Result<String, AccessError> {
        let mut bytes = Vec::new();
        self.read_into(place, limit, &mut bytes)?;
        if crate::is_binary(&bytes) {
            return Err(AccessError::Binary { path: place.path.clone() });
        }
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Checks the name of a place.
    fn check(&self, place: &RootedPath) -> Result<(), AccessError> {
        let relative = Path::new(&place.path);
        if place.root >= self.roots.len() || plain_path(relative).is_none() {
            return Err(AccessError::Outside { path: place.path.clone() });
        }
        if self.policy.denies(&self.roots[place.root].context, relative) {
            return Err(AccessError::Denied { path: place.path.clone() });
        }
        Ok(())
    }

    /// Whether a folder of a root may not be read.
    pub(crate) fn denies_folder(&self, root: usize, path: &str) -> bool {
        self.roots.get(root).is_none_or(|root| self.policy.denies(&root.context, Path::new(path)))
    }

    /// Whether an entry of a folder that has been checked before may not be read.
    pub(crate) fn denies_entry(&self, root: usize, path: &str) -> bool {
        self.policy.denies_last(&self.roots[root].context, path)
    }

    /// Opens a file whose name a walk has checked already.
    fn open_found(&self, place: &RootedPath) -> Result<(File, Metadata), AccessError> {
        let shown = || place.path.clone();
        let root = &self.roots[place.root];
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = open_below(root.folder.as_fd(), Path::new(&place.path), flags)
            .map_err(|cause| open_error(&place.path, cause))?;
        let file = File::from(file);
        let metadata = file.metadata().map_err(|cause| AccessError::System { path: shown(), cause })?;
        if !metadata.is_file() {
            return Err(AccessError::NotAFile { path: shown() });
        }
        if metadata.dev() != root.device && is_kernel_file(&file) {
            return Err(AccessError::Outside { path: shown() });
        }
        Ok((file, metadata))
    }

    /// How many bytes a file has whose name a walk has checked already, and at least the first `most` of them.
    pub(crate) fn beginning_of(
        &self,
        place: &RootedPath,
        most: usize,
    ) -> Result<(u64, Vec<u8>), AccessError> {
        let (file, metadata) = self.open_found(place)?;
        let mut bytes = Vec::new();
        let length = metadata.len().min(most as u64);
        read_whole(&file, length, most as u64, &mut bytes)
            .map_err(|cause| AccessError::System { path: place.path.clone(), cause })?;
        Ok((metadata.len(), bytes))
    }

    pub(crate) fn read_found(
        &self,
        place: &RootedPath,
        limit: u64,
        bytes: &mut Vec<u8>,
    ) -> Result<(), AccessError> {
        let (file, metadata) = self.open_found(place)?;
        let too_large = |bytes| AccessError::TooLarge { path: place.path.clone(), bytes, limit };
        if metadata.len() > limit {
            return Err(too_large(metadata.len()));
        }
        read_whole(&file, metadata.len(), limit, bytes)
            .map_err(|cause| AccessError::System { path: place.path.clone(), cause })?;
        if bytes.len() as u64 > limit {
            return Err(too_large(bytes.len() as u64));
        }
        // It would be part of the first word, or keep the first line from being a declaration.
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    /// Opens a folder by its path from a root, which is empty for the root itself.
    pub(crate) fn open_folder(&self, root: usize, path: &str) -> Result<OwnedFd, AccessError> {
        let outside = || AccessError::Outside { path: path.to_owned() };
        let root = self.roots.get(root).ok_or_else(outside)?;
        let path = if path.is_empty() { "." } else { path };
        let folder = open_below(root.folder.as_fd(), Path::new(path), OFlags::DIRECTORY)
            .map_err(|cause| open_folder_error(path, cause))?;
        let device = rustix::fs::fstat(&folder).map_or(0, |stat| device_of(&stat));
        if device != root.device && is_kernel_file(&folder) {
            return Err(outside());
        }
        Ok(folder)
    }

    /// The metadata of a folder, without opening it.
    pub(crate) fn stat_folder(&self, root: usize, path: &str) -> Option<rustix::fs::Stat> {
        let path = if path.is_empty() { "." } else { path };
        rustix::fs::statat(&self.roots.get(root)?.folder, path, AtFlags::SYMLINK_NOFOLLOW).ok()
    }
}

/// What some editors write at the start of a file in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Root {
    fn open(folder: &Path, policy: &Policy) -> Result<Root, RootError> {
        let unreadable = |cause| RootError::Unreadable { path: folder.to_owned(), cause };
        let path = folder.canonicalize().map_err(unreadable)?;
        if is_system(&path) {
            return Err(RootError::System { path });
        }
        if policy.denies_root(&path) {
            return Err(RootError::Denied { path });
        }
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NOFOLLOW;
        let folder =
            rustix::fs::open(&path, flags, Mode::empty()).map_err(|cause| unreadable(cause.into()))?;
        Root::of(path.clone(), path, folder).map_err(unreadable)
    }

    fn of(path: PathBuf, top: PathBuf, folder: OwnedFd) -> io::Result<Root> {
        let device = device_of(&rustix::fs::fstat(&folder)?);
        let context = RootContext::new(&path, &top);
        Ok(Root { path, top, context, folder, device })
    }

    fn again(&self) -> Result<Root, RootError> {
        let unreadable = |cause| RootError::Unreadable { path: self.path.clone(), cause };
        let folder = self.folder.try_clone().map_err(unreadable)?;
        Root::of(self.path.clone(), self.top.clone(), folder).map_err(unreadable)
    }

    /// Opens what is at its path now, if that is a folder that is not reached through a link.
    fn reopened(&self, policy: &Policy) -> Result<Root, RootError> {
        let root = Root::open(&self.path, policy)?;
        if root.path != self.path {
            return Err(RootError::Outside { path: self.path.clone() });
        }
        let context = RootContext::new(&self.path, &self.top);
        Ok(Root { top: self.top.clone(), context, ..root })
    }
}

#[allow(clippy::unnecessary_cast, reason = "the type differs between platforms")]
fn device_of(stat: &rustix::fs::Stat) -> u64 {
    stat.st_dev as u64
}
