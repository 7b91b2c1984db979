//! Test doubles of the outside world, for tests only: model servers that play a script, the real clients run against them,
//! and a fake GitHub.
//!
//! Entry points: [`TestClient`] runs a real client with a [`ScriptedModel`]; [`ChatServer`] is a model server that fails on
//! command; [`FakeGithub`] answers as GitHub does and fails the test on a malformed request; [`TestServer`] is a running
//! `tamis serve`.
//!
//! A test of a client reads as a conversation: the script lists the tools that the model calls, each step with the results
//! of the steps before it. All requests that the model received are kept, so a test can check what the client made of a result.
//!
//! Everything here blocks, has a time limit, takes ports from the system and ends its processes, so tests can run in any order
//! and in parallel. Failures panic. What a client does between calls must never be checked: it changes with every release.

mod agent;
mod chat;
mod clients;
mod git;
mod github;
mod http;
mod interactive;
mod leftover_processes;
mod model;
mod process;
mod report;
mod schema;
mod script;
mod server;
mod wait;
mod wire;

pub use agent::{ClientFixture, ClientHome, FixtureRun, PROMPT, StdioServer, TestClient, TestClientRun};
pub use chat::{ChatServer, ChatStep};
pub use clients::InstalledClients;
pub use git::git;
pub use github::{FakeGithub, FakeIssue, FakePullRequest, FakeRepository, GithubFault, GithubRequest, When};
pub use interactive::InteractiveHome;
pub use model::{ModelRequest, ScriptedModel};
pub use process::{FinishedProgram, run_bounded};
pub use report::{assert_finding, assert_outcome, assert_report};
pub use schema::assert_plain_schema;
pub use script::{FINAL_TEXT, ScriptHistory, ScriptStep, StepArguments, ToolResult};
pub use server::TestServer;
pub use wait::await_some;
pub use wire::{ToolName, Wire};
