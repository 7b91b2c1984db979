//! A Bloom filter over the 5-byte n-grams of a block, so that a search skips blocks without reading them.
//!
//! The filter is built over the block's raw bytes, ASCII letters in lower case. It takes a few per cent of the text and never
//! rules out a block that matches. A query is therefore cut into [`RequiredNgrams`]: pieces whose bytes in the log are the same
//! as in the decoded text. JSON always escapes quotes, backslashes and control characters, and some writers also escape
//! slashes, markup signs and everything beyond ASCII.
//!
//! Shorter n-grams would serve shorter queries, but most blocks have most 3-grams. Queries shorter than an n-gram are
//! answered without the filter and usually match early.

/// Bytes of an n-gram.
const NGRAM: usize = 5;
/// Bits of the largest filter. A block of 256 KiB of agents' logs has 40,000 to 80,000 distinct n-grams.
pub(crate) const MOST_BITS: usize = 1 << 17;
const LEAST_BITS: usize = 1 << 9;
const WORDS: usize = MOST_BITS / 64;

/// A Bloom filter with one hash. Built at full size, then folded to a size that suits its block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BloomFilter {
    words: Vec<u64>,
}

impl Default for BloomFilter {
    fn default() -> BloomFilter {
        BloomFilter { words: vec![0; WORDS] }
    }
}

impl BloomFilter {
    /// Adds the n-grams of these bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        // An array of a known size, so that no bound is checked for each byte.
        let Ok(words) = <&mut [u64; WORDS]>::try_from(self.words.as_mut_slice()) else { return };
        let Some((first, rest)) = bytes.split_at_checked(NGRAM - 1) else { return };
        let next = |ngram: u64, byte: &u8| ngram << 8 | u64::from(LOWER[usize::from(*byte)]);
        let mut ngram = first.iter().fold(0, next);
        for byte in rest {
            ngram = next(ngram, byte);
            let bit = bit_of(ngram) as usize;
            words[bit >> 6 & (WORDS - 1)] |= 1 << (bit & 63);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The filter as it is stored for a block of this size. Halving a filter by OR keeps every answer correct.
    pub(crate) fn folded(&self, block_bytes: usize) -> Vec<u8> {
        let bits = block_bytes.next_power_of_two().clamp(LEAST_BITS, MOST_BITS);
        let mut words = vec![0_u64; bits / 64];
        for (index, word) in self.words.iter().enumerate() {
            words[index % (bits / 64)] |= word;
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Whether the block with this stored filter may contain all the pieces.
    pub(crate) fn may_have(stored: &[u8], pieces: &RequiredNgrams) -> bool {
        let bits = stored.len() * 8;
        if !bits.is_power_of_two() || bits > MOST_BITS {
            return true;
        }
        let is_set = |bit: &u32| {
            let bit = *bit as usize & (bits - 1);
            stored[bit >> 3] & 1 << (bit & 7) != 0
        };
        pieces.all.iter().all(|forms| forms.iter().any(|bits| bits.iter().all(is_set)))
    }
}

const fn lower_table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).to_ascii_lowercase();
        byte += 1;
    }
    table
}

static LOWER: [u8; 256] = lower_table();

/// The bit of an n-gram, which is in the number's lowest bytes.
fn bit_of(ngram: u64) -> u32 {
    let ngram = ngram << (64 - 8 * NGRAM);
    (ngram.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - MOST_BITS.trailing_zeros())) as u32
}

fn bits_of(text: &str) -> Vec<u32> {
    let ngram =
        |bytes: &[u8]| bytes.iter().fold(0, |ngram, byte| ngram << 8 | u64::from(byte.to_ascii_lowercase()));
    text.as_bytes().windows(NGRAM).map(|bytes| bit_of(ngram(bytes))).collect()
}

/// What a block's raw bytes must contain for an event in it to match: every piece, in one of the forms in which JSON writers
/// write it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequiredNgrams {
    /// For each piece its written forms, for each form the bits of its n-grams.
    pub(crate) all: Vec<Vec<Vec<u32>>>,
    /// The longest piece with a single written form, in lower case. Raw bytes without it cannot match.
    pub(crate) longest: Option<String>,
}

/// Characters that some JSON writers escape.
const SOMETIMES: [char; 6] = ['<', '>', '&', '\'', '+', '='];

/// Whether every JSON writer writes it unescaped.
pub(crate) fn is_plain(letter: char) -> bool {
    (' '..='~').contains(&letter) && !matches!(letter, '"' | '\\' | '/') && !SOMETIMES.contains(&letter)
}

/// Whether it is a letter beyond ASCII that has no case.
pub(crate) fn is_foreign(letter: char) -> bool {
    !letter.is_ascii() && letter.to_lowercase().eq([letter]) && letter.to_uppercase().eq([letter])
}

/// Placeholders in events for content that is not text.
const PLACEHOLDERS: [&str; 3] = ["[image]", "[input_image]", "[document]"];

/// Whether a text may be in an event without being in its line. A query with quotes, or of numbers, `true`, `false` and `null`
/// with separators, may mean JSON itself, and spaces around separators differ between writers. Placeholders are in no line.
pub(crate) fn may_be_composed(text: &str) -> bool {
    let scalar = |letter: char| {
        letter.is_ascii_digit()
            || "-+.eE".contains(letter)
            || "truefalsenull".contains(letter.to_ascii_lowercase())
    };
    let separator = |letter: char| "[]{}:,".contains(letter);
    let query = text.to_ascii_lowercase();
    text.contains('"')
        || text.contains(separator) && text.chars().all(|letter| scalar(letter) || separator(letter))
        || PLACEHOLDERS.iter().any(|named| {
            let reaches = |at: usize| query.ends_with(&named[..at]) || query.starts_with(&named[at..]);
            named.contains(&query) || query.contains(named) || (1..named.len()).any(reaches)
        })
}

impl RequiredNgrams {
    /// Requires a text too, in any case.
    pub(crate) fn require(&mut self, text: &str) {
        let loose = may_be_composed(text);
        let narrow = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
        let plain = |letter: char| if loose { narrow(letter) } else { is_plain(letter) };
        for piece in text.split(|letter| !plain(letter)) {
            if piece.len() > self.longest.as_ref().map_or(0, String::len) {
                self.longest = Some(piece.to_ascii_lowercase());
            }
        }
        let with_slashes = |letter: char| plain(letter) || letter == '/';
        for piece in text.split(|letter| !with_slashes(letter)).filter(|piece| piece.len() >= NGRAM) {
            let mut forms = vec![bits_of(piece)];
            if piece.contains('/') {
                // With a backslash before each, or more of them in a document inside a document.
                let parts: Vec<&str> = piece.split('/').collect();
                let last = parts.len() - 1;
                let escaped = parts.iter().enumerate().flat_map(|(index, part)| {
                    let before = if index > 0 { "\\/" } else { "" };
                    let after = if index < last { "\\" } else { "" };
                    bits_of(&format!("{before}{part}{after}"))
                });
                forms.push(escaped.collect());
            }
            self.all.push(forms);
        }
        // Written out, or as \uXXXX in either case.
        for piece in text.split(|letter| !is_foreign(letter)).filter(|piece| !piece.is_empty()) {
            let mut buffer = [0; 2];
            let mut escaped = Vec::new();
            for letter in piece.chars() {
                for unit in letter.encode_utf16(&mut buffer) {
                    // Without the backslash, of which there are more in a document inside a document.
                    escaped.extend(bits_of(&format!("u{unit:04x}")));
                }
            }
            self.all.push(vec![bits_of(piece), escaped]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(text: &str) -> RequiredNgrams {
        let mut pieces = RequiredNgrams::default();
        pieces.require(text);
        pieces
    }

    fn stored(text: &str) -> Vec<u8> {
        let mut filter = BloomFilter::default();
        filter.add(text.as_bytes());
        filter.folded(text.len())
    }

    #[test]
    fn most_texts_that_a_block_lacks_are_ruled_out() {
        let block = stored(r#"{"text":"The quick brown fox jumps over the lazy dog","path":"src/main.rs"}"#);
        for (query, may) in [
            ("quick BROWN", true),
            ("src/main.rs", true),
            ("src/other.rs", false),
            ("quicksand", false),
            ("\"text\": \"The", true),
            ("日本", false),
            ("quo", true),
            ("", true),
        ] {
            assert_eq!(BloomFilter::may_have(&block, &pieces(query)), may, "{query}");
        }
    }

    proptest! {
        /// However a JSON writer escapes a text, the filter of its block lets it pass.
        #[test]
        fn a_text_that_a_block_has_is_never_ruled_out(
            before in ".{0,40}", query in ".{0,20}", after in ".{0,40}", escape_all: bool, deep: bool, slashes: bool,
        ) {
            let mut raw = serde_json::to_string(&format!("{before}{query}{after}")).unwrap();
            if slashes {
                raw = raw.replace('/', "\\/");
            }
            if deep {
                raw = serde_json::to_string(&raw).unwrap();
            }
            if escape_all {
                raw = raw.chars().map(|letter| {
                    let mut units = [0; 2];
                    if letter.is_ascii() && !SOMETIMES.contains(&letter) { letter.to_string() } else {
                        letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04X}")).collect()
                    }
                }).collect();
            }
            let swap = |letter: char| {
                if letter.is_ascii_uppercase() { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() }
            };
            let swapped: String = query.chars().map(swap).collect();
            for query in [&query, &swapped] {
                let pieces = pieces(query);
                prop_assert!(BloomFilter::may_have(&stored(&raw), &pieces), "{query:?} in {raw}");
                if let Some(longest) = pieces.longest {
                    prop_assert!(raw.to_ascii_lowercase().contains(&longest));
                }
            }
        }
    }
}
