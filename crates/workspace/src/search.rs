//! Searching the contents of all files of the roots, as ripgrep does and about as fast.
//!
//! Every file is searched to its end, so that counts are true; what is kept is bounded, and the same whatever the threads
//! did: the first matches in the order of roots, paths and lines.

use std::collections::BTreeMap;
use std::io;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

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
    kept: u64,
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

/// The first files with matches, with as many lines as are wanted and no file more.
#[derive(Default)]
struct Kept {
    files: BTreeMap<Place, FileMatches>,
    lines: u64,
}

impl Kept {
    /// Whether a file of that place would be among them.
    fn has_room(&self, place: &Place, most: usize) -> bool {
        self.lines < most as u64 || self.files.last_key_value().is_some_and(|(last, _)| place < last)
    }

    fn add(&mut self, file: FileMatches, most: usize) {
        if !self.has_room(&file.place, most) {
            return;
        }
        self.lines += file.kept;
        self.files.insert(file.place.clone(), file);
        while let Some(last) = self.files.last_entry()
            && self.lines - last.get().kept >= most as u64
        {
            self.lines -= last.remove().kept;
        }
    }
}

impl FileMatches {
    /// Takes away so many matching lines from the end, with their context.
    fn shorten(&mut self, excess: u64, context: usize) {
        if excess == 0 || self.lines.is_empty() {
            return;
        }
        self.kept -= excess;
        let mut left = self.kept;
        let after_last = self.lines.iter().position(|line| {
            let full = line.is_match && left == 0;
            left -= u64::from(line.is_match && left > 0);
            full
        });
        self.lines.truncate(after_last.unwrap_or(self.lines.len()));
        let last = self.lines.iter().rev().find(|line| line.is_match).map_or(0, |line| line.number);
        self.lines.retain(|line| line.number <= last + context as u64);
    }
}

/// One thread's searching.
struct Worker<'a> {
    search: &'a Search,
    matcher: RegexMatcher,
    /// Counting lines costs, and is for those that are shown.
    numbering: Searcher,
    counting: Searcher,
    bytes: Vec<u8>,
    kept: Kept,
    matching_lines: u64,
    matching_files: u64,
    files_searched: u64,
}

impl<'a> Worker<'a> {
    fn new(search: &'a Search, matcher: RegexMatcher) -> Worker<'a> {
        let mut builder = SearcherBuilder::new();
        builder.binary_detection(BinaryDetection::quit(0));
        let counting = builder.line_number(false).build();
        let numbering =
            builder.line_number(true).before_context(search.context).after_context(search.context).build();
        Worker {
            search,
            matcher,
            numbering,
            counting,
            bytes: Vec::new(),
            kept: Kept::default(),
            matching_lines: 0,
            matching_files: 0,
            files_searched: 0,
        }
    }

    fn search(&mut self, place: Place) {
        self.files_searched += 1;
        let keeps = self.search.most_matches > 0 && self.kept.has_room(&place, self.search.most_matches);
        let shows = keeps && self.search.wanted == Want::Lines;
        let mut collector = Collector {
            search: self.search,
            matcher: &self.matcher,
            most: if shows { self.search.most_per_file as u64 } else { 0 },
            lines: Vec::new(),
            kept: 0,
            matching: 0,
        };
        let searcher = if shows { &mut self.numbering } else { &mut self.counting };
        // Only the collector could fail, and it does not.
        let _ = searcher.search_slice(&self.matcher, &self.bytes, &mut collector);
        let Collector { lines, kept, matching, .. } = collector;
        if matching == 0 {
            return;
        }
        self.matching_lines += matching;
        self.matching_files += 1;
        if keeps {
            let kept = match self.search.wanted {
                Want::Lines => kept,
                Want::Counts => matching,
                Want::Files => 1,
            };
            self.kept
                .add(FileMatches { place, lines, matching_lines: matching, kept }, self.search.most_matches);
        }
    }
}

/// What comes of one file.
struct Collector<'a> {
    search: &'a Search,
    matcher: &'a RegexMatcher,
    most: u64,
    lines: Vec<Line>,
    kept: u64,
    matching: u64,
}

impl Collector<'_> {
    fn push(&mut self, number: Option<u64>, bytes: &[u8], is_match: bool) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let is_cut = bytes.len() > self.search.longest_line;
        let shown = if is_cut { self.around_match(bytes) } else { bytes };
        let text = String::from_utf8_lossy(shown).into_owned();
        self.lines.push(Line { number: number.unwrap_or(0), text, is_match, is_cut });
    }

    /// As much of a long line as is shown: its match, and a little before.
    fn around_match<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let longest = self.search.longest_line;
        let at = self.matcher.find(bytes).ok().flatten().map_or(0, |found| found.start());
        let is_edge = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        let wished = if at < longest / 2 { 0 } else { at - longest / 4 };
        let start = (0..=wished.min(bytes.len() - longest)).rev().find(is_edge).unwrap_or(0);
        let end = (start..=start + longest).rev().find(is_edge).unwrap_or(start);
        &bytes[start..end]
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matching += 1;
        if self.kept < self.most {
            self.kept += 1;
            self.push(found.line_number(), found.bytes(), true);
        }
        Ok(self.search.wanted != Want::Files)
    }

    fn context(&mut self, _searcher: &Searcher, found: &SinkContext<'_>) -> Result<bool, io::Error> {
        // After the last line that is kept its context still comes, and no more.
        let last = self.lines.iter().rev().find(|line| line.is_match).map_or(0, |line| line.number);
        let follows = found.line_number().is_some_and(|number| number <= last + self.search.context as u64);
        let is_of_kept = if self.kept < self.most { true } else { follows && last > 0 };
        if self.most > 0 && is_of_kept {
            self.push(found.line_number(), found.bytes(), false);
        }
        Ok(true)
    }
}
