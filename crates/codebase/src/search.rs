//! Searching the contents of all files of the roots, as ripgrep does and about as fast.
//!
//! Every file is searched to its end, so that counts are exact. The matches that are kept are bounded and do not depend on
//! the threads: they are the first in the order of roots, paths and lines.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::file_patterns::FilePatterns;
use crate::search_worker::{Kept, Worker};
use crate::walk::{is_binary, walk};
use crate::{PatternError, RootedPath, Roots, StopSignal, Stopped};

/// A search: the pattern, and how much of its matches is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// A regular expression, unless `literal` is set.
    pub pattern: String,
    pub literal: bool,
    pub case: Case,
    /// Patterns of files to search, as for [`glob`](crate::glob); `!` in front excludes files. None: all files.
    pub globs: Vec<String>,
    pub mode: SearchMode,
    /// Maximum number of matching lines to keep; of files, in [`SearchMode::Files`].
    pub most_matches: usize,
    pub most_per_file: usize,
    /// Number of lines to keep before and after each match.
    pub context: usize,
    /// Longer lines are cut to this number of bytes around the match.
    pub longest_line: usize,
}

/// Whether `a` matches `A`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// Only when the pattern has no capital letter.
    #[default]
    Smart,
    Ignore,
    Respect,
}

/// What a search returns of its matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchMode {
    #[default]
    Lines,
    /// The number of matching lines of each file.
    Counts,
    /// The files with a match; each counts as one line.
    Files,
}

impl Search {
    /// A search for a pattern, with limits that suit an answer in a conversation.
    pub fn new(pattern: &str) -> Search {
        Search {
            pattern: pattern.to_owned(),
            literal: false,
            case: Case::Smart,
            globs: Vec::new(),
            mode: SearchMode::Lines,
            most_matches: 200,
            most_per_file: 50,
            context: 0,
            longest_line: 400,
        }
    }
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// The first files with matches, in the order of roots and paths.
    pub files: Vec<FileMatches>,
    /// How many lines match in all files, kept or not.
    pub matching_lines: u64,
    pub matching_files: u64,
    pub files_searched: u64,
}

impl Matches {
    /// Whether there are matches that were not kept.
    pub fn is_cut(&self) -> bool {
        let kept: u64 = self.files.iter().map(|file| file.kept).sum();
        kept < self.matching_lines
    }
}

/// The matches in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatches {
    pub place: RootedPath,
    /// With their context, in order; empty unless the mode is [`SearchMode::Lines`].
    pub lines: Vec<Line>,
    /// How many lines match, kept or not.
    pub matching_lines: u64,
    /// How many of them count as kept.
    pub(crate) kept: u64,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: u64,
    /// Without its line end; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// If not, it is context.
    pub is_match: bool,
    /// Whether the file has more of this line.
    pub is_cut: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("{pattern:?} is not a valid regular expression: {why}")]
    Pattern { pattern: String, why: String },
    #[error("the pattern is empty")]
    Empty,
    #[error(transparent)]
    Glob(#[from] PatternError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl SearchError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            SearchError::Pattern { pattern, .. } if pattern.contains('\n') || pattern.contains("\\n") => {
                Some("a match cannot span lines; search for one line")
            }
            SearchError::Pattern { .. } => {
                Some("set `literal` to search for the exact text, or escape special characters with \\")
            }
            SearchError::Empty => Some("give a word, or a regular expression"),
            SearchError::Glob(_) => Some("patterns look like *.rs, src/**/*.ts or !tests/"),
            SearchError::Stopped(_) => None,
        }
    }
}

/// Searches all files of the roots.
pub fn search(roots: &Roots, search: &Search, stop: &StopSignal) -> Result<Matches, SearchError> {
    let matcher = matcher(search)?;
    let patterns = FilePatterns::new(&search.globs)?;
    let limit = roots.policy().largest_searched;
    let state = || Worker::new(search, matcher.clone());
    let workers = walk(roots, stop, state, |worker: &mut Worker<'_>, place| {
        if patterns.matches(&place.path)
            && roots.read_found(&place, limit, &mut worker.bytes).is_ok()
            && !is_binary(&worker.bytes)
        {
            worker.search(place);
        }
    })?;
    let mut matches = Matches::default();
    let mut kept = Kept::default();
    for worker in workers {
        matches.matching_lines += worker.matching_lines;
        matches.matching_files += worker.matching_files;
        matches.files_searched += worker.files_searched;
        for (_, file) in worker.kept.files {
            kept.add(file, search.most_matches);
        }
    }
    matches.files = kept.files.into_values().collect();
    if let Some(last) = matches.files.last_mut() {
        last.shorten(kept.lines.saturating_sub(search.most_matches as u64), search.context);
    }
    Ok(matches)
}

fn matcher(search: &Search) -> Result<RegexMatcher, SearchError> {
    if search.pattern.is_empty() {
        return Err(SearchError::Empty);
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .fixed_strings(search.literal)
        .case_smart(search.case == Case::Smart)
        .case_insensitive(search.case == Case::Ignore);
    builder
        .build(&search.pattern)
        .map_err(|why| SearchError::Pattern { pattern: search.pattern.clone(), why: why.to_string() })
}
