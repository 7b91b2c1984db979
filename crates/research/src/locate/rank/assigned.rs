//! Functions of JavaScript and TypeScript that are assigned: `res.location = function (url) {`, `load: async () => {`. The outline,
//! which the engine was trained with, does not have them.

use tamis_syntax::{DeclarationKind, Notation, each_declaration, is_comment_line, line_indent};

/// An assigned function; lines count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AssignedFunction {
    pub(super) name: String,
    /// Where its comment begins.
    pub(super) lead: usize,
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) depth: usize,
}

/// The assigned functions of a file, in the order of lines.
pub(super) fn assigned_functions(
    path: &str,
    lines: &[&str],
    is_due: &dyn Fn() -> bool,
) -> Vec<AssignedFunction> {
    let mut found = Vec::new();
    if Notation::of_path(path) != Notation::Script {
        return found;
    }
    for (first, line) in lines.iter().enumerate() {
        if first % 4096 == 4095 && is_due() {
            break;
        }
        let opens = line.trim_end().ends_with('{');
        if !opens || !(line.contains("function") || line.contains("=>")) || is_comment_line(line.trim_start())
        {
            continue;
        }
        let mut name = None;
        each_declaration(line, &[], Notation::Script, &mut |range, kind| {
            if matches!(kind, DeclarationKind::Definition | DeclarationKind::Value) && name.is_none() {
                name = line.get(range).map(str::to_owned);
            }
        });
        let Some(name) = name else { continue };
        let indent = line_indent(line);
        let closes = |line: &str| line.trim_start().starts_with('}') && line_indent(line) <= indent;
        let mut inside = lines[first + 1..].iter().take(MAX_LINES);
        let Some(length) = inside.position(|line| closes(line)) else { continue };
        let mut lead = first;
        let is_above = |above: &str| {
            let text = above.trim();
            is_comment_line(text) || text.is_empty()
        };
        while lead > 0 && is_above(lines[lead - 1]) && first - lead < MAX_LEAD {
            lead -= 1;
        }
        // Blank lines above the comment are not part of it; a comment that ends the block before is.
        while lead < first && lines[lead].trim().is_empty() {
            lead += 1;
        }
        found.push(AssignedFunction {
            name,
            lead,
            first,
            last: first + 1 + length,
            depth: usize::from(indent > 0),
        });
    }
    found
}

/// Lines of a comment, and of a function.
const MAX_LEAD: usize = 60;
const MAX_LINES: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assigned_functions_have_their_comments_and_ends() {
        let text = "const a = 1\n\n/**\n * Sets it.\n */\n\nres.set = function set(name) {\n  if (name) {\n    b()\n  }\n}\n\n\
                    module.exports = {\n  // Loads.\n  load: async (name) => {\n    c()\n  },\n}\n\
                    list.map((one) => {\n  d()\n})\nexports.open = () => {\n";
        let lines: Vec<&str> = text.lines().collect();
        let found = assigned_functions("lib/a.js", &lines, &|| false);
        let found: Vec<_> =
            found.iter().map(|one| (one.name.as_str(), one.lead, one.first, one.last, one.depth)).collect();
        assert_eq!(found, [("set", 2, 6, 10, 0), ("load", 13, 14, 16, 1)]);
        assert_eq!(assigned_functions("lib/a.py", &lines, &|| false), []);
    }
}
