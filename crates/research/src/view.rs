//! What a role sees of the files: the roots of its request, within its allowance, as long as it is wanted.
//!
//! A file that several roles read counts once. Roles that work beside each other have a share each: who comes first must not
//! decide what another one may still read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tamis_codebase::{AccessError, Halt, Place, Roots};
use tamis_syntax::{Budget, Outline};
use tamis_text::split_lines;

use crate::Allowance;

/// Larger files are not read, only searched.
const LARGEST_READ: u64 = 1 << 20;

/// One request's way to the files.
pub struct View {
    pub roots: Roots,
    pub allowance: Arc<Allowance>,
    pub halt: Halt,
    texts: Arc<Mutex<Texts>>,
    share: Option<Mutex<Share>>,
}

type Texts = BTreeMap<Place, Arc<Source>>;

/// What one of several roles may read.
#[derive(Clone)]
struct Share {
    files: u64,
    bytes: u64,
    /// What it need not pay for: it was there before, or is paid.
    paid: BTreeSet<Place>,
}

/// A file that was read.
pub struct Source {
    pub place: Place,
    pub text: String,
    outline: OnceLock<Outline>,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum NotRead {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("the limits of this request are used up")]
    Limited,
}

impl View {
    pub fn new(roots: Roots, allowance: Arc<Allowance>, halt: Halt) -> View {
        View { roots, allowance, halt, texts: Arc::default(), share: None }
    }

    /// The same for one of several that read at once, with an equal part of what is left. What cannot be shared goes to the
    /// first of them.
    pub(crate) fn share(&self, number: usize, of: usize) -> View {
        let (limits, used) = (self.allowance.limits(), self.allowance.used());
        let (number, of) = (number as u64, of.max(1) as u64);
        let part = |most: u64, used: u64| {
            let left = most.saturating_sub(used);
            left / of + u64::from(number < left % of)
        };
        let share = Share {
            files: part(limits.max_files_read, used.files_read),
            bytes: part(limits.max_bytes_read, used.bytes_read),
            paid: lock(&self.texts).keys().cloned().collect(),
        };
        View {
            roots: self.roots.clone(),
            allowance: Arc::clone(&self.allowance),
            halt: self.halt.clone(),
            texts: Arc::clone(&self.texts),
            share: Some(Mutex::new(share)),
        }
    }

    /// A view of other roots for the same role, which then reads only there.
    pub(crate) fn elsewhere(&self, roots: Roots, halt: Halt) -> View {
        let share = self.share.as_ref().map(|share| Share { paid: BTreeSet::new(), ..lock(share).clone() });
        let texts = Arc::default();
        View { roots, allowance: Arc::clone(&self.allowance), halt, texts, share: share.map(Mutex::new) }
    }

    /// The text of a file, which counts against the allowance the first time.
    pub fn read(&self, place: &Place) -> Result<Arc<Source>, NotRead> {
        let mut texts = lock(&self.texts);
        if let Some(source) = texts.get(place) {
            return self.pay(place, source.text.len() as u64).map(|()| Arc::clone(source));
        }
        let limit = LARGEST_READ.min(self.allowance.limits().max_bytes_read);
        let text = match self.roots.read_text(place, limit) {
            Err(AccessError::TooLarge { bytes, .. }) if bytes <= LARGEST_READ => {
                // It would fit into any other request.
                self.allowance.take_file(u64::MAX);
                return Err(NotRead::Limited);
            }
            outcome => outcome?,
        };
        self.pay(place, text.len() as u64)?;
        if !self.allowance.take_file(text.len() as u64) {
            return Err(NotRead::Limited);
        }
        let source = Arc::new(Source { place: place.clone(), text, outline: OnceLock::new() });
        texts.insert(place.clone(), Arc::clone(&source));
        Ok(source)
    }

    /// Takes a file from the share, where there is one.
    fn pay(&self, place: &Place, bytes: u64) -> Result<(), NotRead> {
        let Some(share) = &self.share else { return Ok(()) };
        let mut share = lock(share);
        if share.paid.contains(place) {
            return Ok(());
        }
        if share.files == 0 || share.bytes < bytes {
            self.allowance.note_limited();
            return Err(NotRead::Limited);
        }
        share.files -= 1;
        share.bytes -= bytes;
        share.paid.insert(place.clone());
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Source {
    /// Lines count from 0 here, from 1 in references.
    pub fn lines(&self) -> Vec<&str> {
        split_lines(&self.text)
    }

    /// Definitions and imports, parsed where the language is known.
    pub fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| {
            let budget = Budget::for_bytes(self.text.len());
            tamis_syntax::outline(&self.text, &self.lines(), budget, &|| false)
        })
    }
}
