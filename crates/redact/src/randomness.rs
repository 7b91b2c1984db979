//! Whether a string looks random or written by a person.
//!
//! Entropy alone does not separate `getUserByIdAndName` from a key: both use many letters about equally often. Words are
//! recognised by their pairs of letters, most of which are among a few common ones. All arithmetic is in integers, so
//! that every machine judges alike.

/// The 180 pairs of letters that make up 87 % of the pairs in words of source code and its documentation. Among random
/// letters they are 27 %.
const COMMON_PAIRS: &str = "ab ac ad ag ai al am an ap ar as at au ay ba be bi bl bu ca ce ch ci ck cl co cr ct cu da de di do ds \
    ea ec ed ee ef eg el em en ep er es et ev ew ex fa fe fi fo ge gi gr ha he hi ho ht ia ib ic id ie if \
    ig il im in io ir is it iv iz je ke la ld le li ll lo ls lt lu ly ma me mi mo mp na nc nd ne nf ng ni \
    nn no ns nt nu ob oc od ol om on oo op or os ot ou ov ow pa pe pi pl po pp pr pt qu ra rc rd re ri rm \
    ro rr rs rt ru ry sa sc se sh si so sp ss st su ta tc te th ti to tp tr ts tt tu ty ue ui ul um un up \
    ur us ut va ve vi wi xt yp ze";

/// For each first letter, the second letters that commonly follow it, as bits.
const COMMON: [u32; 26] = {
    let pairs = COMMON_PAIRS.as_bytes();
    let mut common = [0u32; 26];
    let mut at = 0;
    while at < pairs.len() {
        common[(pairs[at] - b'a') as usize] |= 1 << (pairs[at + 1] - b'a');
        at += 3;
    }
    common
};

/// How much of a value is examined. More would only cost time on hostile input.
const MAX_LENGTH: usize = 256;

/// What a value's bytes are, counted once.
pub(super) struct Shape<'a> {
    value: &'a [u8],
    pub(super) length: usize,
    pub(super) digits: usize,
    pub(super) uppers: usize,
    pub(super) lowers: usize,
    /// Neighbours of which one is a letter and the other a digit.
    changes: usize,
    /// Neighbouring letters, and how many of those pairs are common in words.
    pairs: usize,
    common_pairs: usize,
    hex: bool,
}

impl Shape<'_> {
    pub(super) fn of(value: &[u8]) -> Shape<'_> {
        let value = &value[..value.len().min(MAX_LENGTH)];
        let mut shape = Shape {
            value,
            length: value.len(),
            digits: 0,
            uppers: 0,
            lowers: 0,
            changes: 0,
            pairs: 0,
            common_pairs: 0,
            hex: true,
        };
        let mut before = 0u8;
        for &byte in value {
            shape.hex &= byte.is_ascii_hexdigit();
            match byte {
                b'0'..=b'9' => {
                    shape.digits += 1;
                    shape.changes += usize::from(before.is_ascii_alphabetic());
                }
                b'a'..=b'z' | b'A'..=b'Z' => {
                    if byte.is_ascii_uppercase() {
                        shape.uppers += 1;
                    } else {
                        shape.lowers += 1;
                    }
                    shape.changes += usize::from(before.is_ascii_digit());
                    // A capital after a small letter begins a word in camelCase: no pair of that word.
                    if before.is_ascii_alphabetic()
                        && !(before.is_ascii_lowercase() && byte.is_ascii_uppercase())
                    {
                        let second = byte.to_ascii_lowercase() - b'a';
                        let first = usize::from(before.to_ascii_lowercase() - b'a');
                        shape.pairs += 1;
                        shape.common_pairs += usize::from(COMMON[first] >> second & 1 == 1);
                    }
                }
                _ => {}
            }
            before = byte;
        }
        shape
    }

    /// Shannon entropy in 1/256 bits per byte: `log2(total) - sum(count * log2(count)) / total`.
    fn entropy(&self) -> u32 {
        let Some(total) = u32::try_from(self.length).ok().filter(|total| *total > 0) else { return 0 };
        let mut counts = [0u16; 256];
        self.value.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        let weighted: u64 = counts
            .iter()
            .filter(|&&count| count > 1)
            .map(|&count| u64::from(count) * u64::from(log2(u32::from(count))))
            .sum();
        log2(total).saturating_sub((weighted / u64::from(total)) as u32)
    }

    fn letters(&self) -> usize {
        self.uppers + self.lowers
    }

    /// Letters mostly in pairs that are common in words, with few digits between them.
    pub(super) fn is_wordy(&self) -> bool {
        self.pairs >= 2
            && self.common_pairs * 100 >= self.pairs * 58
            && self.pairs * 2 >= self.letters()
            && self.changes * 5 <= self.length
    }

    /// Letters and digits are side by side, as in `hunter2`.
    pub(super) fn has_mixed_word(&self) -> bool {
        self.changes > 0
    }

    /// Digits and the letters a to f, in one case, with both present.
    pub(super) fn is_hex(&self) -> bool {
        self.hex && self.digits > 0 && (self.lowers == 0) != (self.uppers == 0)
    }

    /// Random rather than written: enough for a value whose name announces a secret.
    pub(super) fn is_random(&self) -> bool {
        if self.is_hex() {
            return self.length >= 16 && self.entropy() >= bits(2, 0);
        }
        let kinds = [self.digits, self.uppers, self.lowers].iter().filter(|&&count| count > 0).count();
        match self.length {
            0..10 => false,
            10..16 => {
                self.digits > 0
                    && kinds >= 2
                    && self.changes >= 2
                    && !self.is_wordy()
                    && self.entropy() >= bits(2, 192)
            }
            _ => kinds >= 2 && !self.is_wordy() && self.entropy() >= bits(3, 0),
        }
    }

    /// Random beyond what a name or a path could be: enough with only a hint near it.
    pub(super) fn is_surely_random(&self) -> bool {
        self.length >= 24
            && self.digits >= 2
            && self.uppers >= 2
            && self.lowers >= 2
            && self.changes * 8 >= self.length
            && self.common_pairs * 100 < self.pairs.max(1) * 50
            && self.entropy() >= bits(3, 192)
    }
}

const fn bits(whole: u32, part: u32) -> u32 {
    whole * 256 + part
}

/// The binary logarithm in 1/256 bits, by squaring.
fn log2(number: u32) -> u32 {
    let whole = number.ilog2();
    let mut mantissa = (u64::from(number) << 31) >> whole;
    let mut result = whole;
    for _ in 0..8 {
        mantissa = (mantissa * mantissa) >> 31;
        result <<= 1;
        if mantissa >= 1 << 32 {
            mantissa >>= 1;
            result |= 1;
        }
    }
    result
}

/// `8-4-4-4-12` hexadecimal digits.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// What a short piece of base64 means, if it is base64.
pub(super) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    let mut decoded = Vec::with_capacity(text.len() * 3 / 4);
    let (mut held, mut bits) = (0u32, 0u32);
    for &byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            decoded.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_shannons() {
        for (value, expected) in [("aaaa", 0.0), ("abab", 1.0), ("abcd", 2.0), ("aab", 0.918), ("", 0.0)] {
            let found = f64::from(Shape::of(value.as_bytes()).entropy()) / 256.0;
            assert!((found - expected).abs() < 0.02, "{value}: {found}");
        }
    }

    #[test]
    fn words_are_not_random() {
        for written in [
            "getUserByIdAndName",
            "my-super-secret-token",
            "authentication_provider",
            "oauth2-access-token-provider",
            "ContinuationTokenV2",
        ] {
            assert!(!Shape::of(written.as_bytes()).is_random(), "{written}");
        }
        for random in ["q8Zr4TnW1xKpL7vB", "9f86d081884c7d659a2f", "zK3mQp-9Rw_Lx2VtB8nY", "h7k2p9w4x1"] {
            assert!(Shape::of(random.as_bytes()).is_random(), "{random}");
        }
    }

    #[test]
    fn base64_is_decoded() {
        assert_eq!(decode_base64(b"dXNlcjpwYXNz").as_deref(), Some(&b"user:pass"[..]));
        assert_eq!(decode_base64(b"YQ==").as_deref(), Some(&b"a"[..]));
        assert_eq!(decode_base64(b"a b"), None);
    }
}
