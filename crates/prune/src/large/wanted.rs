//! Which combinations of what the goal names select lines of a large text.

use super::scan::MOST_TERMS;
use crate::mentions::{Mentions, Vocabulary};

/// The rarest combinations of the goal's words stay, up to one line in this many.
const ONE_LINE_IN: u64 = 100;
const FEW_LINES: u64 = 3;
/// Lines that the goal selects stay if they are up to one in this many.
pub(super) const ONE_SELECTED_IN: u64 = 20;

/// The combinations of what the goal names that stay.
pub(super) struct WantedCombinations {
    pub(super) has: Vec<bool>,
    /// Other lines are certainly not meant.
    pub(super) is_decisive: bool,
    /// The text has a name of the goal that is no word of a language.
    pub(super) has_id: bool,
}

/// Those that select lines clearly, or else those that say most, as long as few lines have them.
pub(super) fn wanted_combinations(vocabulary: &Vocabulary, combinations: &[u64]) -> WantedCombinations {
    let lines: u64 = combinations.iter().sum();
    let counted: Vec<(u64, u64)> = combinations
        .iter()
        .enumerate()
        .filter(|(_, lines)| **lines > 0)
        .map(|(bits, lines)| (bits as u64, *lines))
        .collect();
    let mut has_id = false;
    if let Mentions::Some(selection) = Mentions::read(vocabulary, &counted) {
        has_id = selection.has_id();
        let choices: [&dyn Fn(u64) -> bool; 2] =
            [&|bits| selection.has(bits), &|bits| selection.has_decisive(bits)];
        for is_chosen in choices {
            let chosen: u64 =
                counted.iter().filter(|(bits, _)| is_chosen(*bits)).map(|(_, lines)| lines).sum();
            if chosen > 0 && chosen * ONE_SELECTED_IN <= lines {
                let has = (0..combinations.len()).map(|bits| is_chosen(bits as u64)).collect();
                return WantedCombinations { has, is_decisive: selection.is_decisive(), has_id };
            }
        }
    }
    let weight = |term: usize| {
        let with: u64 =
            combinations.iter().enumerate().filter(|(bits, _)| bits >> term & 1 == 1).map(|(_, n)| n).sum();
        libm::log(1.0 + (lines as f64 - with as f64 + 0.5) / (with as f64 + 0.5))
    };
    let weights: Vec<f64> = (0..MOST_TERMS).map(weight).collect();
    let score = |bits: usize| {
        (0..MOST_TERMS).filter(|term| bits >> term & 1 == 1).map(|term| weights[term]).sum::<f64>()
    };
    let mut known: Vec<usize> = (1..combinations.len()).filter(|&bits| combinations[bits] > 0).collect();
    known.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    let most = (lines / ONE_LINE_IN).max(FEW_LINES);
    let mut has = vec![false; combinations.len()];
    let mut taken = 0;
    for bits in known {
        taken += combinations[bits];
        if taken > most {
            break;
        }
        has[bits] = true;
    }
    WantedCombinations { has, is_decisive: false, has_id }
}
