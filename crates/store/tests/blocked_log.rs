//! A log whose pipe is full, so that every write to it blocks forever.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use std::{fs, thread};

use tamis_store::{Component, Writer};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

const NOTES: &[Component] =
    &[Component { name: "notes", migrations: &["CREATE TABLE notes (text TEXT NOT NULL UNIQUE) STRICT"] }];
const LONG: Duration = Duration::from_secs(30);

/// Signals that something is being logged, then blocks forever.
struct Blocked(Sender<()>);

impl Subscriber for Blocked {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, _: &Event<'_>) {
        let _ = self.0.send(());
        loop {
            thread::park();
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn a_blocked_log_does_not_block_callers() {
    let (blocked, logging) = channel();
    tracing::subscriber::set_global_default(Blocked(blocked)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    fs::write(&path, [b'x'; 5000]).unwrap();
    let writer = Writer::new(path, NOTES);
    let (done, finished) = channel();
    thread::spawn(move || {
        writer.submit(Box::new(|_| Ok(())));
        logging.recv().unwrap();
        // The thread is blocked by now. Even dropping jobs from the full queue must not log here.
        for _ in 0..5000 {
            writer.submit(Box::new(|_| Ok(())));
        }
        done.send((writer.has_problem(), writer.progress().lost)).unwrap();
    });
    assert_eq!(finished.recv_timeout(LONG), Ok((true, 1 + 5000 - 4096)));
}
