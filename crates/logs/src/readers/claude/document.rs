//! What claude.ai/code exports: `{"loglines": [ … ]}`, the records of a log in one document.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::{IgnoredAny, MapAccess};
use serde_json::value::RawValue;

use super::ClaudeReader;
use super::lenient::{Each, Maybe, Object, Of, object, read as read_json};
use crate::event::{Body, Event, ToolCall, ToolResult};
use crate::readers::{Drift, Fact, LineReader, Record, Transcript};
use crate::usage::UsageReport;

object! {
    Document {
        lines: "loglines" => Option<&'a RawValue>,
    }
}

/// Reads an exported session; `None` when the text is none.
pub fn read_document(text: &str) -> Option<Transcript> {
    let document: Maybe<Document<'_>> = read_json(text).ok()?;
    let lines = document.0?.lines.filter(|lines| lines.get().starts_with('['))?;
    let Each(lines) = read_json::<Each<Option<&RawValue>>>(lines.get()).ok()?;
    let mut reader = ClaudeReader::new();
    let mut record = Record::default();
    for line in lines {
        reader.read(line.map_or("null", RawValue::get), &mut record);
    }
    Some(Transcript {
        facts: record.facts.into_iter().map(fact).collect(),
        events: record.events.into_iter().map(event).collect(),
        drift: record.drift.into_iter().map(drift).collect(),
    })
}

fn own(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

fn event(event: Event<'_>) -> Event<'static> {
    let body = match event.body {
        Body::User(content) => Body::User(content.into_owned()),
        Body::Message(content) => Body::Message(content.into_owned()),
        Body::Reasoning(content) => Body::Reasoning(content.into_owned()),
        Body::Notification(content) => Body::Notification(content.into_owned()),
        Body::Summary(content) => Body::Summary(content.into_owned()),
        Body::ToolCall(call) => Body::ToolCall(ToolCall {
            name: own(call.name),
            id: call.id.map(own),
            arguments: call.arguments.into_owned(),
        }),
        Body::ToolResult(result) => Body::ToolResult(ToolResult {
            id: result.id.map(own),
            content: result.content.into_owned(),
            failed: result.failed,
        }),
        Body::TokenUsage(UsageReport { tokens, model, claim }) => {
            Body::TokenUsage(UsageReport { tokens, model: model.map(own), claim })
        }
        Body::SlashCommand { command, arguments } => {
            Body::SlashCommand { command: own(command), arguments: own(arguments) }
        }
    };
    Event { at: event.at, stream: event.stream, body }
}

fn fact(fact: Fact<'_>) -> Fact<'static> {
    match fact {
        Fact::Id(id) => Fact::Id(own(id)),
        Fact::Root(root) => Fact::Root(own(root)),
        Fact::RootHash(hash) => Fact::RootHash(own(hash)),
        Fact::Started(at) => Fact::Started(at),
        Fact::Title(title) => Fact::Title(own(title)),
        Fact::Parent { id, relation } => Fact::Parent { id: own(id), relation },
        Fact::Version(version) => Fact::Version(own(version)),
        Fact::AgentName(name) => Fact::AgentName(own(name)),
    }
}

fn drift(drift: Drift<'_>) -> Drift<'static> {
    match drift {
        Drift::Record(kind) => Drift::Record(own(kind)),
        Drift::Part(part) => Drift::Part(own(part)),
        Drift::Unreadable(why) => Drift::Unreadable(own(why)),
    }
}
