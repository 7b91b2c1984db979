//! What a session does now, from the last events of its log.
//!
//! A log says when a call began and when its result came, but neither that a client waits for a permission nor that a program has
//! ended. So what a session does is a list of phases: each holds from its time on, as long as nothing more is written.

use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::Value;
use tamis_logs::event::{EventBody, EventStream, LogEvent, LoggedCall, Millis};
use tamis_logs::tool_kinds::{CallDetails, ToolKind};
use tamis_redact::Redacted;
use tamis_trace::{Session, Trace, TraceError, preview};

/// Events at the end of a log that are looked at.
const LAST_EVENTS: u64 = 400;
/// Characters of what a call is about, and of a message.
pub(crate) const ARGUMENT_CHARS: usize = 160;
const MESSAGE_CHARS: usize = 240;

const SECOND: Millis = 1000;
const MINUTE: Millis = 60 * SECOND;
const HOUR: Millis = 60 * MINUTE;
/// A message is followed by calls of the same answer within this time.
const MESSAGE_SETTLES: Millis = 5 * SECOND;
/// A model that has written nothing for this long is not at work any more.
const LONGEST_THOUGHT: Millis = 10 * MINUTE;
/// A command of the client itself has no answer.
const LONGEST_COMMAND: Millis = 2 * MINUTE;
/// After this long, no answer is expected any more.
const MESSAGE_WAITS: Millis = HOUR;
const CALL_WAITS: Millis = 2 * HOUR;
const QUESTION_WAITS: Millis = 8 * HOUR;

/// Claude Code's note that the user interrupted it.
const INTERRUPTED: &str = "[Request interrupted by user";

/// Whether a session needs a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NowState {
    Working,
    /// For a person.
    Waiting,
    /// A call has had no result for long: it may still run, or wait for a permission.
    MaybeWaiting,
    /// Nothing has happened for long.
    Idle,
}

/// A state that holds from this time on, as long as nothing more is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowPhase {
    pub from: Millis,
    pub state: NowState,
}

/// The last thing in a session's main conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NowActivity {
    /// A call without a result.
    Call,
    /// A call that asks the person.
    Question,
    /// Words or results that the model has not answered yet.
    #[default]
    Thinking,
    /// The agent's words.
    Message,
    /// The person stopped the agent.
    Interrupted,
    /// The person's command to the client.
    Command,
}

/// What a session does, or did last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NowDoing {
    pub activity: NowActivity,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub tool: Option<Redacted>,
    /// What the call is about: a path, a command, a question; of a message, its beginning.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub text: Option<Redacted>,
    /// The number of its event.
    pub event: Option<u64>,
    /// Calls without a result, this one included.
    pub open_calls: u64,
}

/// What the end of a log says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    pub(crate) doing: NowDoing,
    at: Option<Millis>,
    kind: Option<ToolKind>,
    /// The model of the latest request of the main conversation, and what it read.
    pub(crate) request: Option<(String, u64)>,
}

struct OpenCall {
    id: Option<String>,
    event: u64,
    at: Option<Millis>,
    tool: Redacted,
    text: Option<Redacted>,
    kind: ToolKind,
}

impl Tail {
    pub(crate) fn read(trace: &Trace, session: &Session) -> Result<Tail, TraceError> {
        let mut tail = Tail::default();
        let mut open: Vec<OpenCall> = Vec::new();
        let first = session.summary.events.saturating_sub(LAST_EVENTS);
        trace.events(session, first, &mut |number, event| {
            tail.take(&mut open, number, event);
            ControlFlow::Continue(())
        })?;
        tail.with_open_calls(&open);
        Ok(tail)
    }

    fn take(&mut self, open: &mut Vec<OpenCall>, number: u64, event: &LogEvent<'_>) {
        if event.stream == EventStream::Sidechain {
            return;
        }
        let activity = match &event.body {
            EventBody::TokenUsage(report) => {
                if report.tokens.read() > 0 {
                    let model = report.model.as_deref().unwrap_or_default();
                    self.request = Some((model.to_owned(), report.tokens.read()));
                }
                return;
            }
            EventBody::Compaction(_) => {
                self.request = None;
                return;
            }
            EventBody::User(content) | EventBody::Notification(content)
                if content.to_text().starts_with(INTERRUPTED) =>
            {
                NowActivity::Interrupted
            }
            EventBody::Notification(_) | EventBody::Summary(_) => return,
            EventBody::User(_) | EventBody::Reasoning(_) => NowActivity::Thinking,
            EventBody::SlashCommand { .. } => NowActivity::Command,
            EventBody::Message(_) => NowActivity::Message,
            EventBody::ToolCall(call) => {
                let (tool, text, kind) = describe(call);
                let id = call.id.as_ref().map(|id| id.clone().into_owned());
                open.push(OpenCall { id, event: number, at: event.at, tool, text, kind });
                return;
            }
            EventBody::ToolResult(result) => {
                open.retain(|call| call.id.as_deref() != result.id.as_deref());
                NowActivity::Thinking
            }
        };
        // Some calls never get a result; the model that goes on has what it needs.
        if !matches!(event.body, EventBody::ToolResult(_)) {
            open.clear();
        }
        let text = match &event.body {
            EventBody::Message(content) => Some(preview(&content.to_text(), MESSAGE_CHARS)),
            EventBody::SlashCommand { .. } => Some(preview(&event.body.prompt(), MESSAGE_CHARS)),
            _ => None,
        };
        self.doing = NowDoing { activity, tool: None, text, event: Some(number), open_calls: 0 };
        self.at = event.at;
        self.kind = None;
    }

    /// Of several calls, the one that has to be looked at first.
    fn with_open_calls(&mut self, open: &[OpenCall]) {
        let Some(call) =
            open.iter().min_by_key(|call| (call.at.unwrap_or(0)).saturating_add(patience(call.kind)))
        else {
            return;
        };
        let activity = if call.kind == ToolKind::Ask { NowActivity::Question } else { NowActivity::Call };
        self.doing = NowDoing {
            activity,
            tool: Some(call.tool.clone()),
            text: call.text.clone(),
            event: Some(call.event),
            open_calls: open.len() as u64,
        };
        self.at = call.at;
        self.kind = Some(call.kind);
    }

    /// The phases of a session that was last written to at `ended`, and whose subagents were at `subagents`.
    pub(crate) fn phases(&self, ended: Millis, subagents: Option<Millis>) -> Vec<NowPhase> {
        let at = self.at.unwrap_or(ended);
        let last = ended.max(subagents.unwrap_or(ended));
        let phase = |from, state| NowPhase { from, state };
        match self.doing.activity {
            NowActivity::Thinking => {
                vec![phase(at, NowState::Working), phase(last + LONGEST_THOUGHT, NowState::Idle)]
            }
            NowActivity::Command => {
                vec![phase(at, NowState::Working), phase(at + LONGEST_COMMAND, NowState::Idle)]
            }
            NowActivity::Message => vec![
                phase(at, NowState::Working),
                phase(at + MESSAGE_SETTLES, NowState::Waiting),
                phase(at + MESSAGE_WAITS, NowState::Idle),
            ],
            NowActivity::Interrupted => {
                vec![phase(at, NowState::Waiting), phase(at + MESSAGE_WAITS, NowState::Idle)]
            }
            NowActivity::Question => {
                vec![phase(at, NowState::Waiting), phase(at + QUESTION_WAITS, NowState::Idle)]
            }
            NowActivity::Call => {
                let kind = self.kind.unwrap_or(ToolKind::Other);
                // A subagent that writes is at work for its parent.
                let from = if kind == ToolKind::Delegate { at.max(last) } else { at };
                let long = from + patience(kind);
                vec![
                    phase(at, NowState::Working),
                    phase(long, NowState::MaybeWaiting),
                    phase(long.max(last + CALL_WAITS), NowState::Idle),
                ]
            }
        }
    }
}

/// How long a call may take before it may be waiting for a permission.
fn patience(kind: ToolKind) -> Millis {
    match kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Write | ToolKind::Search | ToolKind::Plan => 20 * SECOND,
        ToolKind::Ask => 0,
        ToolKind::Fetch => MINUTE,
        ToolKind::Delegate | ToolKind::Poll => 10 * MINUTE,
        ToolKind::Run | ToolKind::Other => 3 * MINUTE,
    }
}

/// A call's name, what it is about, and its kind.
pub(crate) fn describe(call: &LoggedCall<'_>) -> (Redacted, Option<Redacted>, ToolKind) {
    let arguments = call.arguments.to_value();
    let details = CallDetails::of(&call.name, &arguments);
    // What is searched for says more than where.
    let words = details.words.as_deref().filter(|_| details.tool_kind == ToolKind::Search);
    let text = match words.or_else(|| details.target()) {
        Some(target) => Some(target.to_owned()),
        // Claude Code's questions are a list.
        None if details.tool_kind == ToolKind::Ask => {
            arguments.pointer("/questions/0/question").and_then(Value::as_str).map(str::to_owned)
        }
        // Of other tools, the first text.
        None => arguments
            .as_object()
            .and_then(|members| members.values().find_map(Value::as_str).map(str::to_owned)),
    };
    let text = text.map(|text| preview(&text, ARGUMENT_CHARS)).filter(|text| !text.is_empty());
    (preview(&call.name, ARGUMENT_CHARS), text, details.tool_kind)
}
