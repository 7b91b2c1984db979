//! The pieces a text falls into: what a line belongs to, near and far.
//!
//! Code falls into definitions, documents into sections, logs into runs. Every line has one unit at each level.

use tamis_syntax::Outline;
use tamis_text::Kind;

/// A partition of the lines.
pub(crate) struct Units {
    /// The unit of each line.
    pub(crate) of_line: Vec<u32>,
    /// For each unit the line that says what it is: a signature, a heading; its first line where nothing does.
    pub(crate) title: Vec<u32>,
}

impl Units {
    pub(crate) fn count(&self) -> usize {
        self.title.len()
    }
}

/// The three levels at which lines are read together.
pub(crate) struct Levels {
    /// Lines between blank lines.
    pub(crate) paragraph: Units,
    /// The innermost definition or section.
    pub(crate) near: Units,
    /// The outermost definition, or the section of the second level.
    pub(crate) top: Units,
}

pub(crate) fn levels(kind: Kind, lines: &[&str], outline: &Outline, headings: &[Heading]) -> Levels {
    let paragraph = paragraphs(lines, 30);
    match kind {
        Kind::Code => Levels {
            paragraph,
            near: definitions(lines.len(), outline, usize::MAX),
            top: definitions(lines.len(), outline, 0),
        },
        Kind::Docs => Levels {
            paragraph,
            near: sections(lines.len(), headings, 6),
            top: sections(lines.len(), headings, 2),
        },
        Kind::Logs => Levels { paragraph, near: paragraphs(lines, 60), top: chunks(lines.len(), 100) },
    }
}

/// A heading of a document. Lines count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) line: usize,
    pub(crate) level: usize,
}

fn definitions(count: usize, outline: &Outline, deepest: usize) -> Units {
    let mut of_line = vec![u32::MAX; count];
    let mut title = Vec::new();
    // Inner definitions come later and take their lines from the outer ones.
    for definition in outline.definitions.iter().filter(|definition| definition.depth <= deepest) {
        let unit = title.len() as u32;
        title.push(definition.signature.first as u32);
        of_line[definition.lead..=definition.last].fill(unit);
    }
    let mut gap = None;
    for (line, unit) in of_line.iter_mut().enumerate() {
        if *unit == u32::MAX {
            *unit = *gap.get_or_insert_with(|| {
                title.push(line as u32);
                title.len() as u32 - 1
            });
        } else {
            gap = None;
        }
    }
    Units { of_line, title }
}

fn sections(count: usize, headings: &[Heading], deepest: usize) -> Units {
    let mut of_line = vec![0; count];
    let mut title = vec![0];
    let mut starts = headings.iter().filter(|heading| heading.level <= deepest).peekable();
    for (line, unit) in of_line.iter_mut().enumerate() {
        if starts.peek().is_some_and(|heading| heading.line == line) {
            starts.next();
            if line > 0 {
                title.push(line as u32);
            }
        }
        *unit = title.len() as u32 - 1;
    }
    Units { of_line, title }
}

fn paragraphs(lines: &[&str], longest: usize) -> Units {
    let mut of_line = Vec::with_capacity(lines.len());
    let mut title: Vec<u32> = vec![0];
    let mut was_blank = false;
    for (number, line) in lines.iter().enumerate() {
        let blank = line.trim().is_empty() || *line == "--";
        let first = title[title.len() - 1] as usize;
        if number > first && ((was_blank && !blank) || number - first >= longest) {
            title.push(number as u32);
        }
        was_blank = blank;
        of_line.push(title.len() as u32 - 1);
    }
    Units { of_line, title }
}

fn chunks(count: usize, size: usize) -> Units {
    Units {
        of_line: (0..count).map(|line| (line / size) as u32).collect(),
        title: (0..count.div_ceil(size)).map(|unit| (unit * size) as u32).collect(),
    }
}
