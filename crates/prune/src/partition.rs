//! Text segmentation: which paragraph, definition or section each line is in.
//!
//! Code is divided into definitions, documents into sections, logs into runs. Every line is in exactly one part of each
//! partition.

use tamis_syntax::Outline;
use tamis_text::TextKind;

use crate::document::Heading;

/// A division of the lines into parts.
pub(crate) struct Partition {
    /// The part of each line.
    pub(crate) of_line: Vec<u32>,
    /// The title line of each part: a signature or a heading, otherwise its first line.
    pub(crate) title: Vec<u32>,
}

impl Partition {
    pub(crate) fn count(&self) -> usize {
        self.title.len()
    }
}

/// The three partitions that features and the network use.
pub(crate) struct Partitions {
    /// Lines between blank lines.
    pub(crate) paragraph: Partition,
    /// The innermost definition or section.
    pub(crate) inner: Partition,
    /// The outermost definition, or the section of the second level.
    pub(crate) outer: Partition,
}

pub(crate) fn partitions(
    kind: TextKind,
    lines: &[&str],
    outline: &Outline,
    headings: &[Heading],
) -> Partitions {
    let paragraph = paragraphs(lines, 30);
    match kind {
        TextKind::Code => Partitions {
            paragraph,
            inner: definitions(lines.len(), outline, usize::MAX),
            outer: definitions(lines.len(), outline, 0),
        },
        TextKind::Docs => Partitions {
            paragraph,
            inner: sections(lines.len(), headings, 6),
            outer: sections(lines.len(), headings, 2),
        },
        TextKind::Logs => {
            Partitions { paragraph, inner: paragraphs(lines, 60), outer: chunks(lines.len(), 100) }
        }
    }
}

fn definitions(count: usize, outline: &Outline, deepest: usize) -> Partition {
    let mut of_line = vec![u32::MAX; count];
    let mut title = Vec::new();
    // Inner definitions come later and overwrite the lines of outer ones.
    for definition in outline.definitions.iter().filter(|definition| definition.depth <= deepest) {
        let part = title.len() as u32;
        title.push(definition.signature.first as u32);
        of_line[definition.lead..=definition.last].fill(part);
    }
    let mut gap = None;
    for (line, part) in of_line.iter_mut().enumerate() {
        if *part == u32::MAX {
            *part = *gap.get_or_insert_with(|| {
                title.push(line as u32);
                title.len() as u32 - 1
            });
        } else {
            gap = None;
        }
    }
    Partition { of_line, title }
}

fn sections(count: usize, headings: &[Heading], deepest: usize) -> Partition {
    let mut of_line = vec![0; count];
    let mut title = vec![0];
    let mut starts = headings.iter().filter(|heading| heading.level <= deepest).peekable();
    for (line, part) in of_line.iter_mut().enumerate() {
        if starts.peek().is_some_and(|heading| heading.line == line) {
            starts.next();
            if line > 0 {
                title.push(line as u32);
            }
        }
        *part = title.len() as u32 - 1;
    }
    Partition { of_line, title }
}

fn paragraphs(lines: &[&str], longest: usize) -> Partition {
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
    Partition { of_line, title }
}

fn chunks(count: usize, size: usize) -> Partition {
    Partition {
        of_line: (0..count).map(|line| (line / size) as u32).collect(),
        title: (0..count.div_ceil(size)).map(|part| (part * size) as u32).collect(),
    }
}
