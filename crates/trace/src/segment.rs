//! Bloom filters of many blocks, stored bit-sliced.
//!
//! A search tests the same few bits of every filter. A segment stores, for each bit, one row with that bit of all its blocks, so
//! a query reads a few rows instead of every filter. Blocks are gathered into a segment once enough of them are in none. A
//! block that is read again leaves behind a column that no block refers to.

use crate::bloom::{MOST_BITS, RequiredNgrams};

/// Blocks of a segment.
pub(crate) const COLUMNS: usize = 256;
/// Bytes of a row: a bit for each block.
const ROW: usize = COLUMNS / 8;
/// Rows that are stored together.
pub(crate) const ROWS_OF_PART: usize = 256;
/// Parts of a segment.
pub(crate) const PARTS: usize = MOST_BITS / ROWS_OF_PART;

/// Which columns of a segment may match.
pub(crate) type Columns = [u64; COLUMNS / 64];

pub(crate) fn has(columns: &Columns, column: usize) -> bool {
    columns.get(column / 64).is_some_and(|word| word >> (column % 64) & 1 != 0)
}

/// Transposes the stored filters of up to [`COLUMNS`] blocks into the parts of a segment.
pub(crate) fn sliced(filters: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut parts = vec![vec![0_u8; ROWS_OF_PART * ROW]; PARTS];
    let word_of = |filter: &[u8], word: usize| {
        // A folded filter answers as its repetition does.
        let words = filter.len() / 8;
        let at = if words == 0 { 0 } else { word % words * 8 };
        filter.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(u64::MAX, u64::from_le_bytes)
    };
    for word in 0..MOST_BITS / 64 {
        for (group, blocks) in filters.chunks(64).enumerate() {
            let mut square = [0_u64; 64];
            for (line, filter) in square.iter_mut().zip(blocks) {
                *line = word_of(filter, word);
            }
            transpose(&mut square);
            for (bit, row) in square.iter().enumerate() {
                let row_number = word * 64 + bit;
                let at = row_number % ROWS_OF_PART * ROW + group * 8;
                parts[row_number / ROWS_OF_PART][at..at + 8].copy_from_slice(&row.to_le_bytes());
            }
        }
    }
    parts
}

/// A filter repeated to the full size, which answers as the folded one does.
pub(crate) fn unfolded(filter: &[u8]) -> Vec<u8> {
    match filter {
        [] => vec![u8::MAX; MOST_BITS / 8],
        filter => filter.iter().copied().cycle().take(MOST_BITS / 8).collect(),
    }
}

/// The filter of one column, unfolded.
pub(crate) fn filter_of(parts: &[Vec<u8>], column: usize) -> Vec<u8> {
    let mut filter = vec![0; MOST_BITS / 8];
    for row in 0..MOST_BITS {
        let at = row % ROWS_OF_PART * ROW + column / 8;
        let byte = parts.get(row / ROWS_OF_PART).and_then(|part| part.get(at)).copied().unwrap_or(0);
        filter[row / 8] |= (byte >> (column % 8) & 1) << (row % 8);
    }
    filter
}

/// Transposes a 64 by 64 matrix of bits.
fn transpose(square: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_ffff_ffff_u64;
    while width != 0 {
        let mut line = 0;
        while line < 64 {
            let swapped = (square[line] >> width ^ square[line + width]) & mask;
            square[line] ^= swapped << width;
            square[line + width] ^= swapped;
            line = (line + width + 1) & !width;
        }
        width >>= 1;
        mask ^= mask << width;
    }
}

/// The columns that may contain all the pieces. `part` reads the part with this number.
pub(crate) fn may_have<E>(
    pieces: &RequiredNgrams,
    mut part: impl FnMut(usize) -> Result<Vec<u8>, E>,
) -> Result<Columns, E> {
    let mut columns = [u64::MAX; COLUMNS / 64];
    for forms in &pieces.all {
        let mut any = [0; COLUMNS / 64];
        for bits in forms {
            let mut all = [u64::MAX; COLUMNS / 64];
            for bit in bits {
                let bit = *bit as usize;
                let bytes = part(bit / ROWS_OF_PART)?;
                let at = bit % ROWS_OF_PART * ROW;
                for (index, word) in all.iter_mut().enumerate() {
                    let at = at + index * 8;
                    let row = bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
                    *word &= row.map_or(u64::MAX, u64::from_le_bytes);
                }
                if all.iter().all(|word| *word == 0) {
                    break;
                }
            }
            any.iter_mut().zip(all).for_each(|(any, all)| *any |= all);
        }
        columns.iter_mut().zip(any).for_each(|(columns, any)| *columns &= any);
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bloom::BloomFilter;

    #[test]
    fn a_segment_answers_as_its_filters_do() {
        let texts: Vec<String> = (0..200)
            .map(|number| format!("text number {number} {}", "of some length ".repeat(number)))
            .collect();
        let stored = |text: &String| {
            let mut filter = BloomFilter::default();
            filter.add(text.as_bytes());
            filter.folded(text.len())
        };
        let filters: Vec<Vec<u8>> = texts.iter().map(stored).collect();
        let parts = sliced(&filters.iter().map(Vec::as_slice).collect::<Vec<_>>());
        for (column, filter) in filters.iter().enumerate() {
            assert!(filter_of(&parts, column) == unfolded(filter), "column {column}");
        }
        for query in
            ["number 7", "number 199", "of some length of some", "nothing of this", "src/main.rs", "日本"]
        {
            let mut pieces = RequiredNgrams::default();
            pieces.require(query);
            let columns = may_have::<()>(&pieces, |part| Ok(parts[part].clone())).unwrap();
            for (column, filter) in filters.iter().enumerate() {
                assert_eq!(
                    has(&columns, column),
                    BloomFilter::may_have(filter, &pieces),
                    "{query} in {column}"
                );
            }
        }
    }
}
