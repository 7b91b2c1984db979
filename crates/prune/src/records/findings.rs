//! Findings of linters and compilers: one line each, a line with quoted source below, blocks with an arrow to the place, or
//! lines grouped under their file.

use super::RecordForm::Findings;
use super::RecordRole::{Detail, Entry, Filler, Header};
use super::Source;
use super::located::{is_path, located};

/// Number of findings, among the lines that are looked at, that make a listing.
const FEWEST: usize = 2;
const LOOKED_AT: usize = 12;
/// The maximum number of lines that a finding quotes or explains.
const DETAIL_LINES: usize = 40;

const SEVERITIES: [&str; 12] = [
    "error",
    "warning",
    "note",
    "info",
    "fatal",
    "hint",
    "help",
    "style",
    "convention",
    "refactor",
    "remark",
    "information",
];

pub(super) fn read(source: &mut Source<'_>, at: usize) -> Option<usize> {
    read_lines(source, at)
        .or_else(|| read_blocks(source, at))
        .or_else(|| read_grouped(source, at))
        .or_else(|| read_severity_first(source, at))
}

/// `src/a.c:12:5: warning: unused variable [-Wunused]`, perhaps with source below.
fn read_lines(source: &mut Source<'_>, at: usize) -> Option<usize> {
    if !is_finding(source.line(at)) {
        return None;
    }
    let found = (at..at + LOOKED_AT).filter(|&next| is_finding(source.line(next))).count();
    let others = (at..at + LOOKED_AT)
        .filter(|&next| located(source.line(next)).is_some() && !is_finding(source.line(next)))
        .count();
    if found < FEWEST || others > found {
        return None;
    }
    let mut next = at;
    let mut finding = None;
    let mut since = 0;
    while source.has(next) {
        let line = source.line(next);
        if is_finding(line) {
            // A note explains the finding above it.
            let is_note = located(line).is_some_and(|place| place.text.trim_start().starts_with("note:"));
            if is_note && finding.is_some() {
                source.extend(Findings, Detail, next, finding);
            } else {
                finding = Some(source.add(Findings, Entry, next..next + 1, None));
            }
            since = 0;
        } else {
            since += 1;
            if since > DETAIL_LINES || !explains(source, next) {
                break;
            }
            let blank = line.trim().is_empty();
            source.extend(
                Findings,
                if blank { Filler } else { Detail },
                next,
                if blank { None } else { finding },
            );
        }
        next += 1;
    }
    Some(next)
}

/// Whether a line below a finding can be part of it: it is indented, quotes source, or another finding is near.
fn explains(source: &Source<'_>, at: usize) -> bool {
    let line = source.line(at);
    line.starts_with([' ', '\t', '|']) || (at + 1..at + 6).any(|next| is_finding(source.line(next)))
}

fn is_finding(line: &str) -> bool {
    let Some(place) = located(line).filter(|place| place.sign == b':') else { return false };
    let Some(text) = place.text.strip_prefix(' ').filter(|text| !text.starts_with(' ')) else { return false };
    place.has_column && !text.is_empty() || begins_like_finding(text)
}

/// A severity or a rule: `error: …`, `E0116: …`, `F401 …`, `(warning) …`.
fn begins_like_finding(text: &str) -> bool {
    let word = text.split([' ', ':', '[', ')']).next().unwrap_or_default().trim_start_matches(['(', '[']);
    SEVERITIES.iter().any(|severity| word.eq_ignore_ascii_case(severity)) || is_rule(word)
}

/// `F401`, `SC2086`, `TS2345`, `PLR2004`, `C0116`.
pub(crate) fn is_rule(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    (1..=6).contains(&letters)
        && (2..=5).contains(&(word.len() - letters))
        && word.bytes().skip(letters).all(|byte| byte.is_ascii_digit())
}

/// `warning: …` and below it `  --> src/a.rs:12:5`, as rustc, clippy and ruff write.
fn read_blocks(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let opens = |at: usize| {
        is_arrow(source.line(at + 1)) && !source.line(at).starts_with([' ', '\t']) && !source.is_blank(at)
    };
    if !opens(at) {
        return None;
    }
    let mut next = at;
    while source.has(next) && is_arrow(source.line(next + 1)) && !source.is_blank(next) {
        let finding = source.add(Findings, Entry, next..next + 2, None);
        next += 2;
        let end = next + DETAIL_LINES;
        while source.has(next) && next < end {
            let line = source.line(next);
            let blank = line.trim().is_empty();
            let quotes = line.starts_with([' ', '\t', '|'])
                || line.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
                || ["help:", "note:", "..."].iter().any(|start| line.starts_with(start));
            if !blank && (!quotes || is_arrow(source.line(next + 1)) && !line.starts_with([' ', '\t', '|'])) {
                break;
            }
            source.extend(
                Findings,
                if blank { Filler } else { Detail },
                next,
                if blank { None } else { Some(finding) },
            );
            next += 1;
        }
    }
    Some(next)
}

fn is_arrow(line: &str) -> bool {
    let Some(place) = line.trim_start().strip_prefix("--> ") else { return false };
    place.contains(':') && place.bytes().last().is_some_and(|byte| byte.is_ascii_digit())
}

/// A path, and below it `  12:5  error  text  rule`, as eslint and stylelint write. The first path may be missing, where only a
/// part of the output is shown.
fn read_grouped(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let opens = |at: usize| {
        (is_path(source.line(at).trim_end()) || is_indented_place(source.line(at)))
            && is_indented_place(source.line(at + 1))
    };
    if !opens(at) {
        return None;
    }
    let mut next = at;
    let mut file = None;
    while source.has(next) {
        let line = source.line(next);
        if is_path(line.trim_end()) && is_indented_place(source.line(next + 1)) {
            file = Some(source.add(Findings, Header, next..next + 1, None));
        } else if is_indented_place(line) {
            source.add(Findings, Entry, next..next + 1, file);
        } else if line.trim().is_empty() {
            source.extend(Findings, Filler, next, None);
        } else {
            break;
        }
        next += 1;
    }
    Some(next)
}

/// `warning • text • lib/a.dart:12:5 • rule` and `info - a.dart:12:5 - text`, as the analyzer of Dart writes.
fn read_severity_first(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let found = (at..at + LOOKED_AT).filter(|&next| is_severity_first(source.line(next))).count();
    if !is_severity_first(source.line(at)) || found < FEWEST {
        return None;
    }
    let mut next = at;
    while source.has(next) && is_severity_first(source.line(next)) {
        source.add(Findings, Entry, next..next + 1, None);
        next += 1;
    }
    Some(next)
}

fn is_severity_first(line: &str) -> bool {
    let Some((severity, rest)) = line.trim_start().split_once(' ') else { return false };
    let digit_follows =
        |(at, _): (usize, &str)| rest[at + 1..].starts_with(|sign: char| sign.is_ascii_digit());
    SEVERITIES.contains(&severity)
        && (rest.starts_with("• ") || rest.starts_with("- "))
        && rest.match_indices(':').any(digit_follows)
}

/// `  12:5  error …`.
fn is_indented_place(line: &str) -> bool {
    let trimmed = line.trim_start();
    if trimmed.len() == line.len() {
        return false;
    }
    let place = trimmed.split(' ').next().unwrap_or_default();
    place.split_once(':').is_some_and(|(row, column)| {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number(row) && is_number(column)
    }) && trimmed[place.len()..].starts_with("  ")
}
