use std::ops::ControlFlow;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tamis_logs::readers::Relation;
use tamis_redact::{Redacted, redact_json};
use tamis_trace::{Session, Trace, TurnPart, TurnStep};

use super::options::Source;
use super::{render, turns};
use crate::error::{CliError, CliResult};
use crate::{escape, print, table};

/// Show a session: its figures, turns and steps
#[derive(Args)]
pub(crate) struct Show {
    /// Session id, or a unique prefix of it
    session: String,
    /// Level of detail
    #[arg(long, value_enum, default_value_t = Level::Summary)]
    level: Level,
    /// First turn to show
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    #[command(flatten)]
    source: Source,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    /// A line for each turn
    Summary,
    /// A line for each step: its tools and their outcome
    Turns,
    /// Reasoning, messages, calls and results, with long texts shortened
    Steps,
    /// Everything, in full
    Full,
}

/// Letters of a text at the level of steps.
const CUT_AT: usize = 500;

pub(crate) fn run(arguments: &Show) -> CliResult {
    let trace = arguments.source.open()?;
    let session = trace.session(&arguments.session)?;
    match (arguments.level, arguments.source.json) {
        (Level::Summary, true) => print::json(&summary(&trace, &session, arguments.from)?),
        (Level::Summary, false) => {
            head(&trace, &session)?;
            let turns = trace.turns(&session, arguments.from, usize::MAX >> 1)?;
            print::text(&turns::table(&turns).render(table::screen()))
        }
        (level, true) => print_turns(&trace, &session, arguments.from, level),
        (level, false) => {
            head(&trace, &session)?;
            let short = trace.short_id(&session.id)?;
            each_part(&trace, &session, arguments.from, usize::MAX, |part| {
                print::text(&of_part(&part, level, &short))
            })
        }
    }
}

/// Visits the turns and steps in order, with at most `max_chars` characters of each text.
fn each_part(
    trace: &Trace,
    session: &Session,
    from: u64,
    max_chars: usize,
    mut print_part: impl FnMut(TurnPart) -> CliResult,
) -> CliResult {
    let mut printed = Ok(());
    trace.steps(session, from, max_chars, &mut |part| {
        printed = print_part(part);
        if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    printed
}

fn head(trace: &Trace, session: &Session) -> CliResult {
    let summary = &session.summary;
    let subagents = trace.subagents(session)?;
    let mut rows = vec![
        ["session", &escape::line(&session.id)].map(str::to_owned),
        ["provider", session.provider.id()].map(str::to_owned),
    ];
    let mut row = |name: &str, value: Option<String>| {
        rows.extend(value.filter(|value| !value.is_empty()).map(|value| [name.to_owned(), value]));
    };
    row("version", summary.version.as_ref().map(|version| escape::line(version)));
    row("title", summary.title.as_ref().map(|title| escape::line(title)));
    row("project", session.root().map(|root| escape::line(&root)));
    let relation = session.relation.zip(session.parent());
    row(
        "comes from",
        relation.map(|(relation, parent)| escape::line(&format!("{parent} ({})", relation.name()))),
    );
    row("started", Some(render::second(summary.started)));
    row(
        "ended",
        Some(format!(
            "{}, after {}",
            render::second(summary.ended),
            render::duration(summary.duration_seconds())
        )),
    );
    row(
        "events",
        Some(format!(
            "{} in {}, {}, {} failed",
            print::grouped(summary.events),
            print::count(summary.turns, "turn"),
            print::count(session.summary.count(tamis_logs::event::EventKind::ToolCall), "tool call"),
            print::grouped(summary.failed_tools),
        )),
    );
    let account = trace.account(session)?;
    row("models", Some(escape::line(&account.models().collect::<Vec<_>>().join(", "))));
    let mut tokens = print::grouped(trace.tokens_with_subagents(session)?);
    if !subagents.is_empty() {
        tokens.push_str(&format!(", {} of them its own", print::grouped(session.own_tokens)));
    }
    row("tokens", Some(tokens));
    for child in trace.family(session)? {
        let relation = child.relation.map_or("", Relation::name);
        let name = child.summary.agent_name.as_ref().map(|name| format!("{}, ", escape::line(name)));
        row(
            relation,
            Some(format!(
                "{}  {}{} tokens",
                escape::line(&trace.short_id(&child.id)?),
                name.unwrap_or_default(),
                print::grouped(child.own_tokens)
            )),
        );
    }
    print::columns(&rows)?;
    print::line("")
}

fn summary(trace: &Trace, session: &Session, from: u64) -> Result<Value, CliError> {
    let mut value = render::session_json(trace, session, trace.tokens_with_subagents(session)?)?;
    let turns = trace.turns(session, from, usize::MAX >> 1)?;
    let tools = session.summary.tools.iter().map(|(name, used)| {
        let used = json!({"calls": used.calls, "failed": used.failed, "result_bytes": used.result_bytes});
        (name.clone(), used)
    });
    let mut family = Vec::new();
    for child in trace.family(session)? {
        family.push(render::session_json(trace, &child, child.own_tokens)?);
    }
    value["tools"] = redact_json(Value::Object(tools.collect()), &[]).into_inner();
    value["family"] = Value::Array(family);
    value["turns"] = turns.iter().map(render::turn_json).collect();
    Ok(value)
}

/// A document with a turn on each line: a session may be larger than memory.
fn print_turns(trace: &Trace, session: &Session, from: u64, level: Level) -> CliResult {
    let about = render::session_json(trace, session, trace.tokens_with_subagents(session)?)?;
    print::line(format_args!("{{\"session\": {},\n\"turns\": [", escape::json_line(&about)))?;
    let mut turn: Option<Value> = None;
    let mut first = true;
    let mut print_part = |turn: Option<Value>| {
        let Some(turn) = turn else { return Ok(()) };
        let comma = if std::mem::take(&mut first) { "" } else { ",\n" };
        print::text(&format!("{comma}{}", escape::json_line(&turn)))
    };
    // A line for each step shows more of a message than other levels.
    let max_chars = if level == Level::Steps { CUT_AT } else { usize::MAX };
    each_part(trace, session, from, max_chars, |part| match part {
        TurnPart::Turn { number, first_event, at, user } => {
            let begun = json!({
                "turn_index": number,
                "first_event": first_event,
                "timestamp": render::utc(at),
                "user_message": cut(&user, level),
                "steps": [],
            });
            print_part(turn.replace(begun))
        }
        TurnPart::Step { step, .. } => {
            if let Some(Value::Array(steps)) = turn.as_mut().and_then(|turn| turn.get_mut("steps")) {
                steps.push(step_json(&step, level));
            }
            Ok(())
        }
    })?;
    print_part(turn.take())?;
    print::line("\n]}")
}

fn step_json(step: &TurnStep, level: Level) -> Value {
    let mut value = json!({
        "step_index": step.index,
        "first_event": step.first_event,
        "timestamp": render::utc(step.at),
        "tool_calls": step.tool_calls(),
        "failed_tools": step.failed_tools(),
        "tokens": render::tokens_json(step.tokens),
    });
    if step.sidechain {
        value["sidechain"] = true.into();
    }
    if level == Level::Turns {
        value["summary"] = Value::String(outline(step));
        return value;
    }
    if step.sidechain {
        value["prompts"] = json!(step.prompts);
    }
    value["reasoning"] = json!(step.reasoning);
    value["messages"] = json!(step.messages);
    value["notes"] = json!(step.notes);
    value["tools"] = json!(step.tools);
    for (tool, shown) in step.tools.iter().zip(value["tools"].as_array_mut().into_iter().flatten()) {
        if let Some(call) = &tool.call {
            shown["call"]["arguments"] = cut_arguments(&call.arguments, level).into_inner();
        }
    }
    value
}

/// A text as long as the level allows.
fn cut(text: &Redacted, level: Level) -> Redacted {
    if level == Level::Full { text.clone() } else { text.shorten(CUT_AT) }
}

/// Arguments as long as the level allows.
fn cut_arguments(arguments: &Redacted<Value>, level: Level) -> Redacted<Value> {
    if level == Level::Full { arguments.clone() } else { arguments.shorten(CUT_AT) }
}

/// A turn's or step's lines.
fn of_part(part: &TurnPart, level: Level, session: &str) -> String {
    match part {
        TurnPart::Turn { number, first_event, at, user } => {
            let mut text = format!("turn {number}  {}  event {first_event}\n", render::second(*at));
            let level = if level == Level::Turns { Level::Steps } else { level };
            text.push_str(&indented("  > ", &escape::redacted(&cut(user, level))));
            text
        }
        TurnPart::Step { step, .. } if level == Level::Turns => {
            let tokens = match step.tokens.total() {
                0 => String::new(),
                total => format!("  ({} tokens)", print::grouped(total)),
            };
            let whose = if step.sidechain { "subagent: " } else { "" };
            let line = format!("  {:>3}  {whose}{}{tokens}", step.index, outline(step));
            format!("{}\n", table::screen().map_or(line.clone(), |screen| table::cut(&line, screen)))
        }
        TurnPart::Step { step, .. } => whole(step, level, session),
    }
}

/// A step in a line: its tools and whether they failed, or the beginning of the message.
fn outline(step: &TurnStep) -> String {
    let tools: Vec<String> = step
        .tools
        .iter()
        .map(|tool| {
            let name = tool.call.as_ref().map_or("(an earlier call)".to_owned(), |call| {
                let argument = first_argument(&call.arguments);
                escape::line(&format!("{} {argument}", call.name))
            });
            let outcome = match &tool.result {
                Some(result) if result.declined => "declined",
                Some(result) if result.failed => "failed",
                Some(_) => "ok",
                None => "no result",
            };
            format!("{} ({outcome})", table::cut(&name, 60))
        })
        .collect();
    if !tools.is_empty() {
        return tools.join(", ");
    }
    step.first_text().map_or_else(|| "-".to_owned(), |text| table::cut(&escape::line(text), 200))
}

/// What a call is about, mostly a path or a command.
fn first_argument(arguments: &Value) -> String {
    const TELLING: [&str; 6] = ["file_path", "path", "command", "cmd", "pattern", "query"];
    let named = TELLING.iter().find_map(|name| arguments.get(name));
    match named.or_else(|| arguments.as_object().and_then(|members| members.values().next())) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn whole(step: &TurnStep, level: Level, session: &str) -> String {
    let whose = if step.sidechain { " of a subagent" } else { "" };
    let mut text = format!("  step {}{whose}", step.index);
    if step.tokens.total() > 0 {
        text.push_str(&format!("  {} tokens", print::grouped(step.tokens.total())));
    }
    text.push('\n');
    for (name, texts) in [
        ("prompt", &step.prompts),
        ("thinks", &step.reasoning),
        ("says", &step.messages),
        ("note", &step.notes),
    ] {
        for one in texts {
            text.push_str(&format!(
                "    {name}\n{}",
                indented("      ", &escape::redacted(&cut(one, level)))
            ));
        }
    }
    for tool in &step.tools {
        if let Some(call) = &tool.call {
            let arguments = cut_arguments(&call.arguments, level);
            let arguments = escape::text(&serde_json::to_string_pretty(&arguments).unwrap_or_default());
            let name = escape::line(&call.name);
            text.push_str(&format!(
                "    calls {name}  event {}\n{}",
                call.event,
                indented("      ", &arguments)
            ));
        }
        if let Some(result) = &tool.result {
            let outcome = match result {
                result if result.declined => "declined",
                result if result.failed => "failed",
                _ => "gets",
            };
            let content = cut(&result.content, level);
            text.push_str(&format!(
                "    {outcome}  event {}\n{}",
                result.event,
                indented("      ", &escape::redacted(&content))
            ));
            if content != result.content {
                let letters = print::grouped(result.content.chars().count() as u64);
                let event = result.event;
                text.push_str(&format!(
                    "      (of {letters} characters; `tamis trace event {session} {event}`)\n"
                ));
            }
        }
    }
    text
}

fn indented(before: &str, text: &str) -> String {
    text.lines().map(|line| format!("{}\n", format!("{before}{line}").trim_end())).collect()
}
