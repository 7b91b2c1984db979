//! A door in this process, over a store in a temporary folder, with a tool that tells what reached it.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test file uses its part of this")]

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tamis_server::{Exposure, HostPolicy, HttpDoor, HttpSettings, Presence, Served, Token};
use tamis_sieve::{Settings, Sieve};
use tamis_store::DataDir;
use tamis_tools::{
    Context, Failure, Operation, ProgressUpdate, Registry, Services, Tool, Toolset, Workbench,
};
use tower::ServiceExt;

pub const TOKEN: &str = "0123456789abcdef";

pub struct House {
    _folder: tempfile::TempDir,
    pub served: Served,
}

impl House {
    pub fn new(registry: Registry) -> House {
        let folder = tempfile::tempdir().unwrap();
        let sieve = Sieve::new(Settings {
            data_dir: Some(DataDir::at(folder.path().join("data"))),
            max_input_chars: 2_000_000,
            recovery_ttl: Duration::from_secs(600),
            recovery_max_bytes: 1 << 30,
            ledger_keep: Duration::from_secs(600),
        });
        let served = Served {
            registry: Arc::new(registry),
            services: Arc::new(Services::new(sieve, Workbench::here().unwrap())),
            presence: &Presence::TAMIS,
        };
        House { _folder: folder, served }
    }

    pub fn router(&self) -> axum::Router {
        let settings = HttpSettings {
            max_body_bytes: 4 << 20,
            hosts: HostPolicy::default(),
            token: Some(Token::chosen(TOKEN).unwrap()),
        };
        HttpDoor::new(self.served.clone(), settings).router(Exposure::Loopback)
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

/// Tells who called, after two reports of progress; or waits until the caller has gone.
pub struct Probe;

#[derive(Deserialize, JsonSchema)]
pub struct ProbeInput {
    /// Until the caller has gone.
    #[serde(default)]
    wait: bool,
    /// Until the test says so.
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
            // Apart from this future, which a door may drop: the token alone must tell.
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

pub fn probing() -> House {
    House::new(Registry::of(vec![Tool::of::<Probe>()]))
}

/// Waits for something that must happen, so that a test which fails ends.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(60), future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not happen"),
    }
}
