//! What the tools do to the machine: reading files and running programs, within bounds.
//!
//! Reading never blocks for ever and never takes more memory than it may. A program runs in a process group of its
//! own, and the whole group ends with whoever asked for it: when the call is cancelled, when this process ends in
//! good order, and, by way of a [warden](run_warden), when it is killed.
//!
//! Reading for research is another matter: it stays below its [`Roots`], whatever paths and links say, and passes by where
//! secrets are kept. [`search`], [`glob`] and [`list`] answer in bounds and in order; [`scan`] hands on every text file.
//!
//! Deliberately missing: containment of commands. Whoever may run one may do anything; a check of paths would only
//! pretend otherwise.

mod access;
mod below;
mod command;
mod errors;
mod folder;
mod glob;
mod groups;
mod halt;
mod list;
mod matching;
mod policy;
mod queue;
mod read;
mod roots;
mod rules;
mod running;
mod search;
mod secrets;
mod system;
mod threads;
mod tree;
mod walk;
mod wanted;
mod warden;

pub use access::{AccessError, RootError};
pub use command::{Ended, RunError, Shell, bash, grep};
pub use folder::WorkingFolder;
pub use glob::{Found, GlobError, glob};
pub use groups::Children;
pub use halt::{Halt, Halted};
pub use list::{Entry, EntryKind, Listing, list};
pub use policy::{LARGEST_SEARCHED, PatternError, Policy};
pub use read::{LARGEST_FILE, ReadError, read_file};
pub use roots::{Place, Roots};
pub use running::LARGEST_OUTPUT;
pub use search::{Case, FileMatches, Line, Matches, Search, SearchError, Want, search};
pub use threads::{cores, on_threads};
pub use tree::{Changes, Folder, Stamp, changes, outer_rules, tree};
pub use walk::{files, is_binary, scan};
pub use warden::{WARDEN_ARGUMENT, WardenProgram, run_warden};
