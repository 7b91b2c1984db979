//! One line of a rollout, taken apart in one pass.
//!
//! The same keys stand for the same things in all kinds of records, old and new, so one set of slots serves them all. A
//! slot holds a value as the log has it: a value of an unexpected type spoils its own slot and nothing else, keys that
//! stand twice are tolerated (`codex exec` writes some), and fields that no reader uses are skipped unparsed.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::event::Millis;
use crate::readers::time;

macro_rules! keys {
    ($($variant:ident = $name:literal,)+) => {
        /// A key that the reader knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Key { $($variant,)+ }


        fn key_named(name: &str) -> Option<Key> {
            match name {
                $($name => Some(Key::$variant),)+
                _ => None,
            }
        }
    };
}

keys! {
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

/// The known keys of an object, in its order. Of what is no object, none. An object has a dozen of them at most, so that
/// looking through them is quicker than clearing a table of all that there could be.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields<'a>(Vec<(Key, &'a RawValue)>);

/// A line: its own keys, and those of its `payload` where it has one.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    pub(super) own: Fields<'a>,
    pub(super) payload: Option<Fields<'a>>,
}

impl<'a> Fields<'a> {
    /// The keys of a value that stands inside a record.
    pub(super) fn of(raw: &'a RawValue) -> Fields<'a> {
        serde_json::from_str(raw.get()).unwrap_or_default()
    }

    /// The objects of an array; a string in it counts as an object that has only a text.
    pub(super) fn list(raw: &'a RawValue) -> Vec<Fields<'a>> {
        let values: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
        values
            .into_iter()
            .map(|value| match value.get().starts_with('"') {
                true => Fields(vec![(Key::Text, value)]),
                false => Fields::of(value),
            })
            .collect()
    }

    /// A value, unless it is null.
    pub(super) fn get(&self, key: Key) -> Option<&'a RawValue> {
        let (_, raw) = self.0.iter().rev().find(|(own, _)| *own == key)?;
        Some(*raw).filter(|raw| raw.get() != "null")
    }

    pub(super) fn first(&self, keys: &[Key]) -> Option<&'a RawValue> {
        keys.iter().find_map(|key| self.get(*key))
    }

    pub(super) fn text(&self, key: Key) -> Option<Cow<'a, str>> {
        text(self.get(key)?)
    }

    /// A text that says something.
    pub(super) fn word(&self, key: Key) -> Option<Cow<'a, str>> {
        self.text(key).filter(|word| !word.is_empty())
    }

    pub(super) fn number(&self, key: Key) -> Option<u64> {
        let raw = self.get(key)?.get();
        // What is negative was never used; what is a fraction was never counted.
        raw.parse().ok().or_else(|| Some(raw.parse::<f64>().ok()?.max(0.0) as u64))
    }

    pub(super) fn flag(&self, key: Key) -> Option<bool> {
        match self.get(key)?.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    pub(super) fn object(&self, key: Key) -> Option<Fields<'a>> {
        self.get(key).filter(|raw| raw.get().starts_with('{')).map(Fields::of)
    }

    pub(super) fn kind(&self) -> Option<Cow<'a, str>> {
        self.word(Key::Type)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When it was, as a date or as a number of seconds or milliseconds.
    pub(super) fn time(&self) -> Option<Millis> {
        const SECONDS_END: f64 = 1e11;
        let raw = self.first(&[Key::Timestamp, Key::CreatedAt])?;
        if raw.get().starts_with('"') {
            return time(&text(raw)?);
        }
        let number: f64 = raw.get().parse().ok().filter(|number: &f64| number.is_finite())?;
        Some(if number < SECONDS_END { number * 1000.0 } else { number } as Millis)
    }
}

/// The text of a JSON string. Borrowed where nothing in it is escaped.
pub(super) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inside = inside(raw)?;
    match memchr::memchr(b'\\', inside.as_bytes()) {
        None => Some(Cow::Borrowed(inside)),
        Some(_) => serde_json::from_str::<String>(raw.get()).ok().map(Cow::Owned),
    }
}

/// What stands between the quotes of a JSON string, escapes and all.
pub(super) fn inside(raw: &RawValue) -> Option<&str> {
    raw.get().strip_prefix('"')?.strip_suffix('"')
}

/// A key of a map, or `payload`, or nothing that is known.
enum Slot {
    Known(Key),
    Payload,
    Unknown,
}

impl<'de> Deserialize<'de> for Slot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Slot, D::Error> {
        struct SlotVisitor;
        impl Visitor<'_> for SlotVisitor {
            type Value = Slot;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a key")
            }

            fn visit_str<E>(self, name: &str) -> Result<Slot, E> {
                Ok(match (name, key_named(name)) {
                    (_, Some(key)) => Slot::Known(key),
                    ("payload", _) => Slot::Payload,
                    _ => Slot::Unknown,
                })
            }
        }
        deserializer.deserialize_identifier(SlotVisitor)
    }
}

impl<'de> Deserialize<'de> for Line<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Line<'de>, D::Error> {
        deserializer.deserialize_any(LineVisitor { with_payload: true })
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields<'de>, D::Error> {
        Ok(deserializer.deserialize_any(LineVisitor { with_payload: false })?.own)
    }
}

struct LineVisitor {
    with_payload: bool,
}

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line<'de>, A::Error> {
        const USUAL: usize = 16;
        let mut line = Line { own: Fields(Vec::with_capacity(USUAL)), payload: None };
        while let Some(slot) = map.next_key::<Slot>()? {
            match slot {
                Slot::Known(key) => line.own.0.push((key, map.next_value()?)),
                Slot::Payload if self.with_payload => line.payload = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(line)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Line<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Line::default())
    }

    fn visit_unit<E>(self) -> Result<Line<'de>, E> {
        Ok(Line::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Line<'de>, E> {
        Ok(Line::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Line<'de>, E> {
        Ok(Line::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Line<'de>, E> {
        Ok(Line::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Line<'de>, E> {
        Ok(Line::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Line<'de>, E> {
        Ok(Line::default())
    }
}
