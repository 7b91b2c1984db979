//! The lines that a reference points at, for readers of a report.

use tamis_codebase::{AccessError, RootError, Roots};
use tamis_redact::Redacted;

use crate::Reference;

/// Larger files are not read.
const MAX_FILE_BYTES: u64 = 8 << 20;
/// Lines of a reference that are shown.
const MAX_LINES: usize = 400;
/// Lines around them.
const MAX_AROUND: usize = 50;
/// Bytes of a line.
const MAX_LINE_BYTES: usize = 2_000;

/// Lines of a file, redacted.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceLines {
    /// From its root.
    pub path: String,
    /// The number of the first line.
    pub first_line: usize,
    pub lines: Vec<Redacted>,
    /// The lines that the reference names; none if it names a file.
    pub named: Option<(usize, usize)>,
    /// The lines of the file.
    pub total: usize,
}

/// Why the lines of a reference cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    #[error("`{reference}` is in none of the roots")]
    NotFound { reference: String },
    #[error(transparent)]
    Root(#[from] RootError),
    #[error(transparent)]
    Access(#[from] AccessError),
}

/// Reads the lines of a reference, and some around them.
pub(crate) fn read_reference(
    roots: &Roots,
    reference: &Reference,
    around: usize,
) -> Result<ReferenceLines, ReferenceError> {
    let (path, named) = reference.lines();
    let mut refused = None;
    // A name may end like a line number.
    for (path, named) in [(path, named), (reference.as_str(), None)] {
        for place in roots.places_of(path) {
            let text = match roots.read_text(&place, MAX_FILE_BYTES) {
                Ok(text) => text,
                Err(AccessError::System { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
                    continue;
                }
                Err(error) => {
                    refused.get_or_insert(error);
                    continue;
                }
            };
            // As a whole: a secret may be longer than the lines that are shown.
            let text = Redacted::from(text);
            let lines: Vec<&str> = text.lines().collect();
            let total = lines.len();
            let around = around.min(MAX_AROUND);
            let named = named.map(|lines| (*lines.start(), *lines.end()));
            let (first, last) = named.unwrap_or((1, MAX_LINES));
            let last = last.min(first.saturating_add(MAX_LINES - 1)).saturating_add(around).min(total);
            let first = first.saturating_sub(around).max(1);
            let shown = lines.iter().take(last).skip(first - 1).map(|line| shortened(line)).collect();
            return Ok(ReferenceLines { path: place.path, first_line: first, lines: shown, named, total });
        }
    }
    let not_found = || ReferenceError::NotFound { reference: reference.to_string() };
    Err(refused.map_or_else(not_found, ReferenceError::Access))
}

fn shortened(line: &str) -> Redacted {
    let end = line.floor_char_boundary(MAX_LINE_BYTES);
    if end == line.len() { line.into() } else { format!("{}…", &line[..end]).into() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tamis_codebase::Policy;

    use super::*;

    fn shown(lines: &ReferenceLines) -> Vec<&str> {
        lines.lines.iter().map(|line| line.as_str()).collect()
    }

    #[test]
    fn a_reference_shows_its_lines_and_no_file_that_may_not_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("src/a.rs"), "one\ntwo\nthree\nfour\nfive\n").unwrap();
        fs::write(root.join(".env"), "PASSWORD=hunter22\n").unwrap();
        fs::write(folder.path().join("outside"), "secret\n").unwrap();
        std::os::unix::fs::symlink("../outside", root.join("link")).unwrap();
        let roots = Roots::open(&[root], Policy::standard()).unwrap();
        let read =
            |reference: &str, around| read_reference(&roots, &Reference::from(reference.to_owned()), around);

        let lines = read("src/a.rs:3-4", 1).unwrap();
        assert_eq!((lines.path.as_str(), lines.first_line, lines.total), ("src/a.rs", 2, 5));
        assert_eq!((shown(&lines), lines.named), (vec!["two", "three", "four", "five"], Some((3, 4))));
        assert_eq!(shown(&read("src/a.rs:1", 0).unwrap()), ["one"]);
        assert_eq!(shown(&read("src/a.rs", 0).unwrap()).len(), 5);
        // The file became shorter.
        assert_eq!(shown(&read("src/a.rs:40-50", 2).unwrap()), [""; 0]);
        assert!(matches!(read("src/b.rs:1", 0), Err(ReferenceError::NotFound { .. })));
        for refused in ["../outside", "/etc/passwd", "src/../../outside", ".env:1", "link", "src"] {
            assert!(read(refused, 0).is_err(), "{refused}");
        }
    }
}
