//! What a line looks like, whatever the goal: its place, its kind of statement, its letters.

use super::{Builder, Feature, Sources, bounded_root, flags};
use crate::Unpruned;

/// A line's letters are counted up to here.
const LETTERS: usize = 256;

/// Words that steer: lines that begin so are where behaviour is decided.
#[rustfmt::skip]
const CONTROL: &[&str] = &[
    "if", "else", "elif", "for", "while", "loop", "switch", "match", "case", "default", "return", "break", "continue", "throw",
    "raise", "try", "catch", "except", "finally", "yield", "await", "goto", "do", "with", "defer", "go", "select", "panic",
];
pub(super) fn place(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let shape = sources.shape;
    out.set(Feature::Indent, shape.indent.iter().map(|&width| f32::from(width.min(80)).sqrt()).collect())?;
    out.set(Feature::Width, shape.width.iter().map(|&width| (width.min(400) as f32).sqrt()).collect())?;
    let count = out.lines.max(1) as f32;
    out.set(Feature::Position, (0..out.lines).map(|line| line as f32 / count).collect())?;
    let mut before = 0;
    let mut changes = Vec::with_capacity(out.lines);
    for (&indent, &blank) in shape.indent.iter().zip(&shape.blank) {
        let indent = i32::from(indent);
        changes.push(if blank { 0.0 } else { (indent - before).clamp(-8, 8) as f32 });
        before = if blank { before } else { indent };
    }
    out.set(Feature::IndentChange, changes)
}

pub(super) fn structure(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let (shape, repetition) = (sources.shape, sources.repetition);
    let bounded = |values: &[u32]| values.iter().map(|&value| bounded_root(value as f32)).collect();
    out.set(Feature::IsComment, flags(&shape.comment))?;
    out.set(Feature::InTests, flags(&shape.tests))?;
    out.set(Feature::IsSevere, flags(&shape.severe))?;
    out.set(Feature::IsDefinition, flags(&shape.definition))?;
    out.set(Feature::IsImport, flags(&shape.import))?;
    out.set(Feature::IsBlank, flags(&shape.blank))?;
    out.set(Feature::Repeats, bounded(&repetition.count))?;
    out.set(Feature::EarlierRepeats, bounded(&repetition.earlier))?;
    out.set(Feature::StandsOut, flags(&repetition.stands_out))
}

/// What one look at a line's bytes tells.
#[derive(Default)]
struct Letters {
    first: u8,
    last: u8,
    digits: usize,
    symbols: usize,
    /// Places where a compound name goes on: `aB`, `a_b`.
    joints: usize,
    /// Words that begin with a capital.
    capitals: usize,
    read: usize,
    calls: bool,
    points: bool,
    steers: bool,
}

impl Letters {
    fn read(line: &str) -> Letters {
        let bytes = line.trim().as_bytes();
        let bytes = &bytes[..bytes.len().min(LETTERS)];
        let mut letters = Letters {
            first: bytes.first().copied().unwrap_or(0),
            last: bytes.last().copied().unwrap_or(0),
            read: bytes.len(),
            steers: CONTROL.contains(&first_word(line)),
            ..Letters::default()
        };
        let mut dotted = false;
        for (at, &byte) in bytes.iter().enumerate() {
            let next = bytes.get(at + 1).copied().unwrap_or(0);
            let before = at.checked_sub(1).map_or(0, |before| bytes[before]);
            letters.joints += usize::from(
                (byte.is_ascii_lowercase() && next.is_ascii_uppercase())
                    || (byte == b'_' && before.is_ascii_alphanumeric() && next.is_ascii_alphanumeric()),
            );
            letters.capitals +=
                usize::from(byte.is_ascii_uppercase() && !before.is_ascii_alphanumeric() && before != b'_');
            match byte {
                b'0'..=b'9' => letters.digits += 1,
                byte if byte.is_ascii_punctuation() => letters.symbols += 1,
                _ => {}
            }
            match byte {
                b'(' => letters.calls = true,
                b'.' => dotted = true,
                // As in `name.ext:12`.
                b':' if dotted && next.is_ascii_digit() => letters.points = true,
                _ => {}
            }
        }
        letters
    }
}

pub(super) fn letters(sources: &Sources<'_>, out: &mut Builder<'_>) -> Result<(), Unpruned> {
    let letters: Vec<Letters> = sources.lines.iter().map(|line| Letters::read(line)).collect();
    let mut flag = |feature, test: &dyn Fn(&Letters) -> bool| {
        out.set(feature, letters.iter().map(|line| f32::from(u8::from(test(line)))).collect())
    };
    flag(Feature::FirstPlus, &|line| line.first == b'+')?;
    flag(Feature::FirstMinus, &|line| line.first == b'-')?;
    flag(Feature::Points, &|line| line.points)?;
    flag(Feature::Calls, &|line| line.calls)?;
    flag(Feature::Steers, &|line| line.steers)?;
    flag(Feature::Opens, &|line| matches!(line.last, b'{' | b'(' | b'[' | b':'))?;
    let share = |count: usize, read: usize| count as f32 / (8 + read) as f32;
    out.set(Feature::Digits, letters.iter().map(|line| share(line.digits, line.read)).collect())?;
    out.set(Feature::Symbols, letters.iter().map(|line| share(line.symbols, line.read)).collect())?;
    out.set(Feature::Names, letters.iter().map(|line| bounded_root(line.joints as f32)).collect())?;
    out.set(Feature::Capitals, letters.iter().map(|line| bounded_root(line.capitals as f32)).collect())
}

fn first_word(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '}' | '@' | '#'));
    let end = line.bytes().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(line.len());
    &line[..end]
}
