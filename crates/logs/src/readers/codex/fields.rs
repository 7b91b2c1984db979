//! The keys of a rollout's records.
//!
//! The same keys stand for the same things in all kinds of records, old and new, so one set serves them all.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::event::Millis;
use crate::readers::fields::{self, keys, moment};

pub(super) type Fields<'a> = fields::Fields<'a, Key>;
pub(super) type Line<'a> = fields::Line<'a, Key>;

keys! {
    Payload;
    Payload = "payload",
    Action = "action", AgentNickname = "agent_nickname", AgentPath = "agent_path", AgentRole = "agent_role",
    AgentType = "agent_type", AggregatedOutput = "aggregated_output", Arguments = "arguments", Author = "author",
    CachedInputTokens = "cached_input_tokens", CacheWriteInputTokens = "cache_write_input_tokens",
    CallId = "call_id", CallIdCamel = "callId", Changes = "changes", CliVersion = "cli_version", Command = "command",
    Completion = "completion", Content = "content", ContentItems = "content_items", CreatedAt = "created_at",
    Cwd = "cwd", Err = "Err", Error = "error", ExitCode = "exit_code", ExitCodeCamel = "exitCode",
    ForkedFromId = "forked_from_id", FormattedOutput = "formatted_output", Function = "function",
    FunctionCall = "function_call", HistoryBase = "history_base", Id = "id", Info = "info", Input = "input",
    InputTokens = "input_tokens", Internal = "internal", Invocation = "invocation",
    IsError = "isError", Item = "item", Items = "items", Kind = "kind", LastTokenUsage = "last_token_usage",
    Message = "message", Metadata = "metadata", Model = "model", Name = "name", Namespace = "namespace", Ok = "Ok",
    Ordinal = "ordinal", Output = "output", OutputTokens = "output_tokens", Parameters = "parameters",
    ParentThreadId = "parent_thread_id", Path = "path", Prompt = "prompt", PromptTokens = "prompt_tokens",
    CompletionTokens = "completion_tokens", Query = "query", RawContent = "raw_content", Reason = "reason",
    ReasoningOutputTokens = "reasoning_output_tokens", RecordType = "record_type",
    ResponseId = "response_id", Result = "result", Results = "results",
    ReviewOutput = "review_output", RevisedPrompt = "revised_prompt", Role = "role", Server = "server",
    Session = "session", Source = "source", Status = "status", Stderr = "stderr", Stdout = "stdout",
    Subagent = "subagent", SubagentHistoryStart = "subagent_history_start_ordinal", Success = "success",
    Summary = "summary", SummaryText = "summary_text", Text = "text", ThreadId = "thread_id",
    ThreadName = "thread_name", ThreadSettings = "thread_settings", ThreadSource = "thread_source",
    ThreadSpawn = "thread_spawn", Timestamp = "timestamp", Tool = "tool", ToolCalls = "tool_calls", Tools = "tools",
    TotalTokenUsage = "total_token_usage", TriggerTurn = "trigger_turn", TurnId = "turn_id", Type = "type",
    Usage = "usage", UserFacingHint = "user_facing_hint",
}

impl<'a> fields::Fields<'a, Key> {
    /// The objects of an array; a string in it counts as an object that has only a text.
    pub(super) fn list(raw: &'a RawValue) -> Vec<Fields<'a>> {
        let values: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
        values
            .into_iter()
            .map(|value| match value.get().starts_with('"') {
                true => Fields::only(Key::Text, value),
                false => Fields::of(value),
            })
            .collect()
    }

    pub(super) fn kind(&self) -> Option<Cow<'a, str>> {
        self.word(Key::Type)
    }

    pub(super) fn time(&self) -> Option<Millis> {
        moment(self.first(&[Key::Timestamp, Key::CreatedAt])?)
    }
}
