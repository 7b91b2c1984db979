//! Definitions with almost the name of the question, by edit distance: a letter added, missing, changed, two swapped, or another
//! case.
//!
//! One edit leaves the first or the second half of a name intact, so only places with one of the halves are compared.

use aho_corasick::AhoCorasick;
use tamis_codebase::{RootedPath, Roots, StopSignal, scan};
use tamis_redact::searchable_bytes;
use tamis_syntax::defined_name;

use crate::locate::is_test;
use crate::roles::paths::is_prose_or_data;
use crate::{RoleError, RoleErrorKind};
use tamis_code_index::in_run;

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SimilarName {
    /// The edit distance.
    edit_distance: usize,
    in_tests: bool,
    pub(super) name: String,
    pub(super) place: RootedPath,
    /// From 1.
    pub(super) line: usize,
}

const MOST: usize = 3;
/// Every name is near a short one.
const SHORTEST: usize = 5;
/// Length from which on two edits are allowed.
const LONG: usize = 9;

/// The nearest, best first. Reads everything, so it is for names that are nowhere.
pub(super) fn find_similar_names(
    roots: &Roots,
    names: &[String],
    stop: &StopSignal,
) -> Result<Vec<SimilarName>, RoleError> {
    let names: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| name.is_ascii() && name.len() >= SHORTEST).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let halves = names.iter().flat_map(|name| {
        let (first, second) = name.split_at(name.len() / 2);
        [first, second]
    });
    let finder = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(halves)
        .map_err(|error| RoleError::new(RoleErrorKind::Internal, error.to_string()))?;
    let lists = scan(roots, stop, Vec::new, |list: &mut Vec<SimilarName>, place, bytes| {
        if !is_prose_or_data(&place.path) && finder.is_match(bytes) {
            look(&finder, &names, &place, &searchable_bytes(bytes), list);
        }
    })?;
    let mut all: Vec<SimilarName> = lists.into_iter().flatten().collect();
    all.sort();
    let mut near: Vec<SimilarName> = Vec::new();
    for one in all {
        if !near.iter().any(|known| known.name == one.name) && near.len() < MOST {
            near.push(one);
        }
    }
    Ok(near)
}

fn look(finder: &AhoCorasick, names: &[&str], place: &RootedPath, bytes: &[u8], list: &mut Vec<SimilarName>) {
    let mut until = 0;
    for found in finder.find_iter(bytes) {
        if found.start() < until {
            continue;
        }
        let start = bytes[..found.start()].iter().rposition(|&byte| !in_run(byte)).map_or(0, |at| at + 1);
        let end = bytes[found.end()..].iter().position(|&byte| !in_run(byte));
        let end = end.map_or(bytes.len(), |length| found.end() + length);
        let Ok(run) = std::str::from_utf8(&bytes[start..end]) else { continue };
        let name = names[found.pattern().as_usize() / 2];
        let most = if name.len() >= LONG { 2 } else { 1 };
        let Some(edit_distance) = edit_distance(name, run, most) else { continue };
        let opening = bytes[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let rest = &bytes[opening..bytes.len().min(end + 400)];
        let text = String::from_utf8_lossy(rest);
        let lines: Vec<&str> = text.split('\n').take(4).collect();
        if defined_name(lines[0], &lines[1..]).is_none_or(|defined| lines[0].get(defined) != Some(run)) {
            continue;
        }
        until = end;
        let line = 1 + memchr::memchr_iter(b'\n', &bytes[..start]).count();
        let in_tests = is_test(&place.path);
        list.push(SimilarName { edit_distance, in_tests, name: run.to_owned(), place: place.clone(), line });
    }
}

/// The Damerau-Levenshtein distance between two names, ignoring case, unless it is more than `most`.
fn edit_distance(one: &str, other: &str, most: usize) -> Option<usize> {
    let (one, other) = (one.to_ascii_lowercase(), other.to_ascii_lowercase());
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    // Rows of the table of distances: the one before the last, the last, this.
    let mut rows: [Vec<usize>; 3] = [Vec::new(), (0..=other.len()).collect(), Vec::new()];
    for (row, &a) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, &b) in other.iter().enumerate() {
            let changed = rows[1][column] + usize::from(a != b);
            let mut least = changed.min(rows[1][column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && a == other[column - 1] && one[row - 1] == b {
                least = least.min(rows[0][column - 1] + 1);
            }
            next.push(least);
        }
        rows = [std::mem::take(&mut rows[1]), next, Vec::new()];
    }
    rows[1].last().copied().filter(|&edit_distance| edit_distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        for (one, other, expected) in [
            ("parse_config", "parse_config", Some(0)),
            ("ParseConfig", "parseconfig", Some(0)),
            ("parse_confgi", "parse_config", Some(1)),
            ("parse_confg", "parse_config", Some(1)),
            ("pares_confg", "parse_config", Some(2)),
            ("parse", "parse_config", None),
        ] {
            assert_eq!(edit_distance(one, other, 2), expected, "{one} {other}");
        }
    }
}
