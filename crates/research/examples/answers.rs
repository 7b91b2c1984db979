//! How often the file that an answer cites is among the first references, and how often a reference to it is near a cited line, on
//! questions about real repositories.
//!
//! `cargo run --release -p tamis-research --example answers -- QUESTIONS.jsonl CHECKOUTS [REPOSITORY…]`
//!
//! Each line of the questions is `{"id": "kind:name:path", "repo": "owner/name", "query": "…", "gold": [line, …]}`, where path and
//! lines are the cited ones; the repository is in `CHECKOUTS/name`. A line counts when its file is among the first 5 or 10; a
//! question counts when any of its files is. With `GREP=1`, `grep` is what plain grep for the question's three rarest words gets. Of
//! the files that have a reference, `near` is the share of those with a reference that begins within 15 lines of a cited line,
//! `reached` of those whose lines come as near, and `cited` the share of all cited lines that are as near to where one begins.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and may end where it likes"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use tamis_codebase::{Policy, Roots, StopSignal, scan};
use tamis_research::{Reference, ResearchRequest, Role};

#[derive(serde::Deserialize)]
struct Row {
    id: String,
    repo: String,
    query: String,
    #[serde(default)]
    gold: Vec<usize>,
}

/// A cited file, and the lines that are cited.
type Cited = (String, Vec<usize>);

/// Lines between a reference and a cited line that it leads to.
const NEAR: usize = 15;

/// Counted for a repository.
#[derive(Clone, Copy, Default)]
struct Score {
    rows: usize,
    questions: usize,
    rows_at: [usize; 2],
    questions_at: [usize; 2],
    grep_at: [usize; 2],
    found: usize,
    near: usize,
    reached: usize,
    lines: usize,
    lines_near: usize,
    tokens: usize,
    most_tokens: usize,
    milliseconds: f64,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let questions = arguments.next().expect("the questions");
    let checkouts = PathBuf::from(arguments.next().expect("the checkouts"));
    let only: BTreeSet<String> = arguments.collect();
    let verbose = std::env::var_os("VERBOSE").is_some();
    let mut repositories: BTreeMap<String, Vec<(String, Vec<Cited>)>> = BTreeMap::new();
    for line in std::fs::read_to_string(questions).unwrap().lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let name = row.repo.rsplit('/').next().unwrap().to_owned();
        let path = row.id.splitn(3, ':').nth(2).unwrap().to_owned();
        let subject = repositories.entry(name).or_default();
        match subject.iter_mut().find(|(query, _)| *query == row.query) {
            Some((_, cited)) => cited.push((path, row.gold)),
            None => subject.push((row.query, vec![(path, row.gold)])),
        }
    }
    let mut all = Score::default();
    for (name, subject) in repositories {
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        let score = measure(&checkouts.join(&name), &subject, verbose);
        describe(&name, &score);
        all = all.and(&score);
    }
    describe("all", &all);
}

fn measure(folder: &Path, subject: &[(String, Vec<Cited>)], verbose: bool) -> Score {
    let roots = Roots::open(&[folder.to_owned()], Policy::standard()).unwrap();
    let whole = std::env::var_os("WHOLE").is_some();
    let with_grep = std::env::var_os("GREP").is_some();
    let researcher = common::researcher(folder, None);
    let mut score = Score::default();
    for (query, cited) in subject {
        let role = (!whole).then_some(Role::Locator);
        let request = ResearchRequest { question: query.clone(), role, ..ResearchRequest::default() };
        let begun = Instant::now();
        let report = researcher.research(&request, &StopSignal::never(), &|_| {}).unwrap().into_inner();
        score.milliseconds += begun.elapsed().as_secs_f64() * 1000.0;
        let tokens = serde_json::to_string(&report).unwrap().len().div_ceil(4);
        score.tokens += tokens;
        score.most_tokens = score.most_tokens.max(tokens);
        let references = match &report.synthesis {
            Some(synthesis) => synthesis.references.clone(),
            None => report.finding(Role::Locator).unwrap().references.clone(),
        };
        let mut found: Vec<String> = Vec::new();
        for reference in &references {
            if !found.iter().any(|path| path == reference.path()) {
                found.push(reference.path().to_owned());
            }
        }
        let by_grep = if with_grep { grep(&roots, query) } else { Vec::new() };
        let at =
            |found: &[String], path: &String| found.iter().position(|one| one == path).unwrap_or(usize::MAX);
        score.rows += cited.len();
        score.questions += 1;
        for (number, limit) in [5, 10].into_iter().enumerate() {
            let hits = cited.iter().filter(|(path, _)| at(&found, path) < limit).count();
            score.rows_at[number] += hits;
            score.questions_at[number] += usize::from(hits > 0);
            score.grep_at[number] += cited.iter().filter(|(path, _)| at(&by_grep, path) < limit).count();
        }
        for (path, gold) in cited.iter().filter(|(path, _)| found.contains(path)) {
            let own = || references.iter().filter(|reference| reference.path() == path);
            let begins_near =
                |line: &usize| own().any(|own| own.split().1.is_some_and(|own| own.abs_diff(*line) <= NEAR));
            let reaches = |line: &usize| {
                let is_in = |own: &Reference| {
                    let lines = own.lines().1;
                    lines.is_some_and(|own| own.start() <= &(line + NEAR) && *line <= own.end() + NEAR)
                };
                own().any(is_in)
            };
            score.found += 1;
            score.near += usize::from(gold.iter().any(begins_near));
            score.reached += usize::from(gold.iter().any(reaches));
            score.lines += gold.len();
            score.lines_near += gold.iter().filter(|line| begins_near(line)).count();
        }
        if verbose {
            println!("{query}");
            for (path, gold) in cited {
                println!(
                    "   cited {path} {gold:?}: {:?}",
                    found.iter().position(|one| one == path).map(|at| at + 1)
                );
            }
            for reference in &references {
                println!("      {reference}");
            }
        }
    }
    score
}

/// The files that have the most of the question's three rarest words, then the most lines with them.
fn grep(roots: &Roots, query: &str) -> Vec<String> {
    let words: BTreeSet<String> = query
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| word.len() > 3)
        .map(str::to_lowercase)
        .collect();
    let words: Vec<String> = words.into_iter().collect();
    let lists =
        scan(roots, &StopSignal::never(), Vec::new, |list: &mut Vec<(String, Vec<usize>)>, place, bytes| {
            let text = String::from_utf8_lossy(bytes).to_lowercase();
            let lines = |word: &String| text.lines().filter(|line| line.contains(word.as_str())).count();
            list.push((place.path, words.iter().map(lines).collect()));
        });
    let mut files: Vec<_> = lists.unwrap().into_iter().flatten().collect();
    files.sort();
    let mut rarity: Vec<(usize, usize)> = (0..words.len())
        .map(|word| (files.iter().filter(|(_, lines)| lines[word] > 0).count(), word))
        .filter(|(files, _)| *files > 0)
        .collect();
    rarity.sort_unstable();
    let rare: Vec<usize> = rarity.into_iter().take(3).map(|(_, word)| word).collect();
    let mut scored: Vec<(usize, usize, String)> = files
        .into_iter()
        .map(|(path, lines)| {
            let has = rare.iter().filter(|&&word| lines[word] > 0).count();
            (has, rare.iter().map(|&word| lines[word]).sum(), path)
        })
        .filter(|(has, _, _)| *has > 0)
        .collect();
    scored.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| a.2.cmp(&b.2)));
    scored.into_iter().take(10).map(|(_, _, path)| path).collect()
}

impl Score {
    fn and(mut self, other: &Score) -> Score {
        self.rows += other.rows;
        self.questions += other.questions;
        for at in 0..2 {
            self.rows_at[at] += other.rows_at[at];
            self.questions_at[at] += other.questions_at[at];
            self.grep_at[at] += other.grep_at[at];
        }
        self.found += other.found;
        self.near += other.near;
        self.reached += other.reached;
        self.lines += other.lines;
        self.lines_near += other.lines_near;
        self.tokens += other.tokens;
        self.most_tokens = self.most_tokens.max(other.most_tokens);
        self.milliseconds += other.milliseconds;
        self
    }
}

fn describe(name: &str, score: &Score) {
    let share = |hits: usize, of: usize| 100.0 * hits as f64 / of.max(1) as f64;
    println!(
        "{name:14} rows {:4}: {:3.0} % @5 {:3.0} % @10 | questions {:4}: {:3.0} % @5 {:3.0} % @10 | grep rows {:3.0} % {:3.0} % | found {:3}: near {:3.0} % reached {:3.0} % cited {:3.0} % | tokens mean {} most {} | {:.0} ms each",
        score.rows,
        share(score.rows_at[0], score.rows),
        share(score.rows_at[1], score.rows),
        score.questions,
        share(score.questions_at[0], score.questions),
        share(score.questions_at[1], score.questions),
        share(score.grep_at[0], score.rows),
        share(score.grep_at[1], score.rows),
        score.found,
        share(score.near, score.found),
        share(score.reached, score.found),
        share(score.lines_near, score.lines),
        score.tokens / score.questions.max(1),
        score.most_tokens,
        score.milliseconds / score.questions.max(1) as f64,
    );
}
