use clap::Args;
use serde_json::Value;
use tamis_logs::event::EventKind;

use super::options::Source;
use super::render;
use crate::error::{CliError, CliResult};
use crate::{escape, print};

/// Show one event in full
#[derive(Args)]
pub(crate) struct EventCommand {
    /// Session id or a unique prefix of it; or SESSION:INDEX, as `search` prints it
    session: String,
    /// Index of the event
    index: Option<u64>,
    #[command(flatten)]
    source: Source,
}

pub(crate) fn run(arguments: &EventCommand) -> CliResult {
    let (session, index) = named(arguments).map_err(|error| {
        error.hint("pass it as in `tamis trace event SESSION INDEX`; `tamis trace search` and `tamis trace turns` print the numbers")
    })?;
    let trace = arguments.source.open()?;
    let session = trace.session(session)?;
    let event = trace.event(&session, index)?;
    if arguments.source.json {
        return print::json(&render::event_json(&session, index, &event));
    }
    let mut head = vec![
        ["session".to_owned(), escape::line(&session.id)],
        ["event".to_owned(), index.to_string()],
        ["time".to_owned(), render::second(event.at)],
        ["type".to_owned(), format!("{} ({})", event.kind.wire_name(), event.stream.name())],
    ];
    let payload = &event.payload;
    for (name, field) in [("tool", "name"), ("call", "call_id"), ("failed", "is_error"), ("model", "model")] {
        match &payload[field] {
            Value::String(text) => head.push([name.to_owned(), escape::line(text)]),
            Value::Bool(failed) => {
                head.push([name.to_owned(), if *failed { "yes" } else { "no" }.to_owned()]);
            }
            _ => {}
        }
    }
    print::columns(&head)?;
    print::line("")?;
    print::line(body(event.kind, payload))
}

/// The session, and the index of the event in it.
fn named(arguments: &EventCommand) -> Result<(&str, u64), CliError> {
    if let Some(index) = arguments.index {
        return Ok((&arguments.session, index));
    }
    let (session, index) = arguments
        .session
        .rsplit_once(':')
        .filter(|(_, index)| !index.is_empty())
        .ok_or_else(|| CliError::usage("no event index given"))?;
    match index.parse() {
        Ok(number) => Ok((session, number)),
        Err(_) => {
            let index = escape::line(index);
            Err(CliError::usage(format!("invalid event index `{index}`: expected a number, 0 or more")))
        }
    }
}

/// The long part of an event.
fn body(kind: EventKind, payload: &Value) -> String {
    match kind {
        EventKind::ToolCall => {
            escape::text(&serde_json::to_string_pretty(&payload["arguments"]).unwrap_or_default())
        }
        EventKind::ToolResult => escape::text(payload["content"].as_str().unwrap_or_default()),
        kind => escape::text(&render::words(kind, payload)),
    }
}
