//! Describes the lines that give the value that the question asks for: where each is, and inside of what.

use crate::bounds;
use crate::definitions::Outlined;
use crate::locate::Locations;
use crate::roles::format::{MAX_FINDING_LENGTH, brief};
use crate::{
    BoundedReader, Confidence, FindingKind, KeyFinding, NoteFact, Reference, ReportNote, ResearchFinding,
};

/// Characters of a line that is shown.
const SHOWN_CHARACTERS: usize = 120;

/// Never confident: the words fit, but there may be another place that decides the value.
pub(super) fn describe_values(locations: &Locations, reader: &BoundedReader) -> ResearchFinding {
    let (mut references, mut key_findings, mut limited) = (Vec::new(), Vec::new(), false);
    for (place, passage) in &locations.values {
        let path = locations.files_by_word.shown(&reader.roots, place);
        let reference = Reference::new(&path, Some(passage.first));
        let source = reader.read_if_possible(place, &mut limited);
        let inside = source.as_ref().and_then(|source| {
            let lines = source.lines();
            let outlined = Outlined { lines: &lines, outline: source.outline() };
            outlined.enclosing(passage.first - 1, "").map(|number| outlined.qualified(number))
        });
        let inside =
            inside.filter(|name| !name.is_empty()).map_or(String::new(), |name| format!(", in {name}"));
        let line = bounds::short(&passage.line, SHOWN_CHARACTERS);
        let text = brief(&format!("`{line}` ({reference}{inside})"), MAX_FINDING_LENGTH);
        let places = vec![reference.clone()];
        key_findings.push(KeyFinding::new(FindingKind::Explanation { places }, text));
        references.push(reference);
    }
    let first = key_findings.first().map_or(String::new(), |first| first.text.clone());
    let notes: Vec<ReportNote> =
        if limited { vec![NoteFact::read_limits(reader.budget.limits()).into()] } else { Vec::new() };
    ResearchFinding {
        summary: format!("Best match for the value: {first}."),
        references,
        key_findings,
        confidence: Confidence::Med,
        notes,
        not_found: None,
    }
}
