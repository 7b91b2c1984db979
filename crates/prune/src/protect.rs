//! Protected lines: the contract's safety rules. They stay, whatever they score.

use tamis_syntax::{Outline, is_comment_line};
use tamis_text::{TextKind, is_quoted_source};

use crate::document::DocumentStructure;
use crate::error_reports::reports_error;
use crate::line_attributes::LineAttributes;
use crate::logs::has_error_word;

const BEGIN: &str = "⟦NO_PRUNE_BEGIN⟧";
const END: &str = "⟦NO_PRUNE_END⟧";
/// Markers of earlier prunes, in both forms.
const MARKER: &str = "⟦PRUNÉ:";
const SHORT_MARKER: &str = "[tamis ";

/// A licence may have hundreds of lines; its first lines say which it is, and the reason of a cut says that the rest is header
/// too. Kept whole, headers cost two points of what is cut from commits' files at equal recall.
const HEAD_COMMENT_LINES: usize = 4;
/// Lines kept on each side of a line that reports an error.
pub(crate) const ERROR_CONTEXT: usize = 2;
/// A stack trace is followed this far.
pub(crate) const TRACE_LINES: usize = 60;

pub(crate) struct Structure<'a> {
    pub(crate) kind: TextKind,
    pub(crate) lines: &'a [&'a str],
    /// The text before escape sequences were stripped, if any were.
    pub(crate) written: Option<&'a str>,
    pub(crate) outline: &'a Outline,
    pub(crate) document: &'a DocumentStructure,
    pub(crate) attributes: &'a LineAttributes,
}

/// Which lines stay.
pub(crate) fn protected_lines(structure: &Structure<'_>, keep_first_lines: usize) -> Vec<bool> {
    let mut stays = vec![false; structure.lines.len()];
    match structure.kind {
        TextKind::Code => protect_code(structure, &mut stays),
        TextKind::Docs => protect_docs(structure, &mut stays),
        TextKind::Logs => protect_logs(structure, &mut stays),
    }
    protect_directives(structure.lines.iter().copied(), &mut stays);
    if let Some(written) = structure.written {
        protect_written(structure.kind, written, &mut stays);
    }
    protect_ends(structure.lines, keep_first_lines, &mut stays);
    stays
}

/// Which lines stay even if the reader has them already.
pub(crate) fn kept_if_shown(lines: &[&str], written: Option<&str>, keep_first_lines: usize) -> Vec<bool> {
    let mut stays = vec![false; lines.len()];
    protect_directives(lines.iter().copied(), &mut stays);
    if let Some(written) = written {
        protect_directives(written.split('\n'), &mut stays);
    }
    protect_ends(lines, keep_first_lines, &mut stays);
    stays
}

/// The lines at the top that the caller wants, and the final newline.
fn protect_ends(lines: &[&str], keep_first_lines: usize, stays: &mut [bool]) {
    stays[..keep_first_lines.min(lines.len())].fill(true);
    if let (Some(last), Some(line)) = (stays.last_mut(), lines.last())
        && line.is_empty()
    {
        *last = true;
    }
}

fn protect_code(structure: &Structure<'_>, stays: &mut [bool]) {
    for import in &structure.outline.imports {
        stays[import.first..=import.last].fill(true);
    }
    for definition in &structure.outline.definitions {
        stays[definition.signature.first] = true;
    }
    for line in &structure.outline.structural {
        stays[*line] = true;
    }
    protect_docstring(structure, stays);
    let attributes = structure.attributes;
    let mut kept = 0;
    for (line, stays) in stays.iter_mut().enumerate() {
        let head = structure.lines[line].trim_start_matches('\u{feff}');
        // Keeping only the first line of a docstring would leave a string open.
        let dangling = ["\"\"\"", "'''"].iter().any(|mark| head.matches(mark).count() == 1);
        let after_mark = head.len() < structure.lines[line].len() && is_comment_line(head.trim_start());
        let comment = (attributes.comment[line] || after_mark) && !dangling;
        if head.starts_with("#!") || comment || head.trim_start().starts_with("<?") {
            *stays = true;
            kept += 1;
        } else if !attributes.blank[line] {
            break;
        }
        if kept == HEAD_COMMENT_LINES {
            break;
        }
    }
}

/// The module's docstring: its first lines, and the line that closes it.
fn protect_docstring(structure: &Structure<'_>, stays: &mut [bool]) {
    let attributes = structure.attributes;
    let skipped = |line: &usize| attributes.blank[*line] || structure.lines[*line].starts_with('#');
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
    let attributes = structure.attributes;
    let mut trace_until = 0;
    for line in 0..count {
        // The contract's words stay even in the name of a test that passed, but without the lines around it.
        stays[line] |=
            (attributes.severe[line] || attributes.passed[line]) && has_error_word(structure.lines[line]);
        if attributes.severe[line] && reports_error(structure.lines[line]) {
            stays[line.saturating_sub(ERROR_CONTEXT)..(line + ERROR_CONTEXT + 1).min(count)].fill(true);
            trace_until = line + TRACE_LINES;
        } else if line < trace_until && !attributes.blank[line] {
            if is_trace(structure.lines[line]) {
                stays[line] = true;
            } else {
                trace_until = 0;
            }
        }
    }
}

/// Whether a line continues an error report: a stack frame, or source that a compiler quotes.
pub(crate) fn is_trace(line: &str) -> bool {
    let trimmed = line.trim_start();
    let indented = trimmed.len() < line.len();
    let called = ["at ", "File ", "in ", "from ", "caused by", "Caused by", "... "]
        .iter()
        .any(|start| trimmed.starts_with(start));
    indented || called || trimmed.starts_with("goroutine ") || is_quoted_source(trimmed)
}

/// Stripping a broken escape sequence may take a letter or the rest of its line along, so protected words are searched in
/// the unstripped text too.
fn protect_written(kind: TextKind, written: &str, stays: &mut [bool]) {
    protect_directives(written.split('\n'), stays);
    if kind == TextKind::Logs {
        for (stays, line) in stays.iter_mut().zip(written.split('\n')) {
            *stays = *stays || has_error_word(line);
        }
    }
}

fn protect_directives<'a>(lines: impl Iterator<Item = &'a str>, stays: &mut [bool]) {
    let mut inside = false;
    for (line, text) in lines.enumerate() {
        // All other directives begin with the same rare character, so most lines need one more search.
        if !inside && !text.contains('⟦') {
            stays[line] |= has_short_marker(text);
            continue;
        }
        inside |= protection_begins(text);
        stays[line] |= inside || has_marker(text) || protection_ends(text);
        inside &= !protection_ends(text);
    }
}

pub(crate) fn protection_begins(line: &str) -> bool {
    line.contains(BEGIN)
}

pub(crate) fn protection_ends(line: &str) -> bool {
    line.contains(END)
}

/// Whether a line has a marker of an earlier prune.
pub(crate) fn has_marker(line: &str) -> bool {
    line.contains(MARKER) || has_short_marker(line)
}

/// Whether a line has `[tamis 48-78…]` or `[tamis cut 48-78…]`.
fn has_short_marker(line: &str) -> bool {
    memchr::memmem::find_iter(line.as_bytes(), SHORT_MARKER).any(|at| {
        let rest = &line[at + SHORT_MARKER.len()..];
        rest.strip_prefix("cut ").unwrap_or(rest).starts_with(|letter: char| letter.is_ascii_digit())
    })
}
