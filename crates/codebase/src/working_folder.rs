//! The folder that relative paths start from and that commands run in.

use std::io;
use std::path::{Component, Path, PathBuf};

/// The folder that relative paths start from. Absolute; it need not exist, in which case using it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkingFolder(PathBuf);

impl WorkingFolder {
    /// A relative folder is resolved against the folder of this process.
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

    /// Resolves a path as Node's `path.resolve` does: an absolute path stays as it is, and in a relative one `..` removes the
    /// name before it, even if that is a link. No file is accessed.
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
            // The parent of the root is the root.
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
    fn a_relative_folder_starts_at_the_folder_of_the_process() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(WorkingFolder::at("src/..").unwrap().path(), here);
    }
}
