//! Records of the client itself: notices, attachments, and the end of a transcript.

use serde_json::value::RawValue;

use super::assistant::tokens_of;
use super::fields::{Fields, Key, Line};
use super::kinds::{ATTACHMENTS, Attached, SILENT_NOTICES};
use super::{Out, State, Streamed, user};
use crate::event::{Content, EventBody};
use crate::usage::{Claim, UsageReport};

/// A `system` record.
pub(super) fn system<'a>(line: &Line<'a>, out: &mut Out<'_, 'a>) {
    let own = &line.own;
    let subtype = own.text(Key::Subtype).unwrap_or_default();
    let message = line.inner.as_ref().and_then(|message| message.get(Key::Content));
    let notices = [Key::Errors, Key::HookErrors, Key::Error, Key::Summary];
    let words = [own.get(Key::Content), message].into_iter().chain(notices.map(|key| own.get(key)));
    let words = words.flatten().find(|words| !is_empty(words));
    match (subtype.as_ref(), words) {
        ("local_command", Some(content)) => user::local_command(content, out),
        ("away_summary", Some(content)) => out.push(EventBody::Summary(Content::Raw(content))),
        ("init", _) => {}
        ("compact_boundary" | "microcompact_boundary", words) => {
            let content = words.map_or_else(|| Content::text("Conversation compacted"), Content::Raw);
            out.push(EventBody::Compaction(content));
        }
        (_, Some(content)) => out.push(EventBody::Notification(Content::Raw(content))),
        // Commands that print nothing.
        ("local_command", None) => {}
        (silent, None) if SILENT_NOTICES.contains(&silent) => {}
        (unknown, None) => {
            let unknown = if unknown.is_empty() { "(none)" } else { unknown };
            out.unrecognised(format!("system.{unknown}"));
        }
    }
}

/// An `attachment` record: what was put before the model beside the person's words.
pub(super) fn attachment<'a>(record: &Fields<'a>, out: &mut Out<'_, 'a>) {
    let object = record.get(Key::Attachment).and_then(|raw| Some((raw, Fields::parse(raw.get())?)));
    let Some((raw, attachment)) = object else {
        out.unrecognised("attachment.attachment");
        return;
    };
    let kind = attachment.kind().unwrap_or("(none)".into());
    match ATTACHMENTS.iter().find(|(name, _)| *name == kind).map(|(_, attached)| attached) {
        Some(Attached::Silent) => {}
        Some(Attached::Queued) => queued(&attachment, out),
        Some(Attached::Shown) => {
            let words = [
                Key::Content,
                Key::BlockingError,
                Key::Message,
                Key::Snippet,
                Key::Text,
                Key::Stderr,
                Key::Stdout,
            ];
            match words.into_iter().filter_map(|key| attachment.get(key)).find(|words| !is_empty(words)) {
                Some(words) => out.push(EventBody::Notification(Content::Raw(words))),
                // A hook without output.
                None if kind.contains("hook") && attachment.first(&[Key::Content, Key::Stdout]).is_some() => {
                }
                None => out.push(EventBody::Notification(Content::Raw(raw))),
            }
        }
        None => out.unrecognised(format!("attachment.{kind}")),
    }
}

/// A message that was typed, or a task that ended, while the agent was at work.
fn queued<'a>(attachment: &Fields<'a>, out: &mut Out<'_, 'a>) {
    let Some(prompt) = attachment.get(Key::Prompt) else {
        out.unrecognised("attachment.queued_command");
        return;
    };
    let of_person = !attachment.is(Key::IsMeta)
        && attachment.text(Key::CommandMode).as_deref() != Some("task-notification")
        && user::is_of_person(attachment);
    match of_person {
        true => user::prompt(prompt, out),
        false => out.push(EventBody::Notification(Content::Raw(prompt))),
    }
}

/// The end of a turn in a transcript of stream-json; or of an agent in a journal, which its own log has.
pub(super) fn result<'a>(record: &Fields<'a>, state: &mut State, out: &mut Out<'_, 'a>) {
    if record.is(Key::IsError)
        && let Some(error) = record.first(&[Key::Errors, Key::HookErrors, Key::Result])
        && !is_empty(error)
    {
        out.push(EventBody::Notification(Content::Raw(error)));
    }
    let (Some(usage), Some(streamed)) = (record.object(Key::Usage), &mut state.streamed) else {
        return;
    };
    // Two turns may end at once: what the first result does not account for is the second's.
    let (whole, counted) = (tokens_of(&usage), Streamed::tokens(streamed.all));
    streamed.all = Streamed::counts(counted.minus(whole));
    let tokens = whole.minus(counted);
    if !tokens.is_zero() {
        out.push(EventBody::TokenUsage(UsageReport {
            tokens,
            model: None,
            claim: Claim::Once,
            prompt: None,
        }));
    }
}

fn is_empty(raw: &RawValue) -> bool {
    matches!(raw.get(), r#""""# | "[]" | "{}" | r#""{}""# | r#""{}\n""#)
}
