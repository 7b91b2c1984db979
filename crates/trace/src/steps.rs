//! A session's turns as steps, as `step_boundaries` divides them.
//!
//! A step is given when all its calls have results: a result may be logged after the next step has begun.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::Value;
use tamis_logs::event::{EventBody, EventKind, EventStream, LogEvent, LoggedCall, LoggedResult, Millis};
use tamis_logs::usage::{Claim, Tokens, UsageReport};
use tamis_redact::{Redacted, excerpt};

use crate::accounting::UsageAccount;
use crate::error::TraceError;
use crate::session::Session;
use crate::step_boundaries::StepBoundaries;
use crate::trace::Trace;

/// Bytes of steps that wait for results. Beyond, the oldest is given without: a turn may be larger than memory.
const MOST_HELD: usize = 32 << 20;
/// Bytes of an event besides its texts, roughly.
const EVENT_BYTES: usize = 200;

/// A tool's call with its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolStep {
    /// `None` when the call was in an earlier turn, or the log lacks it.
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
    /// As the log has it: clients report a call that the person declined as an error, too.
    #[serde(rename = "is_error")]
    pub failed: bool,
    /// Whether the person declined the call, which is no failure of the tool.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub declined: bool,
}

impl ResultStep {
    pub fn tool_failed(&self) -> bool {
        self.failed && !self.declined
    }
}

/// One step of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnStep {
    pub index: u64,
    /// Whether it is a subagent's, whose conversation is in the session's own log.
    pub sidechain: bool,
    pub first_event: u64,
    pub at: Option<Millis>,
    /// What a subagent was told to do.
    pub prompts: Vec<Redacted>,
    pub reasoning: Vec<Redacted>,
    pub messages: Vec<Redacted>,
    pub notes: Vec<Redacted>,
    pub tools: Vec<ToolStep>,
    /// Used by the requests that are reported in this step.
    pub tokens: Tokens,
}

impl TurnStep {
    pub fn failed_tools(&self) -> u64 {
        self.tools.iter().filter(|tool| tool.result.as_ref().is_some_and(ResultStep::tool_failed)).count()
            as u64
    }

    pub fn tool_calls(&self) -> u64 {
        self.tools.iter().filter(|tool| tool.call.is_some()).count() as u64
    }

    /// The text that describes it best: a message, or else what there is.
    pub fn first_text(&self) -> Option<&Redacted> {
        self.messages.first().or(self.reasoning.first()).or(self.prompts.first()).or(self.notes.first())
    }

    /// Whether a call of it has no result.
    fn has_open_call(&self) -> bool {
        self.tools.iter().any(|tool| tool.result.is_none())
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
            boundaries: StepBoundaries::default(),
            held: VecDeque::new(),
            held_bytes: 0,
            open: [None; 2],
            next_step: 0,
            // A request that an earlier turn or an earlier session reports is not counted again.
            account: self.account(session)?.before_turn(turn.number),
            inherited: self.inherited_requests(session)?.iter().filter_map(|request| request.key).collect(),
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

/// A step that is not given yet, with its bytes.
struct HeldStep {
    step: TurnStep,
    bytes: usize,
}

struct Builder {
    turn: u64,
    /// The first event of the first turn.
    first_event: u64,
    max_chars: usize,
    boundaries: StepBoundaries,
    /// Steps in order, whose indexes follow on one another.
    held: VecDeque<HeldStep>,
    held_bytes: usize,
    /// The indexes of the steps that go on: the agent's own, and a subagent's.
    open: [Option<u64>; 2],
    next_step: u64,
    account: UsageAccount,
    /// The keys of requests that an earlier session counts.
    inherited: HashSet<u64>,
}

type Visit<'v> = dyn FnMut(TurnPart) -> ControlFlow<()> + 'v;

impl Builder {
    fn take(&mut self, number: u64, event: &LogEvent<'_>, visit: &mut Visit<'_>) -> ControlFlow<()> {
        let sidechain = event.stream == EventStream::Sidechain;
        if event.kind().begins_turn() && !sidechain {
            return self.begin_turn(number, event, visit);
        }
        if self.boundaries.begins_step(event) {
            self.begin_step(number, event);
        }
        self.put(number, event);
        self.give(false, visit)
    }

    fn begin_step(&mut self, number: u64, event: &LogEvent<'_>) {
        let sidechain = event.stream == EventStream::Sidechain;
        let index = self.next_step;
        let step = TurnStep { index, sidechain, first_event: number, at: event.at, ..TurnStep::default() };
        self.held.push_back(HeldStep { step, bytes: 0 });
        self.open[usize::from(sidechain)] = Some(index);
        self.next_step += 1;
    }

    /// Puts an event into its step.
    fn put(&mut self, number: u64, event: &LogEvent<'_>) {
        if let EventBody::ToolResult(result) = &event.body
            && let Some((held, tool)) = self.waiting_call(result, event.stream)
        {
            let given = self.result(number, result);
            let bytes = given.content.len();
            self.held[held].step.tools[tool].result = Some(given);
            return self.add_bytes(held, bytes);
        }
        let sidechain = usize::from(event.stream == EventStream::Sidechain);
        let held = self.open[sidechain].and_then(|index| self.place_of(index));
        let held = match held {
            Some(held) => held,
            // It was given already, since too much waited behind it.
            None if self.open[sidechain].is_some() => {
                self.begin_step(number, event);
                self.held.len() - 1
            }
            None => return,
        };
        let bytes = match &event.body {
            EventBody::TokenUsage(UsageReport { claim: Claim::Request(key), .. })
                if self.inherited.contains(key) =>
            {
                0
            }
            EventBody::TokenUsage(report) => {
                let entry = self.account.take(report, event.at);
                let tokens = &mut self.held[held].step.tokens;
                *tokens = tokens.plus(entry.added).minus(entry.taken);
                0
            }
            EventBody::ToolCall(call) => {
                let (call, bytes) = call_step(number, call);
                self.held[held].step.tools.push(ToolStep { call: Some(call), result: None });
                bytes
            }
            EventBody::ToolResult(result) => {
                let result = self.result(number, result);
                let bytes = result.content.len();
                self.held[held].step.tools.push(ToolStep { call: None, result: Some(result) });
                bytes
            }
            body => {
                let text = match body.content() {
                    Some(content) => excerpt(&content.to_text(), self.max_chars),
                    None => excerpt(&body.prompt(), self.max_chars),
                };
                let bytes = text.len();
                let step = &mut self.held[held].step;
                let texts = match event.kind() {
                    EventKind::Reasoning => &mut step.reasoning,
                    EventKind::Message => &mut step.messages,
                    EventKind::User | EventKind::SlashCommand => &mut step.prompts,
                    _ => &mut step.notes,
                };
                texts.push(text);
                bytes
            }
        };
        self.add_bytes(held, bytes);
    }

    fn add_bytes(&mut self, held: usize, bytes: usize) {
        self.held[held].bytes += bytes + EVENT_BYTES;
        self.held_bytes += bytes + EVENT_BYTES;
    }

    fn result(&self, number: u64, result: &LoggedResult<'_>) -> ResultStep {
        ResultStep {
            event: number,
            content: excerpt(&result.content.to_text(), self.max_chars),
            failed: result.failed,
            declined: result.is_declined(),
        }
    }

    /// The call that a result belongs to: its step among those held, and its place in that. A result without an id belongs to
    /// the step that goes on.
    fn waiting_call(&self, result: &LoggedResult<'_>, stream: EventStream) -> Option<(usize, usize)> {
        let sidechain = stream == EventStream::Sidechain;
        let open = self.open[usize::from(sidechain)];
        let steps = self.held.iter().enumerate().rev().filter(|(_, held)| {
            held.step.sidechain == sidechain && (result.id.is_some() || Some(held.step.index) == open)
        });
        steps
            .map(|(place, held)| {
                let waits = |tool: &ToolStep| {
                    tool.result.is_none()
                        && tool.call.as_ref().is_some_and(|call| call.id.as_deref() == result.id.as_deref())
                };
                Some((place, held.step.tools.iter().position(waits)?))
            })
            .find_map(|found| found)
    }

    /// Where a step is among those held.
    fn place_of(&self, index: u64) -> Option<usize> {
        let first = self.held.front()?.step.index;
        usize::try_from(index.checked_sub(first)?).ok().filter(|place| *place < self.held.len())
    }

    fn begin_turn(&mut self, number: u64, event: &LogEvent<'_>, visit: &mut Visit<'_>) -> ControlFlow<()> {
        self.finish(visit)?;
        self.turn += u64::from(number != self.first_event);
        self.boundaries = StepBoundaries::default();
        self.open = [None; 2];
        self.next_step = 0;
        let user = excerpt(&event.body.prompt(), self.max_chars);
        visit(TurnPart::Turn { number: self.turn, first_event: number, at: event.at, user })
    }

    /// Visits the steps that nothing can be added to, or all of them.
    fn give(&mut self, all: bool, visit: &mut Visit<'_>) -> ControlFlow<()> {
        while let Some(HeldStep { step, .. }) = self.held.front() {
            let waits = self.open.contains(&Some(step.index)) || step.has_open_call();
            if !all && waits && self.held_bytes <= MOST_HELD {
                break;
            }
            if let Some(HeldStep { step, bytes }) = self.held.pop_front() {
                self.held_bytes -= bytes;
                visit(TurnPart::Step { turn: self.turn, step })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Visits all steps of the turn that were not visited yet.
    fn finish(&mut self, visit: &mut Visit<'_>) -> ControlFlow<()> {
        self.give(true, visit)
    }
}

/// A call with its bytes.
fn call_step(number: u64, call: &LoggedCall<'_>) -> (CallStep, usize) {
    let step = CallStep {
        event: number,
        name: Redacted::from(&*call.name),
        id: call.id.as_ref().map(|id| id.clone().into_owned()),
        arguments: Redacted::new(call.arguments.to_value()),
    };
    (step, call.arguments.size())
}
