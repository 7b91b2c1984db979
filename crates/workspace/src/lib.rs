//! What the tools do to the machine: reading files and running programs, within bounds.
//!
//! Reading never blocks for ever and never takes more memory than it may. A program runs in a process group of its
//! own, and the whole group ends with whoever asked for it: when the call is cancelled, when this process ends in
//! good order, and, by way of a [warden](run_warden), when it is killed.
//!
//! Deliberately missing: containment. Whoever may call these may run any command; a check of paths would only
//! pretend otherwise.

mod command;
mod errors;
mod folder;
mod groups;
mod read;
mod running;
mod warden;

pub use command::{Ended, RunError, Shell, bash, grep};
pub use folder::WorkingFolder;
pub use groups::Children;
pub use read::{LARGEST_FILE, ReadError, read_file};
pub use running::LARGEST_OUTPUT;
pub use warden::{WARDEN_ARGUMENT, WardenProgram, run_warden};
