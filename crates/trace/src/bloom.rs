//! Which letters a block of a log may have, so that a search skips blocks without reading them.
//!
//! A filter is a set of hashed runs of five bytes of the block's raw text, ASCII letters in lower case: some per cent of the
//! text, and no copy of it. It never says no wrongly. What is asked for must therefore be cut into [`RequiredNgrams`] that stand in
//! the raw bytes just as they stand in the decoded text: JSON escapes quotes, backslashes and control characters always, and
//! slashes, signs of markup and everything beyond ASCII in the hands of some writers.
//!
//! Shorter runs would serve shorter questions, but most runs of three letters are in most blocks. What is shorter than a run
//! is mostly found soon.

/// Bytes of a run.
const RUN: usize = 5;
/// Bits of the largest filter. A block of 256 KiB of agents' logs has 40,000 to 80,000 different runs.
pub(crate) const MOST_BITS: usize = 1 << 17;
const LEAST_BITS: usize = 1 << 9;
const WORDS: usize = MOST_BITS / 64;

/// A set of runs. Built at full size, and folded to the size that its block deserves.
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
    /// Adds the runs of these bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        // An array of a known size, so that no bound is checked for each byte.
        let Ok(words) = <&mut [u64; WORDS]>::try_from(self.words.as_mut_slice()) else { return };
        let Some((first, rest)) = bytes.split_at_checked(RUN - 1) else { return };
        let next = |run: u64, byte: &u8| run << 8 | u64::from(LOWER[usize::from(*byte)]);
        let mut run = first.iter().fold(0, next);
        for byte in rest {
            run = next(run, byte);
            let bit = slot(run) as usize;
            words[bit >> 6 & (WORDS - 1)] |= 1 << (bit & 63);
        }
    }

    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The filter as it is stored, for a block of so many bytes.
    pub(crate) fn folded(&self, block_bytes: usize) -> Vec<u8> {
        let bits = block_bytes.next_power_of_two().clamp(LEAST_BITS, MOST_BITS);
        let mut words = vec![0_u64; bits / 64];
        for (index, word) in self.words.iter().enumerate() {
            words[index % (bits / 64)] |= word;
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Whether all the pieces may be in the block whose stored filter this is.
    pub(crate) fn may_have(stored: &[u8], pieces: &RequiredNgrams) -> bool {
        let bits = stored.len() * 8;
        if !bits.is_power_of_two() || bits > MOST_BITS {
            return true;
        }
        let has = |slot: &u32| {
            let bit = *slot as usize & (bits - 1);
            stored[bit >> 3] & 1 << (bit & 7) != 0
        };
        pieces.all.iter().all(|ways| ways.iter().any(|slots| slots.iter().all(has)))
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

/// The bit of a run, which is the lowest bytes of the number.
fn slot(run: u64) -> u32 {
    let run = run << (64 - 8 * RUN);
    (run.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - MOST_BITS.trailing_zeros())) as u32
}

fn slots(text: &str) -> Vec<u32> {
    let run =
        |bytes: &[u8]| bytes.iter().fold(0, |run, byte| run << 8 | u64::from(byte.to_ascii_lowercase()));
    text.as_bytes().windows(RUN).map(|bytes| slot(run(bytes))).collect()
}

/// What a block's raw bytes must have for an event in it to match: all of these pieces, each in one of its ways of writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequiredNgrams {
    /// Of each piece the ways, of each way the bits.
    pub(crate) all: Vec<Vec<Vec<u32>>>,
    /// The longest piece that is written in one way alone, in lower case; its absence from the raw bytes rules them out.
    pub(crate) longest: Option<String>,
}

/// Signs that some writers escape, and others do not.
const SOMETIMES: [char; 6] = ['<', '>', '&', '\'', '+', '='];

/// Whether every writer writes it as it is.
pub(crate) fn is_plain(letter: char) -> bool {
    (' '..='~').contains(&letter) && !matches!(letter, '"' | '\\' | '/') && !SOMETIMES.contains(&letter)
}

/// Whether it is a letter beyond ASCII that has no case.
pub(crate) fn is_foreign(letter: char) -> bool {
    !letter.is_ascii() && letter.to_lowercase().eq([letter]) && letter.to_uppercase().eq([letter])
}

/// What stands in an event for what cannot be shown.
const NAMED: [&str; 3] = ["[image]", "[input_image]", "[document]"];

/// Whether a text may stand in an event in other bytes than in its line. Where JSON is searched its separators may be
/// meant, and spaces around them differ from writer to writer: with quotes, or between numbers, `true`, `false` and `null`.
/// And what cannot be shown is named.
pub(crate) fn may_be_composed(text: &str) -> bool {
    let scalar = |letter: char| {
        letter.is_ascii_digit()
            || "-+.eE".contains(letter)
            || "truefalsenull".contains(letter.to_ascii_lowercase())
    };
    let separator = |letter: char| "[]{}:,".contains(letter);
    let asked = text.to_ascii_lowercase();
    text.contains('"')
        || text.contains(separator) && text.chars().all(|letter| scalar(letter) || separator(letter))
        || NAMED.iter().any(|named| {
            let reaches = |at: usize| asked.ends_with(&named[..at]) || asked.starts_with(&named[at..]);
            named.contains(&asked) || asked.contains(named) || (1..named.len()).any(reaches)
        })
}

impl RequiredNgrams {
    /// Asks for a text as well, whatever its case.
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
        for piece in text.split(|letter| !with_slashes(letter)).filter(|piece| piece.len() >= RUN) {
            let mut ways = vec![slots(piece)];
            if piece.contains('/') {
                // With a backslash before each, or more of them in a document inside a document.
                let parts: Vec<&str> = piece.split('/').collect();
                let last = parts.len() - 1;
                let escaped = parts.iter().enumerate().flat_map(|(index, part)| {
                    let before = if index > 0 { "\\/" } else { "" };
                    let after = if index < last { "\\" } else { "" };
                    slots(&format!("{before}{part}{after}"))
                });
                ways.push(escaped.collect());
            }
            self.all.push(ways);
        }
        // Written out, or as \uXXXX in either case.
        for piece in text.split(|letter| !is_foreign(letter)).filter(|piece| !piece.is_empty()) {
            let mut buffer = [0; 2];
            let mut escaped = Vec::new();
            for letter in piece.chars() {
                for unit in letter.encode_utf16(&mut buffer) {
                    // Without the backslash, of which there are more in a document inside a document.
                    escaped.extend(slots(&format!("u{unit:04x}")));
                }
            }
            self.all.push(vec![slots(piece), escaped]);
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
    fn what_is_not_there_is_mostly_ruled_out() {
        let block = stored(r#"{"text":"The quick brown fox jumps over the lazy dog","path":"src/main.rs"}"#);
        for (asked, may) in [
            ("quick BROWN", true),
            ("src/main.rs", true),
            ("src/other.rs", false),
            ("quicksand", false),
            ("\"text\": \"The", true),
            ("日本", false),
            ("quo", true),
            ("", true),
        ] {
            assert_eq!(BloomFilter::may_have(&block, &pieces(asked)), may, "{asked}");
        }
    }

    proptest! {
        /// However a JSON writer escapes it, what is in a text is found in its block.
        #[test]
        fn it_never_says_no_wrongly(
            before in ".{0,40}", asked in ".{0,20}", after in ".{0,40}", escape_all: bool, deep: bool, slashes: bool,
        ) {
            let mut raw = serde_json::to_string(&format!("{before}{asked}{after}")).unwrap();
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
            let swapped: String = asked.chars().map(swap).collect();
            for asked in [&asked, &swapped] {
                let pieces = pieces(asked);
                prop_assert!(BloomFilter::may_have(&stored(&raw), &pieces), "{asked:?} in {raw}");
                if let Some(longest) = pieces.longest {
                    prop_assert!(raw.to_ascii_lowercase().contains(&longest));
                }
            }
        }
    }
}
