//! Detects whether a text is code, a log or a document: its lines vote.

mod line_patterns;

use std::collections::HashMap;

use self::line_patterns::{
    code_weight, is_heading, is_log_line, is_markdown, is_prose, starts_with_hash, template,
};
use crate::TextKind;
use crate::ansi::ESCAPE;
use crate::build_output::{is_signature, is_tool_line};
use crate::line_numbers::strip_line_numbers;

/// See [`TextKind::detect`].
pub(crate) fn detect(text: &str) -> TextKind {
    // Line numbers say nothing about the kind of the file.
    let text = strip_line_numbers(text);
    let mut votes = Votes::default();
    let mut lines_seen = 0;
    votes.open(&text);
    for part in samples(&text) {
        // The open fence, block comment or docstring, if any: prose inside it does not make the text a document.
        let mut inside: Option<&str> = None;
        for line in part.lines().take(LINES_PER_SAMPLE) {
            lines_seen += 1;
            let line = clip(line);
            let trimmed = line.trim_start();
            // Escape sequences are written by running programs.
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

/// The opening and closing delimiters of a block.
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
    &line[..line.floor_char_boundary(LINE_BYTES)]
}

/// How only the output of a command begins.
const OUTPUT_OPENINGS: [&str; 9] =
    ["diff --", "Exit code", "@@ -", "--- a/", "On branch ", "commit ", "=== ", "$ ", "Traceback (most"];

/// Enough votes to decide on their own.
const DECISIVE: u32 = 10_000;
/// Fewer lines that differ only in numbers may be alike by chance.
const REPEATED: u32 = 4;
/// Votes of a line that only a tool writes: as many as a screen of quoted source has.
const SIGNED: u32 = 60;

#[derive(Default)]
struct Votes {
    code: u32,
    logs: u32,
    docs: u32,
    prose: u32,
    headings: u32,
    hashes: u32,
    after_heading: bool,
    /// How many lines have the same words and other numbers.
    templates: HashMap<u64, u32>,
}

impl Votes {
    /// The first line alone often decides: a diff, an exit code, a commit, a shebang.
    fn open(&mut self, text: &str) {
        let first = clip(text.trim_start_matches('\u{feff}').trim_start().lines().next().unwrap_or(""));
        // A title such as `=== name ===` stands before a part of any kind.
        let is_title = first.starts_with("===") && first.trim_end().ends_with("===");
        let is_output = OUTPUT_OPENINGS.iter().any(|opening| first.starts_with(opening));
        if is_output && !is_title || starts_with_hash(first) {
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
            // Two in a row are comments, not headings.
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
        if weight == 0
            && let Some(template) = template(trimmed)
        {
            *self.templates.entry(template).or_default() += 1;
        }
        if weight > 0 {
            self.code += weight;
        } else if is_markdown(trimmed) {
            self.docs += 1;
        } else if is_prose(trimmed) {
            self.prose += 1;
        }
    }

    fn winner(&self, lines: usize) -> TextKind {
        // `# words` is a heading in Markdown and a comment in Python, shell or YAML. The votes for code decide.
        let mut docs = 2 * self.docs + 2 * self.prose;
        if self.headings > 0 && self.code <= 2 * (self.headings + self.prose + self.docs) {
            docs += 4 * self.headings;
        }
        if self.logs >= docs && self.logs > self.code {
            return TextKind::Logs;
        }
        if docs > self.code + self.hashes && docs * 3 > lines as u32 {
            return if self.headings == 0 && self.docs == 0 && self.logs * 2 > docs {
                TextKind::Logs
            } else {
                TextKind::Docs
            };
        }
        // Only programs write line after line with other numbers.
        let repeated: u32 = self.templates.values().filter(|&&lines| lines >= REPEATED).sum();
        let is_repetitive = 2 * repeated as usize > lines && 4 * self.code < lines as u32;
        if self.code == 0 && docs == 0 && lines > 3 || is_repetitive {
            return TextKind::Logs;
        }
        TextKind::Code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_detected() {
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
        let titled =
            "=== main.go ===\npackage main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"hi\")\n}\n";
        let objects = "{\"time\":1,\"status\":200}\n{\"time\":2,\"status\":503}\n";
        for (text, kind) in [
            (go, TextKind::Code),
            (python, TextKind::Code),
            (yaml, TextKind::Code),
            (markdown, TextKind::Docs),
            (prose, TextKind::Docs),
            (log, TextKind::Logs),
            (tests, TextKind::Logs),
            (listing, TextKind::Code),
            (grep, TextKind::Logs),
            (syslog, TextKind::Logs),
            (access, TextKind::Logs),
            (coloured, TextKind::Logs),
            (quoted, TextKind::Logs),
            (objects, TextKind::Logs),
            (titled, TextKind::Code),
            ("", TextKind::Code),
        ] {
            assert_eq!(detect(text), kind, "{text}");
        }
    }

    #[test]
    fn repetitive_code_and_data_with_dates_are_no_logs() {
        type Line = fn(usize) -> String;
        let lines: [Line; 7] = [
            |number| format!("    assert add({number}, 2) == {}", number + 2),
            |number| format!("    expect(add {number}, 2).to eq {}", number + 2),
            |number| format!("COLOR_{number} = rgb({number}, 2, 3)"),
            |number| format!("item_{number}:\n  name: x\n  created_at: 2024-01-01 10:00:{:02}", number % 60),
            |number| format!("a{number}: b{number}\n\tmv -f a.tmp a{number}\n\t/bin/sh ./gen a{number}"),
            |number| format!("# 2024-01-01 10:00:00 changed by {number}\nx{number} = f({number})"),
            |number| format!("    let x{number} = compute({number}, 2, 3);"),
        ];
        for line in lines {
            let text: String = (0..40).map(|number| line(number) + "\n").collect();
            assert_ne!(detect(&text), TextKind::Logs, "{text}");
        }
        let rows: String = (0..40).map(|row| format!("    1{row:09}, 1{row:09}, 1{row:09},\n")).collect();
        assert_eq!(detect(&format!("static TABLE: &[u32] = &[\n{rows}];\n")), TextKind::Code);
        let table = "# Releases\n\nEach release, and when it came out, in the order of their dates.\n\n| date | version |\n| --- | --- |\n".to_owned();
        let rows: String =
            (0..20).map(|row| format!("| 2024-01-{:02} 10:00 | 1.0.{row} |\n", row + 1)).collect();
        assert_eq!(detect(&(table + &rows)), TextKind::Docs);
    }

    #[test]
    fn odd_texts_do_not_panic() {
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
