//! Where the names that a goal mentions occur in a listing.

use memchr::memmem;

use crate::want::{Name, NameSort};

/// For each line, which names it has, as bits.
pub(crate) struct NamedLines {
    pub(crate) of_line: Vec<u32>,
    /// The names of each sort, as bits.
    pub(crate) files: u32,
    pub(crate) spelled: u32,
    pub(crate) hyphenated: u32,
    pub(crate) words: u32,
}

impl NamedLines {
    pub(crate) fn read(text: &str, lines: usize, names: &[Name]) -> NamedLines {
        let mut named = NamedLines { of_line: vec![0; lines], files: 0, spelled: 0, hyphenated: 0, words: 0 };
        for (number, name) in names.iter().enumerate().take(32) {
            let bit = 1u32 << number;
            match name.sort {
                NameSort::File => named.files |= bit,
                NameSort::Spelled => named.spelled |= bit,
                NameSort::Hyphenated => named.hyphenated |= bit,
                NameSort::Word => named.words |= bit,
            }
            named.mark(text, name, bit);
        }
        named
    }

    fn mark(&mut self, text: &str, name: &Name, bit: u32) {
        let bytes = text.as_bytes();
        // A pattern is looked for by what follows its star.
        let needle = name.text.trim_start_matches('*');
        if needle.is_empty() {
            return;
        }
        let is_pattern = needle.len() < name.text.len();
        let (mut line, mut offset) = (0, 0);
        for found in memmem::find_iter(bytes, needle.as_bytes()) {
            line += memchr::memchr_iter(b'\n', &bytes[offset..found]).count();
            offset = found;
            let before = found.checked_sub(1).map(|at| bytes[at]);
            let after = &bytes[found + needle.len()..];
            let whole = if name.sort == NameSort::File || is_pattern {
                (is_pattern || ends_file(before)) && begins_after_file(after)
            } else {
                is_edge(before) && is_edge(after.first().copied())
            };
            if whole {
                self.of_line[line] |= bit;
            }
        }
    }
}

/// Whether a byte is no part of an identifier.
fn is_edge(byte: Option<u8>) -> bool {
    byte.is_none_or(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80))
}

/// Whether a file's name can begin behind this byte.
fn ends_file(before: Option<u8>) -> bool {
    is_edge(before) && !matches!(before, Some(b'-' | b'.' | b'+'))
}

/// Whether a file's name can end before these bytes.
fn begins_after_file(after: &[u8]) -> bool {
    match after {
        [] => true,
        [b'.' | b'-' | b'+', next, ..] => !next.is_ascii_alphabetic(),
        [next, ..] => is_edge(Some(*next)),
    }
}
