//! Lines that never go, whatever they score: the contract's rules of safety.

use tamis_syntax::Outline;
use tamis_text::{Kind, is_quoted_source};

use crate::line_attributes::{Document, Shape};
use crate::logs::{names_trouble, reports_trouble};

const BEGIN: &str = "⟦NO_PRUNE_BEGIN⟧";
const END: &str = "⟦NO_PRUNE_END⟧";
const MARKER: &str = "⟦PRUNÉ:";

/// A licence may run to hundreds of lines; its beginning says which it is.
const HEAD_COMMENT_LINES: usize = 4;
/// Lines kept on each side of a line that reports trouble.
const TROUBLE_CONTEXT: usize = 2;
/// A stack trace is followed this far.
const TRACE_LINES: usize = 60;

pub(crate) struct Structure<'a> {
    pub(crate) kind: Kind,
    pub(crate) lines: &'a [&'a str],
    /// The text as it was written, where escape sequences were left out of the lines.
    pub(crate) written: Option<&'a str>,
    pub(crate) outline: &'a Outline,
    pub(crate) document: &'a Document,
    pub(crate) shape: &'a Shape,
}

/// Which lines stay.
pub(crate) fn protected_lines(structure: &Structure<'_>, keep_first_lines: usize) -> Vec<bool> {
    let mut stays = vec![false; structure.lines.len()];
    match structure.kind {
        Kind::Code => protect_code(structure, &mut stays),
        Kind::Docs => protect_docs(structure, &mut stays),
        Kind::Logs => protect_logs(structure, &mut stays),
    }
    protect_directives(structure.lines.iter().copied(), &mut stays);
    if let Some(written) = structure.written {
        protect_written(structure.kind, written, &mut stays);
    }
    let first = keep_first_lines.min(stays.len());
    stays[..first].fill(true);
    if let (Some(last), Some(line)) = (stays.last_mut(), structure.lines.last())
        && line.is_empty()
    {
        *last = true;
    }
    stays
}

fn protect_code(structure: &Structure<'_>, stays: &mut [bool]) {
    for import in &structure.outline.imports {
        stays[import.first..=import.last].fill(true);
    }
    for definition in &structure.outline.definitions {
        stays[definition.signature.first] = true;
    }
    protect_docstring(structure, stays);
    let shape = structure.shape;
    let mut kept = 0;
    for (line, stays) in stays.iter_mut().enumerate() {
        let head = structure.lines[line].trim_start_matches('\u{feff}');
        // The first line of a docstring alone would open a string that nothing closes.
        let dangling = ["\"\"\"", "'''"].iter().any(|mark| head.matches(mark).count() == 1);
        let comment = shape.comment[line] && !dangling;
        if head.starts_with("#!") || comment || head.trim_start().starts_with("<?") {
            *stays = true;
            kept += 1;
        } else if !shape.blank[line] {
            break;
        }
        if kept == HEAD_COMMENT_LINES {
            break;
        }
    }
}

/// What a file says of itself before anything else: the first lines of its docstring, and the one that closes it.
fn protect_docstring(structure: &Structure<'_>, stays: &mut [bool]) {
    let shape = structure.shape;
    let skipped = |line: &usize| shape.blank[*line] || structure.lines[*line].starts_with('#');
    let Some(first) = (0..stays.len()).find(|line| !skipped(line)) else { return };
    let text = structure.lines[first].trim_start_matches(['r', 'R', '\u{feff}']);
    let Some(mark) = ["\"\"\"", "'''"].into_iter().find(|mark| text.starts_with(mark)) else { return };
    let closes = |line: &usize| structure.lines[*line].contains(mark);
    let last =
        if text.matches(mark).count() > 1 { Some(first) } else { (first + 1..stays.len()).find(closes) };
    if let Some(last) = last {
        stays[first..=last.min(first + HEAD_COMMENT_LINES - 1)].fill(true);
        stays[last] = true;
    }
}

fn protect_docs(structure: &Structure<'_>, stays: &mut [bool]) {
    for heading in &structure.document.headings {
        stays[heading.line] = true;
        // The underline of a heading is part of it.
        let underlined = !structure.lines[heading.line].trim_start().starts_with('#');
        if underlined && heading.line + 1 < stays.len() {
            stays[heading.line + 1] = true;
        }
    }
}

fn protect_logs(structure: &Structure<'_>, stays: &mut [bool]) {
    let count = stays.len();
    let shape = structure.shape;
    let mut trace_until = 0;
    for line in 0..count {
        // The contract's words stay even in the name of a test that passed; its surroundings need not.
        stays[line] |= (shape.severe[line] || shape.passed[line]) && names_trouble(structure.lines[line]);
        if shape.severe[line] && reports_trouble(structure.lines[line]) {
            stays[line.saturating_sub(TROUBLE_CONTEXT)..(line + TROUBLE_CONTEXT + 1).min(count)].fill(true);
            trace_until = line + TRACE_LINES;
        } else if line < trace_until && !shape.blank[line] {
            if is_trace(structure.lines[line]) {
                stays[line] = true;
            } else {
                trace_until = 0;
            }
        }
    }
}

/// Whether a line goes on with what began above: a stack trace, or the source that a compiler quotes.
fn is_trace(line: &str) -> bool {
    let trimmed = line.trim_start();
    let indented = trimmed.len() < line.len();
    let called = ["at ", "File ", "in ", "from ", "caused by", "Caused by", "... "]
        .iter()
        .any(|start| trimmed.starts_with(start));
    indented || called || trimmed.starts_with("goroutine ") || is_quoted_source(trimmed)
}

/// A broken escape sequence takes a letter or the rest of its line along, so what must stay is looked for in the text as
/// it was written too.
fn protect_written(kind: Kind, written: &str, stays: &mut [bool]) {
    protect_directives(written.split('\n'), stays);
    if kind == Kind::Logs {
        for (stays, line) in stays.iter_mut().zip(written.split('\n')) {
            *stays = *stays || names_trouble(line);
        }
    }
}

fn protect_directives<'a>(lines: impl Iterator<Item = &'a str>, stays: &mut [bool]) {
    let mut inside = false;
    for (line, text) in lines.enumerate() {
        // Both begin with the same rare character: most lines are dismissed by one search.
        if !inside && !text.contains('⟦') {
            continue;
        }
        inside |= text.contains(BEGIN);
        stays[line] |= inside || text.contains(MARKER) || text.contains(END);
        if text.contains(END) {
            inside = false;
        }
    }
}
