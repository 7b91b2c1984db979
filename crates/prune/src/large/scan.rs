//! Reads one line of a large text in two passes over its bytes: its template with the numbers in it, and which patterns occur.
//!
//! Both are a few instructions a byte, since every line of a text of any size goes through them.

use crate::mentions::Vocabulary;
use crate::patterns::{Edges, Pattern, Patterns};

/// Only this much of a line goes into its template.
const TEMPLATE_BYTES: usize = 512;
/// Numbers of a line that are compared with those of other lines of its template, from the left.
pub(super) const FIELDS: usize = 16;
/// Bits for what the goal speaks of.
pub(super) const MOST_TERMS: usize = 12;

/// The template of a line, and the decimal numbers that it masks.
pub(super) struct Template {
    pub(super) hash: u64,
    pub(super) values: [f64; FIELDS],
    pub(super) fields: usize,
    pub(super) is_blank: bool,
}

/// Units that are written right behind a number. Others may be hexadecimal.
const UNITS: [&[u8]; 14] = [
    b"ms", b"us", b"ns", b"s", b"sec", b"secs", b"min", b"mins", b"kb", b"mb", b"gb", b"kib", b"mib", b"gib",
];

fn is_unit(word: &[u8]) -> bool {
    (1..=4).contains(&word.len()) && UNITS.iter().any(|unit| word.eq_ignore_ascii_case(unit))
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
        let leading =
            if digits == 0 { 0 } else { word.iter().take_while(|byte| byte.is_ascii_digit()).count() };
        let has_unit = leading > 0 && is_unit(&word[leading..]);
        let is_number = digits > 0
            && (has_unit || digits * 2 >= word.len() || classes & NOT_HEX == 0 || word.starts_with(b"0x"));
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
            if (leading == word.len() || has_unit) && leading <= 15 {
                let value =
                    word[..leading].iter().fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0'));
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
    /// What the goal speaks of.
    pub(super) terms: u16,
    pub(super) signs: u8,
}

impl Found {
    /// Of the bits of [`patterns`].
    pub(super) fn of(bits: u64) -> Found {
        Found { terms: (bits & ((1 << MOST_TERMS) - 1)) as u16, signs: (bits >> MOST_TERMS) as u8 }
    }
}

/// One of the contract's words for errors.
pub(super) const ERROR_WORD: u8 = 1;
/// Another word that usually reports an error.
pub(super) const SEVERE: u8 = 2;
/// What precedes an HTTP status.
pub(super) const STATUS: u8 = 4;
/// A directive or a marker of an earlier prune may be here.
pub(super) const DIRECTIVE: u8 = 8;

const SIGNS: [(&str, u8); 14] = [
    ("error", ERROR_WORD),
    ("exception", ERROR_WORD),
    ("traceback", ERROR_WORD),
    ("fatal", SEVERE),
    ("panic", SEVERE),
    ("fail", SEVERE),
    ("critical", SEVERE),
    ("segfault", SEVERE),
    ("assertion", SEVERE),
    ("status", STATUS),
    ("http/", STATUS),
    ("⟦no_prune", DIRECTIVE),
    ("⟦prun", DIRECTIVE),
    ("[tamis ", DIRECTIVE),
];

/// Patterns of what the goal speaks of, and of signs.
pub(super) fn patterns(vocabulary: &Vocabulary) -> Patterns {
    let signs = SIGNS
        .iter()
        .filter_map(|(word, sign)| Pattern::new(word, u64::from(*sign) << MOST_TERMS, Edges::Anywhere));
    Patterns::new(signs.chain(vocabulary.patterns_of_terms()).chain(vocabulary.patterns()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Goal;
    use crate::want::Want;

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
        assert_eq!(hash("took 5ms"), hash("took 1234ms"));
        assert_ne!(hash("took 5ms"), hash("took fast"));
        let read = template(b"took 12 ms, 0xff of 3 at 7f, 35ms");
        assert_eq!((read.fields, read.values[0], read.values[2], read.values[4]), (5, 12.0, 3.0, 35.0));
        assert!(read.values[1].is_nan() && read.values[3].is_nan());
        assert!(template(b" \t\r").is_blank && !template(b" x").is_blank);
    }

    #[test]
    fn terms_and_signs_are_found_in_any_case() {
        let goal = "why did order 8812 retry its gateway";
        let vocabulary = Vocabulary::of(&Goal::read(goal), &Want::read(goal), MOST_TERMS as u32);
        let patterns = patterns(&vocabulary);
        let find = |line: &str| Found::of(patterns.find(line.as_bytes()));
        let [order, number, retry] = ["ORDER", "8812", "retry"].map(|word| find(word).terms);
        assert!([order, number, retry].iter().all(|bits| *bits != 0), "{order} {number} {retry}");
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
