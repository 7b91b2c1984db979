//! Requests to the model in logs of Claude Code, and what else their records are put together from.

use super::claude::ClaudeLog;
use super::json::Json;

impl ClaudeLog<'_> {
    pub(crate) fn request(&mut self) -> Request {
        let id = self.log.random().token("msg_01", 22);
        let request = self.log.random().token("req_011C", 20);
        let written = self.context.saturating_sub(self.cached);
        let request = Request { id, request, read: self.cached, written, output: 0 };
        self.cached = self.context;
        request
    }

    /// A record for one part of what the model said. The output is told as it stood by then: the last record is right.
    pub(crate) fn part(&mut self, request: &mut Request, bytes: usize, part: impl FnOnce(&mut Json<'_>)) {
        request.output += 8 + bytes as u64 / 4;
        self.grow(bytes);
        let (model, modern) = (self.model, self.modern);
        self.record("assistant", |record| {
            record.fields("message", |message| {
                message.text("id", &request.id).text("type", "message").text("role", "assistant");
                message.text("model", model).items("content", |parts| {
                    parts.item(part);
                });
                message.raw("stop_reason", "null").raw("stop_sequence", "null").fields("usage", |usage| {
                    usage.number("input_tokens", 6).number("cache_creation_input_tokens", request.written);
                    usage.number("cache_read_input_tokens", request.read);
                    if modern {
                        usage.fields("cache_creation", |cache| {
                            cache.number("ephemeral_5m_input_tokens", request.written);
                            cache.number("ephemeral_1h_input_tokens", 0);
                        });
                    }
                    usage.number("output_tokens", request.output).text("service_tier", "standard");
                });
            });
            record.text("requestId", &request.request);
        });
    }
}

/// A request to the model.
pub(crate) struct Request {
    id: String,
    request: String,
    read: u64,
    written: u64,
    output: u64,
}

pub(crate) fn picture(part: &mut Json<'_>, letters: &str) {
    part.text("type", "image").fields("source", |source| {
        source.text("type", "base64").text("media_type", "image/png").text("data", letters);
    });
}

/// A record of a parent's log, as its fork has it.
pub(crate) fn inherited(line: &str, parent: &str, fork: &str, out: &mut String) {
    let own = format!("\"sessionId\":\"{parent}\"");
    let uuid = line.rfind("\"uuid\":\"").and_then(|at| line.get(at + 8..at + 44)).unwrap_or_default();
    let taken = format!(
        "\"sessionId\":\"{fork}\",\"forkedFrom\":{{\"sessionId\":\"{parent}\",\"messageUuid\":\"{uuid}\"}}"
    );
    match line.split_once(&own) {
        Some((before, after)) => out.extend([before, &taken, after]),
        None => out.push_str(line),
    }
}
