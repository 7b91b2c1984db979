//! Histories: `git log` in its formats, `git show`, patches as mail, and Mercurial's log. Commit, then message, then what
//! it changed.

use super::RecordForm::{Files, History};
use super::RecordRole::{Detail, Entry, Filler};
use super::{Source, diff};

/// How lines between a commit's first line and its subject begin.
const HEAD_LINES: [&str; 26] = [
    "Author:",
    "AuthorDate:",
    "Commit:",
    "CommitDate:",
    "Date:",
    "Merge:",
    "Reflog:",
    "Reflog message:",
    "Notes:",
    "gpg:",
    "tree ",
    "parent ",
    "author ",
    "committer ",
    "gpgsig ",
    "From:",
    "Subject:",
    "To:",
    "Cc:",
    "MIME-Version:",
    "Content-Type:",
    "branch:",
    "tag:",
    "user:",
    "date:",
    "summary:",
];

/// Number of lines in a row that begin with a hash and make a history.
const ONE_LINE_COMMITS: usize = 3;

pub(super) fn read(source: &mut Source<'_>, at: usize) -> Option<usize> {
    if starts_commit(source.line(at)) {
        return Some(read_commits(source, at));
    }
    let in_one_line = |at: usize| one_line_hash(source.line(at)).is_some();
    if in_one_line(at) {
        let mut seen = 0;
        let mut next = at;
        while next < at + 4 * ONE_LINE_COMMITS && seen < ONE_LINE_COMMITS {
            if in_one_line(next) {
                seen += 1;
            } else if !is_graph_alone(source.line(next)) && !is_stat(source.line(next)) {
                break;
            }
            next += 1;
        }
        return (seen == ONE_LINE_COMMITS).then(|| read_one_line_commits(source, at));
    }
    None
}

fn read_commits(source: &mut Source<'_>, at: usize) -> usize {
    let mut next = at;
    while source.has(next) && starts_commit(source.line(next)) {
        let head = next;
        let mut has_subject = false;
        next += 1;
        while source.has(next) && !has_subject {
            let (line, _) = ungraph(source.line(next));
            let trimmed = line.trim_start();
            let is_head = HEAD_LINES.iter().any(|start| trimmed.starts_with(start));
            // Continuation lines of mail headers and signatures begin with one space.
            let continues = line.starts_with(' ') && !line.starts_with("    ");
            let blank = trimmed.is_empty();
            let indented = source.line(next).starts_with("    ") || source.line(next).len() > line.len();
            if starts_commit(source.line(next)) || !(is_head || blank || continues || indented) {
                break;
            }
            has_subject = !blank && !is_head && indented
                || trimmed.starts_with("Subject:")
                || trimmed.starts_with("summary:");
            next += 1;
        }
        let is_mail = source.line(head).starts_with("From ");
        // Blank lines behind a head without a subject separate it from the next.
        let mut end = next;
        while end > head + 1 && source.is_blank(end - 1) {
            end -= 1;
        }
        let commit = source.add(History, Entry, head..end, None);
        next = read_message(source, end, commit, is_mail);
        next = read_changes(source, next, commit);
    }
    next
}

fn read_message(source: &mut Source<'_>, at: usize, commit: usize, is_mail: bool) -> usize {
    let mut next = at;
    while source.has(next) {
        let line = source.line(next);
        let (plain, in_graph) = ungraph(line);
        let ends = starts_commit(line)
            || !in_graph && (is_stat(line) || line.starts_with("diff -") || line == "---" && is_mail);
        if ends
            || !(is_mail
                || in_graph
                || line.starts_with(' ')
                || line.starts_with('\t')
                || line.trim().is_empty())
        {
            break;
        }
        let role = if plain.trim().is_empty() { Filler } else { Detail };
        source.extend(History, role, next, Some(commit));
        next += 1;
    }
    next
}

/// Reads what a commit changed: names, sums or a diff, between blank lines.
fn read_changes(source: &mut Source<'_>, at: usize, commit: usize) -> usize {
    let mut next = at;
    while source.has(next) {
        let line = source.line(next);
        if line.trim().is_empty() || matches!(line, "---" | "-- ") || is_graph_alone(line) {
            source.extend(History, Filler, next, Some(commit));
            next += 1;
        } else if is_sum(line) {
            source.extend(Files, Filler, next, Some(commit));
            next += 1;
        } else if is_stat(line) || is_name_alone(line) && !starts_commit(line) {
            source.add(Files, Entry, next..next + 1, Some(commit));
            next += 1;
        } else if let Some(end) = diff::read_below(source, next, Some(commit)) {
            next = end;
        } else {
            break;
        }
    }
    next
}

fn read_one_line_commits(source: &mut Source<'_>, at: usize) -> usize {
    let mut next = at;
    let mut commit = None;
    while source.has(next) {
        let line = source.line(next);
        if one_line_hash(line).is_some() {
            commit = Some(source.add(History, Entry, next..next + 1, None));
        } else if is_graph_alone(line) {
            source.extend(History, Filler, next, None);
        } else if is_sum(line) {
            source.extend(Files, Filler, next, commit);
        } else if is_stat(line) {
            source.add(Files, Entry, next..next + 1, commit);
        } else if let Some(end) = diff::read_below(source, next, commit) {
            next = end;
            continue;
        } else {
            break;
        }
        next += 1;
    }
    next
}

/// Whether a line begins a commit of several lines.
fn starts_commit(line: &str) -> bool {
    let line = ungraph(line).0;
    if let Some(rest) = line.strip_prefix("commit ") {
        return hash_length(rest.trim_start_matches(['-', '<', '>', '^'])).is_some();
    }
    if let Some(rest) = line.strip_prefix("From ") {
        return hash_length(rest)
            .is_some_and(|length| length == 40 && rest[40..].starts_with(" Mon Sep 17 "));
    }
    line.strip_prefix("changeset:").is_some_and(|rest| rest.contains(':'))
}

/// The length of the hash that a text begins with.
fn hash_length(text: &str) -> Option<usize> {
    let length =
        text.bytes().take_while(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte)).count();
    let ends = text.as_bytes().get(length).is_none_or(|next| !next.is_ascii_alphanumeric());
    ((7..=64).contains(&length) && ends).then_some(length)
}

/// The hash of a commit that is on one line: among its first words, with digits and letters, and words behind it.
fn one_line_hash(line: &str) -> Option<&str> {
    let line = ungraph(line).0.trim_start();
    let is_hash = |word: &&str| {
        hash_length(word) == Some(word.len())
            && word.len() <= 40
            && (word.bytes().any(|byte| byte.is_ascii_digit()) || word.len() == 40)
    };
    let mut before = 0;
    for word in line.split(' ').take(8) {
        let bare = word.trim_matches(['(', ')', '[', ']', '-', ':', '<', '>', '|', ',', '*']);
        if is_hash(&bare) && (before == 0 || bare.bytes().any(|byte| byte.is_ascii_alphabetic())) {
            let behind = line[before + word.len()..].trim_start();
            // Blame puts the author and the line's number in brackets; checksums are followed by two spaces.
            let is_blame = behind.starts_with('(') && behind.contains(')') && has_date_in_bracket(behind);
            return (!behind.is_empty() && !is_blame && !line[before + word.len()..].starts_with("  "))
                .then_some(bare);
        }
        // Only dates and the like stand before the hash.
        if !(bare.is_empty() || bare.bytes().any(|byte| byte.is_ascii_digit()) || bare.len() == 3) {
            return None;
        }
        before += word.len() + 1;
        if before > line.len() {
            return None;
        }
    }
    None
}

fn has_date_in_bracket(text: &str) -> bool {
    let inside = text.split(')').next().unwrap_or_default();
    let shape =
        |window: &[u8]| window[4] == b'-' && window[7] == b'-' && window[..4].iter().all(u8::is_ascii_digit);
    inside.as_bytes().windows(10).any(shape) && inside.contains(':')
}

/// The line without the graph that `git log --graph` draws before it, and whether there was one.
fn ungraph(line: &str) -> (&str, bool) {
    if !line.starts_with(['*', '|', '\\', '/', '_']) && !line.starts_with(" *") && !line.starts_with(" |") {
        return (line, false);
    }
    let end =
        line.find(|letter: char| !matches!(letter, '*' | '|' | '\\' | '/' | '_' | ' ')).unwrap_or(line.len());
    (&line[end..], true)
}

fn is_graph_alone(line: &str) -> bool {
    let (rest, in_graph) = ungraph(line);
    in_graph && rest.is_empty()
}

/// ` src/main.rs | 12 +++---`, `M\tsrc/main.rs`, ` 3 files changed, 4 insertions(+)`.
fn is_stat(line: &str) -> bool {
    if let Some((name, sum)) = line.rsplit_once(" | ") {
        let sum = sum.trim_start();
        return name.starts_with(' ')
            && (sum.starts_with("Bin ")
                || sum.bytes().next().is_some_and(|byte| byte.is_ascii_digit()) && is_bar(sum));
    }
    let bytes = line.as_bytes();
    let status = bytes.iter().position(|&byte| byte == b'\t').unwrap_or(0);
    (1..=4).contains(&status)
        && bytes[0].is_ascii_uppercase()
        && bytes[1..status].iter().all(u8::is_ascii_digit)
        || is_sum(line)
}

fn is_bar(sum: &str) -> bool {
    sum.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'+' | b'-'))
}

fn is_sum(line: &str) -> bool {
    let line = line.trim_start();
    line.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
        && (line.contains(" files changed") || line.contains(" file changed"))
}

/// A path and nothing else, as `git log --name-only` writes.
fn is_name_alone(line: &str) -> bool {
    !line.is_empty() && line.contains(['/', '.']) && super::located::is_path(line)
}
