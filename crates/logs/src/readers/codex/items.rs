//! `response_item`: the conversation as the model's API knows it. Before October 2025 these stood in the log bare.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::fields::{Fields, Key};
use super::state::{CallProgress, Side, Twin};
use super::words::{Texts, hash_of_text, slash_command};
use super::{CodexReader, EventBody, Out, outcome};
use crate::event::{Content, LoggedCall, LoggedResult};
use crate::readers::fields::inside;

/// Items without content for us.
const SILENT: &[&str] = &[
    // The state of the user's files, for undoing.
    "ghost_snapshot",
    // What the model was given, not what happened.
    "additional_tools",
    "item_reference",
    // Encrypted; the record `compacted` covers them.
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
    // What Codex itself did not know when it wrote it.
    "other",
];

impl CodexReader {
    /// Reads an item, if its type is one.
    pub(super) fn item<'a>(&mut self, kind: &str, item: &Fields<'a>, out: &mut Out<'a, '_>) -> bool {
        match kind {
            "message" => self.message_item(item, out),
            "reasoning" => {
                for key in [Key::Summary, Key::Content] {
                    if let Some(list) = item.get(key) {
                        self.reasoning(Side::Item, list, out);
                    }
                }
            }
            "function_call" | "custom_tool_call" | "tool_call" => self.call_item(item, out),
            "local_shell_call" => self.named_call("local_shell", item, &[Key::Action], out),
            "tool_search_call" => self.named_call("tool_search", item, &[Key::Arguments], out),
            "web_search_call" => self.web_search(Side::Item, item, out),
            "image_generation_call" => self.image(Side::Item, item, out),
            "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "tool_search_output"
            | "tool_result"
            | "function_result" => self.result_item(item, out),
            "agent_message" if item.get(Key::Author).is_some() => {
                let begins = std::mem::take(&mut self.state.triggered);
                self.agent_message(begins, item.get(Key::Content), out);
            }
            _ => return SILENT.contains(&kind),
        }
        true
    }

    fn message_item<'a>(&mut self, item: &Fields<'a>, out: &mut Out<'a, '_>) {
        let content = item.first(&[Key::Content, Key::Message, Key::Text]);
        let role = item.text(Key::Role).unwrap_or_default();
        match (role.as_ref(), content) {
            ("user", Some(content)) => self.user(Side::Item, content, out),
            ("assistant", Some(content)) => self.message(Side::Item, content, out),
            ("function" | "tool", _) => return self.result_item(item, out),
            ("developer" | "system", Some(content)) => {
                if !out.texts(content).is_empty() {
                    out.give(EventBody::Notification(Content::Raw(content)));
                }
            }
            (_, None) => (),
            (other, Some(content)) => {
                out.unknown_part(format!("message.role.{other}"));
                out.give(EventBody::Notification(Content::Raw(content)));
            }
        }
        // The API of chat completions, as other programs that write such logs use it.
        let calls = item.get(Key::ToolCalls).map(Fields::list).unwrap_or_default();
        for call in item.object(Key::FunctionCall).into_iter().chain(calls) {
            self.call_item(&call, out);
        }
    }

    /// A text in the user's name.
    pub(super) fn user<'a>(&mut self, side: Side, content: &'a RawValue, out: &mut Out<'a, '_>) {
        let texts = out.texts(content);
        if texts.is_empty() || self.is_repeated(Twin::User, side, texts.hash()) {
            return;
        }
        let by_client = texts.is_context() || std::mem::take(&mut self.state.reviewing);
        out.give(match slash_command(content, &texts) {
            _ if by_client => EventBody::Notification(Content::Raw(content)),
            Some((command, arguments)) => {
                EventBody::SlashCommand { command: command.into(), arguments: arguments.into() }
            }
            None => EventBody::User(Content::Raw(content)),
        });
    }

    pub(super) fn message<'a>(&mut self, side: Side, content: &'a RawValue, out: &mut Out<'a, '_>) {
        self.answers();
        self.state.reviewing = false;
        let texts = out.texts(content);
        if !texts.is_empty() && !self.is_repeated(Twin::Message, side, texts.hash()) {
            out.give(EventBody::Message(Content::Raw(content)));
        }
    }

    /// A text, or a list of them, which events give one by one. What is only encrypted gives nothing.
    pub(super) fn reasoning<'a>(&mut self, side: Side, list: &'a RawValue, out: &mut Out<'a, '_>) {
        self.answers();
        let hashes = out.texts(list).texts.into_iter().map(hash_of_text);
        let new: Vec<u64> =
            hashes.filter(|hash| !self.state.twins.take(Twin::Reasoning, side, *hash)).collect();
        new.iter().for_each(|hash| self.state.twins.put(Twin::Reasoning, side, *hash));
        if !new.is_empty() {
            out.give(EventBody::Reasoning(Content::Raw(list)));
        }
    }

    /// From another agent: for a subagent that waits for it, it is what a user's words are for others.
    pub(super) fn agent_message<'a>(
        &mut self,
        begins: bool,
        content: Option<&'a RawValue>,
        out: &mut Out<'a, '_>,
    ) {
        let content = content.map_or_else(|| Content::text(""), Content::Raw);
        let is_task = begins && self.state.subagent;
        out.give(if is_task { EventBody::User(content) } else { EventBody::Notification(content) });
    }

    fn call_item<'a>(&mut self, item: &Fields<'a>, out: &mut Out<'a, '_>) {
        let function = item.object(Key::Function).unwrap_or_default();
        let name =
            item.word(Key::Name).or_else(|| function.word(Key::Name)).unwrap_or(Cow::Borrowed("unknown"));
        let name = match item.word(Key::Namespace) {
            Some(server) if server.starts_with("mcp__") => Cow::Owned(format!("{server}__{name}")),
            _ => name,
        };
        let keys = [Key::Arguments, Key::Parameters];
        let arguments = match (item.first(&keys).or(function.first(&keys)), item.get(Key::Input)) {
            (Some(arguments), _) if inside(arguments).is_some() => Content::Nested(arguments),
            (Some(other), _) | (None, Some(other)) => Content::Raw(other),
            (None, None) => Content::text(""),
        };
        self.call(name, item, arguments, out);
    }

    fn named_call<'a>(&mut self, name: &'static str, item: &Fields<'a>, keys: &[Key], out: &mut Out<'a, '_>) {
        let arguments = item.first(keys).map_or_else(|| Content::text(""), Content::Raw);
        self.call(Cow::Borrowed(name), item, arguments, out);
    }

    fn call<'a>(
        &mut self,
        name: Cow<'a, str>,
        item: &Fields<'a>,
        arguments: Content<'a>,
        out: &mut Out<'a, '_>,
    ) {
        self.answers();
        let id = item.word(Key::CallId).or_else(|| item.word(Key::Id));
        if let Some(id) = &id {
            self.state.calls.record(id, CallProgress::Item);
        }
        out.give(EventBody::ToolCall(LoggedCall { name, id, arguments }));
    }

    fn result_item<'a>(&mut self, item: &Fields<'a>, out: &mut Out<'a, '_>) {
        let id = item.word(Key::CallId);
        let output = item.first(&[Key::Output, Key::Result, Key::Tools, Key::Content]);
        let known = id.as_ref().and_then(|id| self.state.calls.progress(id));
        let failed = known == Some(CallProgress::ItemFailed) || output.is_some_and(outcome::failed);
        // `{"content": …, "success": …}`, of which the content is the result.
        let within = output.filter(|output| output.get().starts_with('{')).map(Fields::of);
        let content = within.and_then(|within| within.get(Key::Content)).or(output);
        let content = content.map_or_else(|| Content::text(""), Content::Raw);
        out.give(EventBody::ToolResult(LoggedResult { id, content, failed }));
    }

    pub(super) fn web_search<'a>(&mut self, side: Side, item: &Fields<'a>, out: &mut Out<'a, '_>) {
        let action = item.get(Key::Action);
        let query =
            item.object(Key::Action).and_then(|action| action.get(Key::Query)).or(item.get(Key::Query));
        let what = query.or(action);
        self.answers();
        if self.is_repeated(Twin::WebSearch, side, hash_of_text(what.map_or("", |what| what.get()))) {
            return;
        }
        let id = item.word(Key::CallId).or_else(|| item.word(Key::Id));
        let arguments = action.or(what).map_or_else(|| Content::text(""), Content::Raw);
        out.give(EventBody::ToolCall(LoggedCall {
            name: Cow::Borrowed("web_search"),
            id: id.clone(),
            arguments,
        }));
        if let Some(results) = item.get(Key::Results) {
            out.give(EventBody::ToolResult(LoggedResult {
                id,
                content: Content::Raw(results),
                failed: false,
            }));
        }
    }

    /// The image itself, which may be megabytes, is not repeated as a result.
    pub(super) fn image<'a>(&mut self, side: Side, item: &Fields<'a>, out: &mut Out<'a, '_>) {
        self.answers();
        let image = item.first(&[Key::Result, Key::Id, Key::CallId]);
        if self.is_repeated(Twin::Image, side, hash_of_text(image.map_or("", |image| image.get()))) {
            return;
        }
        let id = item.word(Key::CallId).or_else(|| item.word(Key::Id));
        let arguments = item.first(&[Key::RevisedPrompt, Key::Status]);
        let arguments = arguments.map_or_else(|| Content::text(""), Content::Raw);
        out.give(EventBody::ToolCall(LoggedCall { name: Cow::Borrowed("image_generation"), id, arguments }));
    }

    /// Whether the other side has given this; if not, it is remembered for when it does.
    pub(super) fn is_repeated(&mut self, twin: Twin, side: Side, hash: u64) -> bool {
        let repeated = self.state.twins.take(twin, side, hash);
        if !repeated {
            self.state.twins.put(twin, side, hash);
        }
        repeated
    }

    /// The model has answered.
    pub(super) fn answers(&mut self) {
        self.state.answered |= self.state.prefix.is_none();
    }
}

impl<'a> Out<'a, '_> {
    /// The texts of a content; parts of unknown types are reported.
    pub(super) fn texts(&mut self, content: &'a RawValue) -> Texts<'a> {
        let mut texts = Texts::of(content);
        for kind in texts.unknown.drain(..) {
            self.unknown_part(format!("content.{kind}"));
        }
        texts
    }
}
