//! Records of the client itself: notices, attachments, and the end of a transcript.

use serde_json::value::RawValue;

use super::kinds::{ATTACHMENTS, Attached, SILENT_NOTICES};
use super::lenient::{Maybe, read as read_json};
use super::wire::{Attachment, Line};
use super::{Out, State, Streamed, user};
use crate::event::{Content, EventBody};
use crate::usage::{Claim, UsageReport};

/// A `system` record.
pub(super) fn system<'a>(line: Line<'a>, out: &mut Out<'_, 'a>) {
    let subtype = line.subtype.as_deref().unwrap_or_default();
    let message = line.message.0.and_then(|message| message.content);
    let words = [line.content, message, line.errors, line.error, line.summary];
    let words = words.into_iter().flatten().find(|words| !is_empty(words));
    match (subtype, words) {
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
pub(super) fn attachment<'a>(line: Line<'a>, out: &mut Out<'_, 'a>) {
    let Some(raw) = line.attachment else {
        out.unrecognised("attachment.attachment");
        return;
    };
    let Ok(Maybe(Some(attachment))) = read_json::<Maybe<Attachment<'a>>>(raw.get()) else {
        out.unrecognised("attachment.attachment");
        return;
    };
    let kind = attachment.kind.as_deref().unwrap_or("(none)");
    match ATTACHMENTS.iter().find(|(name, _)| *name == kind).map(|(_, attached)| attached) {
        Some(Attached::Silent) => {}
        Some(Attached::Queued) => queued(attachment, out),
        Some(Attached::Shown) => {
            let words = [
                attachment.content,
                attachment.blocking_error,
                attachment.message,
                attachment.snippet,
                attachment.text,
                attachment.stderr,
                attachment.stdout,
            ];
            let hook = kind.contains("hook");
            match words.into_iter().flatten().find(|words| !is_empty(words)) {
                Some(words) => out.push(EventBody::Notification(Content::Raw(words))),
                // A hook without output.
                None if hook && attachment.content.or(attachment.stdout).is_some() => {}
                None => out.push(EventBody::Notification(Content::Raw(raw))),
            }
        }
        None => {
            let kind = format!("attachment.{kind}");
            out.unrecognised(kind);
        }
    }
}

/// A message that was typed, or a task that ended, while the agent was at work.
fn queued<'a>(attachment: Attachment<'a>, out: &mut Out<'_, 'a>) {
    let Some(prompt) = attachment.prompt else {
        out.unrecognised("attachment.queued_command");
        return;
    };
    let of_person = !attachment.meta
        && attachment.mode.as_deref() != Some("task-notification")
        && user::of_person(&attachment.origin.0, None);
    match of_person {
        true => user::prompt(prompt, out),
        false => out.push(EventBody::Notification(Content::Raw(prompt))),
    }
}

/// The end of a turn in a transcript of stream-json; or of an agent in a journal, which its own log has.
pub(super) fn result<'a>(line: Line<'a>, state: &mut State, out: &mut Out<'_, 'a>) {
    if line.is_error
        && let Some(error) = line.errors.or(line.result).filter(|error| !is_empty(error))
    {
        out.push(EventBody::Notification(Content::Raw(error)));
    }
    let (Some(usage), Some(streamed)) = (line.usage.0, &mut state.streamed) else {
        return;
    };
    // Two turns may end at once: what the first result does not account for is the second's.
    let (whole, counted) = (usage.tokens(), Streamed::tokens(streamed.all));
    streamed.all = Streamed::counts(counted.minus(whole));
    let tokens = whole.minus(counted);
    if !tokens.is_zero() {
        out.push(EventBody::TokenUsage(UsageReport { tokens, model: None, claim: Claim::Once }));
    }
}

fn is_empty(raw: &RawValue) -> bool {
    matches!(raw.get(), r#""""# | "[]" | "{}" | r#""{}""# | r#""{}\n""#)
}
