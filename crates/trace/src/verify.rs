//! Whether the index agrees with the logs: they are read again from their beginning, into an index of its own, and the
//! two are compared.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use serde::Serialize;
use tamis_redact::Redacted;
use tamis_store::{DataDir, Database};

use crate::accounting::UsageAccount;
use crate::db::{self, BlockRow, Segments};
use crate::error::TraceError;
use crate::index::IndexProgress;
use crate::indexed_log::IndexedLog;
use crate::session::Session;
use crate::summary::Turn;
use crate::trace::Trace;

/// What a comparison came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IndexVerification {
    /// Logs that were compared.
    pub logs: u64,
    pub sessions: u64,
    /// Logs that changed while they were being compared, and so were not.
    #[serde(rename = "changed_meanwhile")]
    pub changed: u64,
    pub differences: Vec<IndexDifference>,
}

/// Where the index differs from the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexDifference {
    pub log: Redacted,
    pub what: &'static str,
}

/// Everything that an index has of a log.
struct Indexed {
    log: IndexedLog,
    session: Option<Session>,
    account: UsageAccount,
    turns: Vec<Turn>,
    blocks: Vec<BlockRow>,
}

/// Removes the second index, however it ends.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Trace {
    /// Reads everything again and compares. The index must be up to date.
    pub fn verify(
        &self,
        watch: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<IndexVerification, TraceError> {
        let folder = self.index_folder().join(format!("trace-verify-{}", std::process::id()));
        let scratch = Scratch(folder.clone());
        let fresh = Trace::new(self.locations().clone(), DataDir::at(folder));
        fresh.refresh(watch)?;
        let verified = compare(&*self.database()?, &*fresh.database()?);
        drop(fresh);
        drop(scratch);
        verified
    }
}

fn compare(stored: &Database, fresh: &Database) -> Result<IndexVerification, TraceError> {
    let by_place = |logs: Vec<IndexedLog>| -> BTreeMap<(String, String), IndexedLog> {
        logs.into_iter().map(|log| ((log.source.path.clone(), log.source.part.clone()), log)).collect()
    };
    let mut before = by_place(stored.read(db::logs)?);
    let mut verified = IndexVerification::default();
    let (mut stored_segments, mut fresh_segments) = (Segments::new(), Segments::new());
    for (place, log) in by_place(fresh.read(db::logs)?) {
        let Some(known) = before.remove(&place).filter(|known| known.source.stamp == log.source.stamp) else {
            verified.changed += 1;
            continue;
        };
        let (stored, fresh) =
            (indexed(stored, known, &mut stored_segments)?, indexed(fresh, log, &mut fresh_segments)?);
        verified.logs += 1;
        verified.sessions += u64::from(fresh.session.is_some());
        let differences = differences(&stored, &fresh);
        let name = fresh.log.name();
        verified
            .differences
            .extend(differences.into_iter().map(|what| IndexDifference { log: name.clone(), what }));
    }
    verified.changed += before.len() as u64;
    Ok(verified)
}

fn indexed(database: &Database, log: IndexedLog, segments: &mut Segments) -> Result<Indexed, TraceError> {
    Ok(database.read(|connection| {
        Ok(Indexed {
            session: db::session_of_log(connection, log.id)?,
            account: db::account_of(connection, log.id)?,
            turns: db::turns(connection, log.id, 0, usize::MAX >> 1)?,
            blocks: db::blocks_whole(connection, log.id, segments)?,
            log,
        })
    })?)
}

/// What is not the same. The number of a log, and which of two copies has the plain id, is by chance.
fn differences(stored: &Indexed, fresh: &Indexed) -> Vec<&'static str> {
    let session = |of: fn(&Session, &Session) -> bool| match (&stored.session, &fresh.session) {
        (Some(stored), Some(fresh)) => of(stored, fresh),
        (None, None) => true,
        _ => false,
    };
    let checks = [
        ("how far it is read", stored.log.read_to == fresh.log.read_to),
        ("its last line", stored.log.pending == fresh.log.pending),
        ("its format", stored.log.format == fresh.log.format),
        ("what is wrong with it", stored.log.problem == fresh.log.problem),
        ("whether it is a session", session(|_, _| true)),
        ("the session's id", session(|one, other| one.native_id == other.native_id)),
        (
            "the session's project",
            session(|one, other| (&one.project, &one.root) == (&other.project, &other.root)),
        ),
        (
            "the session's parent",
            session(|one, other| (&one.parent, &one.relation) == (&other.parent, &other.relation)),
        ),
        ("the session's tally", session(|one, other| one.summary == other.summary)),
        ("the session's tokens", session(|one, other| one.own_tokens == other.own_tokens)),
        ("the tokens that another counts", session(|one, other| one.inherited == other.inherited)),
        ("the requests", stored.account == fresh.account),
        ("the turns", stored.turns == fresh.turns),
        ("the blocks", same_blocks(&stored.blocks, &fresh.blocks)),
    ];
    checks.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect()
}

/// A log that grew while it was read is cut into blocks at other places. Then each index must be consistent by itself, and
/// where both begin a block, they must agree on it.
fn same_blocks(stored: &[BlockRow], fresh: &[BlockRow]) -> bool {
    if stored == fresh {
        return true;
    }
    let connected = |blocks: &[BlockRow]| {
        blocks.windows(2).all(|pair| {
            pair[0].stop == pair[1].start && pair[0].first_event + pair[0].events == pair[1].first_event
        })
    };
    let edges = |blocks: &[BlockRow]| {
        let first = blocks.first().map(|block| (block.start, block.first_event));
        let last = blocks.last().map(|block| (block.stop, block.first_event + block.events));
        (first, last)
    };
    let by_start: BTreeMap<u64, &BlockRow> = fresh.iter().map(|block| (block.start, block)).collect();
    let agree = |block: &BlockRow| {
        by_start.get(&block.start).is_none_or(|other| {
            block.first_event == other.first_event
                && block.reader == other.reader
                && (block.stop != other.stop
                    || (block.events, block.kinds, &block.filter)
                        == (other.events, other.kinds, &other.filter))
        })
    };
    connected(stored) && connected(fresh) && edges(stored) == edges(fresh) && stored.iter().all(agree)
}
