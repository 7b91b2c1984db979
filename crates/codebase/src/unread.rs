//! Which files of the roots a scan does not read, and why: where nothing is found, the reader must know where nobody looked.

use parking_lot::Mutex;

use crate::walk::{CHECKED_BYTES, LeftOut, is_binary, walk_noting_left_out};
use crate::{AccessError, RootedPath, Roots, StopSignal, Stopped};

/// A file that a scan does not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnreadFile {
    pub reason: UnreadReason,
    /// A folder that is not read ends with a `/`.
    pub place: RootedPath,
}

/// Why a file is not read. What may matter most comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnreadReason {
    TooLarge,
    /// It usually holds secrets, or a setting denies it.
    Denied,
    /// The operating system does not allow it.
    Unreadable,
    /// What is not UTF-8 in its name is replaced.
    Unnamed,
    Binary,
}

impl UnreadReason {
    pub fn name(self) -> &'static str {
        match self {
            UnreadReason::TooLarge => "too large",
            UnreadReason::Denied => "denied",
            UnreadReason::Unreadable => "unreadable",
            UnreadReason::Unnamed => "name is not UTF-8",
            UnreadReason::Binary => "binary",
        }
    }
}

/// The files that a scan skips, in order. `is_read` must be true for those that it has read.
pub fn unread_files(
    roots: &Roots,
    is_read: impl Fn(&RootedPath) -> bool + Sync,
    stop: &StopSignal,
) -> Result<Vec<UnreadFile>, Stopped> {
    let left_out = Mutex::new(LeftOut::default());
    let limit = roots.policy().largest_searched;
    let lists = walk_noting_left_out(roots, stop, &left_out, |list: &mut Vec<UnreadFile>, place| {
        if is_read(&place) {
            return;
        }
        let reason = match roots.beginning_of(&place, CHECKED_BYTES) {
            Ok((bytes, _)) if bytes > limit => UnreadReason::TooLarge,
            Ok((_, beginning)) if is_binary(&beginning) => UnreadReason::Binary,
            // It came after the scan.
            Ok(_) => return,
            Err(AccessError::System { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => return,
            Err(_) => UnreadReason::Unreadable,
        };
        list.push(UnreadFile { reason, place });
    })?;
    let LeftOut { denied, unnamed } = left_out.into_inner();
    let denied = denied.into_iter().map(|place| UnreadFile { reason: UnreadReason::Denied, place });
    let unnamed = unnamed.into_iter().map(|place| UnreadFile { reason: UnreadReason::Unnamed, place });
    let mut all: Vec<UnreadFile> = lists.into_iter().flatten().chain(denied).chain(unnamed).collect();
    all.sort_unstable();
    Ok(all)
}
