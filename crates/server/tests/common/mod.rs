//! A door in this process with a store in a temporary folder, and a tool that returns what reached it.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test file uses its part of this")]

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Frame;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tamis_agents::Archive;
use tamis_coordinator::{AgentService, AgentServiceSettings};
use tamis_dashboard::{Dashboard, DashboardSettings, HealthSources};
use tamis_gain::{ModelPrices, ReachReport};
use tamis_logs::discovery::LogLocations;
use tamis_server::{Exposure, HostPolicy, HttpDoor, HttpSettings, Served, ServerProfile, ServerToken};
use tamis_sieve::{Sieve, SieveSettings};
use tamis_store::DataDir;
use tamis_store::rusqlite::Connection;
use tamis_tools::{
    Context, Failure, Operation, ProgressUpdate, Registry, Services, Sessions, Tool, Toolset, Workbench,
};
use tamis_trace::Trace;
use tower::ServiceExt;

pub const TOKEN: &str = "0123456789abcdef";
/// The largest body that a door takes.
pub const MAX_BODY: usize = 4 << 20;

pub struct DoorFixture {
    folder: tempfile::TempDir,
    pub served: Served,
}

impl DoorFixture {
    pub fn new(registry: Registry) -> DoorFixture {
        DoorFixture::build(registry, false)
    }

    /// With past sessions, from the logs in [`DoorFixture::logs`].
    pub fn with_logs(registry: Registry) -> DoorFixture {
        DoorFixture::build(registry, true)
    }

    pub fn logs(&self) -> PathBuf {
        self.folder.path().join("logs")
    }

    /// A sieve on the same data, like another process's.
    pub fn sieve(&self) -> Sieve {
        sieve(self.folder.path())
    }

    fn build(registry: Registry, has_logs: bool) -> DoorFixture {
        let folder = tempfile::tempdir().unwrap();
        let sieve = sieve(folder.path());
        let agents = Arc::new(AgentService::new(agents_settings(&folder.path().join("data"))));
        let mut services = Services::new(sieve, Workbench::here().unwrap()).with_agents(|| agents);
        if has_logs {
            let locations = LogLocations::only(vec![folder.path().join("logs")]);
            let trace = Arc::new(Trace::new(locations, DataDir::at(folder.path().join("data"))));
            services = services.with_sessions(move || Sessions::new(trace));
        }
        let served = Served {
            registry: Arc::new(registry),
            services: Arc::new(services),
            profile: &ServerProfile::TAMIS,
        };
        DoorFixture { folder, served }
    }

    pub fn door(&self) -> HttpDoor {
        let settings = HttpSettings {
            max_body_bytes: MAX_BODY,
            hosts: HostPolicy::default(),
            token: Some(ServerToken::chosen(TOKEN).unwrap()),
            dashboard: Some(Arc::new(Dashboard::new(
                Arc::clone(&self.served.services),
                dashboard_settings(),
            ))),
        };
        HttpDoor::new(self.served.clone(), settings)
    }

    pub fn router(&self) -> axum::Router {
        self.door().router(Exposure::Loopback)
    }

    pub fn agents(&self) -> &Arc<AgentService> {
        self.served.services.agents().unwrap()
    }

    /// A connection to the agents' database, like another process's.
    pub fn tables(&self) -> Connection {
        let database = self.folder.path().join("data/state.db");
        drop(Archive::open(&database).unwrap());
        let connection = Connection::open(database).unwrap();
        connection.busy_timeout(Duration::from_secs(60)).unwrap();
        connection
    }

    pub async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router().oneshot(request).await.unwrap()
    }

    pub async fn post(&self, path: &str, body: impl Into<Body>) -> (StatusCode, String) {
        text(self.send(post(path).body(body.into()).unwrap()).await).await
    }

    /// The JSON that `/rpc` answers with.
    pub async fn rpc(&self, body: impl Into<Body>) -> Value {
        let (status, body) = self.post("/rpc", body).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        serde_json::from_str(&body).unwrap()
    }
}

fn sieve(folder: &Path) -> Sieve {
    Sieve::new(SieveSettings {
        data_dir: Some(DataDir::at(folder.join("data"))),
        max_input_chars: 2_000_000,
        recovery_ttl: Duration::from_secs(600),
        recovery_max_bytes: 1 << 30,
        ledger_keep: Duration::from_secs(600),
    })
}

pub fn dashboard_settings() -> DashboardSettings {
    DashboardSettings {
        version: "0.0.0",
        prices: ModelPrices::with(&[]).unwrap(),
        clients: Box::new(Vec::new),
        reach: Box::new(|| Ok(ReachReport::default())),
        health: HealthSources::default(),
    }
}

/// Signs a browser in with a new link; the answer is its `Cookie` header.
pub async fn sign_in(door: &HttpDoor) -> String {
    let code = door.page_code().unwrap();
    let request = Request::builder()
        .method("POST")
        .uri("/api/page/enter")
        .header("host", "127.0.0.1:3001")
        .header("content-type", "application/json")
        .body(Body::from(format!(r#"{{"code":"{code}"}}"#)))
        .unwrap();
    let answer = door.router(Exposure::Loopback).oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

/// A body that was announced and never comes.
pub struct Announced;

impl HttpBody for Announced {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut task::Context<'_>,
    ) -> task::Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        task::Poll::Pending
    }
}

/// Without a coordinator, and without waiting for one.
pub fn agents_settings(data: &Path) -> AgentServiceSettings {
    let coordinator = tamis_agents::CoordinatorSettings {
        data_dir: DataDir::at(data),
        database: data.join("state.db"),
        program: "/nowhere/tamis".into(),
        github_token: None,
        github_url: None,
        tool_timeout: Duration::from_secs(60),
    };
    AgentServiceSettings {
        token: Some(TOKEN.into()),
        absence_limit: Duration::ZERO,
        ..AgentServiceSettings::new(coordinator)
    }
}

/// Inserts an instance with the identity `tai_<id>`.
pub fn insert_instance(tables: &Connection, id: &str, status: &str, task: &str) {
    let agent_type = match id.split('-').next() {
        Some("review") => "review",
        Some("plan") => "planning",
        _ => "coding",
    };
    let identity = blake3::hash(format!("tai_{id}").as_bytes()).to_hex().to_string();
    tables
        .execute(
            "INSERT INTO instances (id, type, status, phase, task, agent, args, repository, worktree, branch, base_commit,
                 session, identity_hash, created_at, updated_at)
             VALUES (?1, ?2, ?3, 'ready', ?4, 'command', '[\"sleep\"]', '/r', ?1, ?1, 'c000000000000000000000000000000000000000', ?1, ?5, 1000, 1000)",
            (id, agent_type, status, task, identity),
        )
        .unwrap();
}

/// Inserts an event.
pub fn insert_event(tables: &Connection, instance: Option<&str>, detail: &Value) {
    tables
        .execute(
            "INSERT INTO mcp_events (at, kind, instance_id, status_before, status_after, detail)
             VALUES (2000, 'status_changed', ?1, 'STARTED', 'WAITING_REVIEW', ?2)",
            (instance, detail.to_string()),
        )
        .unwrap();
}

pub fn post(path: &str) -> axum::http::request::Builder {
    Request::post(path)
        .header("host", "127.0.0.1:3001")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("user-agent", "probe-agent/7 (test)")
}

pub async fn text(response: Response<Body>) -> (StatusCode, String) {
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// Returns the caller after two progress reports, or waits until the caller is gone.
pub struct Probe;

#[derive(Deserialize, JsonSchema)]
pub struct ProbeInput {
    /// Until the caller is gone.
    #[serde(default)]
    wait: bool,
    /// Until the test releases it.
    #[serde(default)]
    hold: bool,
}

#[derive(Serialize)]
pub struct ProbeOutput {
    tool: String,
    door: String,
    client: Option<String>,
    project: Option<String>,
}

/// One permit for each call that has begun to wait, and one for each that was cancelled.
pub static WAITING: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(0);
pub static RELEASED: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(0);
pub static CANCELLED: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(0);

impl Operation for Probe {
    const NAME: &'static str = "probe";
    const TOOLSET: Toolset = Toolset::Prune;
    const DESCRIPTION: &'static str = "Tell what reached the handler.";
    const READ_ONLY: bool = true;
    type Input = ProbeInput;
    type Output = ProbeOutput;

    async fn run(input: ProbeInput, context: Context) -> Result<ProbeOutput, Failure> {
        for done in [1.0, 2.0] {
            context.progress.report(ProgressUpdate {
                done,
                total: Some(2.0),
                message: Some(format!("step {done}")),
            });
        }
        if input.wait {
            // In a task of its own, because a door may drop this future: only the token may matter.
            let cancellation = context.cancellation.clone();
            tokio::spawn(async move {
                WAITING.add_permits(1);
                cancellation.cancelled().await;
                CANCELLED.add_permits(1);
            });
            context.cancellation.cancelled().await;
            return Err(Failure::Cancelled);
        }
        if input.hold {
            WAITING.add_permits(1);
            RELEASED.acquire().await.unwrap().forget();
        }
        let caller = context.caller;
        Ok(ProbeOutput {
            tool: caller.tool,
            door: caller.door,
            client: caller.client,
            project: caller.project,
        })
    }
}

pub fn probing() -> DoorFixture {
    DoorFixture::new(Registry::of(vec![Tool::of::<Probe>()]))
}

/// Waits for an expected event with a time limit, so that a failing test ends.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(60), future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not happen"),
    }
}
