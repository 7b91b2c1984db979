//! Finds calls without a grammar.

use super::{LONGEST_NAME, SymbolUse, SymbolUses};
use crate::LineSpan;

/// Keywords that may precede a bracket without being a call.
#[rustfmt::skip]
const NO_CALLS: [&str; 24] = [
    "if", "for", "while", "switch", "catch", "return", "else", "elif", "match", "with", "case", "using", "when",
    "unless", "until", "assert", "throw", "new", "sizeof", "typeof", "and", "or", "not", "in",
];

/// Calls: names followed by a bracket.
pub(super) fn heuristic_uses(lines: &[&str], span: LineSpan) -> SymbolUses {
    let mut uses = SymbolUses::default();
    for (number, line) in lines.iter().enumerate().take(span.last + 1).skip(span.first) {
        let line = &line[..line.floor_char_boundary(1000)];
        if crate::is_comment_line(line.trim_start()) {
            continue;
        }
        for (at, _) in line.match_indices('(') {
            let before = &line[..at];
            let name_of = |text: &str| {
                text.char_indices()
                    .rev()
                    .take_while(|(_, c)| c.is_alphanumeric() || *c == '_')
                    .last()
                    .map_or(text.len(), |(start, _)| start)
            };
            let start = name_of(before);
            let name = &before[start..];
            let is_call = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && name.len() <= LONGEST_NAME
                && !NO_CALLS.contains(&name);
            if !is_call {
                continue;
            }
            let of = before[..start]
                .strip_suffix('.')
                .or_else(|| before[..start].strip_suffix("::"))
                .or_else(|| before[..start].strip_suffix("->"))
                .map(|receiver| receiver[name_of(receiver)..].to_owned())
                .filter(|of| !of.is_empty());
            uses.calls.push(SymbolUse { line: number, name: name.to_owned(), of });
        }
    }
    uses
}
