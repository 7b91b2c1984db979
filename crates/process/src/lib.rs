//! Child processes, within bounds.
//!
//! A program runs in a process group of its own, and the whole group ends with the call that started it: when the call is
//! cancelled, when this process ends in good order, and, with a [warden](run_warden), when it is killed.
//!
//! Entry points: [`Children::run`] runs a [`Shell`]; [`Children::end_all`] ends what is left at the end of this process.
//!
//! Never: a restriction of what a command may do. A caller that may run one may do anything; checking paths would only
//! pretend otherwise.

mod command;
mod errors;
mod groups;
mod running;
mod warden;

pub use command::{Ended, RunError, Shell, bash, grep};
pub use errors::words;
pub use groups::Children;
pub use running::LARGEST_OUTPUT;
pub use warden::{WARDEN_ARGUMENT, WardenProgram, run_warden};
