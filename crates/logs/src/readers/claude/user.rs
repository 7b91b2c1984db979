//! Messages of the role "user": a person's words, results of tools, and much that the client wrote itself.

use serde_json::Value;
use serde_json::value::RawValue;

use super::Out;
use super::fields::{Fields, Key, Line};
use super::kinds::{COMPACT_SUMMARY, OF_THE_CLIENT, PEOPLE, PUT_BEFORE};
use crate::event::{Content, EventBody, LoggedResult};
use crate::readers::fields::text as text_of;

/// Whose words a text is.
enum Saying {
    Person,
    Client,
    Summary,
    Command { command: String, arguments: String },
}

pub(super) fn read<'a>(line: &Line<'a>, out: &mut Out<'_, 'a>) {
    let Some(message) = &line.inner else {
        out.unrecognised("user.message");
        return;
    };
    let own = &line.own;
    let is_of_client = own.is(Key::IsMeta)
        || own.is(Key::IsTranscriptOnly)
        || own.text(Key::PromptSource).as_deref() == Some("system")
        || !is_of_person(own);
    let marked = match own.is(Key::IsCompactSummary) {
        true => Some(Saying::Summary),
        false => is_of_client.then_some(Saying::Client),
    };
    content(message.get(Key::Content), marked.as_ref(), out);
}

/// A person's message that waited in the queue.
pub(super) fn prompt<'a>(prompt: &'a RawValue, out: &mut Out<'_, 'a>) {
    content(Some(prompt), None, out);
}

/// Whether a message is a person's, as far as its origin says.
pub(super) fn is_of_person(record: &Fields<'_>) -> bool {
    let kind = record.object(Key::Origin).and_then(|origin| origin.text(Key::Kind));
    kind.is_none_or(|kind| PEOPLE.contains(&kind.as_ref()))
}

fn content<'a>(content: Option<&'a RawValue>, marked: Option<&Saying>, out: &mut Out<'_, 'a>) {
    match content {
        Some(text) if text.get().starts_with('"') => say(text, marked, out),
        Some(parts) if parts.get().starts_with('[') => each_part(parts, marked, out),
        _ => out.unrecognised("user.content"),
    }
}

fn each_part<'a>(raw: &'a RawValue, marked: Option<&Saying>, out: &mut Out<'_, 'a>) {
    let Some(parts) = Fields::each(raw) else {
        out.unrecognised("user.content");
        return;
    };
    // A person's message of a text and an image, say, is one message. Unless the client or a tool put something beside
    // it, it is given as it stands.
    let mut of_person: Vec<&'a RawValue> = Vec::new();
    let (mut images, mut alone) = (0, true);
    for part in parts {
        let Some(part) = part else {
            out.unrecognised("user.content.(no object)");
            alone = false;
            continue;
        };
        match (part.kind().as_deref(), part.get(Key::Text)) {
            (Some("tool_result"), text) => {
                alone = false;
                out.push(EventBody::ToolResult(LoggedResult {
                    id: part.text(Key::ToolUseId),
                    content: part.get(Key::Content).or(text).map_or(Content::text(""), Content::Raw),
                    failed: part.is(Key::IsError),
                }));
            }
            (Some("text") | None, Some(text)) => {
                if marked.is_none() && matches!(saying(text), Saying::Person) {
                    of_person.push(text);
                } else {
                    alone = false;
                    say(text, marked, out);
                }
            }
            (Some("image" | "document" | "container_upload"), _) => images += 1,
            // Tools that the client found for the model, listed beside their result.
            (Some("tool_reference" | "tool_addition" | "tool_removal"), _) => alone = false,
            (kind, _) => {
                let kind = kind.unwrap_or("(none)");
                out.unrecognised(format!("user.content.{kind}"));
                alone = false;
            }
        }
    }
    let content = match (of_person.as_slice(), images) {
        ([], 0) => return,
        ([text], 0) => Content::Raw(text),
        _ if alone => Content::Raw(raw),
        (texts, images) => {
            let texts =
                texts.iter().filter_map(|text| text_of(text)).map(|text| Value::from(text.into_owned()));
            let images = (0..images).map(|_| Value::from("[image]"));
            Content::Value(Value::Array(texts.chain(images).collect()))
        }
    };
    match marked {
        None => out.push(EventBody::User(content)),
        Some(_) => out.push(EventBody::Notification(content)),
    }
}

/// Gives a text of its own.
fn say<'a>(text: &'a RawValue, marked: Option<&Saying>, out: &mut Out<'_, 'a>) {
    let content = Content::Raw(text);
    out.push(match (saying(text), marked) {
        // Marked or not, a command is what a person called, or the model did.
        (Saying::Command { command, arguments }, _) => {
            EventBody::SlashCommand { command: command.into(), arguments: arguments.into() }
        }
        (_, Some(Saying::Summary)) | (Saying::Summary, None) => EventBody::Summary(content),
        (_, Some(_)) | (Saying::Client, None) => EventBody::Notification(content),
        (Saying::Person, None) => EventBody::User(content),
    });
}

fn saying(raw: &RawValue) -> Saying {
    // Most texts need no look beyond their first letter.
    let json = raw.get().as_bytes();
    if !matches!(json.get(1), Some(b'<' | b'[' | b'C' | b'T' | b'\\' | b' ')) {
        return Saying::Person;
    }
    text_of(raw).map_or(Saying::Person, |text| saying_of(text.trim_start()))
}

fn saying_of(text: &str) -> Saying {
    if text.starts_with("<command-name>") || text.starts_with("<command-message>") {
        return command(text);
    }
    if let Some(typed) = tag(text, "bash-input").filter(|_| text.starts_with("<bash-input>")) {
        return Saying::Command { command: "!".to_owned(), arguments: typed.to_owned() };
    }
    if let Some(noted) = tag(text, "user-memory-input").filter(|_| text.starts_with("<user-memory-input>")) {
        return Saying::Command { command: "#".to_owned(), arguments: noted.to_owned() };
    }
    if text.starts_with(COMPACT_SUMMARY) {
        return Saying::Summary;
    }
    if OF_THE_CLIENT.iter().any(|begin| text.starts_with(begin)) {
        return Saying::Client;
    }
    let mut rest = text;
    while let Some(after) = PUT_BEFORE.iter().find_map(|name| after_tag(rest, name)) {
        rest = after.trim_start();
    }
    // All of it was put before, or words of a person follow.
    if rest.is_empty() && !text.is_empty() { Saying::Client } else { Saying::Person }
}

/// A command that a person typed; or a skill that the model called, which old clients wrote in the same way.
fn command(text: &str) -> Saying {
    let message = tag(text, "command-message").unwrap_or_default();
    let Some(name) = tag(text, "command-name").filter(|name| !name.is_empty()) else {
        return Saying::Client;
    };
    let slash = name.starts_with('/');
    if !slash && message.starts_with("The \"") {
        return Saying::Client;
    }
    let command = if slash { name.to_owned() } else { format!("/{name}") };
    Saying::Command { command, arguments: tag(text, "command-args").unwrap_or_default().to_owned() }
}

fn tag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let begin = text.find(&format!("<{name}>"))? + name.len() + 2;
    let end = text[begin..].rfind(&format!("</{name}>"))? + begin;
    Some(text[begin..end].trim())
}

/// What comes after a tag with which the text begins.
fn after_tag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let inside = text.strip_prefix('<')?.strip_prefix(name)?.strip_prefix('>')?;
    match inside.split_once(&format!("</{name}>")) {
        Some((_, after)) => Some(after),
        // Never closed: all of it.
        None => Some(""),
    }
}

/// The notices that the client writes of commands look as they do in messages.
pub(super) fn local_command<'a>(content: &'a RawValue, out: &mut Out<'_, 'a>) {
    say(content, Some(&Saying::Client), out);
}
