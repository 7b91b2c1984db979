//! Tables of commands such as `ps`, `docker ps`, `kubectl get` and `df`: column names in capitals, then rows.

use super::RecordForm::Table;
use super::RecordRole::{Entry, Header};
use super::Source;

/// The minimum number of columns, and of rows.
const FEWEST_COLUMNS: usize = 3;
const FEWEST_ROWS: usize = 2;

pub(super) fn read(source: &mut Source<'_>, at: usize) -> Option<usize> {
    let columns = column_names(source.line(at))?;
    let is_row = |at: usize| {
        let line = source.line(at);
        !line.trim().is_empty() && line.split_whitespace().nth(columns.min(FEWEST_COLUMNS) - 1).is_some()
    };
    if !(at + 1..=at + FEWEST_ROWS).all(is_row) {
        return None;
    }
    let header = source.add(Table, Header, at..at + 1, None);
    let mut next = at + 1;
    while source.has(next) {
        let line = source.line(next);
        if line.trim().is_empty()
            || column_names(line).is_some()
            || line.starts_with("$ ")
            || line.starts_with("===")
        {
            break;
        }
        source.add(Table, Entry, next..next + 1, Some(header));
        next += 1;
    }
    Some(next)
}

/// The number of column names, if the line has nothing else.
fn column_names(line: &str) -> Option<usize> {
    let words = line.split_whitespace();
    let mut count = 0;
    if line.starts_with("Filesystem ") {
        return Some(words.count());
    }
    for word in words {
        let is_name = word
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"%-_()/+#:".contains(&byte));
        if !is_name || !word.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        count += 1;
    }
    // Words of a sentence in capitals are separated by one space each.
    let is_aligned = line.contains("  ") || line.contains('\t') || line.contains("PID") || line.contains('%');
    (count >= FEWEST_COLUMNS && is_aligned).then_some(count)
}
