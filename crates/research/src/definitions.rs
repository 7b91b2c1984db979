//! A definition of an outline: its name, its parent, its kind, and its first doc sentence.

use tamis_syntax::{Definition, Outline, is_attribute_line, is_comment_line};

/// Lines and the outline that was made of them.
#[derive(Clone, Copy)]
pub(crate) struct Outlined<'a> {
    pub(crate) lines: &'a [&'a str],
    pub(crate) outline: &'a Outline,
}

/// Keywords of types and modules.
#[rustfmt::skip]
const TYPES: [&str; 15] = [
    "class", "struct", "enum", "trait", "interface", "impl", "module", "mod", "type", "namespace", "record", "union",
    "object", "protocol", "extension",
];

/// Comments that are for a program, not for a reader.
#[rustfmt::skip]
const PRAGMAS: [&str; 14] = [
    "type:", "fmt:", "mypy:",
    "noqa",
    "eslint",
    "go:",
    "nolint",
    "prettier",
    "pylint",
    "rubocop",
    "SPDX",
    "Copyright",
    "TODO",
    "FIXME",
];

impl<'a> Outlined<'a> {
    pub(crate) fn definition(&self, number: usize) -> &'a Definition {
        &self.outline.definitions[number]
    }

    /// Its own name; empty when it has none.
    pub(crate) fn name(&self, number: usize) -> &'a str {
        let definition = self.definition(number);
        let line = self.lines.get(definition.signature.first);
        let name = line.and_then(|line| line.get(definition.name.clone())).unwrap_or("");
        // `impl Name<'a>` and `impl &Name` are about Name.
        name.split('<').next().unwrap_or("").trim_matches(['&', '*', ' '])
    }

    /// The enclosing definition, or the type of a method.
    pub(crate) fn parent(&self, number: usize) -> Option<&'a str> {
        if let Some(receiver) = self.receiver(number) {
            return Some(receiver);
        }
        let own = self.definition(number);
        let outer = (0..number).rev().find(|&at| {
            let outer = self.definition(at);
            outer.depth < own.depth && outer.last >= own.last && outer.signature.first <= own.signature.first
        })?;
        Some(self.name(outer)).filter(|name| !name.is_empty())
    }

    /// `Server` in `func (s *Server) Close()`.
    fn receiver(&self, number: usize) -> Option<&'a str> {
        let line = self.lines.get(self.definition(number).signature.first)?;
        let (receiver, _) = line.strip_prefix("func (")?.split_once(')')?;
        let name = receiver.split(['[', ']']).next()?.rsplit([' ', '*']).next()?;
        (!name.is_empty()).then_some(name)
    }

    pub(crate) fn qualified(&self, number: usize) -> String {
        let name = self.name(number);
        match self.parent(number) {
            Some(parent) if !name.is_empty() => format!("{parent}.{name}"),
            _ => name.to_owned(),
        }
    }

    pub(crate) fn is_type(&self, number: usize) -> bool {
        let definition = self.definition(number);
        let Some(line) = self.lines.get(definition.signature.first) else { return false };
        let before = line.get(..definition.name.start).unwrap_or("");
        before.split(|c: char| !c.is_alphanumeric()).any(|word| TYPES.contains(&word))
    }

    /// The innermost definition around a line, including its lead.
    pub(crate) fn around(&self, line: usize) -> Option<usize> {
        let spans = |definition: &Definition| definition.lead <= line && line <= definition.last;
        let inner = |&at: &usize| (self.definition(at).depth, at);
        (0..self.outline.definitions.len())
            .filter(|&at| spans(self.definition(at)) && !self.name(at).is_empty())
            .max_by_key(inner)
    }

    /// The definition of this name that begins on a line.
    pub(crate) fn at_line(&self, line: usize, name: &str) -> Option<usize> {
        let definitions = self.outline.definitions.iter().enumerate();
        let mut here = definitions.filter(|(_, definition)| definition.signature.first == line);
        here.find(|(at, _)| self.name(*at) == name).map(|(at, _)| at)
    }

    /// The innermost definition, also one without a name, around the declaration of `name` on a line.
    pub(crate) fn enclosing(&self, line: usize, name: &str) -> Option<usize> {
        let spans = |definition: &Definition| definition.signature.first <= line && line <= definition.last;
        let own = self.at_line(line, name);
        (0..self.outline.definitions.len())
            .filter(|&at| Some(at) != own && spans(self.definition(at)))
            .max_by_key(|&at| (self.definition(at).depth, at))
    }

    /// The signature on one line.
    pub(crate) fn signature(&self, number: usize) -> String {
        let span = self.definition(number).signature;
        let lines = self.lines.get(span.first..=span.last).unwrap_or_default();
        let words = lines
            .iter()
            .filter(|line| !is_comment_line(line.trim_start()) || line.trim_start().starts_with('*'));
        let joined =
            words.copied().collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        let open = joined.trim_end_matches(['{', ':']).trim_end();
        open.replace("( ", "(").replace(", )", ")").replace(",)", ")").replace(" )", ")")
    }

    /// The first sentence of its doc comment or docstring; empty when there is none.
    pub(crate) fn first_sentence(&self, number: usize) -> String {
        let definition = self.definition(number);
        let above = self.lines.get(definition.lead..definition.signature.first).unwrap_or_default();
        let below =
            self.lines.get(definition.signature.last + 1..=definition.last.max(definition.signature.last));
        let docstring = below.and_then(docstring);
        docstring.unwrap_or_else(|| comment(above))
    }
}

impl Outlined<'_> {
    /// The first sentence of the comment or docstring that a file begins with.
    pub(crate) fn opening_sentence(&self) -> String {
        let lines = self.lines.strip_prefix(&[""]).unwrap_or(self.lines);
        let comments = lines.iter().take_while(|line| is_comment_line(line.trim())).count();
        docstring(lines).unwrap_or_else(|| comment(&lines[..comments]))
    }

    /// The first sentence of the comment right above a line.
    pub(crate) fn sentence_above(&self, line: usize) -> String {
        let above = self.lines[..line.min(self.lines.len())].iter().rev();
        let count =
            above.take_while(|line| is_comment_line(line.trim()) || is_attribute_line(line.trim())).count();
        comment(&self.lines[line.min(self.lines.len()) - count..line.min(self.lines.len())])
    }
}

fn comment(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        let trimmed = line.trim();
        if is_attribute_line(trimmed) || !is_comment_line(trimmed) || trimmed.starts_with("#!") {
            continue;
        }
        let words = trimmed.trim_start_matches(['/', '*', '#', '!', '-', '<']).trim_end_matches("*/").trim();
        let pragma = PRAGMAS.iter().any(|pragma| words.starts_with(pragma));
        // Rulers, and what has no words.
        if pragma || (!words.is_empty() && !words.contains(char::is_alphabetic)) {
            continue;
        }
        if words.starts_with(['@', '\\']) || (words.is_empty() && !text.is_empty()) {
            break;
        }
        text.push_str(words);
        text.push(' ');
        if ends_sentence(&text) {
            break;
        }
    }
    sentence(&text)
}

fn docstring(body: &[&str]) -> Option<String> {
    let first = body.first()?.trim_start_matches([' ', '\t']);
    let first = first.strip_prefix(['r', 'R', 'u', 'f']).unwrap_or(first);
    let mark = ["\"\"\"", "'''"].into_iter().find(|mark| first.starts_with(mark))?;
    let mut text = String::new();
    for (number, line) in body.iter().enumerate().take(12) {
        let line = if number == 0 { &first[mark.len()..] } else { line.trim() };
        let (words, ended) = line.split_once(mark).map_or((line, false), |(words, _)| (words, true));
        if words.trim().is_empty() && !text.is_empty() {
            break;
        }
        text.push_str(words.trim());
        text.push(' ');
        if ended || ends_sentence(&text) {
            break;
        }
    }
    Some(sentence(&text)).filter(|text| !text.is_empty())
}

fn ends_sentence(text: &str) -> bool {
    let end = text.trim_end();
    end.ends_with(['.', '!', '?']) || text.contains(". ")
}

fn sentence(text: &str) -> String {
    // Sphinx: :class:`Name` is Name.
    let mut plain = String::new();
    for (number, part) in text.trim().split(":`").enumerate() {
        let role = part
            .rfind(':')
            .filter(|at| part[at + 1..].chars().all(char::is_alphanumeric) && at + 1 < part.len());
        if number > 0 {
            plain.push('`');
        }
        plain.push_str(role.map_or(part, |at| &part[..at]));
    }
    let text = plain.trim();
    let mut from = 0;
    while let Some(found) = text[from..].find(". ") {
        let end = from + found;
        let abbreviated = ["e.g", "i.e", "etc", "vs", "cf"].iter().any(|short| text[..end].ends_with(short));
        if !abbreviated {
            return text[..=end].to_owned();
        }
        from = end + 2;
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let lines = tamis_text::split_lines(text);
        let budget = tamis_syntax::ParseBudget::for_bytes(text.len());
        let outline = tamis_syntax::outline(text, &lines, budget, &|| false);
        let outlined = Outlined { lines: &lines, outline: &outline };
        let one = |at| {
            let kind = if outlined.is_type(at) { "type" } else { "code" };
            format!(
                "{kind} {} | {} | {}",
                outlined.qualified(at),
                outlined.signature(at),
                outlined.first_sentence(at)
            )
        };
        (0..outline.definitions.len()).map(one).collect()
    }

    #[test]
    fn definitions_have_kind_name_signature_and_doc() {
        assert_eq!(
            words(
                "use a;\n\n/// Reads it, e.g. from disk. More.\n#[derive(Debug)]\npub struct A {\n    b: C,\n}\n\nimpl A {\n    // ----\n    fn run(\n        &self,\n    ) -> B {\n        let mut x = 1;\n    }\n}\n"
            ),
            [
                "type A | pub struct A | Reads it, e.g. from disk.",
                "type A | impl A | ",
                "code A.run | fn run(&self) -> B | ",
            ]
        );
        assert_eq!(
            words(
                "import os\n\nclass A(B):\n    \"\"\"\n    Holds things\n    together. And more.\n    \"\"\"\n\n    def run(self):\n        r'''Runs.'''\n        self.x = 1\n"
            ),
            ["type A | class A(B) | Holds things together.", "code A.run | def run(self) | Runs."]
        );
        assert_eq!(
            words(
                "package a\n\nimport (\n\t\"fmt\"\n)\n\n// Close ends it.\nfunc (s *Server[T]) Close() error {\n\treturn nil\n}\n"
            ),
            ["code Server.Close | func (s *Server[T]) Close() error | Close ends it."]
        );
    }
}
