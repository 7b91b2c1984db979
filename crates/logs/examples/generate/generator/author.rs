//! Writes text: prose, sources, what tools print.

use std::fmt::Write as _;

use super::dialects::Dialect;
use super::random::Random;
use super::vocabulary::{BITS, Vocabulary, capitalized};

pub(crate) struct Author<'v> {
    pub(crate) random: Random,
    vocabulary: &'v Vocabulary,
    /// What the project is about: which of the rarer words are at hand.
    topic: usize,
}

impl<'v> Author<'v> {
    pub(crate) fn new(random: Random, vocabulary: &'v Vocabulary, topic: usize) -> Author<'v> {
        Author { random, vocabulary, topic }
    }

    /// Ranks below `common` are everybody's; of the others most are the project's, of which there are a thousand.
    fn rank(&mut self, common: usize) -> usize {
        let rank = self.random.rank(BITS);
        if rank < common || self.random.below(32) == 0 {
            return rank;
        }
        ((rank & 0x3ff).wrapping_mul(0x9E37_79B1).wrapping_add(self.topic)) & ((1 << BITS) - 1)
    }

    pub(crate) fn word(&mut self) -> &'v str {
        let rank = self.rank(256);
        self.vocabulary.word(rank)
    }

    pub(crate) fn name(&mut self) -> &'v str {
        let rank = self.rank(32);
        self.vocabulary.name(rank)
    }

    pub(crate) fn words(&mut self, out: &mut String, count: usize) {
        for at in 0..count {
            if at > 0 {
                out.push(' ');
            }
            out.push_str(self.word());
        }
    }

    pub(crate) fn path(&mut self, out: &mut String) {
        out.push_str(self.random.pick(&["src", "crates", "packages", "tests", "lib", "app", "internal"]));
        for _ in 0..self.random.between(1, 3) {
            out.push('/');
            out.push_str(self.name());
        }
        out.push_str(self.random.pick(&[".rs", ".ts", ".tsx", ".py", ".go", ".md", ".json", "", ".toml"]));
    }

    /// Fills a line of a dialect.
    pub(crate) fn fill(&mut self, out: &mut String, line: &str) {
        let mut pieces = line.split('%');
        out.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            match piece.as_bytes().first() {
                Some(b'w') => out.push_str(self.word()),
                Some(b'n') => out.push_str(self.name()),
                Some(b'T') => {
                    let name = self.name();
                    out.push_str(&name[..1].to_ascii_uppercase());
                    out.push_str(&name[1..]);
                }
                Some(b'd') => drop(write!(out, "{}", self.random.rank(10))),
                Some(b'D') => drop(write!(out, "{}", self.random.below(1_000_000))),
                Some(b'p') => self.path(out),
                Some(b'h') => self.random.hex(out, 8),
                Some(b's') => {
                    let count = self.random.between(2, 8);
                    self.words(out, count);
                }
                Some(b't') => {
                    let second = self.random.below(86_400);
                    let _ = write!(out, "{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
                }
                _ => {}
            }
            out.push_str(&piece[1..]);
        }
    }

    pub(crate) fn filled(&mut self, line: &str) -> String {
        let mut out = String::new();
        self.fill(&mut out, line);
        out
    }

    /// Lines of a dialect, of about this many bytes.
    pub(crate) fn lines(&mut self, dialect: &Dialect, bytes: usize) -> String {
        let mut out = String::with_capacity(bytes + 200);
        let mut depth = 0;
        while out.len() < bytes {
            if depth > 0 && self.random.percent(if depth > 3 { 40 } else { 14 }) {
                depth -= 1;
                indent(&mut out, depth);
                out.push_str(dialect.closer);
            } else {
                indent(&mut out, depth);
                let line = self.random.pick(dialect.lines);
                self.fill(&mut out, line);
                depth += usize::from(out.ends_with(dialect.opens));
            }
            out.push('\n');
        }
        out
    }

    /// Sentences, lists, quoted code, now and then a word that is not ASCII.
    pub(crate) fn prose(&mut self, bytes: usize) -> String {
        let mut out = String::with_capacity(bytes + 200);
        while out.len() < bytes {
            match self.random.below(12) {
                0 => out.push_str("\n\n"),
                1 => out.push_str("\n- "),
                2 => {
                    let line = self.random.pick(&["`%p:%d` ", "`%n()` ", "**%s** ", "\"%s\" ", "(#%d) "]);
                    self.fill(&mut out, line);
                }
                3 if self.random.percent(40) => {
                    out.push_str(self.random.pick(FOREIGN));
                    out.push(' ');
                }
                _ => {}
            }
            out.push_str(&capitalized(self.word()));
            out.push(' ');
            let count = self.random.between(3, 16);
            self.words(&mut out, count);
            out.push_str(self.random.pick(&[". ", ". ", ". ", ": ", ", ", "? ", "! ", "; "]));
        }
        out.truncate(out.trim_end().len());
        out
    }
}

fn indent(out: &mut String, depth: usize) {
    out.push_str(&"                    "[..4 * depth.min(5)]);
}

const FOREIGN: &[&str] = &[
    "—",
    "…",
    "→",
    "✓",
    "naïve",
    "déjà vu",
    "größer",
    "señal",
    "日本語のテスト",
    "ファイルを確認します",
    "修正しました",
    "проверка",
    "🙂",
    "✅",
    "≤",
    "“quoted”",
    "été",
    "ελέγχω",
];
