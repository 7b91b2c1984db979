//! A server behind the gateway: its connection, its requests in flight, and what is known of its tools.

use std::borrow::Cow;
use std::io::{self, BufRead, Write};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::gateway::Gateway;
use crate::http_link::HttpLink;
use crate::in_flight::{InFlight, ResponseUse, ToolCall};
use crate::lines::read_rest;
use crate::message::{LineContent, Message, text_of};
use crate::tool_list::KnownTools;

/// Longer arguments are not kept for the goal of a call.
const MAX_KEPT_ARGUMENTS: usize = 16 << 10;

pub(crate) struct Server {
    /// Among the gateway's servers.
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) in_flight: InFlight,
    pub(crate) tools: Mutex<KnownTools>,
    pub(crate) link: Link,
    /// How it ended, once it has.
    pub(crate) end: OnceLock<String>,
}

/// How messages reach a server.
pub(crate) enum Link {
    /// Lines to its stdin; none once it is closed.
    Stdin(Mutex<Option<Box<dyn Write + Send>>>),
    Http(Box<HttpLink>),
}

impl Link {
    pub(crate) fn stdin(stdin: impl Write + Send + 'static) -> Link {
        Link::Stdin(Mutex::new(Some(Box::new(stdin))))
    }
}

impl Server {
    pub(crate) fn new(index: usize, name: String, link: Link) -> Server {
        Server {
            index,
            name,
            in_flight: InFlight::default(),
            tools: Mutex::default(),
            link,
            end: OnceLock::new(),
        }
    }

    /// Records a message before it is sent.
    pub(crate) fn record(&self, message: &Message<'_>) {
        if let Some((id, method)) = message.request() {
            let response = match method {
                "tools/list" => ResponseUse::ToolList,
                "tools/call" => tool_call(message).map_or(ResponseUse::Forward, ResponseUse::ToolResult),
                _ => ResponseUse::Forward,
            };
            self.in_flight.insert(id, response);
        } else if message.notification() == Some("notifications/cancelled")
            && let Some(id) = message.param(&["requestId"])
        {
            // Most servers do not answer it any more.
            self.in_flight.remove(id);
        }
    }

    /// Sends a line, which ends with its newline.
    pub(crate) fn send(&self, gateway: &Arc<Gateway>, line: &[u8], content: &LineContent<'_>) {
        match &self.link {
            Link::Http(link) => link.send(gateway, self, line, content),
            Link::Stdin(stdin) => {
                let mut stdin = stdin.lock();
                let Some(pipe) = stdin.as_mut() else { return };
                if let Err(error) = pipe.write_all(line).and_then(|()| pipe.flush()) {
                    // Its end is noticed, and answers the request.
                    tracing::debug!(server = self.name, %error, "cannot write to the server");
                    *stdin = None;
                }
            }
        }
    }

    /// Sends a line that is too long to be held. Returns false if the server cannot take it.
    pub(crate) fn send_long(&self, beginning: &[u8], rest: &mut impl BufRead) -> io::Result<bool> {
        let Link::Stdin(stdin) = &self.link else {
            return read_rest(rest, |_| Ok(())).map(|()| false);
        };
        let mut stdin = stdin.lock();
        let mut written = stdin.as_mut().map_or(Ok(()), |pipe| pipe.write_all(beginning));
        read_rest(rest, |part| {
            if let (Some(pipe), Ok(())) = (stdin.as_mut(), &written) {
                written = pipe.write_all(part).and_then(|()| pipe.flush());
            }
            Ok(())
        })?;
        Ok(true)
    }

    /// Lets the server know that nothing more comes.
    pub(crate) fn close(&self, gateway: &Arc<Gateway>) {
        match &self.link {
            Link::Http(_) => {
                let (gateway_of_task, server) = (Arc::clone(gateway), self.index);
                gateway.spawn(async move {
                    let server = &gateway_of_task.servers[server];
                    if let Link::Http(link) = &server.link {
                        link.close(server).await;
                    }
                });
            }
            Link::Stdin(stdin) => {
                // A thread that waits for the server to read keeps it open; the server is ended then.
                if let Some(mut stdin) = stdin.try_lock() {
                    *stdin = None;
                }
            }
        }
    }

    /// Ends the connection at once. Programs end with their process groups.
    pub(crate) async fn end(&self) {
        if let Link::Http(link) = &self.link {
            link.end().await;
        }
    }
}

/// The call in a `tools/call` request.
fn tool_call(message: &Message<'_>) -> Option<ToolCall> {
    let tool = called_tool(message)?;
    let arguments = message.param(&["arguments"]).filter(|arguments| arguments.len() <= MAX_KEPT_ARGUMENTS);
    Some(ToolCall { tool, arguments: arguments.unwrap_or_default().to_owned() })
}

/// The name of the tool that a `tools/call` request calls.
pub(crate) fn called_tool(message: &Message<'_>) -> Option<String> {
    text_of(message.param(&["name"])?).map(Cow::into_owned)
}
