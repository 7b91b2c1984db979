//! Whose words a text is, and whether it has been given before.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::fields::{Fields, Key};
use crate::readers::fields::{inside, text};
use crate::readers::hashing::{FNV_START, fnv};

/// How texts begin that Codex writes in the user's name. Tags are matched in any case, as Codex does.
const CONTEXT: &[&str] = &[
    "# agents.md instructions",
    "<apps_instructions>",
    "<codex_internal_context",
    "<collaboration_mode>",
    "<context_window",
    "<environment_context>",
    "<environments_instructions>",
    "<external_",
    "<goal_context>",
    "<hook_prompt",
    "<image_resize_notice>",
    "<instructions>",
    "<model_switch>",
    "<multi_agent_",
    "<permissions instructions>",
    "<personality_spec>",
    "<plugins_instructions>",
    "<realtime_",
    "<recommended_plugins>",
    "<rollout_budget>",
    "<skill>",
    "<skills_instructions>",
    "<subagent_notification>",
    "<token_budget>",
    "<turn_aborted>",
    "<user_action>",
    "<user_instructions>",
    "<user_shell_command>",
    "warning: apply_patch was requested via ",
    "warning: the maximum number of unified exec processes",
    "warning: your account was flagged for potentially high-risk",
];

/// Texts around an image or a sound in a message, which the user did not write.
const LABELS: &[&str] = &[
    "<image",
    "</image>",
    "<local_image",
    "</local_image>",
    "<audio",
    "</audio>",
    "<local_audio",
    "</local_audio>",
];

/// Parts of messages, of whatever age.
const PARTS: &[&str] = &[
    "Text",
    "audio",
    "encrypted_content",
    "image",
    "inputText",
    "input_audio",
    "input_file",
    "input_image",
    "input_text",
    "local_audio",
    "local_image",
    "mention",
    "output_text",
    "reasoning_text",
    "refusal",
    "skill",
    "summary_text",
    "text",
];

/// A text is compared by its first bytes and its length.
const HASHED: usize = 4096;

/// The texts of a content, as they stand in the log, escapes and all.
#[derive(Debug, Default)]
pub(super) struct Texts<'a> {
    pub(super) texts: Vec<&'a str>,
    /// It has parts that are no texts, an image say.
    pub(super) more: bool,
    /// Unknown types of parts.
    pub(super) unknown: Vec<Cow<'a, str>>,
}

impl<'a> Texts<'a> {
    pub(super) fn of(content: &'a RawValue) -> Texts<'a> {
        let mut found = Texts::default();
        match content.get().as_bytes().first() {
            Some(b'"') => found.texts.extend(inside(content)),
            Some(b'[') => Fields::list(content).iter().for_each(|part| found.add(part)),
            Some(b'{') => found.add(&Fields::of(content)),
            _ => (),
        }
        found.texts.retain(|text| !text.is_empty());
        found
    }

    fn add(&mut self, part: &Fields<'a>) {
        if let Some(kind) = part.kind().filter(|kind| !PARTS.contains(&kind.as_ref())) {
            self.unknown.push(kind);
        }
        match part.get(Key::Text).and_then(inside) {
            Some(text) if LABELS.iter().any(|label| text.starts_with(label)) => self.more = true,
            Some(text) => self.texts.push(text),
            None => self.more = true,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty() && !self.more
    }

    /// Whether all of it was put there by the client.
    pub(super) fn is_context(&self) -> bool {
        !self.texts.is_empty() && self.texts.iter().all(|text| is_context(text))
    }

    /// The same however the texts are cut into parts.
    pub(super) fn hash(&self) -> u64 {
        let (mut hash, mut left, mut length) = (FNV_START, HASHED, 0_usize);
        for text in &self.texts {
            let some = &text.as_bytes()[..text.len().min(left)];
            hash = fnv(hash, some);
            left -= some.len();
            length += text.len();
        }
        fnv(hash, &length.to_le_bytes())
    }
}

pub(super) fn hash_of_text(text: &str) -> u64 {
    Texts { texts: vec![text], ..Texts::default() }.hash()
}

fn is_context(text: &str) -> bool {
    let text = trim_escaped(text).as_bytes();
    CONTEXT.iter().any(|opening| {
        text.get(..opening.len()).is_some_and(|start| start.eq_ignore_ascii_case(opening.as_bytes()))
    })
}

/// Without blanks and escaped line breaks at the start.
fn trim_escaped(mut text: &str) -> &str {
    loop {
        let trimmed = text.trim_start();
        let trimmed = trimmed.strip_prefix("\\n").or(trimmed.strip_prefix("\\t")).unwrap_or(trimmed);
        if trimmed.len() == text.len() {
            return text;
        }
        text = trimmed;
    }
}

/// A `/command` and its arguments. A path is none: `/home/dev` goes on with a slash.
pub(super) fn slash_command<'a>(content: &'a RawValue, texts: &Texts<'a>) -> Option<(String, String)> {
    let [first] = texts.texts[..] else { return None };
    let name = first.strip_prefix('/')?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':');
    let end = name.bytes().take_while(|byte| is_name(*byte)).count();
    let rest = &name[end..];
    let ends = rest.is_empty() || rest.starts_with(' ') || rest.starts_with("\\n");
    if texts.more || !name.starts_with(|first: char| first.is_ascii_lowercase()) || !ends {
        return None;
    }
    let whole = match content.get().starts_with('"') {
        true => text(content)?,
        false => Fields::list(content).first()?.text(Key::Text)?,
    };
    let (command, arguments) = whole.split_at_checked(1 + end)?;
    Some((command.to_owned(), arguments.trim().to_owned()))
}
