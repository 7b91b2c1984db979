//! Finding the logs.
//!
//! The clients' own folders are known; any other file or folder can be named. The client of a log is detected from its content (see
//! [`crate::detection`]), since logs are copied, exported and kept anywhere.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tamis_clients::Client;

use crate::readers::opencode;

/// Folders of folders; deeper ones are not looked into.
const DEEPEST: usize = 16;

/// Where to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogLocations {
    /// Folders, or single files, that may hold logs of any client.
    pub logs: Vec<PathBuf>,
    /// OpenCode's own data folders.
    pub opencode: Vec<PathBuf>,
}

impl LogLocations {
    /// The clients' own folders, by their environment variables and defaults.
    pub fn of_clients(variable: impl Fn(&str) -> Option<OsString>, home: Option<&Path>) -> LogLocations {
        let mut locations = LogLocations::default();
        for client in Client::ALL {
            let folders = client.log_folders(&variable, home);
            match client {
                Client::OpenCode => locations.opencode.extend(folders),
                Client::ClaudeCode | Client::Codex | Client::Gemini => locations.logs.extend(folders),
            }
        }
        locations
    }

    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.logs.iter().chain(&self.opencode)
    }

    /// Only these files and folders.
    pub fn only(paths: Vec<PathBuf>) -> LogLocations {
        LogLocations { logs: paths, opencode: Vec::new() }
    }
}

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines that only grow.
    Lines(Client),
    /// A file that is read whole.
    Document(Client),
    /// One of several sessions in a database or folder.
    Collection(Client),
    /// No known one.
    Unknown,
}

impl LogFormat {
    pub fn name(self) -> String {
        match self {
            LogFormat::Lines(provider) => format!("lines/{}", provider.id()),
            LogFormat::Document(provider) => format!("document/{}", provider.id()),
            LogFormat::Collection(provider) => format!("collection/{}", provider.id()),
            LogFormat::Unknown => "unknown".to_owned(),
        }
    }

    pub fn named(name: &str) -> LogFormat {
        let Some((form, provider)) = name.split_once('/') else { return LogFormat::Unknown };
        match (form, Client::with_id(provider)) {
            ("lines", Some(provider)) => LogFormat::Lines(provider),
            ("document", Some(provider)) => LogFormat::Document(provider),
            ("collection", Some(provider)) => LogFormat::Collection(provider),
            _ => LogFormat::Unknown,
        }
    }

    pub fn provider(self) -> Option<Client> {
        match self {
            LogFormat::Lines(provider) | LogFormat::Document(provider) | LogFormat::Collection(provider) => {
                Some(provider)
            }
            LogFormat::Unknown => None,
        }
    }
}

/// One session's log, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSource {
    /// UTF-8, since it is shown.
    pub path: String,
    /// Which of several sessions there; empty when it is the only one.
    pub part: String,
    pub stamp: LogStamp,
}

impl LogSource {
    /// The file, and which of several sessions there.
    pub fn name(&self) -> String {
        if self.part.is_empty() { self.path.clone() } else { format!("{}#{}", self.path, self.part) }
    }
}

/// By which a change is noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogStamp {
    pub size: u64,
    /// Nanoseconds since 1970, or a collection's own count.
    pub changed: i64,
    pub file: u64,
}

impl LogStamp {
    pub fn of(metadata: &fs::Metadata) -> LogStamp {
        // The time of the inode, since tools that copy files set the content's time back.
        let seconds = metadata.ctime().saturating_mul(1_000_000_000);
        let changed = seconds.saturating_add(metadata.ctime_nsec());
        LogStamp { size: metadata.len(), changed, file: metadata.ino() }
    }
}

/// What was found, and what could not be read.
#[derive(Debug, Default)]
pub struct DiscoveredLogs {
    pub sources: Vec<LogSource>,
    pub problems: Vec<String>,
    /// By device and file number: a file may have several names.
    files: BTreeMap<(u64, u64), FoundFile>,
    /// Databases and folders with many sessions each.
    stores: Vec<PathBuf>,
}

/// A file under the name by which it is read: its own rather than that of a link to it, and then the first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FoundFile {
    is_link: bool,
    path: PathBuf,
    stamp: LogStamp,
}

/// Looks for logs. A missing folder is not an error.
pub fn discover(locations: &LogLocations) -> DiscoveredLogs {
    let mut found = DiscoveredLogs::default();
    for place in &locations.logs {
        match fs::metadata(place) {
            Ok(metadata) if metadata.is_dir() => walk(place, DEEPEST, &mut found),
            Ok(metadata) => found.file(place, &metadata, place.is_symlink()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => found.problems.push(format!("{}: {error}", place.display())),
        }
    }
    for place in &locations.opencode {
        found.stores.extend(opencode::stores(place));
    }
    for file in std::mem::take(&mut found.files).into_values() {
        found.source(&file.path, String::new(), file.stamp);
    }
    found.list_stores();
    found.sources.sort_by(|one, other| (&one.path, &one.part).cmp(&(&other.path, &other.part)));
    found.sources.dedup_by(|one, other| one.path == other.path && one.part == other.part);
    found.leave_out_twins();
    found
}

fn walk(folder: &Path, deepest: usize, found: &mut DiscoveredLogs) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return found.problems.push(format!("{}: {error}", folder.display())),
    };
    if opencode::is_storage(folder) {
        return found.stores.push(folder.to_owned());
    }
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            if deepest > 0 {
                walk(&entry.path(), deepest - 1, found);
            } else {
                found.problems.push(format!("{}: it is nested too deep", entry.path().display()));
            }
        } else if opencode::is_database(&entry.path()) {
            found.stores.push(entry.path());
        } else if may_be_log(&entry.file_name().to_string_lossy()) {
            // A link to a folder is not followed: it may lead in a circle.
            let path = entry.path();
            if let Ok(metadata) = if kind.is_symlink() { fs::metadata(&path) } else { entry.metadata() } {
                found.file(&path, &metadata, kind.is_symlink());
            }
        }
    }
}

fn may_be_log(name: &str) -> bool {
    let ends = |suffix: &str| name.ends_with(suffix);
    ends(".jsonl") || ends(".jsonl.zst") || (ends(".json") && !ends(".meta.json"))
}

impl DiscoveredLogs {
    fn file(&mut self, path: &Path, metadata: &fs::Metadata, is_link: bool) {
        if !metadata.is_file() {
            return;
        }
        let file = FoundFile { is_link, path: path.to_owned(), stamp: LogStamp::of(metadata) };
        match self.files.entry((metadata.dev(), metadata.ino())) {
            Entry::Occupied(mut known) if file < *known.get() => drop(known.insert(file)),
            Entry::Occupied(_) => {}
            Entry::Vacant(place) => drop(place.insert(file)),
        }
    }

    fn source(&mut self, path: &Path, part: String, stamp: LogStamp) {
        match path.to_str() {
            Some(path) => self.sources.push(LogSource { path: path.to_owned(), part, stamp }),
            None => self.problems.push(format!("{}: its name is not UTF-8", path.display())),
        }
    }

    /// A log that is there both plain and compressed is one log: its client is at work on one of the two, and only the plain one
    /// is ever written to.
    fn leave_out_twins(&mut self) {
        let plain: HashSet<String> = self.sources.iter().map(|source| source.path.clone()).collect();
        self.sources
            .retain(|source| source.path.strip_suffix(".zst").is_none_or(|path| !plain.contains(path)));
    }

    fn list_stores(&mut self) {
        // What the client copied from its older storage into a database is the database's.
        self.stores.sort_by_key(|store| (store.is_dir(), store.clone()));
        self.stores.dedup();
        let (sessions, errors) = opencode::sessions_of(&self.stores);
        for (store, listed) in sessions {
            let stamp = LogStamp { size: 0, changed: listed.stamp as i64, file: 0 };
            self.source(&store, listed.id, stamp);
        }
        self.problems.extend(errors.iter().map(|error| match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        }));
    }
}
