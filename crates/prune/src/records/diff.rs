//! Diffs: unified, combined and word diffs, with or without git's headers. File, then hunk, then changed lines and context.

use super::RecordForm::Diff;
use super::RecordRole::{Detail, Entry, Filler, Header};
use super::Source;

/// How the header lines of a file begin, after its first.
const FILE_LINES: [&str; 16] = [
    "index ",
    "old mode ",
    "new mode ",
    "deleted file ",
    "new file ",
    "copy ",
    "rename ",
    "similarity ",
    "dissimilarity ",
    "mode ",
    "--- ",
    "+++ ",
    "Binary files ",
    "=====",
    "Only in ",
    "Files ",
];

pub(super) fn read(source: &mut Source<'_>, at: usize) -> Option<usize> {
    read_below(source, at, None)
}

/// Reads a diff whose files belong to the record `parent`.
pub(super) fn read_below(source: &mut Source<'_>, at: usize, parent: Option<usize>) -> Option<usize> {
    let mut next = at;
    while let Some(end) = read_file(source, next, parent) {
        next = end;
        // Files may be separated by blank lines.
        let mut filled = next;
        while source.has(filled) && source.is_blank(filled) && filled < next + 2 {
            filled += 1;
        }
        if filled > next && source.has(filled) && opens_file(source, filled) {
            source.add(Diff, Filler, next..filled, parent);
            next = filled;
        }
    }
    (next > at).then_some(next)
}

fn opens_file(source: &Source<'_>, at: usize) -> bool {
    let line = source.line(at);
    line.starts_with("diff --")
        || line.starts_with("diff -") && source.line(at + 1).starts_with("--- ")
        || line.starts_with("Index: ") && source.line(at + 1).starts_with("===")
        || line.starts_with("--- ") && source.line(at + 1).starts_with("+++ ")
        || hunk_counts(line).is_some()
}

fn read_file(source: &mut Source<'_>, at: usize, parent: Option<usize>) -> Option<usize> {
    if !source.has(at) || !opens_file(source, at) {
        return None;
    }
    let mut next = at;
    let mut file = parent;
    if hunk_counts(source.line(at)).is_none() {
        next += 1;
        while FILE_LINES.iter().any(|start| source.line(next).starts_with(start)) && source.has(next) {
            next += 1;
        }
        let has_hunks = hunk_counts(source.line(next)).is_some();
        // Renames and binary files have no hunks: their header is all there is.
        file = Some(source.add(Diff, if has_hunks { Header } else { Entry }, at..next, parent));
        if source.line(next) == "GIT binary patch" {
            let mut end = next + 1;
            while source.has(end) && !opens_file(source, end) && source.line(end) != "-- " {
                end += 1;
            }
            source.add(Diff, Detail, next..end, file);
            next = end;
        }
    }
    while let Some(counts) = hunk_counts(source.line(next)) {
        let hunk = source.add(Diff, Header, next..next + 1, file);
        let before = source.list.len();
        next = match counts {
            HunkCounts::Of(old, new) => read_hunk(source, next + 1, old, new, hunk),
            HunkCounts::Combined(parents) => read_freely(source, next + 1, hunk, |line| {
                line.bytes().take(parents).any(|sign| matches!(sign, b'+' | b'-'))
            }),
        };
        // Without signs, as in a diff that shows changes by colour alone, any line may be changed.
        if !source.list[before..].iter().any(|record| record.role == Entry) {
            source.list[before..].iter_mut().for_each(|record| record.role = Entry);
        }
    }
    Some(next)
}

enum HunkCounts {
    /// Lines of the old and of the new file.
    Of(usize, usize),
    /// A combined diff of this many parents.
    Combined(usize),
}

/// `@@ -1,7 +1,8 @@ fn main() {` or `@@@ -1,7 -1,6 +1,8 @@@`.
fn hunk_counts(line: &str) -> Option<HunkCounts> {
    let signs = line.bytes().take_while(|&byte| byte == b'@').count();
    if signs < 2 || !line[signs..].starts_with(" -") {
        return None;
    }
    let end = line[signs..].find("@@")?;
    let mut ranges = line[signs..signs + end].split_whitespace();
    if signs > 2 {
        return Some(HunkCounts::Combined(signs - 1));
    }
    let mut count = |sign| {
        let range: &str = ranges.next()?.strip_prefix(sign)?;
        match range.split_once(',') {
            Some((_, count)) => count.parse().ok(),
            None => range.parse::<usize>().ok().map(|_| 1),
        }
    };
    Some(HunkCounts::Of(count('-')?, count('+')?))
}

/// Reads the lines that a hunk's header counts.
fn read_hunk(source: &mut Source<'_>, at: usize, mut old: usize, mut new: usize, hunk: usize) -> usize {
    let mut next = at;
    while source.has(next) && (old > 0 || new > 0 || source.line(next).starts_with("\\ ")) {
        let sign = source.line(next).bytes().next().unwrap_or(b' ');
        let role = match sign {
            b'+' if new > 0 => Entry,
            b'-' if old > 0 => Entry,
            b' ' | b'\t' if old > 0 && new > 0 && has_changed_words(source.line(next)) => Entry,
            b' ' | b'\t' if old > 0 && new > 0 => Detail,
            b'\\' => Detail,
            _ => return read_freely(source, next, hunk, has_changed_words),
        };
        old = old.saturating_sub(usize::from(sign != b'+' && sign != b'\\'));
        new = new.saturating_sub(usize::from(sign != b'-' && sign != b'\\'));
        source.extend(Diff, role, next, Some(hunk));
        next += 1;
    }
    next
}

/// `[-old-]` or `{+new+}`, as in a word diff.
fn has_changed_words(line: &str) -> bool {
    line.contains("[-") && line.contains("-]") || line.contains("{+") && line.contains("+}")
}

/// Reads a hunk whose lines cannot be counted, up to what cannot be part of one.
fn read_freely(source: &mut Source<'_>, at: usize, hunk: usize, is_changed: impl Fn(&str) -> bool) -> usize {
    let mut next = at;
    while source.has(next) {
        let line = source.line(next);
        let ends = |line: &str| {
            line.starts_with("commit ") || line.starts_with("diff -") || line.starts_with("From ")
        };
        if hunk_counts(line).is_some() || ends(line) || opens_file(source, next) || line == "-- " {
            break;
        }
        if line.trim().is_empty() && (ends(source.line(next + 1)) || source.is_blank(next + 1)) {
            break;
        }
        source.extend(Diff, if is_changed(line) { Entry } else { Detail }, next, Some(hunk));
        next += 1;
    }
    next
}
