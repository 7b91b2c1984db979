//! The folders and files of the roots with stamps that show whether they have changed, for callers that cache something
//! about them.
//!
//! Checking a folder's stamp replaces listing it: when names are added or removed, the folder's own time changes, and when
//! contents change, the file's does. The times are those of the last change of any kind, which no program can set back.
//!
//! Clocks have ticks: a file that changed just before it was checked may change again within the same tick. Its stamp is
//! recorded as [`Stamp::UNSURE`], which equals no other.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, FileType, Stat};

use crate::ignore_rules::{RULE_FILES, RuleFiles};
use crate::walk::walk_with_folders;
use crate::{RootedPath, Roots, StopSignal, Stopped, cores, in_parallel};

/// The state of a file or folder when it was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub inode: u64,
    /// Zero for a folder; [`Stamp::CLOSED`] for one that could not be opened.
    pub size: u64,
    /// Nanoseconds since 1970 of the last change.
    pub changed: i64,
}

/// A folder of the codebase, with those of its files that are part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    pub root: usize,
    /// From the root; empty for the root itself.
    pub path: String,
    pub stamp: Stamp,
    /// Its files by name, in order.
    pub files: Vec<(String, Stamp)>,
    /// Its files with ignore rules.
    pub rules: Vec<(String, Stamp)>,
}

/// What has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Whether files may have been added or removed: then a new [`tree`] is needed.
    pub structure: bool,
    /// Files with changed contents, as indexes of folder and file.
    pub files: Vec<(usize, usize)>,
}

/// Many times the resolution of a file system's clock.
const TICK: i64 = 100_000_000;
/// The same for file systems with a resolution of one or two seconds.
const COARSE_TICK: i64 = 2_000_000_000 + TICK;

impl Stamp {
    /// For what may have changed unnoticed.
    pub const UNSURE: Stamp = Stamp { inode: 0, size: 0, changed: i64::MIN };
    const CLOSED: u64 = u64::MAX;

    fn of(stat: &Stat) -> Stamp {
        let nanoseconds = i64::try_from(stat.st_ctime_nsec).unwrap_or(0);
        Stamp {
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            changed: stat.st_ctime.saturating_mul(1_000_000_000).saturating_add(nanoseconds),
        }
    }

    /// This stamp if the last change was long enough before `now`, else [`Stamp::UNSURE`].
    fn if_sure(self, now: i64) -> Stamp {
        let tick = if self.changed % 1_000_000_000 == 0 { COARSE_TICK } else { TICK };
        if self.changed < now - tick { self } else { Stamp::UNSURE }
    }

    pub(crate) fn of_folder(folder: impl AsFd) -> Option<Stamp> {
        rustix::fs::fstat(folder).ok().map(|stat| Stamp { size: 0, ..Stamp::of(&stat) })
    }

    /// For a folder that cannot be opened. When that changes, its own time changes, and not that of its parent.
    fn of_closed_folder(roots: &Roots, root: usize, path: &str) -> Option<Stamp> {
        let stat = roots.stat_folder(root, path)?;
        Some(Stamp { size: Stamp::CLOSED, ..Stamp::of(&stat) })
    }

    fn of_file(folder: impl AsFd, name: &str) -> Option<Stamp> {
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| Stamp::of(&stat))
    }
}

impl Folder {
    pub(crate) fn new(root: usize, path: &str, stamp: Stamp) -> Folder {
        Folder { root, path: path.to_owned(), stamp, files: Vec::new(), rules: Vec::new() }
    }

    /// A folder that could not be listed.
    pub(crate) fn closed(roots: &Roots, root: usize, path: &str) -> Folder {
        let stamp = Stamp::of_closed_folder(roots, root, path).unwrap_or(Stamp::UNSURE);
        Folder::new(root, path, stamp)
    }

    pub(crate) fn add_file(&mut self, folder: impl AsFd, path: &str) {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        // One that is removed in the meantime has changed the next time.
        let stamp = Stamp::of_file(folder, name).unwrap_or(Stamp::UNSURE);
        self.files.push((name.to_owned(), stamp));
    }

    pub(crate) fn add_rules(&mut self, folder: impl AsFd, found: RuleFiles) {
        for (name, _) in RULE_FILES.iter().zip(found.rules).filter(|(_, found)| *found) {
            let stamp = Stamp::of_file(&folder, name).unwrap_or_default();
            self.rules.push(((*name).to_owned(), stamp));
        }
        if found.repository {
            let stamp = Stamp::of_file(&folder, OWN_RULES).unwrap_or_default();
            self.rules.push((OWN_RULES.to_owned(), stamp));
        }
    }

    /// The place of a file by its index.
    pub fn place(&self, file: usize) -> RootedPath {
        let name = &self.files[file].0;
        let mut path = String::with_capacity(self.path.len() + 1 + name.len());
        if !self.path.is_empty() {
            path.push_str(&self.path);
            path.push('/');
        }
        path.push_str(name);
        RootedPath { root: self.root, path }
    }
}

/// A repository's rules that are not part of its tree.
const OWN_RULES: &str = ".git/info/exclude";

/// All folders with their stamps, in order.
pub fn tree(roots: &Roots, stop: &StopSignal) -> Result<Vec<Folder>, Stopped> {
    let now = now();
    let add = |list: &mut Vec<Folder>, mut folder: Folder| {
        folder.stamp = folder.stamp.if_sure(now);
        for (_, stamp) in folder.files.iter_mut().chain(&mut folder.rules) {
            *stamp = stamp.if_sure(now);
        }
        folder.files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        list.push(folder);
    };
    let lists = walk_with_folders(roots, stop, Vec::new, Some(add), |_, _| {})?;
    let mut all: Vec<Folder> = lists.into_iter().flatten().collect();
    all.sort_unstable_by(|a, b| (a.root, &a.path).cmp(&(b.root, &b.path)));
    Ok(all)
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    i64::try_from(now).unwrap_or(i64::MAX)
}

/// Compares the folders with their stamps. What cannot be checked has changed.
pub fn changes(roots: &Roots, folders: &[Folder], stop: &StopSignal) -> Result<Changes, Stopped> {
    const LOT: usize = 32;
    let structure = AtomicBool::new(false);
    let lots: Vec<&[Folder]> = folders.chunks(LOT).collect();
    let changed = in_parallel(&lots, cores(), |lots| {
        let mut changed = Vec::new();
        for (lot, folders) in lots {
            if stop.is_due() || structure.load(Ordering::Relaxed) {
                break;
            }
            for (number, known) in folders.iter().enumerate() {
                if !is_unchanged(roots, known, lot * LOT + number, &mut changed) {
                    structure.store(true, Ordering::Relaxed);
                }
            }
        }
        changed
    });
    let mut files = changed.concat();
    stop.check()?;
    files.sort_unstable();
    Ok(Changes { structure: structure.into_inner(), files })
}

/// Whether a folder has the same names and rules. Appends its changed files to `changed`.
fn is_unchanged(roots: &Roots, known: &Folder, number: usize, changed: &mut Vec<(usize, usize)>) -> bool {
    let Ok(folder) = roots.open_folder(known.root, &known.path) else {
        return Stamp::of_closed_folder(roots, known.root, &known.path) == Some(known.stamp);
    };
    if Stamp::of_folder(&folder) != Some(known.stamp) {
        return false;
    }
    for (name, stamp) in &known.rules {
        if Stamp::of_file(&folder, name).unwrap_or_default() != *stamp {
            return false;
        }
    }
    for (file, (name, stamp)) in known.files.iter().enumerate() {
        if Stamp::of_file(&folder, name) != Some(*stamp) {
            changed.push((number, file));
        }
    }
    true
}

/// A text that changes with the ignore rules from above the roots and with the user's own. None when they changed just now
/// and may change again within the same clock tick. To be computed before the rules are applied.
pub fn outer_rules(roots: &Roots) -> Option<String> {
    let now = now();
    let mut all = Vec::new();
    let mut note = |path: PathBuf, stat: Option<Stat>| {
        all.push((path, stat.map(|stat| Stamp::of(&stat).if_sure(now))));
    };
    for root in roots.all() {
        for folder in root.path.ancestors().skip(1) {
            for name in RULE_FILES.iter().chain(&[OWN_RULES]) {
                let path = folder.join(name);
                if let Ok(stat) = rustix::fs::lstat(&path) {
                    note(path, Some(stat));
                }
            }
            // Rules apply up to the repository. Its contents change all the time, so only its presence counts.
            let repository = folder.join(".git");
            if rustix::fs::lstat(&repository).is_ok() {
                note(repository, None);
            }
        }
    }
    // Often a link to another folder.
    if let Some(path) = ignore::gitignore::gitconfig_excludes_path() {
        let stat = rustix::fs::stat(&path).ok();
        note(path, stat);
    }
    (!all.iter().any(|(_, stamp)| *stamp == Some(Stamp::UNSURE))).then(|| format!("{all:?}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Policy;

    #[test]
    fn changes_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::create_dir(at("empty")).unwrap();
        for (name, text) in
            [("a/x.rs", "one"), ("a/b/y.rs", "two"), (".gitignore", "*.log\n"), ("a/z.log", "")]
        {
            fs::write(at(name), text).unwrap();
        }
        let roots = Roots::open(&[folder.path().to_owned()], Policy::standard()).unwrap();
        // Until the clock has ticked.
        let look = || loop {
            let tree = tree(&roots, &StopSignal::never()).unwrap();
            let stamps = |folder: &Folder| {
                let files = folder.files.iter().chain(&folder.rules).map(|(_, stamp)| *stamp);
                files.chain([folder.stamp]).all(|stamp| stamp != Stamp::UNSURE)
            };
            if tree.iter().all(stamps) {
                return tree;
            }
        };
        let since = |known: &[Folder]| changes(&roots, known, &StopSignal::never()).unwrap();
        let known = look();
        let names: Vec<(&str, Vec<&str>)> = known
            .iter()
            .map(|folder| {
                (folder.path.as_str(), folder.files.iter().map(|(name, _)| name.as_str()).collect())
            })
            .collect();
        assert_eq!(
            names,
            [("", vec![".gitignore"]), ("a", vec!["x.rs"]), ("a/b", vec!["y.rs"]), ("empty", vec![])]
        );
        assert_eq!(since(&known), Changes::default());

        fs::write(at("a/b/y.rs"), "TWO").unwrap();
        assert_eq!(since(&known), Changes { structure: false, files: vec![(2, 0)] });
        let known = look();
        fs::write(at("empty/new.rs"), "").unwrap();
        assert!(since(&known).structure);
        let known = look();
        fs::write(at(".gitignore"), "*.txt\n").unwrap();
        assert!(since(&known).structure);
        let known = look();
        fs::remove_file(at("a/x.rs")).unwrap();
        assert!(since(&known).structure);
        let known = look();
        fs::remove_dir_all(at("a")).unwrap();
        assert!(since(&known).structure);
    }

    #[test]
    fn a_stamp_is_sure_when_the_clock_has_ticked() {
        const SECOND: i64 = 1_000_000_000;
        let stamp = |changed| Stamp { inode: 1, size: 1, changed };
        let now = 1_000 * SECOND;
        for (changed, sure) in [
            (now + 1, false),
            (now - TICK / 2 - 1, false),
            (now - TICK - 1, true),
            // File systems with a resolution of seconds show the same time for two more.
            (now - SECOND, false),
            (now - 2 * SECOND, false),
            (now - 3 * SECOND, true),
        ] {
            let expected = if sure { stamp(changed) } else { Stamp::UNSURE };
            assert_eq!(stamp(changed).if_sure(now), expected, "{changed}");
        }
    }

    #[test]
    fn rules_from_above_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let code = folder.path().join("a/code");
        fs::create_dir_all(&code).unwrap();
        let roots = Roots::open(&[code], Policy::standard()).unwrap();
        // Until the clock has ticked.
        let settled = || loop {
            if let Some(rules) = outer_rules(&roots) {
                return rules;
            }
        };
        let mut before = settled();
        for (name, text) in [
            (".gitignore", "*.log"),
            (".gitignore", "*.txt"),
            // Rules apply up to the repository.
            (".git", "gitdir: elsewhere"),
            ("a/.ignore", "*.rs"),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
            assert_ne!(outer_rules(&roots).as_ref(), Some(&before), "{name}");
            let after = settled();
            assert_ne!(after, before, "{name}");
            before = after;
        }
        assert_eq!(settled(), before);
    }

    #[test]
    fn a_folder_that_can_be_opened_again_is_noticed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let closed = folder.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("a.rs"), "").unwrap();
        let allow = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
        allow(0o000);
        if fs::read_dir(&closed).is_ok() {
            // Root can open everything.
            return;
        }
        let roots = Roots::open(&[folder.path().to_owned()], Policy::standard()).unwrap();
        let since = |known: &[Folder]| changes(&roots, known, &StopSignal::never()).unwrap();
        let known = loop {
            let known = tree(&roots, &StopSignal::never()).unwrap();
            if since(&known) == Changes::default() {
                break known;
            }
        };
        assert_eq!(known.len(), 2);
        allow(0o700);
        assert!(since(&known).structure);
    }
}
