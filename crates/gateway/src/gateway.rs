//! The gateway between one client and its servers: what happens to each message.

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use parking_lot::Mutex;
use tamis_tools::{Access, Caller, Context, PruneJob, Registry, Reply, Services};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client_output::ClientOutput;
use crate::goal;
use crate::in_flight::{InFlightRequest, ResponseUse, ToolCall};
use crate::lines::{MAX_LINE_BYTES, read_rest};
use crate::message::{IdKey, LineContent, Message, failure, json_string, member, replace, success, text_of};
use crate::server::{Server, called_tool};
use crate::settings::GatewayPruning;
use crate::tool_list::{OWN_TOOL, listed};
use crate::tool_result::{LargeText, large_texts};

/// When pruning takes longer, the text is passed on whole.
const PRUNE_TIMEOUT: Duration = Duration::from_secs(5);

/// JSON-RPC's codes.
const INTERNAL_ERROR: i32 = -32603;
const INVALID_REQUEST: i32 = -32600;

/// The member of a request's metadata that the protocol without a handshake requires.
pub(crate) const REQUEST_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const REQUEST_CLIENT: &str = "io.modelcontextprotocol/clientInfo";

pub(crate) struct Gateway {
    pub(crate) servers: Vec<Server>,
    pub(crate) client: ClientOutput,
    pub(crate) pruning: GatewayPruning,
    pub(crate) services: Arc<Services>,
    registry: Registry,
    /// The JSON of our tool in a list of tools.
    pub(crate) own_tool: String,
    /// Who calls, for the ledger.
    caller: Mutex<Caller>,
    /// Which server has listed a resource.
    pub(crate) resources: Mutex<HashMap<String, usize>>,
    /// Number of requests that the gateway has sent itself.
    pub(crate) own_ids: AtomicU64,
    /// Calls that the gateway answers itself.
    own_calls: Mutex<Vec<(IdKey, CancellationToken)>>,
    pub(crate) runtime: Handle,
    /// Work whose answers are still to be written.
    pub(crate) tasks: TaskTracker,
}

/// What is to be changed in a line from a server.
#[derive(Default)]
struct LineChanges {
    replacements: Vec<(Range<usize>, String)>,
    /// Texts to prune, each with its call and the server's description of the tool.
    texts: Vec<(LargeText, ToolCall, Option<String>)>,
}

impl Gateway {
    pub(crate) fn new(
        servers: Vec<Server>,
        client: ClientOutput,
        pruning: GatewayPruning,
        services: Arc<Services>,
        project: Option<String>,
        runtime: Handle,
    ) -> Gateway {
        let registry = Registry::all().filter(|tool| tool.name == OWN_TOOL);
        let own_tool = registry.list(Access::Full).map(listed).next().unwrap_or_default();
        let caller = Caller { door: "gateway".to_owned(), project, ..Caller::default() };
        Gateway {
            servers,
            client,
            pruning,
            services,
            registry,
            own_tool,
            caller: Mutex::new(caller),
            resources: Mutex::default(),
            own_ids: AtomicU64::default(),
            own_calls: Mutex::default(),
            runtime,
            tasks: TaskTracker::new(),
        }
    }

    /// Handles a line from the client.
    pub(crate) fn from_client(self: &Arc<Self>, line: &[u8]) {
        let content = LineContent::of(line);
        for message in content.messages() {
            self.learn_client(message);
        }
        let [server] = &self.servers[..] else { return self.route(&content) };
        let messages = content.messages();
        let is_own: Vec<bool> = messages.iter().map(|message| self.handle_own(server, message)).collect();
        for (message, _) in messages.iter().zip(&is_own).filter(|(_, is_own)| !**is_own) {
            server.record(message);
        }
        if !is_own.contains(&true) {
            server.send(self, line, &content);
        } else if is_own.contains(&false) {
            let rest = messages.iter().zip(&is_own).filter(|(_, is_own)| !**is_own);
            let rest = rest.map(|(message, _)| message.text).collect::<Vec<_>>().join(",");
            let batch = format!("[{rest}]\n");
            server.send(self, batch.as_bytes(), &LineContent::of(batch.as_bytes()));
        }
        self.answer_for_ended(server);
    }

    /// Handles a line from the client that is too long to be held.
    pub(crate) fn long_from_client(&self, beginning: &[u8], rest: &mut impl BufRead) -> io::Result<()> {
        let is_sent = match &self.servers[..] {
            [server] => server.send_long(beginning, rest)?,
            _ => read_rest(rest, |_| Ok(())).map(|()| false)?,
        };
        if !is_sent {
            let why = format!("Invalid Request: a message may have at most {MAX_LINE_BYTES} bytes");
            self.client.write_message(failure("null", INVALID_REQUEST, &why, None));
        }
        Ok(())
    }

    /// Answers a call of our own tool, and handles its cancellation. Returns whether the message is not for the server.
    fn handle_own(self: &Arc<Self>, server: &Server, message: &Message<'_>) -> bool {
        if message.notification() == Some("notifications/cancelled") {
            return message.param(&["requestId"]).is_some_and(|id| self.cancel_own_call(id));
        }
        let is_own = matches!(message.request(), Some((_, "tools/call")))
            && called_tool(message).is_some_and(|tool| tool == OWN_TOOL)
            && !server.tools.lock().has_own_recover_text;
        if let (true, Some(id)) = (is_own, message.id) {
            self.call_own_tool(id, message);
        }
        is_own
    }

    /// Cancels a call that the gateway answers itself. Returns whether it is one.
    pub(crate) fn cancel_own_call(&self, id: &str) -> bool {
        let key = IdKey::of(id);
        let calls = self.own_calls.lock();
        let own = calls.iter().find(|(own, _)| *own == key);
        own.inspect(|(_, cancellation)| cancellation.cancel()).is_some()
    }

    pub(crate) fn call_own_tool(self: &Arc<Self>, id: &str, message: &Message<'_>) {
        let arguments = message.param(&["arguments"]).and_then(|json| serde_json::from_str(json).ok());
        let context = Context::new(Arc::clone(&self.services), self.caller.lock().clone(), Access::Full);
        self.own_calls.lock().push((IdKey::of(id), context.cancellation.clone()));
        let has_handshake = message.param(&["_meta", REQUEST_VERSION]).is_none();
        let (gateway, id) = (Arc::clone(self), id.to_owned());
        self.spawn(async move {
            let cancellation = context.cancellation.clone();
            let call = gateway.registry.call(OWN_TOOL, arguments.unwrap_or_default(), context);
            let answer = match call.await {
                Reply::Text { text, is_error } => {
                    // Without a handshake, results name their type.
                    let kind = if has_handshake { "" } else { r#""resultType":"complete","# };
                    let text = json_string(&text);
                    let error = if is_error { r#","isError":true"# } else { "" };
                    success(&id, &format!(r#"{{{kind}"content":[{{"type":"text","text":{text}}}]{error}}}"#))
                }
                Reply::Error(error) => failure(&id, error.code, &error.message, error.data.as_ref()),
            };
            let key = IdKey::of(&id);
            gateway.own_calls.lock().retain(|(own, _)| *own != key);
            if !cancellation.is_cancelled() {
                gateway.deliver(answer).await;
            }
        });
    }

    /// Handles a line from a server.
    pub(crate) fn from_server(self: &Arc<Self>, server: &Server, line: &[u8]) {
        let content = LineContent::of(line);
        let text = std::str::from_utf8(line).unwrap_or_default();
        let mut changes = LineChanges::default();
        match &content {
            LineContent::Unknown => tracing::warn!(
                server = server.name,
                bytes = line.len(),
                "the server wrote a line that is no message; it is passed on as it is"
            ),
            LineContent::Message(message) => {
                if self.handle_from_server(server, message, text, &mut changes) {
                    return;
                }
            }
            LineContent::Batch(messages) => {
                for message in messages {
                    self.handle_from_server(server, message, text, &mut changes);
                }
            }
            LineContent::Blank => {}
        }
        if changes.texts.is_empty() && changes.replacements.is_empty() {
            return self.client.write(line);
        }
        if changes.texts.is_empty() {
            return self.client.write(replace(text, &changes.replacements).as_bytes());
        }
        let (gateway, line) = (Arc::clone(self), text.to_owned());
        self.spawn(async move {
            let line = gateway.pruned(line, changes).await;
            gateway.deliver_line(line).await;
        });
    }

    /// Notes what is to be changed in a message from a server. Returns whether it is for the gateway itself.
    fn handle_from_server(
        self: &Arc<Self>,
        server: &Server,
        message: &Message<'_>,
        line: &str,
        changes: &mut LineChanges,
    ) -> bool {
        if message.method.is_some() && self.servers.len() > 1 {
            self.mark_origin(server, message, line, &mut changes.replacements);
        }
        let Some(request) = message.response_id().and_then(|id| server.in_flight.remove(id)) else {
            return false;
        };
        match request.response {
            ResponseUse::Forward => {}
            response @ (ResponseUse::LastOf(_) | ResponseUse::InTurn(_)) => {
                return self.handle_shared(&request.id, response, message.result.is_none());
            }
            ResponseUse::ToolList => {
                let inserted =
                    message.result.and_then(|result| server.tools.lock().learn(line, result, &self.own_tool));
                changes.replacements.extend(inserted);
            }
            ResponseUse::ToolResult(call) => {
                let Some(result) = message.result else { return false };
                if !self.is_pruned(server, &call.tool) {
                    return false;
                }
                for text in large_texts(line, result, &self.pruning) {
                    let description = server.tools.lock().description(&call.tool).map(str::to_owned);
                    changes.texts.push((text, call.clone(), description));
                }
            }
            ResponseUse::Own(waiting) => {
                // The task that waited may be gone.
                let _ = waiting.send(Ok(message.text.to_owned()));
                return true;
            }
        }
        false
    }

    fn is_pruned(&self, server: &Server, tool: &str) -> bool {
        let client_name = self.client_name(server, tool);
        tool != OWN_TOOL && self.pruning.tools.include(&[tool, &client_name])
    }

    /// The name under which the client knows a tool.
    pub(crate) fn client_name(&self, server: &Server, tool: &str) -> String {
        if self.servers.len() > 1 { format!("{}__{tool}", server.name) } else { tool.to_owned() }
    }

    /// The line with its large texts pruned and its other changes made.
    async fn pruned(&self, line: String, changes: LineChanges) -> String {
        let LineChanges { mut replacements, texts } = changes;
        for (LargeText { range, text }, call, description) in texts {
            let goal = goal::of_call(&call, description.as_deref());
            let mut job = PruneJob::new(text, goal);
            job.options.threshold = self.pruning.threshold;
            job.options.timeout = PRUNE_TIMEOUT;
            let caller = Caller { tool: call.tool, ..self.caller.lock().clone() };
            let Ok((_, pruned)) = self.services.prune(job, caller, CancellationToken::new()).await else {
                continue;
            };
            if is_worth_it(&pruned.stats) {
                replacements.push((range, json_string(&pruned.pruned_text)));
            }
        }
        replacements.sort_by_key(|(range, _)| range.start);
        replace(&line, &replacements)
    }

    /// Remembers who the client is.
    fn learn_client(&self, message: &Message<'_>) {
        let Some((_, method)) = message.request() else { return };
        let mut caller = self.caller.lock();
        if caller.client.is_some() && method != "initialize" {
            return;
        }
        let named = match method {
            "initialize" => message.param(&["clientInfo"]),
            _ => message.param(&["_meta", REQUEST_CLIENT]),
        };
        let part = |name| text_of(member(named?, name)?);
        if let Some(name) = part("name") {
            caller.client = Some(format!("{name}/{}", part("version").unwrap_or_default()));
        }
    }

    /// Answers requests that a server which has ended will not answer.
    pub(crate) fn answer_for_ended(self: &Arc<Self>, server: &Server) {
        let Some(how) = server.end.get() else { return };
        self.fail(server.in_flight.take_all(), &format!("the MCP server `{}` {how}", server.name));
    }

    pub(crate) fn fail(self: &Arc<Self>, requests: Vec<InFlightRequest>, why: &str) {
        for InFlightRequest { id, response } in requests {
            let is_handled = match response {
                ResponseUse::Own(waiting) => waiting.send(Err(why.to_owned())).is_ok(),
                response => self.handle_shared(&id, response, true),
            };
            if !is_handled {
                self.client.write_message(failure(&id, INTERNAL_ERROR, why, None));
            }
        }
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn_on(work, &self.runtime);
    }

    /// Writes a message of ours to the client.
    pub(crate) async fn deliver(self: &Arc<Self>, message: String) {
        self.deliver_line(message + "\n").await;
    }

    /// A client may take its time to read, so this does not block the thread.
    async fn deliver_line(self: &Arc<Self>, line: String) {
        let gateway = Arc::clone(self);
        // It fails only when the runtime ends.
        let _ = tokio::task::spawn_blocking(move || gateway.client.write(line.as_bytes())).await;
    }
}

/// Whether enough was cut for a reader to bother with markers.
fn is_worth_it(stats: &tamis_sieve::PruneStats) -> bool {
    !stats.used_fallback && stats.tokens_est_after * 10 <= stats.tokens_est_before * 9
}
