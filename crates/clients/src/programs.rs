//! Finding programs on PATH.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The first program of this name in the folders of `path`, which is PATH's value.
pub fn find_program(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?)
        // To a shell an empty entry is the current folder, where an attacker could have put a program.
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|candidate| is_program(candidate))
}

/// Whether this is a file that may be executed.
pub fn is_program(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
}
