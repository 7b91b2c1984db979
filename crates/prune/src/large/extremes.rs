//! The highest and the lowest numbers of lines that differ only in numbers, for a goal that compares.

use std::collections::HashMap;

use super::scan::{FIELDS, Template};

/// Values of each field that are kept from either end.
const KEPT: usize = 5;
/// A field whose extreme values are in more lines than this has no extremes: it is an hour, a status or the like.
const MOST_LINES: u32 = 8 * KEPT as u32;
/// Templates that are read: the first ones.
const MOST_TEMPLATES: usize = 4096;

/// By the hash of a template, its fields.
#[derive(Default)]
pub(super) struct Extremes {
    templates: HashMap<u64, [Field; FIELDS]>,
}

#[derive(Clone, Copy, Default)]
struct Field {
    highest: End,
    lowest: End,
}

/// The values at one end, the most extreme first, and how many lines have each.
#[derive(Clone, Copy, Default)]
struct End {
    values: [(f64, u32); KEPT],
    count: usize,
}

impl End {
    /// `sign` is -1 for the lowest values.
    fn add(&mut self, value: f64, sign: f64) {
        let at = self.values[..self.count].iter().position(|(other, _)| sign * value >= sign * other);
        let at = at.unwrap_or(self.count);
        if at == KEPT {
            return;
        }
        if at < self.count && self.values[at].0 == value {
            self.values[at].1 = self.values[at].1.saturating_add(1);
            return;
        }
        self.count = (self.count + 1).min(KEPT);
        self.values.copy_within(at..self.count - 1, at + 1);
        self.values[at] = (value, 1);
    }

    fn lines(&self) -> u32 {
        self.values[..self.count].iter().fold(0, |lines, (_, count)| lines.saturating_add(*count))
    }

    fn has(&self, value: f64) -> bool {
        self.values[..self.count].iter().any(|(other, _)| *other == value)
    }
}

impl Extremes {
    pub(super) fn add(&mut self, template: &Template) {
        if template.fields == 0 {
            return;
        }
        let is_full = self.templates.len() >= MOST_TEMPLATES;
        let fields = match self.templates.get_mut(&template.hash) {
            Some(fields) => fields,
            None if is_full => return,
            None => self.templates.entry(template.hash).or_default(),
        };
        for (field, &value) in fields.iter_mut().zip(&template.values[..template.fields]) {
            if !value.is_nan() {
                field.highest.add(value, 1.0);
                field.lowest.add(value, -1.0);
            }
        }
    }

    /// Whether a number of the line is among the highest or the lowest ones of the lines with its template.
    pub(super) fn has(&self, template: &Template) -> bool {
        self.templates.get(&template.hash).is_some_and(|fields| {
            fields.iter().zip(&template.values[..template.fields]).any(|(field, &value)| {
                [field.highest, field.lowest].iter().any(|end| end.lines() <= MOST_LINES && end.has(value))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan::template;
    use super::*;

    #[test]
    fn extreme_values_of_a_field_are_found() {
        let line = |number: u32| format!("10:{:02} took {} ms, status 200", number / 100, 7 * number % 1009);
        let lines: Vec<String> = (0..1009).map(line).collect();
        let mut extremes = Extremes::default();
        lines.iter().for_each(|line| extremes.add(&template(line.as_bytes())));
        let found: Vec<u32> = (0..1009)
            .filter(|&number| extremes.has(&template(lines[number as usize].as_bytes())))
            .map(|number| 7 * number % 1009)
            .collect();
        // The minutes and the status are in too many lines.
        let mut found = found;
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2, 3, 4, 1004, 1005, 1006, 1007, 1008]);
        assert!(!extremes.has(&template(b"another 1008")));
    }
}
