//! The tool registry as an MCP server: rmcp's `ServerHandler`, for stdio and HTTP.

use std::collections::HashMap;
use std::sync::Arc;

use axum::http::request::Parts;
use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, RequestId, ServerCapabilities,
    ServerConfig, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use tamis_tools::request::{Event, RequestLog};
use tamis_tools::{
    Access, Caller, Context, Credentials, Progress, ProgressUpdate, Registry, Reply, RpcError, Tool,
};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::guard::Admitted;
use crate::routes::product;
use crate::{Served, ServerProfile};

/// Methods that rmcp passes on as unknown when their parameters are malformed.
const KNOWN_METHODS: &[&str] = &[
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "tools/call",
    "tools/list",
];

/// The MCP server that one client talks to.
#[derive(Clone)]
pub(crate) struct McpDoor {
    served: Served,
    /// What is known of the caller before its first message.
    caller: Caller,
    over_http: bool,
    /// Logs of calls whose answers are not written yet; only for stdio, which knows when they are.
    unwritten: Option<UnwrittenReplies>,
}

/// The logs of calls whose answers are not written yet.
#[derive(Clone, Default)]
pub(crate) struct UnwrittenReplies(Arc<Mutex<HashMap<RequestId, RequestLog>>>);

impl UnwrittenReplies {
    pub(crate) fn insert(&self, id: RequestId, log: RequestLog) {
        self.0.lock().insert(id, log);
    }

    pub(crate) fn remove(&self, id: &RequestId) -> Option<RequestLog> {
        self.0.lock().remove(id)
    }
}

impl McpDoor {
    /// For the client that started this process: it may use every tool.
    pub(crate) fn over_stdio(
        served: Served,
        project: Option<String>,
        unwritten: UnwrittenReplies,
    ) -> McpDoor {
        let caller = Caller { door: "stdio".into(), project, ..Caller::default() };
        McpDoor { served, caller, over_http: false, unwritten: Some(unwritten) }
    }

    /// For requests that the guard admitted.
    pub(crate) fn over_http(served: Served) -> McpDoor {
        let caller = Caller { door: "mcp-http".into(), ..Caller::default() };
        McpDoor { served, caller, over_http: true, unwritten: None }
    }

    fn admitted(&self, request: &RequestContext<RoleServer>) -> Admitted {
        if !self.over_http {
            let agents = self.served.services.agents();
            let identity = agents.and_then(|agents| agents.settings().identity.as_ref());
            let identity = identity.map(|identity| identity.reveal().to_owned());
            return Admitted { access: Access::Full, identity };
        }
        let parts = request.extensions.get::<Parts>();
        let admitted = parts.and_then(|parts| parts.extensions.get::<Admitted>()).cloned();
        admitted.unwrap_or(Admitted { access: Access::None, identity: None })
    }

    fn caller(&self, request: &RequestContext<RoleServer>) -> Caller {
        let mut caller = self.caller.clone();
        caller.is_anonymous = !self.admitted(request).is_trusted();
        // Without sessions rmcp invents a client for requests that name none.
        let named = if self.over_http { request.meta.client_info() } else { request.client_info() };
        caller.client = named.map(|client| format!("{}/{}", client.name, client.version)).or_else(|| {
            let parts = request.extensions.get::<Parts>()?;
            product(&parts.headers)
        });
        caller
    }
}

impl ServerHandler for McpDoor {
    fn get_info(&self) -> ServerConfig {
        info(self.served.profile, &self.served.registry)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        request: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let profile = self.served.profile;
        let credentials = self.admitted(&request).credentials();
        let tools = self.served.registry.list(credentials).map(|tool| mcp_tool(tool, profile)).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        request: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let services = self.served.services.clone();
        let Admitted { access, identity } = self.admitted(&request);
        let mut context = Context::new(services, self.caller(&request), access);
        context.identity = identity;
        context.cancellation = request.ct.clone();
        let (progress, updates) = Progress::channel();
        context.progress = progress;
        if self.unwritten.is_some() {
            context.request = RequestLog::written_by_door();
        }
        let log = context.request.clone();
        let arguments = params.arguments.map_or(Value::Null, Value::Object);
        let call = self.served.registry.call(&params.name, arguments, context);
        let reply = forwarding_progress(call, updates, &request).await;
        if let Some(unwritten) = &self.unwritten
            && log.state().is_some_and(|state| !state.is_final())
        {
            unwritten.insert(request.id.clone(), log);
        }
        match reply {
            Reply::Text { text, is_error } => {
                let content = vec![ContentBlock::text(text)];
                let mut result = CallToolResult::success(content);
                // Absent unless true: one contract promises that it never appears.
                result.is_error = is_error.then_some(true);
                Ok(result.into())
            }
            Reply::Error(error) => Err(error_data(error)),
        }
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let data = json!({"uri": params.uri});
        Err(ErrorData::resource_not_found("there are no resources", Some(data)))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        // The newest protocol has no handshake; in the others it is malformed.
        let handshake = method == "initialize"
            && context.protocol_version().is_none_or(|version| version.has_initialize());
        if self.served.profile.is_strict && method == "tools/call" {
            RequestLog::refused(Event::ArgumentsInvalid, "not the parameters of tools/call");
        }
        Err(if handshake || KNOWN_METHODS.contains(&method.as_str()) {
            ErrorData::new(ErrorCode::INVALID_PARAMS, format!("Invalid params for {method}"), None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {method}"), None)
        })
    }
}

/// Waits for the call and forwards its progress if the client requested it. All of it is sent before the answer: a client may
/// forget a progress token once it has its answer.
async fn forwarding_progress(
    call: impl Future<Output = Reply>,
    mut updates: UnboundedReceiver<ProgressUpdate>,
    request: &RequestContext<RoleServer>,
) -> Reply {
    let Some(token) = request.meta.get_progress_token() else {
        return call.await;
    };
    let send = async |update: ProgressUpdate| {
        let mut params = ProgressNotificationParam::new(token.clone(), update.done);
        params.total = update.total;
        params.message = update.message;
        if let Err(error) = request.peer.notify_progress(params).await {
            tracing::debug!(%error, "cannot send progress");
        }
    };
    tokio::pin!(call);
    let reply = loop {
        tokio::select! {
            biased;
            Some(update) = updates.recv() => send(update).await,
            reply = &mut call => break reply,
        }
    };
    while let Ok(update) = updates.try_recv() {
        send(update).await;
    }
    reply
}

/// The server's part of every handshake.
fn info(profile: &ServerProfile, registry: &Registry) -> ServerConfig {
    // Clients that list prompts and resources anyway get empty lists, so both are declared.
    let capabilities = if profile.methods.is_none() {
        ServerCapabilities::builder().enable_prompts().enable_resources().enable_tools().build()
    } else {
        ServerCapabilities::builder().enable_tools().build()
    };
    let mut info = ServerConfig::new(capabilities);
    info.server_info = Implementation::new(profile.name, profile.version);
    info.instructions = profile.instructions_for(registry);
    info
}

fn mcp_tool(tool: &Tool, profile: &ServerProfile) -> rmcp::model::Tool {
    let plain = rmcp::model::Tool::new(tool.name, tool.description, tool.input_schema.clone());
    if profile.is_strict {
        return plain;
    }
    let mut annotations = ToolAnnotations::default();
    annotations.read_only_hint = Some(tool.read_only);
    // Every byte is in the client's context; a tool that changes nothing needs no further hints.
    if !tool.read_only {
        annotations.open_world_hint = Some(true);
    }
    plain.with_annotations(annotations)
}

/// The bytes that a tool takes in the answer to `tools/list`, and so in the context of every session of a client.
pub fn listed_bytes(tool: &Tool) -> usize {
    json!(mcp_tool(tool, &ServerProfile::TAMIS)).to_string().len()
}

fn error_data(error: RpcError) -> ErrorData {
    ErrorData::new(ErrorCode(error.code), error.message, error.data)
}

/// The tools in MCP's form, for doors without rmcp.
pub(crate) fn plain_list(registry: &Registry, credentials: Credentials, profile: &ServerProfile) -> Value {
    registry.list(credentials).map(|tool| json!(mcp_tool(tool, profile))).collect()
}

/// MCP's handshake, for doors without rmcp: the client's protocol version if it is supported, else the newest that has a
/// handshake.
pub(crate) fn plain_initialize(params: &Value, profile: &ServerProfile, registry: &Registry) -> Value {
    let supported = || ProtocolVersion::KNOWN_VERSIONS.iter().filter(|version| version.has_initialize());
    let requested = params["protocolVersion"].as_str();
    let mut info = info(profile, registry);
    if let Some(version) = supported()
        .find(|version| Some(version.as_str()) == requested)
        .or_else(|| supported().max_by_key(|version| version.as_str()))
    {
        info.protocol_version = version.clone();
    }
    json!(info)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_tools::Toolset;

    #[test]
    fn instructions_are_about_tools_that_are_served() {
        let with = |toolsets: &[Toolset]| {
            let registry = Registry::all().only(toolsets);
            ServerProfile::TAMIS.instructions_for(&registry)
        };
        assert_eq!(with(&[Toolset::Agents]), None);
        let prune = with(&[Toolset::Prune]).unwrap();
        assert!(prune.contains("recover_text") && !prune.contains("context_focus_question"), "{prune}");
        let both = with(&[Toolset::Prune, Toolset::Workbench]).unwrap();
        assert!(both.contains("recover_text") && both.contains("context_focus_question"), "{both}");
    }

    #[test]
    fn only_tools_that_change_nothing_are_announced_as_read_only() {
        let registry = Registry::all();
        let listed = plain_list(&registry, Access::Full.into(), &ServerProfile::TAMIS);
        let writing: Vec<&str> = listed
            .as_array()
            .unwrap()
            .iter()
            .filter(|tool| tool["annotations"]["readOnlyHint"] == false)
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(writing, ["bash", "create_handoff"]);
    }
}
