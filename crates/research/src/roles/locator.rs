//! The locator: where the things lie that a question is about.

use std::collections::BTreeMap;

use tamis_text::words::{stem, words};
use tamis_workspace::{Halt, Place, scan};

use crate::map::{Category, Map, Spot};
use crate::question::Question;
use crate::{Confidence, Fault, Finding, Reference, View};

const MOST_SPOTS: usize = 12;

/// Finds the best places. Scans every file of the view's roots.
pub(crate) fn locate(question: &Question, view: &View, halt: &Halt) -> Result<Map, Fault> {
    let terms: Vec<String> =
        words(&question.text).into_iter().map(|(word, _)| word).filter(|word| word.len() > 3).collect();
    let lists = scan(&view.roots, halt, Vec::new, |list: &mut Vec<(Place, Vec<u32>)>, place, bytes| {
        let text = String::from_utf8_lossy(bytes);
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        tamis_text::words::each_word(&text, |word, _| *counts.entry(stem(word).to_owned()).or_default() += 1);
        list.push((place, terms.iter().map(|term| counts.get(term).copied().unwrap_or(0)).collect()));
    })?;
    let mut files: Vec<_> = lists.into_iter().flatten().collect();
    files.sort();
    let scanned = files.len() as u64;
    let score = |counts: &[u32]| counts.iter().map(|&count| f64::from(count.min(3))).sum::<f64>();
    let mut spots: Vec<Spot> = files
        .into_iter()
        .map(|(place, counts)| Spot {
            score: score(&counts),
            place,
            line: None,
            name: None,
            category: Category::Implementation,
        })
        .filter(|spot| spot.score > 0.0)
        .collect();
    spots.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.place.cmp(&b.place)));
    spots.truncate(MOST_SPOTS);
    Ok(Map { spots, files_scanned: scanned, keywords: terms })
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
