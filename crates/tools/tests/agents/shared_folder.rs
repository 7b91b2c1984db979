//! A data folder, and processes that share it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tamis_agents::CoordinatorSettings;
use tamis_coordinator::{AgentService, AgentServiceSettings};
use tamis_sieve::Sieve;
use tamis_store::{DataDir, Lock};
use tamis_tools::{Access, Caller, Context, Registry, Reply, Services, Toolset, Workbench};

pub(crate) struct SharedFolder {
    temporary: tempfile::TempDir,
}

impl SharedFolder {
    pub(crate) fn new() -> SharedFolder {
        SharedFolder { temporary: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn data_dir(&self) -> DataDir {
        DataDir::at(self.temporary.path().join("data"))
    }

    pub(crate) fn settings(&self) -> AgentServiceSettings {
        let data_dir = self.data_dir();
        AgentServiceSettings::new(CoordinatorSettings {
            database: data_dir.state_db(),
            data_dir,
            program: "/nowhere/tamis".into(),
            github_token: None,
            github_url: None,
            tool_timeout: Duration::from_secs(60),
        })
    }

    /// What one process has of them.
    pub(crate) fn agents(&self) -> Arc<AgentService> {
        Arc::new(AgentService::new(self.settings()))
    }

    /// As a coordinator holds it. A program that another test is starting may have it for the instant before it begins.
    pub(crate) async fn hold_lock(&self) -> Lock {
        let path = self.data_dir().agents().join("coordinator.lock");
        std::fs::create_dir_all(self.data_dir().agents()).unwrap();
        let mut held = None;
        until("the lock is free", || {
            held = Lock::try_acquire(&path).unwrap();
            held.is_some()
        })
        .await;
        held.unwrap()
    }

    /// As a coordinator announces itself.
    pub(crate) fn announce(&self, url: &str) {
        let agents = self.data_dir().agents();
        let draft = agents.join("coordinator.new");
        std::fs::write(&draft, serde_json::json!({"url": url, "pid": 1}).to_string()).unwrap();
        std::fs::rename(draft, agents.join("coordinator.json")).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }
}

/// The context of a call by `tai_one`.
pub(crate) fn context(agents: &Arc<AgentService>) -> Context {
    let agents = Arc::clone(agents);
    let services = Services::new(
        Sieve::new(tamis_sieve::SieveSettings::without_store(usize::MAX)),
        Workbench::here().unwrap(),
    )
    .with_agents(|| agents);
    let mut context = Context::new(Arc::new(services), Caller::default(), Access::Full);
    context.identity = Some("tai_one".to_owned());
    context
}

pub(crate) fn registry() -> Registry {
    Registry::all().only(&[Toolset::Agents])
}

/// The text of an answer as JSON, and whether it is an error.
pub(crate) async fn call(agents: &Arc<AgentService>, tool: &str, arguments: Value) -> (Value, bool) {
    match registry().call(tool, arguments, context(agents)).await {
        Reply::Text { text, is_error } => (serde_json::from_str(&text).unwrap(), is_error),
        other => panic!("{other:?}"),
    }
}

/// Waits for something that must happen, so that a test which fails ends.
pub(crate) async fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happened() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
