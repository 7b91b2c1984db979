//! A transcript as text, one line for each fact, event and drift, so that goldens can be read and compared whole.

use tamis_logs::event::{Content, EventBody, Millis};
use tamis_logs::readers::{ParsedLog, SessionFact};
use tamis_logs::usage::{Claim, Tokens};

pub(crate) fn render(transcript: &ParsedLog<'_>) -> String {
    let mut text = String::new();
    for fact in &transcript.facts {
        text.push_str(&match fact {
            SessionFact::Started(at) => format!("fact Started {}\n", time(Some(*at))),
            fact => format!("fact {fact:?}\n"),
        });
    }
    for event in &transcript.events {
        let body = match &event.body {
            EventBody::ToolCall(call) => {
                format!("{} {} {}", call.id.as_deref().unwrap_or("-"), call.name, call.arguments.to_value())
            }
            EventBody::ToolResult(result) => format!(
                "{} {} {}",
                result.id.as_deref().unwrap_or("-"),
                if result.failed { "failed" } else { "ok" },
                short(&result.content)
            ),
            EventBody::TokenUsage(usage) => {
                let Tokens { input, cache_read, cache_creation, output, reasoning } = usage.tokens;
                let claim = match usage.claim {
                    Claim::Request(_) => "request".to_owned(),
                    other => format!("{other:?}"),
                };
                let model = usage.model.as_deref().unwrap_or("-");
                format!(
                    "{model} in {input} read {cache_read} made {cache_creation} out {output} ({reasoning}) {claim}"
                )
            }
            EventBody::SlashCommand { command, arguments } => format!("{command} | {arguments}"),
            EventBody::User(content)
            | EventBody::Message(content)
            | EventBody::Reasoning(content)
            | EventBody::Notification(content)
            | EventBody::Compaction(content)
            | EventBody::Summary(content) => short(content),
        };
        text.push_str(&format!("{} {} {:?} {body}\n", time(event.at), event.stream.name(), event.kind()));
    }
    for unrecognised in &transcript.unrecognised {
        text.push_str(&format!("drift {unrecognised:?}\n"));
    }
    text
}

fn time(at: Option<Millis>) -> String {
    match at {
        // The day is that of the run; what matters is the order.
        Some(at) => format!("{:02}:{:02}.{:03}", at / 60_000 % 60, at / 1000 % 60, at % 1000),
        None => "--".to_owned(),
    }
}

fn short(content: &Content<'_>) -> String {
    let text = content.to_text();
    let mut short: String = text.chars().take(150).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// Compares with a golden file; with `UPDATE_GOLDEN` set writes it.
#[track_caller]
pub(crate) fn compare(path: &std::path::Path, found: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, found).expect("the golden can be written");
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert!(expected == found, "{} differs; UPDATE_GOLDEN=1 writes what was found:\n{found}", path.display());
}
