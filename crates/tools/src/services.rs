//! What handlers work with, shared by all calls of a process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tamis_sieve::{Caller, PruneRequest, Pruned, Sieve};
use tamis_text::Kind;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;
use crate::{Agents, Failure, Research, Sessions, Workbench};

/// Longer time limits are taken as this one: nobody waits longer, and clocks do not overflow.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The capabilities, opened once a process.
pub struct Services {
    pub sieve: Arc<Sieve>,
    pub workbench: Workbench,
    /// Past sessions, where they are served.
    pub sessions: Option<Arc<Sessions>>,
    /// Questions about a codebase, likewise.
    pub research: Option<Arc<Research>>,
    /// Agents that are started, likewise.
    pub agents: Option<Arc<Agents>>,
    pub metrics: Metrics,
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
    pub fn new(sieve: Sieve, workbench: Workbench) -> Services {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Services {
            sieve: Arc::new(sieve),
            workbench,
            sessions: None,
            research: None,
            agents: None,
            metrics: Metrics::default(),
            cores: Arc::new(Semaphore::new(cores)),
        }
    }

    /// The same with past sessions.
    pub fn with_sessions(self, sessions: Sessions) -> Services {
        Services { sessions: Some(Arc::new(sessions)), ..self }
    }

    /// The same with research.
    pub fn with_research(self, research: Research) -> Services {
        Services { research: Some(Arc::new(research)), ..self }
    }

    /// The same with agents.
    pub fn with_agents(self, agents: Arc<Agents>) -> Services {
        Services { agents: Some(agents), ..self }
    }

    /// What is counted, as Prometheus reads it.
    pub fn metrics_text(&self) -> String {
        let mut text = self.metrics.render();
        if let Some(agents) = &self.agents {
            agents.render_metrics(&mut text);
        }
        text
    }

    /// Prunes away from the threads that serve connections. Waiting for a core counts against the time limit: when that
    /// is over before a core is free, the text comes back whole.
    pub(crate) async fn prune(
        &self,
        job: PruneJob,
        caller: Caller,
        cancellation: CancellationToken,
    ) -> Result<(PruneJob, Pruned), Failure> {
        let arrived = Instant::now();
        let limit = job.timeout.min(LONGEST_TIMEOUT);
        let core = tokio::select! {
            core = Arc::clone(&self.cores).acquire_owned() => Some(core.map_err(Failure::internal)?),
            () = tokio::time::sleep(limit) => None,
            () = cancellation.cancelled() => return Err(Failure::Cancelled),
        };
        let sieve = Arc::clone(&self.sieve);
        blocking(move || {
            let _core = core;
            let request = PruneRequest {
                text: &job.text,
                goal: &job.goal,
                kind: job.kind.unwrap_or_else(|| Kind::detect(&job.text)),
                threshold: job.threshold,
                max_prune_ratio: job.max_prune_ratio,
                min_keep_lines: job.min_keep_lines,
                keep_first_lines: job.keep_first_lines,
                timeout: limit.saturating_sub(arrived.elapsed()),
                annotate_lines: job.annotate_lines,
                include_markers: job.include_markers,
            };
            let mut pruned = sieve.prune(&request, &caller, &|| cancellation.is_cancelled());
            pruned.stats.elapsed_ms = arrived.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
            (job, pruned)
        })
        .await
    }

    /// Runs blocking work when a core is free.
    pub(crate) async fn on_a_core<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let core = Arc::clone(&self.cores).acquire_owned().await.map_err(Failure::internal)?;
        blocking(move || {
            let _core = core;
            work()
        })
        .await
    }
}

/// Runs work on a thread that may block. A panic's own words may quote what was read, so they are not passed on.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Failure::internal("the tool panicked"))
}

#[cfg(test)]
mod tests {
    use tamis_sieve::{Settings, Warning};

    use super::*;

    fn job(timeout: Duration) -> PruneJob {
        PruneJob {
            text: "a\nb\n".into(),
            goal: "a".into(),
            kind: None,
            threshold: 0.5,
            max_prune_ratio: 1.0,
            min_keep_lines: 0,
            keep_first_lines: 0,
            timeout,
            annotate_lines: false,
            include_markers: true,
        }
    }

    #[tokio::test]
    async fn waiting_for_a_core_counts_against_the_time_limit() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = Some(tamis_store::DataDir::at(folder.path()));
        let services = Services::new(
            Sieve::new(Settings { data_dir, ..Settings::default() }),
            Workbench::here().unwrap(),
        );
        let busy = services.cores.available_permits();
        let _all = services.cores.acquire_many(busy as u32).await.unwrap();
        let token = CancellationToken::new();
        let (_, pruned) =
            services.prune(job(Duration::from_millis(1)), Caller::default(), token.clone()).await.unwrap();
        assert_eq!((pruned.pruned_text.as_str(), pruned.warnings), ("a\nb\n", vec![Warning::Timeout]));
        token.cancel();
        let cancelled = services.prune(job(Duration::from_secs(600)), Caller::default(), token).await;
        assert!(matches!(cancelled, Err(Failure::Cancelled)));
    }

    #[tokio::test]
    async fn a_panics_words_stay_here() {
        let failure = blocking(|| -> () { panic!("what was read") }).await.unwrap_err();
        assert_eq!(failure, Failure::internal("the tool panicked"));
    }
}
