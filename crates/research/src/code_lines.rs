//! Which parts of a file are code: comments, docstrings and quoted words declare nothing and use nothing.

use tamis_syntax::Notation;

/// What is open where each line of a file begins.
pub(crate) struct CodeLines {
    starts: Vec<Start>,
    lexis: Lexis,
}

/// What is open where a line begins.
#[derive(Clone, Default)]
struct Start {
    /// Comments and texts, the innermost last. Mostly empty.
    open: Vec<Frame>,
    /// The innermost open bracket of the code, and its line.
    bracket: Option<(u8, usize)>,
}

/// How comments and texts are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lexis {
    /// `#` opens a comment, and three quotes a text over several lines.
    Hash,
    Rust,
    Go,
    Script,
    /// C and C++.
    C,
    /// Java and its relatives.
    Java,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    Comment(u32),
    /// A text that this byte ends, on the same line or on any.
    Text(u8, IsLong),
    /// A text that three of this byte end.
    Triple(u8),
    /// `r##"…"##`
    Raw(usize),
    /// `R"delimiter(…)delimiter"`
    Delimited([u8; 16], usize),
    /// `${…}` in a template, and the braces in it.
    Template(u32),
}

type IsLong = bool;

/// Endings of languages in which `#` opens a comment.
const HASHES: [&str; 10] = ["py", "pyi", "pyx", "rb", "sh", "bash", "zsh", "pl", "r", "ex"];

impl Lexis {
    fn of_path(path: &str) -> Lexis {
        let file = path.rsplit('/').next().unwrap_or(path);
        let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
        match Notation::of_path(path) {
            _ if ending.is_empty() || HASHES.contains(&ending) => Lexis::Hash,
            Notation::Python | Notation::Shell => Lexis::Hash,
            Notation::Rust => Lexis::Rust,
            Notation::Go => Lexis::Go,
            Notation::Script => Lexis::Script,
            Notation::CLike
                if matches!(ending, "java" | "kt" | "kts" | "swift" | "scala" | "groovy" | "cs") =>
            {
                Lexis::Java
            }
            _ => Lexis::C,
        }
    }
}

impl CodeLines {
    pub(crate) fn of(lines: &[&str], path: &str) -> CodeLines {
        let lexis = Lexis::of_path(path);
        // A string literal that never ends is not one: the quote means something else here.
        CodeLines::scanned(lines, lexis, true)
            .or_else(|| CodeLines::scanned(lines, lexis, false))
            .unwrap_or(CodeLines { starts: vec![Start::default(); lines.len()], lexis })
    }

    /// None when a text is open at the end.
    fn scanned(lines: &[&str], lexis: Lexis, long_texts: bool) -> Option<CodeLines> {
        let mut scanner = Scanner { lexis, long_texts, open: Vec::new(), brackets: Vec::new(), line: 0 };
        let mut starts = Vec::with_capacity(lines.len());
        for (number, line) in lines.iter().enumerate() {
            starts.push(Start { open: scanner.open.clone(), bracket: scanner.brackets.last().copied() });
            scanner.line = number;
            scanner.scan(line.as_bytes(), line.len());
            scanner.end_line(line);
        }
        let is_text = |frame: &Frame| !matches!(frame, Frame::Comment(_));
        (!scanner.open.iter().any(is_text)).then_some(CodeLines { starts, lexis })
    }

    /// Whether the text at this column is neither in a comment nor in quotes.
    pub(crate) fn is_code(&self, lines: &[&str], line: usize, column: usize) -> bool {
        let Some(start) = self.starts.get(line) else { return false };
        let open = start.open.clone();
        let mut scanner = Scanner { lexis: self.lexis, long_texts: true, open, brackets: Vec::new(), line };
        scanner.scan(lines[line].as_bytes(), column)
    }

    /// The innermost bracket that is open where a line begins, and its line.
    pub(crate) fn bracket(&self, line: usize) -> Option<(u8, usize)> {
        self.starts.get(line)?.bracket
    }
}

struct Scanner {
    lexis: Lexis,
    /// Whether texts may go on over lines.
    long_texts: bool,
    open: Vec<Frame>,
    brackets: Vec<(u8, usize)>,
    line: usize,
}

impl Scanner {
    /// Reads a line up to `until`, and returns whether that is code.
    fn scan(&mut self, line: &[u8], until: usize) -> bool {
        let mut at = 0;
        while at < until {
            let rest = &line[at..];
            at += match self.open.last().copied() {
                None | Some(Frame::Template(_)) => match self.code(line, at) {
                    Some(length) => length,
                    // The rest is a comment.
                    None => return false,
                },
                Some(frame) => self.inside(frame, rest),
            };
        }
        // A quote of three may end after the place.
        at == until && matches!(self.open.last(), None | Some(Frame::Template(_)))
    }

    fn end_line(&mut self, line: &str) {
        if let Some(Frame::Text(_, false)) = self.open.last()
            && !line.trim_end().ends_with('\\')
        {
            self.open.pop();
        }
    }

    /// The bytes to go on by, inside of a comment or a text.
    fn inside(&mut self, frame: Frame, rest: &[u8]) -> usize {
        let ended = match frame {
            Frame::Comment(depth) => {
                if self.lexis == Lexis::Rust && rest.starts_with(b"/*") {
                    self.replace(Frame::Comment(depth + 1));
                    return 2;
                }
                if !rest.starts_with(b"*/") {
                    return 1;
                }
                if depth > 1 {
                    self.replace(Frame::Comment(depth - 1));
                    return 2;
                }
                2
            }
            Frame::Text(b'`', _) if self.lexis == Lexis::Go => usize::from(rest[0] == b'`'),
            Frame::Text(..) | Frame::Triple(_) if rest[0] == b'\\' => return 2,
            Frame::Text(b'`', _) if rest.starts_with(b"${") => {
                self.open.push(Frame::Template(0));
                return 2;
            }
            Frame::Text(mark, _) => usize::from(rest[0] == mark),
            Frame::Triple(mark) => {
                if rest.starts_with(&[mark; 3]) {
                    3
                } else {
                    0
                }
            }
            Frame::Raw(hashes) => {
                let is_end =
                    rest[0] == b'"' && rest[1..].iter().take_while(|b| **b == b'#').count() >= hashes;
                if is_end { 1 + hashes } else { 0 }
            }
            Frame::Delimited(delimiter, length) => {
                let is_end = rest.strip_prefix(b")").and_then(|rest| rest.strip_prefix(&delimiter[..length]));
                if is_end.is_some_and(|rest| rest.starts_with(b"\"")) { length + 2 } else { 0 }
            }
            Frame::Template(_) => 0,
        };
        if ended > 0 {
            self.open.pop();
        }
        ended.max(1)
    }

    fn replace(&mut self, frame: Frame) {
        if let Some(last) = self.open.last_mut() {
            *last = frame;
        }
    }

    /// The bytes to go on by, in code; none when the rest of the line is a comment.
    fn code(&mut self, line: &[u8], at: usize) -> Option<usize> {
        let rest = &line[at..];
        let lexis = self.lexis;
        let before = line[..at].iter().rev().find(|byte| !byte.is_ascii_whitespace()).copied();
        let is_in_word = at > 0 && (line[at - 1].is_ascii_alphanumeric() || line[at - 1] == b'_');
        Some(match rest[0] {
            b'#' if lexis == Lexis::Hash => return None,
            b'/' if lexis != Lexis::Hash && rest.starts_with(b"//") => return None,
            b'/' if lexis != Lexis::Hash && rest.starts_with(b"/*") => {
                self.open.push(Frame::Comment(1));
                2
            }
            b'/' if lexis == Lexis::Script && before.is_none_or(|byte| b"(,=:[!&|?{};+".contains(&byte)) => {
                pattern_length(rest)
            }
            mark @ (b'"' | b'\'') if self.has_triple(mark) && rest.starts_with(&[mark; 3]) => {
                self.open.push(Frame::Triple(mark));
                3
            }
            b'r' if lexis == Lexis::Rust && (!is_in_word || line[at - 1] == b'b') && self.long_texts => {
                let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
                if rest.get(1 + hashes) != Some(&b'"') {
                    return Some(1);
                }
                self.open.push(Frame::Raw(hashes));
                2 + hashes
            }
            b'R' if lexis == Lexis::C && rest.starts_with(b"R\"") && self.long_texts => {
                let Some(length) = rest[2..].iter().take(17).position(|byte| *byte == b'(') else {
                    return Some(1);
                };
                let mut delimiter = [0; 16];
                delimiter[..length].copy_from_slice(&rest[2..2 + length]);
                self.open.push(Frame::Delimited(delimiter, length));
                3 + length
            }
            b'"' => {
                self.open.push(Frame::Text(b'"', lexis == Lexis::Rust && self.long_texts));
                1
            }
            b'`' if matches!(lexis, Lexis::Go | Lexis::Script) => {
                self.open.push(Frame::Text(b'`', self.long_texts));
                1
            }
            b'\'' if lexis == Lexis::Rust => character_length(rest),
            // `1'000`, `it's`
            b'\'' if !is_in_word || lexis == Lexis::Hash || lexis == Lexis::Script => {
                self.open.push(Frame::Text(b'\'', false));
                1
            }
            open @ (b'(' | b'[' | b'{') => {
                self.bracket(open);
                1
            }
            close @ (b')' | b']' | b'}') => {
                self.close_bracket(close);
                1
            }
            _ => 1,
        })
    }

    fn has_triple(&self, mark: u8) -> bool {
        self.long_texts && (self.lexis == Lexis::Hash || (self.lexis == Lexis::Java && mark == b'"'))
    }

    fn bracket(&mut self, open: u8) {
        if let (b'{', Some(Frame::Template(depth))) = (open, self.open.last_mut()) {
            *depth += 1;
        }
        self.brackets.push((open, self.line));
    }

    fn close_bracket(&mut self, close: u8) {
        match self.open.last_mut() {
            Some(Frame::Template(0)) if close == b'}' => {
                self.open.pop();
                return;
            }
            Some(Frame::Template(depth)) if close == b'}' => *depth -= 1,
            _ => {}
        }
        let open = match close {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        // What is left open inside of it was no bracket: `#if` may have a second one.
        if let Some(at) = self.brackets.iter().rposition(|(known, _)| *known == open) {
            self.brackets.truncate(at);
        }
    }
}

/// The length of `/pattern/`; 1 when it does not end on this line.
fn pattern_length(rest: &[u8]) -> usize {
    let (mut at, mut in_class) = (1, false);
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return at + 1,
            _ => {}
        }
        at += 1;
    }
    1
}

/// The length of `'c'`; 1 for a lifetime.
fn character_length(rest: &[u8]) -> usize {
    let from = if rest.get(1) == Some(&b'\\') { 3 } else { 2 };
    let end = rest.iter().skip(from).take(9).position(|byte| *byte == b'\'');
    match end {
        // `'a, 'b` has two lifetimes.
        Some(more) if more == 0 || from == 3 || rest[1] >= 0x80 => from + more + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[usize]) {
        let lines: Vec<&str> = text.split('\n').collect();
        let code = CodeLines::of(&lines, path);
        let found = lines.iter().enumerate().filter(|(number, line)| {
            line.find("name").is_some_and(|column| code.is_code(&lines, *number, column))
        });
        assert_eq!(found.map(|(number, _)| number + 1).collect::<Vec<_>>(), expected, "{path}");
    }

    #[test]
    fn comments_and_strings_are_not_code() {
        check(
            "a.py",
            "name()\n# name\nx = 'name'\ny = 'it\\'s' + name  # ok\n\"\"\"Doc\nname\n\"\"\"\nname\nz = 1  # name\n\"\"\"name\"\"\"\nname",
            &[1, 4, 8, 11],
        );
        check(
            "a.rs",
            "name();\n// name\nlet a = \"name\"; // x\n/* b\nname /* */\nname */\nfn f<'a>(name: &'a str)\nx // name\n\
             let b = \"\nname\n\"; name\nr#\"\n\"name\n\"#\nname('\"', '\\'')\nname",
            &[1, 7, 11, 15, 16],
        );
        check("a.go", "a := `\nname \\\n`\nname()\n'\"'\nname", &[4, 6]);
        check(
            "a.js",
            "a = `\nname ${x({})} name\n${\nname}`\nname\nb = /[`'\"/]/\nname\nc = d / e\nname",
            &[4, 5, 7, 9],
        );
        check("a.cc", "a = R\"x(\nname)\"\nname\n)x\";\nname 1'000\nname\n\"\\\nname\"\nname", &[5, 6, 9]);
        check("A.java", "a = \"\"\"\n  name \"x\"\n  \"\"\";\nname", &[4]);
        // A literal that never ends is not one.
        check("b.js", "it`s\nname\n", &[2]);
    }

    #[test]
    fn the_innermost_bracket_is_known() {
        let lines = ["f(a, {", "b,", "}, c(\")\"", ", d", ")", "e"];
        let code = CodeLines::of(&lines, "a.js");
        let brackets =
            (0..lines.len()).map(|line| code.bracket(line).map(|(open, line)| (open as char, line)));
        let expected = [None, Some(('{', 0)), Some(('{', 0)), Some(('(', 2)), Some(('(', 2)), Some(('(', 0))];
        assert_eq!(brackets.collect::<Vec<_>>(), expected);
    }
}
