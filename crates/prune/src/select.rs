//! Turns scores into cuts: what scores below the threshold, within the limits, and is larger than its marker.

use crate::reason::ReasonInputs;
use crate::{Cut, CutPlace, EngineError, PruneLimits};

/// The lines of a text, with all that decides whether they are cut.
pub(crate) struct Candidates<'a> {
    /// Bytes of each line, its newline included.
    pub(crate) bytes: &'a [usize],
    pub(crate) scores: &'a [f32],
    pub(crate) protected: &'a [bool],
    /// Lines that close a definition.
    pub(crate) closes: &'a [bool],
    /// Blank and closing lines. One that stays alone between two cuts says nothing, and costs a marker.
    pub(crate) fillers: &'a [bool],
    /// Spans of lines, both ends included, that are cut as a whole or not at all.
    pub(crate) whole: &'a [(usize, usize)],
    /// Spans of lines that stay unless nearly all of their lines go.
    pub(crate) units: &'a [(usize, usize)],
    /// Smaller blocks stay, even if their markers are smaller still.
    pub(crate) least_bytes: usize,
    pub(crate) reasons: &'a ReasonInputs<'a>,
    pub(crate) marker_bytes: &'a dyn Fn(&Cut) -> usize,
}

/// The maximum number of lines that may be cut, of `count`.
pub(crate) fn most_cut(count: usize, limits: &PruneLimits) -> usize {
    let fits = |cut: usize| cut as f64 / count as f64 <= limits.max_prune_ratio;
    // Callers check the quotient, so the quotient decides. The product may round the other way.
    let mut most = (limits.max_prune_ratio.clamp(0.0, 1.0) * count as f64) as usize;
    while most < count && fits(most + 1) {
        most += 1;
    }
    while most > 0 && !fits(most) {
        most -= 1;
    }
    if limits.max_prune_ratio.is_nan() { 0 } else { most.min(count.saturating_sub(limits.min_keep_lines)) }
}

pub(crate) fn select(
    candidates: &Candidates<'_>,
    limits: &PruneLimits,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<Cut>, EngineError> {
    let count = candidates.bytes.len();
    let most = most_cut(count, limits);
    let goes: Vec<bool> = (0..count)
        .map(|line| !candidates.protected[line] && candidates.scores[line] < limits.threshold)
        .collect();
    if most == 0 {
        return Ok(Vec::new());
    }
    let cuts = cuts_of(candidates, goes.clone());
    if lines_of(&cuts) <= most {
        return Ok(cuts);
    }
    // More than the limits allow: the lowest scores are cut first. Blocks smaller than their marker stay after all,
    // which leaves room for other lines, so a binary search finds how many lines to take.
    let mut order: Vec<u32> = (0..count as u32).filter(|&line| goes[line as usize]).collect();
    order.sort_unstable_by(|&a, &b| {
        candidates.scores[a as usize].total_cmp(&candidates.scores[b as usize]).then(a.cmp(&b))
    });
    let attempt = |taken: usize| {
        let mut goes = vec![false; count];
        for &line in &order[..taken] {
            goes[line as usize] = true;
        }
        cuts_of(candidates, goes)
    };
    // Joined cuts take further lines, so even `most` of them may be too many.
    let start = most.min(order.len());
    let (mut low, mut high, mut best) = match attempt(start) {
        cuts if lines_of(&cuts) <= most => (start, order.len(), cuts),
        _ => (0, start, Vec::new()),
    };
    while high - low > 1 {
        if interrupted() {
            return Err(EngineError::Interrupted);
        }
        let middle = low + (high - low) / 2;
        let cuts = attempt(middle);
        if lines_of(&cuts) <= most {
            low = middle;
            best = cuts;
        } else {
            high = middle;
        }
    }
    Ok(best)
}

fn lines_of(cuts: &[Cut]) -> usize {
    cuts.iter().map(|cut| cut.last_line - cut.first_line + 1).sum()
}

/// The runs of lines to cut that are larger than their markers.
fn cuts_of(candidates: &Candidates<'_>, mut goes: Vec<bool>) -> Vec<Cut> {
    let mut cuts = Vec::new();
    for &(first, last) in candidates.whole {
        if !goes[first..=last].iter().all(|&goes| goes) {
            goes[first..=last].fill(false);
        }
    }
    for &(first, last) in candidates.units {
        let open = (first..=last).filter(|&line| !candidates.protected[line] && !candidates.fillers[line]);
        let stays = open.clone().filter(|&line| !goes[line]).count();
        if stays as f32 > MOST_LEFT * open.count() as f32 {
            goes[first..=last].fill(false);
        }
    }
    join_cuts(candidates, &mut goes);
    let mut first = 0;
    while first < goes.len() {
        if !goes[first] {
            first += 1;
            continue;
        }
        let mut last = first;
        while last + 1 < goes.len() && goes[last + 1] {
            last += 1;
        }
        let run_end = last;
        // A closing brace at the end of a cut stays: it costs two bytes, and without it the following lines look as if
        // they were inside the block. Braces within a cut go, since keeping them would split the cut.
        while last > first && candidates.closes[last] {
            last -= 1;
        }
        let bytes: usize = candidates.bytes[first..=last].iter().sum();
        // No marker is smaller than this, so such blocks need no reason.
        if bytes > SMALLEST_MARKER.max(candidates.least_bytes) {
            let reason = candidates.reasons.reason(first, last);
            let mut cut = Cut { first_line: first + 1, last_line: last + 1, reason };
            let is_worth_it = |cut: &Cut| (candidates.marker_bytes)(cut) < bytes;
            // If only the place makes the marker too large, leave the place out.
            let mut worth = is_worth_it(&cut);
            if !worth {
                cut.reason.place = CutPlace::Omitted;
                worth = is_worth_it(&cut);
            }
            if worth {
                cuts.push(cut);
            }
        }
        first = run_end + 1;
    }
    cuts
}

/// Joins cuts that only unprotected blank and closing lines separate.
fn join_cuts(candidates: &Candidates<'_>, goes: &mut [bool]) {
    let mut last_cut = None;
    for line in 0..goes.len() {
        if goes[line] {
            if let Some(last_cut) = last_cut {
                goes[last_cut + 1..line].fill(true);
            }
            last_cut = Some(line);
        } else if candidates.protected[line] || !candidates.fillers[line] {
            last_cut = None;
        }
    }
}

/// The share of a unit's lines that may be left when the others are cut.
const MOST_LEFT: f32 = 0.2;

/// Blocks of fewer bytes are never cut: every marker is larger.
const SMALLEST_MARKER: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(ratio: f64, keep: usize) -> PruneLimits {
        PruneLimits { threshold: 0.5, max_prune_ratio: ratio, min_keep_lines: keep, keep_first_lines: 0 }
    }

    #[test]
    fn the_ratio_is_met_exactly() {
        for count in 1..200usize {
            for ratio in [0.0, 0.1, 0.3, 0.55, 0.7, 0.9, 1.0] {
                let most = most_cut(count, &limits(ratio, 0));
                assert!(most as f64 / count as f64 <= ratio, "{count} {ratio}");
                assert!(most == count || (most + 1) as f64 / count as f64 > ratio, "{count} {ratio}");
            }
        }
    }

    #[test]
    fn odd_limits_are_safe() {
        assert_eq!(most_cut(10, &limits(f64::NAN, 0)), 0);
        assert_eq!(most_cut(10, &limits(-1.0, 0)), 0);
        assert_eq!(most_cut(10, &limits(f64::INFINITY, 0)), 10);
        assert_eq!(most_cut(10, &limits(1.0, 4)), 6);
        assert_eq!(most_cut(10, &limits(1.0, 40)), 0);
    }
}
