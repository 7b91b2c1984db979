//! Telling code, logs and documents apart from the text alone: its lines vote.

use crate::Kind;
use crate::ansi::ESCAPE;
use crate::build_output::{is_signature, is_tool_line};
use crate::line_numbers::without_line_numbers;

/// See [`Kind::detect`].
pub(crate) fn detect(text: &str) -> Kind {
    // A file with its lines numbered is what the file is.
    let text = without_line_numbers(text);
    let mut votes = Votes::default();
    let mut lines_seen = 0;
    votes.open(&text);
    for part in samples(&text) {
        // What the lines to come are inside of: a fence, a block comment, a docstring. Prose there is no document.
        let mut inside: Option<&str> = None;
        for line in part.lines().take(LINES_PER_SAMPLE) {
            lines_seen += 1;
            let line = clip(line);
            let trimmed = line.trim_start();
            // Written for a terminal, so by a program as it ran.
            if line.contains(ESCAPE) {
                votes.logs += SIGNED;
                continue;
            }
            if let Some(end) = inside {
                if trimmed.contains(end) {
                    inside = None;
                }
                continue;
            }
            inside = BLOCKS.iter().find(|block| opens(trimmed, block)).map(|block| block.1);
            match inside {
                Some("```") => votes.docs += 3,
                Some(_) => votes.code += 3,
                None => votes.read(line),
            }
        }
    }
    votes.winner(lines_seen)
}

/// What opens a block and what closes it.
const BLOCKS: [(&str, &str); 5] =
    [("```", "```"), ("/*", "*/"), ("\"\"\"", "\"\"\""), ("r\"\"\"", "\"\"\""), ("'''", "'''")];

/// Whether the line opens the block and does not close it again.
fn opens(trimmed: &str, (open, close): &(&str, &str)) -> bool {
    trimmed.strip_prefix(open).is_some_and(|rest| !rest.contains(close))
}

const LINES_PER_SAMPLE: usize = 150;
const SAMPLE_BYTES: usize = 16 * 1024;
const LINE_BYTES: usize = 200;

/// Three slices of the text (start, middle, near the end) cut at line starts, or all of it when it is small.
fn samples(text: &str) -> Vec<&str> {
    if text.len() <= 2 * SAMPLE_BYTES {
        return vec![text];
    }
    [0, text.len() / 2, text.len() - SAMPLE_BYTES]
        .into_iter()
        .map(|at| {
            let bytes = text.as_bytes();
            let start = if at == 0 {
                0
            } else {
                let window = &bytes[at..(at + SAMPLE_BYTES).min(bytes.len())];
                window.iter().position(|&b| b == b'\n').map_or(at, |offset| at + offset + 1)
            };
            let mut start = start.min(text.len());
            let mut end = (start + SAMPLE_BYTES).min(text.len());
            while !text.is_char_boundary(start) {
                start += 1;
            }
            while !text.is_char_boundary(end) {
                end += 1;
            }
            &text[start..end.max(start)]
        })
        .collect()
}

fn clip(line: &str) -> &str {
    let mut end = line.len().min(LINE_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

/// Words that open lines of code in one language or another, followed by a space or an opening bracket.
#[rustfmt::skip]
const CODE_WORDS: [&str; 58] = [
    "import", "from", "use", "package", "def", "class", "fn", "func", "function", "pub", "struct",
    "enum", "trait", "impl", "interface", "type", "const", "let", "var", "static", "public", "private",
    "protected", "return", "if", "for", "while", "else", "switch", "match", "case", "export", "async",
    "await", "namespace", "template", "typedef", "void", "int", "char", "bool", "unsigned", "final",
    "abstract", "override", "mod", "extern", "module", "require", "local", "end", "elif", "try",
    "except", "catch", "with", "defer", "assert",
];

#[rustfmt::skip]
const LOG_STARTS: [&str; 34] = [
    "diff --git", "index ", "@@ -", "+++ ", "--- ", "=== RUN", "=== PAUSE", "=== CONT", "PASS", "FAIL",
    "ok  \t", "?   \t", "Exit code", "exit status", "$ ", "total ", "drwx", "-rw", "lrwx", "Compiling ",
    "Finished ", "warning:", "error:", "error[", "WARN", "ERROR", "INFO", "DEBUG", "npm ", "Traceback ",
    "On branch", "commit ", "make: ", "make[",
];

/// What a command's output begins with and nothing else does.
const OUTPUT_OPENINGS: [&str; 9] =
    ["diff --", "Exit code", "@@ -", "--- a/", "On branch ", "commit ", "=== ", "$ ", "Traceback (most"];

/// Votes that settle the matter.
const DECISIVE: u32 = 10_000;
/// Votes of a line that only a tool writes: as many as a screenful of the source that it quotes.
const SIGNED: u32 = 60;

const LEVELS: [&str; 8] = ["INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL", "NOTICE", "CRITICAL"];

#[derive(Default)]
struct Votes {
    code: u32,
    logs: u32,
    docs: u32,
    prose: u32,
    headings: u32,
    hashes: u32,
    after_heading: bool,
}

impl Votes {
    /// The first line of a command's output often says all: a diff, an exit code, a commit.
    fn open(&mut self, text: &str) {
        let first = clip(text.trim_start_matches('\u{feff}').trim_start().lines().next().unwrap_or(""));
        if OUTPUT_OPENINGS.iter().any(|opening| first.starts_with(opening)) || starts_with_hash(first) {
            self.logs += DECISIVE;
        } else if first.starts_with("#!") || first.starts_with("<?") {
            self.code += DECISIVE;
        }
    }

    fn read(&mut self, line: &str) {
        let line = line.trim_end();
        let trimmed = line.trim_start();
        if trimmed.is_empty() {
            self.after_heading = false;
            return;
        }
        if is_signature(trimmed) {
            self.logs += SIGNED;
            return;
        }
        if is_log_line(line, trimmed) || is_tool_line(trimmed) {
            self.logs += 2;
            return;
        }
        if is_heading(line) {
            // Two in a row are a comment, not headings.
            if self.after_heading {
                self.headings = self.headings.saturating_sub(1);
                self.hashes += 2;
            } else {
                self.headings += 1;
            }
            self.after_heading = true;
            return;
        }
        self.after_heading = false;
        if trimmed.starts_with('#') {
            self.hashes += 1;
        }
        let weight = code_weight(trimmed);
        if weight > 0 {
            self.code += weight;
        } else if is_markdown(trimmed) {
            self.docs += 1;
        } else if is_prose(trimmed) {
            self.prose += 1;
        }
    }

    fn winner(&self, lines: usize) -> Kind {
        // `# words` is a heading in Markdown and a comment in Python, shell or YAML: code settles it.
        let mut docs = 2 * self.docs + 2 * self.prose;
        if self.headings > 0 && self.code <= 2 * (self.headings + self.prose + self.docs) {
            docs += 4 * self.headings;
        }
        if self.logs >= docs && self.logs > self.code {
            return Kind::Logs;
        }
        if docs > self.code + self.hashes && docs * 3 > lines as u32 {
            return if self.headings == 0 && self.docs == 0 && self.logs * 2 > docs {
                Kind::Logs
            } else {
                Kind::Docs
            };
        }
        if self.code == 0 && docs == 0 && lines > 3 {
            return Kind::Logs;
        }
        Kind::Code
    }
}

/// `#` to `######`, a space, something.
fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|&b| b == b'#').count();
    (1..=6).contains(&level) && line.as_bytes().get(level) == Some(&b' ') && line.len() > level + 1
}

fn is_log_line(line: &str, trimmed: &str) -> bool {
    if starts_with_address(trimmed)
        || starts_with_count(trimmed)
        || (trimmed.starts_with("{\"") && trimmed.ends_with('}'))
    {
        return true;
    }
    if LOG_STARTS.iter().any(|start| line.starts_with(start)) || starts_with_time(trimmed) {
        return true;
    }
    if trimmed.starts_with("--- ")
        || trimmed.starts_with("=== ")
        || trimmed.starts_with("Compiling ")
        || trimmed.starts_with("at ")
    {
        return true;
    }
    if is_numbered_match(trimmed) {
        return true;
    }
    let head: &str = trimmed.get(..trimmed.len().min(48)).unwrap_or("");
    LEVELS.iter().any(|level| {
        head.find(level).is_some_and(|at| {
            let before = at.checked_sub(1).map(|i| head.as_bytes()[i]);
            let after = head.as_bytes().get(at + level.len()).copied();
            let edge = |b: Option<u8>| b.is_none_or(|b| matches!(b, b' ' | b'[' | b']' | b':' | b'|' | b'='));
            edge(before) && edge(after) && (at > 0 || after.is_some())
        })
    })
}

/// `[0001] `, as programs count their steps.
fn starts_with_count(line: &str) -> bool {
    let Some((count, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) else {
        return false;
    };
    !count.is_empty()
        && count.len() <= 12
        && count.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'/' | b'.' | b' '))
}

/// `10.0.0.1 `, as servers log who asked.
fn starts_with_address(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    word.len() < line.len()
        && word.split('.').count() == 4
        && word
            .split('.')
            .all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}

/// `2024-05-01`, `2024/05/01`, `12:34:56`, `[12:34`, `May  1 12:34:56`.
fn starts_with_time(line: &str) -> bool {
    let bytes = line.as_bytes();
    // Build services put names before the time: look for `2024-05-01T12` a little further on too.
    let dated = |window: &[u8]| {
        window[0] == b'2'
            && window[4] == b'-'
            && window[7] == b'-'
            && window[10] == b'T'
            && window[9].is_ascii_digit()
    };
    if bytes[..bytes.len().min(90)].windows(12).any(dated) {
        return true;
    }
    let bytes = if bytes.first() == Some(&b'[') { &bytes[1..] } else { bytes };
    let shape: Vec<u8> = bytes.iter().take(10).map(|&b| if b.is_ascii_digit() { b'0' } else { b }).collect();
    if matches!(shape.as_slice(), b"0000-00-00" | b"0000/00/00") || shape.starts_with(b"00:00:00") {
        return true;
    }
    const MONTHS: [&[u8]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    MONTHS.iter().any(|month| shape.starts_with(month))
        && matches!(&shape[3..], [b' ', b'0' | b' ', b'0', b' ', ..])
}

/// `06e9376 Words`, as logs of commits have it.
fn starts_with_hash(line: &str) -> bool {
    let digits = line.bytes().take_while(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b)).count();
    (7..=40).contains(&digits)
        && line.as_bytes().get(digits) == Some(&b' ')
        && line.bytes().take(digits).any(|b| b.is_ascii_digit())
}

/// What grep and compilers print: `12:`, `12-`, `path/file.rs:12:`, `file.go-12-`.
fn is_numbered_match(line: &str) -> bool {
    let bytes = line.as_bytes();
    let mut at = 0;
    let limit = bytes.len().min(160);
    if !bytes.first().is_some_and(u8::is_ascii_digit) {
        // A path: no spaces, some dot or slash, then `:` or `-` and digits.
        let mut marked = false;
        loop {
            if at >= limit || bytes[at] == b' ' || bytes[at] == b'(' || bytes[at] == b'"' {
                return false;
            }
            if matches!(bytes[at], b':' | b'-') && marked && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
            {
                at += 1;
                break;
            }
            marked |= matches!(bytes[at], b'.' | b'/');
            at += 1;
        }
    }
    let digits = bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    digits > 0
        && digits < 7
        && matches!(bytes.get(at + digits), Some(b':' | b'-' | b'\t'))
        && bytes.len() < at + digits + 400
}

fn code_weight(trimmed: &str) -> u32 {
    let bytes = trimmed.as_bytes();
    let last = bytes[bytes.len() - 1];
    if trimmed.starts_with("//")
        || trimmed.starts_with("/*")
        || trimmed.starts_with("#include")
        || trimmed.starts_with("#!")
    {
        return 2;
    }
    if trimmed.starts_with("#[")
        || trimmed.starts_with("#define")
        || trimmed.starts_with("#if")
        || trimmed.starts_with('@')
    {
        return 2;
    }
    if matches!(last, b';' | b'{' | b'}') || matches!(trimmed, ")" | ");" | "]" | "]," | "}," | ")," | "end")
    {
        return 2;
    }
    if matches!(last, b'(' | b',') && trimmed.contains(['=', '(', '"']) {
        return 2;
    }
    let word = bytes.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let opens =
        CODE_WORDS.contains(&&trimmed[..word]) && matches!(bytes.get(word), Some(b' ' | b'(' | b'!' | b':'));
    let signs = bytes
        .iter()
        .filter(|b| matches!(b, b'(' | b')' | b'=' | b'{' | b'}' | b'[' | b']' | b';' | b'<' | b'>'))
        .count();
    if opens && (signs > 0 || last == b':') {
        return 2;
    }
    if matches!(&trimmed[..word], "import" | "package" | "use")
        && bytes.iter().filter(|&&b| b == b' ').count() == 1
    {
        return 2;
    }
    if signs >= 2 && !trimmed.contains(". ") && !is_markdown(trimmed) {
        return 1;
    }
    if is_setting(trimmed) {
        return 1;
    }
    u32::from(last == b':' && word > 0 && !trimmed.contains(' '))
        + u32::from(signs == 1 && trimmed.contains(" = "))
}

/// `key: value` or `- item` as in YAML: a key without spaces, a value of few words.
fn is_setting(trimmed: &str) -> bool {
    let item = trimmed.strip_prefix("- ").unwrap_or(trimmed);
    let few = |text: &str| text.split_whitespace().count() <= 3;
    match item.split_once(':') {
        Some((key, value)) => {
            !key.contains([' ', '*', '`', '[']) && (value.is_empty() || value.starts_with(' ')) && few(value)
        }
        None => item.len() < trimmed.len() && !item.contains([' ', '`', '*', '[']),
    }
}

fn is_markdown(trimmed: &str) -> bool {
    let numbered = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    ["- ", "* ", "> ", "+ ", "| ", "|-", "![", "[!", "- ["].iter().any(|start| trimmed.starts_with(start))
        || (numbered > 0 && numbered < 3 && trimmed[numbered..].starts_with(". "))
        || trimmed.contains("](")
        || trimmed.starts_with("**")
}

/// Several words, mostly letters: a sentence rather than output or code.
fn is_prose(trimmed: &str) -> bool {
    let spaces = trimmed.bytes().filter(|&b| b == b' ').count();
    let letters = trimmed.bytes().filter(|b| b.is_ascii_alphabetic() || *b >= 0x80).count();
    spaces >= 4 && letters * 10 >= trimmed.len() * 7 && !trimmed.contains("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart() {
        let go = "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"hi\")\n}\n";
        let python = "# A script\n# that works\nimport os\n\ndef main(path):\n    # read it\n    return os.stat(path)\n";
        let yaml = "# settings\nname: build\non:\n  push:\n    branches: [main]\njobs:\n  test:\n    runs-on: linux\n";
        let markdown = "# Title\n\nSome words about the thing that we made.\n\n## Install\n\n```sh\ncargo install it\n```\n\n- one\n- two\n";
        let prose = "It was a dark and stormy night when the build broke.\nNobody knew why the build had broken so badly.\n";
        let log = "2024-05-01 12:00:00 INFO start\n2024-05-01 12:00:01 ERROR failed to open\n";
        let tests = "=== RUN   TestOne\n--- PASS: TestOne (0.00s)\n=== RUN   TestTwo\n    two_test.go:12: bad\n--- FAIL: TestTwo (0.01s)\nFAIL\n";
        let listing = "     1→use std::fs;\n     2→\n     3→fn main() {\n     4→    run();\n     5→}\n";
        let grep = "src/main.rs:12:fn main() {\nsrc/main.rs-13-    run();\nsrc/lib.rs:1:pub fn run() {}\n";
        let syslog = "May  1 12:00:00 host sshd[12]: accepted\nMay  1 12:00:09 host sshd[12]: closed\n";
        let access = "10.0.0.7 - - [02/Mar/2026:09:00:17] \"GET /a HTTP/1.1\" 200 17\n10.0.0.9 - - [02/Mar/2026:09:00:18] \"GET /b HTTP/1.1\" 502 9\n";
        let coloured = "\u{1b}[32m2026-03-02 09:00:17\u{1b}[0m INFO up\n\u{1b}[31m2026-03-02 09:00:18\u{1b}[0m INFO down\n";
        let quoted = "\u{1b}[1merror\u{1b}[0m: no such name\n\u{1b}[94m 7 |\u{1b}[0m fn main() {\n\u{1b}[94m 8 |\u{1b}[0m     run(a, b);\n    return f(x);\n}\n";
        let objects = "{\"time\":1,\"status\":200}\n{\"time\":2,\"status\":503}\n";
        for (text, kind) in [
            (go, Kind::Code),
            (python, Kind::Code),
            (yaml, Kind::Code),
            (markdown, Kind::Docs),
            (prose, Kind::Docs),
            (log, Kind::Logs),
            (tests, Kind::Logs),
            (listing, Kind::Code),
            (grep, Kind::Logs),
            (syslog, Kind::Logs),
            (access, Kind::Logs),
            (coloured, Kind::Logs),
            (quoted, Kind::Logs),
            (objects, Kind::Logs),
            ("", Kind::Code),
        ] {
            assert_eq!(detect(text), kind, "{text}");
        }
    }

    #[test]
    fn odd_texts_do_not_trip_the_guess() {
        for text in [
            "\u{feff}",
            "\0\0\0",
            "é",
            &"x".repeat(1_000_000),
            &"é\n".repeat(200_000),
            &"日本語".repeat(40_000),
        ] {
            detect(text);
        }
    }
}
