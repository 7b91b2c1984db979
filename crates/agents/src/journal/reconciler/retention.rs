//! Retention of past data. Rows of instances, reviews, feedback and events stay; what only helped to do them
//! goes once no retry can come.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant, UNIX_EPOCH};

use super::strays::{id_of, names_in};
use crate::error::Result;
use crate::instances::records::{Instance, Moment, Phase};
use crate::{AgentsError, Coordinator, db};

/// How often it is looked for what is too old.
const PAUSE: Duration = Duration::from_secs(60 * 60);

const DAY: i64 = 24 * 60 * 60 * 1000;

/// For how long a call that is made again gets the answer that it got before.
const OPERATIONS_KEPT: i64 = 90 * DAY;

/// For how long the log of a session stays after nothing else is left of its instance.
const LOGS_KEPT: i64 = 30 * DAY;

impl Coordinator {
    /// Forgets what is too old, at most once an hour.
    pub(super) fn forget_the_past(&self) -> Result<()> {
        let mut last = self.forgotten.lock();
        if last.is_some_and(|last| last.elapsed() < PAUSE) {
            return Ok(());
        }
        *last = Some(Instant::now());
        let now = Moment::now().0;
        self.write(|connection| Ok(db::forget_operations(connection, Moment(now - OPERATIONS_KEPT))?))?;
        self.remove_old_logs(Moment(now - LOGS_KEPT))
    }

    fn remove_old_logs(&self, before: Moment) -> Result<()> {
        // Files first, then rows: a log that is there has its row by then.
        let folder = self.places.logs();
        let names = names_in(&folder)?;
        let rows = self.read(|connection| db::instances(connection, true))?;
        let rows: HashMap<&str, &Instance> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
        for name in names {
            let Some(id) = id_of(&name) else { continue };
            let path = folder.join(&name);
            let old = match rows.get(id.as_str()) {
                Some(row) => row.phase == Phase::Gone && row.ended_at.unwrap_or(row.updated_at) < before,
                // Of one that never came to be.
                None => last_written(&path).is_some_and(|at| at < before),
            };
            if old {
                fs::remove_file(&path).map_err(|error| AgentsError::file("remove", &path, &error))?;
            }
        }
        Ok(())
    }
}

fn last_written(path: &std::path::Path) -> Option<Moment> {
    let written = fs::symlink_metadata(path).ok()?.modified().ok()?;
    let since = written.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Moment)
}
