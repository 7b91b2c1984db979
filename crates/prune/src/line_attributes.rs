//! Attributes of each line that do not depend on the goal: indentation, comment, import, definition, test result.

use tamis_syntax::{Outline, is_attribute_line, is_closing_line, is_comment_line, line_indent};
use tamis_text::words::{each_word, stem};
use tamis_text::{StepOutcome, TextKind, is_separator_line, step_outcomes};

use crate::EngineError;
use crate::index::Index;
use crate::logs::is_severe;

pub(crate) struct LineAttributes {
    pub(crate) indent: Vec<u16>,
    pub(crate) width: Vec<u32>,
    pub(crate) blank: Vec<bool>,
    pub(crate) comment: Vec<bool>,
    pub(crate) closer: Vec<bool>,
    pub(crate) import: Vec<bool>,
    pub(crate) definition: Vec<bool>,
    pub(crate) tests: Vec<bool>,
    /// In logs: lines that report an error, except lines about a test that passed.
    pub(crate) severe: Vec<bool>,
    /// In logs: lines with the result of a test or a step, and separator lines such as `=====`.
    pub(crate) passed: Vec<bool>,
    pub(crate) failed: Vec<bool>,
    pub(crate) separator: Vec<bool>,
    /// The words of each definition's name, by the line of its signature.
    names: Vec<(u32, Vec<u32>)>,
}

impl LineAttributes {
    pub(crate) fn read(
        kind: TextKind,
        lines: &[&str],
        outline: &Outline,
        index: &Index,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<LineAttributes, EngineError> {
        let count = lines.len();
        let mut attributes = LineAttributes {
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
            separator: vec![false; count],
            names: Vec::new(),
        };
        for (number, line) in lines.iter().enumerate() {
            if number % 512 == 0 && interrupted() {
                return Err(EngineError::Interrupted);
            }
            let trimmed = line.trim();
            attributes.indent.push(line_indent(line).min(400) as u16);
            attributes.width.push(line.len() as u32);
            attributes.blank.push(trimmed.is_empty());
            attributes
                .comment
                .push(kind != TextKind::Docs && is_comment_line(trimmed) && !is_attribute_line(trimmed));
            attributes.closer.push(kind == TextKind::Code && is_closing_line(trimmed));
        }
        if kind == TextKind::Logs {
            for (line, (text, outcome)) in lines.iter().zip(step_outcomes(lines)).enumerate() {
                if line % 512 == 0 && interrupted() {
                    return Err(EngineError::Interrupted);
                }
                attributes.passed[line] = outcome == Some(StepOutcome::Passed);
                attributes.failed[line] = outcome == Some(StepOutcome::Failed);
                attributes.separator[line] = is_separator_line(text);
                attributes.severe[line] = !attributes.passed[line] && is_severe(text);
            }
        }
        for import in &outline.imports {
            attributes.import[import.first..=import.last].fill(true);
        }
        let mut tests_until = 0;
        for definition in &outline.definitions {
            attributes.definition[definition.signature.first..=definition.signature.last].fill(true);
            let name = &lines[definition.signature.first][definition.name.clone()];
            let mut words = Vec::new();
            each_word(name, |word, _| words.extend(index.vocabulary.find(stem(word))));
            attributes.names.push((definition.signature.first as u32, words));
            let testing = name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("test"));
            if testing && definition.last >= tests_until {
                attributes.tests[definition.signature.first..=definition.last].fill(true);
                tests_until = definition.last + 1;
            }
        }
        Ok(attributes)
    }

    pub(crate) fn title_words<'a>(&'a self, index: &'a Index, line: usize) -> &'a [u32] {
        match self.names.binary_search_by_key(&(line as u32), |(at, _)| *at) {
            Ok(found) => &self.names[found].1,
            Err(_) => index.line_words(line),
        }
    }
}
