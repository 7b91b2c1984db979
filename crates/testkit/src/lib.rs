//! What the tests need from the outside world, made to measure: model servers that play a script, the real coding
//! agents run against them, and a real server to talk to.
//!
//! An agent test reads as a conversation. The script says which tools the model calls, each step with the results of
//! the steps before it at hand; the agent, a real program in a home of its own, calls our server and passes the
//! answers on; every request that the model received is kept, so what the agent made of an answer can be asserted.
//!
//! Everything here blocks, bounds its own time, takes ports from the system and ends the processes it started; so
//! tests run in any order and beside each other. For tests only: failures panic, with what is needed to understand
//! them.
//!
//! A [chat server](ChatServer) of another kind fails, stalls and answers nonsense to order; no agent needs to bear it.
//!
//! A [GitHub](FakeGithub) is one for a repository: it answers as the real one does, and complains about every request that
//! the real one would not understand.
//!
//! Deliberately missing: any judgement of what agents do between calls.

mod agent;
mod chat;
mod clients;
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
mod wire;

pub use agent::{ClientFixture, ClientHome, FixtureRun, PROMPT, StdioServer, TestClient, TestClientRun};
pub use chat::{ChatServer, ChatStep};
pub use clients::InstalledClients;
pub use github::{FakeGithub, FakeIssue, FakePullRequest, FakeRepository, GithubFault, GithubRequest, When};
pub use interactive::InteractiveHome;
pub use model::{ModelRequest, ScriptedModel};
pub use process::{FinishedProgram, run_bounded};
pub use report::{assert_finding, assert_outcome, assert_report};
pub use schema::assert_plain_schema;
pub use script::{FINAL_TEXT, ScriptHistory, ScriptStep, StepArguments, ToolResult};
pub use server::TestServer;
pub use wire::{ToolName, Wire};
