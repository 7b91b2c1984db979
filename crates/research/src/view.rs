//! What a role sees of the files: the roots of its request, within its allowance, as long as it is wanted.
//!
//! A file that several roles read counts once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tamis_syntax::{Budget, Outline};
use tamis_text::split_lines;
use tamis_workspace::{AccessError, Halt, Place, Roots};

use crate::Allowance;

/// Larger files are not read, only searched.
const LARGEST_READ: u64 = 1 << 20;

/// One request's way to the files.
pub struct View {
    pub roots: Roots,
    pub allowance: Arc<Allowance>,
    pub halt: Halt,
    texts: Mutex<BTreeMap<Place, Arc<Source>>>,
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
        View { roots, allowance, halt, texts: Mutex::default() }
    }

    /// The text of a file, which counts against the allowance the first time.
    pub fn read(&self, place: &Place) -> Result<Arc<Source>, NotRead> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = texts.get(place) {
            return Ok(Arc::clone(source));
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
        if !self.allowance.take_file(text.len() as u64) {
            return Err(NotRead::Limited);
        }
        let source = Arc::new(Source { place: place.clone(), text, outline: OnceLock::new() });
        texts.insert(place.clone(), Arc::clone(&source));
        Ok(source)
    }
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
