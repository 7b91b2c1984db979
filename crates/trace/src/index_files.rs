//! The index's files: listing and removing them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tamis_logs::readers::hex_sha256;
use tamis_store::{DataDir, Lock};

use crate::db;
use crate::error::TraceError;

/// The folder with the indexes of logs that were named on the command line, one index for each set of logs. They are apart so
/// that they never replace the index of the clients' own folders.
const NAMED: &str = "trace-logs";
const LOCK: &str = "trace.lock";

/// The data folder of the index for just these logs.
pub fn index_of_named(data_dir: &DataDir, paths: &[PathBuf]) -> DataDir {
    let names: Vec<String> = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let hash = hex_sha256(&names.join("\0"));
    DataDir::at(data_dir.root().join(NAMED).join(&hash[..16]))
}

/// Every file of an index under a data folder, with its size.
pub fn index_files(data_dir: &DataDir) -> io::Result<Vec<(PathBuf, u64)>> {
    let mut files = Vec::new();
    for folder in folders(data_dir)? {
        for entry in entries(&folder)? {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("trace-v") && name.contains(".db") {
                files.push((entry.path(), entry.metadata().map_or(0, |metadata| metadata.len())));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Removes every index under a data folder and returns how many bytes that were. An index can be rebuilt from the logs.
pub fn erase_indexes(data_dir: &DataDir) -> Result<u64, TraceError> {
    let mut erased = 0;
    let failed = |path: &Path, source| TraceError::DataDir { path: path.to_owned(), source };
    // A process that is writing an index would go on writing to an unlinked file, so all locks are held until all are gone.
    let mut locks = Vec::new();
    for folder in folders(data_dir).map_err(|error| failed(data_dir.root(), error))? {
        match Lock::try_acquire(&folder.join(LOCK)).map_err(|error| failed(&folder, error))? {
            Some(lock) => locks.push(lock),
            None => return Err(TraceError::Busy { path: folder }),
        }
    }
    for (path, size) in index_files(data_dir).map_err(|error| failed(data_dir.root(), error))? {
        match fs::remove_file(&path) {
            Ok(()) => erased += size,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&path, error)),
        }
    }
    let named = data_dir.root().join(NAMED);
    let removed = fs::remove_dir_all(&named);
    drop(locks);
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&named, error)),
        _ => Ok(erased),
    }
}

/// Removes the indexes of earlier versions of tamis from a folder: they are not read any more.
pub(crate) fn remove_outdated(folder: &Path) {
    for entry in entries(folder).unwrap_or_default() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let version = name.strip_prefix("trace-v").and_then(|rest| rest.split_once(".db"));
        let version: Option<u32> = version.and_then(|(version, _)| version.parse().ok());
        if version.is_some_and(|version| version < db::VERSION) {
            // One that stays is removed the next time.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The folders that may hold an index.
fn folders(data_dir: &DataDir) -> io::Result<Vec<PathBuf>> {
    let mut folders = vec![data_dir.root().to_owned()];
    for entry in entries(&data_dir.root().join(NAMED))? {
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.retain(|folder| folder.is_dir());
    Ok(folders)
}

fn entries(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
