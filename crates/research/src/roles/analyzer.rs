//! To be written.

use tamis_workspace::Halt;

use super::Job;
use crate::{Fault, FaultKind, Finding};

pub(crate) fn run(_job: &Job, _halt: &Halt) -> Result<Finding, Fault> {
    Err(Fault::new(FaultKind::Internal, "not there yet"))
}
