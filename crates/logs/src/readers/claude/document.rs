//! What claude.ai/code exports: `{"loglines": [ … ]}`, the records of a log in one document.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::{IgnoredAny, MapAccess};
use serde_json::value::RawValue;

use super::ClaudeReader;
use super::lenient::{Each, Maybe, Object, Of, object, read as read_json};
use crate::event::{EventBody, LogEvent, LoggedCall, LoggedResult};
use crate::readers::{LineReader, LogTranscript, ParsedRecord, SessionFact, Unrecognised};
use crate::usage::UsageReport;

object! {
    Document {
        lines: "loglines" => Option<&'a RawValue>,
    }
}

/// Reads an exported session; `None` if the text is not one.
pub fn read_document(text: &str) -> Option<LogTranscript> {
    let document: Maybe<Document<'_>> = read_json(text).ok()?;
    let lines = document.0?.lines.filter(|lines| lines.get().starts_with('['))?;
    let Each(lines) = read_json::<Each<Option<&RawValue>>>(lines.get()).ok()?;
    let mut reader = ClaudeReader::new();
    let mut record = ParsedRecord::default();
    for line in lines {
        reader.read(line.map_or("null", RawValue::get), &mut record);
    }
    Some(LogTranscript {
        facts: record.facts.into_iter().map(fact).collect(),
        events: record.events.into_iter().map(event).collect(),
        unrecognised: record.unrecognised.into_iter().map(unrecognised).collect(),
    })
}

fn own(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

fn event(event: LogEvent<'_>) -> LogEvent<'static> {
    let body = match event.body {
        EventBody::User(content) => EventBody::User(content.into_owned()),
        EventBody::Message(content) => EventBody::Message(content.into_owned()),
        EventBody::Reasoning(content) => EventBody::Reasoning(content.into_owned()),
        EventBody::Notification(content) => EventBody::Notification(content.into_owned()),
        EventBody::Compaction(content) => EventBody::Compaction(content.into_owned()),
        EventBody::Summary(content) => EventBody::Summary(content.into_owned()),
        EventBody::ToolCall(call) => EventBody::ToolCall(LoggedCall {
            name: own(call.name),
            id: call.id.map(own),
            arguments: call.arguments.into_owned(),
        }),
        EventBody::ToolResult(result) => EventBody::ToolResult(LoggedResult {
            id: result.id.map(own),
            content: result.content.into_owned(),
            failed: result.failed,
        }),
        EventBody::TokenUsage(UsageReport { tokens, model, claim }) => {
            EventBody::TokenUsage(UsageReport { tokens, model: model.map(own), claim })
        }
        EventBody::SlashCommand { command, arguments } => {
            EventBody::SlashCommand { command: own(command), arguments: own(arguments) }
        }
    };
    LogEvent { at: event.at, stream: event.stream, body }
}

fn fact(fact: SessionFact<'_>) -> SessionFact<'static> {
    match fact {
        SessionFact::Id(id) => SessionFact::Id(own(id)),
        SessionFact::Root(root) => SessionFact::Root(own(root)),
        SessionFact::RootHash(hash) => SessionFact::RootHash(own(hash)),
        SessionFact::Started(at) => SessionFact::Started(at),
        SessionFact::Title(title) => SessionFact::Title(own(title)),
        SessionFact::Parent { id, relation } => SessionFact::Parent { id: own(id), relation },
        SessionFact::Version(version) => SessionFact::Version(own(version)),
        SessionFact::AgentName(name) => SessionFact::AgentName(own(name)),
    }
}

fn unrecognised(unrecognised: Unrecognised<'_>) -> Unrecognised<'static> {
    match unrecognised {
        Unrecognised::Record(kind) => Unrecognised::Record(own(kind)),
        Unrecognised::Part(part) => Unrecognised::Part(own(part)),
        Unrecognised::Unreadable(why) => Unrecognised::Unreadable(own(why)),
    }
}
