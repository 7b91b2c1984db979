//! Surveys with an index, and refreshes it in a background thread after the answer.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use parking_lot::Mutex;
use tamis_codebase::{Roots, StopSignal, Stopped};

use crate::index::{Index, IndexError};
use crate::survey::{FileCounts, survey_by_reading};
use crate::word_counter::WordCounter;

/// When an index is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexUse {
    /// For roots that are large enough for it to pay.
    Large,
    Always,
}

/// How indexes are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSettings {
    /// The folder of the indexes.
    pub folder: PathBuf,
    pub used: IndexUse,
    /// Whether a missing index is built. A short process only uses what exists.
    pub builds: bool,
}

/// The indexes of a process.
pub struct Indexer {
    settings: IndexSettings,
    /// Disconnected when the background thread ends.
    at_work: Mutex<Option<Receiver<()>>>,
}

/// The work that is due.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Due {
    Build,
    Refresh,
}

impl Indexer {
    pub fn new(settings: IndexSettings) -> Indexer {
        Indexer { settings, at_work: Mutex::default() }
    }

    /// The survey, from the index where it is usable, else by reading.
    fn survey(
        &self,
        roots: &Roots,
        counter: &WordCounter,
        stop: &StopSignal,
    ) -> Result<Vec<FileCounts>, Stopped> {
        let index = Index::of(&self.settings.folder, roots);
        match index.survey(roots, counter, stop) {
            Ok((survey, stale)) => {
                if stale {
                    self.set_to_work(index, roots, Due::Refresh);
                }
                return Ok(survey);
            }
            Err(IndexError::Stopped(stopped)) => return Err(stopped),
            Err(IndexError::Missing) => {}
            Err(why) => tracing::debug!("the index does not help: {why}"),
        }
        let survey = survey_by_reading(roots, counter, stop)?;
        if self.settings.builds && Index::is_worth(self.settings.used, survey.len()) {
            self.set_to_work(index, roots, Due::Build);
        }
        Ok(survey)
    }

    /// Starts one update at a time: the next question notices what is still outdated.
    fn set_to_work(&self, index: Index, roots: &Roots, due: Due) {
        let mut at_work = self.at_work.lock();
        if at_work
            .as_ref()
            .is_some_and(|ended| matches!(ended.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty)))
        {
            return;
        }
        let (end, ended) = channel::<()>();
        let roots = roots.clone();
        let work = move || {
            let _end = end;
            let outcome = match due {
                Due::Build => {
                    index.sweep();
                    index.build(&roots, &StopSignal::never())
                }
                Due::Refresh => index.refresh(&roots, &StopSignal::never()),
            };
            // The next question is then answered by reading.
            if let Err(why) = outcome {
                tracing::warn!("cannot update the index of {}: {why}", roots_of(&roots));
            }
        };
        match std::thread::Builder::new().name("research-index".to_owned()).spawn(work) {
            Ok(_) => *at_work = Some(ended),
            Err(error) => tracing::warn!("cannot start a thread for the index: {error}"),
        }
    }

    /// Waits for a running update, at most this long.
    pub fn wait(&self, patience: Duration) {
        if let Some(ended) = self.at_work.lock().as_ref() {
            // The update has ended, or time is up.
            let _ = ended.recv_timeout(patience);
        }
    }
}

fn roots_of(roots: &Roots) -> String {
    roots.paths().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Counts in every text file of the roots, with the indexer where there is one. The files are in no order.
pub fn survey(
    indexer: Option<&Indexer>,
    roots: &Roots,
    counter: &WordCounter,
    stop: &StopSignal,
) -> Result<Vec<FileCounts>, Stopped> {
    match indexer {
        Some(indexer) => indexer.survey(roots, counter, stop),
        None => survey_by_reading(roots, counter, stop),
    }
}
