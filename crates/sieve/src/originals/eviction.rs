//! Through the folder of originals once, removing what the rules say.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use crate::ids::{PruneId, TextId};
use crate::originals::{GOAL, ORIGINAL, Recovery};
use crate::retention::{CleanUp, Holdings};
use crate::shared_files::{Identity, Removal, TEMPORARY, changed, occupied, remove, set_time};

/// A temporary file of this age belongs to a process that was killed.
const STALE: Duration = Duration::from_secs(60 * 60);

/// Which originals go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those whose time is over, then the next ones until no more is left than allowed.
    Expired,
    /// Those that were last pruned longer ago.
    OlderThan(Duration),
    /// All, and half-written files too; what stays is told.
    All,
}

struct Found {
    path: PathBuf,
    /// Its time is when it expires.
    identity: Identity,
    /// When it was last written or renewed.
    changed: Option<SystemTime>,
    bytes: u64,
}

/// The files of the folder, by what they are. Anything else is not ours and is left alone.
#[derive(Default)]
struct Survey {
    originals: Vec<(TextId, Found)>,
    goals: HashMap<TextId, Vec<Found>>,
    temporaries: Vec<Found>,
    /// What could not be looked at, in words.
    problems: Vec<String>,
}

impl Survey {
    fn add(&mut self, path: PathBuf) -> io::Result<()> {
        let metadata = fs::symlink_metadata(&path)?;
        if !metadata.is_file() {
            return Ok(());
        }
        let found = Found {
            identity: Identity::of(&metadata)?,
            changed: changed(&metadata),
            bytes: occupied(&metadata),
            path,
        };
        let name = |part: Option<&std::ffi::OsStr>| part.and_then(|part| part.to_str()).map(str::to_owned);
        let stem = name(found.path.file_stem()).unwrap_or_default();
        match name(found.path.extension()).as_deref() {
            Some(ORIGINAL) => self.originals.extend(TextId::parse(&stem).map(|id| (id, found))),
            Some(GOAL) => {
                if let Some(id) = PruneId::from_stem(&stem) {
                    self.goals.entry(id.text).or_default().push(found);
                }
            }
            Some(TEMPORARY) => self.temporaries.push(found),
            _ => {}
        }
        Ok(())
    }
}

impl Recovery {
    fn survey(&self) -> io::Result<Survey> {
        let mut survey = Survey::default();
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(survey),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            match survey.add(path.clone()) {
                // Gone since the listing: someone else removed it.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    survey.problems.push(format!("cannot look at {}: {error}", path.display()));
                }
                _ => {}
            }
        }
        Ok(survey)
    }

    /// Removes what the rules say. Safe beside processes that write: a file touched since it was looked at stays.
    pub(crate) fn sweep(
        &self,
        which: Which,
        max_bytes: u64,
        now: SystemTime,
        report: &mut CleanUp,
    ) -> io::Result<()> {
        let Survey { mut originals, goals, temporaries, problems } = self.survey()?;
        report.problems.extend(problems);
        for found in temporaries {
            // What was about to get its name may have the time of its expiry already.
            let touched =
                found.changed.map_or(found.identity.modified, |time| time.min(found.identity.modified));
            if which == Which::All || is_older(touched, STALE, now) {
                report.temporaries += u64::from(report.remove(&found, which) == Some(Removal::Removed));
            }
        }
        let size = |id: &TextId, found: &Found| {
            found.bytes + goals.get(id).map_or(0, |goals| goals.iter().map(|goal| goal.bytes).sum())
        };
        let mut left: u64 = originals.iter().map(|(id, found)| size(id, found)).sum();
        // No promise beyond our own makes a file worth more than others.
        originals.sort_by_key(|(_, found)| found.identity.modified.min(self.promise(now)));
        let mut kept = HashSet::new();
        for (id, found) in originals {
            let goes = match which {
                Which::Expired => found.identity.modified < now || left > max_bytes,
                Which::OlderThan(age) => is_older(self.last_pruned(&found), age, now),
                Which::All => true,
            };
            match goes.then(|| report.remove(&found, which)).flatten() {
                Some(removal @ (Removal::Removed | Removal::Gone)) => {
                    report.originals += u64::from(removal == Removal::Removed);
                    left -= size(&id, &found);
                }
                _ => {
                    if which == Which::Expired && self.is_absurd(found.identity.modified, now) {
                        let mended = set_time(&found.path, &found.identity, self.promise(now));
                        report.tell("mend the time of", &found.path, mended);
                    }
                    kept.insert(id);
                }
            }
        }
        for (id, goals) in goals {
            // Looked at again: the original may have come back, or have come after the listing.
            if kept.contains(&id) || self.path(&id).exists() {
                continue;
            }
            for goal in goals {
                report.goals += u64::from(report.remove(&goal, which) == Some(Removal::Removed));
            }
        }
        Ok(())
    }

    /// As the system tells it; else what our own promise makes of the expiry.
    fn last_pruned(&self, found: &Found) -> SystemTime {
        found.changed.unwrap_or_else(|| found.identity.modified - self.ttl)
    }

    pub(crate) fn holdings(&self, holdings: &mut Holdings) -> io::Result<()> {
        let survey = self.survey()?;
        holdings.problems.extend(survey.problems);
        holdings.recovery_files = survey.originals.len() as u64;
        holdings.recovery_next_expiry =
            survey.originals.iter().map(|(_, found)| found.identity.modified).min();
        let originals = survey.originals.iter().map(|(_, found)| found.bytes);
        let others = survey.goals.values().flatten().chain(&survey.temporaries).map(|found| found.bytes);
        holdings.recovery_bytes = originals.chain(others).sum();
        Ok(())
    }
}

impl CleanUp {
    /// Removes a file unless it changed since. One that cannot be removed is told, and keeps none of the others.
    fn remove(&mut self, found: &Found, which: Which) -> Option<Removal> {
        let removal = self.tell("remove", &found.path, remove(&found.path, &found.identity))?;
        match removal {
            Removal::Removed => self.bytes += found.bytes,
            Removal::InUse if which == Which::All => {
                self.problems.push(format!("{} is in use", found.path.display()));
            }
            _ => {}
        }
        Some(removal)
    }

    pub(crate) fn tell<T>(&mut self, what: &str, path: &Path, outcome: io::Result<T>) -> Option<T> {
        outcome.map_err(|error| self.problems.push(format!("cannot {what} {}: {error}", path.display()))).ok()
    }
}

/// Whether something of that time is older than `age`. A time to come is not old.
pub(crate) fn is_older(time: SystemTime, age: Duration, now: SystemTime) -> bool {
    now.duration_since(time).is_ok_and(|found| found > age)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;
    use crate::ids::PruneId;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// The race that matters: clean-up finds a file old while a prune of the same text counts on it.
    #[test]
    fn what_was_just_stored_is_never_removed_for_its_old_age() {
        let folder = tempfile::tempdir().unwrap();
        let recovery = Recovery::new(folder.path().join("recovery"), DAY, u64::MAX);
        let done = AtomicBool::new(false);
        let write = |writer: u8| {
            let text = format!("text {writer}");
            let id = PruneId::parse(&format!("prn_{}aaaaaa", TextId::of(text.as_bytes()).as_str())).unwrap();
            for round in 0..3000 {
                recovery.store(&id, &text, "why").unwrap();
                let read = recovery.read(&id.text, SystemTime::now());
                assert_eq!(read.unwrap_or_else(|error| panic!("round {round}: {error}")), text);
                assert_eq!(recovery.goal(&id, SystemTime::now()).as_deref(), Some("why"), "round {round}");
                if let Ok(file) = File::open(recovery.path(&id.text)) {
                    file.set_modified(SystemTime::now() - DAY).unwrap();
                }
            }
        };
        let clean = || {
            let mut report = CleanUp::default();
            while !done.load(Ordering::Relaxed) {
                recovery.sweep(Which::Expired, u64::MAX, SystemTime::now(), &mut report).unwrap();
            }
            assert_eq!(report.problems, [""; 0]);
            report.originals
        };
        let removed = thread::scope(|scope| {
            let cleaners = [scope.spawn(clean), scope.spawn(clean)];
            let write = &write;
            let writers = [0, 1].map(|writer| scope.spawn(move || write(writer)));
            let outcomes = writers.map(|writer| writer.join());
            done.store(true, Ordering::Relaxed);
            let removed = cleaners.map(|cleaner| cleaner.join().unwrap()).iter().sum::<u64>();
            outcomes.into_iter().for_each(|outcome| outcome.unwrap());
            removed
        });
        assert!(removed > 0, "clean-up had something to do");
    }

    #[test]
    fn age_is_counted_from_the_last_prune_whatever_was_promised() {
        let folder = tempfile::tempdir().unwrap();
        let [short, long] = [1, 30].map(|days| Recovery::new(folder.path().to_owned(), days * DAY, u64::MAX));
        let store = |recovery: &Recovery, text: &str| {
            let id = PruneId::parse(&format!("prn_{}aaaaaa", TextId::of(text.as_bytes()).as_str())).unwrap();
            recovery.store(&id, text, "").unwrap();
        };
        store(&short, "one day");
        store(&long, "thirty days");
        let removed = |recovery: &Recovery, later: Duration| {
            let mut report = CleanUp::default();
            let now = SystemTime::now() + later;
            recovery.sweep(Which::OlderThan(2 * DAY), u64::MAX, now, &mut report).unwrap();
            (report.originals, report.problems)
        };
        assert_eq!(removed(&short, DAY), (0, vec![]));
        assert_eq!(removed(&long, DAY), (0, vec![]));
        assert_eq!(removed(&short, 3 * DAY), (2, vec![]));
    }
}
