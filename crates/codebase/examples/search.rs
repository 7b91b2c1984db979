//! Searches a folder as ripgrep does, to compare the two: `search FOLDER PATTERN` prints `path:line:text`, `files FOLDER` what
//! a walk finds, `scan FOLDER` how many files and bytes are read.
#![allow(clippy::print_stdout, reason = "it is a program")]

use std::io::Write;
use std::path::PathBuf;

use tamis_codebase::{Case, Policy, Roots, Search, SearchMode, StopSignal, files, scan, search};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, folder, rest @ ..] = arguments.as_slice() else {
        return Err("usage: search | count | few | files | scan, FOLDER, [PATTERN]".into());
    };
    let roots = Roots::open(&[PathBuf::from(folder)], Policy::standard())?;
    let stop = StopSignal::never();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    match what.as_str() {
        "files" => {
            for place in files(&roots, &stop)? {
                writeln!(out, "{folder}/{place}")?;
            }
        }
        "scan" => {
            let sums = scan(
                &roots,
                &stop,
                || (0u64, 0u64),
                |sum, _, bytes| {
                    *sum = (sum.0 + 1, sum.1 + bytes.len() as u64);
                },
            )?;
            let (count, bytes) = sums.into_iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            writeln!(out, "{count} files, {bytes} bytes")?;
        }
        _ => {
            let bounds = if what == "few" { 200 } else { usize::MAX };
            let wanted = Search {
                case: Case::Respect,
                most_matches: bounds,
                most_per_file: bounds,
                longest_line: if what == "few" { 400 } else { usize::MAX },
                mode: if what == "count" { SearchMode::Counts } else { SearchMode::Lines },
                ..Search::new(rest.first().ok_or("a pattern is missing")?)
            };
            let found = search(&roots, &wanted, &stop)?;
            for file in &found.files {
                for line in &file.lines {
                    writeln!(out, "{folder}/{}:{}:{}", file.place, line.number, line.text)?;
                }
                if what == "count" {
                    writeln!(out, "{folder}/{}:{}", file.place, file.matching_lines)?;
                }
            }
        }
    }
    Ok(out.flush()?)
}
