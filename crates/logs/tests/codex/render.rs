//! What a reader gives, as text that can be compared whole.

use std::fmt::Write as _;

use tamis_logs::event::{Content, EventBody, LogEvent};
use tamis_logs::readers::codex::CodexReader;
use tamis_logs::readers::{LineReader, ParsedLog};
use tamis_logs::usage::Tokens;

/// Longer texts are cut.
const WIDTH: usize = 100;

/// All that a log gives, one line for each thing, with the number of the record that it came from.
pub(crate) fn render(log: &str) -> String {
    let mut reader = CodexReader::default();
    let mut rendered = String::new();
    for (number, line) in log.lines().enumerate() {
        read_into(&mut reader, number + 1, line, &mut rendered);
    }
    rendered
}

pub(crate) fn read_into(reader: &mut CodexReader, number: usize, line: &str, rendered: &mut String) {
    let mut record = ParsedLog::default();
    reader.read(line, &mut record);
    for fact in &record.facts {
        let _ = writeln!(rendered, "{number} {fact:?}");
    }
    for unrecognised in &record.unrecognised {
        let _ = writeln!(rendered, "{number} drift {unrecognised:?}");
    }
    for event in &record.events {
        let _ = writeln!(rendered, "{number} {}", event_line(event));
    }
}

fn event_line(event: &LogEvent<'_>) -> String {
    let body = match &event.body {
        EventBody::User(content) => format!("user {}", words(content)),
        EventBody::Message(content) => format!("message {}", words(content)),
        EventBody::Reasoning(content) => format!("reasoning {}", words(content)),
        EventBody::Notification(content) | EventBody::Compaction(content) => {
            format!("notification {}", words(content))
        }
        EventBody::Summary(content) => format!("summary {}", words(content)),
        EventBody::SlashCommand { command, arguments } => format!("slash command {command} {arguments:?}"),
        EventBody::ToolCall(call) => {
            let id = call.id.as_deref().unwrap_or("-");
            format!("call {} {id} {}", call.name, cut(&call.arguments.to_value().to_string()))
        }
        EventBody::ToolResult(result) => {
            let id = result.id.as_deref().unwrap_or("-");
            let failed = if result.failed { "failed" } else { "ok" };
            format!("result {id} {failed} {}", words(&result.content))
        }
        EventBody::TokenUsage(report) => {
            let model = report.model.as_deref().unwrap_or("-");
            format!("tokens {} {model} {:?}", tokens(&report.tokens), report.claim)
        }
    };
    let at = event.at.map_or("-".to_owned(), |at| at.to_string());
    format!("{} {at} {body}", event.stream.name())
}

fn tokens(tokens: &Tokens) -> String {
    let Tokens { input, cache_read, cache_creation, output, reasoning } = tokens;
    format!("{input}+{cache_read}+{cache_creation}->{output}({reasoning})")
}

fn words(content: &Content<'_>) -> String {
    cut(&content.to_text())
}

fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(WIDTH).collect();
    if shown.len() < text.len() {
        let _ = write!(shown, "… ({} bytes)", text.len());
    }
    format!("{shown:?}")
}
