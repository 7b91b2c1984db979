//! How the lines of a log belong together.

use tamis_syntax::line_indent;

/// In a log with times, a message begins with one. At least this share of the lines must have one.
const TIMED_SHARE: f32 = 0.3;
/// Lines of a message are read as one if there are not more.
const MOST_LINES: usize = 20;
/// Lines behind one that may explain it.
const MOST_DETAILS: usize = 5;

/// Which line each line of a log is below: by its indentation, or below the last line with a time.
pub(super) struct Outline {
    parent: Vec<Option<u32>>,
    /// The first line of the message that each line is part of, where messages begin with a time.
    message: Option<Vec<u32>>,
}

impl Outline {
    pub(super) fn read(lines: &[&str], has_time: impl Fn(usize) -> bool) -> Outline {
        let filled = lines.iter().filter(|line| !line.trim().is_empty()).count();
        let timed = (0..lines.len()).filter(|&line| has_time(line)).count();
        let is_timed = timed as f32 >= TIMED_SHARE * filled as f32 && timed > 1;
        let mut parent = vec![None; lines.len()];
        let mut message: Vec<u32> = Vec::with_capacity(lines.len());
        // The lines that are open, each with its depth.
        let mut open: Vec<(usize, u32)> = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            let begins = is_timed && has_time(number);
            let first = match message.last() {
                Some(&first) if is_timed && !begins => first,
                _ => number as u32,
            };
            message.push(first);
            if line.trim().is_empty() {
                if !is_timed {
                    open.clear();
                }
                continue;
            }
            let depth = if begins { 0 } else { line_indent(line) + usize::from(is_timed) };
            while open.last().is_some_and(|&(above, _)| above >= depth) {
                open.pop();
            }
            parent[number] = open.last().map(|&(_, line)| line);
            open.push((depth, number as u32));
        }
        Outline { parent, message: is_timed.then_some(message) }
    }

    /// Gives each line what the lines above it have, and what the other lines of a short message have. As bits.
    pub(super) fn share(&self, terms: &mut [u64]) {
        if let Some(message) = &self.message {
            let mut first = 0;
            for run in message.chunk_by(|a, b| a == b) {
                let lines = &mut terms[first..first + run.len()];
                if run.len() <= MOST_LINES {
                    let all = lines.iter().fold(0, |all, terms| all | terms);
                    lines.fill(all);
                }
                first += run.len();
            }
        }
        for line in 0..terms.len() {
            if let Some(parent) = self.parent[line] {
                terms[line] |= terms[parent as usize];
            }
        }
    }

    /// Where it is not known where a message ends, the next lines of the paragraph may be part of a wanted one.
    pub(super) fn add_details(&self, lines: &[&str], wanted: &mut [bool]) {
        if self.message.is_some() {
            return;
        }
        let mut left = 0;
        for (wanted, line) in wanted.iter_mut().zip(lines) {
            if *wanted {
                left = MOST_DETAILS;
            } else if line.trim().is_empty() {
                left = 0;
            } else if left > 0 {
                left -= 1;
                *wanted = true;
            }
        }
    }

    /// Lines without which a wanted line has no meaning are wanted too.
    pub(super) fn add_parents(&self, wanted: &mut [bool]) {
        for line in (0..wanted.len()).rev().filter(|&line| self.parent[line].is_some()) {
            if wanted[line]
                && let Some(parent) = self.parent[line]
            {
                wanted[parent as usize] = true;
            }
        }
    }
}
