//! A session's turns as steps: the agent's reasoning, messages and tool calls between two sets of tool results.

use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::Value;
use tamis_logs::event::{EventBody, EventKind, EventStream, LogEvent, Millis};
use tamis_logs::usage::Tokens;
use tamis_redact::{Redacted, excerpt};

use crate::accounting::UsageAccount;
use crate::error::TraceError;
use crate::session::Session;
use crate::trace::Trace;

/// A tool's call with its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolStep {
    /// `None` when the call was in an earlier step, or the log lacks it.
    pub call: Option<CallStep>,
    pub result: Option<ResultStep>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallStep {
    #[serde(rename = "event_index")]
    pub event: u64,
    pub name: Redacted,
    #[serde(skip)]
    id: Option<String>,
    pub arguments: Redacted<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResultStep {
    #[serde(rename = "event_index")]
    pub event: u64,
    pub content: Redacted,
    #[serde(rename = "is_error")]
    pub failed: bool,
}

/// One step of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnStep {
    pub index: u64,
    pub first_event: u64,
    pub at: Option<Millis>,
    pub reasoning: Vec<Redacted>,
    pub messages: Vec<Redacted>,
    pub notes: Vec<Redacted>,
    pub tools: Vec<ToolStep>,
    /// Used by the requests that are reported in this step.
    pub tokens: Tokens,
    /// Events of subagents inside the session's own log.
    pub sidechain_events: u64,
}

impl TurnStep {
    pub fn failed_tools(&self) -> u64 {
        self.tools.iter().filter(|tool| tool.result.as_ref().is_some_and(|result| result.failed)).count()
            as u64
    }

    pub fn tool_calls(&self) -> u64 {
        self.tools.iter().filter(|tool| tool.call.is_some()).count() as u64
    }

    /// The text that describes it best: a message, or else what there is.
    pub fn first_text(&self) -> Option<&Redacted> {
        self.messages.first().or(self.reasoning.first()).or(self.notes.first())
    }

    fn is_empty(&self) -> bool {
        self.reasoning.is_empty()
            && self.messages.is_empty()
            && self.notes.is_empty()
            && self.tools.is_empty()
            && self.sidechain_events == 0
            && self.tokens.is_zero()
    }
}

/// A piece of a session, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnPart {
    /// A turn begins, with the person's message.
    Turn {
        number: u64,
        first_event: u64,
        at: Option<Millis>,
        user: Redacted,
    },
    Step {
        turn: u64,
        step: TurnStep,
    },
}

impl Trace {
    /// Visits a session's turns from this one on, step by step. Each text has at most `max_chars` characters.
    pub fn steps(
        &self,
        session: &Session,
        from_turn: u64,
        max_chars: usize,
        visit: &mut dyn FnMut(TurnPart) -> ControlFlow<()>,
    ) -> Result<(), TraceError> {
        let Some(turn) = self.turns(session, from_turn, 1)?.into_iter().next() else { return Ok(()) };
        let first = turn.first_event;
        let mut builder = Builder {
            turn: turn.number,
            first_event: first,
            max_chars,
            step: None,
            next_step: 0,
            between: true,
            account: UsageAccount::default(),
        };
        if turn.preview.is_empty() {
            // A session that begins without a person's words has a first turn nevertheless.
            let part = TurnPart::Turn {
                number: turn.number,
                first_event: first,
                at: turn.at,
                user: Redacted::default(),
            };
            if visit(part).is_break() {
                return Ok(());
            }
        }
        let mut flow = ControlFlow::Continue(());
        self.events(session, first, &mut |number, event| {
            flow = builder.take(number, event, visit);
            flow
        })?;
        if flow.is_continue() {
            let _ = builder.finish(visit);
        }
        Ok(())
    }
}

struct Builder {
    turn: u64,
    /// The first event of the first turn.
    first_event: u64,
    max_chars: usize,
    step: Option<TurnStep>,
    next_step: u64,
    /// Whether the agent's next act begins a step.
    between: bool,
    account: UsageAccount,
}

type Visit<'v> = dyn FnMut(TurnPart) -> ControlFlow<()> + 'v;

impl Builder {
    fn take(&mut self, number: u64, event: &LogEvent<'_>, visit: &mut Visit<'_>) -> ControlFlow<()> {
        let kind = event.kind();
        let sidechain = event.stream == EventStream::Sidechain;
        if kind.begins_turn() && !sidechain {
            return self.begin_turn(number, event, visit);
        }
        let acts = matches!(kind, EventKind::Message | EventKind::Reasoning | EventKind::ToolCall);
        if acts && !sidechain && self.between {
            self.finish(visit)?;
            self.between = false;
        }
        let max = self.max_chars;
        let index = self.next_step;
        let step = self.step.get_or_insert_with(|| TurnStep {
            index,
            first_event: number,
            at: event.at,
            ..TurnStep::default()
        });
        match &event.body {
            EventBody::TokenUsage(report) => {
                let entry = self.account.take(report, event.at);
                step.tokens = step.tokens.plus(entry.added).minus(entry.taken);
            }
            _ if sidechain => step.sidechain_events += 1,
            EventBody::ToolCall(call) => {
                let call = CallStep {
                    event: number,
                    name: Redacted::from(&*call.name),
                    id: call.id.as_ref().map(|id| id.clone().into_owned()),
                    arguments: Redacted::new(call.arguments.to_value()),
                };
                step.tools.push(ToolStep { call: Some(call), result: None });
            }
            EventBody::ToolResult(result) => {
                self.between = true;
                let of = |call: &CallStep| call.id.as_deref() == result.id.as_deref();
                let open = step
                    .tools
                    .iter_mut()
                    .find(|tool| tool.result.is_none() && tool.call.as_ref().is_some_and(of));
                let content = excerpt(&result.content.to_text(), max);
                let result = ResultStep { event: number, content, failed: result.failed };
                match open {
                    Some(tool) => tool.result = Some(result),
                    None => step.tools.push(ToolStep { call: None, result: Some(result) }),
                }
            }
            text => {
                let texts = match kind {
                    EventKind::Reasoning => &mut step.reasoning,
                    EventKind::Message => &mut step.messages,
                    _ => &mut step.notes,
                };
                texts.extend(text.content().map(|content| excerpt(&content.to_text(), max)));
            }
        }
        ControlFlow::Continue(())
    }

    fn begin_turn(&mut self, number: u64, event: &LogEvent<'_>, visit: &mut Visit<'_>) -> ControlFlow<()> {
        self.finish(visit)?;
        self.turn += u64::from(number != self.first_event);
        self.next_step = 0;
        self.between = true;
        let user = excerpt(&event.body.prompt(), self.max_chars);
        visit(TurnPart::Turn { number: self.turn, first_event: number, at: event.at, user })
    }

    /// Visits the open step.
    fn finish(&mut self, visit: &mut Visit<'_>) -> ControlFlow<()> {
        match self.step.take() {
            Some(step) if !step.is_empty() => {
                self.next_step += 1;
                visit(TurnPart::Step { turn: self.turn, step })
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
