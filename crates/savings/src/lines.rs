//! Lines as they are compared: without the numbers that tools put before them, and only those with enough content.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

/// Shorter lines prove nothing when they turn up again.
pub(super) const DISTINCTIVE: usize = 12;

/// Beginnings of lines that stand in every file.
const BOILERPLATE: &[&str] = &[
    "import ",
    "from ",
    "use ",
    "pub use ",
    "#include",
    "package ",
    "using ",
    "export * ",
    "export {",
    "require(",
    "const require",
    "#!/",
    "<!DOCTYPE",
    "'use strict'",
    "\"use strict\"",
    "} else",
    "} catch",
    "} finally",
    "if __name__",
    "return None",
    "return true",
    "return false",
    "Ok(())",
    "---",
    "===",
    "***",
    "```",
    "// ---",
    "# ---",
];

/// Signs between a line's number and the line, in the clients' ways of showing files.
const AFTER_NUMBERS: &[&str] = &["→", "\t", "| ", "│ ", ": ", ":", "|"];

/// A line without its number, or its file's name and number, and without the space around it.
pub fn bare_line(line: &str) -> &str {
    let trimmed = line.trim();
    let digits = trimmed.strip_prefix('L').unwrap_or(trimmed);
    if let Some(rest) = after_number(digits, AFTER_NUMBERS) {
        return rest.trim();
    }
    // `path:12:text`, as searches show it.
    if let Some((path, rest)) = trimmed.split_once(':')
        && !path.is_empty()
        && !path.contains(char::is_whitespace)
        && let Some(text) = after_number(rest, &[":"])
    {
        return text.trim();
    }
    trimmed
}

/// A file as it is, when a client shows it with a number before each line: tamis's own `read` puts none there, and the engine
/// would take the numbers for text. `None` when there are none.
pub(super) fn unnumbered(text: &str) -> Option<String> {
    let (mut numbered, mut plain, mut lines) = (0_usize, 0_usize, Vec::new());
    for line in text.split('\n') {
        let after = after_number(line.trim_start(), SURELY_AFTER_NUMBERS);
        match after {
            Some(_) => numbered += 1,
            None => plain += usize::from(!line.trim().is_empty()),
        }
        lines.push(after.unwrap_or(line));
    }
    // Clients add a word of their own before or after the file.
    (numbered > 0 && plain * 10 <= numbered + 40).then(|| lines.join("\n"))
}

/// Signs that no one writes after a number but to show lines.
const SURELY_AFTER_NUMBERS: &[&str] = &["→", "\t", "| ", "│ ", "|"];

fn after_number<'l>(text: &'l str, signs: &[&str]) -> Option<&'l str> {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if rest.len() == text.len() {
        return None;
    }
    signs.iter().find_map(|sign| rest.strip_prefix(sign))
}

/// Whether a bare line has enough content that its second occurrence is not a coincidence.
pub fn is_distinctive(bare: &str) -> bool {
    bare.len() >= DISTINCTIVE
        && bare.chars().filter(|letter| letter.is_alphanumeric()).count() >= 8
        && !BOILERPLATE.iter().any(|start| bare.starts_with(start))
}

/// Whether there is anything in a bare line that could be edited.
pub(super) fn says_anything(bare: &str) -> bool {
    bare.len() >= 4 && bare.chars().any(char::is_alphanumeric)
}

/// Hashes of lines that the agent had before its eyes. The oldest are forgotten.
#[derive(Default)]
pub(super) struct Known {
    lately: HashSet<u64>,
    before: HashSet<u64>,
}

const MOST_KNOWN: usize = 400_000;

impl Known {
    /// Whether it is new.
    pub(super) fn add(&mut self, line: u64) -> bool {
        if self.lately.len() >= MOST_KNOWN {
            self.before = std::mem::take(&mut self.lately);
        }
        let known_before = self.before.contains(&line);
        self.lately.insert(line) && !known_before
    }

    pub(super) fn has(&self, line: u64) -> bool {
        self.lately.contains(&line) || self.before.contains(&line)
    }

    pub(super) fn clear(&mut self) {
        *self = Known::default();
    }
}

pub(super) fn hash_of(value: impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_before_lines_are_no_part_of_them() {
        for (line, expected) in [
            ("    12→    let x = 1;", "let x = 1;"),
            ("12\tlet x = 1;", "let x = 1;"),
            ("00012| let x = 1;", "let x = 1;"),
            ("12│ let x = 1;", "let x = 1;"),
            ("L12: let x = 1;", "let x = 1;"),
            ("src/a.rs:12:    let x = 1;", "let x = 1;"),
            ("  let x = 1;", "let x = 1;"),
            ("let y: u8 = 1;", "let y: u8 = 1;"),
            ("404 not found", "404 not found"),
            ("", ""),
        ] {
            assert_eq!(bare_line(line), expected, "{line}");
        }
    }

    #[test]
    fn a_file_is_shown_without_numbers() {
        let shown =
            "     1→fn a() {\n     2→    b();\n     3→\n     4→}\n\n<note>\nsaid by the client\n</note>\n";
        let file = "fn a() {\n    b();\n\n}\n\n<note>\nsaid by the client\n</note>\n";
        assert_eq!(unnumbered(shown).as_deref(), Some(file));
        assert_eq!(unnumbered(file), None);
        assert_eq!(unnumbered("00001| a\n00002|\n").as_deref(), Some("a\n\n"));
    }

    #[test]
    fn what_stands_everywhere_is_not_distinctive() {
        for line in ["let total = price * count;", "ERROR cannot open /etc/tamis"] {
            assert!(is_distinctive(line), "{line}");
        }
        for line in ["}", "import React from 'react';", "------------------", "});", "return None  # nothing"]
        {
            assert!(!is_distinctive(line), "{line}");
        }
    }
}
