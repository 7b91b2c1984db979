//! Prune ids: `prn_`, 16 characters of the text's hash, 6 of the hash of everything else that decides the result.
//!
//! The same call gets the same id and so the same bytes, which keeps prompt caches valid. Recovery uses only the part that
//! comes from the text.

use std::fmt;

use tamis_prune::{ENGINE_VERSION, ShownRun};
use tamis_text::TextKind;

use crate::{MarkerForm, PruneOptions, PruneRequest};

const PREFIX: &str = "prn_";
const TEXT_CHARS: usize = 16;
const CALL_CHARS: usize = 6;
/// Shorter beginnings of ids are refused: they would often be ambiguous.
const SHORTEST_BEGINNING: usize = 4;
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The id of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PruneId {
    pub(crate) text: TextId,
    call: String,
}

/// The part that comes from the text and names its file: always 16 characters of the alphabet, so it is safe in a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TextId(String);

impl TextId {
    pub(crate) fn of(text: &[u8]) -> TextId {
        TextId::of_hash(&blake3::hash(text))
    }

    /// The id of a text with this hash.
    pub(crate) fn of_hash(hash: &blake3::Hash) -> TextId {
        TextId(base32(hash.as_bytes(), TEXT_CHARS))
    }

    pub(crate) fn parse(name: &str) -> Option<TextId> {
        is_base32(name, TEXT_CHARS).then(|| TextId(name.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl PruneId {
    pub(crate) fn of(request: &PruneRequest<'_>) -> PruneId {
        let PruneRequest { text, goal, kind, options, shown } = request;
        PruneId::of_call(TextId::of(text.as_bytes()), goal, *kind, options, shown)
    }

    /// The id of a call for a text that is known by its own id.
    pub(crate) fn of_call(
        text: TextId,
        goal: &str,
        kind: TextKind,
        options: &PruneOptions,
        shown: &[ShownRun],
    ) -> PruneId {
        // Every field is named, so that the compiler reports a new one that is not hashed.
        let PruneOptions {
            threshold,
            max_prune_ratio,
            min_keep_lines,
            keep_first_lines,
            timeout: _,
            annotate_lines,
            include_markers,
            markers,
            in_place,
        } = options;
        let mut hasher = blake3::Hasher::new();
        let fields: [&[u8]; 10] = [
            ENGINE_VERSION.as_bytes(),
            goal.as_bytes(),
            kind.name().as_bytes(),
            &threshold.to_bits().to_le_bytes(),
            &max_prune_ratio.to_bits().to_le_bytes(),
            &(*min_keep_lines as u64).to_le_bytes(),
            &(*keep_first_lines as u64).to_le_bytes(),
            &[u8::from(*annotate_lines)],
            &[u8::from(*include_markers)],
            &[u8::from(*markers == MarkerForm::Short)],
        ];
        for field in fields {
            // The length goes first, so that two different lists of fields never hash the same bytes.
            hasher.update(&(field.len() as u64).to_le_bytes());
            hasher.update(field);
        }
        // Nothing is added for what most calls do not have, so that they keep their ids.
        if *in_place {
            hasher.update(b"in place");
        }
        for run in shown {
            hasher.update(format!("{run:?}").as_bytes());
        }
        let call = base32(hasher.finalize().as_bytes(), CALL_CHARS);
        PruneId { text, call }
    }

    /// Parses an id. Only parsed ids are used in paths.
    pub(crate) fn parse(id: &str) -> Option<PruneId> {
        PruneId::from_stem(id.strip_prefix(PREFIX)?)
    }

    /// The id without its prefix.
    pub(crate) fn from_stem(stem: &str) -> Option<PruneId> {
        let (text, call) = stem.split_at_checked(TEXT_CHARS)?;
        is_base32(call, CALL_CHARS).then_some(())?;
        Some(PruneId { text: TextId::parse(text)?, call: call.to_owned() })
    }

    /// What the ids that begin with `beginning` have after their prefix, if it can be the beginning of one.
    pub(crate) fn stem_of_beginning(beginning: &str) -> Option<&str> {
        let stem = beginning.strip_prefix(PREFIX)?;
        (stem.len() >= SHORTEST_BEGINNING && stem.len() < TEXT_CHARS + CALL_CHARS).then_some(())?;
        is_base32(stem, stem.len()).then_some(stem)
    }

    /// The id of a text, whatever it was pruned for.
    pub(crate) fn of_text(text: TextId) -> PruneId {
        PruneId { text, call: "a".repeat(CALL_CHARS) }
    }

    /// The id without its prefix, which names the goal's file.
    pub(crate) fn stem(&self) -> String {
        format!("{}{}", self.text.0, self.call)
    }
}

impl fmt::Display for PruneId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PREFIX}{}{}", self.text.0, self.call)
    }
}

/// The first `chars * 5` bits in base 32.
fn base32(bytes: &[u8], chars: usize) -> String {
    (0..chars)
        .map(|index| {
            let bit = index * 5;
            let pair = u16::from_be_bytes([bytes[bit / 8], bytes[bit / 8 + 1]]);
            let value = (pair >> (11 - bit % 8)) & 31;
            char::from(ALPHABET[usize::from(value)])
        })
        .collect()
}

fn is_base32(text: &str, chars: usize) -> bool {
    text.len() == chars && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tamis_prune::ShownPlace;

    use super::*;

    fn request() -> PruneRequest<'static> {
        PruneRequest {
            text: "a\nb",
            goal: "why",
            kind: TextKind::Code,
            options: PruneOptions {
                max_prune_ratio: 0.9,
                min_keep_lines: 1,
                timeout: Duration::from_secs(1),
                ..PruneOptions::default()
            },
            shown: &[],
        }
    }

    #[test]
    fn the_alphabet_is_that_of_rfc_4648() {
        assert_eq!(base32(b"foobar\0", 9), "mzxw6ytbo");
    }

    #[test]
    fn everything_but_the_timeout_decides_the_id() {
        let id = PruneId::of(&request());
        let place = ShownPlace { label: "cat a".to_owned(), ago: 1, first_line: 1, is_written: false };
        let shown = [ShownRun { first_line: 1, last_line: 2, place }];
        assert_eq!(
            PruneId::of(&PruneRequest {
                options: PruneOptions { timeout: Duration::ZERO, ..request().options },
                ..request()
            }),
            id
        );
        for other in [
            PruneRequest { goal: "whyc", ..request() },
            PruneRequest { kind: TextKind::Docs, ..request() },
            PruneRequest { shown: &shown, ..request() },
            PruneRequest { options: PruneOptions { threshold: 0.4, ..request().options }, ..request() },
            PruneRequest { options: PruneOptions { max_prune_ratio: 0.8, ..request().options }, ..request() },
            PruneRequest { options: PruneOptions { min_keep_lines: 2, ..request().options }, ..request() },
            PruneRequest { options: PruneOptions { keep_first_lines: 2, ..request().options }, ..request() },
            PruneRequest { options: PruneOptions { annotate_lines: true, ..request().options }, ..request() },
            PruneRequest {
                options: PruneOptions { include_markers: false, ..request().options },
                ..request()
            },
            PruneRequest {
                options: PruneOptions { markers: MarkerForm::Short, ..request().options },
                ..request()
            },
        ] {
            let other = PruneId::of(&other);
            assert_eq!(other.text, id.text);
            assert_ne!(other.call, id.call);
        }
        assert_ne!(PruneId::of(&PruneRequest { text: "a\nb\n", ..request() }).text, id.text);
    }

    #[test]
    fn only_valid_ids_are_parsed() {
        let id = PruneId::of(&request());
        assert_eq!(PruneId::parse(&id.to_string()), Some(id.clone()));
        let spelled = id.to_string();
        for bad in [
            "",
            "prn_",
            &spelled[4..],
            &spelled[..25],
            &format!("{spelled}a"),
            &spelled.to_uppercase(),
            "prn_../../../../etc/passwd",
            "prn_aaaaaaaaaaaaaaaaaaaaa/",
            "prn_aaaaaaaaaaaaaaaaaaaaa1",
            "prn_aaaaaaaaaaaaaaaéaaaaa",
            "prn_aaaaaaaaaaaaaaaaaaaaa\0",
        ] {
            assert_eq!(PruneId::parse(bad), None, "{bad:?}");
        }
    }
}
