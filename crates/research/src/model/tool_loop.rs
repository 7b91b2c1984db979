//! The tool loop: the model takes turns and its tool calls are made, until it answers or a limit is reached.

use std::time::Instant;

use tamis_codebase::StopSignal;
use tamis_redact::Redacted;

use super::answer::{self, UnusableAnswer};
use super::chat::{ChatAnswer, ChatMessage, ChatRequest, ChatTool};
use super::tool_calls::ToolCaller;
use super::{Model, prompts, tools};
use crate::{BoundedReader, NoteFact, ResearchFinding, Role, RoleError, RoleErrorKind};

/// How often an unusable answer is requested again.
const MAX_REPAIRS: usize = 2;

/// Turns in a row that only repeat former calls.
const MAX_IDLE_TURNS: usize = 2;

/// The share of the time, in per cent, after which no tools are offered: the answer takes time too.
const TIME_FOR_TOOLS: u32 = 65;

/// What a model is to find out.
pub struct ModelTask<'a> {
    pub role: Role,
    pub question: &'a str,
    pub reader: &'a BoundedReader,
    /// Places to begin with.
    pub hints: &'a [String],
}

impl Model {
    /// Answers by the model. Ends within the stop's deadline and this model's [`ModelLimits`](super::ModelLimits).
    pub fn answer(&self, task: &ModelTask<'_>, stop: &StopSignal) -> Result<ResearchFinding, RoleError> {
        let name = self.name_for(task.role, stop)?;
        let begun = Instant::now();
        let last_call =
            stop.deadline().map(|end| begun + end.saturating_duration_since(begun) * TIME_FOR_TOOLS / 100);
        let question = Redacted::from(prompts::question(task.question, task.hints)).into_inner();
        let messages = vec![
            ChatMessage::System { content: prompts::system(task.role) },
            ChatMessage::User { content: question },
        ];
        let caller = ToolCaller::new(task.role, task.reader, stop);
        Subagent { model: self, name, task, stop, last_call, messages, caller, tokens: 0 }.work()
    }
}

struct Subagent<'a> {
    model: &'a Model,
    name: String,
    task: &'a ModelTask<'a>,
    stop: &'a StopSignal,
    /// From then on no tools are offered.
    last_call: Option<Instant>,
    messages: Vec<ChatMessage>,
    caller: ToolCaller<'a>,
    tokens: u64,
}

impl Subagent<'_> {
    fn work(mut self) -> Result<ResearchFinding, RoleError> {
        let limits = self.model.limits();
        let (mut turns, mut idle_turns, mut repairs) = (0, 0, 0);
        loop {
            let over = if turns == limits.turns {
                Some(format!("the limit of {turns} turns is reached"))
            } else if self.tokens >= limits.tokens {
                Some(format!("the limit of {} tokens is reached", limits.tokens))
            } else if idle_turns > MAX_IDLE_TURNS {
                Some("the same calls are made again and again".to_owned())
            } else if self.last_call.is_some_and(|at| at <= Instant::now()) {
                Some("the time for tools is over".to_owned())
            } else {
                None
            };
            if let Some(why) = over {
                return self.demand(&why);
            }
            turns += 1;
            let answer = self.turn(true)?;
            if !answer.calls.is_empty() {
                let news = self.make_calls(answer, limits.calls_a_turn)?;
                idle_turns = if news { 0 } else { idle_turns + 1 };
                continue;
            }
            let unusable = match self.read(&answer) {
                Ok(finding) => return Ok(finding),
                Err(unusable) => unusable,
            };
            if repairs == MAX_REPAIRS {
                return unusable.into_finding();
            }
            repairs += 1;
            tracing::debug!("the model's answer cannot be used: {}", unusable.reason);
            self.messages.push(ChatMessage::Assistant { content: answer.content, calls: Vec::new() });
            self.messages.push(ChatMessage::User { content: prompts::repair(&unusable.reason) });
        }
    }

    /// One last request, without tools.
    fn demand(mut self, why: &str) -> Result<ResearchFinding, RoleError> {
        self.messages.push(ChatMessage::User { content: prompts::last_call(why) });
        let answer = self.turn(false)?;
        let mut finding = self.read(&answer).or_else(|unusable| {
            let message = format!("the model has no answer although {why}: {}", unusable.reason);
            let finding = unusable.fallback.map(|finding| *finding);
            finding.ok_or_else(|| RoleError::new(RoleErrorKind::BudgetExhausted, message))
        })?;
        finding.notes.push(NoteFact::EarlyAnswer(why.to_owned()).into());
        Ok(finding)
    }

    fn turn(&mut self, with_tools: bool) -> Result<ChatAnswer, RoleError> {
        let limits = self.model.limits();
        self.make_room(limits.context_tokens.saturating_mul(4));
        let offered = if with_tools { tools::offered(self.task.role) } else { Vec::new() };
        let answer = match self.ask(&offered) {
            // The server has a smaller context than configured: retry with half of the conversation.
            Err(error) if error.kind == RoleErrorKind::ContextTooLong => {
                let bytes: usize = self.messages.iter().map(weight).sum();
                if !self.make_room(bytes / 2) {
                    return Err(error);
                }
                self.ask(&offered)?
            }
            outcome => outcome?,
        };
        let taken = match answer.usage {
            Some(usage) if usage.prompt_tokens > 0 => {
                usage.prompt_tokens.saturating_add(usage.completion_tokens)
            }
            _ => {
                let called: usize = answer.calls.iter().map(|call| call.arguments.len()).sum();
                let bytes = self.messages.iter().map(weight).sum::<usize>() + answer.content.len() + called;
                bytes.div_ceil(4) as u64
            }
        };
        self.tokens = self.tokens.saturating_add(taken);
        self.task.reader.budget.count_model_tokens(taken);
        match &answer.refusal {
            Some(refusal) => Err(refused(refusal)),
            None => Ok(answer),
        }
    }

    fn ask(&self, offered: &[ChatTool]) -> Result<ChatAnswer, RoleError> {
        let request = ChatRequest {
            model: &self.name,
            messages: &self.messages,
            tools: offered,
            max_tokens: self.model.limits().answer_tokens,
            temperature: 0.0,
        };
        self.model.chat(&request, self.stop)
    }

    /// Makes the calls of a turn; returns whether any of them was new.
    fn make_calls(&mut self, mut answer: ChatAnswer, most: usize) -> Result<bool, RoleError> {
        // The results of one turn take at most half of the context.
        self.caller.share(self.model.limits().context_tokens.saturating_mul(2), answer.calls.len().min(most));
        let mut news = false;
        let mut results = Vec::new();
        for (number, call) in answer.calls.iter().enumerate() {
            let content = if number < most {
                let reply = self.caller.call(call)?;
                news |= reply.new;
                reply.text
            } else {
                format!("not run: at most {most} calls a turn")
            };
            results.push(ChatMessage::Tool { call: call.id.clone(), content });
        }
        // Servers parse the arguments of former calls again, and some fail on invalid JSON.
        for call in &mut answer.calls {
            if !matches!(serde_json::from_str(&call.arguments), Ok(serde_json::Value::Object(_))) {
                call.arguments = "{}".to_owned();
            }
        }
        self.messages.push(ChatMessage::Assistant { content: answer.content, calls: answer.calls });
        self.messages.extend(results);
        Ok(news)
    }

    fn read(&self, answer: &ChatAnswer) -> Result<ResearchFinding, UnusableAnswer> {
        let mut finding =
            answer::read(&answer.content, self.task.role, self.task.reader).map_err(|mut unusable| {
                if answer.cut_off {
                    unusable.reason.push_str(" (it was cut off because it was too long)");
                }
                unusable
            })?;
        if self.caller.was_limited() {
            finding.notes.push(NoteFact::read_limits(self.task.reader.budget.limits()).into());
        }
        Ok(finding)
    }

    /// Empties the oldest results until the conversation fits, with room for more. The model can call again. Returns whether
    /// there was something to empty.
    fn make_room(&mut self, most: usize) -> bool {
        let mut bytes: usize = self.messages.iter().map(weight).sum();
        if bytes <= most {
            return false;
        }
        let before = bytes;
        // The model has not seen the last turn's results yet.
        let seen = self.messages.iter().rposition(|message| matches!(message, ChatMessage::Assistant { .. }));
        for message in &mut self.messages[..seen.unwrap_or(0)] {
            if bytes <= most / 2 {
                break;
            }
            if let ChatMessage::Tool { content, .. } = message
                && content.len() > GONE.len()
            {
                bytes -= content.len() - GONE.len();
                content.clear();
                content.push_str(GONE);
            }
        }
        if bytes < before {
            self.caller.forget();
        }
        bytes < before
    }
}

const GONE: &str = "(left out to save room; call again if needed)";

fn weight(message: &ChatMessage) -> usize {
    match message {
        ChatMessage::System { content }
        | ChatMessage::User { content }
        | ChatMessage::Tool { content, .. } => content.len(),
        ChatMessage::Assistant { content, calls } => {
            content.len() + calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>()
        }
    }
}

fn refused(words: &str) -> RoleError {
    let words: String = Redacted::from(words).as_str().chars().take(300).collect();
    RoleError::new(RoleErrorKind::Refused, format!("the model will not answer: {words}"))
}

impl UnusableAnswer {
    /// What is left of it, or the error.
    fn into_finding(self) -> Result<ResearchFinding, RoleError> {
        match (self.fallback, self.refusal) {
            (Some(finding), _) => Ok(*finding),
            (None, Some(words)) => Err(refused(&words)),
            (None, None) => {
                let message = format!("the model's answer cannot be used: {}", self.reason);
                Err(RoleError::new(RoleErrorKind::InvalidAnswer, Redacted::from(message).into_inner()))
            }
        }
    }
}
