//! How long it takes to locate something, and what it costs.
//!
//! `cargo run --release -p tamis-research --example locate -- FOLDER "question" [TIMES]`, with `INDEX=FOLDER` in the environment for an index that is kept there.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and may end where it likes"
)]

mod common;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tamis_code_index::{IndexSettings, IndexUse};
use tamis_codebase::StopSignal;
use tamis_research::{ResearchRequest, Role};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().expect("a folder"));
    let question = arguments.next().expect("a question");
    let times: usize = arguments.next().map_or(5, |times| times.parse().unwrap());
    let index = std::env::var_os("INDEX").map(|folder| IndexSettings {
        folder: folder.into(),
        used: IndexUse::Always,
        builds: true,
    });
    let researcher = common::researcher(&folder, index);
    let request = ResearchRequest { question, role: Some(Role::Locator), ..ResearchRequest::default() };
    for _ in 0..times {
        let begun = Instant::now();
        let report = researcher.research(&request, &StopSignal::never(), &|_| {}).unwrap().into_inner();
        let elapsed = begun.elapsed();
        let first = report.finding(Role::Locator).unwrap().references.first().cloned();
        println!(
            "{:.0} ms, {} files, first {:?}",
            elapsed.as_secs_f64() * 1000.0,
            report.run.files_scanned,
            first
        );
        let begun = Instant::now();
        researcher.wait_for_index(Duration::from_secs(600));
        if begun.elapsed().as_millis() > 5 {
            println!("   {:.0} ms for the index", begun.elapsed().as_secs_f64() * 1000.0);
        }
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("VmHWM")) {
        println!("{line}");
    }
}
