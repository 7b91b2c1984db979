//! The texts of an event that a search looks at, and whether they are in its log byte for byte.

use tamis_logs::event::{Content, EventBody, LogEvent, strings_of};
use tamis_redact::{Redacted, redact_json};

/// Set among the kinds of a block with texts that are not in its lines.
pub(crate) const COMPOSED: u16 = 1 << 15;

/// Whether an event's text was composed by the reader and is not in its line.
pub(crate) fn is_composed(event: &LogEvent<'_>, line: Option<&str>) -> bool {
    let named = |name: &str| {
        line.is_some_and(|line| memchr::memmem::find(line.as_bytes(), name.as_bytes()).is_some())
    };
    let is_made = |content: &Content<'_>| matches!(content, Content::Text(_) | Content::Value(_));
    match &event.body {
        EventBody::SlashCommand { .. } => true,
        EventBody::ToolCall(call) => {
            is_made(&call.arguments) || !named(&call.name) || !call.id.as_deref().is_none_or(named)
        }
        EventBody::ToolResult(result) => is_made(&result.content) || !result.id.as_deref().is_none_or(named),
        // Its model may be of a record before it; then the reader's state has it. See [`words_before`].
        EventBody::TokenUsage(_) => false,
        text => text.content().is_some_and(is_made),
    }
}

/// What the events of a block may have of the records before it.
pub(crate) fn words_before(block_reader: &str) -> &[u8] {
    block_reader.as_bytes()
}

/// The words of an event that are shown, as a search compares them: a query that matched a secret would give it away.
pub(crate) fn searchable_words(event: &LogEvent<'_>, words: &mut Vec<String>) {
    if let EventBody::ToolCall(call) = &event.body {
        // The names of arguments announce secrets.
        let arguments = redact_json(call.arguments.to_value(), &[]);
        words.push(call.name.clone().into_owned());
        strings_of(&arguments, words);
        words.push(arguments.to_string());
    } else {
        texts_of_event(event, words);
    }
    for text in words.iter_mut() {
        *text = Redacted::from(std::mem::take(text)).searchable().into_owned();
    }
    // It is shown as it is: it joins a call with its result.
    words.extend(call_id(event));
}

fn call_id(event: &LogEvent<'_>) -> Option<String> {
    let id = match &event.body {
        EventBody::ToolCall(call) => &call.id,
        EventBody::ToolResult(result) => &result.id,
        _ => &None,
    };
    id.as_deref().map(str::to_owned)
}

/// The words of an event that the index knows, each text apart.
pub(crate) fn words_of_event(event: &LogEvent<'_>, words: &mut Vec<String>) {
    texts_of_event(event, words);
    words.extend(call_id(event));
}

fn texts_of_event(event: &LogEvent<'_>, words: &mut Vec<String>) {
    match &event.body {
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
        text => words.extend(text.content().map(|content| content.to_text().into_owned())),
    }
}
