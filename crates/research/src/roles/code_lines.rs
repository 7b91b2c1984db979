//! Which parts of a file are code: comments, docstrings and quoted words use nothing.

/// The lines of a file that are not inside of a comment or a text over several lines.
pub(super) struct CodeLines {
    prose: Vec<bool>,
    hashes: bool,
}

/// Endings of languages in which `#` opens a comment.
const HASHES: [&str; 10] = ["py", "pyi", "pyx", "rb", "sh", "bash", "zsh", "pl", "r", "ex"];

impl CodeLines {
    pub(super) fn of(lines: &[&str], path: &str) -> CodeLines {
        let file = path.rsplit('/').next().unwrap_or(path);
        let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
        let hashes = ending.is_empty() || HASHES.contains(&ending);
        let mut prose = Vec::with_capacity(lines.len());
        let mut open: Option<&str> = None;
        for line in lines {
            let line = &line[..line.floor_char_boundary(1000)];
            let trimmed = line.trim_start();
            if let Some(mark) = open {
                prose.push(true);
                if line.contains(mark) {
                    open = None;
                }
                continue;
            }
            if hashes {
                let mark = ["\"\"\"", "'''"].into_iter().find(|mark| line.matches(mark).count() % 2 == 1);
                open = mark.filter(|_| !trimmed.starts_with('#'));
                prose.push(trimmed.starts_with('#') || mark.is_some_and(|mark| trimmed.starts_with(mark)));
            } else {
                if let Some(at) = line.rfind("/*")
                    && !line[at..].contains("*/")
                    && !line[..at].contains("//")
                {
                    open = Some("*/");
                }
                prose.push(
                    trimmed.starts_with("//") || trimmed.starts_with("/*") || trimmed.starts_with("* "),
                );
            }
        }
        CodeLines { prose, hashes }
    }

    /// Whether the text at this column is neither in a comment nor in quotes.
    pub(super) fn is_code(&self, lines: &[&str], line: usize, column: usize) -> bool {
        if self.prose.get(line).copied().unwrap_or(true) {
            return false;
        }
        let mut quote = None;
        let mut bytes = lines[line].as_bytes()[..column].iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            match (quote, byte) {
                (Some(_), b'\\') => {
                    bytes.next();
                }
                (Some(mark), _) if byte == mark => quote = None,
                (Some(_), _) => {}
                (None, b'"') => quote = Some(byte),
                // Lifetimes and characters elsewhere.
                (None, b'\'') if self.hashes => quote = Some(byte),
                (None, b'#') if self.hashes => return false,
                (None, b'/') if !self.hashes && bytes.peek() == Some(&b'/') => return false,
                _ => {}
            }
        }
        quote.is_none()
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
        assert_eq!(found.map(|(number, _)| number + 1).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn comments_and_strings_are_not_code() {
        check(
            "a.py",
            "name()\n# name\nx = 'name'\ny = 'it\\'s' + name  # ok\n\"\"\"Doc\nname\n\"\"\"\nname\nz = 1  # name",
            &[1, 4, 8],
        );
        check(
            "a.rs",
            "name();\n// name\nlet a = \"name\"; // x\n/* b\nname */\nfn f<'a>(name: &'a str)\nx // name",
            &[1, 6],
        );
    }
}
