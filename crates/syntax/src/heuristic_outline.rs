//! An outline from indentation, braces and keywords, for any language and for broken code.
//!
//! One pass with a stack of open definitions. It costs about as much as splitting the text into lines.

use std::ops::Range;

use crate::line::{is_attribute_line, is_closing_line, is_comment_line, is_import, line_indent};
use crate::nesting::Nesting;
use crate::other_languages::begins_in_other_language;
use crate::signature::defined_name_in;
use crate::structure::{begins_by_keyword, begins_definition, is_sourcing, structural_lines};
use crate::{Definition, LineSpan, Outline};

/// The maximum number of lines of a signature. A longer one was misread.
const LONGEST_SIGNATURE: usize = 40;
/// The maximum number of lines of an import. A longer one was misread.
const LONGEST_IMPORT: usize = 400;
/// The maximum number of open definitions searched for the one around a line.
const NEAREST: usize = 8;
/// Only this much of a line is read.
const LINE_BYTES: usize = 1000;

/// The outline of `lines`. If `interrupted` returns true, the outline so far is returned.
pub fn heuristic_outline(lines: &[&str], interrupted: &dyn Fn() -> bool) -> Outline {
    let mut outline = Outline::default();
    let mut open: Vec<Open> = Vec::new();
    let mut nesting = Nesting::default();
    let mut last_filled = 0;
    let mut busy_until = 0; // lines below this belong to a signature or an import
    let mut texts: Vec<Range<usize>> = Vec::new(); // lines inside strings and comments, which may not be any
    let mut was_in_text = false;
    for (number, line) in lines.iter().enumerate() {
        if number % 512 == 0 && interrupted() {
            break;
        }
        let clipped = clip(line);
        let trimmed = clipped.trim_ascii();
        if trimmed.is_empty() {
            continue;
        }
        let width = line_indent(clipped);
        let closer = is_closing_line(trimmed);
        let is_in_text = nesting.in_text();
        let is_inside = number < busy_until || is_in_text;
        if !is_inside && !trimmed.starts_with('#') {
            nesting.settle(width, closer);
        }
        let inside = is_inside || nesting.in_list();
        nesting.read(trimmed, width, clipped.len() < line.len());
        if inside {
            if is_in_text && number >= busy_until {
                match texts.last_mut() {
                    Some(text) if was_in_text => text.end = number + 1,
                    _ => texts.push(number..number + 1),
                }
            } else if number >= busy_until && begins_by_keyword(lines, number) {
                // Brackets hold no definitions, so one of them was never closed.
                outline.structural.push(number);
            }
            was_in_text = is_in_text;
            last_filled = number;
            continue;
        }
        was_in_text = false;
        let within = open
            .iter()
            .rev()
            .take(NEAREST)
            .find(|open| open.width < width)
            .map_or(Body::Plain, |open| open.body);
        let name = match within {
            Body::Macro => None,
            within => defined_name_in(clipped, &lines[number + 1..], within == Body::Interface)
                .filter(|_| number == 0 || !goes_on(clip(lines[last_filled]))),
        };
        close(
            &mut open,
            &mut outline.definitions,
            Here { number, width, closer, defines: name.is_some(), trimmed, last_filled },
        );
        if let Some(name) = name {
            let (signature_last, braced) = signature_end(lines, number);
            let above = type_above(lines, number, signature_last, name.start);
            let lead = lead(lines, above.unwrap_or(number), width);
            let depth = open.len();
            let body = Body::of(trimmed, &clipped[..name.start]);
            outline.definitions.push(Definition {
                lead,
                signature: LineSpan { first: number, last: signature_last },
                last: signature_last,
                depth,
                name,
            });
            busy_until = signature_last + 1;
            if !is_whole(clipped, signature_last == number) {
                open.push(Open { definition: outline.definitions.len() - 1, width, braced, body });
            }
        } else if within != Body::Macro && is_import(trimmed) {
            let last = import_end(lines, number, width);
            outline.imports.push(LineSpan { first: number, last });
            busy_until = last + 1;
        } else if within == Body::Macro {
            structural_lines(lines, number..number + 1, &mut outline.structural);
        } else if begins_definition(trimmed) || is_sourcing(trimmed) || begins_in_other_language(clipped) {
            outline.structural.push(number);
        }
        last_filled = number;
    }
    if nesting.has_unclosed_text() {
        texts.into_iter().for_each(|text| structural_lines(lines, text, &mut outline.structural));
        outline.structural.sort_unstable();
    }
    for Open { definition: index, .. } in open {
        outline.definitions[index].last = last_filled.max(outline.definitions[index].signature.last);
    }
    outline
}

/// A definition whose end has not been reached.
struct Open {
    /// Its index in the outline.
    definition: usize,
    width: usize,
    /// Whether a brace opened its body.
    braced: bool,
    body: Body,
}

/// How the lines in a definition's body are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    Plain,
    /// Methods are declared without a body.
    Interface,
    /// Lines are macro patterns, which define nothing.
    Macro,
}

impl Body {
    /// Judged by the first line of the definition and the text before its name.
    fn of(trimmed: &str, before_name: &str) -> Body {
        if trimmed.starts_with("macro_rules!") {
            Body::Macro
        } else if before_name.trim_ascii_end().ends_with(" interface") || before_name == "interface " {
            Body::Interface
        } else {
            Body::Plain
        }
    }
}

/// The current line.
struct Here<'a> {
    number: usize,
    width: usize,
    closer: bool,
    defines: bool,
    trimmed: &'a str,
    last_filled: usize,
}

/// Closes the definitions that end at this line.
fn close(open: &mut Vec<Open>, definitions: &mut [Definition], here: Here<'_>) {
    while let Some(&Open { definition: index, width, braced, .. }) = open.last() {
        if here.width > width {
            return;
        }
        if here.closer && here.width == width && (braced || here.trimmed.starts_with("end")) {
            definitions[index].last = here.number;
            open.pop();
            return;
        }
        // Preprocessor lines, labels, comments and lone braces may be outdented without ending a definition.
        let margin = here.trimmed.starts_with('#')
            || here.trimmed.starts_with('{')
            || here.trimmed.ends_with(':')
            || is_comment_line(here.trimmed);
        if braced && !here.defines && !here.closer && margin {
            return;
        }
        definitions[index].last = here.last_filled.max(definitions[index].signature.last);
        open.pop();
    }
}

/// Where the signature that opens on `number` ends, and whether a brace opens its body.
fn signature_end(lines: &[&str], number: usize) -> (usize, bool) {
    let mut depth = 0i32;
    let mut conditions = false; // a `where` goes on to the body
    let mut types = 0u32; // how many lists of types are open: `name<`, then `T,`, then `>(…) {`
    let last = lines.len().min(number + LONGEST_SIGNATURE);
    for (at, line) in lines.iter().enumerate().take(last).skip(number) {
        let line = clip(line);
        conditions |= is_where(line) && at > number;
        let mut text_mark = 0u8;
        for (column, byte) in line.bytes().enumerate() {
            if text_mark != 0 {
                if byte == text_mark {
                    text_mark = 0;
                }
                continue;
            }
            match byte {
                b'"' => text_mark = byte,
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b'<' if types > 0 => types += 1,
                b'>' if types > 0 && !line[..column].ends_with(['-', '=']) => types -= 1,
                b'{' if depth <= 0 && types == 0 => return (at, true),
                b';' if depth <= 0 && types == 0 => return (at, false),
                _ => {}
            }
        }
        let trimmed = line.trim_ascii_end();
        if depth <= 0 && types == 0 && trimmed.ends_with('<') {
            types = 1;
        }
        let opens_below = lines.get(at + 1).is_some_and(|next| {
            let next = clip(next).trim_ascii_start();
            next.starts_with('{') || is_where(next) || next.starts_with("throws ") || next.starts_with("->")
        });
        if depth <= 0
            && types == 0
            && !conditions
            && (trimmed.ends_with(':') || !opens_below)
            && !trimmed.ends_with([',', '\\'])
        {
            return (at, false);
        }
    }
    (number, false)
}

/// Whether the line begins a `where` clause, and not a call of that name.
fn is_where(line: &str) -> bool {
    line.trim_ascii_start().strip_prefix("where").is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Whether the expression continues below the line: `if let Some(name) =`.
fn goes_on(line: &str) -> bool {
    let line = line.trim_ascii_end();
    ["=", "&&", "||", "+", " in"].iter().any(|sign| line.ends_with(sign))
        && !is_comment_line(line.trim_ascii_start())
}

/// Whether the whole definition is on one line: `fn f() {}`, `struct S;`.
fn is_whole(line: &str, alone: bool) -> bool {
    let trimmed = line.trim_ascii_end();
    alone && (trimmed.ends_with('}') || trimmed.ends_with(';'))
}

/// The line above with only the return type of a C function: `static int`, then `name(…)`, then the brace.
fn type_above(lines: &[&str], number: usize, signature_last: usize, name: usize) -> Option<usize> {
    let above = number.checked_sub(1)?;
    let only_words = |line: &str| {
        line.starts_with(|c: char| c.is_ascii_alphabetic())
            && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ' | b'*'))
    };
    (name == 0 && clip(lines[signature_last]) == "{" && only_words(clip(lines[above]))).then_some(above)
}

/// The first line of the comments, attributes and decorators right above.
pub(crate) fn lead(lines: &[&str], number: usize, width: usize) -> usize {
    let mut first = number;
    while first > 0 && number - first < 60 {
        let above = clip(lines[first - 1]);
        let trimmed = above.trim_ascii();
        let block_comment = trimmed.starts_with('*') || trimmed.starts_with("*/");
        let belongs = is_attribute_line(trimmed)
            || (is_comment_line(trimmed)
                && !trimmed.starts_with("#include")
                && !trimmed.starts_with("\"\"\""));
        if !belongs || (line_indent(above) != width && !block_comment) {
            break;
        }
        first -= 1;
    }
    first
}

/// The line that closes the brackets of an import. Its own line if they stay open or another import comes first, so that
/// many unclosed imports do not take quadratic time.
pub(crate) fn import_end(lines: &[&str], number: usize, width: usize) -> usize {
    let mut depth = 0i32;
    for (at, line) in lines.iter().enumerate().skip(number).take(LONGEST_IMPORT) {
        let line = clip(line);
        if at > number && line_indent(line) <= width && is_import(line.trim_ascii()) {
            return number;
        }
        for byte in line.bytes() {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                _ => {}
            }
        }
        if depth <= 0 && !line.trim_ascii_end().ends_with('\\') {
            return at;
        }
    }
    number
}

pub(crate) fn clip(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES)]
}
