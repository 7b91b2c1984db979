//! Compares heuristic and parsed outlines, per language, on files of cases: JSON lines with a `text`.
//!
//! `agreement SAMPLE FILE…` prints a table and SAMPLE lines of each kind of difference.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]
use std::collections::{BTreeMap, BTreeSet, HashSet};

use tamis_syntax::{Language, Outline, ParseBudget, heuristic_outline, parse_outline};

/// The counts of one language.
#[derive(Default)]
struct Tally {
    texts: usize,
    definitions: Compared,
    imports: Compared,
    /// Of the definitions that both found: same signature, same last line.
    signatures: usize,
    lasts: usize,
}

/// First lines that are in both outlines, and those that are in only one.
#[derive(Default)]
struct Compared {
    both: usize,
    invented: Vec<String>,
    missed: Vec<String>,
}

impl Compared {
    fn add(&mut self, by_lines: &BTreeSet<usize>, by_tree: &BTreeSet<usize>, lines: &[&str]) {
        let shown = |&at: &usize| format!("{:5} {}", at + 1, lines[at]);
        self.both += by_lines.intersection(by_tree).count();
        self.invented.extend(by_lines.difference(by_tree).map(shown));
        self.missed.extend(by_tree.difference(by_lines).map(shown));
    }

    fn row(&self) -> String {
        let characters = |lines: &[String]| lines.iter().map(|line| line.chars().count() - 6).sum::<usize>();
        let part = |lines: &[String]| format!("{:6} ({:7} chars)", lines.len(), characters(lines));
        format!("both {:7} false {} missed {}", self.both, part(&self.invented), part(&self.missed))
    }
}

impl Tally {
    fn add(&mut self, by_lines: &Outline, by_tree: &Outline, lines: &[&str]) {
        let definitions = |outline: &Outline| outline.definitions.iter().map(|d| d.signature.first).collect();
        let imports = |outline: &Outline| outline.imports.iter().map(|span| span.first).collect();
        self.texts += 1;
        self.definitions.add(&definitions(by_lines), &definitions(by_tree), lines);
        self.imports.add(&imports(by_lines), &imports(by_tree), lines);
        let read: BTreeMap<_, _> = by_lines.definitions.iter().map(|d| (d.signature.first, d)).collect();
        for parsed in &by_tree.definitions {
            if let Some(read) = read.get(&parsed.signature.first) {
                self.signatures += usize::from(read.signature == parsed.signature);
                self.lasts += usize::from(read.last == parsed.last);
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let sample: usize = arguments.next().ok_or("usage: agreement SAMPLE FILE…")?.parse()?;
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut seen = HashSet::new();
    for path in arguments {
        for case in std::fs::read_to_string(path)?.lines() {
            let case: serde_json::Value = serde_json::from_str(case)?;
            let text = case["text"].as_str().unwrap_or_default();
            let Some(language) = Language::detect(text).filter(|_| seen.insert(text.to_owned())) else {
                continue;
            };
            let lines = tamis_text::split_lines(text);
            let budget = ParseBudget::for_bytes(text.len());
            if let Some(by_tree) = parse_outline(language, text, &lines, budget, &|| false) {
                let by_lines = heuristic_outline(&lines, &|| false);
                tallies.entry(format!("{language:?}")).or_default().add(&by_lines, &by_tree, &lines);
            }
        }
    }
    for (language, tally) in &tallies {
        println!("{language:10} {:5} texts  definitions {}", tally.texts, tally.definitions.row());
        println!("{:24} imports     {}", "", tally.imports.row());
        println!(
            "{:24} of both, {} agree in the signature, {} in the last line",
            "", tally.signatures, tally.lasts
        );
        for (kind, compared) in [("definition", &tally.definitions), ("import", &tally.imports)] {
            for (mistake, lines) in [("false", &compared.invented), ("missed", &compared.missed)] {
                for line in lines.iter().step_by((lines.len() / sample.max(1)).max(1)).take(sample) {
                    println!("{language} {mistake} {kind} {line}");
                }
            }
        }
    }
    Ok(())
}
