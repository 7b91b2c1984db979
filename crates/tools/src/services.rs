//! What handlers work with, shared by all calls of a process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tamis_sieve::{Caller, PruneRequest, Pruned, Sieve};
use tamis_text::Kind;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::Failure;

/// Longer time limits are taken as this one: nobody waits longer, and clocks do not overflow.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The capabilities, opened once a process.
pub struct Services {
    pub sieve: Arc<Sieve>,
    /// One permit a core: more pruning at once would only make every caller wait longer.
    cores: Arc<Semaphore>,
}

/// A prune request that owns its text, to be carried to another thread.
pub(crate) struct PruneJob {
    pub(crate) text: String,
    pub(crate) goal: String,
    /// None: to be told from the text.
    pub(crate) kind: Option<Kind>,
    pub(crate) threshold: f32,
    pub(crate) max_prune_ratio: f64,
    pub(crate) min_keep_lines: usize,
    pub(crate) keep_first_lines: usize,
    pub(crate) timeout: Duration,
    pub(crate) annotate_lines: bool,
    pub(crate) include_markers: bool,
}

impl Services {
    pub fn new(sieve: Sieve) -> Services {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Services { sieve: Arc::new(sieve), cores: Arc::new(Semaphore::new(cores)) }
    }

    /// Prunes away from the threads that serve connections. Waiting for a core counts against the time limit.
    pub(crate) async fn prune(
        &self,
        job: PruneJob,
        caller: Caller,
        cancellation: CancellationToken,
    ) -> Result<(PruneJob, Pruned), Failure> {
        let arrived = Instant::now();
        let sieve = Arc::clone(&self.sieve);
        self.on_a_core(move || {
            let timeout = job.timeout.min(LONGEST_TIMEOUT).saturating_sub(arrived.elapsed());
            let request = PruneRequest {
                text: &job.text,
                goal: &job.goal,
                kind: job.kind.unwrap_or_else(|| Kind::detect(&job.text)),
                threshold: job.threshold,
                max_prune_ratio: job.max_prune_ratio,
                min_keep_lines: job.min_keep_lines,
                keep_first_lines: job.keep_first_lines,
                timeout,
                annotate_lines: job.annotate_lines,
                include_markers: job.include_markers,
            };
            let pruned = sieve.prune(&request, &caller, &|| cancellation.is_cancelled());
            (job, pruned)
        })
        .await
    }

    /// Runs blocking work when a core is free.
    pub(crate) async fn on_a_core<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let permit = Arc::clone(&self.cores)
            .acquire_owned()
            .await
            .map_err(|_| Failure::internal("the server is shutting down"))?;
        tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        })
        .await
        .map_err(|error| Failure::internal(error))
    }
}
