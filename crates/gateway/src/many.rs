//! Several servers behind one client.
//!
//! Tools and prompts get the name of their server as a prefix. Lists and handshakes of all servers are merged. The client's
//! ids are unique, so its requests keep them; two servers may use the same id, so theirs get the server's number, which leads
//! the client's response back to it. The same holds for the progress tokens of servers.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::gateway::{Gateway, REQUEST_VERSION};
use crate::in_flight::ResponseUse;
use crate::merge::{self, ListKind};
use crate::message::{
    LineContent, Message, failure, json_string, member, range_in, replace, success, text_of,
};
use crate::server::{Server, called_tool};
use crate::tool_list::OWN_TOOL;

/// How long a server may take for its handshake, in which it may still be installed, and for a list.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);
const LIST_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of pages and of items of one server's list; the rest is left out.
const MAX_PAGES: usize = 1_000;
const MAX_ITEMS: usize = 20_000;

/// How ids of servers begin for the client; the server's number follows, then its id.
const ID_PREFIX: &str = "tamis:";

const INVALID_PARAMS: i32 = -32602;
const METHOD_NOT_FOUND: i32 = -32601;

/// A request that one server after the other gets, until one does not answer with an error.
pub(crate) struct InTurn {
    line: String,
    /// The servers that have not been tried, the next one last.
    rest: Vec<usize>,
}

impl Gateway {
    /// Handles a line from the client. A batch is handled message by message.
    pub(crate) fn route(self: &Arc<Self>, content: &LineContent<'_>) {
        if matches!(content, LineContent::Unknown) {
            self.client.write_message(failure("null", -32700, "Parse error: no JSON-RPC message", None));
        }
        for message in content.messages() {
            if let Some((id, method)) = message.request() {
                self.route_request(id, method, message);
            } else if let Some(method) = message.notification() {
                self.route_notification(method, message);
            } else if let Some(id) = message.response_id() {
                self.send_back(id, message);
            }
        }
    }

    fn route_request(self: &Arc<Self>, id: &str, method: &str, message: &Message<'_>) {
        match method {
            "initialize" | "server/discover" => self.merge_handshakes(id, method, message),
            "ping" => self.client.write_message(success(id, "{}")),
            "tools/call" if called_tool(message).as_deref() == Some(OWN_TOOL) => {
                self.call_own_tool(id, message);
            }
            "tools/call" | "prompts/get" => self.send_by_name(id, message, message.param(&["name"])),
            "completion/complete" if message.param(&["ref", "name"]).is_some() => {
                self.send_by_name(id, message, message.param(&["ref", "name"]));
            }
            "logging/setLevel" | "subscriptions/listen" => self.send_to_all(id, message),
            _ => match ListKind::of_method(method) {
                Some(kind) => self.merge_lists(id, kind, message),
                None => self.send_in_turn(id, message),
            },
        }
    }

    fn route_notification(self: &Arc<Self>, method: &str, message: &Message<'_>) {
        let line = format!("{}\n", message.text);
        let send = |server: &Server| {
            server.record(message);
            server.send(self, line.as_bytes(), &LineContent::of(line.as_bytes()));
        };
        match method {
            "notifications/cancelled" => {
                let Some(id) = message.param(&["requestId"]) else { return };
                if !self.cancel_own_call(id) {
                    self.living().filter(|server| server.in_flight.contains(id)).for_each(send);
                }
            }
            "notifications/progress" => {
                if let Some(token) = message.param(&["progressToken"]) {
                    self.send_back(token, message);
                }
            }
            _ => self.living().for_each(send),
        }
    }

    fn living(&self) -> impl DoubleEndedIterator<Item = &Server> {
        self.servers.iter().filter(|server| server.end.get().is_none())
    }

    /// Sends a message to the server that `id`, a part of it, comes from, with the server's own id in its place.
    fn send_back(self: &Arc<Self>, id: &str, message: &Message<'_>) {
        let text = text_of(id).unwrap_or_default();
        let origin = text.strip_prefix(ID_PREFIX).and_then(|rest| rest.split_once(':'));
        let server = origin.and_then(|(index, _)| self.servers.get(index.parse::<usize>().ok()?));
        let (Some(server), Some((_, own_id))) = (server, origin) else {
            return tracing::warn!("dropped a message of the client that belongs to no server");
        };
        self.send_changed(server, message, vec![(range_in(message.text, id), own_id.to_owned())]);
    }

    fn send_changed(
        self: &Arc<Self>,
        server: &Server,
        message: &Message<'_>,
        changes: Vec<(Range<usize>, String)>,
    ) {
        let line = replace(message.text, &changes) + "\n";
        let content = LineContent::of(line.as_bytes());
        content.messages().iter().for_each(|message| server.record(message));
        server.send(self, line.as_bytes(), &content);
        self.answer_for_ended(server);
    }

    /// Sends a request to the server that the prefix of `name`, a part of it, names.
    fn send_by_name(self: &Arc<Self>, id: &str, message: &Message<'_>, name: Option<&str>) {
        let text = name.and_then(text_of).unwrap_or_default();
        let owner = self
            .servers
            .iter()
            .filter_map(|server| Some((server, text.strip_prefix(&server.name)?.strip_prefix("__")?)));
        // One server's name may begin another's.
        let owner = owner.max_by_key(|(server, _)| server.name.len());
        match (owner, name) {
            (Some((server, own_name)), Some(name)) => {
                let change = (range_in(message.text, name), json_string(own_name));
                self.send_changed(server, message, vec![change]);
            }
            _ => {
                let why = format!("Unknown name: {text}; names begin with that of their server and `__`");
                self.client.write_message(failure(id, INVALID_PARAMS, &why, None));
            }
        }
    }

    /// Sends a request to every server; the last response goes to the client.
    fn send_to_all(self: &Arc<Self>, id: &str, message: &Message<'_>) {
        let line = format!("{}\n", message.text);
        let servers: Vec<&Server> = self.living().collect();
        let left = Arc::new(AtomicUsize::new(servers.len()));
        for server in &servers {
            server.in_flight.insert(id, ResponseUse::LastOf(Arc::clone(&left)));
        }
        for server in servers {
            server.send(self, line.as_bytes(), &LineContent::of(line.as_bytes()));
            self.answer_for_ended(server);
        }
    }

    /// Sends a request to one server after the other. A resource that a server has listed is that server's.
    fn send_in_turn(self: &Arc<Self>, id: &str, message: &Message<'_>) {
        let uri = message.param(&["uri"]).or_else(|| message.param(&["ref", "uri"])).and_then(text_of);
        let owner = uri.and_then(|uri| self.resources.lock().get(&*uri).copied());
        let mut rest: Vec<usize> = self.living().map(|server| server.index).rev().collect();
        if let Some(owner) = owner.filter(|owner| rest.contains(owner)) {
            rest.retain(|index| *index != owner);
            rest.push(owner);
        }
        self.try_next(id, InTurn { line: format!("{}\n", message.text), rest });
    }

    /// Sends a request to the next server that has not been tried.
    pub(crate) fn try_next(self: &Arc<Self>, id: &str, mut in_turn: InTurn) {
        let Some(next) = in_turn.rest.pop() else {
            return self.client.write_message(failure(id, METHOD_NOT_FOUND, "Method not found", None));
        };
        let server = &self.servers[next];
        let line = in_turn.line.clone();
        server.in_flight.insert(id, ResponseUse::InTurn(in_turn));
        server.send(self, line.as_bytes(), &LineContent::of(line.as_bytes()));
        self.answer_for_ended(server);
    }

    /// The changes to a request or notification of a server, so that responses and cancellations find their way.
    pub(crate) fn mark_origin(
        &self,
        server: &Server,
        message: &Message<'_>,
        line: &str,
        changes: &mut Vec<(Range<usize>, String)>,
    ) {
        let own_parts = match (message.id, message.notification()) {
            (Some(_), _) => [message.id, message.param(&["_meta", "progressToken"])],
            (None, Some("notifications/cancelled")) => [message.param(&["requestId"]), None],
            _ => [None, None],
        };
        for part in own_parts.into_iter().flatten() {
            let marked = json_string(&format!("{ID_PREFIX}{}:{part}", server.index));
            changes.push((range_in(line, part), marked));
        }
        changes.sort_by_key(|(range, _)| range.start);
    }

    /// Sends a request from the gateway itself. Returns the whole response, or why none came.
    async fn ask(
        self: &Arc<Self>,
        server: usize,
        method: &str,
        params: Option<&str>,
        limit: Duration,
    ) -> Result<String, String> {
        let id = json_string(&format!("tamis-{}", self.own_ids.fetch_add(1, Ordering::Relaxed)));
        let params = params.map_or_else(String::new, |params| format!(r#","params":{params}"#));
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"{params}}}\n");
        let (send, response) = oneshot::channel();
        self.servers[server].in_flight.insert(&id, ResponseUse::Own(send));
        let gateway = Arc::clone(self);
        let sending = tokio::task::spawn_blocking(move || {
            let server = &gateway.servers[server];
            server.send(&gateway, line.as_bytes(), &LineContent::of(line.as_bytes()));
            gateway.answer_for_ended(server);
        });
        let answered = async {
            let _ = sending.await;
            response.await.unwrap_or_else(|_| Err("was not asked".to_owned()))
        };
        timeout(limit, answered).await.unwrap_or_else(|_| {
            self.servers[server].in_flight.remove(&id);
            Err(format!("did not answer within {} s", limit.as_secs()))
        })
    }

    /// Asks every server the same. Those that do not answer are left out, with a note.
    async fn ask_all(
        self: &Arc<Self>,
        method: &'static str,
        params: Option<String>,
        limit: Duration,
    ) -> Vec<(usize, String)> {
        let asking: Vec<_> = self
            .living()
            .map(|server| {
                let (gateway, index, params) = (Arc::clone(self), server.index, params.clone());
                tokio::spawn(
                    async move { (index, gateway.ask(index, method, params.as_deref(), limit).await) },
                )
            })
            .collect();
        let mut answers = Vec::new();
        for asked in asking {
            match asked.await {
                Ok((index, Ok(answer))) => answers.push((index, answer)),
                Ok((index, Err(why))) => {
                    tracing::warn!("{method}: the MCP server `{}` {why}", self.servers[index].name);
                }
                Err(_) => {}
            }
        }
        answers
    }

    fn merge_handshakes(self: &Arc<Self>, id: &str, method: &str, message: &Message<'_>) {
        let method = if method == "initialize" { "initialize" } else { "server/discover" };
        let (gateway, id, params) = (Arc::clone(self), id.to_owned(), message.params.map(str::to_owned));
        self.spawn(async move {
            let answers = gateway.ask_all(method, params, HANDSHAKE_TIMEOUT).await;
            let merged = merge::handshakes(method, &gateway.named(answers));
            gateway
                .deliver(merged.map_or_else(|error| error.with_id(&id), |result| success(&id, &result)))
                .await;
        });
    }

    fn named(&self, answers: Vec<(usize, String)>) -> Vec<(&str, String)> {
        answers.into_iter().map(|(index, answer)| (self.servers[index].name.as_str(), answer)).collect()
    }

    fn merge_lists(self: &Arc<Self>, id: &str, kind: ListKind, message: &Message<'_>) {
        let has_handshake = message.param(&["_meta", REQUEST_VERSION]).is_none();
        let meta = message.param(&["_meta"]).map(str::to_owned);
        let (gateway, id) = (Arc::clone(self), id.to_owned());
        self.spawn(async move {
            let listing: Vec<_> = gateway
                .living()
                .map(|server| {
                    let (gateway, index, meta) = (Arc::clone(&gateway), server.index, meta.clone());
                    tokio::spawn(async move { gateway.list(index, kind, meta.as_deref()).await })
                })
                .collect();
            let mut items = Vec::new();
            for listed in listing {
                items.extend(listed.await.unwrap_or_default());
            }
            if kind == ListKind::Tools {
                items.push(gateway.own_tool.clone());
            }
            gateway.deliver(success(&id, &kind.result(&items, has_handshake))).await;
        });
    }

    /// All items of a server's list, as JSON. A server that has no such list has no items.
    async fn list(self: &Arc<Self>, index: usize, kind: ListKind, meta: Option<&str>) -> Vec<String> {
        let server = &self.servers[index];
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let members = [("_meta", meta.map(str::to_owned)), ("cursor", cursor.take())];
            let members: Vec<_> = members
                .into_iter()
                .filter_map(|(name, value)| Some(format!(r#""{name}":{}"#, value?)))
                .collect();
            let params = format!("{{{}}}", members.join(","));
            let answer = match self.ask(index, kind.method(), Some(&params), LIST_TIMEOUT).await {
                Ok(answer) => answer,
                Err(why) => {
                    tracing::warn!("{}: the MCP server `{}` {why}", kind.method(), server.name);
                    break;
                }
            };
            let Some(result) = member(&answer, "result") else { break };
            if kind == ListKind::Tools {
                server.tools.lock().learn(&answer, result, "");
            }
            let page = kind.items(result);
            if kind == ListKind::Resources {
                let mut resources = self.resources.lock();
                if resources.len() > MAX_ITEMS * self.servers.len() {
                    resources.clear();
                }
                for uri in page.iter().filter_map(|item| text_of(member(item, "uri")?)) {
                    resources.insert(uri.into_owned(), index);
                }
            }
            items.extend(
                page.into_iter().map(|item| kind.renamed(item, |name| self.client_name(server, name))),
            );
            cursor = member(result, "nextCursor").filter(|cursor| *cursor != "null").map(str::to_owned);
            if cursor.is_none() || items.len() > MAX_ITEMS {
                break;
            }
        }
        items
    }

    /// A response to a request that several servers got. Returns whether it is kept from the client.
    pub(crate) fn handle_shared(self: &Arc<Self>, id: &str, response: ResponseUse, is_error: bool) -> bool {
        match response {
            ResponseUse::LastOf(left) => left.fetch_sub(1, Ordering::Relaxed) > 1,
            ResponseUse::InTurn(in_turn) if is_error && !in_turn.rest.is_empty() => {
                self.try_next(id, in_turn);
                true
            }
            _ => false,
        }
    }
}

/// What a server cannot be asked, for the client.
pub(crate) struct MergeError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl MergeError {
    fn with_id(&self, id: &str) -> String {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
    }
}
