//! How often a symbol's definition is the first reference.
//!
//! `cargo run --release -p tamis-research --example symbols -- SYMBOLS.json CHECKOUTS`
//!
//! The symbols are a list of `{"repo", "lang", "kind", "name", "path", "line"}`, as another program found them; each is defined
//! once in `CHECKOUTS/repo`. `VERBOSE=1` lists the misses.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and may end where it likes"
)]

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;

use tamis_codebase::StopSignal;
use tamis_research::{ResearchRequest, Researcher, Role};

#[derive(serde::Deserialize)]
struct Row {
    repo: String,
    lang: String,
    kind: String,
    name: String,
    path: String,
    line: usize,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rows = std::fs::read_to_string(arguments.next().expect("the symbols")).unwrap();
    let rows: Vec<Row> = serde_json::from_str(&rows).unwrap();
    let checkouts = PathBuf::from(arguments.next().expect("the checkouts"));
    let verbose = std::env::var_os("VERBOSE").is_some();
    let mut researchers: BTreeMap<String, Researcher> = BTreeMap::new();
    // By group: how many there are, and how many each role has first.
    let mut groups: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for row in &rows {
        let researcher = researchers
            .entry(row.repo.clone())
            .or_insert_with(|| common::researcher(&checkouts.join(&row.repo), None));
        let mut counts = [1, 0, 0];
        for (number, role) in [Role::Locator, Role::Analyzer].into_iter().enumerate() {
            let request = ResearchRequest {
                question: row.name.clone(),
                role: Some(role),
                ..ResearchRequest::default()
            };
            let report = researcher.research(&request, &StopSignal::never(), &|_| {}).unwrap().into_inner();
            let finding = report.finding(role).unwrap();
            let first = finding.references.first().map(|reference| reference.split());
            if first == Some((row.path.as_str(), Some(row.line))) {
                counts[number + 1] = 1;
            } else if verbose {
                println!(
                    "{role:?} {} {} {} {}:{} | {:?} | {}",
                    row.lang,
                    row.kind,
                    row.name,
                    row.path,
                    row.line,
                    finding.references.first(),
                    finding.summary
                );
            }
        }
        for group in ["all".to_owned(), row.lang.clone(), format!("kind {}", row.kind)] {
            let known = groups.entry(group).or_default();
            known.iter_mut().zip(counts).for_each(|(known, count)| *known += count);
        }
    }
    for (group, [all, located, analyzed]) in groups {
        let share = |count: usize| 100.0 * count as f64 / all as f64;
        println!("{group:20} {all:4} | locate {:5.1} % | analyze {:5.1} %", share(located), share(analyzed));
    }
}
