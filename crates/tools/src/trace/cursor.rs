//! Cursors: where a list goes on. Opaque to callers, and checked: each belongs to one tool and one question.
//!
//! A cursor names the last item's place by its key, not by its number, so that it still works when items came or went.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::failure::invalid_cursor;
use crate::Failure;

const LONGEST: usize = 2048;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What cursors of a call are bound to: the tool, and all parameters that decide which items there are.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    tool: &'static str,
    question: u64,
}

#[derive(Serialize, Deserialize)]
struct Written {
    /// The tool.
    t: String,
    /// A hash of the question.
    q: String,
    /// The place, as JSON.
    p: String,
    /// A hash of all of it.
    s: String,
}

impl Binding {
    /// `question` may have any form that is the same for the same question.
    pub(crate) fn new(tool: &'static str, question: &impl std::fmt::Debug) -> Binding {
        Binding { tool, question: hash(&format!("{question:?}")) }
    }

    pub(crate) fn write(&self, place: &impl Serialize) -> String {
        // A place is numbers and ids, which JSON always has a form for.
        let place = serde_json::to_string(place).unwrap_or_default();
        let question = format!("{:016x}", self.question);
        let seal = self.seal(&question, &place);
        let written = Written { t: self.tool.to_owned(), q: question, p: place, s: seal };
        encode(serde_json::to_string(&written).unwrap_or_default().as_bytes())
    }

    /// The place that a cursor names; `None` without a cursor. An empty one is none.
    pub(crate) fn read<T: DeserializeOwned>(&self, cursor: Option<&str>) -> Result<Option<T>, Failure> {
        let Some(cursor) = cursor.filter(|cursor| !cursor.is_empty()) else { return Ok(None) };
        let malformed = || invalid_cursor("it was not issued by this server");
        let bytes = Some(cursor).filter(|cursor| cursor.len() <= LONGEST).and_then(decode);
        let written: Written =
            bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or_else(malformed)?;
        if written.t != self.tool {
            return Err(invalid_cursor("it belongs to another tool"));
        }
        if written.s != self.seal(&written.q, &written.p) {
            return Err(malformed());
        }
        if written.q != format!("{:016x}", self.question) {
            return Err(invalid_cursor(
                "it belongs to a call with other parameters; repeat all but limit and fields",
            ));
        }
        serde_json::from_str(&written.p).map(Some).map_err(|_| malformed())
    }

    fn seal(&self, question: &str, place: &str) -> String {
        format!("{:08x}", hash(&format!("{}\0{question}\0{place}", self.tool)) as u32)
    }
}

/// FNV-1a: the same in every process and version.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Base64 for addresses, without padding.
fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 3);
    for three in bytes.chunks(3) {
        let whole =
            three.iter().fold(0_u32, |whole, byte| whole << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for sextet in 0..=three.len() {
            text.push(char::from(LETTERS[(whole >> (18 - 6 * sextet) & 63) as usize]));
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let text = text.trim_end_matches('=');
    for four in text.as_bytes().chunks(4) {
        let mut whole = 0_u32;
        for letter in four {
            let value = LETTERS.iter().position(|known| known == letter)?;
            whole = whole << 6 | value as u32;
        }
        whole <<= 6 * (4 - four.len());
        let [_, one, two, three] = whole.to_be_bytes();
        bytes.extend_from_slice(&[one, two, three][..four.len().checked_sub(1)?]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(failure: Failure) -> &'static str {
        match failure {
            Failure::Stated { code, .. } => code,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_cursor_works_only_where_it_was_given() {
        let binding = Binding::new("list_sessions", &("codex", 1));
        let cursor = binding.write(&(7, "id"));
        assert_eq!(binding.read::<(i64, String)>(Some(&cursor)).unwrap(), Some((7, "id".to_owned())));
        assert_eq!(binding.read::<u64>(None).unwrap(), None);
        assert_eq!(binding.read::<u64>(Some("")).unwrap(), None);
        for other in [Binding::new("list_turns", &("codex", 1)), Binding::new("list_sessions", &("codex", 2))]
        {
            assert_eq!(code(other.read::<(i64, String)>(Some(&cursor)).unwrap_err()), "invalid_cursor");
        }
        assert_eq!(
            code(binding.read::<u64>(Some(&cursor)).unwrap_err()),
            "invalid_cursor",
            "another kind of place"
        );
        for text in ["eyJvZmZzZXQiOjEwfQ==", "null", "é", &"A".repeat(5000)] {
            assert_eq!(code(binding.read::<u64>(Some(text)).unwrap_err()), "invalid_cursor", "{text}");
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }

        /// With one letter changed, it is no longer a cursor.
        #[test]
        fn a_changed_cursor_is_refused(at in 0_usize..60, letter in "[A-Za-z0-9_-]") {
            let binding = Binding::new("list_sessions", &1);
            let cursor = binding.write(&(1_767_335_925_000_i64, "fb3cff44-13ae-41a6-a6df-f287e0552835"));
            let mut changed = cursor.clone();
            changed.replace_range(at..=at, &letter);
            let read = binding.read::<(i64, String)>(Some(&changed));
            prop_assert!(changed == cursor || read.is_err());
        }
    }
}
