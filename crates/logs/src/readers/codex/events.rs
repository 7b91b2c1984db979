//! `event_msg`: what the client showed its user. Much of it mirrors the conversation's items, from the other side.
//!
//! Which events are in a log depends on the version. Since 2026 it also depends on `history_mode`: `legacy` logs have
//! events for messages and tools, `paginated` ones have `item_completed` instead.

use serde_json::value::RawValue;

use super::fields::{Fields, Key};
use super::state::{Side, Twin};
use super::{CodexReader, EventBody, Out};
use crate::event::Content;
use crate::readers::SessionFact;

/// Events without content for us.
const SILENT: &[&str] = &[
    // Bounds of turns and settings; models and errors are taken from them.
    "session_configured",
    "shutdown_complete",
    "task_started",
    "thread_queue_changed",
    "turn_started",
    // Pieces of what is logged whole later.
    "agent_message_content_delta",
    "agent_message_delta",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
    "exec_command_output_delta",
    "item_started",
    "patch_apply_updated",
    "plan_delta",
    "raw_response_completed",
    "raw_response_item",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "terminal_interaction",
    "turn_diff",
    // Tool calls have them.
    "plan_update",
    // Of the client's own state.
    "environment_connected",
    "environment_disconnected",
    "get_history_entry_response",
    "hook_started",
    "list_custom_prompts_response",
    "list_skills_response",
    "mcp_list_tools_response",
    "mcp_startup_complete",
    "mcp_startup_update",
    "model_verification",
    "realtime_conversation_closed",
    "realtime_conversation_list_voices_response",
    "realtime_conversation_realtime",
    "realtime_conversation_sdp",
    "realtime_conversation_started",
    "safety_buffering",
    "skills_update_available",
    "turn_moderation_metadata",
    "undo_started",
];

/// Events about the client itself, with the key of their text.
const NOTICES: &[(&str, Key)] = &[
    ("background_event", Key::Message),
    ("deprecation_notice", Key::Summary),
    ("error", Key::Message),
    ("guardian_warning", Key::Message),
    ("model_reroute", Key::Reason),
    ("stream_error", Key::Message),
    ("turn_aborted", Key::Reason),
    ("undo_completed", Key::Message),
    ("warning", Key::Message),
];

/// Events that are given whole, because no single field is enough.
const WHOLE: &[&str] = &[
    "apply_patch_approval_request",
    "elicitation_request",
    "exec_approval_request",
    "exited_review_mode",
    "guardian_assessment",
    "hook_completed",
    "request_permissions",
    "request_user_input",
    "sub_agent_activity",
    "thread_goal_updated",
    "thread_rolled_back",
];

impl CodexReader {
    /// Reads an event, if its type is one.
    pub(super) fn event<'a>(&mut self, kind: &str, event: &Fields<'a>, out: &mut Out<'a, '_>) -> bool {
        let words = event.first(&[Key::Message, Key::Text]);
        match (kind, words) {
            ("user_message", Some(words)) => self.user(Side::Event, words, out),
            ("agent_message", Some(words)) => self.message(Side::Event, words, out),
            ("agent_reasoning" | "agent_reasoning_raw_content", Some(words)) => {
                self.reasoning(Side::Event, words, out);
            }
            // Without a text they are skipped.
            ("user_message" | "agent_message" | "agent_reasoning" | "agent_reasoning_raw_content", None) => {}
            ("token_count", _) => self.token_count(event, out),
            ("turn.completed", _) => self.turn_usage(event, out),
            ("task_complete" | "turn_complete", _) => {
                if let Some(error) = event.get(Key::Error) {
                    out.notice(error);
                }
            }
            ("thread_settings_applied", _) => {
                self.set_model(&event.object(Key::ThreadSettings).unwrap_or_default());
            }
            ("thread_name_updated", _) => {
                out.record.facts.extend(event.word(Key::ThreadName).map(SessionFact::Title));
            }
            ("context_compacted", _) => self.compaction(Side::Event, out),
            ("entered_review_mode", _) => self.review(event, out),
            ("item_completed", _) => match event.get(Key::Item) {
                Some(item) => self.turn_item(item, out),
                None => out.unreadable("an item_completed without its item"),
            },
            // A call in an event, as some other programs write it.
            ("tool_call" | "tool_result", _) => return self.item(kind, event, out),
            _ if SILENT.contains(&kind) => (),
            _ => return self.tool_event(kind, event, out) || self.notice_event(kind, event, out),
        }
        true
    }

    fn notice_event<'a>(&self, kind: &str, event: &Fields<'a>, out: &mut Out<'a, '_>) -> bool {
        if let Some((_, key)) = NOTICES.iter().find(|(name, _)| *name == kind) {
            match event.first(&[*key, Key::Error, Key::Message]) {
                Some(words) => out.notice(words),
                None => out.give(EventBody::Notification(Content::text(kind.to_owned()))),
            }
            return true;
        }
        let is_whole = WHOLE.contains(&kind);
        if is_whole {
            out.give_payload();
        }
        is_whole
    }

    /// The user requested a review. Its prompt, which the client wrote, comes next.
    pub(super) fn review<'a>(&mut self, review: &Fields<'a>, out: &mut Out<'a, '_>) {
        self.state.reviewing = true;
        let hint = review.word(Key::UserFacingHint).or_else(|| review.word(Key::Prompt)).unwrap_or_default();
        out.give(EventBody::SlashCommand { command: "/review".into(), arguments: hint });
    }

    /// The conversation was cut short. `compacted` has its summary, and an event reports it too.
    pub(super) fn compaction(&mut self, side: Side, out: &mut Out<'_, '_>) {
        if !self.is_repeated(Twin::Compaction, side, 0) {
            out.give(EventBody::Compaction(Content::text("context compacted")));
        }
    }

    /// `compacted`.
    pub(super) fn compacted<'a>(&mut self, payload: &Fields<'a>, out: &mut Out<'a, '_>) {
        match payload.get(Key::Message).filter(|message| message.get() != "\"\"") {
            // Its words are encrypted.
            None => self.compaction(Side::Item, out),
            Some(summary) => {
                self.is_repeated(Twin::Compaction, Side::Item, 0);
                out.give(EventBody::Summary(Content::Raw(summary)));
            }
        }
    }
}

impl<'a> Out<'a, '_> {
    /// Words, or an error that has them in its message.
    pub(super) fn notice(&mut self, words: &'a RawValue) {
        let within = words.get().starts_with('{').then(|| Fields::of(words).get(Key::Message)).flatten();
        self.give(EventBody::Notification(Content::Raw(within.unwrap_or(words))));
    }
}
