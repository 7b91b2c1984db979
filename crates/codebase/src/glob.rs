//! Finding files by a pattern on their paths.

use crate::file_patterns::FilePatterns;
use crate::walk::walk;
use crate::{PatternError, RootedPath, Roots, StopSignal, Stopped};

/// Files whose paths match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobMatches {
    /// The first of them, in the order of roots and paths.
    pub places: Vec<RootedPath>,
    /// How many match, including those that were left out.
    pub total: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum GlobError {
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Finds the files that match a pattern such as `*.rs`, `src/**/*.{ts,tsx}` or `docs/`, and returns the first `most`.
pub fn glob(roots: &Roots, pattern: &str, most: usize, stop: &StopSignal) -> Result<GlobMatches, GlobError> {
    let patterns = FilePatterns::new(&[pattern.to_owned()])?;
    let lists = walk(roots, stop, Vec::new, |list: &mut Vec<RootedPath>, place| {
        if patterns.matches(&place.path) {
            list.push(place);
        }
    })?;
    let mut places: Vec<RootedPath> = lists.into_iter().flatten().collect();
    places.sort_unstable();
    let total = places.len();
    places.truncate(most);
    Ok(GlobMatches { places, total })
}
