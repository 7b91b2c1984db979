//! Lines that begin a definition or an import although no tree or indentation shows it: in code that cannot be parsed, and
//! inside macros. They are judged by their words alone, so they serve only to keep such lines, never to find names.

use std::ops::Range;

use crate::heuristic_outline::{clip, import_end};
use crate::keywords::{Word, first_word, past_attributes};
use crate::line::{is_comment_line, is_import, line_indent};
use crate::other_languages::begins_in_other_language;
use crate::signature::defined_name_in;

/// The structural lines among `range`, in order. An import is listed with its lines up to the closing bracket.
pub(crate) fn structural_lines(lines: &[&str], range: Range<usize>, found: &mut Vec<usize>) {
    let mut number = range.start;
    while number < range.end.min(lines.len()) {
        let line = clip(lines[number]);
        let trimmed = line.trim_ascii();
        let last = match trimmed {
            _ if is_import(trimmed) && !is_prose(trimmed) => import_end(lines, number, line_indent(line)),
            _ if !trimmed.starts_with("#[")
                && is_comment_line(trimmed)
                && !begins_in_other_language(line) =>
            {
                number += 1;
                continue;
            }
            _ if begins_definition(trimmed) || is_sourcing(trimmed) => number,
            _ if begins_in_other_language(line) => number,
            _ if defined_name_in(line, &lines[number + 1..], false).is_some() => number,
            _ => {
                number += 1;
                continue;
            }
        };
        found.extend(number..=last.min(range.end - 1));
        number = last + 1;
    }
}

/// Whether the line begins a definition in a form that has no place in an outline: without a name, without a body, or with the
/// placeholders of a macro.
pub(crate) fn begins_definition(trimmed: &str) -> bool {
    let mut rest = past_attributes(trimmed);
    if let Some(after) = rest.strip_prefix('$') {
        // `$vis fn name(…)` in a macro.
        rest = first_word(after).1.trim_ascii_start();
    }
    let mut is_default = false;
    loop {
        let (word, after) = first_word(rest);
        let next = after.trim_ascii_start();
        match word {
            "def" | "defmodule" => {
                return after.starts_with(' ') && !next.is_empty() && !next.starts_with('=');
            }
            "mod" => {
                let (name, end) = first_word(next);
                return after.starts_with(' ') && !name.is_empty() && end.trim_ascii() == ";";
            }
            "class" => return next.starts_with("<< ") || is_default,
            "function" if is_default => return true,
            "fn" => return after.starts_with(' ') && next.starts_with('$'),
            _ if Word::of(word) == Word::Modifier => {
                is_default |= word == "default";
                // `pub(crate)`
                let end = if after.starts_with('(') { after.find(')').map_or(0, |end| end + 1) } else { 0 };
                rest = after[end..].trim_ascii_start();
                if rest.is_empty() || (end == 0 && !after.starts_with([' ', '\t'])) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Whether an import begins on this line, or a definition by a keyword and a name.
pub(crate) fn begins_by_keyword(lines: &[&str], number: usize) -> bool {
    let line = clip(lines[number]);
    if is_import(line.trim_ascii()) && !is_prose(line.trim_ascii()) || begins_in_other_language(line) {
        return true;
    }
    let mut rest = past_attributes(line.trim_ascii());
    let mut has_modifier = false;
    let defines = || defined_name_in(line, &lines[number + 1..], false).is_some();
    loop {
        let (word, after) = first_word(rest);
        match Word::of(word) {
            Word::Modifier => {
                has_modifier = true;
                let end = if after.starts_with('(') { after.find(')').map_or(0, |end| end + 1) } else { 0 };
                rest = after[end..].trim_ascii_start();
            }
            Word::Definer => {
                let named = after.starts_with([' ', '<', '!']);
                return named && (begins_definition(line.trim_ascii()) || defines());
            }
            // A method: `public int size() {`.
            _ => return has_modifier && defines(),
        }
    }
}

/// Whether the line reads another file of a shell: `source lib.sh`, `. ./lib.sh`.
pub(crate) fn is_sourcing(trimmed: &str) -> bool {
    let path = trimmed.strip_prefix("source ").or_else(|| trimmed.strip_prefix(". "));
    let word = path.and_then(|path| path.split_ascii_whitespace().next());
    word.is_some_and(|word| word.contains(['/', '.', '$', '"', '\'']) && !word.ends_with(['.', ',', ':']))
}

/// Whether a line that begins like an import is a sentence: `import the module first`. A docstring may be taken for code where
/// code cannot be parsed.
fn is_prose(trimmed: &str) -> bool {
    let (word, rest) = first_word(trimmed);
    let rest = rest.trim_ascii();
    ["import", "use", "package", "using", "require"].contains(&word)
        && rest.split_ascii_whitespace().nth(1).is_some()
        && !rest.contains([',', ';', '"', '\'', '{', '(', ':', '*'])
        && ![" as ", " from "].iter().any(|sign| rest.contains(sign))
        && !rest.starts_with("static ")
}
