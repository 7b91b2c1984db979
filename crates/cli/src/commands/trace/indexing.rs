//! Bringing the index up to date before a command answers, with a progress bar on stderr.

use std::ops::ControlFlow;

use tamis_trace::{IndexProgress, IndexRefresh, Trace};

use crate::error::CliError;
use crate::print;
use crate::progress::ProgressLine;

const BAR: usize = 24;

/// Brings the index up to date, and warns of folders that could not be read.
pub(crate) fn refresh(trace: &Trace) -> Result<IndexRefresh, CliError> {
    let refreshed = with_bar("indexing", |watch| trace.refresh(watch))?;
    for problem in &refreshed.problems {
        print::note(format_args!("warning: {}", crate::escape::line(problem)));
    }
    Ok(refreshed)
}

/// Does something that reads logs, with a progress bar on a terminal.
pub(crate) fn with_bar<T, E: Into<CliError>>(
    what: &str,
    work: impl FnOnce(&mut dyn FnMut(IndexProgress) -> ControlFlow<()>) -> Result<T, E>,
) -> Result<T, CliError> {
    let mut screen = ProgressLine::new();
    work(&mut |progress| {
        screen.show(|| bar(what, progress));
        ControlFlow::Continue(())
    })
    .map_err(Into::into)
}

/// `[####----]  50 %`
pub(crate) fn gauge(done: u64, of: u64) -> String {
    let share = done.min(of) as f64 / of.max(1) as f64;
    let full = (share * BAR as f64) as usize;
    format!("[{}{}] {:3.0} %", "#".repeat(full), "-".repeat(BAR - full), share * 100.0)
}

fn bar(what: &str, progress: IndexProgress) -> String {
    if progress.total_bytes == 0 {
        return format!("{what} …");
    }
    format!(
        "{what} {}  {} of {}, {}",
        gauge(progress.bytes, progress.total_bytes),
        print::size(progress.bytes),
        print::size(progress.total_bytes),
        print::count(progress.logs, "log"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_says_how_far_it_is() {
        let progress = IndexProgress { logs: 1200, bytes: 3 << 20, total_bytes: 12 << 20 };
        assert_eq!(
            bar("indexing", progress),
            "indexing [######------------------]  25 %  3.0 MiB of 12.0 MiB, 1,200 logs"
        );
        let past = IndexProgress { bytes: 9, total_bytes: 8, logs: 1 };
        assert_eq!(bar("x", past), format!("x [{}] 100 %  9 bytes of 8 bytes, 1 log", "#".repeat(24)));
        assert_eq!(bar("x", IndexProgress::default()), "x …");
    }
}
