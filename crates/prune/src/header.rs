//! The header of a file: the licence or description that it begins with, and a docstring after it. Only its first lines are
//! protected; a cut of the others says what they are.

use crate::line_attributes::LineAttributes;

/// Signs that open and close a comment or docstring of several lines.
const BLOCKS: [(&str, &str); 6] =
    [("/*", "*/"), ("<!--", "-->"), ("{-", "-}"), ("(*", "*)"), ("\"\"\"", "\"\"\""), ("'''", "'''")];
/// Signs of a comment that ends with its line.
const LINE_COMMENTS: [&str; 5] = ["//", "#", "--", ";", "%"];

/// The last line of the header, or `None` if the text does not begin with a comment or the comment is never closed.
pub(crate) fn header_end(lines: &[&str], attributes: &LineAttributes) -> Option<usize> {
    let text = |line: usize| lines[line].trim_start_matches('\u{feff}').trim();
    let filled = |from: usize| (from..lines.len()).find(|line| !attributes.blank[*line]);
    let mut next = filled(0)?;
    // Lines for the programs that read the file come before it: `#!/bin/sh`, `# -*- coding: utf-8 -*-`, `<?php`.
    while ["#!", "<?"].iter().any(|sign| text(next).starts_with(sign)) || text(next).contains("-*-") {
        next = filled(next + 1)?;
    }
    let mut end = end_of_comment(lines.len(), next, &text)?;
    loop {
        let Some(next) = filled(end + 1) else { return Some(end) };
        // After a blank line only a docstring belongs to it.
        let belongs = next == end + 1 || ["\"\"\"", "'''"].iter().any(|mark| text(next).starts_with(mark));
        match end_of_comment(lines.len(), next, &text).filter(|_| belongs) {
            Some(last) => end = last,
            None => return Some(end),
        }
    }
}

/// The last line of the comment that begins on this line.
fn end_of_comment<'a>(count: usize, first: usize, text: &impl Fn(usize) -> &'a str) -> Option<usize> {
    let start = text(first).trim_start_matches(['r', 'R']);
    if let Some((open, close)) = BLOCKS.iter().find(|(open, _)| start.starts_with(open)) {
        let closes =
            |line: &usize| (if *line == first { &start[open.len()..] } else { text(*line) }).contains(close);
        return (first..count).find(closes);
    }
    let is_comment = LINE_COMMENTS.iter().any(|sign| start.starts_with(sign)) && !is_directive(start);
    is_comment.then_some(first)
}

/// Whether the line is for C's preprocessor or an attribute of Rust: both begin as comments of other languages do.
fn is_directive(line: &str) -> bool {
    const WORDS: [&str; 11] =
        ["include", "define", "if", "ifdef", "ifndef", "endif", "else", "elif", "undef", "pragma", "error"];
    line.strip_prefix('#').is_some_and(|rest| {
        let word = rest.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
        rest.starts_with(['[', '!']) || WORDS.contains(&word)
    })
}
