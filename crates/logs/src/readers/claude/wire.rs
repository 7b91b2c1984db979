//! What records hold, of that which is read.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::{IgnoredAny, MapAccess};
use serde_json::value::RawValue;

use super::lenient::{Each, Maybe, Object, Of, object};

type Text<'a> = Option<Cow<'a, str>>;
type Raw<'a> = Option<&'a RawValue>;

object! {
    /// A line. Transcripts of `--output-format stream-json` write some names with underscores.
    Line {
        kind: "type" => Text<'a>,
        subtype: "subtype" => Text<'a>,
        /// A text or, in old logs, a number.
        timestamp: "timestamp" => Raw<'a>,
        session: "sessionId" => Text<'a>,
        stream_session: "session_id" => Text<'a>,
        agent: "agentId" => Text<'a>,
        cwd: "cwd" => Text<'a>,
        version: "version" | "claude_code_version" => Text<'a>,
        sidechain: "isSidechain" => bool,
        parent_call: "parent_tool_use_id" => Raw<'a>,
        forked_from: "forkedFrom" => Maybe<ForkedFrom<'a>>,
        message: "message" => Maybe<Message<'a>>,
        request: "requestId" | "request_id" => Text<'a>,
        meta: "isMeta" => bool,
        compact_summary: "isCompactSummary" => bool,
        transcript_only: "isVisibleInTranscriptOnly" => bool,
        api_error: "isApiErrorMessage" => bool,
        is_error: "is_error" => bool,
        origin: "origin" => Maybe<Origin<'a>>,
        prompt_source: "promptSource" => Text<'a>,
        attribution: "attributionAgent" => Text<'a>,
        agent_setting: "agentSetting" => Raw<'a>,
        content: "content" => Raw<'a>,
        summary: "summary" => Raw<'a>,
        ai_title: "aiTitle" => Raw<'a>,
        custom_title: "customTitle" => Raw<'a>,
        error: "error" => Raw<'a>,
        errors: "errors" | "hookErrors" => Raw<'a>,
        result: "result" => Raw<'a>,
        usage: "usage" => Maybe<Usage<'a>>,
        operation: "operation" => Text<'a>,
        attachment: "attachment" => Raw<'a>,
        pull_request: "prUrl" => Raw<'a>,
        frame: "frameUrl" => Raw<'a>,
        id: "id" => Text<'a>,
        name: "name" => Text<'a>,
        input: "input" => Raw<'a>,
        output: "output" => Raw<'a>,
        call: "tool_use_id" => Text<'a>,
    }
}

object! {
    ForkedFrom {
        session: "sessionId" => Text<'a>,
    }
}

object! {
    /// Who had a user's message written, where the client says so.
    Origin {
        kind: "kind" => Text<'a>,
    }
}

object! {
    Message {
        id: "id" => Text<'a>,
        role: "role" => Text<'a>,
        model: "model" => Text<'a>,
        content: "content" => Raw<'a>,
        usage: "usage" => Maybe<Usage<'a>>,
    }
}

object! {
    /// A part of a message's content.
    Part {
        kind: "type" => Text<'a>,
        text: "text" => Raw<'a>,
        thinking: "thinking" => Raw<'a>,
        id: "id" => Text<'a>,
        name: "name" => Text<'a>,
        input: "input" => Raw<'a>,
        call: "tool_use_id" => Text<'a>,
        content: "content" => Raw<'a>,
        is_error: "is_error" => bool,
    }
}

object! {
    Usage {
        input: "input_tokens" => u64,
        output: "output_tokens" => u64,
        cache_read: "cache_read_input_tokens" => u64,
        cache_creation: "cache_creation_input_tokens" => u64,
        cache_creation_parts: "cache_creation" => Maybe<CacheCreation<'a>>,
        output_details: "output_tokens_details" => Maybe<OutputDetails<'a>>,
        iterations: "iterations" => Each<Maybe<Iteration<'a>>>,
    }
}

object! {
    CacheCreation {
        five_minutes: "ephemeral_5m_input_tokens" => u64,
        one_hour: "ephemeral_1h_input_tokens" => u64,
    }
}

object! {
    OutputDetails {
        thinking: "thinking_tokens" => u64,
    }
}

object! {
    /// One sampling of a model within a request.
    Iteration {
        kind: "type" => Text<'a>,
        input: "input_tokens" => u64,
        output: "output_tokens" => u64,
        cache_read: "cache_read_input_tokens" => u64,
        cache_creation: "cache_creation_input_tokens" => u64,
    }
}

object! {
    Attachment {
        kind: "type" => Text<'a>,
        prompt: "prompt" => Raw<'a>,
        mode: "commandMode" => Text<'a>,
        origin: "origin" => Maybe<Origin<'a>>,
        meta: "isMeta" => bool,
        content: "content" => Raw<'a>,
        stdout: "stdout" => Raw<'a>,
        stderr: "stderr" => Raw<'a>,
        blocking_error: "blockingError" => Raw<'a>,
        message: "message" => Raw<'a>,
        snippet: "snippet" => Raw<'a>,
        text: "text" => Raw<'a>,
    }
}
