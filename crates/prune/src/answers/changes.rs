//! Diffs: for a question about the change, every changed line is an answer. A question about one file of it selects that file.

use super::{Listing, Verdict};
use crate::records::{RecordForm, RecordRole};

/// Files that a program writes. If more than this many of their lines changed, the changes go unless the goal is about them.
const SYNONYMS_LINES: usize = 400;

pub(super) fn decide(listing: &Listing<'_>, verdicts: &mut [Verdict]) {
    let records = listing.records();
    let is_diff = |number: usize| records[number].form == RecordForm::Diff;
    let numbers: Vec<usize> = (0..records.len()).filter(|&number| is_diff(number)).collect();
    if numbers.is_empty() {
        return;
    }
    // The file of each record: the outermost record of the diff above it.
    let mut file = vec![usize::MAX; records.len()];
    for &number in &numbers {
        let above = records[number].parent.filter(|&parent| is_diff(parent));
        file[number] = above.map_or(number, |parent| file[parent]);
    }
    let mut changed = vec![0usize; records.len()];
    for &number in numbers.iter().filter(|&&number| records[number].role == RecordRole::Entry) {
        changed[file[number]] += records[number].last - records[number].first + 1;
    }
    let mut named = vec![false; records.len()];
    for &number in numbers.iter().filter(|&&number| file[number] == number) {
        named[number] = is_named(listing, number);
    }
    let some_named = listing.may_select() && named.contains(&true);
    let is_selected = |number: usize| !some_named || named[file[number]];
    let about_dependencies = ["lock", "dependenc", "depend", "version", "generat", "vendor"]
        .iter()
        .any(|stem| listing.inputs.goal.terms.iter().any(|term| term.stem.starts_with(stem)));
    let mut written = vec![false; records.len()];
    for &number in numbers.iter().filter(|&&number| changed[number] > SYNONYMS_LINES) {
        written[number] = !about_dependencies && !some_named && is_written(listing, number);
    }
    for &number in &numbers {
        let of_file = file[number];
        let is_written = written[of_file];
        verdicts[number] = match records[number].role {
            _ if !is_selected(number) => Verdict::Rest,
            RecordRole::Entry if is_written && of_file != number => Verdict::Rest,
            RecordRole::Entry => Verdict::Answer,
            // A file is listed even if all of its changes go.
            RecordRole::Header if of_file == number => Verdict::Answer,
            _ => Verdict::Open,
        };
    }
}

/// Whether the goal names the file of a diff: by its path, by the end of its path, or by its name.
fn is_named(listing: &Listing<'_>, file: usize) -> bool {
    let record = &listing.records()[file];
    let lines = &listing.inputs.lines[record.first..=record.last];
    let mut paths = lines.iter().flat_map(|line| paths_of(line));
    let names = &listing.want().names;
    paths.any(|path| names.iter().any(|name| matches_path(path, &name.text)))
}

/// The paths that a header line of a file has.
fn paths_of(line: &str) -> Vec<&str> {
    let line = line.trim_end_matches('\r');
    let mut found = Vec::new();
    for start in [
        "diff --git ",
        "diff --cc ",
        "diff --combined ",
        "--- ",
        "+++ ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
        "Index: ",
    ] {
        if let Some(rest) = line.strip_prefix(start) {
            let rest = rest.split('\t').next().unwrap_or_default();
            // `a/x y b/x y`: names with spaces are found in the other header lines.
            for path in rest.split(' ').chain([rest]) {
                let path = path.trim_matches('"');
                found.push(path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path));
            }
        }
    }
    found
}

fn matches_path(path: &str, name: &str) -> bool {
    let name = name.trim_start_matches("./");
    let of_folder = name.contains('/')
        && path.starts_with(name.trim_end_matches('/'))
        && path[name.trim_end_matches('/').len()..].starts_with('/');
    let pattern = name.strip_prefix('*').is_some_and(|end| end.len() > 1 && path.ends_with(end));
    of_folder
        || pattern
        || path == name
        || path.strip_suffix(name).is_some_and(|before| before.ends_with('/') && !name.is_empty())
}

/// Whether a program writes the file: lock files, minified and generated source.
fn is_written(listing: &Listing<'_>, file: usize) -> bool {
    const NAMES: [&str; 14] = [
        "Cargo.lock",
        "package-lock.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "poetry.lock",
        "uv.lock",
        "go.sum",
        "composer.lock",
        "Gemfile.lock",
        "Pipfile.lock",
        "bun.lock",
        "npm-shrinkwrap.json",
        "flake.lock",
        "mix.lock",
    ];
    const ENDS: [&str; 10] = [
        ".min.js",
        ".min.css",
        ".map",
        ".pb.go",
        "_pb2.py",
        ".snap",
        ".generated.ts",
        ".g.dart",
        ".bundle.js",
        "_generated.go",
    ];
    let record = &listing.records()[file];
    let lines = &listing.inputs.lines[record.first..=record.last];
    lines.iter().flat_map(|line| paths_of(line)).any(|path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        NAMES.contains(&name) || ENDS.iter().any(|end| name.ends_with(end))
    })
}
