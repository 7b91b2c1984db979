//! `diagnose analyze|savings FOLDER…`: what the analysis and the replay say of the logs in some folders, as JSON.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for the developer")]

use std::ops::ControlFlow;

use tamis_store::DataDir;
use tamis_trace::{AnalysisOptions, Places, SavingsOptions, SessionFilter, Trace};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let trace = Trace::new(Places::only(arguments.map(Into::into).collect()), DataDir::at(folder.path()));
    trace.refresh(&mut |_| ControlFlow::Continue(())).unwrap();
    let started = std::time::Instant::now();
    if what == "savings" {
        let options = SavingsOptions { limit: 100_000, ..SavingsOptions::default() };
        let savings = trace.savings(&options, &mut |_| ControlFlow::Continue(())).unwrap();
        println!("{}", serde_json::to_string_pretty(&savings).unwrap());
    } else {
        let options = AnalysisOptions { loops: true, ..AnalysisOptions::default() };
        for session in trace.sessions(&SessionFilter::default(), None, 100_000).unwrap() {
            let analysis = trace.analyze(&session, &options).unwrap();
            println!("{} {:?} {}", session.id, session.provider, serde_json::to_string(&analysis).unwrap());
        }
    }
    println!("in {:?}", started.elapsed());
}
