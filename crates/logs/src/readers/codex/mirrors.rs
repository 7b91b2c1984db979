//! Tool calls as events report them, in `event_msg`, `item_completed` and the stream of `codex exec --json`.
//!
//! In a rollout they mirror the conversation's items, which have the same call by the same id, and all that they add is
//! that it failed. But some calls have no item: those of a program that the model wrote (`exec-…`), those whose items a
//! fork did not copy, and all of a stream. They are given here.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::fields::{Fields, Key};
use super::state::{CallProgress, Side};
use super::{CodexReader, EventBody, Out, outcome};
use crate::event::{Content, LoggedCall, LoggedResult};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Begin,
    End,
}

/// Where the parts of a tool's events stand.
struct Tool {
    /// The event's name without `_begin` or `_end`, and the item's without case and underscores.
    names: [&'static str; 2],
    /// The tool's name as the model knows it; `None` if only the event names the tool.
    tool: Option<&'static str>,
    arguments: &'static [Key],
    results: &'static [Key],
}

const TOOLS: &[Tool] = &[
    Tool {
        names: ["exec_command", "commandexecution"],
        tool: Some("exec_command"),
        arguments: &[Key::Command],
        results: &[Key::FormattedOutput, Key::AggregatedOutput, Key::Stdout],
    },
    Tool {
        names: ["mcp_tool_call", "mcptoolcall"],
        tool: None,
        arguments: &[Key::Arguments],
        results: &[Key::Result, Key::Error],
    },
    Tool {
        names: ["patch_apply", "filechange"],
        tool: Some("apply_patch"),
        arguments: &[Key::Changes],
        results: &[Key::Stdout, Key::Stderr],
    },
    Tool {
        names: ["view_image_tool_call", "imageview"],
        tool: Some("view_image"),
        arguments: &[Key::Path],
        results: &[],
    },
    Tool {
        names: ["dynamic_tool_call", "dynamictoolcall"],
        tool: None,
        arguments: &[Key::Arguments],
        results: &[Key::ContentItems, Key::Error],
    },
    Tool {
        names: ["collab_agent_spawn", "collabagenttoolcall"],
        tool: Some("spawn_agent"),
        arguments: &[Key::Prompt],
        results: &[Key::Status],
    },
    Tool {
        names: ["collab_agent_interaction", "collabtoolcall"],
        tool: Some("send_input"),
        arguments: &[Key::Prompt],
        results: &[Key::Status],
    },
    Tool { names: ["collab_waiting", ""], tool: Some("wait_agent"), arguments: &[], results: &[Key::Status] },
    Tool { names: ["collab_close", ""], tool: Some("close_agent"), arguments: &[], results: &[Key::Status] },
    Tool {
        names: ["collab_resume", ""],
        tool: Some("resume_agent"),
        arguments: &[],
        results: &[Key::Status],
    },
    Tool {
        names: ["", "extension"],
        tool: Some("extension"),
        arguments: &[Key::Action, Key::Query, Key::Kind],
        results: &[Key::Results, Key::Status],
    },
];

impl CodexReader {
    /// Reads an event of a tool, if it is one.
    pub(super) fn tool_event<'a>(&mut self, kind: &str, event: &Fields<'a>, out: &mut Out<'a, '_>) -> bool {
        let ends = [
            ("_begin", Phase::Begin),
            ("_request", Phase::Begin),
            ("_end", Phase::End),
            ("_response", Phase::End),
        ];
        let ended = ends.iter().find_map(|(end, phase)| Some((kind.strip_suffix(end)?, *phase)));
        let (name, phase) = ended.unwrap_or((kind, Phase::End));
        match (name, phase) {
            // The query or the image is known only at the end.
            ("web_search" | "image_generation", Phase::Begin) => (),
            ("web_search", Phase::End) => self.web_search(Side::Event, event, out),
            ("image_generation", Phase::End) => self.image(Side::Event, event, out),
            _ => match TOOLS.iter().find(|tool| tool.names[0] == name && !name.is_empty()) {
                Some(tool) => self.mirror(tool, phase, event, out),
                None => return false,
            },
        }
        true
    }

    /// The item of `item_completed`, or one of a stream.
    pub(super) fn turn_item<'a>(&mut self, raw: &'a RawValue, out: &mut Out<'a, '_>) {
        let item = Fields::of(raw);
        let Some(kind) = item.kind() else { return out.unreadable("an item without a type") };
        let name = kind.replace('_', "").to_ascii_lowercase();
        let content = item.first(&[Key::Content, Key::Text]);
        match (name.as_str(), content) {
            ("usermessage", Some(content)) => self.user(Side::Event, content, out),
            ("agentmessage", Some(content)) => self.message(Side::Event, content, out),
            // Of which no item has the words.
            ("plan", Some(content)) => out.give(EventBody::Message(Content::Raw(content))),
            ("usermessage" | "agentmessage" | "plan", None) => (),
            ("reasoning", _) => {
                for list in
                    [Key::SummaryText, Key::RawContent, Key::Text].into_iter().filter_map(|key| item.get(key))
                {
                    self.reasoning(Side::Event, list, out);
                }
            }
            // An item has it, as a message in the user's name.
            ("hookprompt", _) => (),
            ("contextcompaction", _) => self.compaction(Side::Event, out),
            ("enteredreviewmode", _) => self.review(&item, out),
            ("exitedreviewmode", _) => {
                out.give(EventBody::Notification(Content::Raw(item.get(Key::ReviewOutput).unwrap_or(raw))));
            }
            ("subagentactivity", _) => out.give(EventBody::Notification(Content::Raw(raw))),
            ("todolist", _) => {
                out.give(EventBody::Notification(Content::Raw(item.get(Key::Items).unwrap_or(raw))));
            }
            ("error", _) => out.notice(item.get(Key::Message).unwrap_or(raw)),
            ("websearch", _) => self.web_search(Side::Event, &item, out),
            ("imagegeneration", _) => self.image(Side::Event, &item, out),
            _ => match TOOLS.iter().find(|tool| tool.names[1] == name) {
                Some(tool) => self.mirror(tool, Phase::End, &item, out),
                None => out.unknown_part(format!("item_completed.{kind}")),
            },
        }
    }

    /// `item.started` of a stream: a tool that begins.
    pub(super) fn started_item<'a>(&mut self, raw: &'a RawValue, out: &mut Out<'a, '_>) {
        let item = Fields::of(raw);
        let name = item.kind().unwrap_or_default().replace('_', "").to_ascii_lowercase();
        if let Some(tool) = TOOLS.iter().find(|tool| tool.names[1] == name && !name.is_empty()) {
            self.mirror(tool, Phase::Begin, &item, out);
        }
    }

    fn mirror<'a>(&mut self, tool: &Tool, phase: Phase, event: &Fields<'a>, out: &mut Out<'a, '_>) {
        self.answers();
        let id = [Key::CallId, Key::CallIdCamel, Key::Id].iter().find_map(|key| event.word(*key));
        let progress = id.as_ref().and_then(|id| self.state.calls.progress(id));
        let failed = outcome::object_failed(event)
            || event.object(Key::Result).is_some_and(|r| outcome::object_failed(&r));
        let now = match (phase, progress) {
            (Phase::Begin, Some(_)) | (Phase::End, Some(CallProgress::ItemFailed)) => return,
            (Phase::End, Some(CallProgress::Item)) if failed => CallProgress::ItemFailed,
            (Phase::End, Some(CallProgress::Item)) => return,
            (Phase::Begin, None) => CallProgress::Begun,
            (Phase::End, _) => CallProgress::Item,
        };
        if let Some(id) = &id {
            self.state.calls.record(id, now);
        }
        if progress.is_none() {
            out.give(EventBody::ToolCall(tool.call(id.clone(), event)));
        }
        if phase == Phase::End && progress != Some(CallProgress::Item) {
            let result = event.first(tool.results).map(innermost);
            let content = result.map_or_else(|| Content::text(""), Content::Raw);
            out.give(EventBody::ToolResult(LoggedResult { id, content, failed }));
        }
    }
}

/// `{"Ok": {"content": …}}`, `{"Err": …}`, `{"content": …}` and `{"message": …}` are wrappings.
fn innermost(result: &RawValue) -> &RawValue {
    let wrapped = |raw: &RawValue| raw.get().starts_with('{');
    let mut result = result;
    for keys in [[Key::Ok, Key::Err], [Key::Content, Key::Message]] {
        result = Some(result)
            .filter(|raw| wrapped(raw))
            .and_then(|raw| Fields::of(raw).first(&keys))
            .unwrap_or(result);
    }
    result
}

impl Tool {
    fn call<'a>(&self, id: Option<Cow<'a, str>>, event: &Fields<'a>) -> LoggedCall<'a> {
        let invocation = event.object(Key::Invocation);
        let called = invocation.as_ref().unwrap_or(event);
        let named = called.word(Key::Tool);
        let name = match (called.word(Key::Server), named, self.tool) {
            (Some(server), Some(tool), _) => Cow::Owned(format!("mcp__{server}__{tool}")),
            (None, Some(tool), _) => tool,
            (_, None, Some(tool)) => Cow::Owned(tool.to_owned()),
            (_, None, None) => Cow::Borrowed("unknown"),
        };
        let arguments = called.first(self.arguments).map_or_else(|| Content::text(""), Content::Raw);
        LoggedCall { name, id, arguments }
    }
}
