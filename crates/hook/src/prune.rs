//! Pruning the output of a client's tool.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use tamis_clients::Client;
use tamis_logs::tool_kinds::CallDetails;
use tamis_prune::{ShownMemory, overheard_goal};
use tamis_redact::Redactor;
use tamis_sieve::{Caller, MarkerForm, PruneOptions, PruneRequest, UnrecordedPrune, is_marker};
use tamis_text::TextKind;

use crate::claude::ClaudeOutput;
use crate::context::{self, SessionContext};
use crate::gemini::GeminiOutput;
use crate::payload::HookPayload;
use crate::{Hook, HookCalls, HookOutcome, HookResult, LeftReason, claude, codex, gemini, opencode};

/// Left of the deadline for writing the reply.
const REPLY_TIME: Duration = Duration::from_millis(20);
/// Programs whose output is never pruned.
const OWN_PROGRAMS: &[&str] = &["tamis", "mcp-pruner"];

/// The text that a tool printed, without what the client puts around it.
pub(crate) struct ToolText {
    pub(crate) text: String,
    /// The client puts a number before each line, so no line may move.
    pub(crate) is_numbered: bool,
    pub(crate) keep_first_lines: usize,
    /// If such a line would be cut, everything stays.
    pub(crate) must_stay: fn(&str) -> bool,
}

impl ToolText {
    pub(crate) fn new(text: String) -> ToolText {
        ToolText { text, is_numbered: false, keep_first_lines: 0, must_stay: |_| false }
    }
}

/// What is needed to build the reply, for each client.
enum Output {
    Claude(ClaudeOutput),
    Codex,
    Gemini(GeminiOutput),
    OpenCode {
        /// What the client puts before a file.
        before: String,
    },
}

/// Whether there were secrets, which are then redacted.
fn redact(output: &mut Output, tool_text: &mut ToolText) -> bool {
    let redactor = Redactor::standard();
    let mut is_redacted = match output {
        Output::Claude(output) => output.redact_errors(redactor),
        Output::Codex | Output::Gemini(_) | Output::OpenCode { .. } => false,
    };
    let redacted = redactor.redact(&tool_text.text).into_owned();
    is_redacted |= redacted != tool_text.text;
    tool_text.text = redacted;
    is_redacted
}

impl Hook<'_> {
    /// Prunes the output of a tool. The error says why it stays as it is.
    pub(crate) fn prune(&self, payload: &HookPayload<'_>) -> Result<HookResult, LeftReason> {
        // Most outputs are short: those are not even parsed.
        if payload.response_bytes() < self.min_chars
            && !self.redacts
            && payload.original_request_name.is_none()
        {
            return Err(LeftReason::TooShort);
        }
        let (mut output, mut tool_text) = self.open(payload)?;
        // Without a record, two hooks both reply, and the client takes one of them.
        let is_first = |calls: &HookCalls| calls.claim(&payload.output_key(self.client)).unwrap_or(true);
        if !self.calls.is_none_or(is_first) {
            return Err(LeftReason::Doubled);
        }
        // First, so that no secret is shown or stored.
        let is_redacted = self.redacts && redact(&mut output, &mut tool_text);
        let call = self.call_if_prunable(payload, &tool_text);
        // A log that is late is waited for only if something may be cut.
        let session = self.session(payload, if call.is_ok() { self.log_deadline } else { Instant::now() });
        let cut = match (&session, &call) {
            (Ok(session), Ok(call)) => self.cut(payload, session, &tool_text, call),
            (Err(reason), _) | (_, Err(reason)) => Err(*reason),
        };
        let (outcome, text, unrecorded) = match cut {
            Ok((text, unrecorded)) => (HookOutcome::Pruned, text, Some(unrecorded)),
            Err(_) if is_redacted => (HookOutcome::Redacted, tool_text.text, None),
            Err(reason) => return Err(reason),
        };
        let reply = match output {
            Output::Claude(output) => output.reply(text),
            Output::Codex => {
                let exit_code = session.ok().and_then(|session| session.exit_code);
                codex::reply(&text, exit_code.ok_or(LeftReason::NoExitCode)?)
            }
            Output::Gemini(output) => output.reply(&text)?,
            Output::OpenCode { before } => opencode::reply(&before, &text),
        };
        Ok(HookResult::replied(outcome, reply, unrecorded))
    }

    fn open(&self, payload: &HookPayload<'_>) -> Result<(Output, ToolText), LeftReason> {
        let printed = self.client.hooks().output_of(payload.tool()).ok_or(LeftReason::OtherEvent)?;
        Ok(match self.client {
            Client::ClaudeCode => {
                let (output, text) = claude::open(payload, printed)?;
                (Output::Claude(output), text)
            }
            Client::Codex => (Output::Codex, codex::open(payload)?),
            Client::Gemini => {
                let (output, text) = gemini::open(payload)?;
                (Output::Gemini(output), text)
            }
            Client::OpenCode => {
                let (before, text) = opencode::open(payload, printed)?;
                (Output::OpenCode { before }, text)
            }
        })
    }

    fn session(&self, payload: &HookPayload<'_>, wait_until: Instant) -> Result<SessionContext, LeftReason> {
        let session = match self.client {
            Client::OpenCode => SessionContext::of_messages(
                payload.person.as_deref().unwrap_or_default(),
                payload.agent.as_deref().unwrap_or_default(),
            ),
            client => {
                context::read(client, payload, wait_until, self.now).map_err(|_| LeftReason::NoSession)?
            }
        };
        // Before anything is cut and counted: without its exit code, an output of Codex cannot be replaced.
        if self.client == Client::Codex && session.exit_code.is_none() {
            return Err(LeftReason::NoExitCode);
        }
        Ok(session)
    }

    fn is_switched_off(&self, tool: &str) -> bool {
        let is_named = |name: &String| match name.split_once(':') {
            Some((client, name)) => client == self.client.name() && name == tool,
            None => name == tool,
        };
        self.skip_tools.iter().any(is_named)
    }

    /// What the call says, if its output may be cut, as far as that is known without the session.
    fn call_if_prunable(
        &self,
        payload: &HookPayload<'_>,
        tool_text: &ToolText,
    ) -> Result<CallDetails, LeftReason> {
        if self.is_switched_off(payload.tool()) {
            return Err(LeftReason::SwitchedOff);
        }
        let text = tool_text.text.as_str();
        if text.len() < self.min_chars {
            return Err(LeftReason::TooShort);
        }
        let details = CallDetails::of(payload.tool(), &payload.arguments());
        if details.words.as_deref().is_some_and(runs_tamis) || text.lines().any(is_marker) {
            return Err(LeftReason::OwnOutput);
        }
        // It will cut this itself, after its hooks; others cut before. What a client cuts is not for us to count as saved.
        let limit = self.client.output_chars();
        if self.client == Client::Gemini && text.len() > limit && text.chars().count() > limit {
            return Err(LeftReason::CutByClient);
        }
        Ok(details)
    }

    /// The pruned text, which the ledger has not counted.
    fn cut(
        &self,
        payload: &HookPayload<'_>,
        session: &SessionContext,
        tool_text: &ToolText,
        call: &CallDetails,
    ) -> Result<(String, UnrecordedPrune), LeftReason> {
        let text = tool_text.text.as_str();
        let goal = overheard_goal(session.messages.agent(), call.subject(), session.messages.person());
        if goal.is_empty() {
            return Err(LeftReason::NoGoal);
        }
        let left = self.deadline.saturating_duration_since(Instant::now()).saturating_sub(REPLY_TIME);
        let memory = session.memory.as_ref();
        let shown = memory
            .map(|memory: &ShownMemory| memory.runs_among(text, session.open_calls))
            .unwrap_or_default();
        let request = PruneRequest {
            text,
            goal: &goal,
            kind: TextKind::detect(text),
            options: PruneOptions {
                keep_first_lines: tool_text.keep_first_lines,
                timeout: left,
                markers: MarkerForm::Short,
                in_place: tool_text.is_numbered,
                ..PruneOptions::default()
            },
            shown: &shown,
        };
        let owned = |field: &Option<Cow<'_, str>>| field.as_deref().map(str::to_owned);
        let caller = Caller {
            is_anonymous: false,
            tool: payload.tool().to_owned(),
            door: "hook".to_owned(),
            client: Some(self.client.name().to_owned()),
            session: owned(&payload.session_id),
            project: owned(&payload.cwd),
            model: owned(&payload.model),
            call_id: owned(&payload.tool_use_id),
        };
        // Checked before anything is stored or counted.
        let lines: Vec<&str> = text.split('\n').collect();
        if lines.iter().any(|line| (tool_text.must_stay)(line)) {
            let trial = self.sieve.dry_run(&request, &|| false);
            let is_cut = |cut: &tamis_sieve::CutAnnotation| {
                lines[cut.original_start_line - 1..cut.original_end_line]
                    .iter()
                    .any(|line| (tool_text.must_stay)(line))
            };
            if trial.annotations.iter().any(is_cut) {
                return Err(LeftReason::CutByClient);
            }
        }
        let (pruned, unrecorded) = self
            .sieve
            .prune_if_worthwhile(&request, &caller, &|| false)
            .map_err(|warning| warning.map_or(LeftReason::NothingToCut, LeftReason::Failed))?;
        Ok((pruned.pruned_text, unrecorded))
    }
}

/// Whether a shell command runs tamis: what it restores must not be cut again.
fn runs_tamis(command: &str) -> bool {
    let words = command.split(|letter: char| letter.is_whitespace() || ";|&()`'\"$<>=".contains(letter));
    words.filter_map(|word| word.rsplit('/').next()).any(|program| OWN_PROGRAMS.contains(&program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_run_tamis_are_recognised() {
        for command in [
            "tamis recover prn_abc 1-2",
            "cd x && /usr/local/bin/tamis read a.rs | head",
            "x=$(tamis recover prn_abc)",
            "sudo 'tamis' grep x",
            "mcp-pruner --help",
        ] {
            assert!(runs_tamis(command), "{command}");
        }
        for command in
            ["cat crates/tamis/src/lib.rs", "cargo test -p tamis-hook", "ls tamis.d", "grep tamisé"]
        {
            assert!(!runs_tamis(command), "{command}");
        }
    }
}
