//! Why a block went, in a few French words for whoever reads the marker: what the scorer saw, and where.

use tamis_syntax::Outline;
use tamis_text::Kind;

use crate::features::{Feature, Features};
use crate::line_attributes::Document;

/// No reason is longer, in characters.
const LONGEST: usize = 40;

pub(crate) struct Reasons<'a> {
    pub(crate) kind: Kind,
    pub(crate) lines: &'a [&'a str],
    pub(crate) outline: &'a Outline,
    pub(crate) document: &'a Document,
    pub(crate) features: &'a Features,
}

/// What most lines of a block have in common, as the scorer saw them.
#[derive(Clone, Copy)]
enum Seen {
    Repetitions,
    Tests,
    Comments,
    /// Nothing of the goal, neither in the lines nor in what they belong to.
    Nothing,
    /// Something of the goal, but others have more.
    Less,
}

impl Seen {
    fn words(self) -> &'static str {
        match self {
            Seen::Repetitions => "répétitions",
            Seen::Tests => "tests",
            Seen::Comments => "commentaires",
            Seen::Nothing => "sans lien",
            Seen::Less => "hors focus",
        }
    }
}

impl Reasons<'_> {
    /// Why the lines from `first` to `last`, counted from 0, go.
    pub(crate) fn of(&self, first: usize, last: usize) -> String {
        let seen = self.seen(first, last);
        let place = match self.kind {
            Kind::Code => self.definition(first),
            Kind::Docs => self.section(first),
            Kind::Logs if first == last => Some("1 ligne".to_owned()),
            Kind::Logs => Some(format!("{} lignes", last - first + 1)),
        };
        let longest = LONGEST - seen.words().chars().count() - 3;
        match place.map(|place| clean(&place, longest)).filter(|place| !place.is_empty()) {
            Some(place) => format!("{}: {place}", seen.words()),
            None => format!("{} de l'objectif", if matches!(seen, Seen::Nothing) { "rien" } else { "loin" }),
        }
    }

    /// The same without saying where, for blocks that are hardly larger than their marker.
    pub(crate) fn in_brief(&self, first: usize, last: usize) -> String {
        self.seen(first, last).words().to_owned()
    }

    fn seen(&self, first: usize, last: usize) -> Seen {
        let column = |feature| &self.features.column(feature)[first..=last];
        let mostly =
            |feature| column(feature).iter().filter(|&&value| value > 0.0).count() * 2 > last - first + 1;
        let goal_of_tests = column(Feature::GoalOfTests).first().is_some_and(|&tests| tests > 0.0);
        if self.kind == Kind::Logs && mostly(Feature::EarlierRepeats) {
            Seen::Repetitions
        } else if mostly(Feature::InTests) && !goal_of_tests {
            Seen::Tests
        } else if mostly(Feature::IsComment) {
            Seen::Comments
        } else if !mostly(Feature::NearCover) && column(Feature::Terms).iter().all(|&terms| terms == 0.0) {
            Seen::Nothing
        } else {
            Seen::Less
        }
    }

    /// The innermost definition around the first line.
    fn definition(&self, first: usize) -> Option<String> {
        let definitions = &self.outline.definitions;
        let before = definitions.partition_point(|definition| definition.lead <= first);
        let around =
            definitions[..before].iter().rev().take(64).find(|definition| definition.last >= first)?;
        Some(self.lines[around.signature.first][around.name.clone()].to_owned())
    }

    /// The title of the section that the first line is in.
    fn section(&self, first: usize) -> Option<String> {
        let headings = &self.document.headings;
        let before = headings.partition_point(|heading| heading.line <= first);
        let heading = headings[..before].last()?;
        Some(self.lines[heading.line].trim_start_matches(['#', ' ', '\t']).to_owned())
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
