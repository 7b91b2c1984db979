//! Messages of the model, and what they cost.

use serde_json::Value;
use serde_json::value::RawValue;

use super::fields::{Fields, Key, Line};
use super::{Out, State, call_of, hash};
use crate::event::{Content, EventBody, EventStream, LoggedResult};
use crate::readers::fields::text;
use crate::usage::{Claim, ExclusionReason, PromptTokens, Tokens, UsageReport};

/// The model's name in messages that the client made up.
const SYNTHETIC: &str = "<synthetic>";

/// Tokens of these samplings are not in the request's sums: the summary that the server made of a conversation, and
/// another model that was consulted.
const BESIDE: &[&str] = &["compaction", "advisor_message"];

pub(super) fn read<'a>(line: &Line<'a>, state: &mut State, out: &mut Out<'_, 'a>) {
    let Some(message) = &line.inner else {
        out.unrecognised("assistant.message");
        return;
    };
    let model = message.text(Key::Model);
    let usage = message.object(Key::Usage);
    let made_up = line.own.is(Key::IsApiError) || model.as_deref() == Some(SYNTHETIC);
    match message.get(Key::Content) {
        Some(text) if text.get().starts_with('"') => say(text, made_up, out),
        Some(content) => match Fields::each(content) {
            Some(parts) => {
                for part in parts {
                    match part {
                        Some(part) => self::part(&part, made_up, out),
                        None => out.unrecognised("assistant.content.(no object)"),
                    }
                }
            }
            None => out.unrecognised("assistant.content"),
        },
        None if usage.is_none() => out.unrecognised("assistant.content"),
        None => {}
    }
    let Some(usage) = usage else {
        return;
    };
    let tokens = tokens_of(&usage);
    let request = line.own.first(&[Key::RequestId, Key::RequestIdOfStream]).and_then(text);
    let request = match (message.text(Key::Id), request) {
        (None, None) => None,
        (id, request) => Some(hash(&[&id.unwrap_or_default(), &request.unwrap_or_default()])),
    };
    if let (Some(streamed), Some(request), EventStream::Main) = (&mut state.streamed, request, out.stream) {
        streamed.add(request, tokens);
    }
    let claim = match request {
        _ if made_up || tokens.is_zero() => Claim::Excluded(ExclusionReason::Empty),
        Some(request) => Claim::Request(request),
        None => Claim::Once,
    };
    out.push(EventBody::TokenUsage(UsageReport { tokens, model, claim, prompt: prompt_of(&usage) }));
}

fn say<'a>(text: &'a RawValue, made_up: bool, out: &mut Out<'_, 'a>) {
    match made_up {
        true => out.push(EventBody::Notification(Content::Raw(text))),
        false if text.get() == r#""""# => {}
        false => out.push(EventBody::Message(Content::Raw(text))),
    }
}

fn part<'a>(part: &Fields<'a>, made_up: bool, out: &mut Out<'_, 'a>) {
    let raw = |value: Option<&'a RawValue>| value.map_or(Content::Value(Value::Null), Content::Raw);
    let content = part.get(Key::Content);
    match (part.kind().as_deref(), part.get(Key::Text)) {
        (Some("text") | None, Some(text)) => say(text, made_up, out),
        // Newer models' thoughts are withheld, and their text is empty.
        (Some("thinking"), _) => match part.get(Key::Thinking).filter(|text| text.get() != r#""""#) {
            Some(text) => out.push(EventBody::Reasoning(Content::Raw(text))),
            None => out.push(EventBody::Reasoning(Content::text("[withheld]"))),
        },
        (Some("redacted_thinking"), _) => out.push(EventBody::Reasoning(Content::text("[withheld]"))),
        (Some("tool_use" | "server_tool_use" | "mcp_tool_use"), _) => {
            out.push(EventBody::ToolCall(call_of(part)));
        }
        // Tools that run at the server answer within the message.
        (Some(kind), _) if kind.ends_with("tool_result") => {
            let failed = part.is(Key::IsError) || content.is_some_and(is_error);
            out.push(EventBody::ToolResult(LoggedResult {
                id: part.text(Key::ToolUseId),
                content: raw(content),
                failed,
            }));
        }
        (Some("compaction"), _) => out.push(EventBody::Summary(raw(content))),
        (Some("fallback"), _) => out.push(EventBody::Notification(Content::text("another model went on"))),
        (Some("image" | "document" | "container_upload"), _) => {
            out.push(EventBody::Message(Content::text("[image]")));
        }
        (kind, _) => out.unrecognised(format!("assistant.content.{}", kind.unwrap_or("(none)"))),
    }
}

/// `{"type": "web_search_tool_result_error", …}`
fn is_error(content: &RawValue) -> bool {
    content.get().starts_with('{') && Fields::of(content).kind().is_some_and(|kind| kind.ends_with("_error"))
}

/// The prompt of a request; none where the sums are of several, or where results were deleted from what is cached.
fn prompt_of(usage: &Fields<'_>) -> Option<PromptTokens> {
    let iterations = usage.get(Key::Iterations).and_then(Fields::each).into_iter().flatten().count();
    let is_edited = usage.count(Key::CacheDeletedTokens) > 0;
    let tokens = tokens_of(usage);
    (iterations <= 1 && !is_edited).then(|| PromptTokens { all: tokens.read(), cached: tokens.cache_read })
}

pub(super) fn tokens_of(usage: &Fields<'_>) -> Tokens {
    let parts_of = |usage: &Fields<'_>| Tokens {
        input: usage.count(Key::InputTokens),
        cache_read: usage.count(Key::CacheReadTokens),
        cache_creation: usage.count(Key::CacheCreationTokens),
        output: usage.count(Key::OutputTokens),
        reasoning: 0,
    };
    let mut tokens = parts_of(usage);
    if let (0, Some(written)) = (tokens.cache_creation, usage.object(Key::CacheCreation)) {
        tokens.cache_creation = written.count(Key::Written5m).saturating_add(written.count(Key::Written1h));
    }
    if let Some(details) = usage.object(Key::OutputDetails) {
        tokens.reasoning = details.count(Key::ThinkingTokens).min(tokens.output);
    }
    let iterations = usage.get(Key::Iterations).and_then(Fields::each).into_iter().flatten().flatten();
    iterations
        .filter(|one| one.kind().is_some_and(|kind| BESIDE.contains(&kind.as_ref())))
        .fold(tokens, |sum, one| sum.plus(parts_of(&one)))
}
