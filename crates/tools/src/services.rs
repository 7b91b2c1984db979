//! The capabilities that operations use, shared by all calls of a process.

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use tamis_coordinator::AgentService;
use tamis_sieve::{
    Caller, MarkerForm, PruneOptions, PruneRequest, Pruned, RecoverError, RecoveredText, Sieve,
};
use tamis_text::TextKind;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::metrics::{self, Metrics};
use crate::{Failure, Research, Sessions, Workbench};

/// Longer time limits are taken as this one: no caller waits longer, and clocks do not overflow.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Texts up to this size take a few milliseconds.
const SMALL_TEXT: usize = 64 << 10;

/// A capability that is built on first use, since most processes use one or two of them.
type Lazy<T> = LazyLock<Arc<T>, Box<dyn FnOnce() -> Arc<T> + Send>>;

/// The capabilities of a process.
pub struct Services {
    pub sieve: Arc<Sieve>,
    pub workbench: Workbench,
    sessions: Option<Lazy<Sessions>>,
    research: Option<Lazy<Research>>,
    agents: Option<Lazy<AgentService>>,
    pub metrics: Metrics,
    cores: Cores,
}

/// One permit per core for each kind of caller: more at once would only make all of them wait longer. Callers with a
/// credential do not queue behind those without, nor small texts behind large ones; the system shares the cores between them.
struct Cores {
    trusted: Arc<Semaphore>,
    anonymous: Arc<Semaphore>,
    anonymous_large: Arc<Semaphore>,
}

impl Cores {
    fn new() -> Cores {
        let cores = tamis_codebase::cores();
        let [trusted, anonymous, anonymous_large] = [0; 3].map(|_| Arc::new(Semaphore::new(cores)));
        Cores { trusted, anonymous, anonymous_large }
    }

    fn for_work(&self, caller: &Caller, bytes: usize) -> Arc<Semaphore> {
        Arc::clone(match (caller.is_anonymous, bytes > SMALL_TEXT) {
            (false, _) => &self.trusted,
            (true, false) => &self.anonymous,
            (true, true) => &self.anonymous_large,
        })
    }
}

/// A prune request that owns its text, so that it can move to another thread.
pub struct PruneJob {
    pub text: String,
    pub goal: String,
    /// Detected from the text when `None`.
    pub kind: Option<TextKind>,
    pub options: PruneOptions,
}

impl PruneJob {
    /// Prunes `text` for `goal` with the default options and short markers.
    pub fn new(text: String, goal: String) -> PruneJob {
        let options = PruneOptions { markers: MarkerForm::Short, ..PruneOptions::default() };
        PruneJob { text, goal, kind: None, options }
    }
}

impl Services {
    pub fn new(sieve: Sieve, workbench: Workbench) -> Services {
        Services {
            sieve: Arc::new(sieve),
            workbench,
            sessions: None,
            research: None,
            agents: None,
            metrics: Metrics::default(),
            cores: Cores::new(),
        }
    }

    /// Adds past sessions.
    pub fn with_sessions(self, build: impl FnOnce() -> Sessions + Send + 'static) -> Services {
        Services { sessions: Some(LazyLock::new(Box::new(|| Arc::new(build())))), ..self }
    }

    /// Adds research.
    pub fn with_research(self, build: impl FnOnce() -> Research + Send + 'static) -> Services {
        Services { research: Some(LazyLock::new(Box::new(|| Arc::new(build())))), ..self }
    }

    /// Adds agents.
    pub fn with_agents(self, build: impl FnOnce() -> Arc<AgentService> + Send + 'static) -> Services {
        Services { agents: Some(LazyLock::new(Box::new(build))), ..self }
    }

    /// Past sessions, where they are served.
    pub fn sessions(&self) -> Option<&Arc<Sessions>> {
        self.sessions.as_deref()
    }

    /// Research, where it is served.
    pub fn research(&self) -> Option<&Arc<Research>> {
        self.research.as_deref()
    }

    /// Agents, where they are served.
    pub fn agents(&self) -> Option<&Arc<AgentService>> {
        self.agents.as_deref()
    }

    /// The counters in Prometheus' text format.
    pub fn metrics_text(&self) -> String {
        let mut text = self.metrics.render();
        if let Some(agents) = self.agents() {
            metrics::render_agents(agents, &mut text);
        }
        text
    }

    /// Prunes away from the threads that serve connections. Waiting for a core counts against the time limit: when it
    /// passes before a core is free, the text is returned whole.
    pub async fn prune(
        &self,
        job: PruneJob,
        caller: Caller,
        cancellation: CancellationToken,
    ) -> Result<(PruneJob, Pruned), Failure> {
        let arrived = Instant::now();
        let limit = job.options.timeout.min(LONGEST_TIMEOUT);
        let core = tokio::select! {
            core = self.cores.for_work(&caller, job.text.len()).acquire_owned() => Some(core.map_err(Failure::internal)?),
            () = tokio::time::sleep(limit) => None,
            () = cancellation.cancelled() => return Err(Failure::Cancelled),
        };
        let sieve = Arc::clone(&self.sieve);
        let is_cancelled = cancellation.clone();
        let outcome = blocking(move || {
            let _core = core;
            let request = PruneRequest {
                text: &job.text,
                goal: &job.goal,
                kind: job.kind.unwrap_or_else(|| TextKind::detect(&job.text)),
                options: PruneOptions { timeout: limit.saturating_sub(arrived.elapsed()), ..job.options },
                shown: &[],
            };
            let mut pruned = sieve.prune(&request, &caller, &|| is_cancelled.is_cancelled());
            pruned.stats.elapsed_ms = arrived.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
            (job, pruned)
        })
        .await?;
        if cancellation.is_cancelled() { Err(Failure::Cancelled) } else { Ok(outcome) }
    }

    /// Restores lines that were cut, by prune id and 1-based inclusive ranges.
    pub async fn recover(
        &self,
        prune_id: String,
        ranges: Vec<(i64, i64)>,
        include_line_numbers: bool,
        caller: Caller,
    ) -> Result<Result<RecoveredText, RecoverError>, Failure> {
        let sieve = Arc::clone(&self.sieve);
        let cores = self.cores.for_work(&caller, 0);
        run_on(cores, move || sieve.recover(&prune_id, &ranges, include_line_numbers, &caller)).await
    }

    /// Waits for a free core, then runs blocking work of a caller with a credential.
    pub(crate) async fn run_on_core<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        run_on(Arc::clone(&self.cores.trusted), work).await
    }
}

async fn run_on<T: Send + 'static>(
    cores: Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let core = cores.acquire_owned().await.map_err(Failure::internal)?;
    blocking(move || {
        let _core = core;
        work()
    })
    .await
}

/// Runs work on a thread that may block. The message of a panic may quote what was read, so it is dropped.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Failure::internal("the tool panicked"))
}

#[cfg(test)]
mod tests {
    use tamis_sieve::{PruneWarning, SieveSettings};

    use super::*;

    fn job(timeout: Duration) -> PruneJob {
        let options = PruneOptions { timeout, ..PruneOptions::default() };
        PruneJob { options, ..PruneJob::new("a\nb\n".into(), "a".into()) }
    }

    fn services(folder: &tempfile::TempDir) -> Services {
        let settings = SieveSettings {
            data_dir: Some(tamis_store::DataDir::at(folder.path())),
            max_input_chars: 1_000_000,
            recovery_ttl: Duration::from_secs(600),
            recovery_max_bytes: 1 << 20,
            ledger_keep: Duration::from_secs(600),
        };
        Services::new(Sieve::new(settings), Workbench::here().unwrap())
    }

    #[tokio::test]
    async fn capabilities_are_built_on_first_use_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let (send, built) = std::sync::mpsc::channel();
        let services = services(&folder).with_research(move || {
            send.send(()).unwrap();
            Research::unusable(String::new())
        });
        let token = CancellationToken::new();
        services.prune(job(Duration::from_secs(600)), Caller::default(), token).await.unwrap();
        assert!(built.try_recv().is_err(), "pruning needs no research");
        assert!(services.research().is_some() && services.research().is_some());
        assert_eq!(built.try_iter().count(), 1);
    }

    #[tokio::test]
    async fn waiting_for_a_core_counts_against_the_time_limit() {
        let folder = tempfile::tempdir().unwrap();
        let services = services(&folder);
        let _all = take_all(&services.cores.trusted);
        let token = CancellationToken::new();
        let (_, pruned) =
            services.prune(job(Duration::from_millis(1)), Caller::default(), token.clone()).await.unwrap();
        assert_eq!((pruned.pruned_text.as_str(), pruned.warnings), ("a\nb\n", vec![PruneWarning::Timeout]));
        token.cancel();
        let cancelled = services.prune(job(Duration::from_secs(600)), Caller::default(), token).await;
        assert!(matches!(cancelled, Err(Failure::Cancelled)));
    }

    fn take_all(cores: &Arc<Semaphore>) -> tokio::sync::OwnedSemaphorePermit {
        Arc::clone(cores).try_acquire_many_owned(cores.available_permits() as u32).unwrap()
    }

    #[tokio::test]
    async fn callers_wait_only_for_their_own_kind() {
        let folder = tempfile::tempdir().unwrap();
        let services = services(&folder);
        let _large = take_all(&services.cores.anonymous_large);
        let anonymous = Caller { is_anonymous: true, ..Caller::default() };
        // With the longest time limit, so that waiting would be noticed.
        let prune = async |text: &str, caller: &Caller, limit| {
            let mut job = PruneJob::new(text.to_owned(), "a".into());
            job.options.timeout = limit;
            let (_, pruned) = services.prune(job, caller.clone(), CancellationToken::new()).await.unwrap();
            pruned.warnings
        };
        let large = format!("{}\n", "words ".repeat(20)).repeat(1000);
        assert_eq!(prune(&large, &anonymous, Duration::from_millis(1)).await, [PruneWarning::Timeout]);
        assert_eq!(prune("a\nb", &anonymous, LONGEST_TIMEOUT).await, []);
        assert_eq!(prune(&large, &Caller::default(), LONGEST_TIMEOUT).await, []);
        let _small = take_all(&services.cores.anonymous);
        assert_eq!(prune("a\nb", &anonymous, Duration::from_millis(1)).await, [PruneWarning::Timeout]);
        assert_eq!(prune("a\nb", &Caller::default(), LONGEST_TIMEOUT).await, []);
    }

    #[tokio::test]
    async fn the_message_of_a_panic_is_dropped() {
        let failure = blocking(|| -> () { panic!("what was read") }).await.unwrap_err();
        assert_eq!(failure, Failure::internal("the tool panicked"));
    }
}
