//! JSON over several lines: a key or value that the goal names stays, with the objects around it and the value below it.

use tamis_syntax::line_indent;

use super::ANSWER;
use super::named::NamedLines;
use crate::DEFAULT_THRESHOLD;
use crate::want::Want;

/// At least this share of the lines must be those of JSON.
const JSON_SHARE: f32 = 0.9;
/// Names that more than this share of the lines has select nothing.
const MOST_NAMED: f32 = 0.3;
/// The maximum number of lines of a named value that are raised.
const VALUE_LINES: usize = 40;

/// Raises lines of JSON that the goal names. Nothing is lowered.
pub(crate) fn raise(lines: &[&str], text: &str, want: &Want, scores: &mut [f32]) {
    if !is_json(lines) {
        return;
    }
    let named = NamedLines::read(text, lines.len(), &want.names);
    let count = named.of_line.iter().filter(|names| **names != 0).count();
    if count == 0 || count as f32 > MOST_NAMED * lines.len() as f32 {
        return;
    }
    // The objects and lists that are open, by the indentation of the lines that opened them.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut value: Option<(usize, usize)> = None;
    for (number, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        let indent = line_indent(line);
        while open.last().is_some_and(|(above, _)| *above >= indent) {
            open.pop();
        }
        value = value
            .filter(|(above, end)| number <= *end && (indent > *above || trimmed.starts_with(['}', ']'])));
        if value.is_some() {
            scores[number] = scores[number].max(DEFAULT_THRESHOLD);
        }
        let opens = trimmed.ends_with(['{', '[']);
        if named.of_line[number] != 0 {
            scores[number] = scores[number].max(ANSWER);
            for (_, parent) in &open {
                scores[*parent] = scores[*parent].max(ANSWER);
            }
            if opens {
                value = Some((indent, number + VALUE_LINES));
            }
        }
        if opens {
            open.push((indent, number));
        }
    }
}

fn is_json(lines: &[&str]) -> bool {
    let mut filled = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    let Some(first) = filled.next() else { return false };
    if !matches!(first, "{" | "[" | "[{") {
        return false;
    }
    let (mut all, mut json) = (1, 1);
    for line in filled {
        all += 1;
        let begins = line.starts_with(['"', '{', '}', '[', ']', '-'])
            || line.starts_with(|letter: char| letter.is_ascii_digit())
            || ["true", "false", "null"].iter().any(|word| line.starts_with(word));
        let ends = line.ends_with([',', '{', '[', '}', ']', '"'])
            || line.ends_with(|letter: char| letter.is_ascii_alphanumeric());
        json += usize::from(begins && ends);
    }
    all > 3 && json as f32 >= JSON_SHARE * all as f32
}
