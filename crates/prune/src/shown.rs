//! What a session was already shown: which lines of a new tool result its model has read or written word for word, and where.
//!
//! The memory holds the latest tool results, and the latest texts that the agent wrote in its calls, each up to a number of
//! tokens. It hashes nothing until it is queried: most results of a long transcript leave it again unseen. A query hashes the
//! lines of the memory and of the text, looks up each six lines of the text among those of the memory, and compares the lines
//! themselves before it reports them.
//!
//! A client may clear old results from the context without a word in its log. But providers cache prompts by their beginning, and
//! logs say how much of each prompt was cached. A prompt that was cached up to where the one before it ended begins with the same
//! tokens, so every result in that part is still there. If the cached part ends elsewhere, the log lacks a request, which may
//! have cleared something. A client clears when a prompt no longer fits, so what the last prompt had is in the next one too,
//! unless that one may be too long.

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
/// Tokens at the end of a prompt that are never cached: those that end a message. A run that is worth its marker has more.
const UNCACHED_TOKENS: u64 = 16;
/// More than any text has on average, so that what is new in a prompt is not overestimated.
const MOST_BYTES_PER_TOKEN: usize = 8;
/// From this size of the last prompt on, the next one may be too long for the model, whose context has at least 200,000 tokens.
const CROWDED_TOKENS: u64 = 150_000;

/// What a model has in its context: tool results, and what the agent itself wrote. The caller adds each text as it was sent, and
/// forgets all of them when the context is compacted.
#[derive(Clone, Debug)]
pub struct ShownMemory {
    window_bytes: usize,
    kept_results: usize,
    least_cleared_bytes: usize,
    results: ShownTexts,
    written: ShownTexts,
    /// Since the last compaction.
    result_count: usize,
    call_count: usize,
    /// Shown bytes of all results since the last compaction, held or not.
    result_bytes: usize,
    last_prompt_tokens: u64,
    last_model: String,
}

/// Texts of one kind, the oldest first.
#[derive(Clone, Debug, Default)]
struct ShownTexts {
    list: VecDeque<ShownText>,
    /// Shown bytes of these.
    bytes: usize,
}

#[derive(Clone, Debug)]
struct ShownText {
    label: String,
    text: String,
    /// Lines that were cut, so that the model has not read them. 1-based, inclusive.
    cuts: Vec<(usize, usize)>,
    /// Of the lines that were not cut.
    bytes: usize,
    /// The number of the result, or of the call in which the agent wrote it. Counted from 1.
    number: usize,
    is_written: bool,
    sent: Sent,
}

/// Whether a result is in the prompts that the model was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// No request followed.
    NotYet,
    /// In the latest request, whose prompt has this many tokens.
    InLatestPrompt { prompt_tokens: u64 },
    /// In all requests since one with a prompt of this many tokens: each was cached at least that far.
    Confirmed { prompt_tokens: u64 },
    /// A request was not cached that far: the result may have been cleared.
    Unknown,
}

/// The prompt of a request to the model, as the log reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentPrompt<'a> {
    /// 0 if that is not known.
    pub tokens: u64,
    /// Tokens that were in the provider's cache, from the first one on.
    pub cached_tokens: u64,
    /// Models count tokens differently.
    pub model: &'a str,
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
    /// The call whose result it was, or in which the agent wrote it, as the caller names it.
    pub label: String,
    /// 1 for the latest result, or the call before the one whose result the text is.
    pub ago: usize,
    /// The run's first line in that text, 1-based.
    pub first_line: usize,
    /// The agent wrote it.
    pub is_written: bool,
}

impl ShownMemory {
    /// A memory of the latest `window_tokens` tokens of tool results, and as many of what the agent wrote.
    pub fn new(window_tokens: usize) -> ShownMemory {
        ShownMemory {
            window_bytes: window_tokens.saturating_mul(BYTES_PER_TOKEN),
            kept_results: usize::MAX,
            least_cleared_bytes: 0,
            results: ShownTexts::default(),
            written: ShownTexts::default(),
            result_count: 0,
            call_count: 0,
            result_bytes: 0,
            last_prompt_tokens: 0,
            last_model: String::new(),
        }
    }

    /// The same memory for a client that may clear all results but the latest `kept_results`, if the others have at
    /// least `least_cleared_tokens` tokens together. It may do so at any time from then on, so only the latest results count then,
    /// and those that [requests](ShownMemory::add_request) have confirmed. What the agent wrote stays.
    pub fn with_clearing(self, kept_results: usize, least_cleared_tokens: usize) -> ShownMemory {
        let least_cleared_bytes = least_cleared_tokens.saturating_mul(BYTES_PER_TOKEN);
        ShownMemory { kept_results, least_cleared_bytes, ..self }
    }

    /// Adds a tool result, without the lines that were cut from it (1-based and inclusive, in order). `label` names its call.
    pub fn add(&mut self, label: impl Into<String>, text: impl Into<String>, cuts: &[(usize, usize)]) {
        self.result_count += 1;
        let mut result = ShownText {
            label: label.into(),
            text: text.into(),
            cuts: cuts.to_vec(),
            bytes: 0,
            number: self.result_count,
            is_written: false,
            sent: Sent::NotYet,
        };
        result.bytes = result.shown_lines().map(|(_, line)| line.len() + 1).sum();
        self.result_bytes += result.bytes;
        self.results.push(result);
        while self.results.exceeds(self.window_bytes) {
            self.results.drop_oldest();
        }
    }

    /// Adds a request to the model, once, after all results that are in its prompt.
    pub fn add_request(&mut self, prompt: SentPrompt<'_>) {
        let first_kept = self.first_kept_result(0);
        let new = self.results.list.iter().filter(|result| result.sent == Sent::NotYet);
        let new_tokens = new.map(|result| result.bytes).sum::<usize>() / MOST_BYTES_PER_TOKEN;
        // A prompt grows by what is new, unless the client has removed something.
        let least_tokens = self.last_prompt_tokens.saturating_add(new_tokens as u64);
        // A cached part that ends elsewhere was written by a request that the log lacks.
        let is_known_end = prompt.cached_tokens.abs_diff(self.last_prompt_tokens) <= UNCACHED_TOKENS;
        let is_continued = prompt.tokens.saturating_add(UNCACHED_TOKENS) >= least_tokens
            && is_known_end
            && prompt.model == self.last_model
            && prompt.cached_tokens > 0;
        let cached_end = if is_continued { prompt.cached_tokens.saturating_add(UNCACHED_TOKENS) } else { 0 };
        self.last_prompt_tokens = prompt.tokens;
        if self.last_model != prompt.model {
            prompt.model.clone_into(&mut self.last_model);
        }
        for result in &mut self.results.list {
            let is_kept = result.number >= first_kept;
            result.sent = match result.sent {
                Sent::InLatestPrompt { prompt_tokens } | Sent::Confirmed { prompt_tokens }
                    if prompt_tokens <= cached_end =>
                {
                    Sent::Confirmed { prompt_tokens }
                }
                Sent::NotYet if prompt.tokens == 0 => Sent::NotYet,
                // Of many new results, the first may be cleared before they are sent.
                _ if is_kept && prompt.tokens > 0 => Sent::InLatestPrompt { prompt_tokens: prompt.tokens },
                _ => Sent::Unknown,
            };
        }
    }

    /// Notes that the client may have cleared all results but the latest, or will before the next request, however few they are.
    pub fn may_be_cleared(&mut self) {
        self.least_cleared_bytes = 0;
        self.results.list.iter_mut().for_each(|result| result.sent = Sent::Unknown);
    }

    /// Adds a call of the agent, with the texts that it wrote in it, each with its label. The call's result is added later.
    pub fn add_call(&mut self, texts: impl IntoIterator<Item = (String, String)>) {
        self.call_count += 1;
        for (label, text) in texts {
            self.written.push(ShownText {
                label,
                bytes: text.len() + 1,
                text,
                cuts: Vec::new(),
                number: self.call_count,
                is_written: true,
                sent: Sent::NotYet,
            });
        }
        while self.written.exceeds(self.window_bytes) {
            self.written.drop_oldest();
        }
    }

    /// Forgets everything: the context was compacted, or a new one began.
    pub fn forget(&mut self) {
        self.results = ShownTexts::default();
        self.written = ShownTexts::default();
        self.result_count = 0;
        self.call_count = 0;
        self.result_bytes = 0;
        self.last_prompt_tokens = 0;
    }

    /// The number of the first result that the client does not clear, because it keeps the latest, when this many new results are
    /// sent with them. Earlier ones may be [confirmed](Sent::Confirmed).
    fn first_kept_result(&self, new_results: usize) -> usize {
        if self.kept_results == usize::MAX {
            return 0;
        }
        let kept = self.kept_results.saturating_sub(new_results);
        let latest = self.results.list.iter().rev().take(kept);
        let older_bytes = self.result_bytes - latest.map(|result| result.bytes).sum::<usize>();
        let may_be_cleared = older_bytes >= self.least_cleared_bytes;
        if may_be_cleared { (self.result_count + 1).saturating_sub(kept) } else { 0 }
    }

    /// The runs of a new result that were shown, in order and without overlaps. Each is as long as the text and the place allow, and
    /// of several places the longest run counts, then the latest.
    pub fn runs(&self, text: &str) -> Vec<ShownRun> {
        self.runs_among(text, 1)
    }

    /// The same for one of several new results that are sent together.
    pub fn runs_among(&self, text: &str, new_results: usize) -> Vec<ShownRun> {
        if self.results.list.is_empty() && self.written.list.is_empty() {
            return Vec::new();
        }
        let lines: Vec<HashedLine<'_>> = split_lines(text).into_iter().map(HashedLine::of).collect();
        let index = ShownIndex::read(self, new_results.max(1));
        let mut steps = 0;
        let found = index.find(&lines, &mut steps);
        found.into_iter().map(|(first, length, at)| self.run(first, length, &index.lines[at])).collect()
    }

    fn run(&self, first: usize, length: usize, shown: &ShownLine<'_>) -> ShownRun {
        ShownRun {
            first_line: first + 1,
            last_line: first + length,
            place: ShownPlace {
                label: shown.of.label.clone(),
                ago: match shown.of.is_written {
                    // The latest call is the one whose result the text is.
                    true => (self.call_count - shown.of.number).max(1),
                    false => self.result_count + 1 - shown.of.number,
                },
                first_line: shown.number,
                is_written: shown.of.is_written,
            },
        }
    }
}

impl ShownTexts {
    fn push(&mut self, text: ShownText) {
        self.bytes += text.bytes;
        self.list.push_back(text);
    }

    /// Whether the oldest text is out of the window.
    fn exceeds(&self, window_bytes: usize) -> bool {
        self.list.front().is_some_and(|oldest| self.bytes - oldest.bytes >= window_bytes)
    }

    fn drop_oldest(&mut self) {
        self.bytes -= self.list.pop_front().map_or(0, |oldest| oldest.bytes);
    }

    /// Bytes of the oldest text that are out of the window.
    fn excess(&self, window_bytes: usize) -> usize {
        self.bytes.saturating_sub(window_bytes)
    }
}

impl ShownText {
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
    of: &'a ShownText,
    /// 1-based.
    number: usize,
    /// The next line of the same text follows without a cut between them.
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
    fn read(memory: &'a ShownMemory, new_results: usize) -> ShownIndex<'a> {
        let (results, written) = (&memory.results, &memory.written);
        let first_kept = memory.first_kept_result(new_results);
        let fits = memory.last_prompt_tokens < CROWDED_TOKENS;
        let is_certain = |text: &ShownText| {
            let is_confirmed = fits && matches!(text.sent, Sent::Confirmed { .. });
            text.is_written || text.number >= first_kept || is_confirmed
        };
        let mut excess = [results, written].map(|texts| texts.excess(memory.window_bytes));
        let mut texts: Vec<&ShownText> = results.list.iter().chain(&written.list).collect();
        texts.sort_by_key(|text| (text.number, !text.is_written));
        let mut lines: Vec<ShownLine<'a>> = Vec::new();
        let mut starts = Vec::with_capacity(texts.len());
        for of in texts {
            let excess = &mut excess[usize::from(of.is_written)];
            starts.push(lines.len());
            for (number, text) in of.shown_lines() {
                if *excess > 0 {
                    *excess = excess.saturating_sub(text.len() + 1);
                    continue;
                }
                if !is_certain(of) {
                    break;
                }
                if let Some(before) = lines.last_mut()
                    && std::ptr::eq(before.of, of)
                    && before.number + 1 == number
                {
                    before.goes_on = true;
                }
                lines.push(ShownLine { line: HashedLine::of(text), of, number, goes_on: false });
            }
        }
        let mut index =
            ShownIndex { next_places: vec![None; lines.len()], lines, places: HashMap::default() };
        // The latest text is preferred, and in it the first place, from which a repetition goes on for longest.
        for (text, start) in starts.iter().enumerate() {
            let end = starts.get(text + 1).copied().unwrap_or(index.lines.len());
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
            ShownIndex::read(&memory, 1).find(&lines, &mut steps);
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
