//! The keys of the records. Transcripts of `--output-format stream-json` write some with underscores.

use std::borrow::Cow;

use crate::readers::fields::{self, keys};

pub(super) type Fields<'a> = fields::Fields<'a, Key>;

keys! {
    Message;
    AgentId = "agentId", AgentSetting = "agentSetting", AiTitle = "aiTitle", Attachment = "attachment",
    AttributionAgent = "attributionAgent", BlockingError = "blockingError", CacheCreation = "cache_creation",
    CacheCreationTokens = "cache_creation_input_tokens", CacheDeletedTokens = "cache_deleted_input_tokens",
    CacheReadTokens = "cache_read_input_tokens",
    CommandMode = "commandMode", Content = "content", CustomTitle = "customTitle", Cwd = "cwd", Error = "error",
    Errors = "errors", ForkedFrom = "forkedFrom", FrameUrl = "frameUrl", HookErrors = "hookErrors", Id = "id",
    Input = "input", InputTokens = "input_tokens", IsApiError = "isApiErrorMessage",
    IsCompactSummary = "isCompactSummary", IsError = "is_error", IsMeta = "isMeta", IsSidechain = "isSidechain",
    IsTranscriptOnly = "isVisibleInTranscriptOnly", Iterations = "iterations", Kind = "kind", Loglines = "loglines",
    Message = "message", Model = "model", Name = "name", Operation = "operation", Origin = "origin",
    Output = "output", OutputDetails = "output_tokens_details", OutputTokens = "output_tokens",
    ParentToolUseId = "parent_tool_use_id", PrUrl = "prUrl", Prompt = "prompt", PromptSource = "promptSource",
    RequestId = "requestId", RequestIdOfStream = "request_id", Result = "result", Role = "role",
    SessionId = "sessionId", SessionIdOfStream = "session_id", Snippet = "snippet", Stderr = "stderr",
    Stdout = "stdout", Subtype = "subtype", Summary = "summary", Text = "text", Thinking = "thinking",
    ThinkingTokens = "thinking_tokens", Timestamp = "timestamp", ToolUseId = "tool_use_id", Type = "type",
    Usage = "usage", Version = "version", VersionOfStream = "claude_code_version",
    Written5m = "ephemeral_5m_input_tokens", Written1h = "ephemeral_1h_input_tokens",
}

impl<'a> fields::Fields<'a, Key> {
    pub(super) fn kind(&self) -> Option<Cow<'a, str>> {
        self.text(Key::Type)
    }

    pub(super) fn is(&self, key: Key) -> bool {
        self.flag(key) == Some(true)
    }

    pub(super) fn count(&self, key: Key) -> u64 {
        self.number(key).unwrap_or(0)
    }
}

/// A line: its own keys, and those of its message.
pub(super) type Line<'a> = fields::Line<'a, Key>;
