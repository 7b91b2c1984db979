//! Ctrl-C while a command works, and while it only tidies up behind an answer that is out already.
//!
//! Once a process listens for signals it does so to its end: whatever comes after the work must be as easy to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tamis_codebase::Halt;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::error::{CliError, CliResult};
use crate::signals;

const INTERRUPTED: i32 = 130;

/// Listens for SIGINT and SIGTERM until it is dropped. The first asks the work to stop, the second ends the process.
pub(crate) struct Interrupts {
    token: CancellationToken,
    /// Nothing is left that would have to stop in good order.
    may_leave: Arc<AtomicBool>,
    runtime: Option<Runtime>,
}

impl Interrupts {
    /// They are noticed once this returns.
    pub(crate) fn noticed() -> Result<Interrupts, CliError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(CliError::internal)?;
        let token = CancellationToken::new();
        let may_leave = Arc::new(AtomicBool::new(false));
        let (asked, leaves) = (token.clone(), Arc::clone(&may_leave));
        #[cfg(unix)]
        let mut signals = {
            let _within = runtime.enter();
            signals::Signals::install()?
        };
        runtime.spawn(async move {
            #[cfg(unix)]
            signals.next().await;
            #[cfg(not(unix))]
            signals::asked_to_end().await;
            asked.cancel();
            if !leaves.load(Ordering::SeqCst) {
                // Whoever asks twice does not want to wait.
                #[cfg(unix)]
                signals.next().await;
                #[cfg(not(unix))]
                signals::asked_to_end().await;
            }
            std::process::exit(INTERRUPTED);
        });
        Ok(Interrupts { token, may_leave, runtime: Some(runtime) })
    }

    /// Stops work at the first signal.
    pub(crate) fn halt(&self) -> Halt {
        Halt::on(self.token.clone())
    }

    /// An error when there was a signal.
    pub(crate) fn check(&self) -> CliResult {
        if self.token.is_cancelled() { Err(CliError::interrupted()) } else { Ok(()) }
    }

    /// From here on the first signal ends the process at once; an error when there was one before.
    pub(crate) fn leave_at_once(&self) -> CliResult {
        self.may_leave.store(true, Ordering::SeqCst);
        self.check()
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;

    const CHILD: &str = "TAMIS_TEST_INTERRUPTED_CHILD";

    /// Runs itself as a process that has its answer and waits, since a signal is for a whole process.
    #[test]
    fn what_only_waits_is_ended_by_the_first_interrupt() {
        if std::env::var_os(CHILD).is_some() {
            let interrupts = Interrupts::noticed().unwrap();
            interrupts.leave_at_once().unwrap();
            eprintln!("waiting");
            std::thread::sleep(Duration::from_secs(120));
            return;
        }
        let name = "interrupts::tests::what_only_waits_is_ended_by_the_first_interrupt";
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
