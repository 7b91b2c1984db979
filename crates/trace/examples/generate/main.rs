//! Generates agents' session logs of realistic shape.

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
