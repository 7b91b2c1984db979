//! One thread's part of a search: it counts all matches and keeps the first.

use std::collections::BTreeMap;
use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use tamis_redact::{searchable_bytes, with_marks};

use crate::{FileMatches, Line, RootedPath, Search, SearchMode};

/// The first files with matches, just enough of them to have the maximum number of lines.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) files: BTreeMap<RootedPath, FileMatches>,
    pub(crate) lines: u64,
}

impl Kept {
    /// Whether a file at this place would be among them.
    fn has_room(&self, place: &RootedPath, most: usize) -> bool {
        self.lines < most as u64 || self.files.last_key_value().is_some_and(|(last, _)| place < last)
    }

    pub(crate) fn add(&mut self, file: FileMatches, most: usize) {
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
    /// Removes the last `excess` matching lines, with their context.
    pub(crate) fn shorten(&mut self, excess: u64, context: usize) {
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

pub(crate) struct Worker<'a> {
    search: &'a Search,
    matcher: RegexMatcher,
    /// Counts line numbers, which takes time; only for files whose lines are kept.
    numbering: Searcher,
    counting: Searcher,
    /// The contents of the next file.
    pub(crate) bytes: Vec<u8>,
    pub(crate) kept: Kept,
    pub(crate) matching_lines: u64,
    pub(crate) matching_files: u64,
    pub(crate) files_searched: u64,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(search: &'a Search, matcher: RegexMatcher) -> Worker<'a> {
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

    /// Searches a file whose bytes have been read.
    pub(crate) fn search(&mut self, place: RootedPath) {
        self.files_searched += 1;
        // The words of a query are in the file if they are in what is shown of it; an expression may match either alone.
        if self.search.literal && !self.matcher.is_match(&self.bytes).unwrap_or(true) {
            return;
        }
        let keeps = self.search.most_matches > 0 && self.kept.has_room(&place, self.search.most_matches);
        let shows = keeps && self.search.mode == SearchMode::Lines;
        let mut collector = Collector {
            search: self.search,
            matcher: &self.matcher,
            most: if shows { self.search.most_per_file as u64 } else { 0 },
            lines: Vec::new(),
            kept: 0,
            matching: 0,
        };
        let searcher = if shows { &mut self.numbering } else { &mut self.counting };
        // Only the collector could fail, and it never does.
        let _ = searcher.search_slice(&self.matcher, &searchable_bytes(&self.bytes), &mut collector);
        let Collector { lines, kept, matching, .. } = collector;
        if matching == 0 {
            return;
        }
        self.matching_lines += matching;
        self.matching_files += 1;
        if keeps {
            let kept = match self.search.mode {
                SearchMode::Lines => kept,
                SearchMode::Counts => matching,
                SearchMode::Files => 1,
            };
            self.kept
                .add(FileMatches { place, lines, matching_lines: matching, kept }, self.search.most_matches);
        }
    }
}

/// Collects the matches of one file.
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
        let text = with_marks(&String::from_utf8_lossy(shown)).into_owned();
        self.lines.push(Line { number: number.unwrap_or(0), text, is_match, is_cut });
    }

    /// The part of a long line that is kept: its match, and a little before it.
    fn around_match<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let longest = self.search.longest_line;
        let at = self.matcher.find(bytes).ok().flatten().map_or(0, |found| found.start());
        let is_edge = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        let preferred = if at < longest / 2 { 0 } else { at - longest / 4 };
        let start = (0..=preferred.min(bytes.len() - longest)).rev().find(is_edge).unwrap_or(0);
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
        Ok(self.search.mode != SearchMode::Files)
    }

    fn context(&mut self, _searcher: &Searcher, found: &SinkContext<'_>) -> Result<bool, io::Error> {
        // Once enough lines are kept, only the context of the last one follows.
        let last = self.lines.iter().rev().find(|line| line.is_match).map_or(0, |line| line.number);
        let follows = found.line_number().is_some_and(|number| number <= last + self.search.context as u64);
        let is_of_kept = if self.kept < self.most { true } else { follows && last > 0 };
        if self.most > 0 && is_of_kept {
            self.push(found.line_number(), found.bytes(), false);
        }
        Ok(true)
    }
}
