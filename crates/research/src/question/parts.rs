//! Splits a question into names, which are written as code writes them, and words.

use tamis_text::words::{WordPiece, each_word};

use super::{is_code, is_common, is_word};

/// What a question consists of.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) names: Vec<String>,
    /// Owner and member of names such as `Owner.member`, by number.
    pub(super) members: Vec<(usize, usize)>,
    /// Words with a capital that do not open a sentence, or would not.
    pub(super) doubtful: Vec<String>,
    pub(super) words: Vec<String>,
    begun: bool,
}

impl Parts {
    /// Adds a name and returns its number.
    fn name(&mut self, name: &str) -> Option<usize> {
        if name.len() < 2 {
            return None;
        }
        if let Some(known) = self.names.iter().position(|known| known == name) {
            return Some(known);
        }
        self.names.push(name.to_owned());
        Some(self.names.len() - 1)
    }

    /// Notes that the second is written as the first's.
    fn member(&mut self, owner: Option<usize>, member: Option<usize>) {
        if let (Some(owner), Some(member)) = (owner, member) {
            self.members.push((owner, member));
        }
    }

    /// Text in backticks is code: each identifier in it is a name.
    pub(super) fn quote(&mut self, piece: &str) {
        let mut owner = None;
        for part in piece.split_inclusive(|c: char| !is_word(c)) {
            let name = part.trim_end_matches(|c: char| !is_word(c));
            if name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                let number = self.name(name);
                self.member(owner, number);
                owner = number;
            }
            // `Owner::member` has nothing between its colons.
            if !part.ends_with(['.', ':']) {
                owner = None;
            }
        }
        self.begun = true;
    }

    pub(super) fn read(&mut self, piece: &str) {
        let mut rest = piece;
        while let Some(start) = rest.find(|c: char| c.is_alphabetic() || c == '_') {
            rest = &rest[start..];
            let mut end = 0;
            // `a.b.c` is one run; a dot at the end of a sentence is not part of it.
            loop {
                end += rest[end..].find(|c: char| !is_word(c)).unwrap_or(rest.len() - end);
                let dotted = rest[end..].strip_prefix('.');
                if !dotted.is_some_and(|next| next.starts_with(|c: char| c.is_alphabetic() || c == '_')) {
                    break;
                }
                end += 1;
            }
            let (run, after) = rest.split_at(end);
            self.run(run, after.starts_with("()"));
            let ends = after.trim_start().starts_with(['.', '?', '!']) || after.starts_with(". ");
            self.begun = !ends;
            rest = after;
        }
    }

    fn run(&mut self, run: &str, called: bool) {
        let pieces: Vec<&str> = run.split('.').collect();
        let dotted = pieces.len() > 1 && pieces.iter().all(|piece| piece.len() > 1);
        let mut owner = None;
        for piece in pieces {
            if called || dotted || is_code(piece) {
                let number = self.name(piece);
                self.member(owner, number);
                owner = number;
                continue;
            }
            let capital = piece.starts_with(char::is_uppercase);
            let known = || self.doubtful.iter().any(|known| known == piece);
            if capital && (self.begun || !is_common(piece)) && piece.len() > 2 && !known() {
                self.doubtful.push(piece.to_owned());
            }
            if piece.is_ascii() {
                self.words.push(piece.to_owned());
            } else {
                // In scripts without spaces between words, each character is a word.
                each_word(piece, |word, kind| {
                    if kind == WordPiece::Part {
                        self.words.push(word.to_owned());
                    }
                });
            }
            self.begun = true;
        }
    }
}
