//! The files of a codebase: which may be read, and reading, walking and searching them within bounds.
//!
//! [`Roots`] are the folders that may be read. Whatever paths and links say, nothing outside of them is opened, and files in
//! which secrets are kept are left out. [`search`], [`glob`] and [`list`] return bounded results in a fixed order; [`scan`]
//! passes every text file to a function. A [`StopSignal`] ends each of them early.
//!
//! [`read_file`] reads any one file of the machine, for a tool that is not bound to roots: it never waits for a FIFO or a
//! device, and never takes more memory than [`LARGEST_FILE`].
//!
//! [`FileSearch`] searches any files as ripgrep does, for a person at a terminal.
//!
//! Never: writing a file, or running a program.
//!
//! Walks use threads and a work queue of their own. rayon was tried: over 18,600 files the time was the same and the
//! instructions 0.6 % more, and one shared pool can neither cap a walk at the number of threads that a disk serves, nor leave
//! half of the cores free while an index is written.

mod errors;
mod file_patterns;
mod file_search;
mod glob;
mod ignore_rules;
mod list;
mod open;
mod policy;
mod queue;
mod read;
mod roots;
mod search;
mod search_worker;
mod secret_names;
mod stamps;
mod stop_signal;
mod system_folders;
mod threads;
mod unread;
mod walk;
mod working_folder;

pub use errors::{AccessError, RootError};
pub use file_search::{FileSearch, FileSearchError, FoundFile, FoundLine, UnsearchedPath};
pub use glob::{GlobError, GlobMatches, glob};
pub use list::{Entry, EntryKind, Listing, list};
pub use policy::{LARGEST_SEARCHED, PatternError, Policy};
pub use read::{LARGEST_FILE, ReadError, read_file};
pub use roots::{RootedPath, Roots};
pub use search::{Case, FileMatches, Line, Matches, Search, SearchError, SearchMode, search};
pub use stamps::{Changes, Folder, Stamp, changes, outer_rules, tree};
pub use stop_signal::{StopSignal, Stopped};
pub use threads::{cores, in_parallel};
pub use unread::{UnreadFile, UnreadReason, unread_files};
pub use walk::{files, is_binary, scan};
pub use working_folder::WorkingFolder;
