//! The folder that relative paths start from and that commands run in.

use std::io;
use std::path::{Component, Path, PathBuf};

/// Where the caller works. Absolute, though it need not exist: whoever uses it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkingFolder(PathBuf);

impl WorkingFolder {
    /// This folder; a relative one is taken from where the process runs.
    pub fn at(folder: impl AsRef<Path>) -> io::Result<WorkingFolder> {
        let folder = folder.as_ref();
        if folder.is_absolute() {
            return Ok(WorkingFolder(folder.to_owned()));
        }
        Ok(WorkingFolder(resolved(&std::env::current_dir()?, folder)))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The file that a caller means. An absolute path is taken as it is. In a relative one `..` takes a name away,
    /// whatever that name stands for, as Node's `path.resolve` has it; no file is looked at.
    pub fn resolve(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        if path.is_absolute() { path.to_owned() } else { resolved(&self.0, path) }
    }
}

fn resolved(base: &Path, path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for component in base.components().chain(path.components()) {
        match component {
            Component::CurDir => {}
            // At the root it stays there.
            Component::ParentDir => drop(whole.pop()),
            other => whole.push(other),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_resolve_as_in_node() {
        let folder = WorkingFolder::at("/place/link").unwrap();
        for (path, meant) in [
            ("a.rs", "/place/link/a.rs"),
            ("./a/../b.rs", "/place/link/b.rs"),
            ("../b", "/place/b"),
            ("../../../../b", "/b"),
            ("", "/place/link"),
            (".", "/place/link"),
            ("a//b/", "/place/link/a/b"),
            ("/etc/../x", "/etc/../x"),
            ("~/x", "/place/link/~/x"),
            (" a ", "/place/link/ a "),
        ] {
            assert_eq!(folder.resolve(path).as_os_str(), meant, "{path:?}");
        }
    }

    #[test]
    fn a_relative_folder_starts_where_the_process_runs() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(WorkingFolder::at("src/..").unwrap().path(), here);
    }
}
