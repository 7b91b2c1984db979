//! What lines say beside the words that they have: words that stand together as in the question, and lines that do what it asks.
//!
//! Each is a further column, so that files and passages are ranked by them as they are by words.

use tamis_code_index::{WordCounter, each_run, in_run, parts_of};
use tamis_syntax::is_comment_line;

use super::Weights;
use crate::question::{Act, Question};

/// What two words together are worth, against the words.
const PAIR: f64 = 0.5;
/// What a word is worth in a line that does what the question asks, against the word anywhere.
const DONE: f64 = 1.0;
/// The same where much of a file does it: lines that decide, and lines that look something up or put it there.
const DONE_OFTEN: f64 = 0.5;

/// The columns of lines, and what each is worth.
pub(crate) struct Evidence {
    act: Option<Act>,
    /// Stems that follow each other in the question.
    pairs: Vec<(String, String)>,
    /// By column of a word: whether it is the second of a pair.
    ends_pair: Vec<bool>,
    stems: usize,
    words: usize,
    /// By column: the words; the pairs; the words in lines that do it, and in lines that look it up; the pairs in such lines.
    pub(crate) columns: Vec<f64>,
}

/// A word of the question in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WordHit {
    /// From 0.
    pub(super) line: usize,
    pub(super) column: usize,
    /// Its position in the line.
    pub(super) at: usize,
}

impl Evidence {
    pub(crate) fn of(question: &Question, counter: &WordCounter, weights: &Weights) -> Evidence {
        let stems = counter.name_column(0);
        let words = weights.columns.len();
        let mut columns = weights.columns.clone();
        let worth = |stem: &str| counter.stem_column(stem).map_or(0.0, |column| weights.columns[column]);
        let (mut pairs, mut ends_pair) = (Vec::new(), vec![false; words]);
        for (first, second) in question.pairs() {
            let (one, two) = (worth(&first), worth(&second));
            let weight = if one > 0.0 && two > 0.0 { one + two } else { one.max(two) };
            if let Some(column) = counter.stem_column(&second).filter(|_| two > 0.0) {
                ends_pair[column] = true;
                pairs.push((first, second));
                columns.push(PAIR * weight);
            }
        }
        let act = question.act;
        let share = match act {
            Some(Act::Work | Act::Choose) => DONE_OFTEN,
            _ => DONE,
        };
        let together = columns[words..].to_vec();
        for _ in 0..2 {
            columns.extend(weights.columns[..stems].iter().map(|weight| share * weight));
        }
        columns.extend(together.iter().map(|weight| share * weight));
        Evidence { act, pairs, ends_pair, stems, words, columns }
    }

    /// Lines, from 1, with all their columns, in order.
    pub(super) fn hits(&self, lines: &[&str], words: &[WordHit]) -> Vec<(usize, usize)> {
        let mut hits: Vec<(usize, usize)> = words.iter().map(|hit| (hit.line + 1, hit.column)).collect();
        let raises = if self.act == Some(Act::Raise) { raising_lines(lines) } else { Vec::new() };
        let done = self.words + self.pairs.len();
        for in_line in words.chunk_by(|a, b| a.line == b.line) {
            let number = in_line[0].line;
            let Some(line) = lines.get(number).filter(|line| line.len() <= MAX_LINE_LENGTH) else { continue };
            let pairs = self.pairs_in(line, in_line);
            hits.extend(pairs.iter().map(|pair| (number + 1, self.words + pair)));
            if self.act.is_none() || is_comment_line(line.trim_start()) {
                continue;
            }
            let statement = Statement::of(line);
            for hit in in_line.iter().filter(|hit| hit.column < self.stems) {
                let (does, looks_up) = match self.act {
                    Some(Act::Write) => (statement.writes(hit.at), false),
                    Some(Act::Read) => (statement.reads(hit.at), false),
                    Some(Act::Choose) => (statement.decides(hit.at) || statement.writes(hit.at), false),
                    Some(Act::Work) => (statement.fills(hit.at), statement.looks_up(hit.at)),
                    Some(Act::Raise) => (raises[number], false),
                    None => (false, false),
                };
                hits.extend(does.then_some((number + 1, done + hit.column)));
                hits.extend(looks_up.then_some((number + 1, done + self.stems + hit.column)));
            }
            // What is raised is often spelled: `TooManyFiles`, "too many files".
            if self.act == Some(Act::Raise) && raises[number] {
                hits.extend(pairs.iter().map(|pair| (number + 1, done + 2 * self.stems + pair)));
            }
        }
        hits.sort_unstable();
        hits.dedup();
        hits
    }

    /// Whether a column is that of a word in a line that does what the question asks.
    pub(super) fn is_done(&self, column: usize) -> bool {
        let done = self.words + self.pairs.len();
        (done..done + self.stems).contains(&column)
    }

    /// The numbers of the pairs that a line has.
    fn pairs_in(&self, line: &str, words: &[WordHit]) -> Vec<usize> {
        let mut found = Vec::new();
        // Most lines have no word that ends a pair.
        if !words.iter().any(|hit| self.ends_pair[hit.column]) {
            return found;
        }
        let mut before = String::new();
        each_run(line.as_bytes(), |_, run| {
            parts_of(run, |stem| {
                let is_here = |(first, second): &(String, String)| *first == before && second == stem;
                found.extend(self.pairs.iter().position(is_here));
                stem.clone_into(&mut before);
            });
        });
        found
    }
}

/// Longer lines are generated, or texts.
const MAX_LINE_LENGTH: usize = 400;

/// Functions that put something into what they are called on or with.
#[rustfmt::skip]
const FILLERS: [&str; 14] = [
    "add", "append", "enqueue", "extend", "insert", "push", "put", "register", "save", "set", "setdefault", "store", "unshift", "update",
];
/// Others that write what they are given.
#[rustfmt::skip]
const WRITERS: [&str; 12] = [
    "assign", "attach", "create", "dispatch", "dump", "dumps", "emit", "publish", "send", "setsockopt", "use", "write",
];
/// Others that do so if that is their whole name: `res.header(name, value)` sets what `requestHeader(name)` reads.
const WHOLE_WRITERS: [&str; 2] = ["env", "header"];
/// Functions that read it.
#[rustfmt::skip]
const READERS: [&str; 26] = [
    "acquire", "contains", "decode", "env", "environ", "exists", "fetch", "find", "get", "getenv", "has", "load", "lookup", "open",
    "parse", "peek", "pop", "read", "receive", "recv", "search", "shift", "take", "unmarshal", "values", "wait",
];
/// What begins a line that decides.
const DECISIONS: [&str; 13] = [
    "if", "elif", "else", "case", "match", "switch", "when", "return", "unless", "default", "for", "while",
    "guard",
];

/// A line of code.
struct Statement<'a> {
    line: &'a str,
    /// Where the sign of an assignment is, outside of brackets.
    sign: Option<usize>,
}

impl<'a> Statement<'a> {
    fn of(line: &'a str) -> Statement<'a> {
        Statement { line, sign: assignment(line) }
    }

    /// Whether the word at a position is written: assigned, a key, or given to what writes.
    fn writes(&self, at: usize) -> bool {
        self.sign.is_some_and(|sign| at < sign)
            || is_key(self.line, at)
            || self.is_given_to(at, &FILLERS)
            || self.is_given_to(at, &WRITERS)
            || self
                .functions(at)
                .any(|name| WHOLE_WRITERS.iter().any(|whole| name.eq_ignore_ascii_case(whole)))
    }

    /// Whether it is read: assigned from, asked about, or given to what reads.
    fn reads(&self, at: usize) -> bool {
        self.sign.is_some_and(|sign| at > sign) || self.is_given_to(at, &READERS) || self.decides(at)
    }

    /// Whether something is put into it.
    fn fills(&self, at: usize) -> bool {
        let is_filled = |sign: usize| is_indexed(self.line, at) || self.line[sign..].starts_with("<-");
        self.sign.is_some_and(|sign| at < sign && is_filled(sign)) || self.is_given_to(at, &FILLERS)
    }

    /// Whether something is looked up in it.
    fn looks_up(&self, at: usize) -> bool {
        let is_after = self.sign.is_none_or(|sign| at > sign);
        let is_received = self.line[..at]
            .trim_end_matches(|c: char| c.is_alphanumeric() || "_.".contains(c))
            .ends_with("<-");
        is_after && (is_indexed(self.line, at) || is_received)
            || self.is_given_to(at, &READERS)
            || self.decides(at)
    }

    /// Whether a function with one of these verbs in its name is called on it, or with it as the first argument.
    fn is_given_to(&self, at: usize, verbs: &[&str]) -> bool {
        self.functions(at).any(|name| has_verb(name, verbs))
    }

    /// The functions that are called on the word, and with it as the first argument.
    fn functions(&self, at: usize) -> impl Iterator<Item = &'a str> {
        [callee(self.line, at), method(self.line, at)].into_iter().flatten()
    }

    /// Whether the line decides something about the word. A result that is returned is decided; what is passed to the function that
    /// gives it is not.
    fn decides(&self, at: usize) -> bool {
        let text = self.line.trim_start().trim_start_matches(['}', ')', ' ']);
        let word = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
        let open = self.line[..at].matches('(').count() > self.line[..at].matches(')').count();
        (DECISIONS.contains(&word) && !(word == "return" && open))
            || ["||", "??", " ? ", " or ", "unwrap_or", "=> ", "match "]
                .iter()
                .any(|sign| self.line.contains(sign))
    }
}

/// The position of the first sign of assignment that is in no brackets and in no text.
fn assignment(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let (mut depth, mut quote) = (0usize, None);
    if line.trim_end().ends_with(',') {
        return None;
    }
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'' | b'`') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            (None, b'<') if bytes.get(at + 1) == Some(&b'-') && depth == 0 => return Some(at),
            (None, b'=') => {
                let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
                let after = bytes.get(at + 1).copied().unwrap_or(b' ');
                if after == b'=' {
                    at += 1;
                } else if depth == 0
                    && !matches!(before, b'=' | b'!' | b'<' | b'>')
                    && !matches!(after, b'>' | b'~')
                {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether the word is in a quoted key: `"etag": value`.
fn is_key(line: &str, at: usize) -> bool {
    let rest = &line[at..];
    let Some(end) = rest.find(['"', '\'']) else { return false };
    let after = rest[end + 1..].trim_start().trim_start_matches(']').trim_start();
    (after.starts_with(':') || after.starts_with("=>"))
        && rest[..end].bytes().all(|byte| in_run(byte) || byte == b'-')
}

/// The function that is called with the word in its first argument.
fn callee(line: &str, at: usize) -> Option<&str> {
    let bytes = line.as_bytes();
    let mut depth = 0usize;
    for position in (0..at).rev() {
        match bytes[position] {
            b')' | b']' | b'}' => depth += 1,
            b'(' if depth == 0 => {
                let before = line[..position].trim_end_matches('!');
                let start = before.bytes().rposition(|byte| !in_run(byte)).map_or(0, |start| start + 1);
                return Some(&before[start..]).filter(|name| !name.is_empty());
            }
            b'(' | b'[' | b'{' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The method that is called on the name with the word: `put` of `self.cache.put(`.
fn method(line: &str, at: usize) -> Option<&str> {
    let bytes = line.as_bytes();
    let mut end = at;
    while end < bytes.len() && in_run(bytes[end]) {
        end += 1;
    }
    let rest = &line[end..];
    let rest = rest.strip_prefix("()").unwrap_or(rest);
    let rest = [".", "->", "?.", "::"].iter().find_map(|sign| rest.strip_prefix(sign))?;
    let length = rest.bytes().position(|byte| !in_run(byte)).unwrap_or(rest.len());
    Some(&rest[..length]).filter(|_| rest[length..].starts_with(['(', '!']))
}

/// Whether the name with the word is followed by an index.
fn is_indexed(line: &str, at: usize) -> bool {
    let rest = &line[at..];
    let end = rest.bytes().position(|byte| !in_run(byte)).unwrap_or(rest.len());
    rest[end..].starts_with('[')
}

fn has_verb(name: &str, verbs: &[&str]) -> bool {
    let mut found = false;
    tamis_text::words::each_word(name, |word, _| found |= verbs.contains(&word));
    found
}

/// Which lines raise an error, or are beside one that does.
fn raising_lines(lines: &[&str]) -> Vec<bool> {
    let mut raising = vec![false; lines.len()];
    for (number, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        if is_comment_line(text) || line.len() > MAX_LINE_LENGTH || !raises(text) {
            continue;
        }
        let near = number.saturating_sub(2)..(number + 3).min(lines.len());
        raising[near].fill(true);
    }
    raising
}

fn raises(text: &str) -> bool {
    let mut found = false;
    let returns = text.starts_with("return") || text.contains(" return ");
    each_run(text.as_bytes(), |at, run| {
        let rest = &text.as_bytes()[at + run.len()..];
        let is_called = rest.starts_with(b"(") || rest.starts_with(b"!(");
        let name = std::str::from_utf8(run).unwrap_or_default();
        found |= match name {
            "raise" | "throw" => true,
            "panic" | "bail" | "reject" | "abort" | "Err" | "die" | "fail" => is_called,
            "def" | "function" | "fn" | "func" | "class" => return,
            _ => (is_called || returns) && has_verb(name, &["error", "err", "exception"]),
        };
    });
    found
        && !["def ", "fn ", "func ", "function ", "class ", "if ", "import ", "from "]
            .iter()
            .any(|word| text.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the lines, those in which `name` is acted upon.
    fn lines_that(acts: impl Fn(&Statement<'_>, usize) -> bool, lines: &[&'static str]) -> Vec<&'static str> {
        let is_acting =
            |line: &&&str| acts(&Statement::of(line), line.find("name").expect("every line has it"));
        lines.iter().filter(is_acting).copied().collect()
    }

    #[test]
    fn what_is_assigned_or_given_to_a_writer_is_written() {
        let written = [
            "name = 1",
            "self.name = value",
            "let mut name = 1;",
            "name := read()",
            "name += 1",
            "headers[\"name\"] = value",
            "this.set('name', value)",
            "w.Header().Set(\"name\", value)",
            "headers.setdefault(\"name\", value)",
            "cache.name.put(key)",
            "setsockopt(name, level)",
            "res.header('name', value)",
            "\"name\": value,",
            "names <- value",
        ];
        let others = [
            "other = name",
            "if name == other:",
            "return this.get('name')",
            "return c.requestHeader(\"name\")",
            "value := getenv(\"name\")",
            "name: int = 10,",
            "call(other, name)",
            "x => name",
            "# name",
            "if (a <= name) {",
        ];
        let all: Vec<&str> = written.iter().chain(&others).copied().collect();
        assert_eq!(lines_that(|line, at| line.writes(at), &all), written);
    }

    #[test]
    fn a_container_is_filled_and_looked_up() {
        let lines = [
            "name[key] = value",
            "name.put(key, value)",
            "value = name[key]",
            "name.get(key)",
            "name = Cache()",
            "names <- value",
            "value := <-names",
        ];
        assert_eq!(lines_that(|line, at| line.fills(at), &lines), [lines[0], lines[1], lines[5]]);
        assert_eq!(lines_that(|line, at| line.looks_up(at), &lines), [lines[2], lines[3], lines[6]]);
    }

    #[test]
    fn errors_are_raised_beside_statements_that_raise() {
        for (line, expected) in [
            ("raise TooMany(count)", true),
            ("throw new Error('x')", true),
            ("return nil, ErrTimeout", true),
            ("__setError(r, \"depth\")", true),
            ("panic(\"x\")", true),
            ("Err(Error::Depth)", true),
            ("class TooManyError(Exception):", false),
            ("def error(self):", false),
            ("if error:", false),
            ("return value", false),
        ] {
            assert_eq!(raises(line), expected, "{line}");
        }
        let lines = ["a", "b", "if x:", "raise X(", "  y,", "  z)", "c"];
        assert_eq!(raising_lines(&lines), [false, true, true, true, true, true, false]);
    }
}
