//! Ctrl-C while a command works, and while it cleans up after its answer is printed.
//!
//! A process that has caught signals once catches them to its end, so the clean-up needs a way to be interrupted too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tamis_codebase::StopSignal;
use tokio_util::sync::CancellationToken;

use crate::detached_runtime::DetachedRuntime;
use crate::error::{CliError, CliResult};
use crate::signals::{INTERRUPTED, Signals};

/// Catches SIGINT and SIGTERM until dropped. The first cancels the work, the second ends the process.
pub(crate) struct Interrupts {
    token: CancellationToken,
    /// The work is done, so the first signal may end the process.
    may_exit: Arc<AtomicBool>,
    _runtime: DetachedRuntime,
}

impl Interrupts {
    /// Signals are caught once this returns.
    pub(crate) fn install() -> Result<Interrupts, CliError> {
        let runtime = DetachedRuntime::with_worker()?;
        let token = CancellationToken::new();
        let may_exit = Arc::new(AtomicBool::new(false));
        let (cancelled, exits) = (token.clone(), Arc::clone(&may_exit));
        let mut signals = {
            let _within = runtime.enter();
            Signals::install()?
        };
        runtime.spawn(async move {
            signals.next().await;
            cancelled.cancel();
            if !exits.load(Ordering::SeqCst) {
                signals.next().await;
            }
            std::process::exit(INTERRUPTED);
        });
        Ok(Interrupts { token, may_exit, _runtime: runtime })
    }

    /// Cancels work at the first signal.
    pub(crate) fn stop_signal(&self) -> StopSignal {
        StopSignal::on(self.token.clone())
    }

    /// Fails if a signal has arrived.
    pub(crate) fn check(&self) -> CliResult {
        if self.token.is_cancelled() { Err(CliError::interrupted()) } else { Ok(()) }
    }

    /// From here on the first signal ends the process; fails if one has arrived already.
    pub(crate) fn exit_at_once(&self) -> CliResult {
        self.may_exit.store(true, Ordering::SeqCst);
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;

    const CHILD: &str = "TAMIS_TEST_INTERRUPTED_CHILD";

    /// Runs this test as a child process, because a signal is for a whole process.
    #[test]
    fn the_first_signal_ends_a_process_that_only_cleans_up() {
        if std::env::var_os(CHILD).is_some() {
            let interrupts = Interrupts::install().unwrap();
            interrupts.exit_at_once().unwrap();
            eprintln!("waiting");
            std::thread::sleep(Duration::from_secs(120));
            return;
        }
        let name = "interrupts::tests::the_first_signal_ends_a_process_that_only_cleans_up";
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.by_ref().any(|line| line.unwrap() == "waiting"));
        let kill = format!("kill -s INT {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(INTERRUPTED));
    }
}
