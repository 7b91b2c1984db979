//! So that what stays still reads: lines that only close or divide a block share its fate.
//!
//! It works on scores, before any threshold, so that a higher threshold still cuts no less.

use crate::shape::Shape;

/// Gives closing lines the score of what they close, and blank lines that of their surroundings.
pub(crate) fn settle(scores: &mut [f32], lines: &[&str], shape: &Shape) {
    raise_dividers(scores, lines, shape);
    close_blocks(scores, shape);
    settle_blanks(scores, shape);
}

/// `} else {` is needed as soon as what it opens is.
fn raise_dividers(scores: &mut [f32], lines: &[&str], shape: &Shape) {
    let mut open: Vec<(u16, f32)> = Vec::new();
    for line in (0..scores.len()).rev() {
        if shape.blank[line] {
            continue;
        }
        let mut inner = f32::MIN;
        while let Some(&(indent, best)) = open.last() {
            if indent <= shape.indent[line] {
                break;
            }
            inner = inner.max(best);
            open.pop();
        }
        if shape.closer[line] && lines[line].trim_end().ends_with(['{', '(', '[', ':']) {
            scores[line] = scores[line].max(inner);
        }
        let best = scores[line].max(inner);
        match open.last_mut() {
            Some((indent, known)) if *indent == shape.indent[line] => *known = known.max(best),
            _ => open.push((shape.indent[line], best)),
        }
    }
}

/// `}` goes when all that it closes goes, and stays when the line that opened it does.
fn close_blocks(scores: &mut [f32], shape: &Shape) {
    // Per open level: its indentation, its latest line's score, the best score in it.
    let mut open: Vec<(u16, f32, f32)> = Vec::new();
    for (line, score) in scores.iter_mut().enumerate() {
        if shape.blank[line] {
            continue;
        }
        let mut inner = f32::MIN;
        while let Some(&(indent, _, best)) = open.last() {
            if indent <= shape.indent[line] {
                break;
            }
            inner = inner.max(best);
            open.pop();
        }
        match open.last_mut() {
            Some((indent, latest, best)) if *indent == shape.indent[line] => {
                if shape.closer[line] {
                    *score = inner.max(*latest);
                }
                *latest = *score;
                *best = best.max(inner).max(*score);
            }
            _ => open.push((shape.indent[line], *score, score.max(inner))),
        }
    }
}

/// A blank line goes with either neighbour.
fn settle_blanks(scores: &mut [f32], shape: &Shape) {
    let mut before = f32::MAX;
    let mut run = 0;
    for line in 0..=scores.len() {
        if line < scores.len() && shape.blank[line] {
            run += 1;
            continue;
        }
        let after = if line < scores.len() { scores[line] } else { f32::MAX };
        let score = if before == f32::MAX && after == f32::MAX { 1.0 } else { before.min(after) };
        scores[line - run..line].fill(score);
        before = after;
        run = 0;
    }
}
