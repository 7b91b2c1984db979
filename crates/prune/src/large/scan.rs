//! Reads one line of a large text in two passes over its bytes: its template with the numbers in it, and which patterns occur.
//!
//! Both are a few instructions a byte, since every line of a text of any size goes through them.

use crate::goal::Goal;

/// Only this much of a line goes into its template.
const TEMPLATE_BYTES: usize = 512;
/// Numbers of a line that are compared with those of other lines of its template, from the left.
pub(super) const FIELDS: usize = 16;
/// Terms of the goal that are looked for: those with the greatest weight.
pub(super) const MOST_TERMS: usize = 12;
/// Letters that may follow a term in a word of the text: "retry" is found in "retrying".
const MOST_SUFFIX: usize = 6;

/// The template of a line, and the decimal numbers that it masks.
pub(super) struct Template {
    pub(super) hash: u64,
    pub(super) values: [f64; FIELDS],
    pub(super) fields: usize,
    pub(super) is_blank: bool,
}

const SPACE: u8 = 1;
const DIGIT: u8 = 2;
const LETTER: u8 = 4;
/// A letter beyond `f`.
const NOT_HEX: u8 = 8;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        classes[byte] = if letter.is_ascii_digit() {
            DIGIT
        } else if letter.is_ascii_hexdigit() {
            LETTER
        } else if letter.is_ascii_alphabetic() {
            LETTER | NOT_HEX
        } else if letter.is_ascii_whitespace() {
            SPACE
        } else {
            0
        };
        byte += 1;
    }
    classes
};

fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// The template of a line: numbers count as one sign, and so do runs of white space.
pub(super) fn template(line: &[u8]) -> Template {
    let bytes = &line[..line.len().min(TEMPLATE_BYTES)];
    let mut template = Template { hash: 0, values: [0.0; FIELDS], fields: 0, is_blank: true };
    let mut at = 0;
    // Spaces count only between other signs.
    let mut is_spaced = false;
    while at < bytes.len() {
        let class = CLASSES[usize::from(bytes[at])];
        if class == SPACE {
            is_spaced = true;
            at += 1;
            continue;
        }
        if is_spaced && !template.is_blank {
            template.hash = mix(template.hash, u64::from(b' '));
        }
        (is_spaced, template.is_blank) = (false, false);
        if class & (DIGIT | LETTER) == 0 {
            template.hash = mix(template.hash, u64::from(bytes[at]));
            at += 1;
            continue;
        }
        let start = at;
        let (mut classes, mut digits) = (0, 0);
        while at < bytes.len() {
            let class = CLASSES[usize::from(bytes[at])];
            if class & (DIGIT | LETTER) == 0 {
                break;
            }
            classes |= class;
            digits += usize::from(class == DIGIT);
            at += 1;
        }
        template.add_word(&bytes[start..at], classes, digits);
    }
    // The upper half decides too, so every bit must depend on every byte.
    template.hash ^= template.hash >> 32;
    template.hash = template.hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    template.hash ^= template.hash >> 29;
    template
}

impl Template {
    fn add_word(&mut self, word: &[u8], classes: u8, digits: usize) {
        let is_number =
            digits > 0 && (digits * 2 >= word.len() || classes & NOT_HEX == 0 || word.starts_with(b"0x"));
        if !is_number {
            for part in word.chunks(8) {
                let mut eight = [0; 8];
                eight[..part.len()].copy_from_slice(part);
                self.hash = mix(self.hash, u64::from_le_bytes(eight));
            }
            return;
        }
        self.hash = mix(self.hash, u64::from(b'0'));
        if self.fields < FIELDS {
            // Up to 15 digits, which a float holds exactly.
            if digits == word.len() && digits <= 15 {
                let value = word.iter().fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0'));
                self.values[self.fields] = value as f64;
            } else {
                self.values[self.fields] = f64::NAN;
            }
            self.fields += 1;
        }
    }
}

/// What occurs in a line, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Terms of the goal.
    pub(super) terms: u16,
    pub(super) signs: u8,
}

/// One of the contract's words for errors.
pub(super) const ERROR_WORD: u8 = 1;
/// Another word that usually reports an error.
pub(super) const SEVERE: u8 = 2;
/// What precedes an HTTP status.
pub(super) const STATUS: u8 = 4;
/// A directive or a marker of an earlier prune may be here.
pub(super) const DIRECTIVE: u8 = 8;

const SIGNS: [(&[u8], u8); 14] = [
    (b"error", ERROR_WORD),
    (b"exception", ERROR_WORD),
    (b"traceback", ERROR_WORD),
    (b"fatal", SEVERE),
    (b"panic", SEVERE),
    (b"fail", SEVERE),
    (b"critical", SEVERE),
    (b"segfault", SEVERE),
    (b"assertion", SEVERE),
    (b"status", STATUS),
    (b"http/", STATUS),
    ("⟦no_prune".as_bytes(), DIRECTIVE),
    ("⟦prun".as_bytes(), DIRECTIVE),
    (b"[tamis ", DIRECTIVE),
];

struct Pattern {
    lower: Vec<u8>,
    /// The bit of a term; none for a sign, which counts wherever it occurs.
    term: Option<u16>,
    signs: u8,
}

/// Finds terms and signs, in any case.
pub(super) struct Patterns {
    patterns: Vec<Pattern>,
    /// For the last five bits of three neighbouring bytes, the patterns that begin so, as bits.
    beginnings: Vec<u32>,
}

impl Patterns {
    pub(super) fn of(goal: &Goal) -> Patterns {
        let mut terms: Vec<(&str, f32)> =
            goal.terms.iter().map(|term| (term.stem.as_str(), term.weight)).collect();
        terms.retain(|(stem, _)| stem.len() >= 3);
        terms.sort_by(|a, b| b.1.total_cmp(&a.1));
        terms.truncate(MOST_TERMS);
        let terms = terms.iter().enumerate().map(|(bit, (stem, _))| Pattern {
            lower: stem.as_bytes().to_ascii_lowercase(),
            term: Some(1 << bit),
            signs: 0,
        });
        let signs =
            SIGNS.iter().map(|(word, sign)| Pattern { lower: word.to_vec(), term: None, signs: *sign });
        let patterns: Vec<Pattern> = terms.chain(signs).collect();
        let mut beginnings = vec![0; 1 << 15];
        for (number, pattern) in patterns.iter().enumerate() {
            let window =
                pattern.lower[..3].iter().fold(0, |window, byte| window << 5 | usize::from(byte & 31));
            beginnings[window] |= 1 << number;
        }
        Patterns { patterns, beginnings }
    }

    pub(super) fn find(&self, line: &[u8]) -> Found {
        let mut found = Found::default();
        let mut window = 0;
        for (end, byte) in line.iter().enumerate() {
            window = (window << 5 | usize::from(byte & 31)) & 0x7fff;
            let mut candidates = self.beginnings[window];
            while candidates != 0 && end >= 2 {
                let pattern = &self.patterns[candidates.trailing_zeros() as usize];
                candidates &= candidates - 1;
                if pattern.is_at(line, end - 2) {
                    found.terms |= pattern.term.unwrap_or(0);
                    found.signs |= pattern.signs;
                }
            }
        }
        found
    }
}

impl Pattern {
    fn is_at(&self, line: &[u8], at: usize) -> bool {
        let Some(word) = line.get(at..at + self.lower.len()) else { return false };
        if !word.eq_ignore_ascii_case(&self.lower) {
            return false;
        }
        if self.term.is_none() {
            return true;
        }
        // A term begins where a word or a part of one does, and ends with the word but for a suffix.
        let before = at.checked_sub(1).map_or(b' ', |before| line[before]);
        let is_start = !before.is_ascii_alphanumeric()
            || (before.is_ascii_lowercase() && word[0].is_ascii_uppercase())
            || (before.is_ascii_digit() != word[0].is_ascii_digit());
        let rest = &line[at + word.len()..];
        let suffix = rest.iter().take(MOST_SUFFIX + 1).take_while(|byte| byte.is_ascii_alphanumeric());
        match word[word.len() - 1].is_ascii_digit() {
            true => is_start && !rest.first().is_some_and(u8::is_ascii_digit),
            false => is_start && suffix.count() <= MOST_SUFFIX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_in_numbers_have_one_template() {
        let hash = |line: &str| template(line.as_bytes()).hash;
        let same = [
            "2024-01-01 GET /a/12 0xdeadbeef",
            "2025-11-30  GET /a/7 0xfeed12 ",
            "\t2025-11-30 GET /a/7 0xfe",
        ];
        assert!(same.iter().all(|line| hash(line) == hash(same[0])));
        assert_ne!(hash(same[0]), hash("2024-01-01 GET /b/12 0xdeadbeef"));
        assert_ne!(hash("a bc"), hash("ab c"));
        let read = template(b"took 12 ms, 0xff of 3 at 7f");
        assert_eq!((read.fields, read.values[0], read.values[2]), (4, 12.0, 3.0));
        assert!(read.values[1].is_nan() && read.values[3].is_nan());
        assert!(template(b" \t\r").is_blank && !template(b" x").is_blank);
    }

    #[test]
    fn terms_and_signs_are_found_in_any_case() {
        let patterns = Patterns::of(&Goal::read("why did order 8812 retry its gateway"));
        let find = |line: &str| patterns.find(line.as_bytes());
        let [order, number, retry] = ["ORDER", "8812", "retry"].map(|word| find(word).terms);
        assert!([order, number, retry].iter().all(|bits| bits.count_ones() == 1), "{order} {number} {retry}");
        assert_eq!(find("the order 8812 was retrying").terms, order | number | retry);
        assert_eq!(find("myOrders x_retry #8812.").terms, order | number | retry);
        for other in ["border", "18812 88120", "reorderingly", "orderedwithoutend"] {
            assert_eq!(find(other).terms, 0, "{other}");
        }
        for (line, signs) in [
            ("an ERROR", ERROR_WORD),
            ("NullPointerException", ERROR_WORD),
            ("2 tests FAILED", SEVERE),
            ("HTTP/1.1 status", STATUS),
            ("⟦NO_PRUNE_BEGIN⟧", DIRECTIVE),
            ("⟦PRUNÉ: x", DIRECTIVE),
            ("x [tamis 3-4]", DIRECTIVE),
            ("all is well", 0),
        ] {
            assert_eq!(find(line).signs, signs, "{line}");
        }
    }
}
