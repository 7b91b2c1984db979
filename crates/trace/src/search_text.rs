//! The texts of an event that a search looks at, and whether they are in its log byte for byte.

use tamis_logs::event::{Content, EventBody, LogEvent, strings_of};

/// Set among the kinds of a block with texts that are not in its lines.
pub(crate) const COMPOSED: u16 = 1 << 15;

/// Whether an event's text was composed by the reader and is not in its line.
pub(crate) fn is_composed(event: &LogEvent<'_>, line: Option<&str>) -> bool {
    let named = |name: &str| {
        line.is_some_and(|line| memchr::memmem::find(line.as_bytes(), name.as_bytes()).is_some())
    };
    match &event.body {
        EventBody::User(content)
        | EventBody::Message(content)
        | EventBody::Reasoning(content)
        | EventBody::Notification(content)
        | EventBody::Compaction(content)
        | EventBody::Summary(content) => matches!(content, Content::Text(_) | Content::Value(_)),
        EventBody::SlashCommand { .. } => true,
        EventBody::ToolCall(call) => {
            matches!(call.arguments, Content::Text(_) | Content::Value(_)) || !named(&call.name)
        }
        EventBody::ToolResult(result) => matches!(result.content, Content::Text(_) | Content::Value(_)),
        // Its model may be of a record before it; then the reader's state has it. See [`words_before`].
        EventBody::TokenUsage(_) => false,
    }
}

/// What the events of a block may have of the records before it.
pub(crate) fn words_before(block_reader: &str) -> &[u8] {
    block_reader.as_bytes()
}

/// The words of an event that a search looks at, each text apart.
pub(crate) fn words_of_event(event: &LogEvent<'_>, words: &mut Vec<String>) {
    match &event.body {
        EventBody::User(content)
        | EventBody::Message(content)
        | EventBody::Reasoning(content)
        | EventBody::Notification(content)
        | EventBody::Compaction(content)
        | EventBody::Summary(content) => words.push(content.to_text().into_owned()),
        EventBody::SlashCommand { command, arguments } => words.push(format!("{command} {arguments}")),
        EventBody::ToolCall(call) => {
            words.push(call.name.clone().into_owned());
            let arguments = call.arguments.to_value();
            strings_of(&arguments, words);
            words.push(arguments.to_string());
        }
        EventBody::ToolResult(result) => words.push(result.content.to_text().into_owned()),
        EventBody::TokenUsage(report) => {
            words.extend(report.model.iter().map(|model| model.clone().into_owned()));
        }
    }
}
