//! Logs and command output: words that report an error, and log templates (lines that differ only in their numbers).

use tamis_text::TextKind;
use tamis_text::interner::hash;

use crate::{EngineError, outliers};

/// Only this much of a line goes into its template.
pub(crate) const LINE_BYTES: usize = 512;

/// The contract's words: log lines with one of them always stay, in upper or lower case.
pub(crate) const ERROR_WORDS: [&[u8]; 3] = [b"error", b"exception", b"traceback"];

/// Words that usually report an error; a superset of the contract's.
const SEVERE: [&[u8]; 9] = [
    b"error",
    b"exception",
    b"traceback",
    b"fatal",
    b"panic",
    b"fail",
    b"critical",
    b"segfault",
    b"assertion",
];

/// Whether the line has a word that usually reports an error.
pub(crate) fn is_severe(line: &str) -> bool {
    find_word(line.as_bytes(), &SEVERE).is_some()
}

/// Whether the line has one of the contract's words.
pub(crate) fn has_error_word(line: &str) -> bool {
    find_word(line.as_bytes(), &ERROR_WORDS).is_some()
}

/// The position and length of the first of `words`, ignoring case.
pub(crate) fn find_word(bytes: &[u8], words: &[&[u8]]) -> Option<(usize, usize)> {
    bytes.iter().enumerate().find_map(|(at, byte)| {
        // Comparing the first letter rules out most positions.
        if !matches!(byte | 0x20, b'e' | b't' | b'f' | b'p' | b'c' | b's' | b'a') {
            return None;
        }
        let begins = |word: &&&[u8]| {
            word[0] == byte | 0x20
                && bytes[at..].get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        };
        words.iter().find(begins).map(|word| (at, word.len()))
    })
}

/// Levels with which a line of a log may begin, in upper or lower case.
const LEVELS: [&str; 7] = ["trace", "debug", "info", "notice", "warn", "warning", "log"];

/// Whether the line is a message of a program, rather than a line of a file, a diff or a list that was printed: messages repeat each
/// other, and of the others each line counts.
pub(crate) fn is_message(line: &str) -> bool {
    let text = line.trim();
    if has_time_or_level(text) {
        return true;
    }
    let first = text.split_whitespace().next().unwrap_or("");
    let number = first.trim_end_matches([':', '|', '-', '→', '│']);
    // `12  text`, `12 | text`, `12-text`, `src/a.rs:12:text`, `src/a.rs-12-text`
    let is_numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_marked = text.starts_with([
        '+', '-', '|', '│', '├', '└', '<', '#', '`', '*', '>', '✓', '✔', '√', '•', '"', '\'', '@', '/', '.',
    ]);
    let is_code = text.ends_with(['{', '}', '(', ')', '[', ']', ';', ',', ':', '\\', '"', '`', '>']);
    // Columns of a table.
    let is_row = text.matches("  ").count() > 1 || text.contains('\t');
    if is_numbered || is_marked || is_code || is_row || has_place(first) {
        return false;
    }
    // `Linking crate-3 v1.3.0`, `19b091927013 Extracting 1B`
    let is_step =
        |word: &str| word.starts_with(char::is_uppercase) && (word.ends_with("ing") || word.ends_with("ed"));
    text.split_whitespace().take(2).any(is_step)
        || text.split_whitespace().filter(|word| is_word(word)).count() > 2
}

/// Whether a word says what a step of a build does or did: `Compiling`, `Downloaded`.
pub(crate) fn names_step(word: &str) -> bool {
    word.starts_with(char::is_uppercase) && (word.ends_with("ing") || word.ends_with("ed"))
}

fn is_word(text: &str) -> bool {
    text.chars().filter(|letter| letter.is_alphabetic()).nth(1).is_some()
}

/// `2026-01-31 …`, `[12:30:59] …`, `INFO …`, `{"time":…`
fn has_time_or_level(text: &str) -> bool {
    let text = text.trim_start_matches(['[', '(']);
    let first = text
        .split(|letter: char| letter.is_whitespace() || matches!(letter, ']' | ')' | ':'))
        .next()
        .unwrap_or("");
    if LEVELS.iter().any(|level| first.eq_ignore_ascii_case(level)) {
        return true;
    }
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let sign = |at: usize| bytes.get(at).is_some_and(|byte| matches!(byte, b'-' | b'/' | b':' | b'.'));
    let is_date = (0..4).all(digit) && sign(4) && digit(5) && digit(6) && sign(7);
    let is_time = digit(0) && digit(1) && bytes.get(2) == Some(&b':') && digit(3) && digit(4);
    let is_record = text.starts_with('{')
        && ["\"time\"", "\"ts\"", "\"timestamp\"", "\"level\""].iter().any(|key| text.contains(key));
    // Rows of a table may begin with a date too.
    let has_words = || text.split_whitespace().skip(1).any(|word| is_word(word) && !word.contains(','));
    (is_date || is_time) && has_words() || is_record
}

/// Whether a word names a line of a file: `src/a.rs:12`, `src/a.rs:12:text` or `src/a.rs-12-text`.
fn has_place(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.iter().enumerate().any(|(at, sign)| {
        if at == 0 || !matches!(sign, b':' | b'-') {
            return false;
        }
        let rest = &bytes[at + 1..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_file = || bytes[..at].iter().any(|byte| matches!(byte, b'/' | b'.'));
        match rest.get(digits) {
            Some(next) => digits > 0 && next == sign,
            None => digits > 0 && *sign == b':' && is_file(),
        }
    })
}

/// For each line: how many lines have its template, how many of those came earlier, and whether it is an outlier.
pub(crate) struct Repetition {
    /// The number of the line's template.
    pub(crate) template: Vec<u32>,
    pub(crate) count: Vec<u32>,
    pub(crate) earlier: Vec<u32>,
    pub(crate) stands_out: Vec<bool>,
}

pub(crate) fn repetition(
    kind: TextKind,
    lines: &[&str],
    interrupted: &dyn Fn() -> bool,
) -> Result<Repetition, EngineError> {
    let mut table = Table::new(lines.len());
    let mut counts: Vec<u32> = Vec::new();
    let mut earlier = Vec::with_capacity(lines.len());
    let mut template = Vec::with_capacity(lines.len());
    let mut masked = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if number % 512 == 0 && interrupted() {
            return Err(EngineError::Interrupted);
        }
        mask(line, &mut masked);
        let id = table.number(hash(&masked), counts.len() as u32);
        if id as usize == counts.len() {
            counts.push(0);
        }
        earlier.push(counts[id as usize]);
        counts[id as usize] += 1;
        template.push(id);
    }
    let count: Vec<u32> = template.iter().map(|&id| counts[id as usize]).collect();
    // Outliers are only used for logs.
    let stands_out = match kind {
        TextKind::Logs => outliers::find(lines, &template, &counts, interrupted)?,
        TextKind::Code | TextKind::Docs => vec![false; lines.len()],
    };
    Ok(Repetition { template, count, earlier, stands_out })
}

/// Whether a template masks the word: decimal or hexadecimal numbers, and ids that are mostly digits.
pub(crate) fn is_number(word: &[u8]) -> bool {
    let digits = word.iter().filter(|b| b.is_ascii_digit()).count();
    digits > 0
        && (word.starts_with(b"0x") || digits * 2 >= word.len() || word.iter().all(u8::is_ascii_hexdigit))
}

/// Writes the template of a line: numbers become `0`, runs of white space one space.
fn mask(line: &str, masked: &mut Vec<u8>) {
    masked.clear();
    let bytes = &line.as_bytes()[..line.len().min(LINE_BYTES)];
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_alphanumeric() {
            let end = bytes[at..]
                .iter()
                .position(|b| !b.is_ascii_alphanumeric())
                .map_or(bytes.len(), |length| at + length);
            let word = &bytes[at..end];
            if is_number(word) {
                masked.push(b'0');
            } else {
                masked.extend_from_slice(word);
            }
            at = end;
        } else if byte.is_ascii_whitespace() {
            if masked.last() != Some(&b' ') {
                masked.push(b' ');
            }
            at += 1;
        } else {
            masked.push(byte);
            at += 1;
        }
    }
    while masked.last() == Some(&b' ') {
        masked.pop();
    }
}

/// Numbers templates by their hash. On a collision two templates count as one, which at worst cuts one line too many.
struct Table {
    slots: Vec<(u64, u32)>,
}

impl Table {
    fn new(most: usize) -> Table {
        Table { slots: vec![(0, u32::MAX); (2 * most + 2).next_power_of_two()] }
    }

    fn number(&mut self, key: u64, next: u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = key as usize & mask;
        loop {
            if self.slots[slot].1 == u32::MAX {
                self.slots[slot] = (key, next);
                return next;
            }
            if self.slots[slot].0 == key {
                return self.slots[slot].1;
            }
            slot = (slot + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_from_lines_of_files_and_lists() {
        for message in [
            "   Linking crate-3 v1.3.0",
            " 19b091927013 Extracting 1B",
            "worker 17 is still alive",
            "worker-3 is alive and well",
            "localhost:8080 is not ready yet",
            "2026-01-31 10:00:00 started",
            "10:00:00 request 17 answered",
            "[INFO] done",
            "WARN: slow",
            "{\"ts\": 17, \"message\": \"done\"}",
        ] {
            assert!(is_message(message), "{message}");
        }
        for line in [
            "",
            "x",
            "2026-01-31,0.5,17",
            "2026-01-31  0.5  17",
            "10:30,17,18",
            "src/a.rs:12: if all of it is there",
            "src/a.rs:12",
            "src/a.rs-12-if all of it is there",
            "12 if all of it is there",
            "return a, b, and c;",
            "an item of a list,",
            "name  size  changed  owner",
            "- a point of a list",
        ] {
            assert!(!is_message(line), "{line}");
        }
        // A word of many digits is looked at once.
        assert!(is_message(&format!("x{} and so on", "1".repeat(1 << 20))));
    }

    #[test]
    fn lines_that_differ_in_numbers_are_one_template() {
        let lines = ["2024-01-01 GET /a/12 0xdeadbeef", "2025-11-30 GET /a/7 0xfeed12", "other", "  other "];
        let repetition = repetition(TextKind::Logs, &lines, &|| false).expect("nothing interrupts");
        assert_eq!(repetition.earlier, [0, 1, 0, 0]);
        assert_eq!(repetition.count, [2, 2, 1, 1]);
    }

    #[test]
    fn error_words_are_found_in_any_case() {
        for line in [
            "ERROR: x",
            "java.lang.NullPointerException",
            "Traceback (most recent call last):",
            "2 tests FAILED",
            "panicked at",
        ] {
            assert!(is_severe(line), "{line}");
        }
        assert!(is_severe(&format!("{} error", "x".repeat(100_000))));
        assert!(!is_severe("all is well"));
    }
}
