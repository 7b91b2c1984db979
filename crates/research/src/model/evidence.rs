//! Checks that what a model cites exists.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tamis_codebase::AccessError;

use super::tools::lines_of;
use crate::{BoundedReader, Reference};

/// This many references at the front are of different files.
const DISTINCT: usize = 10;

/// Looks into cited files, each once. This is checking, not reading for an answer, so it does not count against the budget.
pub(super) struct Evidence<'a> {
    reader: &'a BoundedReader,
    known: BTreeMap<String, Option<File>>,
}

#[derive(Clone)]
struct File {
    /// From its root.
    path: String,
    /// None when unknown: the file is too large, or binary.
    lines: Option<usize>,
}

/// A place that a model cites.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CitedPlace {
    path: String,
    line: Option<usize>,
}

impl<'a> Evidence<'a> {
    pub(super) fn of(reader: &'a BoundedReader) -> Evidence<'a> {
        Evidence { reader, known: BTreeMap::new() }
    }

    /// Those that exist, each once, the first of each file in front; and how many do not.
    pub(super) fn check(&mut self, cited: impl Iterator<Item = CitedPlace>) -> (Vec<Reference>, usize) {
        let mut dropped = 0;
        let mut there: Vec<(String, Option<usize>)> = Vec::new();
        for cited_place in cited {
            let Some(file) = self.file(&cited_place.path) else {
                dropped += 1;
                continue;
            };
            let line = cited_place.line.filter(|line| file.lines.is_some_and(|lines| *line <= lines));
            if !there.contains(&(file.path.clone(), line)) {
                there.push((file.path, line));
            }
        }
        let with_line: BTreeSet<&String> =
            there.iter().filter(|(_, line)| line.is_some()).map(|(path, _)| path).collect();
        let mut files = BTreeSet::new();
        let (mut first, mut more) = (Vec::new(), Vec::new());
        for (path, line) in &there {
            // A reference with a line replaces one without.
            if line.is_none() && with_line.contains(path) {
                continue;
            }
            let reference = Reference::new(path, *line);
            if files.insert(path) { first.push(reference) } else { more.push(reference) }
        }
        let rest = first.split_off(first.len().min(DISTINCT));
        first.extend(more);
        first.extend(rest);
        (first, dropped)
    }

    /// Whether the files that a sentence cites as `folder/name.ext:line` exist.
    pub(super) fn confirms(&mut self, sentence: &str) -> bool {
        let cited: Vec<String> = sentence
            .split(|c: char| {
                c.is_whitespace() || matches!(c, '`' | '(' | ')' | '[' | ']' | '"' | '\'' | ',' | ';')
            })
            .filter_map(|word| {
                let cited_place = cited_place(word)?;
                let name = cited_place.path.rsplit_once('/')?.1;
                let is_path =
                    !cited_place.path.contains("//") && name.contains('.') && cited_place.line.is_some();
                is_path.then_some(cited_place.path)
            })
            .collect();
        cited.iter().all(|path| self.file(path).is_some())
    }

    fn file(&mut self, path: &str) -> Option<File> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let roots = &self.reader.roots;
        let file = roots.places_of(path).into_iter().find_map(|place| {
            match roots.read_text(&place, roots.policy().largest_searched) {
                Ok(text) => Some(File { lines: Some(lines_of(&text).len()), path: place.path }),
                Err(AccessError::TooLarge { .. } | AccessError::Binary { .. }) => {
                    Some(File { lines: None, path: place.path })
                }
                Err(_) => None,
            }
        });
        self.known.insert(path.to_owned(), file.clone());
        file
    }
}

/// The place that a text begins with.
pub(super) fn place_in(text: &str) -> Option<Reference> {
    cited_place(text).map(|cited| Reference::new(&cited.path, cited.line))
}

/// The references in a value: texts, lines of a text, or objects with a path and a line.
pub(super) fn references_in(value: Option<&Value>) -> Vec<CitedPlace> {
    match value {
        Some(Value::Array(elements)) => elements.iter().filter_map(of_one).collect(),
        Some(Value::String(text)) => text.split(['\n', ',']).filter_map(cited_place).collect(),
        Some(one) => of_one(one).into_iter().collect(),
        None => Vec::new(),
    }
}

fn of_one(value: &Value) -> Option<CitedPlace> {
    match value {
        Value::String(text) => cited_place(text),
        Value::Object(members) => {
            let named = |names: &[&str]| names.iter().find_map(|name| members.get(*name)).cloned();
            let path = named(&["path", "file", "file_path", "filename", "reference"])?;
            let mut found = cited_place(path.as_str()?)?;
            let line = match named(&["line", "start_line", "startLine", "line_number", "lineNumber"]) {
                Some(Value::Number(number)) => number.as_u64().and_then(|line| usize::try_from(line).ok()),
                Some(Value::String(text)) => text.split('-').next().and_then(|line| line.trim().parse().ok()),
                _ => None,
            };
            found.line = line.filter(|line| *line > 0).or(found.line);
            Some(found)
        }
        _ => None,
    }
}

/// Path and line in what models write: `a.rs:3`, `` `a.rs` ``, `- ./a.rs:3-9`, `a.rs#L3`, `a.rs:L3`, `a.rs (line 3)`,
/// `a.rs:3 - does something`.
fn cited_place(text: &str) -> Option<CitedPlace> {
    let text = text.trim().trim_start_matches(['-', '*', '•']).trim();
    let text = text.trim_matches(|c| matches!(c, '`' | '"' | '\'' | '<' | '>'));
    let text = text.strip_prefix("file://").unwrap_or(text);
    let digits = |text: &str| -> Option<usize> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..end].parse().ok().filter(|line| *line > 0)
    };
    let mut found = None;
    for mark in [":L", "#L", ":", " (line ", " (lines ", " line "] {
        // A path may have a colon in it, so the first mark with a number after it counts.
        let hit = text.match_indices(mark).find_map(|(at, _)| Some((at, digits(&text[at + mark.len()..])?)));
        if let Some((at, line)) = hit
            && found.is_none_or(|(earlier, _)| at < earlier)
        {
            found = Some((at, line));
        }
    }
    let (path, line) = match found {
        Some((at, line)) => (&text[..at], Some(line)),
        // Words may follow a path, and a path may have a space; words have a dash before them.
        None => (text.split(" - ").next().unwrap_or(text).trim_end_matches([':', '.']), None),
    };
    let path = path.trim().trim_matches('`').trim_start_matches("./");
    (!path.is_empty() && path.len() < 4096).then(|| CitedPlace { path: path.to_owned(), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_in_many_spellings() {
        for (text, path, line) in [
            ("a/b.rs", "a/b.rs", None),
            ("a/b.rs:3", "a/b.rs", Some(3)),
            ("a/b.rs:3:7", "a/b.rs", Some(3)),
            ("./a/b.rs:3-9", "a/b.rs", Some(3)),
            ("- `a/b.rs:3` does", "a/b.rs", Some(3)),
            ("`a/b.rs`", "a/b.rs", None),
            ("a/b.rs#L3-L9", "a/b.rs", Some(3)),
            ("a/b.rs:L3", "a/b.rs", Some(3)),
            ("a/b.rs (line 3)", "a/b.rs", Some(3)),
            ("a/b.rs - does something", "a/b.rs", None),
            ("a b/c.rs:3", "a b/c.rs", Some(3)),
            ("odd:name.rs:3", "odd:name.rs", Some(3)),
            ("file:///x/a.rs:3", "/x/a.rs", Some(3)),
            ("a.rs:0", "a.rs:0", None),
        ] {
            assert_eq!(cited_place(text), Some(CitedPlace { path: path.to_owned(), line }), "{text}");
        }
        for text in ["", "  ", "``", "- "] {
            assert_eq!(cited_place(text), None, "{text:?}");
        }
    }
}
