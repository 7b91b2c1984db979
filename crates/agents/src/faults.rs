//! Named points at which tests let the coordinator die, or hold it while something else dies.
//!
//! They are in debug builds only, and do nothing unless `TAMIS_FAULT` names one: `request_review.reserved=kill` ends the
//! process there as `kill -9` would; `…=hold:PATH` makes the file PATH and goes on when it is removed. A release
//! build has none of it.

use crate::instances::kinds::words;

words! {
    /// In the order in which they are passed.
    Point {
        StartReserved = "start.reserved",
        StartWorktreeAdded = "start.worktree_added",
        StartIdentityWritten = "start.identity_written",
        StartSessionCreated = "start.session_created",
        StartRecorded = "start.recorded",
        ReviewReserved = "request_review.reserved",
        ReviewWorktreeAdded = "request_review.worktree_added",
        ReviewIdentityWritten = "request_review.identity_written",
        ReviewSessionCreated = "request_review.session_created",
        ReviewRecorded = "request_review.recorded",
        FeedbackReserved = "send_feedback.reserved",
        FeedbackCommitted = "send_feedback.committed",
        FeedbackMerged = "send_feedback.merged",
        FeedbackRecorded = "send_feedback.recorded",
        FeedbackNotified = "send_feedback.notified",
        FeedbackSessionEnded = "send_feedback.session_ended",
        FeedbackCleanedUp = "send_feedback.cleaned_up",
        PullReserved = "create_pull_request.reserved",
        PullNotesRemoved = "create_pull_request.notes_removed",
        PullPushed = "create_pull_request.pushed",
        PullOpened = "create_pull_request.opened",
        PullRecorded = "create_pull_request.recorded",
        GcHeld = "gc.held",
        GcWorktreeRemoved = "gc.worktree_removed",
        GcBranchDeleted = "gc.branch_deleted",
        GcRecorded = "gc.recorded",
    }
}

/// Marks that this point is reached.
pub(crate) fn reach(point: Point) {
    #[cfg(debug_assertions)]
    act(point);
    #[cfg(not(debug_assertions))]
    let _ = point;
}

#[cfg(debug_assertions)]
thread_local! {
    static DIES_AT: std::cell::Cell<Option<Point>> = const { std::cell::Cell::new(None) };
}

/// Lets what this thread does next die at a point, by a panic that has the point. Nothing is undone by it, so it leaves
/// what a killed process would, for tests that go on as the next coordinator.
#[cfg(debug_assertions)]
pub fn die_at(point: Point) {
    DIES_AT.set(Some(point));
}

#[cfg(debug_assertions)]
fn act(point: Point) {
    use std::time::{Duration, Instant};

    if DIES_AT.get() == Some(point) {
        DIES_AT.set(None);
        std::panic::panic_any(point);
    }
    let Ok(fault) = std::env::var("TAMIS_FAULT") else { return };
    let Some(action) = fault.strip_prefix(point.as_str()).and_then(|rest| rest.strip_prefix('=')) else {
        return;
    };
    if action == "kill" {
        // Cannot fail: the process is our own.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    } else if let Some(path) = action.strip_prefix("hold:") {
        let path = std::path::Path::new(path);
        // Held once: the next time, the point is passed.
        if std::fs::OpenOptions::new().write(true).create_new(true).open(path).is_ok() {
            let begun = Instant::now();
            while path.exists() && begun.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}
