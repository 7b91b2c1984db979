//! A program that runs beside this process and talks to it through pipes, until one of the two ends.

use std::io;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus};

use rustix::process::Pid;

use crate::groups::{ProcessGroup, ProcessGroups};
use crate::{Program, ProgramError};

/// A program that was started with [`ProcessGroups::start`]. It ends with [`ProcessGroups::end_all`], if not by itself.
pub struct RunningProgram {
    child: Child,
    group: ProcessGroup,
}

/// Our ends of its pipes.
pub struct ProgramPipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
}

impl ProcessGroups {
    /// Starts a program without waiting for its end. Its stderr is that of this process. Limits and given input do not apply.
    pub fn start(&self, mut program: Program) -> Result<(RunningProgram, ProgramPipes), ProgramError> {
        let mut child = program.spawn_with_pipes()?;
        let group = self.enter(Pid::from_child(&child));
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(ProgramError::Output { cause: io::ErrorKind::BrokenPipe.into() });
        };
        Ok((RunningProgram { child, group }, ProgramPipes { stdin, stdout }))
    }
}

impl RunningProgram {
    /// Waits for its end. Processes that it left in its group may live on until [`ProcessGroups::end_all`].
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait();
        self.group.leader_was_collected();
        status
    }
}
