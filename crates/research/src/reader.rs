//! Bounded reading: a role reads files of the request's roots, within its limits.
//!
//! A file that several roles read counts once. Roles that run in parallel have a share each, so that the first cannot use up
//! what another may read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tamis_codebase::{AccessError, RootedPath, Roots, StopSignal};
use tamis_redact::Redacted;
use tamis_syntax::{Outline, ParseBudget};
use tamis_text::split_lines;

use crate::ReadBudget;

/// Larger files are not read, only searched.
const LARGEST_READ: u64 = 1 << 20;

/// Reads files for one request.
pub struct BoundedReader {
    pub roots: Roots,
    pub budget: Arc<ReadBudget>,
    pub stop: StopSignal,
    texts: Arc<Mutex<Texts>>,
    share: Option<Mutex<Share>>,
}

type Texts = BTreeMap<RootedPath, Arc<SourceFile>>;

/// What one of several roles may read.
#[derive(Clone)]
struct Share {
    files: u64,
    bytes: u64,
    /// Files that are already counted.
    paid: BTreeSet<RootedPath>,
}

/// A file that was read.
pub struct SourceFile {
    pub place: RootedPath,
    /// Redacted: what roles find by a caller's words must not depend on secrets.
    pub text: String,
    outline: OnceLock<Outline>,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum SourceReadError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("the limits of this request are exhausted")]
    LimitReached,
}

impl BoundedReader {
    pub fn new(roots: Roots, budget: Arc<ReadBudget>, stop: StopSignal) -> BoundedReader {
        BoundedReader { roots, budget, stop, texts: Arc::default(), share: None }
    }

    /// A reader for one of several roles, with an equal share of what is left. The remainder goes to the first of them.
    pub(crate) fn share(&self, number: usize, of: usize) -> BoundedReader {
        let (limits, used) = (self.budget.limits(), self.budget.used());
        let (number, of) = (number as u64, of.max(1) as u64);
        let part = |most: u64, used: u64| {
            let left = most.saturating_sub(used);
            left / of + u64::from(number < left % of)
        };
        let share = Share {
            files: part(limits.max_files_read, used.files_read),
            bytes: part(limits.max_bytes_read, used.bytes_read),
            paid: self.texts.lock().keys().cloned().collect(),
        };
        BoundedReader {
            roots: self.roots.clone(),
            budget: Arc::clone(&self.budget),
            stop: self.stop.clone(),
            texts: Arc::clone(&self.texts),
            share: Some(Mutex::new(share)),
        }
    }

    /// A reader of other roots for the same role, which then reads only there.
    pub(crate) fn elsewhere(&self, roots: Roots, stop: StopSignal) -> BoundedReader {
        let share = self.share.as_ref().map(|share| Share { paid: BTreeSet::new(), ..share.lock().clone() });
        let texts = Arc::default();
        BoundedReader { roots, budget: Arc::clone(&self.budget), stop, texts, share: share.map(Mutex::new) }
    }

    /// The text of a file, which counts against the budget the first time.
    pub fn read(&self, place: &RootedPath) -> Result<Arc<SourceFile>, SourceReadError> {
        let mut texts = self.texts.lock();
        if let Some(source) = texts.get(place) {
            return self.pay(place, source.text.len() as u64).map(|()| Arc::clone(source));
        }
        let limit = LARGEST_READ.min(self.budget.limits().max_bytes_read);
        let text = match self.roots.read_text(place, limit) {
            Err(AccessError::TooLarge { bytes, .. }) if bytes <= LARGEST_READ => {
                // It exceeds this request's limit only.
                self.budget.note_unread(place);
                return Err(SourceReadError::LimitReached);
            }
            outcome => outcome?,
        };
        self.pay(place, text.len() as u64)?;
        if !self.budget.take_file(text.len() as u64) {
            self.budget.note_unread(place);
            return Err(SourceReadError::LimitReached);
        }
        let text = Redacted::from(text).into_inner();
        let source = Arc::new(SourceFile { place: place.clone(), text, outline: OnceLock::new() });
        texts.insert(place.clone(), Arc::clone(&source));
        Ok(source)
    }

    /// The same for a role that does without what cannot be read. Sets `limited` if that is because of the limits.
    pub(crate) fn read_if_possible(&self, place: &RootedPath, limited: &mut bool) -> Option<Arc<SourceFile>> {
        let source = self.read(place);
        *limited |= matches!(source, Err(SourceReadError::LimitReached));
        source.ok()
    }

    /// Takes a file from the share, where there is one.
    fn pay(&self, place: &RootedPath, bytes: u64) -> Result<(), SourceReadError> {
        let Some(share) = &self.share else { return Ok(()) };
        let mut share = share.lock();
        if share.paid.contains(place) {
            return Ok(());
        }
        if share.files == 0 || share.bytes < bytes {
            self.budget.note_unread(place);
            return Err(SourceReadError::LimitReached);
        }
        share.files -= 1;
        share.bytes -= bytes;
        share.paid.insert(place.clone());
        Ok(())
    }
}

#[cfg(test)]
impl BoundedReader {
    pub(crate) fn of_folder(folder: &std::path::Path, limits: crate::ResearchLimits) -> BoundedReader {
        let roots = Roots::open(&[folder.to_owned()], tamis_codebase::Policy::standard()).unwrap();
        BoundedReader::new(roots, Arc::new(ReadBudget::of(limits)), StopSignal::never())
    }
}

impl SourceFile {
    /// Lines count from 0 here, from 1 in references.
    pub fn lines(&self) -> Vec<&str> {
        split_lines(&self.text)
    }

    /// Definitions and imports, parsed where the language is known.
    pub fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| {
            let budget = ParseBudget::for_bytes(self.text.len());
            tamis_syntax::outline(&self.text, &self.lines(), budget, &|| false)
        })
    }
}
