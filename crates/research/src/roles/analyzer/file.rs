//! Describes a file that the question names: what it is for, and what it defines.

use tamis_codebase::RootedPath;

use crate::definitions::Outlined;
use crate::locate::FileClass;
use crate::roles::format::{Item, MAX_FINDING_LENGTH, References, brief, list_items, spelled_places};
use crate::{
    BoundedReader, Confidence, FindingKind, KeyFinding, NoteFact, Reference, ReportNote, ResearchFinding,
};

const MAX_REFERENCES: usize = 12;

/// Without the right to read it, the finding is that the file exists.
pub(super) fn describe_file(place: &RootedPath, reader: &BoundedReader) -> ResearchFinding {
    let path = place.path.as_str();
    let mut limited = false;
    let source = reader.read_if_possible(place, &mut limited);
    let mut references = References::default();
    references.add(path, None);
    let mut summary = match limited {
        true => path.to_owned(),
        false => format!(
            "{path} is there, but not a text that can be read: it is binary, too large or not readable."
        ),
    };
    let mut items: Vec<Item> = Vec::new();
    if let Some(source) = &source {
        let lines = source.lines();
        let outlined = Outlined { lines: &lines, outline: source.outline() };
        // A last newline ends a line and begins none.
        let count = lines.len() - usize::from(lines.last().is_some_and(|last| last.is_empty()));
        let opening = if FileClass::of(path) == FileClass::Prose {
            first_paragraph(&lines)
        } else {
            outlined.opening_sentence()
        };
        let opening = if opening.is_empty() { length(count) } else { brief(&opening, MAX_FINDING_LENGTH) };
        summary = format!("{path}: {}.", opening.trim_end_matches('.'));
        let definitions = source.outline().definitions.iter().enumerate();
        let outer =
            definitions.filter(|(at, definition)| definition.depth == 0 && !outlined.name(*at).is_empty());
        items.extend(outer.map(|(at, definition)| Item {
            what: outlined.name(at).to_owned(),
            path: path.to_owned(),
            line: definition.signature.first + 1,
        }));
        // A type and its `impl` are one.
        items.dedup_by(|later, earlier| later.what == earlier.what);
    }
    let mut key_findings = Vec::new();
    if !items.is_empty() {
        let (sentence, taken) = list_items(&format!("{path} defines"), &items, 0, MAX_FINDING_LENGTH);
        taken.iter().for_each(|item| references.add(&item.path, Some(item.line)));
        let places: Vec<Reference> = spelled_places(taken);
        key_findings.push(KeyFinding::new(FindingKind::Explanation { places }, sentence));
    }
    let notes: Vec<ReportNote> =
        if limited { vec![NoteFact::read_limits(reader.budget.limits()).into()] } else { Vec::new() };
    ResearchFinding {
        summary,
        references: references.into_list(MAX_REFERENCES),
        key_findings,
        confidence: Confidence::High,
        notes,
        not_found: None,
    }
}

fn length(lines: usize) -> String {
    format!("{lines} {}", if lines == 1 { "line" } else { "lines" })
}

/// The first line of prose in a page: no heading, badge, quotation or list.
fn first_paragraph(lines: &[&str]) -> String {
    let is_prose =
        |line: &str| line.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '*' | '_' | '`'));
    let Some(first) = lines.iter().position(|line| is_prose(line) && line.contains(' ')) else {
        return String::new();
    };
    let lines = lines[first..].iter().take_while(|line| !line.trim().is_empty());
    let text = lines.map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    text.split_once(". ").map_or(text.clone(), |(sentence, _)| sentence.to_owned())
}
