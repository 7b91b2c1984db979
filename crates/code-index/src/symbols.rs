//! Which files declare a symbol: a constant, a field, a key or a route as well as a function or a type.
//!
//! A symbol is matched in its exact spelling, or **folded**: `parse_config`, `parseConfig` and "parse configs" fold to the same
//! text. A symbol that is not one run, such as the route `/users/:id`, is matched exactly only.

use std::ops::BitOrAssign;

use tamis_syntax::{DeclarationKind, Notation, each_declaration};

use crate::word_counter::{MAX_LINE_LENGTH, WordCounter, beginning, end_of_run, in_run, parts_of};

/// How a file declares the symbols of a query: three bits for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Declared(u32);

impl Declared {
    const BITS: usize = 3;

    fn of(symbol: usize, way: usize) -> Declared {
        Declared(1 << (symbol * Declared::BITS + way))
    }

    /// Whether a function or type has the symbol's name.
    pub fn is_defined(self, symbol: usize) -> bool {
        self.0 & Declared::of(symbol, 0).0 != 0
    }

    /// Whether anything else has the symbol's name.
    pub fn is_declared(self, symbol: usize) -> bool {
        self.0 & Declared::of(symbol, 1).0 != 0
    }

    /// Whether anything has its name in any spelling.
    pub fn is_folded(self, symbol: usize) -> bool {
        self.0 & Declared::of(symbol, 2).0 != 0
    }

    pub fn has(self, symbol: usize) -> bool {
        self.is_defined(symbol) || self.is_declared(symbol) || self.is_folded(symbol)
    }
}

impl BitOrAssign for Declared {
    fn bitor_assign(&mut self, other: Declared) {
        self.0 |= other.0;
    }
}

/// A name without its separators and the forms of its words: that of `parseConfigs` is that of `parse_config`.
pub fn fold_name(name: &str) -> String {
    let mut fold = String::new();
    parts_of(name.as_bytes(), |stem| fold.push_str(stem));
    fold
}

/// The fold of a name that is one run. Empty when it does not begin with the name's first letter, which is what a run is first
/// compared by.
fn fold_of_run(name: &str) -> String {
    if !name.bytes().all(in_run) {
        return String::new();
    }
    let fold = fold_name(name);
    if fold.as_bytes().first().copied() == first_letter(name.as_bytes()) { fold } else { String::new() }
}

fn first_letter(run: &[u8]) -> Option<u8> {
    run.iter().find(|byte| **byte != b'_').map(u8::to_ascii_lowercase)
}

/// A symbol's sign in the index.
#[derive(Clone, Copy)]
pub(crate) enum SymbolSign<'a> {
    Definition(&'a str),
    Declaration(&'a str),
    Folded(&'a str),
}

/// The symbols of a query.
pub(crate) struct SymbolSet {
    symbols: Vec<Symbol>,
}

struct Symbol {
    text: String,
    /// Empty when it is matched exactly only.
    fold: String,
    /// The run of its text by which its lines are found, and where that begins; none when its text is one run.
    literal: Option<(String, usize)>,
    /// The stem by which its runs are found.
    anchor: String,
}

/// More do not fit the bits.
const MAX_SYMBOLS: usize = 10;

impl SymbolSet {
    pub(crate) fn new(texts: &[String]) -> SymbolSet {
        let symbols = texts.iter().take(MAX_SYMBOLS).map(|text| {
            let is_run = text.bytes().all(in_run);
            let runs = text.split(|c: char| c.is_ascii() && !in_run(c as u8));
            let longest = runs.max_by_key(|run| run.len()).unwrap_or("").to_owned();
            let mut anchor = String::new();
            parts_of(longest.as_bytes(), |stem| {
                if stem.len() > anchor.len() {
                    stem.clone_into(&mut anchor);
                }
            });
            if anchor.is_empty() {
                anchor = longest.to_lowercase();
            }
            let at = text.find(&longest).unwrap_or(0);
            Symbol {
                fold: if is_words(text) { fold_name(text) } else { String::new() },
                literal: (!is_run).then_some((longest, at)),
                text: text.clone(),
                anchor,
            }
        });
        SymbolSet { symbols: symbols.collect() }
    }

    /// Stems of which every declaration of a symbol has one.
    pub(crate) fn anchors(&self) -> impl Iterator<Item = &str> {
        self.symbols.iter().map(|symbol| symbol.anchor.as_str()).filter(|anchor| !anchor.is_empty())
    }

    /// Calls `visit` with each sign to look for, and what it means.
    pub(crate) fn each_sign(&self, mut visit: impl FnMut(SymbolSign<'_>, Declared)) {
        for (number, symbol) in self.symbols.iter().enumerate() {
            visit(SymbolSign::Definition(&symbol.text), Declared::of(number, 0));
            visit(SymbolSign::Declaration(&symbol.text), Declared::of(number, 1));
            if !symbol.fold.is_empty() {
                visit(SymbolSign::Folded(&symbol.fold), Declared::of(number, 2));
            }
        }
    }

    /// Whether the run at `at` may be one of the symbols, or a part of one.
    fn may_be(&self, bytes: &[u8], at: usize, run: &[u8], fold: &mut String) -> bool {
        fold.clear();
        let first = first_letter(run);
        if self
            .symbols
            .iter()
            .any(|symbol| symbol.fold.as_bytes().first().is_some_and(|known| Some(*known) == first))
        {
            parts_of(run, |stem| fold.push_str(stem));
        }
        let is_folded = |symbol: &Symbol| !symbol.fold.is_empty() && symbol.fold == *fold;
        self.symbols.iter().any(|symbol| match &symbol.literal {
            Some((part, from)) => {
                is_folded(symbol)
                    || (run == part.as_bytes()
                        && at
                            .checked_sub(*from)
                            .is_some_and(|at| bytes[at..].starts_with(symbol.text.as_bytes())))
            }
            None => run == symbol.text.as_bytes() || is_folded(symbol),
        })
    }

    /// What a declared name says about the symbols.
    pub(crate) fn declared_by(&self, name: &str, kind: DeclarationKind) -> Declared {
        let mut declared = Declared::default();
        let fold = fold_of_run(name);
        for (number, symbol) in self.symbols.iter().enumerate() {
            if symbol.text == name {
                declared |= Declared::of(number, usize::from(kind != DeclarationKind::Definition));
            }
            if !fold.is_empty() && symbol.fold == fold {
                declared |= Declared::of(number, 2);
            }
        }
        declared
    }
}

/// Whether a text is words or a name, and no path or sign.
fn is_words(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '))
}

/// A declaration of a symbol in a text.
pub struct SymbolHit<'a> {
    /// The number of the symbol.
    pub symbol: usize,
    /// Where its line begins.
    pub line_start: usize,
    /// Where its name begins in the line, in bytes.
    pub column: usize,
    pub name: &'a str,
    pub kind: DeclarationKind,
}

/// Looks for declarations on the lines that have a symbol.
pub(crate) struct LineScan<'a> {
    symbols: &'a SymbolSet,
    bytes: &'a [u8],
    notation: Notation,
    /// The lines up to here are done.
    done: usize,
    fold: String,
}

impl<'a> LineScan<'a> {
    pub(crate) fn new(symbols: &'a SymbolSet, bytes: &'a [u8], path: &str) -> LineScan<'a> {
        let notation = if symbols.symbols.is_empty() { Notation::Prose } else { Notation::of_path(path) };
        LineScan { symbols, bytes, notation, done: 0, fold: String::new() }
    }

    /// Looks at a run, and calls `visit` with the names that its line declares: where the line begins, the name's column, the name,
    /// its kind.
    pub(crate) fn see(
        &mut self,
        at: usize,
        run: &[u8],
        mut visit: impl FnMut(usize, usize, &str, DeclarationKind),
    ) {
        if self.notation == Notation::Prose
            || at < self.done
            || !self.symbols.may_be(self.bytes, at, run, &mut self.fold)
        {
            return;
        }
        let from = at.saturating_sub(MAX_LINE_LENGTH);
        let start = match memchr::memrchr(b'\n', &self.bytes[from..at]) {
            Some(newline) => from + newline + 1,
            None if from == 0 => 0,
            None => return,
        };
        let (mut lines, mut count, mut from) = ([""; 1 + LINES_BELOW], 0, start);
        for line in &mut lines {
            let end =
                memchr::memchr(b'\n', &self.bytes[from..]).map_or(self.bytes.len(), |length| from + length);
            *line = beginning(&self.bytes[from..end]);
            count += 1;
            if count == 1 {
                self.done = end;
            }
            if end == self.bytes.len() {
                break;
            }
            from = end + 1;
        }
        each_name(lines[0], &lines[1..count], self.notation, |column, name, kind| {
            visit(start, column, name, kind);
        });
    }
}

impl WordCounter {
    /// Calls `visit` with each declaration of a symbol of the query, in order of lines.
    pub fn each_symbol(&self, bytes: &[u8], path: &str, mut visit: impl FnMut(SymbolHit<'_>)) {
        let mut scan = LineScan::new(&self.symbols, bytes, path);
        self.each_candidate(bytes, |at, run| {
            scan.see(at, run, |line_start, column, name, kind| {
                let declared = self.symbols.declared_by(name, kind);
                for symbol in (0..self.symbols.symbols.len()).filter(|symbol| declared.has(*symbol)) {
                    visit(SymbolHit { symbol, line_start, column, name, kind });
                }
            });
        });
    }
}

/// Lines that may belong to a signature.
const LINES_BELOW: usize = 24;

/// Calls `visit` with each name that a line declares, if it is not part of a longer run: its column, the name, its kind.
fn each_name(
    line: &str,
    next: &[&str],
    notation: Notation,
    mut visit: impl FnMut(usize, &str, DeclarationKind),
) {
    let bytes = line.as_bytes();
    each_declaration(line, next, notation, &mut |name, kind| {
        let (mut start, mut end) = (name.start, name.end);
        while start < end && bytes[start] == b'$' {
            start += 1;
        }
        while start < end && bytes[end - 1] == b'$' {
            end -= 1;
        }
        let begins = start == 0 || !in_run(bytes[start - 1]);
        if start < end && begins && end_of_run(bytes, end) == end {
            visit(start, &line[start..end], kind);
        }
    });
}

/// Calls `visit` with the signs of each name that a text declares.
pub(crate) fn each_sign(bytes: &[u8], path: &str, mut visit: impl FnMut(SymbolSign<'_>)) {
    let notation = Notation::of_path(path);
    if notation == Notation::Prose {
        return;
    }
    let lines: Vec<&str> = bytes.split(|&byte| byte == b'\n').map(beginning).collect();
    for (number, line) in lines.iter().enumerate() {
        let next = &lines[number + 1..lines.len().min(number + 1 + LINES_BELOW)];
        each_name(line, next, notation, |_, name, kind| {
            visit(match kind {
                DeclarationKind::Definition => SymbolSign::Definition(name),
                _ => SymbolSign::Declaration(name),
            });
            let fold = fold_of_run(name);
            if !fold.is_empty() {
                visit(SymbolSign::Folded(&fold));
            }
        });
    }
}
