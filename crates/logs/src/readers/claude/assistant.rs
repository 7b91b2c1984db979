//! Messages of the model, and what they cost.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use super::lenient::{Each, Maybe, read as read_json};
use super::wire::{Line, Part, Usage};
use super::{Out, State, hash};
use crate::event::{Content, EventBody, EventStream, LoggedCall, LoggedResult};
use crate::usage::{Claim, ExclusionReason, Tokens, UsageReport};

/// The model's name in messages that the client made up.
const SYNTHETIC: &str = "<synthetic>";

/// Tokens of these samplings are not in the request's sums: the summary that the server made of a conversation, and
/// another model that was consulted.
const BESIDE: &[&str] = &["compaction", "advisor_message"];

pub(super) fn read<'a>(line: Line<'a>, state: &mut State, out: &mut Out<'_, 'a>) {
    let Some(message) = line.message.0 else {
        out.unrecognised("assistant.message");
        return;
    };
    let made_up = line.api_error || message.model.as_deref() == Some(SYNTHETIC);
    match message.content {
        Some(text) if text.get().starts_with('"') => say(text, made_up, out),
        Some(parts) if parts.get().starts_with('[') => {
            match read_json::<Each<Maybe<Part<'a>>>>(parts.get()) {
                Ok(Each(parts)) => {
                    for part in parts {
                        match part.0 {
                            Some(part) => self::part(part, made_up, out),
                            None => out.unrecognised("assistant.content.(no object)"),
                        }
                    }
                }
                Err(_) => out.unrecognised("assistant.content"),
            }
        }
        Some(_) => out.unrecognised("assistant.content"),
        None if message.usage.0.is_none() => out.unrecognised("assistant.content"),
        None => {}
    }
    let Some(usage) = message.usage.0 else {
        return;
    };
    let tokens = usage.tokens();
    let request = match (message.id.as_deref(), line.request.as_deref()) {
        (None, None) => None,
        (id, request) => Some(hash(&[id.unwrap_or_default(), request.unwrap_or_default()])),
    };
    if let (Some(streamed), Some(request), EventStream::Main) = (&mut state.streamed, request, out.stream) {
        streamed.add(request, tokens);
    }
    let claim = match request {
        _ if made_up || tokens.is_zero() => Claim::Excluded(ExclusionReason::Empty),
        Some(request) => Claim::Request(request),
        None => Claim::Once,
    };
    out.push(EventBody::TokenUsage(UsageReport { tokens, model: message.model, claim }));
}

fn say<'a>(text: &'a RawValue, made_up: bool, out: &mut Out<'_, 'a>) {
    match made_up {
        true => out.push(EventBody::Notification(Content::Raw(text))),
        false if text.get() == r#""""# => {}
        false => out.push(EventBody::Message(Content::Raw(text))),
    }
}

fn part<'a>(part: Part<'a>, made_up: bool, out: &mut Out<'_, 'a>) {
    let raw = |value: Option<&'a RawValue>| value.map_or(Content::Value(Value::Null), Content::Raw);
    match part.kind.as_deref() {
        Some("text") | None if part.text.is_some() => {
            if let Some(text) = part.text {
                say(text, made_up, out);
            }
        }
        // Newer models' thoughts are withheld, and their text is empty.
        Some("thinking") => match part.thinking.filter(|text| text.get() != r#""""#) {
            Some(text) => out.push(EventBody::Reasoning(Content::Raw(text))),
            None => out.push(EventBody::Reasoning(Content::text("[withheld]"))),
        },
        Some("redacted_thinking") => out.push(EventBody::Reasoning(Content::text("[withheld]"))),
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => out.push(EventBody::ToolCall(LoggedCall {
            name: part.name.unwrap_or_default(),
            id: part.id,
            arguments: raw(part.input),
        })),
        // Tools that run at the server answer within the message.
        Some(kind) if kind.ends_with("tool_result") => {
            let failed = part.is_error || part.content.is_some_and(is_error);
            out.push(EventBody::ToolResult(LoggedResult {
                id: part.call,
                content: raw(part.content),
                failed,
            }));
        }
        Some("compaction") => out.push(EventBody::Summary(raw(part.content))),
        Some("fallback") => out.push(EventBody::Notification(Content::text("another model went on"))),
        Some("image" | "document" | "container_upload") => {
            out.push(EventBody::Message(Content::text("[image]")));
        }
        kind => {
            let kind = kind.unwrap_or("(none)");
            out.unrecognised(format!("assistant.content.{kind}"));
        }
    }
}

/// `{"type": "web_search_tool_result_error", …}`
fn is_error(content: &RawValue) -> bool {
    if !content.get().starts_with('{') {
        return false;
    }
    let kind: Option<Cow<'_, str>> = match read_json::<Maybe<Part<'_>>>(content.get()) {
        Ok(Maybe(Some(part))) => part.kind,
        _ => None,
    };
    kind.is_some_and(|kind| kind.ends_with("_error"))
}

impl Usage<'_> {
    pub(super) fn tokens(&self) -> Tokens {
        let parts = self.cache_creation_parts.0.as_ref();
        let parts = parts.map_or(0, |parts| parts.five_minutes.saturating_add(parts.one_hour));
        let own = Tokens {
            input: self.input,
            cache_read: self.cache_read,
            cache_creation: if self.cache_creation == 0 { parts } else { self.cache_creation },
            output: self.output,
            reasoning: self.output_details.0.as_ref().map_or(0, |details| details.thinking.min(self.output)),
        };
        let beside = self.iterations.0.iter().filter_map(|iteration| iteration.0.as_ref());
        beside.filter(|one| one.kind.as_deref().is_some_and(|kind| BESIDE.contains(&kind))).fold(
            own,
            |sum, one| {
                sum.plus(Tokens {
                    input: one.input,
                    cache_read: one.cache_read,
                    cache_creation: one.cache_creation,
                    output: one.output,
                    reasoning: 0,
                })
            },
        )
    }
}
