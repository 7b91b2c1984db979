//! How often each template of a line occurs, and what its numbers usually are.

use super::scan::{FIELDS, Template};

/// Counters in each of the two rows of the template table. A count is the lower one of the two, so two rare templates are
/// mistaken for frequent ones only if both rows collide.
pub(super) const COUNTERS: usize = 1 << 22;
/// Templates whose numbers are summed up: the first that have [`ENOUGH_LINES`].
const SUMMED_TEMPLATES: usize = 4096;
/// A template needs this many lines for a meaningful mean.
const ENOUGH_LINES: u32 = 30;
/// A value further from the mean than this many standard deviations is an outlier.
const DEVIATIONS: f64 = 6.0;
/// A template with up to `RARE` lines is rare, in a text where most lines have a template with `REPEATED` lines or more.
pub(super) const RARE: u32 = 2;
pub(super) const REPEATED: u32 = 5;

/// A count-min sketch: how many lines have each template.
pub(super) struct TemplateCounts {
    rows: [Vec<u32>; 2],
}

impl TemplateCounts {
    pub(super) fn new() -> TemplateCounts {
        TemplateCounts { rows: [vec![0; COUNTERS], vec![0; COUNTERS]] }
    }

    pub(super) fn slots(hash: u64) -> [usize; 2] {
        [hash as usize % COUNTERS, (hash >> 40) as usize % COUNTERS]
    }

    /// Counts a line, and returns the count with it.
    pub(super) fn add(&mut self, hash: u64) -> u32 {
        let [one, other] = TemplateCounts::slots(hash);
        let [first, second] = &mut self.rows;
        first[one] = first[one].saturating_add(1);
        second[other] = second[other].saturating_add(1);
        first[one].min(second[other])
    }

    pub(super) fn count(&self, hash: u64) -> u32 {
        let [one, other] = TemplateCounts::slots(hash);
        self.rows[0][one].min(self.rows[1][other])
    }

    /// The number of lines of templates with at most [`RARE`] lines, and with fewer than [`REPEATED`].
    pub(super) fn lines_of_rare_templates(&self) -> (u64, u64) {
        let lines = |most: u32| {
            self.rows[0].iter().filter(|&&count| count <= most).map(|&count| u64::from(count)).sum()
        };
        (lines(RARE), lines(REPEATED - 1))
    }
}

/// Sums of the numbers in lines of frequent templates, and of their squares.
pub(super) struct Sums {
    /// By the lower bits of the hash; the hash says whose it is.
    slots: Vec<(u64, u32)>,
    sums: Vec<[(f64, f64); FIELDS]>,
    counts: Vec<f64>,
}

impl Sums {
    pub(super) fn new() -> Sums {
        Sums { slots: vec![(0, u32::MAX); 4 * SUMMED_TEMPLATES], sums: Vec::new(), counts: Vec::new() }
    }

    fn slot(&self, hash: u64) -> usize {
        let mut slot = hash as usize % self.slots.len();
        while self.slots[slot].1 != u32::MAX && self.slots[slot].0 != hash {
            slot = (slot + 1) % self.slots.len();
        }
        slot
    }

    pub(super) fn add(&mut self, template: &Template, count: u32) {
        if template.fields == 0 || count < ENOUGH_LINES {
            return;
        }
        let slot = self.slot(template.hash);
        if self.slots[slot].1 == u32::MAX {
            if self.sums.len() == SUMMED_TEMPLATES {
                return;
            }
            self.slots[slot] = (template.hash, self.sums.len() as u32);
            self.sums.push([(0.0, 0.0); FIELDS]);
            self.counts.push(0.0);
        }
        let index = self.slots[slot].1 as usize;
        self.counts[index] += 1.0;
        for (sums, &value) in self.sums[index].iter_mut().zip(&template.values[..template.fields]) {
            if !value.is_nan() {
                sums.0 += value;
                sums.1 += value * value;
            }
        }
    }

    /// Whether a number of the line is far from those of the other lines with its template.
    pub(super) fn is_outlier(&self, template: &Template) -> bool {
        if template.fields == 0 {
            return false;
        }
        let index = self.slots[self.slot(template.hash)].1;
        if index == u32::MAX {
            return false;
        }
        let count = self.counts[index as usize];
        count >= f64::from(ENOUGH_LINES)
            && self.sums[index as usize].iter().zip(&template.values[..template.fields]).any(
                |(sums, &value)| {
                    let mean = sums.0 / count;
                    let variance = (sums.1 / count - mean * mean).max(0.0);
                    (value - mean).abs() > DEVIATIONS * variance.sqrt().max(1e-9)
                },
            )
    }
}
