//! One pass over a text: an Aho-Corasick automaton finds keywords, and the finders of each keyword look around it.
//!
//! Finders look a few thousand bytes ahead at most, a table is read to its end but only once, and keywords inside what is
//! already hidden are skipped, so the time is linear in the length of any text.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind, PatternID};

use super::names::KEYWORDS;
use super::rules::{Compiled, RULES};
use super::searchable::{HIDDEN_TEXT, hidden_label};
use super::{MARK, assignment, columns, escapes, headers, private_key, randomness, reading, url};

/// What to put in place of a part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) label: &'static str,
}

/// What looks around a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finder {
    /// A rule, by its place in the list.
    Rule(usize),
    /// A name that may announce a secret; the numbers are its part of the keyword.
    Name(usize, usize),
    Url,
    Driver,
    Scheme,
    Cookie,
    Program(usize),
    KeyBegin,
    KeyEnd,
    /// What stands for a secret in what is searched.
    Hidden,
    /// What has been redacted before is left alone.
    Mark,
}

/// Keywords, and the finders of each.
pub(super) struct Scanner {
    /// In the automaton's order.
    words: Vec<String>,
    /// The finders that each word was added with.
    own_finders: HashMap<String, Vec<Finder>>,
    /// All finders of each word, completed when a text first has it: most texts have few of the words.
    finders: Vec<OnceLock<Vec<Finder>>>,
    rules: Compiled,
    /// Quick to build: it serves commands that scan little.
    small: AhoCorasick,
    /// Twice as fast, and built when it pays.
    fast: OnceLock<AhoCorasick>,
    /// Bytes that the small one has scanned.
    scanned: AtomicUsize,
}

/// As many bytes as the small automaton scans before the fast one is built.
const SMALL_WORK: usize = 512 << 10;

impl Scanner {
    pub(super) fn new() -> Scanner {
        let mut words: HashMap<String, Vec<Finder>> = HashMap::new();
        let mut add = |word: &str, finder: Finder| match words.get_mut(word) {
            Some(finders) => finders.push(finder),
            None => drop(words.insert(word.to_owned(), vec![finder])),
        };
        for (number, rule) in RULES.iter().enumerate() {
            rule.keywords().iter().for_each(|keyword| add(keyword, Finder::Rule(number)));
        }
        for (number, (program, ..)) in headers::PROGRAMS.iter().enumerate() {
            add(program, Finder::Program(number));
        }
        add(MARK, Finder::Mark);
        add(HIDDEN_TEXT, Finder::Hidden);
        add("://", Finder::Url);
        add("@tcp(", Finder::Driver);
        add("-----BEGIN ", Finder::KeyBegin);
        add("-----END ", Finder::KeyEnd);
        for (word, finder) in [
            ("bearer ", Finder::Scheme),
            ("basic ", Finder::Scheme),
            ("ssws ", Finder::Scheme),
            ("cookie: ", Finder::Cookie),
        ] {
            cases(word).iter().for_each(|word| add(word, finder));
        }
        for word in KEYWORDS {
            cases(word).iter().for_each(|word| add(word, Finder::Name(0, word.len())));
        }
        // Of words that begin alike the longest comes first.
        let mut ordered: Vec<&String> = words.keys().collect();
        ordered.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        let ordered: Vec<String> = ordered.into_iter().cloned().collect();
        let small = automaton(&ordered, AhoCorasickKind::ContiguousNFA);
        Scanner {
            finders: ordered.iter().map(|_| OnceLock::new()).collect(),
            words: ordered,
            own_finders: words,
            rules: Compiled::new(),
            small,
            fast: OnceLock::new(),
            scanned: AtomicUsize::new(0),
        }
    }

    /// The automaton for a text of that length.
    fn automaton(&self, length: usize) -> &AhoCorasick {
        if let Some(fast) = self.fast.get() {
            return fast;
        }
        if self.scanned.fetch_add(length, Ordering::Relaxed) + length < SMALL_WORK {
            return &self.small;
        }
        self.fast.get_or_init(|| automaton(&self.words, AhoCorasickKind::DFA))
    }

    /// The finders of the word with this number.
    fn finders(&self, word: PatternID) -> &[Finder] {
        let word = word.as_usize();
        self.finders[word].get_or_init(|| finders_of(&self.words[word], &self.own_finders))
    }

    /// What to hide, in order, without overlaps.
    pub(super) fn edits(&self, text: &[u8]) -> Vec<Edit> {
        let mut edits = self.edits_as_written(text);
        for part in escapes::parts(text) {
            let decoded = escapes::decode(text, part);
            let found = self.edits_as_written(&decoded.bytes);
            edits.extend(
                found.into_iter().map(|edit| Edit { range: decoded.source(&edit.range), label: edit.label }),
            );
        }
        merged(edits)
    }

    /// What to hide in a text whose escapes are not read.
    fn edits_as_written(&self, text: &[u8]) -> Vec<Edit> {
        let mut scan = Scan {
            text,
            scanner: self,
            edits: Vec::new(),
            block_end: 0,
            mark_end: 0,
            line_end: 0,
            table_end: 0,
        };
        for hit in self.automaton(text.len()).find_iter(text) {
            if hit.start() < scan.mark_end || scan.is_hidden(hit.start()) {
                continue;
            }
            for finder in self.finders(hit.pattern()) {
                if scan.run(*finder, hit.start()..hit.end()) {
                    break;
                }
            }
        }
        scan.edits
    }
}

fn automaton(words: &[String], kind: AhoCorasickKind) -> AhoCorasick {
    AhoCorasickBuilder::new()
        .kind(Some(kind))
        .match_kind(MatchKind::LeftmostFirst)
        .build(words)
        .expect("a few hundred short words make a small automaton")
}

/// What looks around a word: its own finders and those that would be lost, since the automaton reports only the longest
/// word that begins first. These are that of a name inside of it, and the rules of the words that it begins with.
fn finders_of(word: &str, words: &HashMap<String, Vec<Finder>>) -> Vec<Finder> {
    let mut finders = words[word].clone();
    let lower = word.to_ascii_lowercase();
    let name = KEYWORDS
        .iter()
        .find_map(|keyword| lower.find(keyword).map(|at| Finder::Name(at, at + keyword.len())));
    finders.extend(name.filter(|name| !finders.contains(name)));
    let shorter = (1..word.len()).rev().filter_map(|end| words.get(word.get(..end)?));
    finders.extend(shorter.flatten().filter(|finder| matches!(finder, Finder::Rule(_))));
    finders
}

/// The word in small letters, in capitals, and with a capital.
fn cases(word: &str) -> [String; 3] {
    let (first, rest) = word.split_at(1);
    [word.to_owned(), word.to_ascii_uppercase(), format!("{}{rest}", first.to_ascii_uppercase())]
}

struct Scan<'a> {
    text: &'a [u8],
    scanner: &'a Scanner,
    edits: Vec<Edit>,
    /// Where the last block of a private key ended.
    block_end: usize,
    /// Where the last mark of an earlier redaction ended.
    mark_end: usize,
    /// How far a header or a command has been read, which is not begun again inside itself.
    line_end: usize,
    /// How far a table has been read, which is not begun again inside itself.
    table_end: usize,
}

impl Scan<'_> {
    /// Runs one finder. True when no other finder of the keyword is needed.
    fn run(&mut self, finder: Finder, word: Range<usize>) -> bool {
        let text = self.text;
        match finder {
            Finder::Rule(number) => {
                let found = self.scanner.rules.find(text, number, word.start, |at| self.may_begin(at));
                let Some(range) = found else { return false };
                let label = RULES[number].label;
                let end = range.end;
                self.hide(range, label);
                if label == "aws-access-key" {
                    self.secret_beside_access_key(end);
                }
                true
            }
            Finder::Name(from, to) => {
                let Some(found) = assignment::find(text, word.start + from..word.start + to) else {
                    self.hide_columns(word.start + from);
                    return false;
                };
                if self.is_hidden(found.range.start) {
                    return true;
                }
                self.hide_value(found.range, found.kind.label())
            }
            Finder::Url => {
                url::password(text, word).is_some_and(|range| self.hide_value(range, "url-password"))
            }
            Finder::Driver => self.hide_if(url::password_before(text, word.start), "url-password"),
            Finder::Scheme => self.hide_if(headers::after_scheme(text, word), "authorization"),
            Finder::Cookie | Finder::Program(_) if word.start < self.line_end => false,
            Finder::Cookie => {
                let (found, end) = headers::cookies(text, word.end);
                self.line_end = end;
                found.into_iter().for_each(|range| self.hide(range, "cookie"));
                true
            }
            Finder::Program(number) => {
                let (found, end) = headers::arguments(text, word.end, headers::PROGRAMS[number].1);
                self.line_end = end;
                found.into_iter().for_each(|(range, label)| self.hide(range, label));
                false
            }
            Finder::KeyBegin => {
                let found = private_key::after_begin(text, word.start);
                self.block_end = found.last().map_or(self.block_end, |range| range.end + 8);
                self.hide_all(found)
            }
            Finder::KeyEnd if word.start <= self.block_end => true,
            Finder::KeyEnd => self.hide_all(private_key::before_end(text, word.start)),
            Finder::Hidden => {
                let reach = &text[word.start..text.len().min(word.start + 3 * word.len())];
                let label = std::str::from_utf8(reach).ok().and_then(hidden_label);
                self.edits
                    .extend(label.map(|label| Edit { range: word.start..word.start + reach.len(), label }));
                true
            }
            Finder::Mark => {
                let reach = &text[word.end..text.len().min(word.end + 40)];
                self.mark_end = memchr::memchr(b']', reach).map_or(word.end, |at| word.end + at + 1);
                true
            }
        }
    }

    /// Hides the columns below the name at `at`, if that is in the first row of a table.
    fn hide_columns(&mut self, at: usize) {
        if at < self.table_end {
            return;
        }
        let columns = columns::find(self.text, at);
        self.table_end = columns.end;
        for (range, kind) in columns.found {
            self.hide_value(range, kind.label());
        }
    }

    /// Adds what to hide, without the halves of escapes at its ends, so that strings stay valid.
    fn hide(&mut self, range: Range<usize>, label: &'static str) {
        let slashes =
            |end: usize| self.text[..end].iter().rev().take(64).take_while(|byte| **byte == b'\\').count();
        let half = match self.text[range.clone()].first() {
            Some(b'u') => 5,
            Some(b'n' | b't' | b'r' | b'b' | b'f' | b'/') => 1,
            _ => 0,
        };
        let start = if slashes(range.start) % 2 == 1 { range.start + half } else { range.start };
        let end = range.end - slashes(range.end).min(range.len());
        if start < end {
            self.edits.push(Edit { range: start..end, label });
        }
    }

    fn hide_if(&mut self, found: Option<Range<usize>>, label: &'static str) -> bool {
        let is_found = found.is_some();
        found.into_iter().for_each(|range| self.hide(range, label));
        is_found
    }

    fn hide_all(&mut self, found: Vec<Range<usize>>) -> bool {
        found.into_iter().for_each(|range| self.hide(range, "private-key"));
        true
    }

    /// Whether one of the last edits covers the place. Finders do not look far ahead, so only the last few can; where a table
    /// was read ahead, a keyword inside it costs a look around, and edits that overlap become one.
    fn is_hidden(&self, at: usize) -> bool {
        self.edits.iter().rev().take(8).any(|edit| edit.range.contains(&at))
    }

    /// Whether a secret may begin here: not in the middle of a word.
    fn may_begin(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return true };
        !self.text[before].is_ascii_alphanumeric()
            || reading::is_escape(self.text, before)
            || reading::is_color(self.text, before)
            || self.is_hidden(before)
    }

    /// Hides a value that was found by its name or position. Its own form often gives a better label.
    fn hide_value(&mut self, range: Range<usize>, label: &'static str) -> bool {
        let value = &self.text[range.clone()];
        let form = self.scanner.automaton(value.len()).find_iter(value).find_map(|hit| {
            self.scanner.finders(hit.pattern()).iter().find_map(|finder| {
                let Finder::Rule(number) = *finder else { return None };
                let found =
                    self.scanner.rules.find(self.text, number, range.start + hit.start(), |_| true)?;
                (found == range).then_some(RULES[number].label)
            })
        });
        self.hide(range, form.unwrap_or(label));
        true
    }

    /// Access keys of AWS come with a secret of 40 characters, which has no beginning of its own.
    fn secret_beside_access_key(&mut self, from: usize) {
        let reach = &self.text[from..self.text.len().min(from + 200)];
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        let mut at = 0;
        while at < reach.len() {
            let length = reach[at..].iter().position(|byte| !part(byte)).unwrap_or(reach.len() - at);
            let shape = randomness::Shape::of(&reach[at..at + length]);
            if length == 40 && shape.uppers > 0 && shape.lowers > 0 && shape.is_random() {
                self.hide(from + at..from + at + 40, "aws-secret-key");
                return;
            }
            at += length + 1;
        }
    }
}

/// In order; where two overlap, one edit over both, with the name of the one that begins first.
fn merged(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.range.start, std::cmp::Reverse(edit.range.end)));
    let mut merged: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match merged.last_mut() {
            Some(last) if edit.range.start < last.range.end => {
                last.range.end = last.range.end.max(edit.range.end);
            }
            _ => merged.push(edit),
        }
    }
    merged
}
