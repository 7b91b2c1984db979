//! The agents of a data folder, for any process: finds the coordinator and sends it requests.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value;
use tamis_agents::{
    AgentsError, Archive, Code, Coordinator, CoordinatorSettings, Disposal, Identity, Instance, InstanceId,
    Repair, Result, StartRequest, WorkReader, is_leader_lock_held, lock_holder,
};
use tokio::sync::watch;

use crate::leader::LeaderState;
use crate::local::blocking;
use crate::remote::{timed_out, unavailable};
use crate::requests::{Abandon, CollectGarbage, InstanceName, Reconcile, Stop, ToolRequest};
use crate::{
    CallOptions, CoordinatorApi, CoordinatorRequest, LocalCoordinator, RemoteCoordinator, was_not_done,
};

/// How long a call waits by default while there is no coordinator.
const ABSENCE_LIMIT: Duration = Duration::from_secs(10);

/// How soon to look again for a coordinator.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// What of a call's time is kept for the answer: this part of it, up to a limit.
const ANSWER_SHARE: u32 = 10;
const LONGEST_ANSWER_TIME: Duration = Duration::from_millis(500);

/// Time limit of each call of git that finds out what the caller of a refused call had checked out: it waits for its answer.
const HEAD_PATIENCE: Duration = Duration::from_secs(1);

/// Longer time limits are cut to this one, so that clocks do not overflow.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Clone)]
pub struct AgentServiceSettings {
    pub coordinator: CoordinatorSettings,
    /// The caller of tools that come without an identity: the instance that this process was started for.
    pub identity: Option<Identity>,
    /// The server's token, for requests of the user.
    pub token: Option<String>,
    pub absent_coordinator: AbsentCoordinator,
    /// How long a call waits while there is no coordinator.
    pub absence_limit: Duration,
}

/// What to do with a request when no process holds the leader lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbsentCoordinator {
    /// Wait for one, up to the limit.
    Wait,
    /// Take the leader lock for as long as the request takes: for a short command.
    TakeLock,
}

/// The agents of a data folder, seen from any process.
pub struct AgentService {
    pub(crate) settings: AgentServiceSettings,
    /// Opened at first use, since most calls of a process are about something else.
    archive: Mutex<Option<Arc<Archive>>>,
    pub(crate) leader: LeaderState,
    /// Incremented when events may have been written.
    pub(crate) changes: watch::Sender<u64>,
    pub(crate) is_watched: Mutex<bool>,
}

impl AgentServiceSettings {
    pub fn new(coordinator: CoordinatorSettings) -> AgentServiceSettings {
        AgentServiceSettings {
            coordinator,
            identity: None,
            token: None,
            absent_coordinator: AbsentCoordinator::Wait,
            absence_limit: ABSENCE_LIMIT,
        }
    }
}

impl CoordinatorApi for Arc<AgentService> {
    /// Sends it to whichever process holds the leader lock, and again while it changes hands.
    async fn send<R: CoordinatorRequest>(&self, request: R, options: CallOptions) -> Result<R::Answer> {
        let data_dir = &self.settings.coordinator.data_dir;
        let mut absent_since = Instant::now();
        // Only before a coordinator was found: while one is replaced, a command waits for the next.
        let mut may_take_lock = self.settings.absent_coordinator == AbsentCoordinator::TakeLock;
        loop {
            if let Some(local) = self.local() {
                return local.send(request, options).await;
            }
            let failed = match lock_holder(data_dir) {
                Some(holder) => {
                    may_take_lock = false;
                    RemoteCoordinator::new(holder).send(request.clone(), options.clone()).await
                }
                None if may_take_lock && Instant::now() < options.deadline => {
                    if let Some(answer) = self.send_as_leader(request.clone(), options.clone()).await? {
                        return Ok(answer);
                    }
                    Err(unavailable("another command holds the leader lock".to_owned()))
                }
                None => Err(unavailable("no process holds the leader lock of this data folder".to_owned())),
            };
            let error = match failed {
                Err(error) if was_not_done(&error) => error,
                Err(error) if error.code == Code::CoordinatorUnavailable && R::IS_REPEATABLE => error,
                outcome => return outcome,
            };
            // The holder may still be reconciling before it answers, or finishing calls before it ends.
            if may_take_lock || is_leader_lock_held(data_dir) {
                absent_since = Instant::now();
            }
            if Instant::now() >= options.deadline {
                return Err(timed_out(&error.message));
            }
            if absent_since.elapsed() >= self.settings.absence_limit {
                return Err(no_coordinator(&error.message));
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }
}

impl AgentService {
    /// Opens nothing yet.
    pub fn new(settings: AgentServiceSettings) -> AgentService {
        AgentService {
            settings,
            archive: Mutex::new(None),
            leader: LeaderState::default(),
            changes: watch::Sender::new(0),
            is_watched: Mutex::new(false),
        }
    }

    pub fn settings(&self) -> &AgentServiceSettings {
        &self.settings
    }

    /// The tables.
    pub fn archive(&self) -> Result<Arc<Archive>> {
        let mut archive = self.archive.lock();
        if let Some(archive) = &*archive {
            return Ok(Arc::clone(archive));
        }
        Ok(Arc::clone(archive.insert(Arc::new(Archive::open(&self.settings.coordinator.database)?))))
    }

    /// The coordinator, if it is this process.
    pub fn local(&self) -> Option<LocalCoordinator> {
        let coordinator = self.leader.coordinator()?;
        Some(LocalCoordinator { coordinator, changes: self.changes.clone() })
    }

    /// The coordinator of this process, for a request that another process forwarded here: it is not forwarded again.
    pub fn require_leader(&self) -> Result<LocalCoordinator> {
        self.local().ok_or_else(|| no_coordinator("this process does not hold the leader lock"))
    }

    /// Whether this process holds the leader lock.
    pub fn is_leader(&self) -> bool {
        self.leader.coordinator().is_some()
    }

    /// Wakes followers, since events may have been written.
    pub(crate) fn notify_followers(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    async fn send_as_leader<R: CoordinatorRequest>(
        self: &Arc<Self>,
        request: R,
        options: CallOptions,
    ) -> Result<Option<R::Answer>> {
        let service = Arc::clone(self);
        blocking(move || service.with_temporary_coordinator(|it: &Coordinator| request.perform(it, &options)))
            .await
    }

    /// Calls a tool for the agent that has this identity.
    pub async fn call_tool<R: ToolRequest>(
        self: &Arc<Self>,
        identity: String,
        request: R,
    ) -> Result<<R as ToolRequest>::Answer> {
        let options = self.call_options(Some(identity), None, None)?;
        in_time(options.answer_by, self.send(request, options)).await
    }

    /// Performs a tool call that another process forwarded here.
    pub async fn perform_forwarded<R: ToolRequest>(
        &self,
        identity: String,
        idempotency_key: Option<String>,
        time_left: Option<Duration>,
        request: R,
    ) -> Result<<R as ToolRequest>::Answer> {
        let options = self.call_options(Some(identity), idempotency_key, time_left)?;
        in_time(options.answer_by, self.require_leader()?.send(request, options)).await
    }

    /// Starts an agent. A relative folder is resolved where this process runs.
    pub async fn start(self: &Arc<Self>, mut request: StartRequest) -> Result<Instance> {
        if let Ok(folder) = std::path::absolute(&request.folder) {
            request.folder = folder;
        }
        self.send_for_instance(request).await
    }

    /// Ends an instance. Its worktree and branch stay.
    pub async fn stop(self: &Arc<Self>, id: &InstanceId) -> Result<Instance> {
        self.send_for_instance(Stop { id: id.clone() }).await
    }

    /// Gives an instance up.
    pub async fn abandon(self: &Arc<Self>, id: &InstanceId, reason: Option<&str>) -> Result<Instance> {
        self.send_for_instance(Abandon { id: id.clone(), reason: reason.map(str::to_owned) }).await
    }

    /// Removes worktrees and branches that are proven to be of no more use, or lists them.
    pub async fn gc(self: &Arc<Self>, dry_run: bool) -> Result<Vec<Disposal>> {
        self.send(CollectGarbage { dry_run }, self.user_options()?).await
    }

    /// Finds and repairs what an interruption left, at once.
    pub async fn reconcile(self: &Arc<Self>) -> Result<Vec<Repair>> {
        self.send(Reconcile {}, self.user_options()?).await
    }

    /// Sets one of the settings in the tables, which any process may.
    pub fn set_config(&self, key: &str, value: &str) -> Result<()> {
        self.archive()?.set_config(key, value)?;
        self.notify_followers();
        Ok(())
    }

    /// The instance as the tables have it once the request is done.
    async fn send_for_instance<R>(self: &Arc<Self>, request: R) -> Result<Instance>
    where
        R: CoordinatorRequest<Answer = InstanceName>,
    {
        let InstanceName { id } = self.send(request, self.user_options()?).await?;
        let service = Arc::clone(self);
        blocking(move || service.archive()?.instance(&id)).await
    }

    /// Records a call that was refused before a coordinator got it. Answers who called.
    pub async fn record_refusal(
        self: &Arc<Self>,
        tool: &'static str,
        identity: Option<String>,
        input: Value,
        error: AgentsError,
    ) -> Result<Option<InstanceId>> {
        let service = Arc::clone(self);
        blocking(move || {
            let archive = service.archive()?;
            let owner = identity.map(|identity| archive.owner_of(&identity)).transpose()?.flatten();
            let data_dir = &service.settings.coordinator.data_dir;
            let git = WorkReader::new(&archive, data_dir, HEAD_PATIENCE);
            let head = owner.as_ref().and_then(|owner| git.head_of(owner));
            archive.record_refusal(tool, owner.as_ref(), head.as_ref(), &input, &error)?;
            service.notify_followers();
            Ok(owner.map(|instance| instance.id))
        })
        .await
    }

    /// The instance that has this identity.
    pub async fn owner_of(self: &Arc<Self>, identity: String) -> Result<Option<InstanceId>> {
        let service = Arc::clone(self);
        blocking(move || Ok(service.archive()?.owner_of(&identity)?.map(|instance| instance.id))).await
    }

    fn user_options(&self) -> Result<CallOptions> {
        self.call_options(self.settings.token.clone(), None, None)
    }

    fn call_options(
        &self,
        bearer: Option<String>,
        idempotency_key: Option<String>,
        time_left: Option<Duration>,
    ) -> Result<CallOptions> {
        let limit = self.settings.coordinator.tool_timeout.min(LONGEST_TIMEOUT);
        let limit = time_left.map_or(limit, |left| left.min(limit));
        let idempotency_key = idempotency_key.map_or_else(random_key, Ok)?;
        let answer_by = Instant::now() + limit;
        let deadline = answer_by - (limit / ANSWER_SHARE).min(LONGEST_ANSWER_TIME);
        Ok(CallOptions { bearer, idempotency_key, deadline, answer_by })
    }
}

/// The answer, or an error when the caller stops waiting. Work that has begun goes on, and a retry with the same key gets
/// its result.
async fn in_time<T>(answer_by: Instant, answer: impl Future<Output = Result<T>>) -> Result<T> {
    let answer = tokio::time::timeout_at(answer_by.into(), answer).await;
    answer.unwrap_or_else(|_| Err(timed_out("what it needs does not come")))
}

/// For callers of a tool that have not shown an instance's identity.
pub fn identity_required() -> AgentsError {
    AgentsError::new(
        Code::IdentityRequired,
        "this tool is for agents, and the caller has not identified itself",
    )
    .suggest("`tamis agents start` starts an agent that may use it")
}

fn no_coordinator(why: &str) -> AgentsError {
    unavailable(format!("no coordinator is running: {why}")).suggest("start one with `tamis serve`")
}

/// Random, so that no two calls share a key.
fn random_key() -> Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        AgentsError::new(Code::InternalError, format!("cannot read random bytes: {error}"))
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
