//! What kind of text a tool result is, as the report's parts name it.

use tamis_logs::tool_kinds::ToolKind;
use tamis_text::TextKind;

/// Lines that are looked at.
const SAMPLE_LINES: usize = 200;

/// A part of the savings. Cuts of runs that were already shown are one of their own, whatever the result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SavingsPartKind {
    AlreadyShown,
    Code,
    SearchResults,
    Diffs,
    Logs,
    Other,
}

impl SavingsPartKind {
    /// Its name in JSON.
    pub(super) fn name(self) -> &'static str {
        match self {
            SavingsPartKind::AlreadyShown => "already_shown",
            SavingsPartKind::Code => "code",
            SavingsPartKind::SearchResults => "search_results",
            SavingsPartKind::Diffs => "diffs",
            SavingsPartKind::Logs => "logs",
            SavingsPartKind::Other => "other",
        }
    }

    pub(super) fn of_result(tool_kind: ToolKind, text: &str) -> SavingsPartKind {
        if tool_kind == ToolKind::Search {
            return SavingsPartKind::SearchResults;
        }
        let mut lines = text.split('\n').filter(|line| !line.trim().is_empty());
        let sample: Vec<&str> = lines.by_ref().take(SAMPLE_LINES).collect();
        let has = |start: &str| sample.iter().any(|line| line.starts_with(start));
        if has("diff --git ") || has("--- ") && has("+++ ") && has("@@ ") {
            return SavingsPartKind::Diffs;
        }
        let found = sample.iter().filter(|line| is_match(line)).count();
        if tool_kind != ToolKind::Read && found > 0 && found * 2 >= sample.len() {
            return SavingsPartKind::SearchResults;
        }
        match TextKind::detect(text) {
            TextKind::Code => SavingsPartKind::Code,
            TextKind::Logs => SavingsPartKind::Logs,
            TextKind::Docs => SavingsPartKind::Other,
        }
    }
}

/// Whether a line is one of a search's results: `path:12:text`, or `path-12-text` around it.
fn is_match(line: &str) -> bool {
    [':', '-'].iter().any(|sign| {
        line.match_indices(*sign).any(|(at, _)| {
            let rest = &line[at + 1..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let path = &line[..at];
            digits > 0
                && rest[digits..].starts_with(*sign)
                && !path.contains(char::is_whitespace)
                && path.contains(['.', '/'])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_of_the_kind_that_their_lines_show() {
        let code = "fn main() {\n    let total = 1;\n    println!(\"{total}\");\n}\n";
        let log = "2026-01-01T10:00:00 INFO started\n2026-01-01T10:00:01 WARN slow\n2026-01-01T10:00:02 INFO done\n";
        for (tool_kind, text, kind) in [
            (ToolKind::Read, code, SavingsPartKind::Code),
            (ToolKind::Run, code, SavingsPartKind::Code),
            (ToolKind::Run, log, SavingsPartKind::Logs),
            (ToolKind::Search, "src/a.rs\nsrc/b.rs\n", SavingsPartKind::SearchResults),
            (ToolKind::Run, "src/a.rs:12:fn a() {\nsrc/a.rs-13-    b();\n", SavingsPartKind::SearchResults),
            (
                ToolKind::Run,
                "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
                SavingsPartKind::Diffs,
            ),
            (
                ToolKind::Read,
                "# Title\n\nA text in plain words.\n\n## More\n\nOf it.\n",
                SavingsPartKind::Other,
            ),
        ] {
            assert_eq!(SavingsPartKind::of_result(tool_kind, text), kind, "{text}");
        }
    }
}
