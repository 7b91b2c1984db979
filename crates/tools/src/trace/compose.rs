//! Turns and their steps, put together piece by piece until the answer is full.
//!
//! Every piece has a spot: its turn, its step in it, its slot in that, and an offset into its text. A cursor is the spot of
//! the first piece that did not fit. A piece that is larger than an answer is given in parts, so nothing is out of reach.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};
use tamis_redact::Redacted;
use tamis_trace::{Session, Turn, TurnPart, TurnStep};

use super::call::TraceCall;
use super::failure::trace_failure;
use super::page::{fitting, size, text_size};
use super::show::time;
use super::summary::{TELLING, key_actions, outcome, step_summary, step_tokens, turn_stats};
use crate::Failure;

/// Turn; step, from 1, or 0 for what the turn begins with; slot; byte of the slot's text.
pub(crate) type Spot = (u64, u64, u64, u64);

/// Characters of a text in summaries and in cut payloads.
const CUT: usize = 500;
/// A part of a text has at least this many bytes: less is not worth an answer of its own.
const LEAST_PART: usize = 2_000;
/// Members' names and punctuation around a piece.
const FRAME: usize = 40;

const PROMPT: u64 = 1;
const REASONING: u64 = 2;
const MESSAGE: u64 = 3;
const NOTES: u64 = 4;
const TOOLS: u64 = 5;

/// How much of a step is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Depth {
    /// One line for each step.
    Summaries { reasoning: bool },
    /// Its texts, each cut.
    Cut,
    /// All of it.
    Whole,
}

/// Which turns are given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selection {
    From(u64),
    /// These, in order.
    Only(Vec<u64>),
}

/// What was put together, and where it goes on.
pub(crate) struct Composed {
    pub(crate) turns: Vec<Value>,
    pub(crate) next: Option<Spot>,
}

/// Puts turns together from a spot on, in at most `room` bytes.
pub(crate) fn compose(
    call: &TraceCall<'_>,
    session: &Session,
    selection: &Selection,
    start: Option<Spot>,
    depth: Depth,
    room: usize,
) -> Result<Composed, Failure> {
    let start = start.unwrap_or_default();
    let mut composer =
        Composer { call, session, depth, start, room, left: room, turns: Vec::new(), next: None };
    let mut cancelled = false;
    let mut run = |composer: &mut Composer<'_>, from: u64, only: bool| {
        let mut failure = None;
        let visit = &mut |part: TurnPart| {
            cancelled = call.is_cancelled();
            match part {
                _ if cancelled => ControlFlow::Break(()),
                TurnPart::Turn { number, .. } if only && number != from => ControlFlow::Break(()),
                part => composer.take(part).unwrap_or_else(|error| {
                    failure = Some(error);
                    ControlFlow::Break(())
                }),
            }
        };
        let max_chars = if depth == Depth::Whole { usize::MAX } else { CUT };
        call.trace.steps(session, from, max_chars, visit).map_err(trace_failure)?;
        failure.map_or(Ok(()), Err)
    };
    match selection {
        Selection::From(first) => run(&mut composer, (*first).max(start.0), false)?,
        Selection::Only(numbers) => {
            for number in numbers.iter().filter(|number| **number >= start.0) {
                run(&mut composer, *number, true)?;
                if composer.next.is_some() {
                    break;
                }
            }
        }
    }
    if cancelled {
        return Err(Failure::Cancelled);
    }
    Ok(Composed { turns: composer.turns, next: composer.next })
}

struct Composer<'a> {
    call: &'a TraceCall<'a>,
    session: &'a Session,
    depth: Depth,
    start: Spot,
    room: usize,
    left: usize,
    turns: Vec<Value>,
    next: Option<Spot>,
}

/// Where in its step a piece belongs.
#[derive(Clone, Copy)]
enum Place {
    Turn,
    Step(&'static str),
    Tool(usize, &'static str),
}

/// A part of an answer: members, and a text that may be given in parts.
struct Piece {
    place: Place,
    members: Map<String, Value>,
    text: Option<(&'static str, Redacted)>,
}

type Flow = Result<ControlFlow<()>, Failure>;

impl Composer<'_> {
    fn take(&mut self, part: TurnPart) -> Flow {
        match part {
            TurnPart::Turn { number, user, .. } => {
                let piece =
                    Piece { place: Place::Turn, members: Map::new(), text: Some(("user_message", user)) };
                Ok(self.put((number, 0, 0), piece, None))
            }
            TurnPart::Step { turn, step } => self.step(turn, &step),
        }
    }

    fn step(&mut self, turn: u64, step: &TurnStep) -> Flow {
        let number = step.index + 1;
        if (turn, number) < (self.start.0, self.start.1) {
            return Ok(ControlFlow::Continue(()));
        }
        if let Depth::Summaries { reasoning } = self.depth {
            let mut summary = step_summary(step);
            if reasoning && !step.reasoning.is_empty() {
                summary["reasoning"] = joined(&step.reasoning).shorten(CUT).into();
            }
            return Ok(self.put_step(turn, number, summary));
        }
        let texts = [
            (PROMPT, "prompt", &step.prompts),
            (REASONING, "reasoning", &step.reasoning),
            (MESSAGE, "message", &step.messages),
            (NOTES, "notes", &step.notes),
        ];
        let mut flow = self.put((turn, number, 0), empty(Place::Step("")), Some(step));
        for (slot, name, texts) in texts {
            if flow.is_continue() && !texts.is_empty() {
                let text = self.cut(joined(texts));
                let piece =
                    Piece { place: Place::Step(name), members: Map::new(), text: Some(("text", text)) };
                flow = self.put((turn, number, slot), piece, Some(step));
            }
        }
        for (index, tool) in step.tools.iter().enumerate() {
            let slot = TOOLS + 2 * index as u64;
            if let (ControlFlow::Continue(()), Some(call)) = (flow, &tool.call) {
                let piece = self.call(index, call);
                flow = self.put((turn, number, slot), piece, Some(step));
            }
            if let (ControlFlow::Continue(()), Some(result)) = (flow, &tool.result) {
                let mut members = Map::from_iter([
                    ("event_index".to_owned(), result.event.into()),
                    ("is_error".to_owned(), result.failed.into()),
                ]);
                if result.declined {
                    members.insert("declined".to_owned(), true.into());
                }
                let text = Some(("content", result.content.clone()));
                let piece = Piece { place: Place::Tool(index, "result"), members, text };
                flow = self.put((turn, number, slot + 1), piece, Some(step));
            }
        }
        Ok(flow)
    }

    fn call(&self, index: usize, call: &tamis_trace::CallStep) -> Piece {
        let mut members = Map::from_iter([
            ("event_index".to_owned(), call.event.into()),
            ("name".to_owned(), call.name.shorten(200).into()),
        ]);
        let arguments = match self.depth {
            Depth::Whole => call.arguments.clone(),
            _ => call.arguments.summarise(TELLING, CUT),
        };
        let mut text = None;
        // JSON that is too large for an answer is given as its text, in parts.
        if size(&arguments) > self.room / 2 {
            text = Some(("arguments_json", arguments.to_text()));
        } else {
            members.insert("arguments".to_owned(), arguments.into_inner());
        }
        Piece { place: Place::Tool(index, "call"), members, text }
    }

    fn cut(&self, text: Redacted) -> Redacted {
        if self.depth == Depth::Whole { text } else { text.shorten(CUT) }
    }

    /// A step in one line.
    fn put_step(&mut self, turn: u64, number: u64, summary: Value) -> ControlFlow<()> {
        let needed = size(&summary) + 1;
        let head = self.head_of(turn);
        let opening = head.as_ref().map_or(0, size);
        if needed + opening > self.left && !self.turns.is_empty() {
            self.next = Some((turn, number, 0, 0));
            return ControlFlow::Break(());
        }
        self.left = self.left.saturating_sub(needed + opening);
        self.turns.extend(head);
        if let Some(steps) = self.turns.last_mut().and_then(|turn| turn["steps"].as_array_mut()) {
            steps.push(summary);
        }
        ControlFlow::Continue(())
    }

    /// Takes a piece, as much of it as fits.
    fn put(
        &mut self,
        (turn, number, slot): (u64, u64, u64),
        piece: Piece,
        step: Option<&TurnStep>,
    ) -> ControlFlow<()> {
        let first = (self.start.0, self.start.1, self.start.2);
        if (turn, number, slot) < first {
            return ControlFlow::Continue(());
        }
        let offset = if (turn, number, slot) == first { self.start.3 as usize } else { 0 };
        let Piece { place, mut members, text } = piece;
        let head = self.head_of(turn);
        let step_head = step.and_then(|step| self.step_head(turn, step, head.is_some()));
        let opening = [&head, &step_head].into_iter().flatten().map(|head| size(head) + FRAME).sum::<usize>();
        let frame = opening + size(&members) + FRAME;
        let full = |composer: &mut Composer<'_>, offset: usize| {
            composer.next = Some((turn, number, slot, offset as u64));
            ControlFlow::Break(())
        };
        let mut flow = ControlFlow::Continue(());
        let mut needed = frame;
        match text {
            None if frame > self.left && !self.turns.is_empty() => return full(self, 0),
            None => {}
            Some((name, text)) => {
                // A cursor of a session that was rewritten may point past the text, or into a letter.
                let offset = text.floor_char_boundary(offset);
                let rest = &text[offset..];
                let whole = text_size(rest) + name.len() + FRAME;
                if frame + whole <= self.left {
                    needed += whole;
                    if offset > 0 {
                        members.insert(format!("{name}_part"), part(&text, offset, text.len()));
                    }
                    members.insert(name.to_owned(), rest.into());
                } else if frame + whole <= self.room && !self.turns.is_empty() {
                    return full(self, offset);
                } else {
                    let around = frame + name.len() * 2 + 120;
                    if self.left < around + LEAST_PART && !self.turns.is_empty() {
                        return full(self, offset);
                    }
                    let end = offset + fitting(rest, self.left.saturating_sub(around));
                    needed = self.left;
                    members.insert(format!("{name}_part"), part(&text, offset, end));
                    members.insert(name.to_owned(), text[offset..end].into());
                    flow = full(self, end);
                }
            }
        }
        self.left = self.left.saturating_sub(needed);
        self.turns.extend(head);
        self.insert(place, members, step_head);
        flow
    }

    fn insert(&mut self, place: Place, members: Map<String, Value>, step_head: Option<Value>) {
        let Some(Value::Object(turn)) = self.turns.last_mut() else { return };
        if let Place::Turn = place {
            turn.extend(members);
            return;
        }
        let Some(Value::Array(steps)) = turn.get_mut("steps") else { return };
        steps.extend(step_head);
        let Some(step) = steps.last_mut() else { return };
        match place {
            Place::Step(name) if !name.is_empty() => step[name] = members.into(),
            Place::Tool(index, name) => {
                if step["tools"].is_null() {
                    step["tools"] = json!([]);
                }
                let Some(tools) = step["tools"].as_array_mut() else { return };
                if tools.last().is_none_or(|tool| tool["tool_index"] != index) {
                    tools.push(json!({"tool_index": index}));
                }
                if let Some(tool) = tools.last_mut() {
                    tool[name] = members.into();
                }
            }
            _ => {}
        }
    }

    /// What a turn begins with, unless it is the one that is open.
    fn head_of(&self, turn: u64) -> Option<Value> {
        if self.turns.last().is_some_and(|last| last["turn_index"] == turn) {
            return None;
        }
        let known =
            self.call.trace.turns(self.session, turn, 1).ok().and_then(|turns| turns.into_iter().next());
        let known = known
            .filter(|known| known.number == turn)
            .unwrap_or_else(|| Turn { number: turn, ..Turn::default() });
        let mut head = json!({
            "turn_index": turn,
            "timestamp": time(known.at),
            "first_event": known.first_event,
            "step_count": known.steps,
            "outcome": outcome(&known),
            "stats": turn_stats(&known),
            "steps": [],
        });
        if matches!(self.depth, Depth::Summaries { .. }) {
            head["key_actions"] = key_actions(&known);
        }
        if self.start > (turn, 0, 0, 0) {
            head["continued"] = true.into();
            head["user_message"] = known.preview.clone().into();
        }
        Some(head)
    }

    /// The same for a step.
    fn step_head(&self, turn: u64, step: &TurnStep, new_turn: bool) -> Option<Value> {
        let open = self.turns.last().and_then(|turn| turn["steps"].as_array()?.last());
        if !new_turn && open.is_some_and(|open| open["step_index"] == step.index) {
            return None;
        }
        let mut head = json!({
            "step_index": step.index,
            "timestamp": time(step.at),
            "first_event": step.first_event,
            "tokens": step_tokens(step),
        });
        if self.start > (turn, step.index + 1, 0, 0) {
            head["continued"] = true.into();
        }
        if step.sidechain {
            head["sidechain"] = true.into();
        }
        Some(head)
    }
}

fn empty(place: Place) -> Piece {
    Piece { place, members: Map::new(), text: None }
}

/// Which characters of a text these are.
pub(crate) fn part(text: &str, start: usize, end: usize) -> Value {
    let count = |text: &str| text.chars().count();
    let before = count(&text[..start]);
    let within = count(&text[start..end]);
    json!({"start": before, "end": before + within, "total": before + within + count(&text[end..])})
}

fn joined(texts: &[Redacted]) -> Redacted {
    Redacted::join(texts, "\n\n")
}
