//! Reading and replacing a client's configuration file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::{DocumentError, SetupError};

/// The largest configuration file that is read. Claude Code's holds past prompts and may have several MB.
const LARGEST: u64 = 32 * 1024 * 1024;
/// As many links as the system follows.
const MOST_LINKS: usize = 40;

/// The file itself: a dotfile manager may have made it or its folder a link, which stays one, whether its target exists or not.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    resolve_links(path, MOST_LINKS)
}

fn resolve_links(path: &Path, links: usize) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    match fs::read_link(path) {
        Ok(target) if links > 0 => resolve_links(&folder.join(target), links - 1),
        _ => resolve_links(folder, links).join(name),
    }
}

/// The file's text; none if there is no file.
pub(crate) fn read(path: &Path) -> Result<Option<String>, SetupError> {
    let failed = |source| SetupError::Read { path: path.to_owned(), source };
    match fs::metadata(path) {
        // Opening a pipe would wait for its writer.
        Ok(about) if !about.is_file() => return Err(SetupError::NotAFile { path: path.to_owned() }),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(SetupError::TooLarge { path: path.to_owned(), limit: LARGEST });
    }
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| SetupError::Document { path: path.to_owned(), source: DocumentError::NotText })
}

/// Replaces the file in one step, or deletes it, if it still has the text `before`. A new file of the user is private: clients
/// keep keys in such files.
pub(crate) fn replace(
    path: &Path,
    before: Option<&str>,
    after: Option<&str>,
    is_private: bool,
) -> Result<(), SetupError> {
    let failed = |source| SetupError::Write { path: path.to_owned(), source };
    let check = || match read(path)?.as_deref() == before {
        true => Ok(()),
        false => Err(SetupError::Raced { path: path.to_owned() }),
    };
    let Some(text) = after else {
        check()?;
        return fs::remove_file(path).map_err(failed);
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let draft = folder.join(format!(".tamis-setup.{}.new", std::process::id()));
    let written = write(&draft, path, text, is_private).map_err(failed).and_then(|()| {
        check()?;
        fs::rename(&draft, path).map_err(failed)
    });
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write(draft: &Path, path: &Path, text: &str, is_private: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(if is_private { 0o600 } else { 0o666 });
    let mut file: File = options.open(draft)?;
    if let Ok(about) = fs::metadata(path) {
        file.set_permissions(about.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// The folders of this path that do not exist yet, the innermost first.
pub(crate) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
}

/// Removes those of these folders that are empty.
pub(crate) fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}
