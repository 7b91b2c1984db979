//! A private configuration for a repository: git reads it in the place of the repository's own, which it never opens.
//!
//! The configuration is read once, judged ([`keys`](crate::keys)), and written to a folder that only tamis writes to. There git
//! looks for what worktrees share (`GIT_COMMON_DIR`); the repository's objects and references are links from it. So it does not
//! matter what is written to `.git/config` while git starts, and git finds no hooks, no `info/attributes`, no `info/exclude`
//! and no grafts at all.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tamis_store::{create_private_dir, private_file};

use crate::config::{self, ConfigEntry};
use crate::discovery::{Place, read_bounded};
use crate::error::{GitError, GitErrorKind, Result};
use crate::keys::{self, Verdict};
use crate::{Git, trust};

/// A larger file is not a configuration.
const LARGEST_FILE: u64 = 1 << 20;

/// What the private folder links to. Hooks, `info`, `remotes` and `branches` are left out.
const LINKED: &[&str] = &["objects", "refs", "reftable", "worktrees", "shallow", "lfs"];

/// What the variables of `http` begin with that decide which servers a secured connection trusts.
const LOOSENING: &[&str] = &["ssl", "proxyssl", "schannel", "curloptresolve", "pinnedpubkey"];

/// A repository's configuration, as far as it is used.
#[derive(Clone, Debug)]
pub(crate) struct Configuration {
    kept: Vec<ConfigEntry>,
    /// Keys that were left out, and that decide which servers a secured connection trusts.
    pub(crate) loosening: Vec<String>,
    /// Keys that were left out, and that decide how a remote is reached.
    pub(crate) unused_for_remotes: Vec<String>,
    /// Remotes that are reached through a program which the configuration names.
    foreign_remotes: Vec<Vec<u8>>,
    /// `core.worktree`.
    pub(crate) work_tree: Option<PathBuf>,
    pub(crate) is_bare: bool,
    pub(crate) has_worktree_config: bool,
}

impl Configuration {
    /// Reads and judges the configuration of a repository. What a linked worktree adds for itself is not read.
    pub(crate) fn read(place: &Place) -> Result<Configuration> {
        let mut entries = read_file(&place.common_dir.join("config"))?;
        let has_worktree_config = is_on(&entries, "extensions", "worktreeconfig");
        if has_worktree_config {
            entries.extend(read_file(&place.common_dir.join("config.worktree"))?);
        }
        let last = |section: &str, variable: &str| {
            entries.iter().rfind(|entry| entry.is(section, variable)).and_then(|entry| entry.value.as_deref())
        };
        let is_old_format = last("core", "repositoryformatversion").is_none_or(|version| version == b"0");
        let work_tree = last("core", "worktree").map(path_of);
        let is_bare = is_on(&entries, "core", "bare");
        let (mut loosening, mut foreign_remotes) = (Vec::new(), Vec::new());
        let mut unused_for_remotes = Vec::new();
        for entry in &entries {
            if entry.is("remote", "vcs") {
                foreign_remotes.extend(entry.subsection.clone());
            }
            if entry.is("core", "sshcommand")
                || ["http", "credential", "ssh"].contains(&entry.section.as_str())
            {
                unused_for_remotes.push(entry.key());
            }
            if entry.section == "http" && LOOSENING.iter().any(|start| entry.variable.starts_with(start)) {
                loosening.push(entry.key());
            }
            match keys::verdict(&entry.section, &entry.variable) {
                Some((Verdict::Keep(_), _)) if entry.is_kept() => {}
                _ if entry.section == "extensions"
                    && !entry.is("extensions", "worktreeconfig")
                    && !is_old_format =>
                {
                    return Err(unsupported(place, entry));
                }
                _ => {}
            }
        }
        entries.retain(ConfigEntry::is_kept);
        Ok(Configuration {
            kept: entries,
            loosening,
            unused_for_remotes,
            foreign_remotes,
            work_tree,
            is_bare,
            has_worktree_config,
        })
    }

    /// The last of a key's values.
    pub(crate) fn is_on(&self, section: &str, variable: &str) -> bool {
        is_on(&self.kept, section, variable)
    }

    /// Whether a remote is reached through a program, whatever its address.
    pub(crate) fn is_foreign(&self, remote: &str) -> bool {
        self.foreign_remotes.iter().any(|name| name == remote.as_bytes())
    }

    /// Whether git fetches what it misses.
    pub(crate) fn is_partial(&self) -> bool {
        self.kept.iter().any(|entry| entry.is("extensions", "partialclone") || entry.is("remote", "promisor"))
    }

    /// The lines about a sparse checkout, for a worktree that is to have the same.
    pub(crate) fn sparse(&self) -> Vec<u8> {
        let sparse = |entry: &&ConfigEntry| {
            entry.is("core", "sparsecheckout")
                || entry.is("core", "sparsecheckoutcone")
                || entry.is("index", "sparse")
        };
        config::render(self.kept.iter().filter(sparse))
    }
}

fn is_on(entries: &[ConfigEntry], section: &str, variable: &str) -> bool {
    entries.iter().rfind(|entry| entry.is(section, variable)).is_some_and(ConfigEntry::is_on)
}

fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

fn unsupported(place: &Place, entry: &ConfigEntry) -> GitError {
    let value = String::from_utf8_lossy(entry.value.as_deref().unwrap_or(b"true")).into_owned();
    GitError::new(
        GitErrorKind::Failed,
        format!(
            "the repository {} has the extension `{} = {}`, which is not supported",
            place.folder.display(),
            entry.key().escape_debug(),
            value.escape_debug()
        ),
    )
}

fn read_file(path: &Path) -> Result<Vec<ConfigEntry>> {
    let bytes = match read_bounded(path, LARGEST_FILE) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        bytes => bytes.map_err(|error| GitError::file("read", path, &error))?,
    };
    config::parse(&bytes).map_err(|line| {
        let why = format!("cannot use the configuration {}: line {line} is not understood", path.display());
        GitError::new(GitErrorKind::Failed, why)
            .hint(format!("see what git makes of it: git config --file '{}' --list", path.display()))
    })
}

/// The private folder, which is removed when dropped.
#[derive(Debug)]
pub(crate) struct View {
    folder: PathBuf,
}

impl View {
    /// Writes the private folder of a repository, with these settings besides the kept ones.
    pub(crate) fn create(
        git: &Git,
        common_dir: &Path,
        configuration: &Configuration,
        more: &[ConfigEntry],
    ) -> Result<View> {
        let folder = git.scratch_path("view")?;
        let view = View { folder };
        create_private_dir(&view.folder)
            .map_err(|error| GitError::file("make the folder", &view.folder, &error))?;
        for name in LINKED {
            let (target, link) = (common_dir.join(name), view.folder.join(name));
            // A link of the repository's would lead on to anywhere. The folder of worktrees may come later.
            if fs::symlink_metadata(&target).map_or(*name == "worktrees", |about| !about.is_symlink()) {
                symlink(&target, &link).map_err(|error| GitError::file("link", &link, &error))?;
            }
        }
        // By it a local remote knows which branch it has checked out.
        if let Ok(head) = read_bounded(&common_dir.join("HEAD"), LARGEST_FILE) {
            let file = view.folder.join("HEAD");
            fs::write(&file, head).map_err(|error| GitError::file("write", &file, &error))?;
        }
        let file = view.folder.join("config");
        let mut entries = configuration.kept.clone();
        entries.extend(trust::settings(&view.folder));
        entries.extend_from_slice(more);
        let write = || -> std::io::Result<()> {
            let mut open = private_file();
            std::io::Write::write_all(
                &mut open.write(true).create_new(true).open(&file)?,
                &config::render(&entries),
            )
        };
        write().map_err(|error| GitError::file("write", &file, &error))?;
        Ok(view)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // Links are removed, not followed. What stays is removed with the scratch folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
