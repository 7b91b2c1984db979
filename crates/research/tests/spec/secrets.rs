//! What is shown of lines that have secrets, whichever role shows them.

use serde_json::Value;
use tamis_codebase::StopSignal;
use tamis_research::{ResearchRequest, Role};

use crate::fixture::{Fixture, asking};

/// Where a secret is, the word on its line, and what is shown of the line.
const FILES: &[(&str, &str, &str)] = &[
    ("a.py", "api = \"§\"  # mkqa\n", "api = \"[redacted:github-token]\" # mkqa"),
    ("b.js", "export const apiKey =\n  \"§\"; // mkqb\n", "\"[redacted:github-token]\"; // mkqb"),
    ("c.rs", "pub const API_TOKEN: &str =\n    \"§\"; // mkqc\n", "\"[redacted:github-token]\"; // mkqc"),
    ("d.py", "api_key = (\n    \"§\"  # mkqd\n)\n", "\"[redacted:github-token]\" # mkqd"),
    ("e.java", "String PASSWORD =\n    \"Tr0ub4dor&3\"; // mkqe\n", "\"[redacted:password]\"; // mkqe"),
    ("f.md", "# `§` mkqf\n\ntext\n", "[redacted:github-token]"),
];

#[test]
fn a_line_is_shown_with_the_marks_that_the_whole_file_gives_it() {
    let token = ["ghp", "_", "1234567890abcdefghijklmnopqrstuvwxyz"].concat();
    let fixture = Fixture::new();
    for (path, text, _) in FILES {
        fixture.write(path, &text.replace('§', &token));
    }
    let researcher = fixture.researcher();
    for (path, _, shown) in FILES {
        let word = format!("mkq{}", &path[..1]);
        for role in [None, Some(Role::Locator), Some(Role::Patterns), Some(Role::Analyzer)] {
            let request = ResearchRequest { role, ..asking(&word) };
            let report = researcher.research(&request, &StopSignal::never(), &|_| ()).unwrap();
            let text = serde_json::to_string(&report).unwrap();
            assert!(!text.contains(&token) && !text.contains("Tr0ub4dor"), "{role:?}: {text}");
            assert!(!text.contains(['\u{FFFF}', '\u{FDD0}']), "{role:?}: {text}");
            if role == Some(Role::Locator) {
                let answer: Value = serde_json::from_str(&text).unwrap();
                let finding = answer["locator"]["value"]["key_findings"][0].as_str().unwrap();
                let finding = finding.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(finding.contains(shown), "{path}: {finding}");
            }
        }
    }
}
