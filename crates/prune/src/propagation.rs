//! Score propagation: lines that belong together get scores that keep or cut them together, so that the result still reads
//! as code.
//!
//! It works on scores, not on cuts, so that a higher threshold never keeps more.

use tamis_text::TextKind;

use crate::DEFAULT_THRESHOLD;
use crate::document::DocumentStructure;
use crate::line_attributes::LineAttributes;

/// Longer statements and docstrings are not kept or cut as one.
const STATEMENT_LINES: usize = 12;

/// Propagates scores between the lines of statements, blocks, fences and blank runs.
pub(crate) fn propagate(
    scores: &mut [f32],
    kind: TextKind,
    lines: &[&str],
    attributes: &LineAttributes,
    document: &DocumentStructure,
) {
    if kind == TextKind::Code {
        join_statements(scores, lines);
        keep_signatures_whole(scores, lines, attributes);
    }
    raise_dividers(scores, lines, attributes);
    if kind == TextKind::Code {
        raise_openers(scores, lines, attributes);
    }
    close_blocks(scores, attributes);
    settle_blanks(scores, attributes);
    // A fence is kept or cut as a whole.
    for &(first, last) in &document.fences {
        let best = scores[first..=last].iter().copied().fold(f32::MIN, f32::max);
        scores[first..=last].fill(best);
    }
}

/// The first line of a signature is protected. Its other lines and its decorators can change its meaning, so they get at
/// least the default threshold; above it they are cut before lines that match the goal.
fn keep_signatures_whole(scores: &mut [f32], lines: &[&str], attributes: &LineAttributes) {
    let mut decorates = false;
    for line in (0..lines.len()).rev() {
        decorates = attributes.definition[line] || (decorates && is_decorator(lines[line]));
        if decorates {
            scores[line] = scores[line].max(DEFAULT_THRESHOLD);
        }
    }
}

/// Whether the line is a decorator, annotation or attribute of the line below.
fn is_decorator(line: &str) -> bool {
    let trimmed = line.trim_start();
    trimmed.starts_with('@') || trimmed.starts_with("#[")
}

/// Gives all lines of a multi-line statement or short docstring the best score among them.
fn join_statements(scores: &mut [f32], lines: &[&str]) {
    let mut first = 0;
    while first < lines.len() {
        let last = match docstring_end(lines, first) {
            Some(last) => last,
            None => statement_end(lines, first),
        };
        if last > first {
            let best = scores[first..=last].iter().copied().fold(f32::MIN, f32::max);
            scores[first..=last].fill(best);
        }
        first = last + 1;
    }
}

/// The last line of the docstring that opens in this line, if it is short.
fn docstring_end(lines: &[&str], first: usize) -> Option<usize> {
    let mark = ["\"\"\"", "'''"].into_iter().find(|mark| lines[first].matches(mark).count() == 1)?;
    let rest = lines.iter().enumerate().skip(first + 1).take(STATEMENT_LINES - 1);
    rest.into_iter().find(|(_, line)| line.contains(mark)).map(|(last, _)| last)
}

/// The line that closes the brackets opened in this one; this one if they are not closed within the limit.
fn statement_end(lines: &[&str], first: usize) -> usize {
    let mut depth = opened(lines[first]);
    let mut last = first;
    while depth > 0 {
        last += 1;
        if last >= lines.len() || last - first >= STATEMENT_LINES || lines[last].trim().is_empty() {
            return first;
        }
        depth += opened(lines[last]);
    }
    last
}

/// How many round and square brackets a line leaves open, ignoring strings and comments.
fn opened(line: &str) -> i32 {
    let bytes = line.as_bytes();
    let mut depth = 0;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'/' if bytes.get(at + 1) == Some(&b'/') => break,
            b'#' if bytes.get(at + 1) != Some(&b'[') => break,
            quote @ (b'"' | b'\'' | b'`') => {
                // A quote that is not closed is an apostrophe or a lifetime.
                let rest = &bytes[at + 1..];
                at += memchr::memchr(quote, rest).map_or(0, |length| length + 1);
            }
            _ => {}
        }
        at += 1;
    }
    depth
}

/// Whether a line ends one branch and begins the next.
fn divides(line: &str, attributes: &LineAttributes, number: usize) -> bool {
    attributes.closer[number] && line.trim_end().ends_with(['{', '(', '[', ':'])
}

/// An `else` is useless without its `if`: the first line of a chain gets at least the score of every later branch.
fn raise_openers(scores: &mut [f32], lines: &[&str], attributes: &LineAttributes) {
    let mut latest: Vec<(u16, usize)> = Vec::new();
    let mut links: Vec<(usize, usize)> = Vec::new();
    for line in (0..scores.len()).filter(|&line| !attributes.blank[line]) {
        while latest.last().is_some_and(|&(indent, _)| indent > attributes.indent[line]) {
            latest.pop();
        }
        match latest.last_mut() {
            Some((indent, before)) if *indent == attributes.indent[line] => {
                if divides(lines[line], attributes, line) {
                    links.push((line, *before));
                }
                *before = line;
            }
            _ => latest.push((attributes.indent[line], line)),
        }
    }
    for &(line, opener) in links.iter().rev() {
        scores[opener] = scores[opener].max(scores[line]);
    }
}

/// `} else {` gets at least the best score of the block that it opens.
fn raise_dividers(scores: &mut [f32], lines: &[&str], attributes: &LineAttributes) {
    let mut open: Vec<(u16, f32)> = Vec::new();
    for line in (0..scores.len()).rev() {
        if attributes.blank[line] {
            continue;
        }
        let mut inner = f32::MIN;
        while let Some(&(indent, best)) = open.last() {
            if indent <= attributes.indent[line] {
                break;
            }
            inner = inner.max(best);
            open.pop();
        }
        if divides(lines[line], attributes, line) {
            scores[line] = scores[line].max(inner);
        }
        let best = scores[line].max(inner);
        match open.last_mut() {
            Some((indent, known)) if *indent == attributes.indent[line] => *known = known.max(best),
            _ => open.push((attributes.indent[line], best)),
        }
    }
}

/// `}` gets the best score of the block that it closes, or of the line that opened the block.
fn close_blocks(scores: &mut [f32], attributes: &LineAttributes) {
    // Per open level: its indentation, its latest line's score, the best score in it.
    let mut open: Vec<(u16, f32, f32)> = Vec::new();
    for (line, score) in scores.iter_mut().enumerate() {
        if attributes.blank[line] {
            continue;
        }
        let mut inner = f32::MIN;
        while let Some(&(indent, _, best)) = open.last() {
            if indent <= attributes.indent[line] {
                break;
            }
            inner = inner.max(best);
            open.pop();
        }
        match open.last_mut() {
            Some((indent, latest, best)) if *indent == attributes.indent[line] => {
                if attributes.closer[line] {
                    *score = inner.max(*latest);
                }
                *latest = *score;
                *best = best.max(inner).max(*score);
            }
            _ => open.push((attributes.indent[line], *score, score.max(inner))),
        }
    }
}

/// A blank line gets the lower score of its neighbours, so that it is cut with either.
fn settle_blanks(scores: &mut [f32], attributes: &LineAttributes) {
    let mut before = f32::MAX;
    let mut run = 0;
    for line in 0..=scores.len() {
        if line < scores.len() && attributes.blank[line] {
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
