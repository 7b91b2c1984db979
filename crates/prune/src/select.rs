//! From scores to cuts, within the limits: what may go, what the limits allow, what is worth a marker.

use crate::reason::Reasons;
use crate::{Cut, Limits, Unpruned};

/// What the selection needs to know of a text.
pub(crate) struct Candidates<'a> {
    /// Bytes of each line, its newline included.
    pub(crate) bytes: &'a [usize],
    pub(crate) scores: &'a [f32],
    pub(crate) protected: &'a [bool],
    /// Lines that close a definition.
    pub(crate) closes: &'a [bool],
    /// Spans of lines, both ends included, of which all go or none.
    pub(crate) whole: &'a [(usize, usize)],
    pub(crate) reasons: &'a Reasons<'a>,
    pub(crate) marker_bytes: &'a dyn Fn(&Cut) -> usize,
}

/// The most lines that may go, of `count`.
pub(crate) fn most_cut(count: usize, limits: &Limits) -> usize {
    let fits = |cut: usize| cut as f64 / count as f64 <= limits.max_prune_ratio;
    // The quotient is what callers check, so it decides, and not the product, which may round the other way.
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
    limits: &Limits,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<Cut>, Unpruned> {
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
    // The limits bind: the lowest go first. Blocks that are not worth a marker come back, which leaves room for
    // more, so the number that goes is searched for.
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
    let (mut low, mut high) = (most.min(order.len()), order.len());
    let mut best = attempt(low);
    while high - low > 1 {
        if interrupted() {
            return Err(Unpruned::Interrupted);
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

/// The runs of lines that go and are larger than the marker that would stand for them.
fn cuts_of(candidates: &Candidates<'_>, mut goes: Vec<bool>) -> Vec<Cut> {
    let mut cuts = Vec::new();
    for &(first, last) in candidates.whole {
        if !goes[first..=last].iter().all(|&goes| goes) {
            goes[first..=last].fill(false);
        }
    }
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
        // A brace costs two bytes, and without it what follows reads as if it lay inside: where a cut would end with
        // one, it stays. Within a cut it goes, for it would break the cut into pieces that no marker is worth.
        while last > first && candidates.closes[last] {
            last -= 1;
        }
        let bytes: usize = candidates.bytes[first..=last].iter().sum();
        // No marker is smaller than this; the reason need not be made for what stays anyway.
        if bytes > SMALLEST_MARKER {
            let cut = |reason| Cut { first_line: first + 1, last_line: last + 1, reason };
            let worth = |cut: &Cut| (candidates.marker_bytes)(cut) < bytes;
            let reasons = candidates.reasons;
            // Where a block was is worth saying, but not worth keeping the block for.
            let told =
                [Reasons::of, Reasons::in_brief].into_iter().map(|reason| cut(reason(reasons, first, last)));
            cuts.extend(told.into_iter().find(worth));
        }
        first = run_end + 1;
    }
    cuts
}

/// A cut that saves fewer bytes than this is not looked at, whatever its marker would be.
const SMALLEST_MARKER: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(ratio: f64, keep: usize) -> Limits {
        Limits { threshold: 0.5, max_prune_ratio: ratio, min_keep_lines: keep, keep_first_lines: 0 }
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
