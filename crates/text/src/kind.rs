//! The three kinds of text, which are pruned by different rules.

/// What a text is. Decides which lines are protected and how scores are calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextKind {
    Code,
    Logs,
    Docs,
}

impl TextKind {
    pub const ALL: [TextKind; 3] = [TextKind::Code, TextKind::Logs, TextKind::Docs];

    /// The name used in every contract: `code`, `logs` or `docs`.
    pub fn name(self) -> &'static str {
        match self {
            TextKind::Code => "code",
            TextKind::Logs => "logs",
            TextKind::Docs => "docs",
        }
    }

    /// Guesses the kind from the text, for callers that do not name it.
    ///
    /// A few hundred lines, spread over the text, vote. Without any evidence the text is code, whose rules protect the most.
    pub fn detect(text: &str) -> TextKind {
        crate::kind_detection::detect(text)
    }

    /// Guesses the kind of what a call printed. `call` is its command, or the paths that it names. A text that looks like code is a
    /// document if the call names a file of prose or data: instructions for agents are full of tags and examples.
    pub fn detect_for_call(text: &str, call: &str) -> TextKind {
        match TextKind::detect(text) {
            TextKind::Code if names_document(call) => TextKind::Docs,
            kind => kind,
        }
    }
}

/// Endings of files that hold prose, and so no functions.
#[rustfmt::skip]
const PROSE: &[&str] = &[
    "adoc", "asciidoc", "clinerules", "cursorrules", "markdown", "md", "mdc", "mdx", "org", "prompt", "rst", "tex", "txt",
    "windsurfrules",
];
/// The same for data.
#[rustfmt::skip]
const DATA: &[&str] = &[
    "cfg", "conf", "csv", "env", "ftl", "ini", "json", "json5", "jsonc", "jsonl", "ndjson", "plist", "po", "properties",
    "strings", "toml", "tsv", "xml", "yaml", "yml",
];

fn names_document(call: &str) -> bool {
    let words = call.split(|letter: char| letter.is_whitespace() || "'\"`;|&()<>,=".contains(letter));
    words
        .filter_map(|word| word.rsplit_once('.'))
        .map(|(_, ending)| ending.trim_matches(['{', '}', '[', ']']))
        .any(|ending| PROSE.iter().chain(DATA).any(|known| ending.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_names_prose_or_data_prints_no_code() {
        for call in [
            "/p/.claude/skills/dev/workflow.md",
            "AGENTS.MD",
            ".cursorrules",
            "C:\\work\\notes.txt",
            "my plan.mdx",
            "cat .env",
            "sed -n '1,200p' docs/agents/reviewer.xml",
            "nl -ba 'prompts/system.prompt' | head -80",
            "head -50 config.yaml; echo; tail -5 a.rs",
            "Get-Content -Path \"agents.toml\"",
            "jq .scripts package.json",
            "cat agent.{md,rs}",
            "how it ends\ndocs/workflow.md",
        ] {
            assert!(names_document(call), "{call}");
        }
        for call in
            ["", "src/main.rs", "src/md.rs", "make test", "cat Makefile", "cat README", "ls *.mdl", "cat md"]
        {
            assert!(!names_document(call), "{call}");
        }
        let code = "fn main() {\n    let total = 1;\n    println!(\"{total}\");\n}\n";
        let log = "2026-01-01T10:00:00 INFO started\n2026-01-01T10:00:01 WARN slow\n2026-01-01T10:00:02 INFO done\n";
        for (text, call, kind) in [
            (code, "a.rs", TextKind::Code),
            (code, "a.md", TextKind::Docs),
            (log, "cat out.txt", TextKind::Logs),
        ] {
            assert_eq!(TextKind::detect_for_call(text, call), kind, "{call}");
        }
    }
}
