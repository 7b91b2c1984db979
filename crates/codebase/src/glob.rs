//! Files by a pattern on their names.

use crate::walk::walk;
use crate::wanted::Wanted;
use crate::{Halt, Halted, PatternError, Place, Roots};

/// Files whose paths match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The first of them, in the order of roots and paths.
    pub places: Vec<Place>,
    /// How many there are in all.
    pub total: usize,
}

/// Why there is no list of files.
#[derive(Debug, thiserror::Error)]
pub enum GlobError {
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    Halted(#[from] Halted),
}

/// The files that match a pattern such as `*.rs`, `src/**/*.{ts,tsx}` or `docs/`, `most` of them at most.
pub fn glob(roots: &Roots, pattern: &str, most: usize, halt: &Halt) -> Result<Found, GlobError> {
    let wanted = Wanted::new(&[pattern.to_owned()])?;
    let lists = walk(roots, halt, Vec::new, |list: &mut Vec<Place>, place| {
        if wanted.has(&place.path) {
            list.push(place);
        }
    })?;
    let mut places: Vec<Place> = lists.into_iter().flatten().collect();
    places.sort_unstable();
    let total = places.len();
    places.truncate(most);
    Ok(Found { places, total })
}
