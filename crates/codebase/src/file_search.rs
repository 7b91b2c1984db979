//! Searching the files under any paths as ripgrep does, for a person at a terminal.
//!
//! Ignore files are respected, hidden and binary files are left out, and a file that is named is searched whatever it is. Unlike
//! [`search`](crate::search) it is not bound to roots, and finds every match, in the order of paths and lines.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;

use crate::{Case, StopSignal, Stopped, cores, in_parallel};

/// Number of files that are searched before the first of them is passed on.
const BATCH: usize = 512;

/// The path that stands for stdin, as it is given and as it is shown.
const STDIN: &str = "-";
const SHOWN_STDIN: &str = "<stdin>";

/// A search in files, with ripgrep's options.
#[derive(Clone, Debug, Default)]
pub struct FileSearch {
    /// Regular expressions, of which one must match; plain texts if `literal` is set.
    pub patterns: Vec<String>,
    pub literal: bool,
    pub case: Case,
    /// Whether only whole words match.
    pub words: bool,
    /// Whether the lines that do not match are found.
    pub invert: bool,
    /// Files and folders; `-` is stdin. None: the current folder.
    pub paths: Vec<PathBuf>,
    /// Patterns of files; `!` in front excludes files. The last that matches decides.
    pub globs: Vec<String>,
    /// Types of files, such as `rust`.
    pub types: Vec<String>,
    /// Whether hidden files are searched.
    pub hidden: bool,
    /// Whether files that ignore files name are searched.
    pub ignored: bool,
    /// Number of lines to find before and after each match.
    pub before: usize,
    pub after: usize,
    /// Whether only files are found, without their lines.
    pub files_only: bool,
}

/// A file with matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    pub path: PathBuf,
    /// Matches and their context, in order.
    pub lines: Vec<FoundLine>,
    /// Why matches of a binary file are not among the lines.
    pub binary: Option<String>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLine {
    /// From 1.
    pub number: u64,
    /// Without its line end.
    pub text: Vec<u8>,
    /// The parts of the text that match; none in context, or when the search is inverted.
    pub matches: Vec<Range<usize>>,
    /// If not, it is context.
    pub is_match: bool,
    /// Whether lines between the one before and this one are left out.
    pub follows_gap: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum FileSearchError {
    #[error("invalid regular expression: {0}")]
    Pattern(String),
    #[error("invalid glob: {0}")]
    FileGlob(String),
    #[error("unknown file type `{0}`")]
    FileType(String),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// What could not be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsearchedPath {
    pub path: PathBuf,
    pub cause: String,
}

impl UnsearchedPath {
    fn of_walk(error: ignore::Error) -> UnsearchedPath {
        match error {
            ignore::Error::WithDepth { err, .. } => UnsearchedPath::of_walk(*err),
            ignore::Error::WithPath { path, err } => UnsearchedPath { path, ..UnsearchedPath::of_walk(*err) },
            ignore::Error::Io(error) => UnsearchedPath::new(Path::new("."), &error),
            error => UnsearchedPath { path: PathBuf::from("."), cause: error.to_string() },
        }
    }

    /// The walk wraps the system's error in one that repeats the path.
    fn new(path: &Path, error: &io::Error) -> UnsearchedPath {
        let cause =
            error.get_ref().and_then(Error::source).map_or_else(|| error.to_string(), ToString::to_string);
        UnsearchedPath { path: path.to_owned(), cause }
    }
}

/// A file to search.
struct Target {
    path: PathBuf,
    is_named: bool,
}

impl FileSearch {
    /// Whether matches need their path: not if a single file is searched.
    pub fn has_several_files(&self) -> bool {
        match self.paths.as_slice() {
            [only] => only != Path::new(STDIN) && only.is_dir(),
            _ => true,
        }
    }

    /// Searches, and passes on every file with a match. Returns what could not be searched.
    pub fn run<E: From<FileSearchError>>(
        &self,
        stop: &StopSignal,
        mut found: impl FnMut(FoundFile) -> Result<(), E>,
    ) -> Result<Vec<UnsearchedPath>, E> {
        let matcher = self.matcher()?;
        let mut errors = Vec::new();
        let mut targets = self.targets()?.peekable();
        while targets.peek().is_some() {
            let mut batch = Vec::new();
            for target in targets.by_ref().take(BATCH) {
                target.map_or_else(|error| errors.push(error), |target| batch.push(target));
            }
            let lists = in_parallel(&batch, cores(), |targets| {
                let targets = targets.take_while(|_| !stop.is_due());
                targets.map(|(number, target)| (number, self.search(target, &matcher))).collect::<Vec<_>>()
            });
            stop.check().map_err(FileSearchError::from)?;
            let mut results: Vec<_> = lists.into_iter().flatten().collect();
            results.sort_unstable_by_key(|(number, _)| *number);
            for (number, result) in results {
                match result {
                    Ok(Some(file)) => found(file)?,
                    Ok(None) => {}
                    Err(error) => errors.push(UnsearchedPath::new(&batch[number].path, &error)),
                }
            }
        }
        Ok(errors)
    }

    fn matcher(&self) -> Result<RegexMatcher, FileSearchError> {
        RegexMatcherBuilder::new()
            .multi_line(true)
            .line_terminator(Some(b'\n'))
            .fixed_strings(self.literal)
            .word(self.words)
            .case_smart(self.case == Case::Smart)
            .case_insensitive(self.case == Case::Ignore)
            .build_many(&self.patterns)
            .map_err(|error| FileSearchError::Pattern(error.to_string()))
    }

    /// The files to search, in order.
    fn targets(&self) -> Result<impl Iterator<Item = Result<Target, UnsearchedPath>>, FileSearchError> {
        let mut overrides = OverrideBuilder::new(".");
        for glob in &self.globs {
            overrides.add(glob).map_err(|error| FileSearchError::FileGlob(error.to_string()))?;
        }
        let overrides = overrides.build().map_err(|error| FileSearchError::FileGlob(error.to_string()))?;
        let mut types = TypesBuilder::new();
        types.add_defaults();
        for name in &self.types {
            types.select(name);
        }
        let types = types.build().map_err(|error| match error {
            ignore::Error::UnrecognizedFileType(name) => FileSearchError::FileType(name),
            error => FileSearchError::FileType(error.to_string()),
        })?;
        let here = [PathBuf::from(".")];
        let paths = if self.paths.is_empty() { &here } else { self.paths.as_slice() };
        let mut walk = WalkBuilder::from_iter(paths);
        walk.hidden(!self.hidden)
            .overrides(overrides)
            .types(types)
            .sort_by_file_name(|one, other| one.cmp(other));
        // Git's own files are left alone, whatever else is hidden.
        walk.filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
        if self.ignored {
            walk.ignore(false).git_ignore(false).git_global(false).git_exclude(false).parents(false);
        }
        let strips = self.paths.is_empty();
        Ok(walk.build().filter_map(move |entry| match entry {
            Err(error) => Some(Err(UnsearchedPath::of_walk(error))),
            Ok(entry) => {
                // A path that is named may be a link.
                let is_named = entry.is_stdin() || (entry.depth() == 0 && !entry.path().is_dir());
                let is_file = is_named || entry.file_type().is_some_and(|kind| kind.is_file());
                let path = match entry.path().strip_prefix("./") {
                    Ok(path) if strips => path.to_owned(),
                    _ => entry.into_path(),
                };
                is_file.then_some(Ok(Target { path, is_named }))
            }
        }))
    }

    /// Searches one file; none without a match.
    fn search(&self, target: &Target, matcher: &RegexMatcher) -> io::Result<Option<FoundFile>> {
        // A file that a walk finds is left out at its first NUL; of one that is named, it is said that it matches.
        let binary = if target.is_named { BinaryDetection::convert(0) } else { BinaryDetection::quit(0) };
        let (before, after) = if self.files_only { (0, 0) } else { (self.before, self.after) };
        let mut searcher = SearcherBuilder::new()
            .binary_detection(binary)
            .invert_match(self.invert)
            .before_context(before)
            .after_context(after)
            .build();
        let file = FoundFile { path: target.path.clone(), lines: Vec::new(), binary: None };
        let mut sink = Lines { search: self, matcher, file, has_match: false, after_gap: false, nul: None };
        if target.is_named && target.path == Path::new(SHOWN_STDIN) {
            searcher.search_reader(matcher, UntilEnd::of(io::stdin().lock()), &mut sink)?;
        } else {
            searcher.search_file(matcher, &File::open(&target.path)?, &mut sink)?;
        }
        Ok(sink.has_match.then_some(sink.file))
    }
}

/// A reader that is not asked again once it has ended: a terminal would wait for more.
struct UntilEnd<R> {
    reader: R,
    has_ended: bool,
}

impl<R: Read> UntilEnd<R> {
    fn of(reader: R) -> UntilEnd<R> {
        UntilEnd { reader, has_ended: false }
    }
}

impl<R: Read> Read for UntilEnd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_ended || buffer.is_empty() {
            return Ok(0);
        }
        let count = self.reader.read(buffer)?;
        self.has_ended = count == 0;
        Ok(count)
    }
}

/// Collects the lines of one file.
struct Lines<'a> {
    search: &'a FileSearch,
    matcher: &'a RegexMatcher,
    file: FoundFile,
    has_match: bool,
    after_gap: bool,
    /// Where the first NUL is.
    nul: Option<u64>,
}

impl Lines<'_> {
    /// Whether the search goes on.
    fn push(
        &mut self,
        searcher: &Searcher,
        number: Option<u64>,
        text: &[u8],
        is_match: bool,
    ) -> io::Result<bool> {
        if self.nul.is_some() && searcher.binary_detection().convert_byte().is_some() {
            return Ok(false);
        }
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let mut matches = Vec::new();
        if is_match && !self.search.invert {
            self.matcher.find_iter(text, |found| {
                matches.push(found.start()..found.end());
                true
            })?;
        }
        let follows_gap = std::mem::take(&mut self.after_gap);
        let number = number.unwrap_or_default();
        self.file.lines.push(FoundLine { number, text: text.to_vec(), matches, is_match, follows_gap });
        Ok(true)
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.has_match = true;
        if self.search.files_only {
            return Ok(false);
        }
        self.push(searcher, found.line_number(), found.bytes(), true)
    }

    fn context(&mut self, searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.push(searcher, context.line_number(), context.bytes(), false)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.after_gap = true;
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, offset: u64) -> io::Result<bool> {
        self.nul = Some(offset);
        Ok(true)
    }

    fn finish(&mut self, searcher: &Searcher, _: &SinkFinish) -> io::Result<()> {
        if let (Some(offset), true) = (self.nul, self.has_match) {
            let what = match searcher.binary_detection().quit_byte() {
                Some(_) => "WARNING: stopped searching binary file after match",
                None => "binary file matches",
            };
            self.file.binary = Some(format!("{what} (found \"\\0\" byte around offset {offset})"));
        }
        Ok(())
    }
}
