//! Why a block went, in a few French words for whoever reads the marker.

use tamis_syntax::Outline;
use tamis_text::Kind;

use crate::logs::Repetition;
use crate::shape::Document;

/// No reason is longer, in characters.
const LONGEST: usize = 40;

pub(crate) struct Reasons<'a> {
    kind: Kind,
    lines: &'a [&'a str],
    outline: &'a Outline,
    document: &'a Document,
    repetition: &'a Repetition,
}

impl<'a> Reasons<'a> {
    pub(crate) fn new(
        kind: Kind,
        lines: &'a [&'a str],
        outline: &'a Outline,
        document: &'a Document,
        repetition: &'a Repetition,
    ) -> Self {
        Reasons { kind, lines, outline, document, repetition }
    }

    /// Why the lines from `first` to `last`, counted from 0, go.
    pub(crate) fn of(&self, first: usize, last: usize) -> String {
        let reason = match self.kind {
            Kind::Code => self.of_code(first),
            Kind::Docs => self.of_document(first),
            Kind::Logs => self.of_log(first, last),
        };
        reason.unwrap_or_else(|| "sans rapport avec l'objectif".to_owned())
    }

    /// The innermost definition around the first line.
    fn of_code(&self, first: usize) -> Option<String> {
        let definitions = &self.outline.definitions;
        let before = definitions.partition_point(|definition| definition.lead <= first);
        let around =
            definitions[..before].iter().rev().take(64).find(|definition| definition.last >= first)?;
        let line = self.lines[around.signature.first];
        let name = clean(&line[around.name.clone()], LONGEST - 12);
        if name.is_empty() { None } else { Some(format!("hors focus: {name}")) }
    }

    fn of_document(&self, first: usize) -> Option<String> {
        let headings = &self.document.headings;
        let before = headings.partition_point(|heading| heading.line <= first);
        let heading = headings[..before].last()?;
        let title = clean(self.lines[heading.line].trim_start_matches(['#', ' ', '\t']), 16);
        if title.is_empty() { None } else { Some(format!("section « {title} » hors focus")) }
    }

    fn of_log(&self, first: usize, last: usize) -> Option<String> {
        let repeated = (first..=last).filter(|&line| self.repetition.earlier[line] > 0).count();
        let all = last - first + 1;
        (repeated * 2 > all).then(|| format!("répétitions ({all} lignes)"))
    }
}

/// Text from the text itself, fit to stand in a marker: no brackets of ours, no control characters, not long.
fn clean(text: &str, longest: usize) -> String {
    let mut cleaned = String::new();
    let mut taken = 0;
    for c in text.trim().chars() {
        if taken == longest {
            cleaned.push('…');
            break;
        }
        let odd = c.is_control()
            || matches!(c, '⟦' | '⟧' | '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        if !odd {
            cleaned.push(c);
            taken += 1;
        }
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_the_text_is_made_safe() {
        assert_eq!(clean("name", 10), "name");
        assert_eq!(clean("a⟧\r\nb\u{202e}c", 10), "abc");
        assert_eq!(clean(&"é".repeat(50), 10), format!("{}…", "é".repeat(10)));
    }
}
