//! Whether a line of a log reports an error, or only mentions the word. The lines around a report belong to it.

use crate::goal::clip;
use crate::logs::{ERROR_WORDS, find_word};

/// Only this much of a line is read, as of a line of a large text, and so much on either side of the word. Without limits, a line
/// of nothing but such words takes the square of its length.
const LINE_BYTES: usize = 4 * 1024;
const SIDE_BYTES: usize = 64;

/// What names the level of a message, before the word: `severity: error`, `level error`.
const LEVEL_NAMES: [&str; 7] = ["level", "lvl", "severity", "loglevel", "status", "type", "priority"];

/// Words before the word, with which an error happened: `raised an exception`, `Unhandled Exception`. Past tense only: `raises an
/// error` describes.
const HAPPENED_BEFORE: [&str; 8] =
    ["raised", "threw", "thrown", "caught", "unhandled", "uncaught", "encountered", "failed"];
/// Words behind the word, with which an error happened: `error while reading`, `exception caught`.
const HAPPENED_BEHIND: [&str; 6] = ["occurred", "occured", "caught", "thrown", "raised", "while"];
/// Between a word of `HAPPENED_BEFORE` and the error: `failed with an error`.
const BETWEEN: [&str; 9] = ["a", "an", "the", "with", "by", "due", "to", "of", "unknown"];
/// Before the word, these deny the error.
const ABSENT_BEFORE: [&str; 5] = ["no", "without", "any", "not", "non"];
/// As its value, these deny the error: `errors: 0`, `"error":null`.
const ABSENT_VALUES: [&str; 6] = ["0", "none", "null", "nil", "false", "undefined"];

/// Whether the line reports an error rather than only mentioning the word.
///
/// `error: …`, `error[E0308]`, `java.io.IOException: …`, `Exception in thread …`, `Traceback (most recent call last):`, `[ERROR] …`,
/// `level=error`, `"level":"error"`, `<error>`, `Error 2013`, `raised an exception`; but not `func parse() error {` in a listing, nor
/// `0 errors` or `error_count=0`.
pub(crate) fn reports_error(line: &str) -> bool {
    let line = clip(line, LINE_BYTES);
    let bytes = line.as_bytes();
    let first_letter = line.find(|letter: char| !letter.is_ascii_whitespace()).unwrap_or(line.len());
    let mut from = 0;
    while let Some((at, length)) = find_word(&bytes[from..], &ERROR_WORDS) {
        let (start, end) = (from + at, from + at + length);
        // The word and what it is found in are ASCII, so both are boundaries of characters.
        let before = &line[line.ceil_char_boundary(start.saturating_sub(SIDE_BYTES))..start];
        let (word, behind) = (&line[start..end], clip(&line[end..], SIDE_BYTES));
        let is_first = start == first_letter;
        if !is_absent(before, behind) && (is_first || is_report(before, word, behind)) {
            return true;
        }
        from = end;
    }
    false
}

fn is_report(before: &str, word: &str, behind: &str) -> bool {
    let upper_case = word.bytes().all(|byte| byte.is_ascii_uppercase());
    let followed_by_sign = behind.starts_with([':', '[', '!']);
    upper_case
        || followed_by_sign
        || word.eq_ignore_ascii_case("traceback")
        || is_level(before, behind)
        || is_value_of_key(behind)
        || has_number(before, behind)
        || happened(before, behind)
}

/// `0 errors`, `no errors found`, `without error`, `error_count=0`, `Errors: 0`, `"error":null`, `error=""`
fn is_absent(before: &str, behind: &str) -> bool {
    if before.ends_with([' ', '\t', '-', '\u{a0}']) {
        let last = last_word(before.trim_end_matches('-'));
        // Before one error, `0` is the number of a worker or of a second: `rank 0 error: …`.
        let has_plural = behind.starts_with(['s', 'S']) || behind.starts_with("(s)");
        if is_one_of(last, &ABSENT_BEFORE) || last == "0" && has_plural {
            return true;
        }
    }
    let rest = behind.trim_start_matches(|letter: char| {
        letter.is_ascii_alphabetic() || matches!(letter, '_' | '-' | '"' | '\'')
    });
    let is_json_key = behind[..behind.len() - rest.len()].ends_with('"');
    let rest = rest.trim_ascii_start();
    let Some(value) = rest.strip_prefix([':', '=']) else { return false };
    let value = value.trim_start_matches(['=', ' ', '\t']);
    let bare = value.trim_start_matches(['"', '\'']);
    if is_empty(value) {
        return true;
    }
    let word = first_word(bare);
    let after = &bare[word.len()..];
    // `error: null pointer` is a message, `error: null` a whole one, and `errors=0 warnings=2` a count.
    let is_count = rest.starts_with('=') || behind.starts_with(['s', 'S', '_']);
    let is_member = after.starts_with([',', '}', ']']);
    let ends =
        after.trim_ascii().is_empty() || after.starts_with(|letter: char| !letter.is_ascii_whitespace());
    is_one_of(word, &ABSENT_VALUES) && (is_count || is_member || is_json_key && ends)
}

/// `""`, `''`, `[]`, `{}`, but not `"'utf-8' codec can't decode"`.
fn is_empty(value: &str) -> bool {
    ["\"\"", "''", "[]", "{}"].iter().filter_map(|empty| value.strip_prefix(empty)).any(|after| {
        !after.starts_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '"' | '\''))
    })
}

/// `[error]`, `<error>`, `|error|`, `level=error`, `"level":"error"`, `severity: error`
fn is_level(before: &str, behind: &str) -> bool {
    let inner = before.trim_end_matches([' ', '\t']);
    let closing = behind.trim_start_matches([' ', '\t']);
    let ends_word = !behind.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
    let is_free = |sign: char| {
        let outer = inner.strip_suffix(sign);
        outer.is_some_and(|outer| outer.is_empty() || outer.ends_with([' ', '\t', ']', '>', '|']))
    };
    if inner.ends_with('[') && closing.starts_with(']')
        || inner.ends_with('|') && closing.starts_with('|')
        || is_free('<') && behind.starts_with(['>', ' '])
    {
        return true;
    }
    if !ends_word {
        return false;
    }
    let quoted = before.trim_end_matches(['"', '\'']);
    if quoted.len() < before.len() {
        let key = quoted.trim_end_matches([' ', '\t']);
        return key.ends_with(':') && key[..key.len() - 1].ends_with(['"', '\'']) || key.ends_with('=');
    }
    let key = inner.trim_end_matches([':', '=', ' ']);
    before.ends_with('=') && !before.ends_with("==") || is_one_of(last_word(key), &LEVEL_NAMES)
}

/// `"error": "connection lost"`, `error="connection lost"`
fn is_value_of_key(behind: &str) -> bool {
    let rest = behind.trim_start_matches(['"', '\'']);
    rest.len() < behind.len() && rest.trim_ascii_start().starts_with(':')
        || rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>")
}

/// `Error 2`, `error code 111`, `ERROR 1064 (42000)`, but not `error 0`
fn has_number(before: &str, behind: &str) -> bool {
    let Some(mut rest) = behind.strip_prefix(' ') else { return false };
    for label in ["code ", "code: ", "code=", "number ", "no. ", "#"] {
        rest = rest.strip_prefix(label).unwrap_or(rest);
    }
    let number = first_word(rest);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && number.bytes().any(|byte| byte != b'0') && !before.ends_with(['.', '_'])
}

fn happened(before: &str, behind: &str) -> bool {
    let rest = behind.strip_prefix('s').unwrap_or(behind);
    let is_free = !before.ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
    if is_free && rest.starts_with(' ') && is_one_of(first_word(&rest[1..]), &HAPPENED_BEHIND) {
        return true;
    }
    let mut rest = before;
    for _ in 0..4 {
        // Only a space is between the words of a sentence.
        let Some(words) = rest.strip_suffix(' ') else { return false };
        let word = last_word(words);
        if is_one_of(word, &HAPPENED_BEFORE) {
            return true;
        }
        if !is_one_of(word, &BETWEEN) {
            return false;
        }
        rest = &words[..words.len() - word.len()];
    }
    false
}

fn last_word(text: &str) -> &str {
    let text = text.trim_ascii_end();
    let start = text.rfind(|letter: char| !letter.is_ascii_alphanumeric());
    // Behind the last sign, which may have several bytes.
    start.map_or(text, |at| &text[at + text[at..].chars().next().map_or(0, char::len_utf8)..])
}

fn first_word(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric());
    end.map_or(text, |end| &text[..end])
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_more_than_a_mention() {
        for line in [
            "error: x",
            "error[E0308]: y",
            "2024 [ERROR] z",
            "Traceback (most recent call last):",
            "ts=12:02:00 level=error comp=db msg=\"lost connection\"",
            "level=\"error\" msg=lost",
            "{\"ts\":\"12:02:00\",\"level\":\"error\",\"msg\":\"lost connection\"}",
            "{\"level\": \"Error\", \"msg\": \"lost connection\"}",
            "{\"error\":\"lost connection\"}",
            "12:02:00 [error] 31#31: lost connection",
            "12:02:00 ERROR db lost connection",
            "12:02:00 mysqld lost connection, Error 2013 (HY000)",
            "12:02:00 db error while reading block",
            "12:02:00 <error> lost connection",
            "<error message=\"lost\">",
            "12:02:00 | error | lost connection",
            "12:02:00 E/db: exception caught",
            "12:02:00 make: *** [all] Error 2",
            "12:02:00   Unhandled Exception in worker",
            "12:02:00 db raised an exception",
            "12:02:00 worker failed with an unknown error",
            "12:02:00 severity: error, lost connection",
            "12:02:00 connect failed, error code 111",
            "12:02:00 an error occurred",
            "é error=lost",
            "error: no such file or directory",
            "error: null pointer",
            "12:00:01 division by zero error: aborted",
            "worker 0 ERROR: connection lost",
            "rank 0 error: segfault",
            "10:00:05.0 ERROR db lost",
            "error: \"'utf-8' codec can't decode\"",
            "{\"error\": \"'id' is required\"}",
            "Error: undefined",
            "error: null",
        ] {
            assert!(reports_error(line), "{line}");
        }
        for line in [
            "func parse(s string) error {",
            "0 errors, 2 warnings",
            "if err != nil { return fmt.Errorf(x) }",
            "no errors found",
            "No error occurred",
            "12:02:00 scan done, error_count=0",
            "12:02:00 scan done, errors=0 warnings=2",
            "Errors: 0",
            "{\"error\":null,\"n\":5}",
            "{\"errors\": [], \"n\": 5}",
            "{\"error\": \"\", \"n\": 5}",
            "12:02:00 finished without errors",
            "12:02:00 finished with error 0",
            "12:02:00 GET /error/page.html 200",
            "12:02:00 loaded error_pages.conf",
            "catch (error) {",
            "0 error(s)",
            "10:00:05 done: 0 exceptions",
            "{\"error\": null}",
            "{\"error\": \"none\", \"n\": 5}",
            "{ error: null, data: [] }",
            "errors: none",
            "Result<Vec<u8>, Box<dyn Error>>",
            "é",
        ] {
            assert!(!reports_error(line), "{line}");
        }
    }

    #[test]
    fn only_the_start_of_a_line_and_what_is_beside_the_word_is_read() {
        // With the whole line on either side of each word, this takes minutes.
        assert!(!reports_error(&format!("x{}", "error".repeat(390_000))));
        assert!(reports_error(&format!("{}error: lost", "x ".repeat(2000))));
        assert!(!reports_error(&format!("{}error: lost", "x ".repeat(2100))));
        // Far spaces do not make it the first word, and far characters are not cut.
        assert!(!reports_error(&format!("x{}error", " ".repeat(100))));
        assert!(reports_error(&format!("{}error", " ".repeat(100))));
        for spaces in 0..4 {
            let text = format!("{}{}error{}", "é名".repeat(40), " ".repeat(spaces), "é名".repeat(40));
            assert!(!reports_error(&text));
        }
    }
}
