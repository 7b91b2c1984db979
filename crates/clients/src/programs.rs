//! Finding programs as a shell would.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The first program of this name in the folders of `path`, which is PATH's value.
pub fn find_program(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?)
        // An empty entry means the working directory to a shell, and to whoever put a trap there.
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|candidate| is_program(candidate))
}

/// Whether this is a file that may be executed.
pub fn is_program(path: &Path) -> bool {
    let Ok(about) = path.metadata() else { return false };
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let executable = true;
    about.is_file() && executable
}
