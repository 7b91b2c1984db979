//! The fewest lines that show something: the statement that a line is part of.

use tamis_syntax::{defined_name, is_attribute_line, is_comment_line};

use crate::roles::format::dedented;
use crate::roles::name_search::HitKind;

const MAX_LINES: usize = 6;
const MAX_LINE_LENGTH: usize = 120;

/// Where the statement around a line begins, and its lines. None when there is nothing to show.
pub(super) fn snippet(lines: &[&str], line: usize, kind: HitKind) -> Option<(usize, String)> {
    lines.get(line).filter(|line| !line.trim().is_empty())?;
    let mut first = line;
    let mut last = line;
    // A line inside of brackets belongs to the line that opens them.
    for up in 1..MAX_LINES.min(line + 1) {
        let depth: i32 = (line - up..line).map(|at| balance(lines[at])).sum();
        if depth > 0 && opens(lines[line - up]) {
            first = line - up;
            break;
        }
    }
    if kind == HitKind::Decorator || is_attribute_line(lines[first].trim_start()) {
        // What is decorated shows what the decorator is for.
        while last + 1 < lines.len()
            && last - first + 2 < MAX_LINES
            && defined_name(lines[last], &lines[last + 1..]).is_none()
        {
            last += 1;
        }
    }
    let mut depth: i32 = (first..=last).map(|at| balance(lines[at])).sum();
    while depth > 0 && last + 1 < lines.len() && last - first + 1 < MAX_LINES {
        last += 1;
        depth += balance(lines[last]);
    }
    // A body that was opened and not closed again is not what it is about, unless the statement is its brace.
    if depth > 0 && kind != HitKind::Decorator {
        let body = (first..=last).find(|&at| at >= line && lines[at].trim_end().ends_with('{'));
        last = body.unwrap_or(last);
    }
    if kind == HitKind::Extension || kind == HitKind::Definition {
        let shows = |line: &str| {
            let line = line.trim_start();
            !line.is_empty() && !is_comment_line(line) && !line.starts_with("r\"\"\"")
        };
        let most = last + if kind == HitKind::Extension { 2 } else { 1 };
        while last < most
            && last - first + 1 < MAX_LINES
            && lines.get(last + 1).is_some_and(|line| shows(line))
        {
            last += 1;
        }
    }
    while last > first && lines[last].trim().is_empty() {
        last -= 1;
    }
    let code = dedented(&lines[first..=last], MAX_LINE_LENGTH);
    (!code.trim().is_empty()).then_some((first, code))
}

fn opens(line: &str) -> bool {
    let end = line.trim_end();
    end.ends_with(['(', '[', ',', '.']) || end.ends_with("({")
}

/// Brackets that a line opens and does not close. Braces do not count, since they enclose bodies.
fn balance(line: &str) -> i32 {
    let mut depth = 0;
    let mut quote = None;
    let mut bytes = line.bytes().take(1000);
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\\') => {
                bytes.next();
            }
            (Some(mark), _) if mark == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"') => quote = Some(byte),
            (None, b'(' | b'[') => depth += 1,
            (None, b')' | b']') => depth -= 1,
            _ => {}
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, line: usize, kind: HitKind, expected: Option<(usize, &str)>) {
        let lines: Vec<&str> = text.split('\n').collect();
        let found = snippet(&lines, line - 1, kind);
        assert_eq!(found.as_ref().map(|(first, code)| (first + 1, code.as_str())), expected);
    }

    #[test]
    fn a_statement_is_shown_whole_and_nothing_else() {
        check("a()\n    b(1)\nc()", 2, HitKind::Call, Some((2, "b(1)")));
        check(
            "x = f(\n    a,\n    name=b,\n)\ny",
            3,
            HitKind::Mention,
            Some((1, "x = f(\n    a,\n    name=b,\n)")),
        );
        check(
            "  @app.route(\"/\")\n  def index():\n      return 1",
            1,
            HitKind::Decorator,
            Some((1, "@app.route(\"/\")\ndef index():")),
        );
        check(
            "class A(Base):\n    x = 1\n\n    def f(self):",
            1,
            HitKind::Extension,
            Some((1, "class A(Base):\n    x = 1")),
        );
        check("", 1, HitKind::Call, None);
        check("a", 9, HitKind::Call, None);
    }
}
