//! The locator: where the things lie that a question is about.

use tamis_workspace::Halt;

use crate::map::{Category, Map, Spot};
use crate::question::Question;
use crate::rank::rank;
use crate::survey::Survey;
use crate::tally::Counter;
use crate::{Confidence, Fault, Finding, Reference, View};

const MOST_SPOTS: usize = 12;

/// Finds the best places. Scans every file of the view's roots.
pub(crate) fn locate(question: &Question, view: &View, halt: &Halt) -> Result<Map, Fault> {
    let counter = Counter::new(question);
    let survey = Survey::by_reading(&view.roots, &counter, halt)?;
    let ranked = rank(question, &counter, &survey, &view.roots, halt)?;
    let spots = ranked
        .into_iter()
        .take(MOST_SPOTS)
        .map(|ranked| {
            let place = survey.files[ranked.file].place.clone();
            Spot {
                category: Category::of(&place.path),
                place,
                line: Some(ranked.line),
                name: ranked.name,
                score: ranked.score,
            }
        })
        .collect();
    let keywords = question
        .names
        .iter()
        .map(|name| name.text.clone())
        .chain(question.terms.iter().map(|term| term.word.clone()))
        .collect();
    Ok(Map { spots, files_scanned: survey.files.len() as u64, keywords })
}

/// What the locator says of a map.
pub(crate) fn finding(_question: &Question, _view: &View, map: &Map) -> Finding {
    let references = map.spots.iter().map(|spot| Reference::new(&spot.place.path, spot.line)).collect();
    Finding {
        summary: format!("{} places", map.spots.len()),
        references,
        key_findings: Vec::new(),
        confidence: Confidence::Low,
        notes: None,
    }
}
