//! Calls with their results, as the lenses look at them.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use tamis_logs::event::{EventStream, LoggedCall, LoggedResult, Millis, output_of};
use tamis_logs::tool_kinds::{CallDetails, ToolKind};
use tamis_redact::Redacted;

use super::findings::Spot;
use crate::summary::preview;

/// A call whose result is awaited.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) used: CallDetails,
    /// The same for the same tool with the same arguments, in whatever order these stand.
    pub(crate) key: u64,
    pub(super) spot: Spot,
    pub(crate) at: Option<Millis>,
    pub(crate) stream: EventStream,
}

impl Called {
    pub(super) fn new(call: &LoggedCall<'_>, spot: Spot, at: Option<Millis>, stream: EventStream) -> Called {
        let arguments = call.arguments.to_value();
        let mut hasher = DefaultHasher::new();
        call.name.hash(&mut hasher);
        hash_value(&arguments, &mut hasher);
        Called {
            id: call.id.as_ref().map(|id| id.clone().into_owned()),
            used: CallDetails::of(&call.name, &arguments),
            name: call.name.clone().into_owned(),
            key: hasher.finish(),
            spot,
            at,
            stream,
        }
    }

    /// The tool and what it was about: `Bash cargo test`.
    pub(super) fn shown(&self) -> String {
        match self.used.target() {
            Some(target) => format!("{} {}", self.name, shown_target(self.used.tool_kind, target)),
            None => self.name.clone(),
        }
    }
}

/// Letters of a path or command inside a message.
const TARGET_CHARS: usize = 60;

fn shown_target(tool_kind: ToolKind, target: &str) -> String {
    match tool_kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Write => shown_path(target),
        _ => preview(target, TARGET_CHARS).into_inner(),
    }
}

/// The end of a path, which distinguishes files best.
pub(super) fn shown_path(path: &str) -> String {
    let path = Redacted::from(path);
    let letters = path.chars().count();
    if letters <= TARGET_CHARS {
        return path.into_inner();
    }
    let end: String = path.chars().skip(letters - TARGET_CHARS + 1).collect();
    format!("…{end}")
}

/// A call with its result.
pub(super) struct Answered<'c> {
    pub(super) call: &'c Called,
    pub(super) spot: Spot,
    pub(super) at: Option<Millis>,
    pub(super) failed: bool,
    /// The person did not let it happen.
    pub(super) declined: bool,
    pub(super) bytes: u64,
    /// The same for the same result, whatever time it took.
    pub(super) key: u64,
    /// How long it ran, where the result says so.
    pub(super) ran: Option<f64>,
}

impl<'c> Answered<'c> {
    pub(super) fn new(
        call: &'c Called,
        result: &LoggedResult<'_>,
        spot: Spot,
        at: Option<Millis>,
    ) -> Answered<'c> {
        let text = output_of(&result.content);
        let mut hasher = DefaultHasher::new();
        let mut ran = None;
        for (number, line) in text.split('\n').enumerate() {
            match line.strip_prefix("Wall time: ").filter(|_| number < 8) {
                Some(time) => ran = time.split(' ').next().and_then(|seconds| seconds.parse().ok()),
                None if number < 8 && line.starts_with("Chunk ID: ") => {}
                None => line.hash(&mut hasher),
            }
        }
        let declined = result.is_declined();
        Answered {
            call,
            spot,
            at,
            failed: result.failed && !declined,
            declined,
            bytes: text.len() as u64,
            key: hasher.finish(),
            ran,
        }
    }
}

fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            for name in names {
                name.hash(hasher);
                hash_value(&members[name], hasher);
            }
            '}'.hash(hasher);
        }
        Value::Array(items) => {
            items.iter().for_each(|item| hash_value(item, hasher));
            ']'.hash(hasher);
        }
        Value::String(text) => text.hash(hasher),
        other => other.to_string().hash(hasher),
    }
}

pub(super) fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
