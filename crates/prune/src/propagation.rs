//! So that what stays still reads: lines that only close or divide a block share its fate.
//!
//! It works on scores, before any threshold, so that a higher threshold still cuts no less.

use tamis_text::Kind;

use crate::DEFAULT_THRESHOLD;
use crate::line_attributes::{Document, Shape};

/// The longest statement or docstring that goes or stays as one.
const STATEMENT_LINES: usize = 12;

/// Gives closing lines the score of what they close, and blank lines that of their surroundings.
pub(crate) fn settle(scores: &mut [f32], kind: Kind, lines: &[&str], shape: &Shape, document: &Document) {
    if kind == Kind::Code {
        join_statements(scores, lines);
        keep_signatures_whole(scores, lines, shape);
    }
    raise_dividers(scores, lines, shape);
    if kind == Kind::Code {
        raise_openers(scores, lines, shape);
    }
    close_blocks(scores, shape);
    settle_blanks(scores, shape);
    // A fence is of use as a whole.
    for &(first, last) in &document.fences {
        let best = scores[first..=last].iter().copied().fold(f32::MIN, f32::max);
        scores[first..=last].fill(best);
    }
}

/// The first line of a signature always stays; its other lines and its decorators, without which it may mean something else,
/// stay with it at the default threshold, and above it go before what the goal asks for.
fn keep_signatures_whole(scores: &mut [f32], lines: &[&str], shape: &Shape) {
    let mut decorates = false;
    for line in (0..lines.len()).rev() {
        decorates = shape.definition[line] || (decorates && is_decorator(lines[line]));
        if decorates {
            scores[line] = scores[line].max(DEFAULT_THRESHOLD);
        }
    }
}

/// Whether the line decorates what follows it, in the manner of Python, Java, TypeScript or Rust.
fn is_decorator(line: &str) -> bool {
    let trimmed = line.trim_start();
    trimmed.starts_with('@') || trimmed.starts_with("#[")
}

/// The lines of a call that runs over several, or of a short docstring, are of use together only.
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

/// Where the docstring that opens in this line closes, if it is short.
fn docstring_end(lines: &[&str], first: usize) -> Option<usize> {
    let mark = ["\"\"\"", "'''"].into_iter().find(|mark| lines[first].matches(mark).count() == 1)?;
    let rest = lines.iter().enumerate().skip(first + 1).take(STATEMENT_LINES - 1);
    rest.into_iter().find(|(_, line)| line.contains(mark)).map(|(last, _)| last)
}

/// The line in which the brackets that this one opens are closed; itself if they are not, or not soon.
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

/// How many round and square brackets a line leaves open, strings and comments apart.
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
                // Without a partner it is an apostrophe or a lifetime.
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
fn divides(line: &str, shape: &Shape, number: usize) -> bool {
    shape.closer[number] && line.trim_end().ends_with(['{', '(', '[', ':'])
}

/// An `else` without its `if` says nothing: what opens a chain of branches is needed as soon as any of them is.
fn raise_openers(scores: &mut [f32], lines: &[&str], shape: &Shape) {
    let mut latest: Vec<(u16, usize)> = Vec::new();
    let mut links: Vec<(usize, usize)> = Vec::new();
    for line in (0..scores.len()).filter(|&line| !shape.blank[line]) {
        while latest.last().is_some_and(|&(indent, _)| indent > shape.indent[line]) {
            latest.pop();
        }
        match latest.last_mut() {
            Some((indent, before)) if *indent == shape.indent[line] => {
                if divides(lines[line], shape, line) {
                    links.push((line, *before));
                }
                *before = line;
            }
            _ => latest.push((shape.indent[line], line)),
        }
    }
    for &(line, opener) in links.iter().rev() {
        scores[opener] = scores[opener].max(scores[line]);
    }
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
        if divides(lines[line], shape, line) {
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
