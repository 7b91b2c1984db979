//! Surface features, whatever the goal: position, indentation, kind of statement, characters.

use super::{Builder, Feature, FeatureInputs, bounded_root, flags};
use crate::EngineError;

/// Only this many bytes of a line are counted.
const COUNTED_BYTES: usize = 256;

/// Control-flow keywords of many languages, as the first word of a line.
#[rustfmt::skip]
const CONTROL: &[&str] = &[
    "if", "else", "elif", "for", "while", "loop", "switch", "match", "case", "default", "return", "break", "continue", "throw",
    "raise", "try", "catch", "except", "finally", "yield", "await", "goto", "do", "with", "defer", "go", "select", "panic",
];
pub(super) fn place(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    let attributes = inputs.attributes;
    out.set(
        Feature::Indent,
        attributes.indent.iter().map(|&width| f32::from(width.min(80)).sqrt()).collect(),
    )?;
    out.set(Feature::Width, attributes.width.iter().map(|&width| (width.min(400) as f32).sqrt()).collect())?;
    let count = out.lines.max(1) as f32;
    out.set(Feature::Position, (0..out.lines).map(|line| line as f32 / count).collect())?;
    let mut before = 0;
    let mut changes = Vec::with_capacity(out.lines);
    for (&indent, &blank) in attributes.indent.iter().zip(&attributes.blank) {
        let indent = i32::from(indent);
        changes.push(if blank { 0.0 } else { (indent - before).clamp(-8, 8) as f32 });
        before = if blank { before } else { indent };
    }
    out.set(Feature::IndentChange, changes)
}

pub(super) fn structure(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    let (attributes, repetition) = (inputs.attributes, inputs.repetition);
    let bounded = |values: &[u32]| values.iter().map(|&value| bounded_root(value as f32)).collect();
    out.set(Feature::IsComment, flags(&attributes.comment))?;
    out.set(Feature::InTests, flags(&attributes.tests))?;
    out.set(Feature::IsSevere, flags(&attributes.severe))?;
    out.set(Feature::IsDefinition, flags(&attributes.definition))?;
    out.set(Feature::IsImport, flags(&attributes.import))?;
    out.set(Feature::IsBlank, flags(&attributes.blank))?;
    out.set(Feature::Repeats, bounded(&repetition.count))?;
    out.set(Feature::EarlierRepeats, bounded(&repetition.earlier))?;
    out.set(Feature::StandsOut, flags(&repetition.stands_out))
}

/// Counts from one pass over a line's bytes.
#[derive(Default)]
struct CharacterCounts {
    first: u8,
    last: u8,
    digits: usize,
    symbols: usize,
    /// Word boundaries inside compound names: `aB`, `a_b`.
    compound_joints: usize,
    /// Words that begin with a capital.
    capitals: usize,
    read: usize,
    calls: bool,
    points: bool,
    control_flow: bool,
}

impl CharacterCounts {
    fn read(line: &str) -> CharacterCounts {
        let bytes = line.trim().as_bytes();
        let bytes = &bytes[..bytes.len().min(COUNTED_BYTES)];
        let mut letters = CharacterCounts {
            first: bytes.first().copied().unwrap_or(0),
            last: bytes.last().copied().unwrap_or(0),
            read: bytes.len(),
            control_flow: CONTROL.contains(&first_word(line)),
            ..CharacterCounts::default()
        };
        let mut dotted = false;
        for (at, &byte) in bytes.iter().enumerate() {
            let next = bytes.get(at + 1).copied().unwrap_or(0);
            let before = at.checked_sub(1).map_or(0, |before| bytes[before]);
            letters.compound_joints += usize::from(
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

pub(super) fn characters(inputs: &FeatureInputs<'_>, out: &mut Builder<'_>) -> Result<(), EngineError> {
    let letters: Vec<CharacterCounts> = inputs.lines.iter().map(|line| CharacterCounts::read(line)).collect();
    let mut flag = |feature, test: &dyn Fn(&CharacterCounts) -> bool| {
        out.set(feature, letters.iter().map(|line| f32::from(u8::from(test(line)))).collect())
    };
    flag(Feature::FirstPlus, &|line| line.first == b'+')?;
    flag(Feature::FirstMinus, &|line| line.first == b'-')?;
    flag(Feature::HasFileLine, &|line| line.points)?;
    flag(Feature::Calls, &|line| line.calls)?;
    flag(Feature::IsControlFlow, &|line| line.control_flow)?;
    flag(Feature::OpensBlock, &|line| matches!(line.last, b'{' | b'(' | b'[' | b':'))?;
    let share = |count: usize, read: usize| count as f32 / (8 + read) as f32;
    out.set(Feature::Digits, letters.iter().map(|line| share(line.digits, line.read)).collect())?;
    out.set(Feature::Symbols, letters.iter().map(|line| share(line.symbols, line.read)).collect())?;
    out.set(Feature::Names, letters.iter().map(|line| bounded_root(line.compound_joints as f32)).collect())?;
    out.set(Feature::Capitals, letters.iter().map(|line| bounded_root(line.capitals as f32)).collect())
}

fn first_word(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '}' | '@' | '#'));
    let end = line.bytes().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(line.len());
    &line[..end]
}
