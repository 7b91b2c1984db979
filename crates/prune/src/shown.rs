//! What a session was already shown: which lines of a new tool result its model has read word for word, and where.
//!
//! The memory holds the latest tool results up to a number of tokens, and hashes nothing until it is queried: most results of
//! a long transcript leave it again unseen. A query hashes the lines of the memory and of the text, looks up each six lines of
//! the text among those of the memory, and compares the lines themselves before it reports them.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, DefaultHasher, Hasher};

use tamis_text::split_lines;

/// Fewer lines are not worth a marker, and may be the same by chance.
pub const LEAST_SHOWN_LINES: usize = 6;
/// Of the six lines that a run is found by, this many have a letter or a digit: blank lines and braces recur everywhere.
const LEAST_WORDED_LINES: usize = 3;
/// Earlier places that are compared for one line, so that repetitive texts take linear time.
const MOST_PLACES: usize = 8;
/// As [`tamis_text::estimate_tokens`] counts them.
const BYTES_PER_TOKEN: usize = 4;

/// The tool results that a model has in its context. The caller adds each result as it was sent, and forgets all of them when
/// the context is compacted.
#[derive(Clone, Debug)]
pub struct ShownMemory {
    window_bytes: usize,
    kept_results: usize,
    least_cleared_bytes: usize,
    results: VecDeque<ShownResult>,
    /// Shown bytes of the results that are held.
    bytes: usize,
    /// Shown bytes of all results since the last compaction but the latest `kept_results`, held or not.
    older_bytes: usize,
}

#[derive(Clone, Debug)]
struct ShownResult {
    label: String,
    text: String,
    /// Lines that were cut, so that the model has not read them. 1-based, inclusive.
    cuts: Vec<(usize, usize)>,
    /// Of the lines that were not cut.
    bytes: usize,
}

/// Neighbouring lines of a text that were shown before, word for word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownRun {
    /// 1-based, inclusive.
    pub first_line: usize,
    pub last_line: usize,
    pub place: ShownPlace,
}

/// Where a run was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPlace {
    /// The call whose result it was, as the caller names it.
    pub label: String,
    /// 1 for the latest result.
    pub results_ago: usize,
    /// The run's first line in that result, 1-based.
    pub first_line: usize,
}

impl ShownMemory {
    /// A memory of the latest `window_tokens` tokens of tool results.
    pub fn new(window_tokens: usize) -> ShownMemory {
        ShownMemory {
            window_bytes: window_tokens.saturating_mul(BYTES_PER_TOKEN),
            kept_results: usize::MAX,
            least_cleared_bytes: 0,
            results: VecDeque::new(),
            bytes: 0,
            older_bytes: 0,
        }
    }

    /// The same memory for a client that may clear all results but the latest `kept_results`, if the others have at
    /// least `least_cleared_tokens` tokens together. It may do so at any time from then on, so only the latest results count then.
    pub fn with_clearing(self, kept_results: usize, least_cleared_tokens: usize) -> ShownMemory {
        let least_cleared_bytes = least_cleared_tokens.saturating_mul(BYTES_PER_TOKEN);
        ShownMemory { kept_results, least_cleared_bytes, ..self }
    }

    /// Adds a tool result, without the lines that were cut from it (1-based and inclusive, in order). `label` names its call.
    pub fn add(&mut self, label: impl Into<String>, text: impl Into<String>, cuts: &[(usize, usize)]) {
        let mut result =
            ShownResult { label: label.into(), text: text.into(), cuts: cuts.to_vec(), bytes: 0 };
        result.bytes = result.shown_lines().map(|(_, line)| line.len() + 1).sum();
        self.bytes += result.bytes;
        self.results.push_back(result);
        if let Some(older) = self.results.len().checked_sub(self.kept_results.saturating_add(1)) {
            self.older_bytes += self.results[older].bytes;
        }
        let may_be_cleared = self.older_bytes >= self.least_cleared_bytes;
        while let Some(oldest) = self.results.front()
            && (self.bytes - oldest.bytes >= self.window_bytes
                || may_be_cleared && self.results.len() > self.kept_results)
        {
            self.bytes -= oldest.bytes;
            if self.results.len() <= self.kept_results {
                self.older_bytes += oldest.bytes;
            }
            self.results.pop_front();
        }
    }

    /// Forgets everything: the context was compacted, or a new one began.
    pub fn forget(&mut self) {
        self.results.clear();
        self.bytes = 0;
        self.older_bytes = 0;
    }

    /// The runs of a text that were shown, in order and without overlaps. Each is as long as the text and the place allow, and
    /// of several places the longest run counts, then the latest.
    pub fn runs(&self, text: &str) -> Vec<ShownRun> {
        if self.results.is_empty() {
            return Vec::new();
        }
        let lines: Vec<HashedLine<'_>> = split_lines(text).into_iter().map(HashedLine::of).collect();
        let index = ShownIndex::read(self);
        let mut steps = 0;
        let found = index.find(&lines, &mut steps);
        found.into_iter().map(|(first, length, at)| self.run(first, length, &index.lines[at])).collect()
    }

    fn run(&self, first: usize, length: usize, shown: &ShownLine<'_>) -> ShownRun {
        let result = &self.results[shown.result];
        ShownRun {
            first_line: first + 1,
            last_line: first + length,
            place: ShownPlace {
                label: result.label.clone(),
                results_ago: self.results.len() - shown.result,
                first_line: shown.number,
            },
        }
    }
}

impl ShownResult {
    /// The lines that were not cut, with their numbers.
    fn shown_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut cuts = self.cuts.iter().copied().peekable();
        (1..).zip(self.text.split('\n')).filter(move |(number, _)| {
            while cuts.next_if(|(_, last)| last < number).is_some() {}
            cuts.peek().is_none_or(|(first, _)| number < first)
        })
    }
}

/// A line with what it is compared by first.
struct HashedLine<'a> {
    text: &'a str,
    hash: u64,
    is_worded: bool,
}

impl<'a> HashedLine<'a> {
    fn of(text: &'a str) -> HashedLine<'a> {
        let mut hasher = DefaultHasher::new();
        hasher.write(text.as_bytes());
        // Letters of other scripts are not ASCII, and neither are the few signs that would be no words.
        let is_worded = text.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        HashedLine { text, hash: hasher.finish(), is_worded }
    }

    fn is(&self, other: &HashedLine<'_>) -> bool {
        self.hash == other.hash && self.text == other.text
    }
}

/// A line that the model has read.
struct ShownLine<'a> {
    line: HashedLine<'a>,
    /// Among the results that are held.
    result: usize,
    /// 1-based.
    number: usize,
    /// The next line of the same result follows without a cut between them.
    goes_on: bool,
}

/// The lines of a memory, found by six at a time.
struct ShownIndex<'a> {
    lines: Vec<ShownLine<'a>>,
    /// For the hash of six lines, the preferred place where they begin.
    places: HashMap<u64, usize, BuildHasherDefault<DefaultHasher>>,
    /// For each place, the next one with the same hash.
    next_places: Vec<Option<usize>>,
}

impl<'a> ShownIndex<'a> {
    fn read(memory: &'a ShownMemory) -> ShownIndex<'a> {
        // Lines of the oldest result that are out of the window.
        let mut excess = memory.bytes.saturating_sub(memory.window_bytes);
        let mut lines: Vec<ShownLine<'a>> = Vec::new();
        let mut starts = Vec::with_capacity(memory.results.len());
        for (result, shown) in memory.results.iter().enumerate() {
            starts.push(lines.len());
            for (number, text) in shown.shown_lines() {
                if excess > 0 {
                    excess = excess.saturating_sub(text.len() + 1);
                    continue;
                }
                if let Some(before) = lines.last_mut()
                    && (before.result, before.number + 1) == (result, number)
                {
                    before.goes_on = true;
                }
                lines.push(ShownLine { line: HashedLine::of(text), result, number, goes_on: false });
            }
        }
        let mut index =
            ShownIndex { next_places: vec![None; lines.len()], lines, places: HashMap::default() };
        // The latest result is preferred, and in it the first place, from which a repetition goes on for longest.
        for (result, start) in starts.iter().enumerate() {
            let end = starts.get(result + 1).copied().unwrap_or(index.lines.len());
            for at in (*start..end).rev() {
                if let Some(hash) = index.hash_at(at) {
                    index.next_places[at] = index.places.insert(hash, at);
                }
            }
        }
        index
    }

    /// The hash of the six lines that begin here, if they were shown together.
    fn hash_at(&self, at: usize) -> Option<u64> {
        let lines = self.lines.get(at..at + LEAST_SHOWN_LINES)?;
        let together = lines[..LEAST_SHOWN_LINES - 1].iter().all(|line| line.goes_on);
        if together { hash_of_lines(lines.iter().map(|line| &line.line)) } else { None }
    }

    /// Runs as their first line, their length, and the place of the first line. Counts the compared lines.
    fn find(&self, lines: &[HashedLine<'_>], steps: &mut usize) -> Vec<(usize, usize, usize)> {
        let mut runs = Vec::new();
        // Lines before this are in a run, and are not compared again.
        let (mut at, mut free) = (0, 0);
        while at + LEAST_SHOWN_LINES <= lines.len() {
            let Some((length, place)) = self.longest(&lines[at..], steps) else {
                at += 1;
                continue;
            };
            // The lines just before may have been shown too, if they alone have too few words to be found.
            let mut before = 0;
            while at - before > free
                && place > before
                && self.lines[place - before - 1].goes_on
                && self.lines[place - before - 1].line.is(&lines[at - before - 1])
            {
                before += 1;
            }
            *steps += before;
            runs.push((at - before, length + before, place - before));
            at += length;
            free = at;
        }
        runs
    }

    /// The longest run that begins at the first of these lines: its length and its place.
    fn longest(&self, lines: &[HashedLine<'_>], steps: &mut usize) -> Option<(usize, usize)> {
        let hash = hash_of_lines(lines[..LEAST_SHOWN_LINES].iter())?;
        let mut best: Option<(usize, usize)> = None;
        let places = std::iter::successors(self.places.get(&hash).copied(), |place| self.next_places[*place]);
        for place in places.take(MOST_PLACES) {
            let mut length = 0;
            while length < lines.len() && self.lines[place + length].line.is(&lines[length]) {
                length += 1;
                if !self.lines[place + length - 1].goes_on {
                    break;
                }
            }
            *steps += length + 1;
            if length >= LEAST_SHOWN_LINES && best.is_none_or(|(longest, _)| length > longest) {
                best = Some((length, place));
            }
        }
        best
    }
}

/// One hash for six lines; none when they have too few words.
fn hash_of_lines<'l, 't: 'l>(lines: impl Iterator<Item = &'l HashedLine<'t>>) -> Option<u64> {
    let (mut hash, mut worded) = (0u64, 0);
    for line in lines {
        hash = (hash.rotate_left(23) ^ line.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        worded += usize::from(line.is_worded);
    }
    (worded >= LEAST_WORDED_LINES).then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hostile texts: the same lines over and over, so that every place looks like every other.
    #[test]
    fn the_lines_compared_grow_no_faster_than_the_texts() {
        let steps_of = |line: &dyn Fn(usize) -> String, count: usize| {
            let text = (0..count).map(line).collect::<Vec<_>>().join("\n");
            let mut memory = ShownMemory::new(usize::MAX);
            for _ in 0..3 {
                memory.add("x", text.as_str(), &[]);
            }
            let lines: Vec<HashedLine<'_>> = split_lines(&text).into_iter().map(HashedLine::of).collect();
            let mut steps = 0;
            ShownIndex::read(&memory).find(&lines, &mut steps);
            steps
        };
        let texts: [&dyn Fn(usize) -> String; 4] =
            [&|_| "the same".to_owned(), &|_| String::new(), &|number| (number % 7).to_string(), &|number| {
                if number % 100 == 0 { "word".to_owned() } else { "}".to_owned() }
            }];
        for (which, line) in texts.iter().enumerate() {
            for count in [1_000, 4_000] {
                let steps = steps_of(line, count);
                assert!(steps <= 2 * MOST_PLACES * count, "text {which}: {steps} steps for {count} lines");
            }
        }
    }
}
