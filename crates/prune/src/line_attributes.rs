//! What each line looks like, whatever the goal: the text's structure, line by line.

use tamis_syntax::{Outline, is_attribute_line, is_closing_line, is_comment_line, line_indent};
use tamis_text::words::{each_word, stem};
use tamis_text::{Kind, Outcome, is_drawn, outcome};

use crate::Unpruned;
use crate::index::Index;
use crate::logs::is_severe;
use crate::partition::Heading;

pub(crate) struct Shape {
    pub(crate) indent: Vec<u16>,
    pub(crate) width: Vec<u32>,
    pub(crate) blank: Vec<bool>,
    pub(crate) comment: Vec<bool>,
    pub(crate) closer: Vec<bool>,
    pub(crate) import: Vec<bool>,
    pub(crate) definition: Vec<bool>,
    pub(crate) tests: Vec<bool>,
    /// Of logs: lines that tell of trouble, and are not about a test that passed.
    pub(crate) severe: Vec<bool>,
    /// Of logs: lines that say how a test or a step went, and lines that are drawn.
    pub(crate) passed: Vec<bool>,
    pub(crate) failed: Vec<bool>,
    pub(crate) drawn: Vec<bool>,
    /// The words of the names that titles give, by line; a title without a name speaks with its whole line.
    names: Vec<(u32, Vec<u32>)>,
}

impl Shape {
    pub(crate) fn read(
        kind: Kind,
        lines: &[&str],
        outline: &Outline,
        index: &Index,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Shape, Unpruned> {
        let count = lines.len();
        let mut shape = Shape {
            indent: Vec::with_capacity(count),
            width: Vec::with_capacity(count),
            blank: Vec::with_capacity(count),
            comment: Vec::with_capacity(count),
            closer: Vec::with_capacity(count),
            import: vec![false; count],
            definition: vec![false; count],
            tests: vec![false; count],
            severe: vec![false; count],
            passed: vec![false; count],
            failed: vec![false; count],
            drawn: vec![false; count],
            names: Vec::new(),
        };
        for (number, line) in lines.iter().enumerate() {
            if number % 512 == 0 && interrupted() {
                return Err(Unpruned::Interrupted);
            }
            let trimmed = line.trim();
            shape.indent.push(line_indent(line).min(400) as u16);
            shape.width.push(line.len() as u32);
            shape.blank.push(trimmed.is_empty());
            shape.comment.push(kind != Kind::Docs && is_comment_line(trimmed) && !is_attribute_line(trimmed));
            shape.closer.push(kind == Kind::Code && is_closing_line(trimmed));
        }
        if kind == Kind::Logs {
            for (line, text) in lines.iter().enumerate() {
                if line % 512 == 0 && interrupted() {
                    return Err(Unpruned::Interrupted);
                }
                let outcome = outcome(text);
                shape.passed[line] = outcome == Some(Outcome::Good);
                shape.failed[line] = outcome == Some(Outcome::Bad);
                shape.drawn[line] = is_drawn(text);
                shape.severe[line] = !shape.passed[line] && is_severe(text);
            }
        }
        for import in &outline.imports {
            shape.import[import.first..=import.last].fill(true);
        }
        let mut tests_until = 0;
        for definition in &outline.definitions {
            shape.definition[definition.signature.first..=definition.signature.last].fill(true);
            let name = &lines[definition.signature.first][definition.name.clone()];
            let mut words = Vec::new();
            each_word(name, |word, _| words.extend(index.vocabulary.find(stem(word))));
            shape.names.push((definition.signature.first as u32, words));
            let testing = name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("test"));
            if testing && definition.last >= tests_until {
                shape.tests[definition.signature.first..=definition.last].fill(true);
                tests_until = definition.last + 1;
            }
        }
        Ok(shape)
    }

    pub(crate) fn title_words<'a>(&'a self, index: &'a Index, line: usize) -> &'a [u32] {
        match self.names.binary_search_by_key(&(line as u32), |(at, _)| *at) {
            Ok(found) => &self.names[found].1,
            Err(_) => index.line_words(line),
        }
    }
}

/// A document's headings and code fences. Fences are spans of lines, both ends included.
#[derive(Default)]
pub(crate) struct Document {
    pub(crate) headings: Vec<Heading>,
    pub(crate) fences: Vec<(usize, usize)>,
}

impl Document {
    pub(crate) fn read(lines: &[&str]) -> Document {
        let mut document = Document::default();
        let mut fence: Option<(usize, &str)> = None;
        for (number, line) in lines.iter().enumerate() {
            let trimmed = line.trim();
            if let Some((start, mark)) = fence {
                if trimmed.starts_with(mark) && trimmed.trim_start_matches(&mark[..1]).is_empty() {
                    document.fences.push((start, number));
                    fence = None;
                }
                continue;
            }
            if let Some(mark) = opening_mark(trimmed) {
                fence = Some((number, mark));
                continue;
            }
            let level = trimmed.bytes().take_while(|&byte| byte == b'#').count();
            if (1..=6).contains(&level) && trimmed[level..].starts_with([' ', '\t']) {
                document.headings.push(Heading { line: number, level });
            } else if number > 0 && is_underline(trimmed) && is_title(lines[number - 1]) {
                let level = if trimmed.starts_with('=') { 1 } else { 2 };
                document.headings.push(Heading { line: number - 1, level });
            }
        }
        // An unclosed fence runs to the end.
        if let Some((start, _)) = fence {
            document.fences.push((start, lines.len() - 1));
        }
        document
    }
}

/// The signs that open a fence. More backticks behind them are code in a sentence: "```a``` and more" opens nothing.
fn opening_mark(trimmed: &str) -> Option<&str> {
    let sign = ['`', '~'].into_iter().find(|&sign| trimmed.starts_with(sign))?;
    let behind = trimmed.trim_start_matches(sign);
    let mark = &trimmed[..trimmed.len() - behind.len()];
    (mark.len() >= 3 && !(sign == '`' && behind.contains(sign))).then_some(mark)
}

fn is_underline(trimmed: &str) -> bool {
    trimmed.len() >= 3 && (trimmed.bytes().all(|b| b == b'=') || trimmed.bytes().all(|b| b == b'-'))
}

fn is_title(line: &str) -> bool {
    let trimmed = line.trim();
    trimmed.len() > 1 && trimmed.len() < 120 && !trimmed.starts_with(['|', '-', '*', '>', '#', '=', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_fences_are_found() {
        let text = "# One\nwords\n```sh\n# not a heading\n```\nTwo\n---\n~~~\nopen\n# never\n";
        let document = Document::read(&tamis_text::split_lines(text));
        assert_eq!(document.headings, [Heading { line: 0, level: 1 }, Heading { line: 5, level: 2 }]);
        assert_eq!(document.fences, [(2, 4), (7, 10)]);
        let inline = Document::read(&["```a``` and more", "# One", "~~~ `b`", "# no", "~~~"]);
        assert_eq!(inline.headings, [Heading { line: 1, level: 1 }]);
        assert_eq!(inline.fences, [(2, 4)]);
    }
}
