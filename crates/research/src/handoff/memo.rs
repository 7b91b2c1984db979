//! A handoff as a memo in Markdown, and back.
//!
//! The headings are those of the contract. A line of free text that would be a heading gets a backslash in front, which
//! Markdown does not show, so that no text can pass for a section. Reading is lenient: people edit memos.

use std::fmt::Write;

use jiff::Timestamp;

use crate::{Handoff, Reference};

const TITLE: &str = "# Research Handoff";
const WRITTEN: &str = "<!-- written ";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Question,
    Summary,
    KeyFindings,
    References,
    Constraints,
    Notes,
}

const SECTIONS: [(Section, &str); 6] = [
    (Section::Question, "Question"),
    (Section::Summary, "Summary"),
    (Section::KeyFindings, "Key Findings"),
    (Section::References, "References"),
    (Section::Constraints, "Constraints / Budgets"),
    (Section::Notes, "Notes"),
];

/// The memo of a [tidy](Handoff::tidy) handoff.
pub(crate) fn render(handoff: &Handoff) -> String {
    let mut memo = format!("{TITLE}\n");
    for (section, heading) in SECTIONS {
        let body = match section {
            Section::Question => free(&handoff.question),
            Section::Summary => free(&handoff.summary),
            Section::KeyFindings => bullets(handoff.key_findings.iter().map(String::as_str)),
            Section::References => bullets(handoff.references.iter().map(Reference::as_str)),
            Section::Constraints => bullets(handoff.constraints.iter().map(String::as_str)),
            Section::Notes => match &handoff.notes {
                Some(notes) => free(notes),
                None => continue,
            },
        };
        let body = if body.is_empty() { "None.\n".to_owned() } else { body };
        let _ = write!(memo, "\n## {heading}\n\n{body}");
    }
    if let Some(written) = handoff.written {
        let _ = write!(memo, "\n{WRITTEN}{written} -->\n");
    }
    memo
}

fn free(text: &str) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        let escape = if is_mark(line) { "\\" } else { "" };
        let _ = writeln!(lines, "{escape}{line}");
    }
    lines
}

/// Whether a line would be taken for something of the memo's own, or for such a line with its backslash.
fn is_mark(line: &str) -> bool {
    let bare = line.trim_start_matches('\\');
    bare.starts_with('#') || bare.starts_with("<!--") || bare == "None."
}

fn bullets<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut lines = String::new();
    for text in texts {
        for (number, line) in text.lines().enumerate() {
            let indent = if number == 0 { "- " } else { "  " };
            let _ = writeln!(lines, "{}", format!("{indent}{line}").trim_end());
        }
    }
    lines
}

/// Reads a memo, if the text is one.
pub(crate) fn parse(memo: &str) -> Option<Handoff> {
    let memo = memo.strip_prefix('\u{feff}').unwrap_or(memo);
    let mut handoff = Handoff::default();
    let mut is_memo = false;
    let mut other: Vec<&str> = Vec::new();
    for (heading, lines) in sections(memo) {
        let known = heading.and_then(|heading| {
            let named = |known: &str| heading.trim().eq_ignore_ascii_case(known);
            SECTIONS.iter().find(|(_, name)| named(name)).map(|(section, _)| *section)
        });
        is_memo |= known.is_some();
        match known {
            Some(Section::Question) => handoff.question = prose(&lines),
            Some(Section::Summary) => handoff.summary = prose(&lines),
            Some(Section::KeyFindings) => handoff.key_findings = items(&lines),
            Some(Section::References) => {
                handoff.references = items(&lines).into_iter().map(Reference::from).collect();
            }
            Some(Section::Constraints) => handoff.constraints = items(&lines),
            Some(Section::Notes) => handoff.notes = Some(prose(&lines)).filter(|notes| !notes.is_empty()),
            // An unknown section is kept with the notes.
            None => {
                let title = heading.into_iter().filter(|heading| !heading.is_empty());
                other.extend(title.chain(lines).filter(|line| line.trim_end() != TITLE));
            }
        }
    }
    handoff.written = memo.lines().rev().find_map(|line| {
        line.strip_prefix(WRITTEN)?.trim_end().strip_suffix("-->")?.trim().parse::<Timestamp>().ok()
    });
    let other = prose(&other);
    if !other.is_empty() {
        let notes = handoff.notes.take().map_or_else(String::new, |notes| notes + "\n\n");
        handoff.notes = Some(notes + &other);
    }
    is_memo.then_some(handoff)
}

/// Headings with their lines; lines before the first have none.
fn sections(memo: &str) -> Vec<(Option<&str>, Vec<&str>)> {
    let mut sections = vec![(None, Vec::new())];
    for line in memo.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push((Some(heading), Vec::new()));
        } else if !line.starts_with(WRITTEN)
            && let Some((_, lines)) = sections.last_mut()
        {
            lines.push(line);
        }
    }
    sections
}

fn prose(lines: &[&str]) -> String {
    let plain = |line: &&str| {
        let line = line.trim_end();
        if line.starts_with('\\') && is_mark(line) { line[1..].to_owned() } else { line.to_owned() }
    };
    let text = lines.iter().map(plain).collect::<Vec<_>>().join("\n");
    // `None.` stands for an empty section; a written one has a backslash.
    let is_empty = lines.iter().all(|line| line.trim().is_empty() || line.trim_end() == "None.");
    if is_empty { String::new() } else { text.trim().to_owned() }
}

fn items(lines: &[&str]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in lines.iter().map(|line| line.trim_end()) {
        let begun = ["- ", "* ", "+ "].iter().find_map(|bullet| line.strip_prefix(bullet));
        match (begun, items.last_mut()) {
            (Some(text), _) => items.push(text.to_owned()),
            (None, Some(item)) => {
                item.push('\n');
                item.push_str(line.strip_prefix("  ").unwrap_or(line));
            }
            (None, None) => {}
        }
    }
    items.into_iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_memo_has_the_headings_of_the_contract() {
        let handoff = Handoff {
            question: "Where is it?\n## Summary".into(),
            summary: "Here. And there.".into(),
            key_findings: vec!["implementation: src/a.rs:10 defines parse\n  let x = 1;".into()],
            references: vec![Reference::new("src/a.rs", Some(10))],
            constraints: vec!["root: /code".into()],
            notes: None,
            written: Some("2026-01-02T03:04:05Z".parse().unwrap()),
        };
        let memo = "# Research Handoff\n\n## Question\n\nWhere is it?\n\\## Summary\n\n## Summary\n\nHere. And there.\n\n\
            ## Key Findings\n\n- implementation: src/a.rs:10 defines parse\n    let x = 1;\n\n## References\n\n- src/a.rs:10\n\n\
            ## Constraints / Budgets\n\n- root: /code\n\n<!-- written 2026-01-02T03:04:05Z -->\n";
        assert_eq!(render(&handoff), memo);
        assert_eq!(parse(memo), Some(handoff));
    }

    #[test]
    fn what_people_make_of_a_memo_is_read_too() {
        let memo = "\u{feff}# Research Handoff\r\n\r\n## question\r\nWhy?\r\n## Key findings\n* one\n* two\n  more\n## References\n\
            - a.rs:1\n## Next\nDo it.\n";
        let handoff = parse(memo).unwrap();
        assert_eq!(
            handoff,
            Handoff {
                question: "Why?".into(),
                key_findings: vec!["one".into(), "two\nmore".into()],
                references: vec![Reference::new("a.rs", Some(1))],
                notes: Some("Next\nDo it.".into()),
                ..Handoff::default()
            }
        );
        assert_eq!(parse("# Shopping\n\n## Milk\n"), None);
        assert_eq!(parse(""), None);
    }

    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just("## Summary".to_owned()),
            Just("\\## Notes".to_owned()),
            Just("<!-- written x -->".to_owned()),
            Just("- bullet".to_owned()),
            Just("  indented".to_owned()),
            Just("None.".to_owned()),
            Just(String::new()),
            "[ -~é]{0,20}",
        ];
        proptest::collection::vec(line, 0..5).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn what_is_written_down_is_read_back(
            question in text(),
            summary in text(),
            key_findings in proptest::collection::vec(text(), 0..4),
            references in proptest::collection::vec("[a-z/.:0-9 -]{1,12}", 0..4),
            constraints in proptest::collection::vec(text(), 0..3),
            notes in proptest::option::of(text()),
            written in proptest::option::of(0i64..4_000_000_000_000),
        ) {
            let handoff = Handoff {
                question,
                summary,
                key_findings,
                references: references.into_iter().map(Reference::from).collect(),
                constraints,
                notes,
                written: written.map(|time| Timestamp::from_millisecond(time).unwrap()),
            }
            .tidy();
            prop_assert_eq!(parse(&render(&handoff)), Some(handoff));
        }

        #[test]
        fn nothing_makes_reading_fail(memo in "(?s).{0,200}", lines in text()) {
            let _ = parse(&memo);
            let _ = parse(&lines);
        }
    }
}
