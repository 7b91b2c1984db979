//! Cuts and recovered lines as the ledger keeps them: line numbers, and of the reason only its cause, since a place quotes the
//! text.

use std::fmt::Write;

use tamis_prune::{Cut, CutCause};

use crate::render::CutAnnotation;

/// A longer list is not kept: a row of the ledger stays small.
const MAX_KEPT: usize = 2_000;

/// Each cause and its letter.
const LETTERS: [(CutCause, char); 7] = [
    (CutCause::Repetitions, 'r'),
    (CutCause::Tests, 't'),
    (CutCause::Header, 'h'),
    (CutCause::Comments, 'c'),
    (CutCause::Unrelated, 'u'),
    (CutCause::LessRelevant, 'l'),
    (CutCause::AlreadyShown, 's'),
];

/// A block that was cut, as the ledger has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerCut {
    /// 1-based, inclusive.
    pub first_line: usize,
    pub last_line: usize,
    pub cause: CutCause,
}

impl LedgerCut {
    pub(crate) fn of(annotation: &CutAnnotation) -> LedgerCut {
        let CutAnnotation { original_start_line, original_end_line, facts, .. } = annotation;
        LedgerCut { first_line: *original_start_line, last_line: *original_end_line, cause: facts.cause }
    }

    pub(crate) fn of_cut(cut: &Cut) -> LedgerCut {
        LedgerCut { first_line: cut.first_line, last_line: cut.last_line, cause: cut.reason.cause }
    }
}

/// `6-44r,48r,50-78l`; none if there are too many.
pub(crate) fn write_cuts(cuts: impl ExactSizeIterator<Item = LedgerCut>) -> Option<String> {
    write_list(cuts, |list, cut| {
        write_lines(list, cut.first_line as u64, cut.last_line as u64);
        list.extend(LETTERS.iter().find(|(cause, _)| *cause == cut.cause).map(|(_, letter)| *letter));
    })
}

pub(crate) fn read_cuts(list: &str) -> Option<Vec<LedgerCut>> {
    let read = |part: &str| {
        let letter = part.chars().next_back()?;
        let (cause, _) = LETTERS.into_iter().find(|(_, known)| *known == letter)?;
        let (first, last) = read_lines(&part[..part.len() - letter.len_utf8()])?;
        Some(LedgerCut {
            first_line: usize::try_from(first).ok()?,
            last_line: usize::try_from(last).ok()?,
            cause,
        })
    };
    list.split(',').filter(|part| !part.is_empty()).map(read).collect()
}

/// `6-44,48`; none if there are too many.
pub(crate) fn write_ranges(ranges: impl ExactSizeIterator<Item = (u64, u64)>) -> Option<String> {
    write_list(ranges, |list, (first, last)| write_lines(list, first, last))
}

pub(crate) fn read_ranges(list: &str) -> Option<Vec<(u64, u64)>> {
    list.split(',').filter(|part| !part.is_empty()).map(read_lines).collect()
}

fn write_list<T>(items: impl ExactSizeIterator<Item = T>, write: impl Fn(&mut String, T)) -> Option<String> {
    if items.len() > MAX_KEPT {
        return None;
    }
    let mut list = String::new();
    for item in items {
        if !list.is_empty() {
            list.push(',');
        }
        write(&mut list, item);
    }
    Some(list)
}

fn write_lines(list: &mut String, first: u64, last: u64) {
    // Writing to a String cannot fail.
    let _ = if first == last { write!(list, "{first}") } else { write!(list, "{first}-{last}") };
}

fn read_lines(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.parse().ok()?, last.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_read_as_they_were_written() {
        let cuts: Vec<LedgerCut> = LETTERS
            .iter()
            .enumerate()
            .map(|(at, (cause, _))| LedgerCut {
                first_line: 10 * at + 1,
                last_line: 10 * at + 1 + at,
                cause: *cause,
            })
            .collect();
        let written = write_cuts(cuts.iter().copied()).unwrap();
        assert_eq!(written, "1r,11-12t,21-23h,31-34c,41-45u,51-56l,61-67s");
        assert_eq!(read_cuts(&written), Some(cuts));
        assert_eq!(write_cuts(std::iter::empty()).as_deref().and_then(read_cuts), Some(vec![]));
        for damaged in ["1", "1x", "r", "1-r", "a-br", "1é"] {
            assert_eq!(read_cuts(damaged), None, "{damaged}");
        }
        let many = vec![LedgerCut { first_line: 1, last_line: 1, cause: CutCause::Tests }; MAX_KEPT + 1];
        assert_eq!(write_cuts(many.into_iter()), None);
    }

    #[test]
    fn ranges_are_read_as_they_were_written() {
        let ranges = vec![(6, 44), (48, 48), (1, u64::MAX)];
        let written = write_ranges(ranges.iter().copied()).unwrap();
        assert_eq!(written, "6-44,48,1-18446744073709551615");
        assert_eq!(read_ranges(&written), Some(ranges));
        assert_eq!(read_ranges("6-"), None);
    }
}
