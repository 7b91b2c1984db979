//! Searching the contents of all files of the roots, as ripgrep does and about as fast.
//!
//! Every file is searched to its end, so that counts are true; what is kept is bounded, and the same whatever the threads
//! did: the first matches in the order of roots, paths and lines.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::matching::{Kept, Worker};
use crate::walk::{is_binary, walk};
use crate::wanted::Wanted;
use crate::{Halt, Halted, PatternError, Place, Roots};

/// What is searched for, and how much of it is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// A regular expression, unless it is to be taken literally.
    pub pattern: String,
    pub literal: bool,
    pub case: Case,
    /// Only in files that match, as [`glob`](crate::glob) has it; `!` in front takes files out.
    pub globs: Vec<String>,
    pub wanted: Want,
    /// So many matching lines are kept, or files where only files are wanted.
    pub most_matches: usize,
    pub most_per_file: usize,
    /// So many lines before and after each match.
    pub context: usize,
    /// Longer lines are cut, to so many bytes around the match.
    pub longest_line: usize,
}

/// Whether `a` means `A`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// Only as long as there is no capital in the pattern.
    #[default]
    Smart,
    Ignore,
    Respect,
}

/// What of a match is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Want {
    #[default]
    Lines,
    /// How many lines match in each file.
    Counts,
    /// Which files have a match; each counts as one line.
    Files,
}

impl Search {
    /// For a pattern, with bounds that suit an answer in a conversation.
    pub fn new(pattern: &str) -> Search {
        Search {
            pattern: pattern.to_owned(),
            literal: false,
            case: Case::Smart,
            globs: Vec::new(),
            wanted: Want::Lines,
            most_matches: 200,
            most_per_file: 50,
            context: 0,
            longest_line: 400,
        }
    }
}

/// What was found.
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

/// What was found in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatches {
    pub place: Place,
    /// With their context, in order; empty unless lines are wanted.
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
    /// Without its end; what is not UTF-8 in it is replaced.
    pub text: String,
    /// Otherwise it is context.
    pub is_match: bool,
    /// Whether it is longer than this.
    pub is_cut: bool,
}

/// Why nothing was searched, or not all.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("{pattern:?} is no regular expression: {why}")]
    Pattern { pattern: String, why: String },
    #[error("there is nothing to search for")]
    Empty,
    #[error(transparent)]
    Glob(#[from] PatternError),
    #[error(transparent)]
    Halted(#[from] Halted),
}

impl SearchError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            SearchError::Pattern { pattern, .. } if pattern.contains('\n') || pattern.contains("\\n") => {
                Some("matches lie within a line: search for one line of it")
            }
            SearchError::Pattern { .. } => {
                Some("set `literal` to search for it as it stands, or escape with \\")
            }
            SearchError::Empty => Some("give a word, or a regular expression"),
            SearchError::Glob(_) => Some("patterns look like *.rs, src/**/*.ts or !tests/"),
            SearchError::Halted(_) => None,
        }
    }
}

/// Searches all files of the roots.
pub fn search(roots: &Roots, search: &Search, halt: &Halt) -> Result<Matches, SearchError> {
    let matcher = matcher(search)?;
    let wanted = Wanted::new(&search.globs)?;
    let limit = roots.policy().largest_searched;
    let state = || Worker::new(search, matcher.clone());
    let workers = walk(roots, halt, state, |worker: &mut Worker<'_>, place| {
        if wanted.has(&place.path)
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
