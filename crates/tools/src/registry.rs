//! The list of tools, and the functions that call them.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tamis_trace::ToolCallSize;
use tracing::Instrument;

use crate::request::Event;
use crate::{
    Context, Credentials, Failure, Reply, Services, Toolset, agents, bash, grep, health, prune_code,
    prune_text, read, recover_text, research, schema, trace,
};

/// One operation. A new tool implements this and is added to [`Registry::all`]; every door then serves it.
pub trait Operation: 'static {
    const NAME: &'static str;
    /// Other names that callers may use; they are not listed.
    const ALIASES: &'static [&'static str] = &[];
    const TOOLSET: Toolset;
    /// For the model that decides whether to call it.
    const DESCRIPTION: &'static str;
    /// Whether a call changes nothing except what tamis itself stores.
    const READ_ONLY: bool;
    const VISIBILITY: Visibility = Visibility::Listed;
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + Send;

    fn run(
        input: Self::Input,
        context: Context,
    ) -> impl Future<Output = Result<Self::Output, Failure>> + Send;

    /// The text that a door writes: JSON, unless the contract requires another form.
    fn render(output: Self::Output) -> Result<String, Failure> {
        serde_json::to_string(&output).map_err(Failure::internal)
    }
}

/// What most sessions need. The descriptions and schemas of all tools would take twice the context.
const DEFAULT_TOOLS: [&str; 10] = [
    "prune_text",
    "recover_text",
    "read",
    "bash",
    "grep",
    "list_sessions",
    "get_session_details",
    "search_event_previews",
    "get_event_details",
    "research_codebase",
];

/// Through which doors an operation can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Listed and called by name: MCP, `/rpc`, the command line.
    Listed,
    /// Called only by its own HTTP route.
    RouteOnly,
}

type Call = Pin<Box<dyn Future<Output = Result<String, Failure>> + Send>>;
type Handler = Box<dyn Fn(Value, Context) -> Call + Send + Sync>;

/// A type-erased operation.
pub struct Tool {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub toolset: Toolset,
    pub description: &'static str,
    pub read_only: bool,
    visibility: Visibility,
    pub input_schema: Arc<Map<String, Value>>,
    handler: Handler,
}

impl Tool {
    pub fn of<O: Operation>() -> Tool {
        let input_schema = Arc::new(schema::of::<O::Input>());
        let schema = Arc::clone(&input_schema);
        Tool {
            name: O::NAME,
            aliases: O::ALIASES,
            toolset: O::TOOLSET,
            description: O::DESCRIPTION,
            read_only: O::READ_ONLY,
            visibility: O::VISIBILITY,
            input_schema,
            handler: Box::new(move |arguments, context| {
                let schema = Arc::clone(&schema);
                Box::pin(async move {
                    let input = schema::parse(&schema, arguments)?;
                    context.request.step(Event::ArgumentsValid);
                    O::render(O::run(input, context).await?)
                })
            }),
        }
    }

    /// Runs a call and counts it. Calls from every door pass here.
    async fn run(&self, arguments: Value, context: Context) -> Result<String, Failure> {
        let services = Arc::clone(&context.services);
        let pending = services.metrics.begin(self.name);
        let outcome = self.attempt(arguments, context).await;
        pending.end(outcome.as_ref().err().map(Failure::code));
        outcome
    }

    /// Runs the handler, which checks the arguments first.
    async fn attempt(&self, arguments: Value, mut context: Context) -> Result<String, Failure> {
        static CALLS: AtomicU64 = AtomicU64::new(1);
        context.caller.tool = self.name.to_owned();
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        let span = tracing::info_span!("call", call, tool = self.name, door = context.caller.door);
        let mut arguments = if arguments.is_null() { Value::Object(Map::new()) } else { arguments };
        if self.toolset == Toolset::Research {
            leave_out_nulls(&mut arguments);
        }
        let begun = Instant::now();
        let outcome = catch_panic((self.handler)(arguments, context)).instrument(span.clone()).await;
        let failure = outcome.as_ref().err();
        span.in_scope(|| tracing::debug!(elapsed = ?begun.elapsed(), ?failure, "answered"));
        outcome
    }

    /// Whether a client that names no tools gets this one.
    pub fn is_default(&self) -> bool {
        DEFAULT_TOOLS.contains(&self.name)
    }

    pub fn has_name(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// Models write null for what they leave out, also beside an alias of the same parameter.
fn leave_out_nulls(arguments: &mut Value) {
    let Value::Object(members) = arguments else { return };
    members.retain(|_, value| !value.is_null());
    members.values_mut().for_each(leave_out_nulls);
}

/// Logs the sizes of a call's arguments and answer, never their text, and counts calls of the tools for past sessions.
fn audit(tool: &Tool, request_bytes: Option<usize>, reply: &Reply, services: &Services) {
    let (bytes, failed) = match reply {
        Reply::Text { text, is_error } => (text.len(), *is_error),
        Reply::Error(_) => (0, true),
    };
    tracing::debug!(tool = tool.name, request_bytes, bytes, failed, "answer");
    if let (Some(request_bytes), Some(sessions)) = (request_bytes, services.sessions()) {
        let (request_bytes, bytes) = (request_bytes as u64, bytes as u64);
        sessions.trace.count_call(ToolCallSize { tool: tool.name, failed, request_bytes, bytes });
    }
}

/// Turns a panic of the handler into a failure; its caller would otherwise wait for an answer that never comes.
async fn catch_panic(mut call: Call) -> Result<String, Failure> {
    std::future::poll_fn(|task| {
        catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(task)))
            .unwrap_or_else(|_| Poll::Ready(Err(Failure::internal("the tool panicked"))))
    })
    .await
}

/// The tools that a process serves.
pub struct Registry {
    tools: Vec<Tool>,
}

impl Registry {
    /// Every tool there is.
    pub fn all() -> Registry {
        Registry::of(vec![
            Tool::of::<prune_text::PruneText>(),
            Tool::of::<recover_text::RecoverText>(),
            Tool::of::<health::Health>(),
            Tool::of::<prune_code::PruneCode>(),
            Tool::of::<read::Read>(),
            Tool::of::<bash::Bash>(),
            Tool::of::<grep::Grep>(),
            trace::tool::<trace::list_sessions::ListSessions>(),
            trace::tool::<trace::get_project_info::GetProjectInfo>(),
            trace::tool::<trace::get_session_details::GetSessionDetails>(),
            trace::tool::<trace::analyze_session::AnalyzeSession>(),
            trace::tool::<trace::list_turns::ListTurns>(),
            trace::tool::<trace::get_turns::GetTurns>(),
            trace::tool::<trace::search_event_previews::SearchEventPreviews>(),
            trace::tool::<trace::get_event_details::GetEventDetails>(),
            trace::tool::<trace::get_reasoning_chain::GetReasoningChain>(),
            trace::tool::<trace::compare_sessions::CompareSessions>(),
            trace::tool::<trace::search_events::SearchEvents>(),
            Tool::of::<research::ping::Ping>(),
            Tool::of::<research::list_roots::ListRoots>(),
            Tool::of::<research::research_codebase::ResearchCodebase>(),
            Tool::of::<research::locate_in_codebase::LocateInCodebase>(),
            Tool::of::<research::find_patterns::FindPatterns>(),
            Tool::of::<research::analyze_component::AnalyzeComponent>(),
            Tool::of::<research::create_handoff::CreateHandoff>(),
            Tool::of::<research::resume_handoff::ResumeHandoff>(),
            Tool::of::<agents::request_review::RequestReview>(),
            Tool::of::<agents::send_feedback::SendFeedback>(),
            Tool::of::<agents::create_pull_request::CreatePullRequest>(),
            Tool::of::<agents::create_issues::CreateIssues>(),
        ])
    }

    /// These tools.
    pub fn of(tools: Vec<Tool>) -> Registry {
        Registry { tools }
    }

    /// Only the tools of these toolsets.
    pub fn only(self, toolsets: &[Toolset]) -> Registry {
        self.filter(|tool| toolsets.contains(&tool.toolset))
    }

    /// Only the tools that `keep` accepts.
    pub fn filter(mut self, keep: impl Fn(&Tool) -> bool) -> Registry {
        self.tools.retain(keep);
        self
    }

    /// The tools that a caller with these credentials may use, in a stable order.
    pub fn list(&self, credentials: impl Into<Credentials>) -> impl Iterator<Item = &Tool> {
        let credentials = credentials.into();
        self.tools
            .iter()
            .filter(move |tool| tool.visibility == Visibility::Listed && tool.toolset.is_open_to(credentials))
    }

    /// The tool of that name; or the failure, with the tool where only an identity is missing.
    fn find(&self, name: &str, credentials: Credentials) -> Result<&Tool, (Option<&Tool>, Failure)> {
        if let Some(tool) = self.list(credentials).find(|tool| tool.has_name(name)) {
            return Ok(tool);
        }
        // A caller that knows a tool for agents gets an error that names what is missing.
        let with_identity = Credentials { has_identity: true, ..credentials };
        match self.list(with_identity).find(|tool| tool.has_name(name)) {
            Some(tool) => Err((Some(tool), tamis_coordinator::identity_required().into())),
            None => Err((None, Failure::UnknownTool { name: name.to_owned() })),
        }
    }

    /// Calls a tool and renders the outcome in its toolset's form.
    pub async fn call(&self, name: &str, arguments: Value, context: Context) -> Reply {
        let request = context.request.clone();
        let services = Arc::clone(&context.services);
        let tool = match self.find(name, context.credentials()) {
            Ok(tool) => tool,
            Err((Some(tool), failure)) => {
                services.metrics.count(tool.name, Duration::ZERO, Some(failure.code()));
                let failure = agents::attribute_failure(tool.name, failure, None, arguments, &services).await;
                return tool.toolset.failure(tool.name, failure);
            }
            Err((None, unknown)) => {
                return match self.only_toolset() {
                    Some(toolset) => {
                        request.received_by(toolset, "?");
                        request.fail(&unknown);
                        toolset.failure(name, unknown)
                    }
                    None => Reply::Error(unknown.into()),
                };
            }
        };
        request.received_by(tool.toolset, tool.name);
        let identity = context.identity.clone();
        // Of agents' calls, for the audit trail.
        let input = if tool.toolset == Toolset::Agents { arguments.clone() } else { Value::Null };
        let request_bytes = (tool.toolset == Toolset::Trace).then(|| arguments.to_string().len());
        let reply = match tool.run(arguments, context).await {
            Ok(output) => {
                request.answered();
                tool.toolset.success(output)
            }
            Err(failure) => {
                request.fail(&failure);
                let failure = match tool.toolset {
                    Toolset::Agents => {
                        agents::attribute_failure(tool.name, failure, identity, input, &services).await
                    }
                    _ => failure,
                };
                tool.toolset.failure(tool.name, failure)
            }
        };
        audit(tool, request_bytes, &reply, &services);
        reply
    }

    /// The only toolset here, if there is only one: unknown tools are then reported in its form.
    fn only_toolset(&self) -> Option<Toolset> {
        let first = self.tools.first()?.toolset;
        self.tools.iter().all(|tool| tool.toolset == first).then_some(first)
    }

    /// Runs the operation of an HTTP route; the output is JSON. The route renders failures itself.
    pub async fn route(&self, name: &str, arguments: Value, context: Context) -> Result<String, Failure> {
        let credentials = context.credentials();
        let allowed = |tool: &&Tool| tool.toolset.is_open_to(credentials);
        match self.tools.iter().filter(allowed).find(|tool| tool.name == name) {
            Some(tool) => tool.run(arguments, context).await,
            None => Err(Failure::UnknownTool { name: name.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use tamis_sieve::{Caller, Sieve, SieveSettings};

    use super::*;
    use crate::{Access, RpcError, Workbench};

    struct Panicking;

    #[derive(Deserialize, JsonSchema)]
    struct PanickingInput {}

    impl Operation for Panicking {
        const NAME: &'static str = "panicking";
        const TOOLSET: Toolset = Toolset::Prune;
        const DESCRIPTION: &'static str = "Panic.";
        const READ_ONLY: bool = true;
        type Input = PanickingInput;
        type Output = ();

        async fn run(_: PanickingInput, _: Context) -> Result<(), Failure> {
            tokio::task::yield_now().await;
            panic!("expected");
        }
    }

    #[tokio::test]
    async fn a_panic_of_a_handler_is_an_internal_error() {
        let registry = Registry::of(vec![Tool::of::<Panicking>()]);
        let services = Arc::new(Services::new(
            Sieve::new(SieveSettings::without_store(usize::MAX)),
            Workbench::here().unwrap(),
        ));
        let context = Context::new(services, Caller::default(), Access::Full);
        let reply = registry.call("panicking", Value::Null, context).await;
        assert!(matches!(reply, Reply::Error(RpcError { code: -32603, .. })), "{reply:?}");
    }
}
