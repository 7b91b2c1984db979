//! A segment: the counts of some thousand files, by hash of the word.
//!
//! Counts are in buckets by the first bits of the hash, so that a query reads a few kilobytes. In a bucket the keys are sorted,
//! each with its files: `key, length, (files since the last, count)…`.

use tamis_redact::searchable_bytes;
use tamis_text::interner::hash;

use super::codec::{Reader, put_number};
use crate::symbols::{SymbolSign, each_sign};
use crate::word_counter::{each_definition, each_run, parts_of};

/// What is counted, as a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

/// Bits of a key that choose its bucket.
const BUCKET_BITS: u32 = 11;
/// Counts of a segment: it takes sixteen times as many bytes to make one.
const FULL: usize = 1_000_000;

impl Key {
    pub(super) fn stem(stem: &str) -> Key {
        Key(hash(stem.as_bytes()) ^ 0x5354_454d_0000_0001)
    }

    pub(super) fn name(name: &str) -> Key {
        Key(hash(name.as_bytes()) ^ 0x4e41_4d45_0000_0002)
    }

    pub(super) fn definition(name: &str) -> Key {
        Key(hash(name.as_bytes()) ^ 0x4445_4649_0000_0003)
    }

    pub(super) fn symbol(sign: SymbolSign<'_>) -> Key {
        match sign {
            SymbolSign::Definition(name) => Key(hash(name.as_bytes()) ^ 0x5359_4d42_0000_0004),
            SymbolSign::Declaration(name) => Key(hash(name.as_bytes()) ^ 0x4445_434c_0000_0005),
            SymbolSign::Folded(name) => Key(hash(name.as_bytes()) ^ 0x464f_4c44_0000_0006),
        }
    }

    pub(super) fn bucket(self) -> u32 {
        (self.0 >> (64 - BUCKET_BITS)) as u32
    }
}

/// A segment under construction.
#[derive(Default)]
pub(super) struct SegmentBuilder {
    counts: Vec<(u64, u32, u16)>,
    /// Of each file, its bytes plus one; zero if it is not text.
    lengths: Vec<u64>,
    keys: Vec<u64>,
}

/// A segment to be written.
pub(super) struct EncodedSegment {
    pub(super) lengths: Vec<u8>,
    pub(super) buckets: Vec<(u32, Vec<u8>)>,
}

impl SegmentBuilder {
    /// Adds a file; none if it is not text.
    pub(super) fn add(&mut self, path: &str, bytes: Option<&[u8]>) {
        let number = self.lengths.len() as u32;
        self.lengths.push(bytes.map_or(0, |bytes| bytes.len() as u64 + 1));
        let Some(bytes) = bytes else { return };
        let bytes = &searchable_bytes(bytes);
        let keys = &mut self.keys;
        keys.clear();
        each_run(bytes, |_, run| {
            parts_of(run, |stem| keys.push(Key::stem(stem).0));
            if let Ok(name) = std::str::from_utf8(run) {
                keys.push(Key::name(name).0);
            }
        });
        each_definition(bytes, |name| keys.push(Key::definition(name).0));
        each_sign(bytes, path, |sign| keys.push(Key::symbol(sign).0));
        keys.sort_unstable();
        for same in keys.chunk_by(|a, b| a == b) {
            self.counts.push((same[0], number, u16::try_from(same.len()).unwrap_or(u16::MAX)));
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.counts.len() >= FULL
    }

    pub(super) fn finish(mut self) -> EncodedSegment {
        self.counts.sort_unstable();
        let mut lengths = Vec::with_capacity(self.lengths.len() * 8);
        for length in &self.lengths {
            lengths.extend_from_slice(&length.to_le_bytes());
        }
        let mut buckets = Vec::new();
        for bucket in self.counts.chunk_by(|a, b| Key(a.0).bucket() == Key(b.0).bucket()) {
            let mut out = Vec::new();
            for same in bucket.chunk_by(|a, b| a.0 == b.0) {
                let mut list = Vec::new();
                let mut before = 0;
                for (_, number, count) in same {
                    put_number(&mut list, u64::from(number - before));
                    put_number(&mut list, u64::from(*count));
                    before = *number;
                }
                out.extend_from_slice(&same[0].0.to_le_bytes());
                put_number(&mut out, list.len() as u64);
                out.extend_from_slice(&list);
            }
            buckets.push((Key(bucket[0].0).bucket(), out));
        }
        EncodedSegment { lengths, buckets }
    }
}

/// How many files there are.
pub(super) fn files(lengths: &[u8]) -> usize {
    lengths.len() / 8
}

/// The size of a file in bytes; the inner `Option` is `None` if the file is not text.
pub(super) fn length(lengths: &[u8], number: u32) -> Option<Option<u64>> {
    let at = number as usize * 8;
    let bytes: [u8; 8] = lengths.get(at..at + 8)?.try_into().ok()?;
    Some(u64::from_le_bytes(bytes).checked_sub(1))
}

/// Calls `visit` with each file that has the key, and how often. None when the bucket is damaged.
pub(super) fn each_count(bucket: &[u8], key: Key, mut visit: impl FnMut(u32, u16)) -> Option<()> {
    let mut reader = Reader(bucket);
    while !reader.0.is_empty() {
        let found = u64::from_le_bytes(reader.bytes(8)?.try_into().ok()?);
        let length = reader.count()?;
        let list = reader.bytes(length)?;
        if found > key.0 {
            break;
        }
        if found < key.0 {
            continue;
        }
        let (mut list, mut number) = (Reader(list), 0u64);
        while !list.0.is_empty() {
            number = number.checked_add(list.number()?)?;
            visit(u32::try_from(number).ok()?, u16::try_from(list.number()?).ok()?);
        }
    }
    Some(())
}
