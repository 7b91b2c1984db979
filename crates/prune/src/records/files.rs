//! Lists of files: `ls -l`, `ls -lR`, `ls -R`, `tree`, `find`, `git ls-files`, `du` and the like.

use super::RecordForm::Files;
use super::RecordRole::{Entry, Filler, Header};
use super::Source;
use super::located::is_path;

/// Number of paths in a row that make a list.
const FEWEST: usize = 4;

pub(super) fn read(source: &mut Source<'_>, at: usize) -> Option<usize> {
    read_long(source, at)
        .or_else(|| read_tree(source, at))
        .or_else(|| read_folders(source, at))
        .or_else(|| read_paths(source, at))
}

/// `ls -l` with or without folders.
fn read_long(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let opens =
        |at: usize| is_long(source.line(at)) || is_total(source.line(at)) && is_long(source.line(at + 1));
    let opens_folder =
        |at: usize| is_folder(source.line(at)) && (opens(at + 1) || is_total(source.line(at + 1)));
    if !opens(at) && !opens_folder(at) {
        return None;
    }
    let mut next = at;
    let mut folder = None;
    while source.has(next) {
        let line = source.line(next);
        if is_long(line) {
            source.add(Files, Entry, next..next + 1, folder);
        } else if is_total(line) || line.is_empty() {
            source.extend(Files, Filler, next, None);
        } else if is_folder(line) && (next == at || source.line(next - 1).is_empty()) {
            folder = Some(source.add(Files, Header, next..next + 1, None));
        } else {
            break;
        }
        next += 1;
    }
    Some(next)
}

/// `-rw-r--r-- 1 root root 1592 Jul 27 21:54 README.md`, also with the inode and blocks that `find -ls` puts before it.
fn is_long(line: &str) -> bool {
    let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' ');
    let mode = rest.as_bytes();
    mode.len() > 20
        && matches!(mode[0], b'-' | b'd' | b'l' | b'b' | b'c' | b'p' | b's')
        && mode[1..10]
            .iter()
            .all(|byte| matches!(byte, b'r' | b'w' | b'x' | b'-' | b's' | b'S' | b't' | b'T'))
        && matches!(mode[10], b' ' | b'+' | b'.' | b'@')
}

fn is_total(line: &str) -> bool {
    line.strip_prefix("total ")
        .is_some_and(|sum| !sum.is_empty() && sum.len() < 12 && sum.as_bytes()[0].is_ascii_digit())
}

fn is_folder(line: &str) -> bool {
    line.len() > 1 && line.len() < 400 && line.ends_with(':') && !line.starts_with([' ', '\t'])
}

/// `ls -R`: folders with the names in them, between blank lines.
fn read_folders(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let is_start = |source: &Source<'_>, at: usize| {
        is_folder(source.line(at)) && (at == 0 || source.is_blank(at - 1)) && is_folder_path(source.line(at))
    };
    if !is_start(source, at) {
        return None;
    }
    let begun = source.list.len();
    let mut next = at;
    let mut folder = None;
    let mut whole = 0;
    // Where the folder that is being read began, in lines and in records.
    let (mut start, mut from) = (at, source.list.len());
    while source.has(next) {
        let line = source.line(next);
        if is_start(source, next) {
            (start, from) = (next, source.list.len());
            folder = Some(source.add(Files, Header, next..next + 1, None));
        } else if line.is_empty() && (is_start(source, next + 1) || !source.has(next + 1)) {
            source.extend(Files, Filler, next, None);
            whole += 1;
        } else if !line.is_empty() && is_names(line) {
            source.add(Files, Entry, next..next + 1, folder);
        } else {
            // A folder with anything else in it ends the list before that folder.
            if !line.is_empty() {
                source.list.truncate(from);
                next = start;
            } else {
                whole += 1;
            }
            break;
        }
        next += 1;
    }
    if !source.has(next) {
        whole += 1;
    }
    if whole < 2 || next == at {
        source.list.truncate(begun);
        return None;
    }
    Some(next)
}

fn is_folder_path(line: &str) -> bool {
    let name = line.trim_end_matches(':');
    name == "."
        || name.starts_with("./")
        || name.starts_with('/')
        || !name.contains([' ', '(', '=', '"', '\''])
}

/// Names of files, in one column or in several that are two spaces apart.
fn is_names(line: &str) -> bool {
    let plain = !line.starts_with([' ', '\t'])
        && !line.contains(['(', '{', ';', '=', '"', '<', '>'])
        && !line.ends_with([':', ',', '.']);
    plain && line.split("  ").all(|name| !name.trim().contains(' '))
}

/// `tree`: a name behind a branch of the tree, whose depth shows its folder.
fn read_tree(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let root = at;
    let mut next = at;
    if tree_depth(source.line(at)).is_none() {
        tree_depth(source.line(at + 1)).filter(|_| source.has(at) && !source.is_blank(at))?;
        next += 1;
    }
    let mut open: Vec<(usize, usize)> = Vec::new();
    if next > root {
        open.push((0, source.add(Files, Header, root..next, None)));
    }
    while source.has(next) {
        let Some(depth) = tree_depth(source.line(next)) else { break };
        while open.last().is_some_and(|(above, _)| *above >= depth) {
            open.pop();
        }
        let parent = open.last().map(|(_, number)| *number);
        let number = source.add(Files, Entry, next..next + 1, parent);
        open.push((depth, number));
        next += 1;
    }
    // The sum at the end: `12 directories, 40 files`.
    if source.is_blank(next) && source.line(next + 1).ends_with(" files") {
        source.add(Files, Filler, next..next + 2, None);
        next += 2;
    }
    Some(next)
}

/// The column of the name behind `├── `, in characters.
fn tree_depth(line: &str) -> Option<usize> {
    const BRANCHES: [&str; 6] = ["├── ", "└── ", "|-- ", "`-- ", "├─ ", "└─ "];
    for (column, (at, letter)) in line.char_indices().enumerate() {
        if BRANCHES.iter().any(|branch| line[at..].starts_with(branch)) {
            return Some(column + 1);
        }
        if !matches!(letter, '│' | '|' | ' ' | '\u{a0}') {
            return None;
        }
    }
    None
}

/// One path a line, perhaps behind a size, a count or a status.
fn read_paths(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let lists = |at: usize| listed_path(source.line(at));
    lists(at)?;
    let run = (at..at + FEWEST).filter_map(lists);
    let (mut count, mut nested) = (0, 0);
    for path in run {
        count += 1;
        nested += usize::from(path.contains('/'));
    }
    if count < FEWEST || nested * 2 < count {
        return None;
    }
    let mut next = at;
    while source.has(next) && listed_path(source.line(next)).is_some() {
        source.add(Files, Entry, next..next + 1, None);
        next += 1;
    }
    Some(next)
}

fn listed_path(line: &str) -> Option<&str> {
    let path = match line.rsplit_once([' ', '\t']) {
        None => line,
        Some((before, path)) => {
            let before = before.trim();
            let is_size = before.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
                && before.len() <= 16
                && before
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b',' | b' '));
            let is_status = before.len() <= 2 && before.bytes().all(|byte| b"MADRCU?!T".contains(&byte));
            let is_sum = before.len() >= 32 && before.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !is_size && !is_status && !is_sum {
                return None;
            }
            path
        }
    };
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'@') || byte >= 0x80;
    let is_name = !path.is_empty()
        && path.len() < 100
        && path.bytes().all(plain)
        && path.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_code =
        path.contains(['(', ')', '#', ':', '%', '^', '~']) || path.ends_with('.') || path.starts_with("//");
    (is_name || is_path(path) && !is_code).then_some(path)
}
