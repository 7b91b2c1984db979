//! Finds words in a line, in any case, in one pass over its bytes.

/// Letters that may follow a stem in a word of the text: "retry" is found in "retrying".
const MOST_SUFFIX: usize = 6;
/// Shorter words cannot be found.
const SHORTEST: usize = 3;

/// Where in the words of a text a pattern may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edges {
    Anywhere,
    /// At the beginning of a word or of a part of one.
    Beginning,
    /// The same, with a few letters behind it.
    Stem,
    /// All of a name.
    Whole,
}

/// A word that is looked for, and the bits that it stands for.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    lower: Vec<u8>,
    bits: u64,
    edges: Edges,
}

impl Pattern {
    /// A pattern, unless the word is too short to be found.
    pub(crate) fn new(word: &str, bits: u64, edges: Edges) -> Option<Pattern> {
        (word.len() >= SHORTEST).then(|| Pattern { lower: word.as_bytes().to_ascii_lowercase(), bits, edges })
    }

    pub(crate) fn bits(&self) -> u64 {
        self.bits
    }

    fn is_at(&self, line: &[u8], at: usize) -> bool {
        let Some(word) = line.get(at..at + self.lower.len()) else { return false };
        if !word.eq_ignore_ascii_case(&self.lower) {
            return false;
        }
        let before = at.checked_sub(1).map_or(b' ', |before| line[before]);
        let is_start = || {
            !before.is_ascii_alphanumeric()
                || (before.is_ascii_lowercase() && word[0].is_ascii_uppercase())
                || (before.is_ascii_digit() != word[0].is_ascii_digit())
        };
        let rest = &line[at + word.len()..];
        let ends_with_digit = word[word.len() - 1].is_ascii_digit();
        let is_digit_next = || rest.first().is_some_and(u8::is_ascii_digit);
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        match self.edges {
            Edges::Anywhere => true,
            Edges::Beginning => is_start(),
            Edges::Stem if ends_with_digit => is_start() && !is_digit_next(),
            Edges::Stem => {
                let suffix =
                    rest.iter().take(MOST_SUFFIX + 1).take_while(|byte| byte.is_ascii_alphanumeric());
                is_start() && suffix.count() <= MOST_SUFFIX
            }
            Edges::Whole => !is_name(before) && !rest.first().is_some_and(|&next| is_name(next)),
        }
    }
}

/// The patterns that are looked for together.
pub(crate) struct Patterns {
    patterns: Vec<Pattern>,
    /// For the last five bits of three neighbouring bytes, the number of the group of patterns that begin so.
    groups: Vec<u8>,
    /// The patterns of each group, as bits. The first group is empty.
    members: Vec<u64>,
}

impl Patterns {
    /// How many patterns can be looked for.
    pub(crate) const MOST: usize = 64;

    /// All but the first [`Patterns::MOST`] are left out.
    pub(crate) fn new(mut patterns: Vec<Pattern>) -> Patterns {
        patterns.truncate(Patterns::MOST);
        let (mut groups, mut members) = (vec![0; 1 << 15], vec![0]);
        for (number, pattern) in patterns.iter().enumerate() {
            let window =
                pattern.lower[..SHORTEST].iter().fold(0, |window, byte| window << 5 | usize::from(byte & 31));
            if groups[window] == 0 {
                // There are no more groups than patterns.
                groups[window] = members.len() as u8;
                members.push(0);
            }
            members[usize::from(groups[window])] |= 1 << number;
        }
        Patterns { patterns, groups, members }
    }

    /// The bits of all patterns that are in a line.
    pub(crate) fn find(&self, line: &[u8]) -> u64 {
        let (mut found, mut window) = (0, 0);
        for (end, byte) in line.iter().enumerate() {
            window = (window << 5 | usize::from(byte & 31)) & 0x7fff;
            let group = self.groups[window];
            if group == 0 {
                continue;
            }
            let mut candidates = self.members[usize::from(group)];
            while candidates != 0 && end + 1 >= SHORTEST {
                let pattern = &self.patterns[candidates.trailing_zeros() as usize];
                candidates &= candidates - 1;
                if pattern.is_at(line, end + 1 - SHORTEST) {
                    found |= pattern.bits;
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_between_their_edges() {
        let patterns = [
            ("retr", Edges::Beginning),
            ("order", Edges::Stem),
            ("8812", Edges::Stem),
            ("10.0.0.7", Edges::Whole),
            ("error", Edges::Anywhere),
        ];
        let patterns = patterns
            .iter()
            .enumerate()
            .filter_map(|(bit, (word, edges))| Pattern::new(word, 1 << bit, *edges))
            .collect();
        let patterns = Patterns::new(patterns);
        for (line, expected) in [
            ("RETRYING now", 0b1),
            ("the order 8812 was retried", 0b111),
            ("myOrders x_retry #8812.", 0b111),
            ("border 18812 88120 reorderingly orderedwithoutend", 0),
            ("from 10.0.0.7:443", 0b1000),
            ("from 10.0.0.70, 110.0.0.7, 10.0.0.7a", 0),
            ("NullPointerERROR", 0b10000),
            ("", 0),
        ] {
            assert_eq!(patterns.find(line.as_bytes()), expected, "{line}");
        }
        assert!(Pattern::new("ms", 1, Edges::Whole).is_none());
    }
}
