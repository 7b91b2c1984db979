//! What later records depend on. It is small, because it is kept for every block of a log.

use serde::{Deserialize, Serialize};

use crate::event::{EventStream, Millis};
use crate::readers::hashing::{FNV_START, fnv};
use crate::usage::Tokens;

/// Most logs repeat a text within a few records; this many are remembered.
const REMEMBERED: usize = 16;

/// Hashes are cut to this many bits: six hexadecimal digits, and one chance in a million for a wrong match.
const HASH_BITS: u32 = 24;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// The session's id.
    #[serde(rename = "i", skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(rename = "s", skip_serializing_if = "is_false")]
    pub(super) subagent: bool,
    #[serde(rename = "m", skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// The last running total.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none", with = "tokens_or_none")]
    pub(super) total: Option<Tokens>,
    /// What single requests reported since that total.
    #[serde(rename = "r", skip_serializing_if = "Option::is_none", with = "tokens_or_none")]
    pub(super) recorded: Option<Tokens>,
    /// Running totals begin where another log's ended.
    #[serde(rename = "f", skip_serializing_if = "is_false")]
    pub(super) foreign_total: bool,
    /// The model has answered in this session.
    #[serde(rename = "o", skip_serializing_if = "is_false")]
    pub(super) answered: bool,
    /// In a copy of another session's records.
    #[serde(rename = "p", skip_serializing_if = "Option::is_none")]
    pub(super) prefix: Option<Prefix>,
    /// A review begins; the next text in the user's name is its prompt, which the client wrote.
    #[serde(rename = "v", skip_serializing_if = "is_false")]
    pub(super) reviewing: bool,
    /// The next message from another agent begins a turn.
    #[serde(rename = "n", skip_serializing_if = "is_false")]
    pub(super) triggered: bool,
    #[serde(rename = "w", skip_serializing_if = "Twins::is_empty")]
    pub(super) twins: Twins,
    #[serde(rename = "c", skip_serializing_if = "Calls::is_empty")]
    pub(super) calls: Calls,
}

/// A copied beginning that has not ended yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Prefix {
    /// The first record of the session's own, where the log says so.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    pub(super) own_from: Option<u64>,
    /// When the session began.
    #[serde(rename = "b")]
    pub(super) born: Millis,
    /// When the last record was copied.
    #[serde(rename = "u")]
    pub(super) copied_at: Millis,
    /// Turns in it have ids that contain their time, so the next own turn will.
    #[serde(rename = "t", skip_serializing_if = "is_false")]
    pub(super) by_turn: bool,
}

impl State {
    pub(super) fn stream(&self) -> EventStream {
        if self.subagent { EventStream::Subagent } else { EventStream::Main }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Which of the two ways of telling something a record belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// What the model's API was sent or sent back: `response_item`.
    Item,
    /// What the client showed its user: `event_msg`.
    Event,
}

/// What Codex logs twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twin {
    User,
    Message,
    Reasoning,
    WebSearch,
    Image,
    Compaction,
}

/// What was recorded once and may be repeated by the other side, oldest first. An entry is a letter for kind and
/// side, and a hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Twins(String);

const ENTRY: usize = 1 + HASH_BITS as usize / 4;

impl Twins {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn entry(twin: Twin, side: Side, hash: u64) -> String {
        let letter = match twin {
            Twin::User => 'u',
            Twin::Message => 'm',
            Twin::Reasoning => 'r',
            Twin::WebSearch => 'w',
            Twin::Image => 'i',
            Twin::Compaction => 'k',
        };
        let letter = if side == Side::Item { letter.to_ascii_uppercase() } else { letter };
        format!("{letter}{}", hex(hash))
    }

    /// Whether the other side has recorded this. It is then removed: the same text may be repeated.
    pub(super) fn take(&mut self, twin: Twin, side: Side, hash: u64) -> bool {
        let other = if side == Side::Item { Side::Event } else { Side::Item };
        let entry_of_other = Twins::entry(twin, other, hash);
        let found = entries(&self.0, ENTRY).position(|entry| entry == entry_of_other.as_bytes());
        if let Some(position) = found {
            self.0.replace_range(position * ENTRY..(position + 1) * ENTRY, "");
        }
        found.is_some()
    }

    pub(super) fn put(&mut self, twin: Twin, side: Side, hash: u64) {
        self.0.push_str(&Twins::entry(twin, side, hash));
        forget_oldest(&mut self.0, ENTRY);
    }
}

/// How much of a call was already given as events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallProgress {
    /// Its result comes, or came, with the conversation's items.
    Item,
    /// As above, and the client has reported that the call failed.
    ItemFailed,
    /// Only events report it, and its result is still to come.
    Begun,
}

/// The latest tool calls, oldest first. An entry is a hash of the call's id, and a letter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Calls(String);

impl Calls {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn position(&self, id: &str) -> Option<usize> {
        let hash = hex(hash_of(id));
        entries(&self.0, ENTRY).position(|entry| entry.starts_with(hash.as_bytes()))
    }

    pub(super) fn progress(&self, id: &str) -> Option<CallProgress> {
        let position = self.position(id)?;
        Some(match entries(&self.0, ENTRY).nth(position)?.last()? {
            b'f' => CallProgress::ItemFailed,
            b'b' => CallProgress::Begun,
            _ => CallProgress::Item,
        })
    }

    pub(super) fn record(&mut self, id: &str, progress: CallProgress) {
        if let Some(position) = self.position(id) {
            self.0.replace_range(position * ENTRY..(position + 1) * ENTRY, "");
        }
        let letter = match progress {
            CallProgress::Item => 'i',
            CallProgress::ItemFailed => 'f',
            CallProgress::Begun => 'b',
        };
        self.0.push_str(&hex(hash_of(id)));
        self.0.push(letter);
        forget_oldest(&mut self.0, ENTRY);
    }
}

/// A state may come from any process, so its rings may be of any length.
fn entries(ring: &str, size: usize) -> impl Iterator<Item = &[u8]> {
    ring.as_bytes().chunks_exact(size)
}

fn forget_oldest(ring: &mut String, size: usize) {
    if ring.len() > REMEMBERED * size {
        ring.drain(..ring.len() - REMEMBERED * size);
    }
}

fn hex(hash: u64) -> String {
    let folded = (hash ^ (hash >> 24) ^ (hash >> 48)) & ((1 << HASH_BITS) - 1);
    format!("{folded:06x}")
}

pub(super) fn hash_of(text: &str) -> u64 {
    fnv(FNV_START, text.as_bytes())
}

/// Tokens as a short array.
mod tokens_or_none {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::usage::Tokens;

    pub(super) fn serialize<S: Serializer>(tokens: &Option<Tokens>, to: S) -> Result<S::Ok, S::Error> {
        tokens.map(|t| [t.input, t.cache_read, t.cache_creation, t.output, t.reasoning]).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Tokens>, D::Error> {
        let parts = Option::<[u64; 5]>::deserialize(from)?;
        Ok(parts.map(|[input, cache_read, cache_creation, output, reasoning]| Tokens {
            input,
            cache_read,
            cache_creation,
            output,
            reasoning,
        }))
    }
}
