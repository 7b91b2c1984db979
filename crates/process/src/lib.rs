//! Child processes, within bounds.
//!
//! A [`Program`] runs in a process group of its own, with limits of time and output. [`Program::run`] blocks;
//! [`ProcessGroups::run`] is async, can be cancelled, and remembers the group: it ends with the call, with this process
//! ([`ProcessGroups::end_all`]), and, with a [warden](run_warden), when this process is killed. [`ProcessGroups::start`] is
//! for a program that runs as long as this process does.
//!
//! An agent in `tamis run` has a [minder](run_minder) as its parent, which ends whatever the agent started, in whatever
//! process group. [`Process`] finds processes that are not our children.
//!
//! Never: an incomplete output that is not marked as such; a shell where none was requested; restricting what a
//! command may do. A caller that may run a command may do anything, and checking its paths would only pretend otherwise.

mod canceller;
mod descendants;
mod errno;
mod groups;
mod minder;
mod pipe;
mod processes;
mod program;
mod run;
mod running;
mod warden;

pub use canceller::Canceller;
pub use descendants::{adopt_orphans, end_descendants};
pub use errno::errno_text;
pub use groups::ProcessGroups;
pub use minder::{MinderError, MinderOrder, TERMINATION_GRACE_PERIOD, run_minder};
pub use processes::{Process, descendants_of, terminate};
pub use program::{Program, ProgramError, ProgramOutput};
pub use running::{ProgramPipes, RunningProgram};
pub use warden::{WARDEN_ARGUMENT, WardenProgram, run_warden};
