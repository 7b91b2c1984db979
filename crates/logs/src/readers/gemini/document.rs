//! From the lines, or the one document, to the messages: what replaces what, and what was taken back.

use std::collections::{BTreeSet, HashMap};

use serde::de::{DeserializeSeed as _, IgnoredAny};
use serde_json::{Map, Value};

use super::pieces::{Piece, pieces};
use super::torn::Document;
use crate::readers::Unrecognised;

/// Known fields of the head; anything else is drift.
const HEAD: &[&str] = &[
    "directories",
    "kind",
    "lastUpdated",
    "memoryScratchpad",
    "messages",
    "projectHash",
    "sessionId",
    "startTime",
    "summary",
];

/// Fields that a later version of a message may lack without meaning to take them away.
const KEPT: &[&str] = &["displayContent", "model", "thoughts", "tokens", "toolCalls"];

#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub head: Map<String, Value>,
    pub messages: Vec<Message>,
    pub rewinds: Vec<Rewind>,
    pub unrecognised: Vec<Unrecognised<'static>>,
    locations: HashMap<String, usize>,
    /// What the client would show and send, by place.
    live: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Message {
    pub fields: Map<String, Value>,
    pub rewound: bool,
}

/// From this message on, this many were taken back.
#[derive(Debug)]
pub(super) struct Rewind {
    pub first: usize,
    pub last: usize,
    pub count: usize,
}

impl Conversation {
    pub(super) fn read(text: &str) -> Option<Conversation> {
        let text = text.trim_start_matches('\u{feff}');
        let mut conversation = Conversation::default();
        // A log's first line is an object too, so what follows it decides.
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        let first = stream.next();
        let rest = text.get(stream.byte_offset()..).unwrap_or_default();
        let known = match first {
            Some(Ok(_)) if rest.trim().is_empty() => conversation.document(text),
            Some(Err(_)) if !is_log(text) => conversation.document(text),
            _ => conversation.lines(text),
        };
        known.then_some(conversation)
    }

    /// Whether it was one of Gemini CLI's.
    fn document(&mut self, text: &str) -> bool {
        let mut whole = serde_json::Deserializer::from_str(text);
        let mut messages = Vec::new();
        let result = Document { head: &mut self.head, messages: &mut messages }.deserialize(&mut whole);
        let ours = self.head.contains_key("sessionId")
            && ["messages", "projectHash", "startTime"].iter().any(|field| self.head.contains_key(*field));
        if !ours {
            return false;
        }
        if let Err(error) = result {
            self.unrecognised.push(unreadable("document", &error));
        }
        self.check_head();
        for message in messages {
            self.record(message);
        }
        true
    }

    fn lines(&mut self, text: &str) -> bool {
        let mut ours = false;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match serde_json::from_str::<Value>(line) {
                Ok(Value::Object(record)) => ours |= self.line(record),
                Ok(_) => self.unrecognised.push(Unrecognised::Unreadable("line is not an object".into())),
                Err(error) => self.unrecognised.push(unreadable("line", &error)),
            }
        }
        self.check_head();
        ours
    }

    /// Whether the line is of a kind that only Gemini CLI writes.
    fn line(&mut self, mut record: Map<String, Value>) -> bool {
        if let Some(Value::String(id)) = record.get("$rewindTo") {
            let id = id.clone();
            self.rewind(&id);
            true
        } else if record.get("id").is_some_and(Value::is_string) {
            let ours = record.get("type").is_some_and(|kind| kind == "gemini");
            self.record(Value::Object(record));
            ours
        } else if let Some(Value::Object(changes)) = record.get_mut("$set") {
            let mut changes = std::mem::take(changes);
            if let Some(Value::Array(messages)) = changes.remove("messages") {
                self.checkpoint(messages);
            }
            self.head.extend(changes);
            true
        } else if record.get("sessionId").is_some_and(Value::is_string)
            && ["messages", "projectHash", "startTime"].iter().any(|field| record.contains_key(*field))
        {
            if let Some(Value::Array(messages)) = record.remove("messages") {
                for message in messages {
                    self.record(message);
                }
            }
            for (field, value) in record {
                // A resumption writes the head again with its own time; the session began before.
                if field != "startTime" || !self.head.contains_key("startTime") {
                    self.head.insert(field, value);
                }
            }
            true
        } else {
            let kind = record.get("type").and_then(Value::as_str);
            let name = kind.or_else(|| record.keys().next().map(String::as_str)).unwrap_or("{}");
            self.unrecognised.push(Unrecognised::Record(name.to_owned().into()));
            false
        }
    }

    fn check_head(&mut self) {
        let unknown = self.head.keys().filter(|field| !HEAD.contains(&field.as_str()));
        self.unrecognised.extend(unknown.map(|field| Unrecognised::Part(format!("head.{field}").into())));
    }

    /// A message as it happened; a later version of it replaces the earlier one.
    fn record(&mut self, message: Value) {
        let Value::Object(fields) = message else {
            self.unrecognised.push(Unrecognised::Unreadable("message is not an object".into()));
            return;
        };
        match id_of(&fields).and_then(|id| self.locations.get(&id).copied()) {
            Some(place) => {
                let known = &mut self.messages[place];
                for (field, value) in fields {
                    let kept = KEPT.contains(&field.as_str()) && is_empty(&value);
                    if field == "timestamp" && known.fields.contains_key("timestamp") || kept {
                        continue;
                    }
                    known.fields.insert(field, value);
                }
                known.rewound = false;
                if !self.live.iter().rev().any(|live| *live == place) {
                    self.live.push(place);
                }
            }
            None => self.push(fields),
        }
    }

    fn push(&mut self, fields: Map<String, Value>) {
        let place = self.messages.len();
        if let Some(id) = id_of(&fields) {
            self.locations.insert(id, place);
        }
        self.messages.push(Message { fields, rewound: false });
        self.live.push(place);
    }

    /// What the model sees from now on. See the module comment for why it is not the history.
    fn checkpoint(&mut self, messages: Vec<Value>) {
        self.live.clear();
        let mut signatures: Option<HashMap<String, usize>> = None;
        for message in messages {
            let Value::Object(fields) = message else {
                self.unrecognised.push(Unrecognised::Unreadable("message is not an object".into()));
                continue;
            };
            let id = id_of(&fields);
            let known = id.as_ref().and_then(|id| self.locations.get(id).copied()).or_else(|| {
                let signatures = signatures.get_or_insert_with(|| {
                    let all = self.messages.iter().enumerate();
                    all.filter_map(|(place, message)| Some((signature(&message.fields)?, place))).collect()
                });
                signatures.get(&signature(&fields)?).copied()
            });
            match known {
                Some(place) => {
                    self.locations.extend(id.map(|id| (id, place)));
                    self.messages[place].rewound = false;
                    self.live.push(place);
                }
                None => self.push(fields),
            }
        }
    }

    /// As the client does it: an id that it does not find takes everything back.
    fn rewind(&mut self, id: &str) {
        let place = self.locations.get(id);
        let from = place.and_then(|place| self.live.iter().position(|live| live == place)).unwrap_or(0);
        let gone: BTreeSet<usize> = self.live.split_off(from).into_iter().collect();
        for place in &gone {
            self.messages[*place].rewound = true;
        }
        if let (Some(first), Some(last)) = (gone.first(), gone.last()) {
            self.rewinds.push(Rewind { first: *first, last: *last, count: gone.len() });
        }
    }
}

/// Whether a text whose beginning is not JSON looks like a line-based log: a later line is an object.
fn is_log(text: &str) -> bool {
    text.lines().skip(1).any(|line| line.starts_with("{\"") && line.trim_end().ends_with('}'))
}

fn id_of(fields: &Map<String, Value>) -> Option<String> {
    match fields.get("id")? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}

/// The content by which a copy of a message under another id is recognised; `None` when it is empty.
fn signature(fields: &Map<String, Value>) -> Option<String> {
    let mut words = String::new();
    let mut ids = BTreeSet::new();
    let id = |part: &Value| part.get("id").and_then(Value::as_str).map(str::to_owned);
    for piece in pieces(fields.get("content").unwrap_or(&Value::Null)) {
        match piece {
            Piece::Text(text) => words.push_str(&text),
            Piece::Call(part) | Piece::Response(part) => ids.extend(id(&part)),
            Piece::Thought(_) | Piece::Other(_) => {}
        }
    }
    if let Some(Value::Array(calls)) = fields.get("toolCalls") {
        ids.extend(calls.iter().filter_map(id));
    }
    if words.trim().is_empty() && ids.is_empty() {
        return None;
    }
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    Some(format!("{kind}\n{ids:?}\n{}", words.trim()))
}

/// Why, without quoting.
fn unreadable(what: &str, error: &serde_json::Error) -> Unrecognised<'static> {
    let why = if error.is_eof() { "ends too early" } else { "is not JSON" };
    Unrecognised::Unreadable(format!("{what} {why}").into())
}
