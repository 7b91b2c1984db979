//! Generates agents' session logs of realistic shape, for benchmarks and fault tests:
//!
//! ```sh
//! cargo run --release -p tamis-logs --example generate -- OUT_DIR --megabytes 1024 --seed 1
//! ```
//!
//! `OUT_DIR` becomes a home folder with `.claude`, `.codex` and `.gemini` as the clients would have them: 70, 27 and 3
//! percent of the bytes. The same options give the same bytes. `needles.jsonl` lists phrases that occur nowhere else, one
//! line for each place that has one: 40 of them, from one place to one for every megabyte, of five forms (`phrase`, `word`,
//! `substring` of an identifier, `quoted`, `foreign` with letters that are not ASCII). They are to be found with case
//! ignored; `line` is the first record that has the phrase, copies in forks are listed too.
//!
//! What was measured in public logs of real sessions (two of Claude Code with 0.8 and 0.9 MB, smaller ones of all three),
//! and what comes out here with 256 MB:
//!
//! | | real | generated |
//! | --- | --- | --- |
//! | Claude Code, bytes in a line, at 10/50/90/99 % | 670–830, 960–1640, 2.9–20 K, 11–40 K | 785, 1220, 10 K, 38 K |
//! | … longest line | 54–63 K | 60 K of text, images of 400 K |
//! | … bytes in tool results, calls, messages | 52–77, 20–34, 1–11 % | 73, 17, 6 % |
//! | … records with one request's usage: 1, 2, 3, more | 48, 50, 1, 1 % and 82, 18, 0, 0 % | 44, 40, 13, 3 % |
//! | … distinct words in 0.8 MB | 4,000–5,600 | 5,100–6,800 |
//! | … distinct letter triples in 256 KiB, case ignored | 7,000–12,200 | 14,400 (version 1), 17,500 (2, with signatures) |
//! | … bytes that are not ASCII | 1.0 % | 0.8 % |
//! | Codex, distinct triples in the first 27 KB | 8,500 | 8,000–11,000 |
//! | … `token_count` repeated | 6 of 13 in a short one; a fifth is reported of long ones | 20 % |
//!
//! Chosen, for want of large public collections: sessions of 0.1 to 30 MB (log-normal, median 0.9 MB, sigma 1.2; fewer
//! bytes where the whole is small), 40 projects of which a few get most of the work, a year of time, a third of the larger
//! Claude sessions with one to five subagents, forks of 6 % of the sessions with the first turns of their parent, images
//! for 1 % of the bytes, thinking and attachments in newer versions only. Words follow Zipf's law over 32,768 words and
//! identifiers, of which each project has its own thousand at hand; files are read again as they were, and edited.
//!
//! Deliberately missing: the parent's own call of a subagent, inline sidechains, archived and compressed logs, OpenCode, and
//! anything broken; a test breaks a log itself.

#![allow(clippy::print_stderr, reason = "an example's answer")]

mod generator;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use generator::Options;

const USAGE: &str = "usage: generate OUT_DIR [--megabytes 1024] [--seed 1] [--needles 40]";

fn main() -> ExitCode {
    let Some((home, options)) = arguments(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let begun = Instant::now();
    match generator::generate(&home, &options) {
        Ok(summary) => {
            let mut total = 0;
            for (name, share) in &summary.shares {
                eprintln!("{name:12} {:6} files {:9.1} MB", share.files, share.bytes as f64 / 1e6);
                total += share.bytes;
            }
            let seconds = begun.elapsed().as_secs_f64();
            let rate = total as f64 / 1e6 / seconds;
            eprintln!("{} places of needles; {seconds:.1} s, {rate:.0} MB/s", summary.places);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: cannot write {}: {error}", home.display());
            ExitCode::FAILURE
        }
    }
}

fn arguments(mut given: impl Iterator<Item = String>) -> Option<(PathBuf, Options)> {
    let mut home = None;
    let mut options = Options { bytes: 1024 << 20, seed: 1, needles: 40 };
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--megabytes" => options.bytes = given.next()?.parse::<u64>().ok()?.checked_mul(1 << 20)?,
            "--seed" => options.seed = given.next()?.parse().ok()?,
            "--needles" => options.needles = given.next()?.parse().ok()?,
            flag if flag.starts_with('-') || home.is_some() => return None,
            folder => home = Some(PathBuf::from(folder)),
        }
    }
    Some((home?, options))
}
