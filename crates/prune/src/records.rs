//! Listings: output that consists of records, such as search results, diffs, histories, file lists, findings and tables.
//!
//! A record is a run of lines with a role, and may have a parent: an earlier record without which it has no meaning, such
//! as the folder of a file, the commit of a change, or the column names of a row. Readers look at a fixed number of lines
//! before they accept or refuse, so reading is linear.

mod diff;
mod files;
mod findings;
mod history;
mod located;
mod search;
mod table;

use tamis_text::{Date, timestamp};

/// What kind of listing a record is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordForm {
    Search,
    Diff,
    History,
    Files,
    Findings,
    Table,
}

/// What a record is in its listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordRole {
    /// Gives meaning to the records below it, and is no answer by itself: a folder, a file of a diff, column names.
    Header,
    /// Can be an answer: a match, a changed line, a commit, a file, a finding, a row.
    Entry,
    /// Explains an entry: context around a match or a change, a commit's message, source that a finding quotes.
    Detail,
    /// Blank lines, separators and sums.
    Filler,
}

/// Lines of a listing that belong together. Lines count from 0, and both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) form: RecordForm,
    pub(crate) role: RecordRole,
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// The number of an earlier record.
    pub(crate) parent: Option<usize>,
}

/// The records of a text, in order. Lines between them are in no listing.
#[derive(Default)]
pub(crate) struct Records {
    pub(crate) list: Vec<Record>,
}

impl Records {
    pub(crate) fn read(lines: &[&str]) -> Records {
        let mut source = Source {
            lines,
            list: Vec::new(),
            #[cfg(test)]
            visits: std::cell::Cell::new(0),
        };
        source.read();
        Records { list: source.list }
    }

    /// The number of lines in records for which `counts` holds.
    pub(crate) fn lines(&self, counts: impl Fn(usize) -> bool) -> usize {
        self.list.iter().map(|record| (record.first..=record.last).filter(|&line| counts(line)).count()).sum()
    }

    /// The outermost record around a record, which may be the record itself.
    pub(crate) fn root(&self, mut number: usize) -> usize {
        while let Some(parent) = self.list[number].parent {
            number = parent;
        }
        number
    }
}

/// Where the text of a search result begins, behind its path and number.
pub(crate) fn text_start(line: &str) -> usize {
    if let Some(place) = located::located(line) {
        return line.len() - place.text.len();
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let behind_path = line.find(':').filter(|&at| located::is_path(&line[..at])).map_or(0, |at| at + 1);
    if digits > 0 { (digits + 1).min(line.len()) } else { behind_path }
}

/// The year, month and day that a line has: `2026-07-27` or `Jul 27 21:54:23 2026`.
pub(crate) fn date_in(line: &str) -> Option<(u16, u8, u8)> {
    let Date { year, month, day } = timestamp(line).date?;
    Some((year?, month, day))
}

/// The lines that readers read, and the records found so far.
struct Source<'a> {
    lines: &'a [&'a str],
    list: Vec<Record>,
    /// How many lines were looked at: the work that readers do.
    #[cfg(test)]
    visits: std::cell::Cell<usize>,
}

impl<'a> Source<'a> {
    fn read(&mut self) {
        let readers: [fn(&mut Source<'_>, usize) -> Option<usize>; 6] =
            [diff::read, history::read, findings::read, files::read, search::read, table::read];
        let mut at = 0;
        while at < self.lines.len() {
            at = readers.iter().find_map(|read| read(self, at)).unwrap_or(at + 1);
        }
    }

    /// The line without a carriage return at its end, or an empty one after the last.
    fn line(&self, at: usize) -> &'a str {
        #[cfg(test)]
        self.visits.set(self.visits.get() + 1);
        self.lines.get(at).map_or("", |line| line.trim_end_matches('\r'))
    }

    fn is_blank(&self, at: usize) -> bool {
        self.line(at).trim().is_empty()
    }

    fn has(&self, at: usize) -> bool {
        at < self.lines.len()
    }

    /// Adds a record and returns its number.
    fn add(
        &mut self,
        form: RecordForm,
        role: RecordRole,
        lines: std::ops::Range<usize>,
        parent: Option<usize>,
    ) -> usize {
        debug_assert!(lines.start < lines.end && self.list.last().is_none_or(|last| last.last < lines.start));
        self.list.push(Record { form, role, first: lines.start, last: lines.end - 1, parent });
        self.list.len() - 1
    }

    /// Adds a line to the last record if it continues it, otherwise as a record of its own.
    fn extend(&mut self, form: RecordForm, role: RecordRole, at: usize, parent: Option<usize>) {
        match self.list.last_mut() {
            Some(last)
                if last.last + 1 == at && last.form == form && last.role == role && last.parent == parent =>
            {
                last.last = at;
            }
            _ => {
                self.add(form, role, at..at + 1, parent);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visits(lines: &[String]) -> usize {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut source = Source { lines: &lines, list: Vec::new(), visits: std::cell::Cell::new(0) };
        source.read();
        source.visits.get()
    }

    #[test]
    fn work_grows_no_faster_than_the_text() {
        type Line = fn(usize) -> String;
        let forms: [(&str, Line); 18] = [
            ("nothing", |n| format!("some words of no form, {n}")),
            ("blank lines", |_| String::new()),
            ("results", |n| format!("src/a_{}.rs:{n}:    call_{}(x);", n % 50, n % 3)),
            ("context", |n| format!("src/a.rs-{n}-    call(x);")),
            ("numbers", |n| format!("{n}:x")),
            ("numbers that fall", |n| format!("{}:x", 1_000_000 - n)),
            ("hunks", |n| format!("@@ -{n},9 +{n},9 @@")),
            ("hunks that promise much", |_| "@@ -1,999999 +1,999999 @@".to_owned()),
            ("files of a diff", |n| format!("diff --git a/{n} b/{n}")),
            ("old and new", |n| if n % 2 == 0 { format!("--- {n}") } else { format!("+++ {n}") }),
            ("commits", |n| format!("commit {n:040x}")),
            (
                "one hash of two",
                |n| if n % 3 == 2 { "words".to_owned() } else { format!("{n:010x} subject") },
            ),
            ("folders", |n| [format!("folder_{n}:"), format!("name_{n}"), String::new()][n % 3].clone()),
            ("folders that break off", |n| {
                [format!("f_{n}:"), "name".to_owned(), "(x)".to_owned(), String::new()][n % 4].clone()
            }),
            ("paths", |n| format!("a/b/c_{n}.rs")),
            ("findings", |n| format!("src/a.c:{n}:5: warning: x")),
            ("arrows", |n| if n % 2 == 0 { "warning: x".to_owned() } else { format!(" --> a.rs:{n}:1") }),
            ("column names", |_| "PID  TTY  TIME".to_owned()),
        ];
        for (name, line) in forms {
            let text = |count: usize| (0..count).map(line).collect::<Vec<_>>();
            let (small, large) = (visits(&text(1_000)), visits(&text(8_000)));
            assert!(large <= 9 * small, "{name}: {small} lines looked at for 1,000, {large} for 8,000");
            assert!(small <= 200_000, "{name}: {small} lines looked at for 1,000");
        }
    }
}
